"""What AMD's threads show beside their messages: programs with code of their own, the targets that a build was given, and models that stay on the processor.

Where torch is not at work, its wheels are not to blame for code that is missing; where a list of targets stands in the text, the card is held against it.
"""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.rocm import NO_CODE, OVERRIDE, helps, inside_a_processor, left
from rigup.knowledge.chips import runs_on
from rigup.machine.kinds import Gpu, Symptom, Variable

_DENIED = ("kfd-permission-denied", "kfd-permission-denied-errno", "kfd-group-not-held", "rock-module-not-loaded")
_MAPPED = ("gtt-limit-named", "gtt-pages-named", "gtt-size-named")
_REFUSED = ("ollama-gfx-refused", "ollama-gfx-refused-early", "rocblas-without-arch")


# -- code for the chip
@rule("binary-arch-missing", "likely")
def build_was_given_other_targets(
    error: Symptom = seen(*NO_CODE), built: Symptom = seen("targets-of-a-build-shown"), card: Gpu = one(vendor="amd"), other: Gpu | None = one(vendor="amd", integrated=False),
    override: Variable | None = one(name=OVERRIDE),
) -> Verdict:  # fmt: skip
    """None of the targets runs on the card; a processor's graphics beside a card are left out by right."""
    isa = card.get("isa") or ""
    aside = bool(card.get("integrated") and other) or bool(override and isa and helps(isa, override.get("value")))
    code = re.findall(r"gfx[0-9a-f]{3,4}", str(built.code))
    return bool(isa) and not aside and not runs_on(isa, code) and {"said": error.id, "why": built.id}


@rule("binary-arch-missing", "likely")
def compiler_of_arrays_supports_none_of_them(
    said: Symptom = seen("xla-supports-no-device-of-rocms"), card: Gpu | None = one(vendor="amd"), denied: Symptom | None = seen(*_DENIED)
) -> Verdict:  # fmt: skip
    """XLA saw devices and took none: where there are none to be seen it says so in other words."""
    return denied is None and not (card is not None and left(card.get("isa") or "")) and {"said": said.id, "program": "XLA"}  # fmt: skip


@rule("rocm-dropped-arch", "likely")
def compiler_of_arrays_has_left_the_chip(
    said: Symptom = seen("xla-supports-no-device-of-rocms"), card: Gpu = one(vendor="amd")
) -> Verdict:
    """The same of a chip that older releases had."""
    return left(card.get("isa") or "") and {"said": said.id, "gfx": card.get("isa")}


@rule("binary-arch-missing", "likely")
def list_of_chips_lacks_the_card(
    said: Symptom = seen("tensorflow-lists-supported-chips"), card: Gpu = one(vendor="amd"), made: Symptom | None = seen("tensorflow-made-a-device"), whole: Symptom | None = seen("tensorflow-leaves-the-chip-out"),
) -> Verdict:  # fmt: skip
    """TensorFlow prints the list where it leaves a device out; two names without a comma between them are no name."""
    isa = card.get("isa") or ""
    spared = made is not None and inside_a_processor(isa)
    lacks = bool(isa) and isa not in re.split(r"[,.\s]+", str(said.listed))
    return whole is None and lacks and not spared and not left(isa) and {"gfx": isa, "package": "tensorflow"}


# -- memory that processor and graphics share
@rule("igpu-vram-counted-without-gtt", "likely")
def model_stays_on_the_processor_though_more_may_be_mapped(
    said: Symptom = seen("ollama-keeps-the-model-on-the-processor"), wish: Symptom = seen(*_MAPPED), inner: Gpu = one(vendor="amd", integrated=True),
    card: Gpu | None = one(integrated=False), refused: Symptom | None = seen(*_REFUSED, *_DENIED),
) -> Verdict:  # fmt: skip
    """Somebody let the graphics map more, and the server, which counts the carve-out, puts nothing on them."""
    counted = card is None and refused is None and bool(inner.integrated)
    return counted and {"said": said.id, "wish": wish.id, "severity": "error"}
