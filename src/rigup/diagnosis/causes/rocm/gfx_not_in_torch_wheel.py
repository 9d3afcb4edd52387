"""This torch has no code for the chip."""

from rigup.diagnosis.causes.rocm.chips_without_code import (
    build_that_has_it,
    chip_that_is_better_hidden,
    override_that_helps,
    way_around_rocm,
)
from rigup.diagnosis.causes.rocm.torch_builds import for_amd
from rigup.diagnosis.causes.rocm.who_computes import who_computes_where
from rigup.diagnosis.causes.rocm_chips import left, wheels_have
from rigup.diagnosis.causes.rocm_overrides import OVERRIDE, helps, is_tried_in_vain
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.chips import runs_on
from rigup.knowledge.rocm import override_for
from rigup.knowledge.torch_builds import build, builds
from rigup.machine.kinds import Gpu, Platform, Symptom, Torch, Variable


@rule("gfx-not-in-torch-wheel")
def build_without_the_chip(
    torch: Torch,
    card: Gpu = one(vendor="amd"),
    override: Variable | None = one(name=OVERRIDE, at="shell container"),
    other: Gpu | None = one(vendor="amd", integrated=False),
    statement: Symptom | None = seen("override-value-told"),
    guest: Platform | None = one(wsl=2),
    computes: Symptom | None = seen("tensor-on-its-device"),
    error: Symptom | None = seen("segmentation-fault", "segmentation-fault-signal", tag="no-code-for-amd-chip"),
    tried: Symptom | None = seen("override-typed-before-a-command"),
) -> Verdict:
    """Neither the chip's own code nor, by an override, a sibling's. What torch does not even list fails before any code is looked for; what has computed had code."""
    overridden = bool(override and override.get("value")) and not is_tried_in_vain(tried, card, torch)
    overridden = overridden or bool(statement and helps(card.isa, statement.get("value")))
    overridden = overridden or (computes is not None and error is None)
    unlisted = torch.get("available") is False and (guest is not None or torch.get("own_hsa") is True)
    if (card.get("integrated") and other) or overridden or unlisted or not for_amd(torch) or not torch.code:
        return False
    return not left(card.isa) and not runs_on(card.isa, torch.code) and {"gfx": card.isa}


@rule("gfx-not-in-torch-wheel", strength="likely")
def function_is_not_there(
    error: Symptom = seen(tag="no-code-for-amd-chip"),
    card: Gpu | None = one(vendor="amd"),
    override: Variable | None = one(name=OVERRIDE, at="shell container"),
    shown: Symptom | None = seen(tag="anothers"),
    named: Symptom | None = seen("torch-named"),
    program: Symptom | None = seen(
        "ggml-device-failed",
        "ggml-finds-devices",
        "ggml-has-no-code-for-amds-card",
        "hip-program-named",
        "hip-program-no-function",
        "hip-program-tells-no-function",
        "image-for-instinct-named",
        "julia-of-amd-shown",
        "hip-names-its-own-source",
        "rocblas-solution-without-code",
        "rocblas-passes-on-that-there-is-no-code",
    ),
    torch: Torch | None = None,
) -> Verdict:
    """HIP found no code for the device, in a program that is torch's."""
    if program or (shown and not named and not (torch and torch.knows("version"))):
        return False
    isa = (card and card.get("isa")) or ""
    had = bool(isa) and wheels_have(isa, torch)
    overridden = bool(override and isa and helps(isa, override.get("value")))
    return not had and not overridden and not left(isa) and {"gfx": isa or None, "why": error.id}


@rule("gfx-not-in-torch-wheel", strength="likely")
def no_code_objects_in_torch(torch: Torch, error: Symptom = seen("hip-no-code-objects")) -> Verdict:
    """HIP's own log names the chip, and the program is torch."""
    return bool(torch.hip) and {"gfx": error.get("gfx"), "why": error.id}


@rule("gfx-not-in-torch-wheel", strength="likely")
def crash_on_an_unlisted_chip(
    card: Gpu = one(vendor="amd"),
    _error: Symptom = seen("segfault-in-hip"),
    override: Variable | None = one(name=OVERRIDE, at="shell container"),
    discrete: Gpu | None = one(vendor="amd", integrated=False),
) -> Verdict:
    """HIP crashes on a chip for which nobody builds; beside a card a processor's graphics are not meant."""
    intended = not (card.get("integrated") and discrete)
    return intended and override is None and override_for(card.isa) is not None and {"gfx": card.isa}


@text_rule("gfx-not-in-torch-wheel", "likely")
def torchs_compiler_is_older_than_the_chip(
    symptom: Symptom = seen("clang-knows-no-such-chip"), named: Symptom = seen("torch-named", "miopen-build-failed")
) -> Verdict:
    """torch's own MIOpen compiles at run time, by a compiler that has not heard of the chip."""
    gfx = str(symptom.get("gfx") or symptom.get("gfx2"))
    return not left(gfx) and {"gfx": gfx, "said": symptom.id, "why": named.id}


@text_rule("gfx-not-in-torch-wheel", "possible")
def shared_object_of_another_chip(
    error: Symptom = seen("hip-shared-object-failed"),
    card: Gpu | None = one(vendor="amd"),
    graphics: Symptom | None = seen(tag="integrated-named"),
) -> Verdict:
    """HIP could not set up a library's code objects: for one of the devices it has none."""
    isa = (card and card.get("isa")) or ""
    return graphics is None and not left(isa) and {"gfx": isa or None, "why": error.id}


@text_rule("gfx-not-in-torch-wheel", "likely")
def image_is_invalid_for_a_card_of_amds(
    symptom: Symptom = seen("cuda-image-invalid"),
    card: Gpu = one(vendor="amd"),
    other: Gpu | None = one(vendor="nvidia"),
    program: Symptom | None = seen("ggml-device-failed", "ggml-log-shown", "kobold-named"),
    override: Variable | None = one(name=OVERRIDE),
    torch: Torch | None = None,
) -> Verdict:
    """A torch for ROCm may say CUDA where it means HIP; the card is AMD's."""
    isa = card.get("isa") or ""
    overridden = bool(override and isa and helps(isa, override.get("value")))
    clear = other is None and program is None and not overridden and not (torch and torch.get("cuda"))
    return clear and not left(isa) and {"gfx": isa or None, "why": symptom.id}


@text_rule("gfx-not-in-torch-wheel", "likely")
def named_wheel_is_older_than_the_card(
    wheel: Symptom = seen("wheel-of-torch-for-rocm-named"),
    card: Gpu = one(vendor="amd"),
    error: Symptom = seen(tag="program-crashed no-code-for-amd-chip"),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:
    """Only the file's name tells which torch it is, and that one has no code for the card."""
    known = build(f"{wheel.torch}+{wheel.variant}")
    overridden = override is not None and bool(override.get("value"))
    lacks = known is not None and bool(known.code) and not runs_on(card.isa, known.code)
    return lacks and not overridden and not left(card.isa) and {"gfx": card.isa, "why": error.id}


mends("gfx-not-in-torch-wheel")(who_computes_where)


@mends("gfx-not-in-torch-wheel")
def it_is_torch() -> Params:
    """Whatever else is named: the cause is torch's own."""
    return {"by_torch": "torch", "backend": None}


mends("gfx-not-in-torch-wheel")(override_that_helps)
mends("gfx-not-in-torch-wheel")(build_that_has_it)
mends("gfx-not-in-torch-wheel")(way_around_rocm)
mends("gfx-not-in-torch-wheel")(chip_that_is_better_hidden)


def old_wheels(torch: Torch, isa: str) -> bool:
    """All ROCm wheels of that release of torch are without code for the chip."""
    release, _, variant = str(torch.get("version") or "").partition("+")
    if variant and build(torch.version) is None:  # of another maker's wheels nobody knows what they hold
        return False
    rows = [row for row in builds() if row.rocm and row.code and row.torch.startswith(release)] if release else []
    return bool(rows) and not any(runs_on(isa, row.code) for row in rows)
