"""AMD's causes where people tell the card and the failure in sentences, and no tool's own line decides."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.rocm import MASKS, OVERRIDE, fits, harms, helps, left, wheels_have
from rigup.knowledge.chips import gfx_base, gfx_of_decimal, runs_on
from rigup.knowledge.driver_faults import firmware_fault
from rigup.knowledge.rocm import override_for, rocblas_has
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Gpu, KernelModule, Platform, Symptom, Toolkit, Torch, Variable, World

_CRASHES = (
    "crash-told",
    "crash-told-in-capitals",
    "ended-by-signal",
    "segmentation-fault",
    "segmentation-fault-signal",
)
ROCM = ("rocm-named", "rocm-named-in-lower-case", "rocm-named-with-a-capital", "rocm-named-with-two-capitals")
OURS = (*ROCM, "gfx-named", "amd-gpu-named", "amd-gpu-named-in-small-letters")
_COMPUTES = (*ROCM, "gfx-named", "torch-named", "stable-diffusion-named", "webui-script-named")
_PROGRAMS = {
    "tensorflow-on-hip-shown": "TensorFlow", "xla-code-object-not-loaded": "XLA", "runtime-of-models-shown": "ONNX Runtime", "kobold-named": "koboldcpp",
    "lm-studio-named": "LM Studio", "lemonade-named": "Lemonade", "julia-of-amd-shown": "AMDGPU.jl",
}  # fmt: skip
SERVERS = ("ollama-named", "lemonade-named", "lm-studio-named", "kobold-named")
_TORCH = ("torch-named", "stable-diffusion-named", "webui-script-named")
UNUSED = (
    "runs-on-cpu-told",
    "gpu-not-seen-told",
    "gpu-not-used-told",
    "gpu-not-used-told-in-small-letters",
    "gpu-not-shown-told",
    "lmstudio-no-compatible-gpu",
    "complaint-told",
)
_LITTLE = (
    "vram-misdetected-told",
    "little-memory-seen-told",
    "gtt-left-out-told",
    "shared-memory-not-used-told",
    "carve-out-alone-told",
)  # it is used, and not all of its memory
_VULKAN = ("ggml-vulkan-named",)
_WSL = ("wsl-lived-in", "wsl-detected", "wsl-in-small-letters")
SPOKEN_OF = ("compose-file-named", "docker-in-words", "container-in-words", "speaks-of-a-container", *_WSL)
_BOXED = ("distrobox-named", "toolbox-entered", "rootless-told", "in-a-container-told")
SET_ = ("override-set-told", "override-set-told-in-capitals")
_TORCH_PROGRAMS = (
    "torch-program-named",
    "comfyui-named",
    "sdnext-named",
    "stable-diffusion-named",
    "webui-script-named",
)
_GRAPHICS = ("igpu-named", "igpu-named-in-chinese", "processor-has-graphics", "processor-has-small-graphics")
_NO_CODE = (
    "hip-shared-object-failed",
    "hip-kernel-image-invalid",
    "hip-invalid-device-function",
    "hip-no-kernel-image",
    "hip-no-binary",
)


def program_of(named: Symptom) -> dict[str, str]:
    """The program that a text names, as people call it."""
    return {"program": _PROGRAMS[named.id]} if named.id in _PROGRAMS else {}


def _old_wheels(torch: Torch, isa: str) -> bool:
    """All ROCm wheels of that release of torch are without code for the chip."""
    release, _, variant = str(torch.get("version") or "").partition("+")
    if variant and build(torch.version) is None:  # of another maker's wheels nobody knows what they hold
        return False
    rows = [row for row in builds() if row.rocm and row.code and row.torch.startswith(release)] if release else []
    return bool(rows) and not any(runs_on(isa, row.code) for row in rows)


_PROGRAM_NO_CODE = ("ggml-kernel-image-invalid", "ggml-no-function")


# -- the card and the build
@rule("rocm-dropped-arch", "likely")
def old_card_crashes(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*_CRASHES), named: Symptom = seen(*_COMPUTES),
    works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """Where ROCm has left the chip, what is built today ends on its first kernel."""
    return works is None and left(card.isa) and {"gfx": card.isa, "said": named.id}


@rule("rocm-dropped-arch", "possible")
def old_card_is_not_used(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*UNUSED), _program: Symptom = seen(*SERVERS, *_COMPUTES),
    works: Symptom | None = seen("works-told", "ollama-computes-on-rocm"),
) -> Verdict:  # fmt: skip
    """The same, told as `it uses the CPU`."""
    return works is None and left(card.isa) and {"gfx": card.isa}


@rule("gfx-not-in-rocblas", "possible")
def unlisted_card_is_not_used(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*UNUSED), _program: Symptom = seen(*SERVERS, *ROCM), torch: Symptom | None = seen(*_TORCH),
    works: Symptom | None = seen("works-told", "ollama-computes-on-rocm", *_VULKAN, *_LITTLE), override: Variable | None = one(name=OVERRIDE), told: Symptom | None = seen("override-value-told"),
) -> Verdict:  # fmt: skip
    """ollama leaves out a card whose chip its libraries do not list; Vulkan asks for no such library."""
    overridden = bool(override and override.get("value")) or bool(told and fits(card.isa, told.get("value")))
    return (
        works is None and torch is None and not overridden and override_for(card.isa) is not None and {"gfx": card.isa}
    )


@rule("gfx-not-in-torch-wheel", "possible")
def unlisted_card_is_not_used_by_torch(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*UNUSED), _torch: Symptom = seen(*_TORCH), _rocm: Symptom = seen(*ROCM),
    works: Symptom | None = seen("works-told"), override: Variable | None = one(name=OVERRIDE), torch: Torch | None = None,
    told: Symptom | None = seen("override-value-told"),
) -> Verdict:  # fmt: skip
    """The same of a torch, of which no wheel is built for the chip."""
    overridden = bool(override and override.get("value")) or bool(told and fits(card.isa, told.get("value")))
    excused = works is not None or overridden or bool(torch and torch.get("cuda"))
    return not excused and override_for(card.isa) is not None and not wheels_have(card.isa, torch) and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", "possible")
def unsupported_chip_crashes(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*_CRASHES), _said: Symptom = seen("chip-not-supported-told"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person says that the chip is not supported yet, and programs crash."""
    return works is None and not left(card.isa) and {"gfx": card.isa}


@rule("binary-arch-missing", "possible")
def a_program_of_ones_own_has_no_code(
    error: Symptom = seen("device-function-told"), named: Symptom = seen("ollama-named", "own-build-told", "lemonade-named"), card: Gpu | None = one(vendor="amd"),
    rocm: Symptom | None = seen(*OURS),
) -> Verdict:  # fmt: skip
    """What somebody compiled, or a server's bundle, is without the card's target."""
    ours = card is not None or rocm is not None
    return ours and not (card is not None and left(card.get("isa") or "")) and {"said": error.id, **program_of(named)}


@rule("binary-arch-missing", "possible")
def one_bundle_has_the_card_and_another_not(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("runs-on-cpu-told"), _program: Symptom = seen(*SERVERS), works: Symptom | None = seen("works-told"),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """A server with a bundle of its own computes on the processor, and the card is one that needs no override."""
    modern = override is None and not left(card.isa) and override_for(card.isa) is None
    return works is None and modern and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", "likely")
def torch_is_older_than_the_card(
    torch: Torch, card: Gpu = one(vendor="amd"), _error: Symptom = seen(*_CRASHES, *_NO_CODE), override: Variable | None = one(name=OVERRIDE)
) -> Verdict:  # fmt: skip
    """Of that release of torch no wheel has the card's code."""
    overridden = override is not None and bool(override.get("value"))
    return (
        not overridden
        and not torch.get("cuda")
        and not left(card.isa)
        and _old_wheels(torch, card.isa)
        and {"gfx": card.isa}
    )


@rule("gfx-not-in-torch-wheel", "possible")
def release_is_older_than_the_card(
    rocm: Toolkit = one(name="rocm"), card: Gpu = one(vendor="amd"), _error: Symptom = seen(*_CRASHES), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """The libraries of that release have no kernels for the card."""
    overridden = override is not None and bool(override.get("value"))
    return not overridden and not left(card.isa) and rocblas_has(rocm.version, card.isa) is False and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", "possible")
def unlisted_card_crashes(
    card: Gpu = one(vendor="amd", integrated=False), _error: Symptom = seen(*_CRASHES), _torch: Symptom = seen("torch-named", "stable-diffusion-named", "webui-script-named"),
    _rocm: Symptom = seen(*ROCM), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """A chip for which torch's wheels are not built, and nothing that makes up for it."""
    return (
        override is None
        and override_for(card.isa) is not None
        and not wheels_have(card.isa, None)
        and {"gfx": card.isa}
    )


@rule("gfx-not-in-torch-wheel", "possible")
def shared_object_of_another_chip(
    error: Symptom = seen("hip-shared-object-failed"), card: Gpu | None = one(vendor="amd"), graphics: Symptom | None = seen(*_GRAPHICS)
) -> Verdict:  # fmt: skip
    """HIP could not set up a library's code objects: for one of the devices it has none."""
    isa = (card and card.get("isa")) or ""
    return graphics is None and not left(isa) and {"gfx": isa or None, "why": error.id}


# -- two devices
@rule("igpu-visible-beside-dgpu", "likely")
def graphics_of_the_processor_are_spoken_of(
    error: Symptom = seen(*_NO_CODE, *_PROGRAM_NO_CODE), graphics: Symptom = seen(*_GRAPHICS), card: Gpu | None = one(vendor="amd", integrated=False),
    mask: Variable | None = one(name=("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), at="shell"),
    other: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """HIP sets code up for every device that it sees, and for the processor's graphics there is none."""
    said = graphics.id.startswith("igpu-named")  # else it is a processor's name that tells of them
    needy = card is not None and error.id in _NO_CODE and override_for(card.get("isa") or "") is not None
    beside = other is None and (said or (card is not None and not needy))
    return beside and mask is None and {"device": 0, "said": error.id, "severity": "error"}


# -- the way to the nodes
@rule("container-render-group-mismatch", "likely")
def refused_where_a_container_is_spoken_of(
    error: Symptom = seen("kfd-permission-denied", "kfd-permission-denied-errno", "kfd-group-not-held"), boxed: Symptom = seen(*_BOXED),
) -> Verdict:  # fmt: skip
    """Permission denied, and the person is in a container."""
    return {"said": error.id, "where": boxed.id}


@rule("container-render-group-mismatch", "possible")
def nothing_found_inside_and_well_outside(
    error: Symptom = seen("hip-no-device", "hip-log-no-device", "torch-no-cuda-gpus", "hsa-out-of-resources"), _boxed: Symptom = seen(*_BOXED),
    _outside: Symptom = seen("works-outside-told", "works-on-host-told", "host-sees-what-the-container-does-not"), absent: Symptom | None = seen("kfd-not-there", "kfd-missing-told"),
) -> Verdict:  # fmt: skip
    """The host sees the card, the container does not, and nobody says that the nodes are missing."""
    return absent is None and {"said": error.id}


@rule("amdgpu-not-loaded", "possible")
def node_is_missing_in_a_persons_words(
    said: Symptom = seen("kfd-missing-told"), boxed: Symptom | None = seen(*_BOXED, *SPOKEN_OF), loaded: KernelModule | None = one(name="amdgpu", loaded=True),
    platform: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """The kernel's compute driver makes the node; a host without it has none that drives the card."""
    return boxed is None and loaded is None and platform is None and {"said": said.id}


# -- services
@rule("override-not-in-service", "likely")
def set_somewhere_and_empty_in_force(
    running: Variable = one(at="service", name=OVERRIDE, value=None), told: Symptom = seen("override-empty-told", *SET_)
) -> Verdict:  # fmt: skip
    """A person says that it is set, and the server's own line shows it empty."""
    name = running.place.process.partition(":")[2] or "ollama"
    return {"service": name, "name": OVERRIDE, "said": told.id}


# -- what is more seldom told
@rule("mixed-gfx-single-override", "likely")
def wanted_for_one_of_two(
    said: Symptom = seen("override-for-one-card-told"), needy: Gpu = one(vendor="amd"), other: Gpu = one(vendor="amd")
) -> Verdict:
    """A person with two unlike cards asks for an override of one of them."""
    return _unlike(needy, other) and {"said": said.id}


def _unlike(needy: Gpu, other: Gpu) -> bool:
    """One chip needs an override and the other does not."""
    return needy.isa != other.isa and override_for(needy.isa) is not None and override_for(other.isa) is None


@rule("mixed-gfx-single-override", "likely")
def told_where_one_of_two_needs_it(
    told: Symptom = seen("override-value-told", *SET_), needy: Gpu = one(vendor="amd", integrated=False), other: Gpu = one(vendor="amd", integrated=False),
    _error: Symptom = seen(*UNUSED, *_CRASHES, *_NO_CODE, *_PROGRAM_NO_CODE, "crashes-told", "gpu-memory-access-fault"),
) -> Verdict:  # fmt: skip
    """A person sets the override on a machine with two unlike cards, and one of them is not used or breaks."""
    value = told.get("value")
    meant = helps(needy.isa, value) and gfx_of_decimal(value or "") != gfx_base(needy.isa)
    return (_unlike(needy, other) or (meant and harms(other.isa, value))) and {"said": told.id}


@rule("igpu-visible-beside-dgpu", "likely")
def the_wrong_one_is_chosen(
    said: Symptom = seen("igpu-chosen-told", "igpu-chosen-told-in-other-order", "igpu-chip-instead-told", "igpu-to-be-hidden-told"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen(*OURS),
) -> Verdict:  # fmt: skip
    """A person says that the processor's graphics are used in place of the card."""
    return (card is not None or named is not None) and {"device": 0, "said": said.id, "severity": "error"}


@rule("igpu-visible-beside-dgpu", "likely")
def fault_beside_a_processors_chip(
    error: Symptom = seen("gpu-memory-access-fault", *_NO_CODE, *_PROGRAM_NO_CODE), chip: Symptom = seen("small-chip-named"), card: Gpu = one(vendor="amd", integrated=False),
) -> Verdict:  # fmt: skip
    """A chip that only processors have is named beside a card, and kernels fault."""
    return card.get("vendor") == "amd" and {"device": 0, "said": error.id, "chip": chip.id, "severity": "error"}


@rule("wrong-hsa-override", "possible")
def fault_at_address_nought(
    error: Symptom = seen("gpu-memory-access-fault", address="(nil)"), chip: Symptom | None = seen("small-chip-named"), override: Variable | None = one(name=OVERRIDE),
    firmware: Symptom | None = seen("amd-firmware-version", component="MES"),
) -> Verdict:  # fmt: skip
    """That address is seen where a chip was taken for another; a firmware that is known to fault gives it too."""
    unset = override is not None and not override.get("value")
    bad = firmware is not None and firmware_fault("MES", str(firmware.version))
    return chip is None and not unset and not bad and {"said": error.id}


@rule("wrong-hsa-override", "likely")
def harmful_value_is_told(
    told: Symptom = seen("override-value-told"), card: Gpu = one(vendor="amd"), _error: Symptom = seen("crashes-told", "gpu-memory-access-fault", "gpu-hang-told", "mes-no-response", *_CRASHES, *UNUSED),
    other: Variable | None = one(name=OVERRIDE), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person names a value that breaks the card, and what broke; what was tried on a chip that ROCm has left is not the reason."""
    return other is None and works is None and _harmful(told, card)


def _harmful(told: Symptom, card: Gpu) -> Verdict:
    value = told.get("value")
    return not left(card.isa) and not fits(card.isa, value) and harms(card.isa, value) and {"value": value}


@rule("wrong-hsa-override", "likely")
def no_code_for_the_chip_that_is_pretended(
    told: Symptom = seen("override-value-told"), card: Gpu = one(vendor="amd"), _error: Symptom = seen(*_NO_CODE, *_PROGRAM_NO_CODE),
    other: Variable | None = one(name=OVERRIDE), tried: Symptom | None = seen("override-tried-told", *SET_), second: Gpu | None = one(vendor="amd", integrated=True),
) -> Verdict:  # fmt: skip
    """Set somewhere, and no code is found; who sets it because of that error has another reason for it."""
    return other is None and tried is None and second is None and _harmful(told, card)


@rule("override-not-in-service", "possible")
def variables_do_not_reach_it(
    said: Symptom = seen("variables-not-applied-told"), _named: Symptom = seen(*SET_, "override-value-told"), working: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person says that variables do not reach the server, and the override is one of them."""
    return working is None and {"service": "ollama", "name": OVERRIDE, "said": said.id}


@rule("cpu-only-torch", "possible")
def program_on_windows_computes_on_the_processor(
    platform: Platform = one(system="windows"), _said: Symptom = seen("runs-on-cpu-told", "gpu-not-seen-told"), _program: Symptom = seen(*_TORCH_PROGRAMS),
    card: Gpu = one(vendor="amd"), torch: Torch | None = None, works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """PyPI's torch for Windows is a CPU build, and what such programs install unless told otherwise."""
    plain = torch is None or not (torch.get("hip") or torch.get("cuda"))
    return works is None and plain and not platform.get("wsl") and card.get("vendor") == "amd"


@rule("gfx-not-in-torch-wheel", "possible")
def torch_crashes_at_once(
    card: Gpu = one(vendor="amd", integrated=False), _error: Symptom = seen(*_CRASHES), _torch: Symptom = seen(*_TORCH), _rocm: Symptom = seen(*ROCM),
    torch: Torch | None = None, override: Variable | None = one(name=OVERRIDE), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A torch of which nothing is known crashes on a card: its list of code tells."""
    unknown = torch is None or not torch.knows("version")
    return works is None and override is None and unknown and not left(card.isa) and {"gfx": card.isa}


@rule("igpu-visible-beside-dgpu", "likely")
def crash_with_both_in_use(
    igpu: Gpu = one(vendor="amd", integrated=True), dgpu: Gpu = one(vendor="amd", integrated=False), _error: Symptom = seen(*_CRASHES),
    mask: Variable | None = one(name=("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"), at="shell"),
) -> Verdict:  # fmt: skip
    """The program lists both as its devices, and ends."""
    listed = igpu.knows("runtime_index") and dgpu.knows("runtime_index")
    return listed and mask is None and {"device": dgpu.runtime_index, "severity": "error"}


@rule("gfx-not-in-torch-wheel", "possible")
def unlisted_card_compiles_nothing(
    card: Gpu = one(vendor="amd"),
    said: Symptom = seen("miopen-build-failed"),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:
    """MIOpen builds its kernels for the chip that it sees, and has none for one that nobody lists."""
    unset = override is None or not override.get("value")
    return unset and not left(card.isa) and override_for(card.isa) is not None and {"gfx": card.isa, "said": said.id}


@rule("render-group-missing", "possible")
def torch_for_rocm_finds_none(
    said: Symptom = seen("torch-no-cuda-gpus", runtime="HIP"), boxed: Symptom | None = seen(*_BOXED), mask: Variable | None = one(name=MASKS),
    world: World | None = None, platform: Platform | None = None, card: Gpu | None = one(vendor="amd", seen_by=("rocminfo", "rocm-smi")),
    wsl: Symptom | None = seen(*_WSL),
) -> Verdict:  # fmt: skip
    """On a host whose card nobody doubts it is most often the right to open the nodes."""
    elsewhere = boxed is not None or said.place.world or bool(world and world.get("container"))
    guest = platform is not None and bool(platform.get("wsl") or platform.get("system") == "windows")
    guest = guest or wsl is not None
    return not elsewhere and not guest and mask is None and card is None and {"said": said.id}
