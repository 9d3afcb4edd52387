"""Memory that processor and graphics share, WSL, DirectML and Intel's libraries, by what short pastes show of them."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.directml import small
from rigup.diagnosis.rules.memory import GIB, OUT, size
from rigup.knowledge import wsl
from rigup.knowledge.apple import is_older, next_mps_minimum
from rigup.knowledge.intel import release_of
from rigup.machine.kinds import Gpu, ModuleParameter, Platform, Symptom, Torch, Variable
from rigup.machine.names import same_name

_MIB, _PAGE = 1 << 20, 4096
_TOTALS = ("hip-memory-figures", "hip-memory-tuple", "torch-out-of-memory-total", "rocminfo-gpu-pool", "vllm-memory-taken", *OUT)  # fmt: skip
_CARVED = tuple(share * GIB for share in (0.25, 0.5, 1, 2, 3, 4))  # what firmware's menus offer


def _total(said: Symptom) -> float:
    """Bytes that a runtime counts as the GPU's."""
    if said.get("kib"):
        return int(said.kib) * 1024.0
    total = said.get("total") or said.get("total2")
    return (size(total + " G") if said.id == "vllm-memory-taken" and total else size(total)) or 0.0


# -- memory that processor and graphics share
@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_is_larger_than_what_is_used(
    said: Symptom = seen(*_TOTALS), gpu: Gpu = one(vendor="amd"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The kernel's figure of the carve-out is much more than all that the runtime has."""
    total = _total(said)
    alone = card is None and total > GIB and not gpu.get("partitions")
    return alone and gpu.vram >= 16 * GIB and gpu.vram > 1.7 * total and {"severity": "error" if said.id in OUT else "warning"}  # fmt: skip


@rule("apu-vram-carveout-vs-gtt", "likely")
def engine_has_what_may_be_mapped(
    said: Symptom = seen("vllm-memory-taken", "torch-out-of-memory-total"), carved: Symptom = seen("amdgpu-vram-ready"), mapped: Symptom = seen("amdgpu-gtt-ready"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """Its total is the mapped pool of the kernel's log, and the carve-out beside it is larger."""
    vram, gtt = int(carved.get("mib") or 0) * _MIB, int(mapped.get("mib") or 0) * _MIB
    return card is None and vram > 1.5 * gtt and abs(_total(said) - gtt) < 0.1 * gtt and {"severity": "error"}


@rule("apu-vram-carveout-vs-gtt", "likely")
def carve_out_cannot_be_filled(
    said: Symptom = seen("vllm-memory-taken"), gpu: Gpu = one(vendor="amd", integrated=True), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The carve-out is the engine's total, and what is free of it is no more than the smaller pool that can be mapped."""
    free = (size(str(said.get("free")) + " G")) or 0.0
    whole = abs(_total(said) - gpu.vram) < 0.05 * gpu.vram
    return card is None and whole and gpu.vram >= 8 * GIB and free < gpu.gtt < gpu.vram and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def total_is_a_size_of_the_firmwares_menu(
    said: Symptom = seen("torch-out-of-memory-total"), card: Gpu | None = one(integrated=False), known: Symptom | None = seen(OUT[1]),
) -> Verdict:  # fmt: skip
    """Of the sizes that a firmware offers for a carve-out, and that no card for computing has."""
    return card is None and known is None and _total(said) in _CARVED and {"severity": "error"}


@rule("igpu-vram-counted-without-gtt", "likely")
def interface_counts_the_carve_out(
    said: Symptom = seen("comfyui-totals"),
    gpu: Gpu | None = one(vendor="amd"),
    card: Gpu | None = one(integrated=False),
) -> Verdict:
    """Less than two gigabytes, of a machine with much more, on AMD's."""
    vram, ram = int(said.get("vram") or 0), int(said.get("ram") or 0)
    return gpu is not None and card is None and vram <= 2048 and ram > 4 * vram and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def server_puts_nothing_on_it(
    said: Symptom = seen("ollama-compute"), _none: Symptom = seen("ollama-offloads-nothing"), gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The total is a carve-out's, and no layer fits into it; what the graphics may map besides is not counted."""
    return card is None and 0 < (size(said.get("total")) or 0) <= 4 * GIB and gpu.get("vendor") == "amd"


@rule("igpu-vram-counted-without-gtt", "possible")
def server_finds_too_little_on_a_radeon(
    said: Symptom = seen("ollama-not-enough-vram"), _radeon: Symptom = seen("ollama-radeon-detected"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """Which Radeon it is nobody tells; so little has a carve-out more often than a card."""
    return card is None and {"said": said.id}


@rule("igpu-vram-counted-without-gtt", "likely")
def torch_counts_the_carve_out(
    _named: Symptom = seen("torch-names-integrated-graphics"), asked: Symptom = seen("torch-total-asked"), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """torch's own total is a small part of what the kernel lets the graphics map."""
    total = float(asked.get("gib") or 0) * GIB
    return 0 < total < 0.5 * int(mapped.get("mib") or 0) * _MIB


@rule("apu-gtt-limit-not-applied", "likely")
def kernel_maps_less_than_was_wished(
    wish: ModuleParameter = one(module=("amdgpu", "ttm", "amdttm"), name=("gttsize", "pages_limit")), mapped: Symptom = seen("amdgpu-gtt-ready"),
) -> Verdict:  # fmt: skip
    """The kernel's log has another size than the configured one: it was not taken up, or the boot loader not written anew."""
    told = str(wish.get("configured") or "")
    wished = int(told) * (_MIB if wish.name == "gttsize" else _PAGE) if told.isdigit() else 0
    return wished > 1.2 * int(mapped.get("mib") or 0) * _MIB and {"name": wish.name}


@rule("apu-gtt-limit-not-applied", "likely")
def ttm_has_no_such_parameter(
    wish: ModuleParameter = one(module=("ttm", "amdttm"), name=("page_limit", "pages_limits", "page_limits", "pagelimit", "gttsize", "gtt_size", "limit_pages", "pages")),
) -> Verdict:  # fmt: skip
    """A name that is like the right one."""
    return not wish.knows("running") and {"name": wish.name}


# -- WSL
@rule("wsl-windows-too-old", "likely")
def old_windows_and_its_command(
    platform: Platform = one(system="windows"), typed: Symptom = seen("wsl-command-typed")
) -> Verdict:
    """Somebody at a prompt of such a Windows works with WSL."""
    return wsl.too_old(platform.version, None) is not None and {"minimum": "Windows build " + wsl.minimum()[0], "said": typed.id}  # fmt: skip


@rule("wsl-gpu-in-tcc-mode", "likely")
def refused_beside_a_card_that_computes_only(
    card: Gpu = one(driver_model="TCC"), said: Symptom = seen("wsl-access-blocked", "nvidia-smi-no-handle")
) -> Verdict:  # fmt: skip
    """Windows's list has such a card, and elsewhere it is refused."""
    unknown = said.id == "wsl-access-blocked" or str(said.get("why")).startswith("Unknown Error")
    return unknown and card.get("vendor", "nvidia") == "nvidia" and {"said": said.id}


@rule("wsl-libcuda-link", "likely")
def copies_and_no_link(
    said: Symptom = seen("libcuda-first-name-not-loaded"), _platform: Platform = one(wsl=2)
) -> Verdict:
    """Windows's folder has the library, and the loader does not find it."""
    return {"path": wsl.library_folder(), "said": said.id}


@rule("wsl-linux-driver-inside", "possible")
def no_device_in_a_wsl(
    platform: Platform = one(wsl=2), said: Symptom = seen("cuda-no-device-constant", "cuda-no-device"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    amd: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """CUDA is there and finds no device: in WSL mostly another libcuda than the one of Windows was loaded."""
    old = wsl.too_old(None, platform.get("release")) is not None
    return not old and mask is None and amd is None and {"said": said.id}


@rule("wsl-linux-driver-inside", "likely")
def linux_tool_looks_for_a_module(_platform: Platform = one(wsl=2), said: Symptom = seen("nvml-driver-not-loaded")) -> Verdict:  # fmt: skip
    """Windows's own tool has no module to look for."""
    return {"said": said.id}


@rule("wsl-gpu-not-supported", "possible")
def card_that_wsl_has_not(
    card: Gpu = one(vendor="amd"), _wsl: Symptom = seen("wsl-detected"), listed: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm_agent_enumerator"))
) -> Verdict:  # fmt: skip
    """ROCm's runtime knows that it is in WSL, and the card is one that it leaves out there."""
    return listed is None and not card.knows("shown_isa") and wsl.chip_without_wsl(card.isa)


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def wheel_finds_none_in_a_wsl(
    _platform: Platform = one(wsl=2), said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"), refused: Symptom | None = seen("hsa-out-of-resources", "wsl-gpu-unsupported", "rock-module-not-loaded"),
    card: Gpu | None = one(vendor="amd"),
) -> Verdict:  # fmt: skip
    """A torch for ROCm is there, and nothing says that the card or the release is at fault."""
    return refused is None and card is None and {"said": said.id}


# -- Macs
@rule("mps-macos-too-old", "likely")
def built_in_and_not_offered_on_an_old_system(
    torch: Torch = one(mps_built=True, mps_available=False), platform: Platform = one(system="macos")
) -> Verdict:
    """Which torch it is nobody tells; the system is older than what any release asks for."""
    least = next_mps_minimum("10.0")
    old = least is not None and is_older(platform.version, least) and not platform.version.startswith("10.")
    return not torch.knows("version") and old and {"minimum": least}


# -- DirectML and Intel
@rule("directml-wrong-adapter", "likely")
def first_of_a_list_is_integrated(
    used: Symptom = seen("directml-adapter-printed", "directml-numbered-in-use"), other: Gpu = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The adapter with the first number is used unless told otherwise."""
    name, better = str(used.get("name")).strip(), str(other.get("name") or "")
    return bool(better) and small(name) and not same_name(better, name) and {"used": name, "better": better}


@rule("intel-oneapi-version-mismatch", "likely")
def another_generation_stands_in_its_folder(
    missing: Symptom = seen("oneapi-library-not-found", "ldd-oneapi-not-found", "mkl-library-not-found"), shown: Symptom = seen("oneapi-folder-shown"),
) -> Verdict:  # fmt: skip
    """The folder is of one year's base kit, and the library that is missed of another's."""
    there, wanted = (
        shown.get("release") or shown.get("other"),
        release_of(str(missing.get("base")), str(missing.get("number"))),
    )
    return wanted is not None and wanted != there and {"lib": missing.get("lib"), "have": "oneAPI " + str(there)}
