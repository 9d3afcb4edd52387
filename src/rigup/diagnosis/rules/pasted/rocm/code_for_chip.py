"""ROCm's libraries and wheels without code for the chip."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.library import of_a_night
from rigup.diagnosis.rules.pasted.heard import (
    CRASHES,
    HIP_HAS_NO_CODE,
    INTEGRATED_NAMED,
    ROCM,
    SERVERS,
    UNUSED,
)
from rigup.diagnosis.rules.rocm import OVERRIDE, fits, helps, inside_a_processor, left, wheels_have
from rigup.diagnosis.rules.rocm_stack import numbered
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.chips import runs_on
from rigup.knowledge.rocm import override_for, rocblas_has
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Gpu, KernelLibrary, Symptom, Toolkit, Torch, Variable

_COMPUTES = (*ROCM, "gfx-named", "torch-named", "stable-diffusion-named", "webui-script-named")
_TORCH = ("torch-named", "stable-diffusion-named", "webui-script-named")
_LITTLE = (
    "vram-misdetected-told",
    "little-memory-seen-told",
    "gtt-left-out-told",
    "shared-memory-not-used-told",
    "carve-out-alone-told",
)  # it is used, and not all of its memory
_VULKAN = ("ggml-vulkan-named",)
_FAULTS = ("segmentation-fault", "segmentation-fault-signal")


def _old_wheels(torch: Torch, isa: str) -> bool:
    """All ROCm wheels of that release of torch are without code for the chip."""
    release, _, variant = str(torch.get("version") or "").partition("+")
    if variant and build(torch.version) is None:  # of another maker's wheels nobody knows what they hold
        return False
    rows = [row for row in builds() if row.rocm and row.code and row.torch.startswith(release)] if release else []
    return bool(rows) and not any(runs_on(isa, row.code) for row in rows)


# -- gfx-not-in-torch-wheel
@rule("gfx-not-in-torch-wheel", "likely")
def torchs_compiler_is_older_than_the_chip(
    said: Symptom = seen("clang-knows-no-such-chip"),
    named: Symptom = seen("torch-named", "miopen-build-failed"),
) -> Verdict:
    """torch's own MIOpen compiles at run time, by a compiler that has not heard of the chip."""
    gfx = str(said.get("gfx") or said.get("gfx2"))
    return not left(gfx) and {"gfx": gfx, "said": said.id, "why": named.id}


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
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*CRASHES), _said: Symptom = seen("chip-not-supported-told"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person says that the chip is not supported yet, and programs crash."""
    return works is None and not left(card.isa) and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", "likely")
def torch_is_older_than_the_card(
    torch: Torch, card: Gpu = one(vendor="amd"), _error: Symptom = seen(*CRASHES, *HIP_HAS_NO_CODE), override: Variable | None = one(name=OVERRIDE)
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
    rocm: Toolkit = one(name="rocm"), card: Gpu = one(vendor="amd"), _error: Symptom = seen(*CRASHES), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """The libraries of that release have no kernels for the card."""
    overridden = override is not None and bool(override.get("value"))
    return not overridden and not left(card.isa) and rocblas_has(rocm.version, card.isa) is False and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", "possible")
def unlisted_card_crashes(
    card: Gpu = one(vendor="amd", integrated=False), _error: Symptom = seen(*CRASHES), _torch: Symptom = seen("torch-named", "stable-diffusion-named", "webui-script-named"),
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
    error: Symptom = seen("hip-shared-object-failed"), card: Gpu | None = one(vendor="amd"), graphics: Symptom | None = seen(*INTEGRATED_NAMED)
) -> Verdict:  # fmt: skip
    """HIP could not set up a library's code objects: for one of the devices it has none."""
    isa = (card and card.get("isa")) or ""
    return graphics is None and not left(isa) and {"gfx": isa or None, "why": error.id}


@rule("gfx-not-in-torch-wheel", "possible")
def torch_crashes_at_once(
    card: Gpu = one(vendor="amd", integrated=False), _error: Symptom = seen(*CRASHES), _torch: Symptom = seen(*_TORCH), _rocm: Symptom = seen(*ROCM),
    torch: Torch | None = None, override: Variable | None = one(name=OVERRIDE), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A torch of which nothing is known crashes on a card: its list of code tells."""
    unknown = torch is None or not torch.knows("version")
    return works is None and override is None and unknown and not left(card.isa) and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", "possible")
def unlisted_card_compiles_nothing(
    card: Gpu = one(vendor="amd"),
    said: Symptom = seen("miopen-build-failed"),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:
    """MIOpen builds its kernels for the chip that it sees, and has none for one that nobody lists."""
    unset = override is None or not override.get("value")
    return unset and not left(card.isa) and override_for(card.isa) is not None and {"gfx": card.isa, "said": said.id}


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
    said: Symptom = seen("cuda-image-invalid"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), program: Symptom | None = seen("ggml-device-failed", "ggml-log-shown", "kobold-named"),
    override: Variable | None = one(name=OVERRIDE), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm may say CUDA where it means HIP; the card is AMD's."""
    isa = card.get("isa") or ""
    overridden = bool(override and isa and helps(isa, override.get("value")))
    clear = other is None and program is None and not overridden and not (torch and torch.get("cuda"))
    return clear and not left(isa) and {"gfx": isa or None, "why": said.id}


@rule("gfx-not-in-torch-wheel", "likely")
def code_of_another_chip_in_torch(
    said: Symptom = seen("hsa-isa-invalid"), torch: Torch | None = None, named: Symptom | None = seen("torch-named")
) -> Verdict:
    """The same by torch."""
    return (named is not None or bool(torch and torch.get("hip"))) and {"why": said.id}


@rule("gfx-not-in-torch-wheel", "likely")
def plain_start_fails_and_the_override_mends_it(
    torch: Torch, error: Symptom = seen(*HIP_HAS_NO_CODE), card: Gpu = one(vendor="amd"), override: Variable = one(name="HSA_OVERRIDE_GFX_VERSION"),
    _works: Symptom = seen("tensor-on-its-device"),
) -> Verdict:  # fmt: skip
    """Without it torch has no code for the chip, with a sibling's number it computes."""
    lacks = bool(torch.get("code")) and not runs_on(card.isa, torch.code)
    return lacks and helps(card.isa, override.value) and {"gfx": card.isa, "why": error.id}


@rule("gfx-not-in-torch-wheel", "likely")
def plain_start_crashes_and_the_override_mends_it(
    torch: Torch, error: Symptom = seen(*_FAULTS), card: Gpu = one(vendor="amd"), override: Variable = one(name="HSA_OVERRIDE_GFX_VERSION"),
    _works: Symptom = seen("tensor-on-its-device"),
) -> Verdict:  # fmt: skip
    """torch's own list lacks the chip, the first operation ends the process, and with a sibling's number it computes."""
    lacks = bool(torch.get("code")) and not runs_on(card.isa, torch.code)
    return lacks and helps(card.isa, override.value) and {"gfx": card.isa, "why": error.id}


@rule("gfx-not-in-torch-wheel", "likely")
def torch_turns_the_chip_down(said: Symptom = seen("torch-says-the-chip-is-not-compatible")) -> Verdict:
    """Its own warning names the chip."""
    return not left(str(said.get("gfx"))) and {"gfx": said.get("gfx"), "why": said.id}


# -- gfx-not-in-rocblas
@rule("gfx-not-in-rocblas", "likely")
def bundle_reads_no_file_of_the_chip(said: Symptom = seen("rocblas-loads-from-bundle"), card: Gpu | None = one(vendor="amd")) -> Verdict:  # fmt: skip
    """The plain name is asked for where no file bears the chip's own."""
    isa = (card and card.get("isa")) or ""
    return not left(isa) and {"gfx": isa or None, "said": said.id}


@rule("gfx-not-in-rocblas", "likely")
def servers_trial_crashes_on_a_chip_that_needs_an_override(
    said: Symptom = seen("ollama-discovery-crashes"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE)
) -> Verdict:  # fmt: skip
    """The server starts a trial on each device; its library ends the process on a chip that it does not have."""
    isa = card.get("isa") or ""
    needy = override_for(isa) is not None and not (override is not None and helps(isa, override.get("value")))
    return needy and {"gfx": isa, "said": said.id}


@rule("gfx-not-in-rocblas", "likely")
def listed_library_has_no_kernels(
    library: KernelLibrary = one(name="rocblas", owner="shown"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE),
    torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Somebody lists the files of the installed library, and the card's are not among them."""
    overridden = override is not None and bool(override.get("value"))
    return not overridden and torch is None and not runs_on(card.isa, library.code) and not left(card.isa) and {"gfx": card.isa}  # fmt: skip


@rule("gfx-not-in-rocblas", "likely")
def library_lists_other_chips_and_the_program_ends(
    said: Symptom = seen("rocblas-lists-files-of-other-chips"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE)
) -> Verdict:  # fmt: skip
    """rocBLAS lists the files that it has where it does not find the chip's; the line that names the chip is cut off."""
    isa = card.get("isa") or ""
    overridden = override is not None and bool(override.get("value"))
    return not overridden and isa != said.file and override_for(isa) is not None and {"gfx": isa, "said": said.id}


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


@rule("gfx-not-in-rocblas", "likely")
def program_has_no_target_for_it(said: Symptom = seen("lm-studio-gpu-incompatible"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """The program lists the chips that its own libraries are for."""
    return not left(card.isa) and card.isa not in str(said.get("listed")) and {"gfx": card.isa}


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


@rule("gfx-not-in-rocblas", "possible")
def opencl_lists_no_chip_of_a_card_that_is_driven(
    said: Symptom = seen("clinfo-of-amd-lists-nothing"), _row: Symptom = seen("rocm-smi-row-shown"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """The kernel's driver has the card, and ROCm's compute side has none of its chip: a release from before it, mostly of an image."""
    isa = card.get("isa") or ""
    return override is None and bool(isa) and not left(isa) and override_for(isa) is not None and {"gfx": isa, "said": said.id}  # fmt: skip


# -- binary-arch-missing
@rule("binary-arch-missing", "likely")
def program_that_lists_the_devices_has_no_code(
    said: Symptom = seen("hip-no-binary"), own: Symptom = seen("ggml-finds-devices"), card: Gpu = one(vendor="amd"), second: Gpu | None = one(vendor="amd", integrated=False),
    torch: Torch | None = None, override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """llama.cpp and its kin list what HIP sees, and end for want of code."""
    meant = not (card.get("integrated") and second)
    unset = override is None or not override.get("value")
    return (
        meant and unset and torch is None and not left(card.isa) and {"gfx": card.isa, "said": own.id, "why": said.id}
    )


# -- rocm-dropped-arch
@rule("rocm-dropped-arch", "likely")
def compiler_of_arrays_has_left_the_chip(
    said: Symptom = seen("xla-supports-no-device-of-rocms"), card: Gpu = one(vendor="amd")
) -> Verdict:
    """The same of a chip that older releases had."""
    return left(card.get("isa") or "") and {"said": said.id, "gfx": card.get("isa")}


@rule("rocm-dropped-arch", "likely")
def opencl_lists_no_card_that_was_left(said: Symptom = seen("clinfo-of-amd-lists-nothing"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """AMD's OpenCL answers and has no device: the card is one that ROCm has left."""
    return left(card.get("isa") or "") and {"gfx": card.isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def listed_library_has_left_the_chip(
    library: KernelLibrary = one(name="rocblas", owner="shown"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:  # fmt: skip
    """The same of a chip that older releases had."""
    excused = card.get("integrated") and other
    return not excused and left(card.isa) and not runs_on(card.isa, library.code) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "likely")
def bundle_has_left_the_chip(said: Symptom = seen("rocblas-loads-from-bundle"), card: Gpu = one(vendor="amd")) -> Verdict:  # fmt: skip
    """A program's own rocBLAS has no files that it could load, and the chip is one that ROCm has left."""
    return left(card.isa) and {"gfx": card.isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def old_card_crashes(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen(*CRASHES), named: Symptom = seen(*_COMPUTES),
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


@rule("rocm-dropped-arch", "likely")
def old_card_and_nothing_helps(
    card: Gpu = one(vendor="amd"), _told: Symptom = seen("trouble-told", "fix-did-not-help-told"), _rocm: Symptom = seen(*ROCM), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """A person has tried what there is, with a chip that ROCm has left."""
    return works is None and left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "possible")
def old_card_is_not_listed(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("polaris-told-as-left"), works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """The same where somebody says that the chip was left."""
    return works is None and left(card.isa) and {"gfx": card.isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def old_card_is_hidden_by_hip(
    card: Gpu = one(vendor="amd"), said: Symptom = seen("rocblas-no-devices", "hip-no-device", "hip-init-failed", "blender-wants-a-later-chip-of-amds")
) -> Verdict:  # fmt: skip
    """HIP does not list chips before Vega."""
    return left(card.isa) and {"gfx": card.isa, "said": said.id}


@rule("rocm-dropped-arch", "likely")
def tensorflow_has_left_the_chip(
    said: Symptom = seen("tensorflow-leaves-the-chip-out", "tensorflow-wants-a-later-chip", "torch-says-the-chip-is-not-compatible"),
) -> Verdict:  # fmt: skip
    """The same of a chip that older releases had."""
    return left(str(said.get("gfx"))) and {"gfx": said.get("gfx")}


# -- broken-wheel-missing-library
@rule("broken-wheel-missing-library", "likely")
def torchs_own_part_lacks_a_library(
    error: Symptom = seen("rocm-library-not-loaded"),
    _own: Symptom = seen("torch-c-part-imported"),
    torch: Torch | None = None,
) -> Verdict:
    """torch's compiled part is what fails to load, and the library is one that its wheel should bring."""
    lib = str(error.get("lib"))
    return torch is None and not numbered(error) and {"lib": lib}


@rule("broken-wheel-missing-library", "likely")
def nightly_torch_lacks_a_library(
    error: Symptom = seen("cuda-library-not-found"), _own: Symptom = seen("torch-c-part-imported"), _nightly: Symptom = seen("nightly-torch-asked")
) -> Verdict:  # fmt: skip
    """torch's own compiled part fails to load in an environment of a night's build, which should bring all that it links."""
    return {"lib": error.lib}


@rule("broken-wheel-missing-library", "likely")
def torch_of_a_night_lacks_a_library(
    error: Symptom = seen("cuda-library-not-found"), _own: Symptom = seen("torch-c-part-imported"), _torch: Torch = one(version=Told(of_a_night)),
) -> Verdict:  # fmt: skip
    """torch's own compiled part fails to load, and the release that stands there is a night's: such a build should bring all that it links."""
    return {"lib": error.lib}
