"""Two visibility variables together leave no device."""

from rigup.diagnosis.causes.masks import MASKS
from rigup.diagnosis.rule import Verdict, one, rule, seen, text_rule
from rigup.machine.kinds import Symptom, Variable


@rule("double-visibility-mask")
def second_mask_names_what_the_first_took(
    outer: Variable = one(name="ROCR_VISIBLE_DEVICES"), inner: Variable = one(name=MASKS[1:])
) -> Verdict:
    """The second counts what the first has left, from nought."""
    if not outer.value or not inner.value:
        return False
    count = len([part for part in str(outer.value).split(",") if part.strip()])
    return any(part.strip().isdigit() and int(part) >= count for part in str(inner.value).split(",")) and {"name": inner.name}


@text_rule("double-visibility-mask", "likely")
def both_masks_are_printed(symptom: Symptom = seen("both-masks-printed")) -> Verdict:
    """The second counts what the first has left, from nought."""
    count = len(str(symptom.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(symptom.inner).split(",") if part)
    return beyond and {"name": str(symptom.name) + "_VISIBLE_DEVICES"}


@text_rule("double-visibility-mask", "likely")
def second_mask_of_a_line_names_what_is_left_out(symptom: Symptom = seen("two-masks-in-a-line", "two-masks-in-other-order")) -> Verdict:
    """The second counts what the first has left, from nought."""
    count = len(str(symptom.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(symptom.inner).split(",") if part)
    return beyond and {"name": str(symptom.name) + "_VISIBLE_DEVICES"}


@text_rule("double-visibility-mask", "likely")
def process_was_given_both_masks(
    outer: Symptom = seen("masks-in-an-environment"),
    inner: Symptom = seen("inner-mask-in-an-environment"),
    symptom: Symptom = seen(tag="hip-finds-none"),
) -> Verdict:
    """The environment that a server hands on has both, and what it starts finds no device."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part)
    return beyond and {"name": str(inner.name) + "_VISIBLE_DEVICES", "said": symptom.id}


@text_rule("double-visibility-mask", "likely")
def worker_prints_two_masks(
    outer: Symptom = seen("masks-in-an-environment"),
    inner: Symptom = seen("inner-mask-in-an-environment"),
    symptom: Symptom = seen("cuda-invalid-ordinal"),
) -> Verdict:
    """What starts the workers set both: the second mask names devices that the first has left out."""
    count = len(str(outer.outer).strip(",").split(","))
    beyond = any(int(part) >= count for part in str(inner.inner).split(",") if part.isdigit())
    return beyond and {"name": f"{inner.name}_VISIBLE_DEVICES", "said": symptom.id}
