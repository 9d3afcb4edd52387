"""rocBLAS has no kernels for this chip."""

from rigup.diagnosis.causes.rocm.chips_without_code import (
    build_that_has_it,
    chip_that_is_better_hidden,
    override_that_helps,
    way_around_rocm,
)
from rigup.diagnosis.causes.rocm.libraries import foreign
from rigup.diagnosis.causes.rocm.ollama import spared
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.causes.rocm_chips import left
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, helps
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import runs_on
from rigup.knowledge.rocm import override_for
from rigup.machine.kinds import Gpu, KernelLibrary, Platform, Symptom, Torch, Variable


def meant_elsewhere(error: Symptom, symptom: Symptom | None, override: Variable | None, unit: Symptom | None) -> bool:
    """A service or a container looks for the card's own chip, though an override that helps is set somewhere; on Windows none does."""
    windows = "\\" in str(error.get("library") or "")
    value = (override.get("value") if override else None) or (symptom.get("value") if symptom else None)
    served = unit is not None or error.place.kind in ("service", "unit", "container")
    return served and not windows and helps(str(error.get("gfx")), value)


@rule("gfx-not-in-rocblas")
def library_has_no_kernels(
    error: Symptom = seen(tag="ollama-refuses-chip"),
    served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"),
    statement: Symptom | None = seen("override-value-told"),
    torch: Torch | None = None,
    override: Variable | None = one(name=OVERRIDE),
    unit: Symptom | None = seen("service-unit-named"),
) -> Verdict:
    """It says for which chip it looked in vain."""
    gfx = str(error.get("gfx"))
    excused = spared(error, served) or foreign(error, torch) or meant_elsewhere(error, statement, override, unit)
    return not left(gfx) and not excused and {"gfx": gfx, "engine": "ollama" if error.get("listed") else None}


@rule("gfx-not-in-rocblas", strength="likely")
def library_on_windows_is_of_another_release(error: Symptom = seen("rocblas-file-unreadable")) -> Verdict:
    """The file is there, since it looks no further, and cannot be read: people copy them from other releases."""
    return {"gfx": error.get("gfx")}


@rule("gfx-not-in-rocblas", strength="likely")
def library_of_old_names_no_chip(
    _error: Symptom = seen("rocblas-without-library"),
    card: Gpu | None = one(vendor="amd"),
    named: Symptom | None = seen("rocblas-without-arch"),
    torch: Torch | None = None,
) -> Verdict:
    """Older releases do not say for which chip they looked in vain."""
    isa = (card and card.get("isa")) or ""
    return named is None and not foreign(_error, torch) and not left(isa) and {"gfx": isa or None}


@rule("gfx-not-in-rocblas", strength="likely")
def installed_library_has_no_kernels(
    library: KernelLibrary = one(name="rocblas", owner=("ollama", "torch")),
    card: Gpu = one(vendor="amd"),
    override: Variable | None = one(name=OVERRIDE),
    other: Gpu | None = one(vendor="amd", integrated=False),
    torch: Torch | None = None,
) -> Verdict:
    """Graphics in the processor beside a card of its own are not meant."""
    excused = bool(override and override.get("value")) or bool(card.get("integrated") and other) or bool(torch and torch.get("available"))
    return not excused and not runs_on(card.isa, library.code) and not left(card.isa) and {"gfx": card.isa}


@rule("gfx-not-in-rocblas", "possible")
def unlisted_card_is_not_used_on_windows(
    card: Gpu = one(vendor="amd"),
    _program: Symptom = seen("ollama-named"),
    symptom: Symptom = seen(
        "cpu-alone-in-words", "cpu-alone-in-small-letters", "gpu-trouble-in-words", "gpu-missed-in-words", tag="gpu-not-used"
    ),
    platform: Platform | None = one(system=("linux", "macos")),
    works: Symptom | None = seen(
        "works-told",
        "ollama-computes-on-rocm",
        "shared-memory-not-used-told",
        "carve-out-alone-told",
        "vram-misdetected-told",
        "ggml-vulkan-named",
        "llama-for-the-processor",
        tag="vulkan-at-work",
    ),
) -> Verdict:
    """ollama's libraries for Windows have fewer chips than Linux's, and no override there adds one."""
    sibling = override_for(card.isa) is not None or card.get("integrated")
    return platform is None and works is None and bool(sibling) and {"gfx": card.isa, "said": symptom.id}


@text_rule("gfx-not-in-rocblas", "likely")
def bundle_reads_no_file_of_the_chip(symptom: Symptom = seen("rocblas-loads-from-bundle"), card: Gpu | None = one(vendor="amd")) -> Verdict:
    """The plain name is asked for where no file bears the chip's own."""
    isa = (card and card.get("isa")) or ""
    return not left(isa) and {"gfx": isa or None, "said": symptom.id}


@text_rule("gfx-not-in-rocblas", "possible")
def opencl_lists_no_chip_of_a_card_that_is_driven(
    symptom: Symptom = seen("clinfo-of-amd-lists-nothing"),
    _row: Symptom = seen("rocm-smi-row-shown"),
    card: Gpu = one(vendor="amd"),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:
    """The kernel's driver has the card, and ROCm's compute side has none of its chip: a release from before it, mostly of an image."""
    isa = card.get("isa") or ""
    return override is None and bool(isa) and not left(isa) and override_for(isa) is not None and {"gfx": isa, "said": symptom.id}


mends("gfx-not-in-rocblas")(who_computes_where)
mends("gfx-not-in-rocblas")(override_that_helps)
mends("gfx-not-in-rocblas")(build_that_has_it)
mends("gfx-not-in-rocblas")(way_around_rocm)
mends("gfx-not-in-rocblas")(chip_that_is_better_hidden)


@mends("gfx-not-in-rocblas")
def files_that_zluda_reads(knew: Params, _named: Symptom = seen("zluda-asked-for", "zluda-in-words")) -> Params:
    """ZLUDA runs a torch for NVIDIA over the HIP SDK's libraries: these have to know the chip, and the torch stays."""
    return {**dict.fromkeys(("torch", "packages", "backend", "chip", "cpu_torch")), "set_of": knew.get("isa")}
