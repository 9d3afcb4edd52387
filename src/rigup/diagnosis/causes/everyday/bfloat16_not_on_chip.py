"""This GPU has no bfloat16: the program has to use float16."""

from rigup.diagnosis.rule import Verdict, one, seen, text_rule
from rigup.knowledge.abilities import lacking
from rigup.machine.kinds import Gpu, Symptom


@text_rule("bfloat16-not-on-chip", "likely")
def trainer_finds_no_bfloat16_on_a_chip_without(
    gpu: Gpu = one(vendor="nvidia"), symptom: Symptom = seen("transformers-setup-has-no-bf16")
) -> Verdict:
    """The message comes also where there is no GPU at all: the chip tells which it is."""
    lacks = any(row.id == "bfloat16" for row in lacking("nvidia", str(gpu.isa)))
    return lacks and {"name": gpu.get("name"), "option": "--fp16", "said": symptom.id}
