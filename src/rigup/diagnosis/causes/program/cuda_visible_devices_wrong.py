"""A visibility variable hides the GPUs from the program."""

import re

from rigup.diagnosis.causes.masks import CUDA_MASK, chosen
from rigup.diagnosis.rule import Params, Verdict, mends, one, rule, seen, text_rule
from rigup.machine.kinds import CardCount, Gpu, JobRequest, Launch, Mask, Platform, Symptom, TensorFlow, Torch, Variable

_WORD = re.compile(r"(?!GPU-|MIG-|none$|nodevfiles$)[A-Za-z][A-Za-z]{2,12}(?::\d{1,2}|\d{1,2})?", re.IGNORECASE)
DEVICE_MASKS = (CUDA_MASK, "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
_NONE = ("", "-1", "none", "None")


def counted(mask: Variable, cards: CardCount) -> bool:
    """Whether a mask counts these cards: CUDA's NVIDIA's, the others AMD's."""
    return bool(cards.vendor == ("nvidia" if mask.name == CUDA_MASK else "amd"))


@rule("cuda-visible-devices-wrong")
def mask_names_a_device_that_is_not_there(
    mask: Variable = one(name=DEVICE_MASKS), cards: CardCount = one(mig=False), cut: Symptom | None = seen("table-of-cards-is-cut")
) -> Verdict:
    """Of 0-based indices one lies beyond the last card: that card and all behind it are hidden. Of a table without its end there may be more."""
    parts = chosen(mask.value or "")
    beyond = [part for part in parts if part.isdigit() and int(part) >= cards.count]
    shown = ",".join(str(index) for index in range(cards.count))
    severity = "error" if parts[0] in beyond else "warning"
    told = {"name": mask.name, "count": cards.count, "valid": shown, "severity": severity}
    return cut is None and bool(beyond) and counted(mask, cards) and told


@text_rule("cuda-visible-devices-wrong", "likely")
def mask_hides_all_of_a_table_that_is_cut(
    mask: Variable = one(name=DEVICE_MASKS), _cut: Symptom = seen("table-of-cards-is-cut"), _nothing: Symptom = seen(tag="no-device")
) -> Verdict:
    """How many there are the table does not show to its end; no device is found, and the mask names none that it shows first."""
    first = chosen(mask.value or "")[0]
    return first.isdigit() and int(first) > 0 and {"name": mask.name, "valid": "0"}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_more_than_torch_has_counted(
    _nothing: Symptom = seen(tag="no-device"),
    mask: Variable = one(name=DEVICE_MASKS),
    torch: Torch = one(available=True),
    cards: CardCount | None = None,
) -> Verdict:
    """A program finds none behind its mask, and torch without the mask has counted fewer than that."""
    first, count = chosen(mask.value or "")[0], torch.devices
    beyond = first.isdigit() and 0 < count <= int(first)
    shown = ",".join(str(index) for index in range(count))
    return cards is None and beyond and {"name": mask.name, "count": count, "valid": shown, "severity": "error"}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_a_device_of_another_job(
    mask: Variable = one(name=DEVICE_MASKS), cards: CardCount = one(mig=False), _job: Variable = one(name="SLURM_JOB_ID")
) -> Verdict:
    """The node has more cards than the job may use: those that it may are counted from 0, and fewer."""
    first, usable = chosen(mask.value or "")[0], cards.get("usable") or 0
    beyond = first.isdigit() and usable <= int(first) < cards.count
    shown = ",".join(str(index) for index in range(usable))
    return beyond and usable > 0 and counted(mask, cards) and {"name": mask.name, "count": usable, "valid": shown}


@text_rule("cuda-visible-devices-wrong", "likely")
def mask_shows_fewer_than_there_are_and_somebody_misses_one(
    mask: Variable = one(name=DEVICE_MASKS),
    torch: Torch = one(),
    _missed: Symptom = seen("fewer-cards-told"),
    cards: CardCount = one(mig=False),
    job: JobRequest | None = None,
    slurm: Variable | None = one(name="SLURM_JOB_ID"),
) -> Verdict:
    """torch counts as many as the mask lets through, and the machine has more; a job's mask is its scheduler's."""
    shown = len(chosen(mask.value or ""))
    fewer = counted(mask, cards) and torch.get("devices") == shown < cards.count
    told = {"name": mask.name, "some": mask.value, "shown": shown, "there": cards.count, "severity": "warning"}
    return job is None and slurm is None and fewer and told


@rule("cuda-visible-devices-wrong")
def mask_names_an_unknown_uuid(mask: Variable = one(name=DEVICE_MASKS), cards: CardCount = one(mig=False)) -> Verdict:
    """A UUID, or its beginning, that no card has."""
    first = chosen(mask.value or "")[0]
    unknown = first.startswith("GPU-") and not any(uuid.startswith(first) for uuid in cards.uuids)
    known = counted(mask, cards) and bool(cards.uuids) and len(cards.uuids) == cards.count
    return unknown and known and {"name": mask.name, "valid": cards.uuids[0]}


@rule("cuda-visible-devices-wrong")
def mask_hides_all_and_the_program_finds_none(
    _nothing: Symptom = seen(tag="no-device"),
    mask: Variable = one(name=DEVICE_MASKS, value=_NONE),
    card: Gpu | None = None,
    passed: Symptom | None = seen("pytest-passed"),
    typed: Symptom | None = seen("mask-emptied-for-one-command"),
    logged: Symptom | None = seen("tf-start-finds-no-device"),
    ended: Symptom | None = seen("python-ended-with-an-exception", "ended-by-signal", "segmentation-fault", "segmentation-fault-signal"),
) -> Verdict:
    """An empty mask, or -1, and a program that wanted a GPU; tests that passed so, and one command that went on after TensorFlow's line, were meant to run without."""
    intended = typed is not None and logged is not None and ended is None
    return passed is None and not intended and {"name": mask.name, "value": mask.value, "seen": card is not None}


@rule("cuda-visible-devices-wrong")
def mask_hides_all_cards(
    mask: Variable = one(name=DEVICE_MASKS, value=_NONE, at="shell service unit kernel"),
    card: Gpu = one(vendor=("nvidia", "amd")),
    own: Mask | None = None,
) -> Verdict:
    """What every program of that place gets; a program that hides the GPUs from itself means to."""
    maker = "nvidia" if mask.name == CUDA_MASK else "amd"
    return card.vendor == maker and own is None and {"name": mask.name, "value": mask.value}


@rule("cuda-visible-devices-wrong", "possible")
def mask_of_unseen_cards(
    _nothing: Symptom = seen(tag="no-device"), mask: Variable = one(name=DEVICE_MASKS), card: Gpu | None = None
) -> Verdict:
    """An index above the first, and no device; how many there are, nobody has seen."""
    first = chosen(mask.value or "")[0]
    return card is None and first.isdigit() and int(first) > 0 and {"name": mask.name, "valid": "0"}


@rule("cuda-visible-devices-wrong", "possible")
def mask_is_taken_from_a_variable(
    _nothing: Symptom = seen("cuda-no-device", "cuda-no-device-constant", "torch-no-cuda-gpus"),
    mask: Symptom = seen("mask-from-a-variable"),
    card: Gpu = one(vendor="nvidia"),
    set_: Variable | None = one(name=CUDA_MASK),
) -> Verdict:
    """A line copied as it stands: where the shell does not know that variable, the mask is empty and hides every card."""
    return set_ is None and bool(card.get("name")) and {"name": CUDA_MASK, "value": "$" + str(mask.variable)}


@rule("cuda-visible-devices-wrong", "likely")
def mask_names_fewer_than_start(
    mask: Variable = one(name=DEVICE_MASKS), want: Launch = one(), _clash: Symptom = seen(tag="gpu-count-beyond")
) -> Verdict:
    """More processes are started than the mask leaves devices: one looks beyond, or two meet."""
    named = chosen(mask.value or "")
    few = bool(mask.value) and mask.value not in _NONE and len(named) < want.devices
    return few and {"name": mask.name}


@rule("cuda-visible-devices-wrong", "possible")
def mask_renumbers(
    mask: Variable = one(name=DEVICE_MASKS), _beyond: Symptom = seen("cuda-invalid-ordinal"), job: JobRequest | None = None
) -> Verdict:
    """What a mask leaves is counted from 0 again: an index of the whole machine lies beyond."""
    named = chosen(mask.value or "")
    return job is None and all(part.isdigit() for part in named) and {"name": mask.name}


@rule("cuda-visible-devices-wrong", "possible")
def program_masks_by_what_it_is_told(mask: Mask, _beyond: Symptom = seen("cuda-invalid-ordinal"), job: JobRequest | None = None) -> Verdict:
    """It sets the mask from a setting of its own, and then uses an index that the mask has renumbered."""
    return job is None and not mask.value[:1].isdigit() and {"name": mask.variable}


@rule("cuda-visible-devices-wrong", "possible")
def number_of_no_device(
    _beyond: Symptom = seen("cuda-invalid-ordinal"),
    mask: Variable | None = one(name=DEVICE_MASKS),
    own: Mask | None = None,
    want: Launch | None = None,
    job: JobRequest | None = None,
) -> Verdict:
    """The message alone: a program asks for a number that none of the devices it sees has."""
    return mask is None and own is None and want is None and job is None and {"ordinal": "invalid device ordinal"}


@rule("cuda-visible-devices-wrong", "likely")
def number_beyond_its_own_mask(mask: Mask, asked: Symptom = seen("device-index-in-a-program")) -> Verdict:
    """A program leaves itself some devices, which are counted from 0, and asks for one by its old number."""
    named = chosen(mask.value)
    return all(part.isdigit() for part in named) and int(asked.index) >= len(named) and {"name": mask.variable}


@text_rule("cuda-visible-devices-wrong", "likely")
def selector_lets_no_device_through(
    mask: Symptom = seen("sycl-lists-what-a-variable-lets-through"), _said: Symptom = seen(tag="intel-finds-none")
) -> Verdict:
    """SYCL shows what the variable names, and that is nothing: an index that no device has."""
    value = str(mask.get("value") or mask.get("set"))
    number = value.rpartition(":")[2]
    return number.isdigit() and int(number) > 0 and {"name": "ONEAPI_DEVICE_SELECTOR", "value": value}


@text_rule("cuda-visible-devices-wrong", "likely")
def mask_holds_a_word(_nothing: Symptom = seen(tag="no-device"), mask: Variable = one(name=DEVICE_MASKS)) -> Verdict:
    """`all` is a word of the container toolkit's variable; CUDA and HIP know numbers and UUIDs, and end their list at anything else."""
    first = chosen(mask.value or "")[0].strip("\"'")
    return bool(_WORD.fullmatch(first)) and {"name": mask.name}


@text_rule("cuda-visible-devices-wrong", "likely")
def launcher_took_the_mask_and_finds_no_such_card(
    mask: Symptom = seen("deepspeed-takes-the-mask"), symptom: Symptom = seen("deepspeed-finds-no-such-slot")
) -> Verdict:
    """The launcher counts all cards of the machine, and the mask names one beyond them."""
    return symptom.slot in mask.list.split(",") and {"name": "CUDA_VISIBLE_DEVICES"}


@text_rule("cuda-visible-devices-wrong", "likely")
def number_beyond_those_that_are_counted(symptom: Symptom = seen("yolo-counts-fewer")) -> Verdict:
    """Devices are counted from 0: the number that was asked for lies beyond the last."""
    return int(symptom.asked) >= int(symptom.count) and {"name": CUDA_MASK, "count": symptom.count}


@mends("cuda-visible-devices-wrong")
def where_a_variable_is_unset(
    knew: Params, platform: Platform | None = one(system="windows"), beyond: Symptom | None = seen("cuda-invalid-ordinal")
) -> Params:
    """Windows keeps variables in its own settings; where none is shown, it is the program's own number."""
    name = knew.get("name")
    if not name:
        variable = CUDA_MASK if knew.get("value") is not None else None
        return {"name": variable, "numbers": None if variable else "nvidia-smi"}
    shown = "nvidia-smi" if beyond is not None else None
    return {"of_windows": name, "name": None, "numbers": shown} if platform is not None else {"numbers": shown}


@mends("cuda-visible-devices-wrong")
def command_before_which_it_stands(knew: Params, typed: Symptom = seen("mask-before-a-command")) -> Params:
    """Set for one command, it is left out there, and nowhere else."""
    return {"prefixed": typed.name, "typed": typed.command, "name": None} if typed.name == knew.get("name") else {}


@mends("cuda-visible-devices-wrong")
def line_that_sets_it(knew: Params, own: Mask) -> Params:
    """A program that sets the mask by itself is changed, and not what surrounds it."""
    name = knew.get("name") or knew.get("of_windows")
    if own.variable != name or not str(knew.get("valid") or ""):
        return {}
    return {"in_program": name, "name": None, "of_windows": None}


def counts_none(tensorflow: TensorFlow | None, torch: Torch | None) -> bool:
    """Asked for its GPUs it says none, and it is a build that could have some."""
    if tensorflow is not None:
        return tensorflow.get("built_with_cuda") is not False
    return torch is not None and not (torch.knows("cuda") and not torch.get("cuda") and not torch.get("hip"))


def is_no_first(value: str | None) -> bool:
    """Whether a mask begins with the number of a second card or a later one."""
    first = chosen(value or "")[0]
    return first.isdigit() and int(first) > 0
