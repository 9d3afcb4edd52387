"""ROCm no longer carries this chip."""

from rigup.diagnosis.causes.rocm.chips_without_code import (
    build_that_has_it,
    chip_that_is_better_hidden,
    override_that_helps,
    way_around_rocm,
)
from rigup.diagnosis.causes.rocm.torch_builds import for_amd
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.causes.rocm_chips import left
from rigup.diagnosis.rule import Verdict, mends, one, rule, seen
from rigup.knowledge.chips import runs_on
from rigup.machine.kinds import Gpu, KernelLibrary, Symptom, Torch, Variable


@rule("rocm-dropped-arch", strength="likely")
def library_of_old_names_no_old_chip(card: Gpu = one(vendor="amd"), _error: Symptom = seen("rocblas-without-library")) -> Verdict:
    """The same, and the card is one that ROCm has left."""
    return left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch")
def once_had_kernels(error: Symptom = seen(tag="ollama-refuses-chip")) -> Verdict:
    """Older releases had the chip."""
    return left(str(error.get("gfx"))) and {"gfx": error.get("gfx")}


@rule("rocm-dropped-arch", strength="likely")
def once_had_code(
    card: Gpu = one(vendor="amd"),
    _error: Symptom = seen("segfault-in-hip", "ggml-no-function", tag="no-code-for-amd-chip"),
    listed: Symptom | None = seen("code-objects-listed"),
) -> Verdict:
    """No code for a chip that older releases had; where a program's own targets are listed, it is that program's."""
    return listed is None and left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch", strength="likely")
def crash_on_an_old_chip(
    card: Gpu = one(vendor="amd"), _error: Symptom = seen("segmentation-fault", "segmentation-fault-signal"), torch: Torch | None = None
) -> Verdict:
    """A program ends on the first kernel; that ROCm is in use, its own list or a torch for it shows."""
    used = card.knows("shown_isa") or bool(torch and torch.get("hip"))
    return used and left(card.isa) and {"gfx": card.isa}


@rule("rocm-dropped-arch")
def build_without_an_old_chip(
    torch: Torch, card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False)
) -> Verdict:
    """This torch was compiled after ROCm had left the chip."""
    excused = card.get("integrated") and other
    if excused or not for_amd(torch) or not torch.code:
        return False
    return left(card.isa) and not runs_on(card.isa, torch.code) and {"gfx": card.isa}


@rule("rocm-dropped-arch", strength="likely")
def library_that_a_program_brings_left_the_chip(
    library: KernelLibrary = one(name="rocblas", owner=("ollama", "torch")),
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="amd", integrated=False),
    override: Variable | None = one(name="HSA_OVERRIDE_GFX_VERSION"),
) -> Verdict:
    """Its rocBLAS is from after ROCm had left the chip, though torch itself may still have code for it."""
    intended = not (card.get("integrated") and other) and not (override and override.get("value"))
    return intended and left(card.isa) and not runs_on(card.isa, library.code) and {"gfx": card.isa}


@rule("rocm-dropped-arch", "likely")
def server_holds_the_chip_for_too_old(
    symptom: Symptom = seen("ollama-amdgpu-too-old", "ollama-says-too-old-with-its-number"),
    other: Gpu | None = one(vendor="nvidia"),
    served: Symptom | None = seen("ollama-computes-on-rocm", "ollama-amdgpu-supported"),
) -> Verdict:
    """The server's own word; an old one beside the card that it computes on is left out by right."""
    has_discrete = served is not None or (other is not None and bool(other.get("vram")))
    return {**symptom.values(), **({"severity": "note"} if has_discrete else {})}


mends("rocm-dropped-arch")(who_computes_where)
mends("rocm-dropped-arch")(override_that_helps)
mends("rocm-dropped-arch")(build_that_has_it)
mends("rocm-dropped-arch")(way_around_rocm)
mends("rocm-dropped-arch")(chip_that_is_better_hidden)
