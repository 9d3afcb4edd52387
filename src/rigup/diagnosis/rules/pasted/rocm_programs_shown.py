"""AMD's causes by what programs print on their way: frameworks, llama.cpp, RCCL, and what stands beside it."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.pasted.amd_told import OURS, program_of
from rigup.diagnosis.rules.rocm import MASKS, NO_CODE, OVERRIDE, helps, inside_a_processor, left, wheels_have
from rigup.knowledge import wsl
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Account, DeviceNode, Gpu, Platform, Symptom, Torch, Variable

_MIB, _GIB = 1 << 20, 1 << 30
_NO_CODE = (*NO_CODE, "hsa-isa-invalid")


# -- code for the chip
@rule("gfx-not-in-torch-wheel", "likely")
def torchs_bundle_lacks_the_chip(
    said: Symptom = seen("bundle-without-the-chip"), torch: Torch | None = None, dgpu: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:  # fmt: skip
    """HIP's log names torch's own library and the chip; a processor's graphics beside a card are left out by right."""
    gfx, ours = str(said.get("gfx")), "torch_hip" in str(said.get("path"))
    meant = not (inside_a_processor(gfx) and dgpu is not None)
    return ours and meant and not left(gfx) and not wheels_have(gfx, torch) and {"gfx": gfx, "why": said.id}


@rule("gfx-not-in-torch-wheel", "likely")
def image_is_invalid_for_a_card_of_amds(
    said: Symptom = seen("cuda-image-invalid"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), program: Symptom | None = seen("ggml-device-failed"),
    override: Variable | None = one(name=OVERRIDE), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm may say CUDA where it means HIP; the card is AMD's."""
    isa = card.get("isa") or ""
    overridden = bool(override and isa and helps(isa, override.get("value")))
    clear = other is None and program is None and not overridden and not (torch and torch.get("cuda"))
    return clear and not left(isa) and {"gfx": isa or None, "why": said.id}


@rule("binary-arch-missing", "likely")
def shared_object_of_another_chip_in_a_program(program: Symptom = seen("ggml-device-failed")) -> Verdict:
    """HIP could not set up the code objects, in llama.cpp or what is built on it."""
    return "shared object init" in str(program.get("error")) and {"said": program.id, "program": "llama.cpp"}


@rule("binary-arch-missing", "likely")
def code_of_another_chip_in_a_program(
    said: Symptom = seen("hsa-isa-invalid"), torch: Torch | None = None, named: Symptom | None = seen("torch-named")
) -> Verdict:
    """The runtime was handed code for another chip, by a program that is not torch."""
    return named is None and not (torch and torch.get("hip")) and {"said": said.id}


@rule("gfx-not-in-torch-wheel", "likely")
def code_of_another_chip_in_torch(
    said: Symptom = seen("hsa-isa-invalid"), torch: Torch | None = None, named: Symptom | None = seen("torch-named")
) -> Verdict:
    """The same by torch."""
    return (named is not None or bool(torch and torch.get("hip"))) and {"why": said.id}


@rule("binary-arch-missing", "likely")
def tensorflow_leaves_the_chip_out(
    said: Symptom = seen("tensorflow-leaves-the-chip-out", "tensorflow-wants-a-later-chip"),
    made: Symptom | None = seen("tensorflow-made-a-device"),
) -> Verdict:
    """Its own list has no such chip; a processor's graphics beside a card that it takes are left out by right."""
    gfx = str(said.get("gfx"))
    spared = made is not None and inside_a_processor(gfx)
    return not spared and not left(gfx) and {"gfx": gfx, "package": "tensorflow"}


@rule("rocm-dropped-arch", "likely")
def tensorflow_has_left_the_chip(
    said: Symptom = seen("tensorflow-leaves-the-chip-out", "tensorflow-wants-a-later-chip"),
) -> Verdict:
    """The same of a chip that older releases had."""
    return left(str(said.get("gfx"))) and {"gfx": said.get("gfx")}


@rule("binary-arch-missing", "likely")
def julia_has_no_code(said: Symptom = seen(*_NO_CODE), named: Symptom = seen("julia-of-amd-shown")) -> Verdict:
    """HIP found no code, in a program of Julia's."""
    return {"said": said.id, **program_of(named)}


# -- results and devices
@rule("garbage-output-on-gfx", "likely")
def what_was_copied_is_not_what_comes_back(
    said: Symptom = seen("numbers-copied-come-back-nought"), card: Gpu | None = one(vendor="amd"), rocm: Symptom | None = seen(*OURS), other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Numbers are copied to the card and come back as nought."""
    return other is None and (card is not None or rocm is not None) and {"said": said.id}


@rule("igpu-visible-beside-dgpu", "likely")
def interface_computes_on_the_processors_graphics(
    said: Symptom = seen("comfyui-computes-on-graphics"), card: Gpu = one(vendor="amd", integrated=False), mask: Variable | None = one(name=MASKS[:2])
) -> Verdict:  # fmt: skip
    """The first device is the processor's graphics, and a card is there."""
    return mask is None and {"device": 1, "said": said.id, "name": card.get("name")}


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def workers_wait_and_rccl_names_the_iommu(
    said: Symptom = seen("rccl-misses-passthrough"), hang: Symptom = seen("workers-wait-for-each-other", "rank-zero-does-not-answer", "peer-traffic-off-needed-told"),
) -> Verdict:  # fmt: skip
    """RCCL warns of hangs without that word on the kernel's line, and the workers hang."""
    return {"said": said.id, "hang": hang.id}


@rule("amd-firmware-regression", "likely")
def hangs_with_firmware_known_bad(
    shown: Symptom = seen("firmware-package-shown"),
    fault: Symptom = seen("gpu-hardware-exception"),
    card: Gpu = one(vendor="amd"),
) -> Verdict:
    """The package that is shown is on the list for this chip, and the card hangs."""
    bad = firmware_fault(package=str(shown.get("version")), isa=card.isa)
    return bad and {"firmware": shown.get("version"), "said": fault.id}


# -- WSL
@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def torch_sees_none_of_what_rocminfo_names(
    platform: Platform = one(wsl=2),
    torch: Torch = one(available=False),
    card: Gpu = one(vendor="amd", seen_by="rocminfo"),
) -> Verdict:
    """The system's runtime names the card and torch finds none; which torch it is, nobody tells."""
    plain = torch.knows("cuda") and bool(torch.get("cuda"))
    new = bool(torch.get("hip")) and wsl.runtime_knows_wsl(torch.hip or "")
    return platform.wsl == 2 and not plain and not new and {"name": card.get("name")}


# -- memory that processor and graphics share
@rule("apu-vram-carveout-vs-gtt", "likely")
def interfaces_total_is_less_than_the_carve_out(
    said: Symptom = seen("comfyui-totals"), carved: Symptom = seen("amdgpu-vram-span", "amdgpu-vram-ready"), card: Gpu | None = one(integrated=False)
) -> Verdict:  # fmt: skip
    """The kernel's figure of the carve-out is much more than the total of which the interface speaks, which is half of the rest."""
    vram, carve = int(said.get("vram") or 0), int(carved.get("mib") or 0)
    half = abs(2 * vram - int(said.get("ram") or 0)) < 0.1 * int(said.get("ram") or 1)
    return card is None and carve * _MIB >= 16 * _GIB and carve > 1.7 * vram and half and {"said": said.id}


@rule("apu-vram-carveout-vs-gtt", "likely")
def ggmls_total_is_less_than_the_carve_out(
    said: Symptom = seen("ggml-total-of-rocm"), carved: Symptom = seen("amdgpu-vram-span", "amdgpu-vram-ready"), gpu: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False),
) -> Verdict:  # fmt: skip
    """The same of llama.cpp's own count."""
    total, carve = int(said.get("mib") or 0), int(carved.get("mib") or 0)
    return (
        card is None and carve * _MIB >= 16 * _GIB and carve > 1.7 * total and {"said": said.id, "gpu": gpu.get("name")}
    )


# -- where the program that runs is another than the one that was asked for
@rule("cuda-torch-on-amd", "likely")
def torch_for_nvidia_in_an_image_for_rocm(
    torch: Torch, image: Symptom = seen("rocm-image-composed", "rocm-image-run"), other: Gpu | None = one(vendor="nvidia"), nvidia: Symptom | None = seen("nvidia-tx-named", "nvidia-geforce-named")
) -> Verdict:  # fmt: skip
    """The image is called one for ROCm, and the torch in it is a build for NVIDIA's cards."""
    ours = bool(torch.get("cuda")) and torch.get("hip") is None and torch.get("available") is not True
    return ours and other is None and nvidia is None and {"image": image.get("image")}


@rule("render-group-missing", "likely")
def hip_finds_none_for_an_account_without_the_groups(
    said: Symptom = seen("hip-log-no-device", "hip-no-device"), who: Account = one(at="shell"), node: DeviceNode | None = one(path="/dev/kfd"), mask: Variable | None = one(name=MASKS),
    platform: Platform | None = None, nvidia: Gpu | None = one(vendor="nvidia"), module: Symptom | None = seen("rock-module-not-loaded", "amdgpu-init-fatal"),
) -> Verdict:  # fmt: skip
    """HIP finds no device, and the account is in none of the groups to which distributions give the nodes."""
    own = who.get("uid") == 0 or {"root", "video", "render"} & set(who.groups)
    elsewhere = inside(said) or bool(platform and (platform.get("wsl") or platform.get("system") == "windows"))
    clear = node is None and mask is None and nvidia is None and module is None and not elsewhere
    return clear and not own and {"said": said.id, "user": who.get("user")}


@rule("gfx-not-in-rocblas", "likely")
def server_drops_a_chip_that_its_library_never_had(
    said: Symptom = seen("ollama-filtered-no-rocblas"), asked: Symptom = seen("ollama-asks-the-device"), override: Variable | None = one(name=OVERRIDE),
    served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"),
) -> Verdict:  # fmt: skip
    """It tried the device and dropped it; the chip is one that needs an override, for want of code of its own."""
    gfx = str(asked.get("gfx"))
    spared = served is not None and inside_a_processor(gfx)
    overridden = override is not None and helps(gfx, override.get("value"))
    return not spared and not overridden and override_for(gfx) is not None and {"gfx": gfx, "said": said.id}


@rule("torch-torchvision-mismatch", "likely")
def package_for_nvidia_beside_a_torch_for_rocm(said: Symptom = seen("cuda-library-not-found"), torch: Torch = one()) -> Verdict:  # fmt: skip
    """A file of CUDA's is missed by something that was built against another torch than the one that stands there."""
    return bool(torch.get("hip")) and {"lib": said.get("lib")}
