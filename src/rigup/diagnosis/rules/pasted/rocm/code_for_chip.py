"""ROCm's libraries and wheels without code for the chip."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.rocm import OVERRIDE, helps, left
from rigup.knowledge.chips import runs_on
from rigup.knowledge.rocm import override_for
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Gpu, Symptom, Torch, Variable


def old_wheels(torch: Torch, isa: str) -> bool:
    """All ROCm wheels of that release of torch are without code for the chip."""
    release, _, variant = str(torch.get("version") or "").partition("+")
    if variant and build(torch.version) is None:  # of another maker's wheels nobody knows what they hold
        return False
    rows = [row for row in builds() if row.rocm and row.code and row.torch.startswith(release)] if release else []
    return bool(rows) and not any(runs_on(isa, row.code) for row in rows)


@rule("gfx-not-in-torch-wheel", "likely")
def torchs_compiler_is_older_than_the_chip(
    symptom: Symptom = seen("clang-knows-no-such-chip"),
    named: Symptom = seen("torch-named", "miopen-build-failed"),
) -> Verdict:
    """torch's own MIOpen compiles at run time, by a compiler that has not heard of the chip."""
    gfx = str(symptom.get("gfx") or symptom.get("gfx2"))
    return not left(gfx) and {"gfx": gfx, "said": symptom.id, "why": named.id}


@rule("gfx-not-in-torch-wheel", "possible")
def shared_object_of_another_chip(
    error: Symptom = seen("hip-shared-object-failed"), card: Gpu | None = one(vendor="amd"), graphics: Symptom | None = seen(tag="integrated-named")
) -> Verdict:  # fmt: skip
    """HIP could not set up a library's code objects: for one of the devices it has none."""
    isa = (card and card.get("isa")) or ""
    return graphics is None and not left(isa) and {"gfx": isa or None, "why": error.id}


@rule("gfx-not-in-torch-wheel", "likely")
def image_is_invalid_for_a_card_of_amds(
    symptom: Symptom = seen("cuda-image-invalid"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="nvidia"), program: Symptom | None = seen("ggml-device-failed", "ggml-log-shown", "kobold-named"),
    override: Variable | None = one(name=OVERRIDE), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """A torch for ROCm may say CUDA where it means HIP; the card is AMD's."""
    isa = card.get("isa") or ""
    overridden = bool(override and isa and helps(isa, override.get("value")))
    clear = other is None and program is None and not overridden and not (torch and torch.get("cuda"))
    return clear and not left(isa) and {"gfx": isa or None, "why": symptom.id}


@rule("gfx-not-in-rocblas", "likely")
def bundle_reads_no_file_of_the_chip(symptom: Symptom = seen("rocblas-loads-from-bundle"), card: Gpu | None = one(vendor="amd")) -> Verdict:  # fmt: skip
    """The plain name is asked for where no file bears the chip's own."""
    isa = (card and card.get("isa")) or ""
    return not left(isa) and {"gfx": isa or None, "said": symptom.id}


@rule("gfx-not-in-rocblas", "possible")
def opencl_lists_no_chip_of_a_card_that_is_driven(
    symptom: Symptom = seen("clinfo-of-amd-lists-nothing"), _row: Symptom = seen("rocm-smi-row-shown"), card: Gpu = one(vendor="amd"), override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """The kernel's driver has the card, and ROCm's compute side has none of its chip: a release from before it, mostly of an image."""
    isa = card.get("isa") or ""
    return override is None and bool(isa) and not left(isa) and override_for(isa) is not None and {"gfx": isa, "said": symptom.id}  # fmt: skip
