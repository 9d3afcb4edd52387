"""What surrounds AMD's cards, told in sentences: WSL, firmware, another maker's torch, wrong results, memory that is shared."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.memory import GIB, OUT, more_free_than_there_is, size
from rigup.diagnosis.rules.pasted.amd_told import OURS, ROCM
from rigup.diagnosis.rules.rocm import left
from rigup.knowledge import wsl
from rigup.knowledge.driver_faults import firmware_fault
from rigup.machine.kinds import Driver, Gpu, Platform, Symptom, Torch

_NVIDIA_NAMED = ("nvidia-tx-named", "nvidia-geforce-named")
_CARVED = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4, 8))  # what firmware's menus offer


_WHEELS = ("nvidia-wheels-listed", "nvidia-wheels-come-along", "nvidia-wheels-are-fetched", "pip-fetches-plain-torch")


# -- builds and results
@rule("torch-torchvision-mismatch", "likely")
def parts_of_torch_differ(
    said: Symptom = seen("torch-parts-mismatch-told"), _torch: Symptom = seen("torch-named", "gfx-named")
) -> Verdict:
    """A person found torch and its companions to be of different releases."""
    return {"said": said.id}


_WRONG = (
    "differs-from-processor-told",
    "matmul-wrong-told",
    "silently-wrong-told",
    "differing-results-told",
    "loss-explodes-in-validation",
    "black-render-told",
    "garbage-told",
    "gibberish-told",
    "black-images-told",
    "wrong-results-told",
    "inaccurate-results-told",
    "nan-told",
    "nan-told-in-capitals",
)


@rule("garbage-output-on-gfx", "possible")
def results_are_wrong(
    said: Symptom = seen(*_WRONG), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Told in a sentence, of AMD's: a computation against the processor's settles it."""
    return other is None and (card is not None or rocm is not None) and {"said": said.id}


# -- WSL
@rule("wsl-gpu-not-supported", "possible")
def not_found_in_wsl(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-lived-in"), _said: Symptom = seen("gpu-not-seen-told"),
    found: Gpu | None = one(vendor="amd", seen_by="rocminfo"),
) -> Verdict:  # fmt: skip
    """Told in a sentence: chips before the first generation and processors' graphics are those that WSL lacks."""
    return found is None and (wsl.chip_without_wsl(card.isa) or card.get("integrated") is True)


@rule("wsl-gpu-not-supported", "possible")
def torch_finds_none_where_wsl_is_spoken_of(
    card: Gpu = one(vendor="amd"), _spoken: Symptom = seen("wsl-lived-in"), said: Symptom = seen("torch-no-cuda-gpus", "hip-no-device"),
) -> Verdict:  # fmt: skip
    """A chip that ROCm's own documents leave out there."""
    return (wsl.chip_without_wsl(card.isa) or card.get("integrated") is True) and {"said": said.id}


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_where_wsl_is_spoken_of(
    card: Gpu = one(vendor="amd", integrated=False), _spoken: Symptom = seen("wsl-lived-in"), said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm and a card that WSL has: what a list of requirements installs brings its own runtime."""
    made_for_it = torch is not None and wsl.runtime_knows_wsl(torch.get("hip") or "")
    return not made_for_it and not wsl.chip_without_wsl(card.isa) and {"said": said.id}


@rule("wsl-rocm-release-not-supported", "likely")
def rocminfo_asks_for_a_module_where_wsl_is_spoken_of(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"), said: Symptom = seen("rock-module-not-loaded"), card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """One of a release for WSL does not look for Linux's module."""
    return other is None and not wsl.chip_without_wsl(card.get("isa") or "") and {"said": said.id}


# -- firmware
@rule("amd-firmware-regression", "likely")
def hang_with_a_version_that_is_told(
    told: Symptom = seen("mes-version-told"), _hang: Symptom = seen("gpu-hang-told", "gpu-memory-access-fault")
) -> Verdict:
    """A person names the scheduler's firmware and what it does."""
    bad = bool(firmware_fault("MES", told.get("version", "")))
    return bad and {"firmware": "MES " + told.get("version", "")}


@rule("amd-firmware-regression", "possible")
def hang_with_another_version(
    told: Symptom = seen("mes-version-told"), _hang: Symptom = seen("gpu-hang-told", "gpu-memory-access-fault")
) -> Verdict:
    """The same with a version of which nothing is known."""
    return {"firmware": "MES " + told.get("version", "")}


@rule("amd-firmware-regression", "likely")
def firmware_is_blamed(
    _told: Symptom = seen("firmware-blamed"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*ROCM), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:  # fmt: skip
    """It began, or ended, with another package of firmware."""
    return card is not None or (rocm is not None and other is None)


@rule("amd-firmware-regression", "likely")
def firmware_is_blamed_for_a_fault(
    _told: Symptom = seen("new-firmware-blamed"), fault: Symptom = seen("gpu-memory-access-fault"),
) -> Verdict:  # fmt: skip
    """The same of what only ROCm prints."""
    return {"said": fault.id}


# -- a torch for another maker
@rule("cuda-torch-on-amd", "likely")
def it_looks_for_nvidia_in_a_persons_words(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("nvidia-driver-missing-told", "torch-driver-too-old"), other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Only a torch for NVIDIA looks for that driver."""
    return other is None and card.get("vendor") == "amd" and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "likely")
def a_driver_is_compared_that_nobody_has(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("cuda-driver-insufficient"), nvidia: Symptom | None = seen(*_NVIDIA_NAMED),
    other: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """CUDA says so as well where there is no driver at all, and on AMD's there is none."""
    ours = other is None and driver is None and nvidia is None and card.get("vendor") == "amd"
    return ours and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def web_ui_cannot_use_a_radeon(
    said: Symptom = seen("webui-torch-no-gpu"), _named: Symptom = seen("amd-radeon-named", "amd-rx-named", "amd-xt-named", "radeon-in-words"),
    nvidia: Symptom | None = seen(*_NVIDIA_NAMED), other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None, works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Launchers bring NVIDIA's torch unless they are told otherwise; what it would say of itself nobody shows."""
    told = torch is not None and (torch.get("hip") or "+cpu" in str(torch.get("version") or ""))
    return works is None and nvidia is None and other is None and not told and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def another_makers_torch_was_installed(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("cuda-torch-told"), _rocm: Symptom = seen(*ROCM), other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A person says which torch was installed."""
    return other is None and card.get("vendor") == "amd" and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "likely")
def it_looks_for_nvidia_where_rocm_is_named(
    _error: Symptom = seen("torch-found-no-driver", "torch-driver-too-old"), named: Symptom = seen(*OURS), nvidia: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named"),
    other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """The text speaks of ROCm and of no card of NVIDIA's."""
    return nvidia is None and other is None and not (torch and torch.get("hip")) and {"said": named.id}


# -- memory that processor and graphics share
@rule("igpu-vram-counted-without-gtt", "possible")
def shared_memory_is_left_out(
    said: Symptom = seen("shared-memory-not-used-told", "carve-out-alone-told"), gpu: Gpu = one(vendor="amd", integrated=True), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person says that a program counts the carve-out only."""
    return works is None and bool(gpu.integrated) and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "possible")
def mapped_memory_is_left_out(
    said: Symptom = seen("gtt-left-out-told"),
    card: Gpu | None = one(vendor="amd", integrated=False),
    works: Symptom | None = seen("works-told"),
) -> Verdict:
    """Only AMD's processors have that pool: a person says that a program leaves it out."""
    return works is None and card is None and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def runtime_counts_the_carve_out(total: Symptom = seen("hip-total-told"), gpu: Gpu = one(vendor="amd")) -> Verdict:
    """HIP's total is the carve-out, and the kernel lets it map much more."""
    seen_by_hip = size(total.get("total")) or 0.0
    return (
        gpu.vram > 0
        and abs(seen_by_hip - gpu.vram) < 0.05 * gpu.vram
        and gpu.gtt > 1.5 * gpu.vram
        and gpu.gtt > 8 * GIB
    )


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_that_is_told_starves_torch(
    said: Symptom = seen(*OUT, "hip-memory-figures"), told: Symptom = seen("carve-out-told"), gpu: Gpu = one(vendor="amd", integrated=True),
    other: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """A person names the carve-out, and torch's total is a small part of it."""
    total, carved = size(said.get("total") or said.get("total2")), int(told.get("gib") or told.get("gib2") or 0) * GIB
    alone = other is None and not gpu.knows("gtt")
    return (
        alone and bool(total) and carved > 2 * (total or 0) and {"severity": "error" if said.id in OUT else "warning"}
    )


@rule("igpu-vram-counted-without-gtt", "likely")
def torch_has_the_carve_out_only(
    said: Symptom = seen(*OUT), _hip: Symptom = seen(OUT[0], runtime="HIP"), inside: Gpu | None = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False), told: Symptom | None = seen("hip-memory-figures", "hip-memory-tuple"),
) -> Verdict:  # fmt: skip
    """Its total is a size that a firmware's menu offers for a carve-out, and one that no card for computing has."""
    total = size(said.get("total")) or 0
    small = total in _CARVED and (total <= 2 * GIB or inside is not None)
    mapped = inside is not None and inside.knows("gtt") and abs(total - inside.gtt) < 0.1 * total
    wrong = told is not None and bool(more_free_than_there_is(told))  # two pools are mixed, as the figures tell
    return card is None and small and not (mapped or wrong) and {"severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_leaves_nothing_to_map(
    said: Symptom = seen("rocm-buffer-refused", "rocm-allocation-failed"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The kernel's log: most of the memory is carved out and the rest is little; no card of its own has so much beside so little."""
    vram, gtt = int(carved.get("mib") or 0), int(mapped.get("mib") or 0)
    return card is None and vram >= 16 * 1024 and vram > 8 * gtt and {"said": said.id, "severity": "error"}


@rule("igpu-vram-counted-without-gtt", "possible")
def little_is_seen_of_shared_memory(
    said: Symptom = seen("little-memory-seen-told", "vram-misdetected-told"), gpu: Gpu = one(vendor="amd", integrated=True), works: Symptom | None = seen("works-told"),
    other: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """A person says how little of the machine's memory a program sees."""
    return works is None and other is None and bool(gpu.integrated) and {"said": said.id}


@rule("apu-memory-miscount", "likely")
def more_is_told_than_the_machine_has(
    said: Symptom = seen("more-than-physical-told"), gpu: Gpu = one(vendor="amd", integrated=True)
) -> Verdict:
    """Two pools of one memory were added."""
    return bool(gpu.integrated) and int(said.total) > int(said.has) and {"said": said.id}


@rule("apu-memory-miscount", "likely")
def runtime_has_less_than_is_carved_out(
    said: Symptom = seen("less-than-carved-out-told"), gpu: Gpu = one(vendor="amd", integrated=True)
) -> Verdict:
    """A person says that the kernel has the whole carve-out and ROCm a part of it."""
    return bool(gpu.integrated) and {"said": said.id}


# -- which torch it is
@rule("cuda-torch-on-amd", "possible")
def program_finds_no_gpu(
    said: Symptom = seen("webui-finds-no-gpu", "vllm-unspecified-platform"), card: Gpu = one(vendor="amd", integrated=False), torch: Torch | None = None,
    other: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None, works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Unless somebody chose ROCm's index, pip brings the torch that is NVIDIA's."""
    told = torch is not None and (torch.get("hip") or "+cpu" in str(torch.get("version") or ""))
    windows = platform is not None and bool(platform.get("system") == "windows" or platform.get("wsl"))
    return (
        works is None
        and other is None
        and not told
        and not windows
        and card.get("vendor") == "amd"
        and {"said": said.id}
    )


@rule("cuda-torch-on-amd", "likely")
def wheels_of_another_maker_are_listed(
    listed: Symptom = seen(*_WHEELS), card: Gpu = one(vendor="amd", integrated=False), other: Gpu | None = one(vendor="nvidia"),
    torch: Torch | None = None, replaced: Symptom | None = seen("rocm-torch-installed"),
) -> Verdict:  # fmt: skip
    """CUDA's libraries beside torch, on a machine of AMD's."""
    return (
        other is None
        and replaced is None
        and not _for_rocm(torch)
        and card.get("vendor") == "amd"
        and {"said": listed.id}
    )


@rule("cuda-torch-on-amd", "likely")
def wheels_of_another_maker_come_where_amd_is_named(
    listed: Symptom = seen(*_WHEELS), _named: Symptom = seen(*OURS[-2:], "amd-rx-named", "amd-xt-named"), nvidia: Symptom | None = seen(*_NVIDIA_NAMED),
    other: Gpu | None = one(vendor="nvidia"), inner: Gpu | None = one(vendor="amd", integrated=True), torch: Torch | None = None,
    driver: Driver | None = one(vendor="nvidia"), replaced: Symptom | None = seen("rocm-torch-installed"),
) -> Verdict:  # fmt: skip
    """The same where words tell whose card it is; what a processor brings beside an NVIDIA card is not meant."""
    clear = nvidia is None and other is None and driver is None and inner is None and replaced is None
    return clear and not _for_rocm(torch) and {"said": listed.id}


@rule("cuda-torch-on-amd", "likely")
def torch_that_is_there_satisfies_pip(
    said: Symptom = seen("pip-keeps-plain-torch", "pip-fetches-plain-torch"), index: Symptom = seen("rocm-index-asked"), replaced: Symptom | None = seen("rocm-torch-installed"),
    other: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None, torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """ROCm's index was asked, and pip keeps the torch of PyPI that is there, or, where it asks both, fetches a newer one."""
    linux = platform is None or platform.get("system") in (None, "linux")
    clear = replaced is None and other is None and linux and not _for_rocm(torch)
    return clear and {"said": said.id, "index": index.id}


def _for_rocm(torch: Torch | None) -> bool:
    return torch is not None and bool(torch.get("hip") or "rocm" in str(torch.get("version") or ""))


@rule("cuda-torch-on-amd", "possible")
def program_reaches_no_cuda(
    said: Symptom = seen("webui-reaches-no-cuda"), card: Gpu = one(vendor="amd"), torch: Torch | None = None, other: Gpu | None = one(vendor="nvidia"),
    works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Forge installs NVIDIA's torch on every system unless told otherwise."""
    told = torch is not None and (torch.get("hip") or "+cpu" in str(torch.get("version") or ""))
    return works is None and other is None and not told and card.get("vendor") == "amd" and {"said": said.id}


@rule("cuda-torch-on-amd", "likely")
def torch_is_told_to_be_of_cuda(
    said: Symptom = seen("torch-is-of-cuda-told"), other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None
) -> Verdict:
    """A person looked at the torch of a machine that is to compute with ROCm."""
    return other is None and not (torch and torch.get("hip")) and {"said": said.id}


@rule("cuda-torch-on-amd", "possible")
def program_for_rocm_chose_the_processor(
    said: Symptom = seen("invokeai-on-cpu"), _rocm: Symptom = seen(*ROCM), other: Gpu | None = one(vendor="nvidia"), torch: Torch | None = None,
    works: Symptom | None = seen("works-told"), old: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """It was installed for ROCm, and its torch finds no GPU."""
    told = torch is not None and (torch.get("hip") or torch.get("cuda"))
    return (
        other is None and not told and works is None and not (old and left(old.get("isa") or "")) and {"said": said.id}
    )
