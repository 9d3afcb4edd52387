"""Whether something was seen to compute, or everything is as somebody wants it: then nobody guesses at a cause."""

import re

from rigup.diagnosis.rule import wordings
from rigup.knowledge.doctor_tables import Signature, signatures_of
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Symptom, Torch
from rigup.machine.store import Facts
from rigup.machine.texts import pattern

# A framework's own list of the GPUs that it has started.
_LISTED = wordings("jax-lists-gpus", "tensorflow-lists-a-gpu", "lightning-uses-the-gpu", "comfyui-starts-on-a-gpu", tag="gpu-at-work")
# A program's own words that it computes on one, which may be too little of it.
_COMPUTES = ("tf-device-created", "ollama-computes-on-rocm")
AT_WORK = frozenset((*_LISTED, *_COMPUTES))
# A card under load, which it is also where programs wait for each other without end.
SHOWN_AT_WORK = AT_WORK | frozenset(wordings(tag="gpu-loaded"))
# The end of a run, or an answer of a server, whatever it was that computed.
ENDED_WELL = frozenset(wordings(tag="ended-well"))
# Work that goes on, wherever it does, and what shows that its results are none.
RUNS = frozenset(wordings(tag="work-runs"))
DEVICE_UNTOLD = frozenset(wordings(tag="device-untold"))
DEVICE_TOLD = SHOWN_AT_WORK | frozenset(wordings(tag="device-told"))  # the processor, too
SPOILT = wordings(tag="work-is-spoilt")
SHOWN_TO_WORK = SHOWN_AT_WORK | ENDED_WELL | RUNS
_WORKS = wordings("collectives-run-right", *_LISTED, tag="works-inside")
_NO_SUCH_CARD = wordings(tag="no-such-card")
_DRIVER_SILENT = wordings(tag="nvidia-driver-silent")
_ELSEWHERE = wordings("vllm-on-the-processor", tag="no-gpu-told other-accelerators")
# The rest of a word of which a match takes a part; a stop or a comma behind it belongs to the sentence.
_TAIL = lazy_regex(r"(?<!\S)\S{0,24}[\w\[(]\Z", re.ASCII)
_HEAD = lazy_regex(r"(?:[.,:;]?[^\s.,:;!?]){1,24}(?![^\s.,:;!?])")
_INTENDED = wordings(tag="shared-on-purpose not-the-machines")


def is_undecided(facts: Facts) -> bool:
    """Whether nothing was seen to work, and nothing is as somebody wants it."""
    works = facts.heard(*_WORKS) or _is_reached(facts)
    # nvidia-smi came with a package, and has nobody to ask
    idle = facts.heard(*_NO_SUCH_CARD) and facts.heard(*_DRIVER_SILENT)
    intended = facts.heard("processor-asked-for-by-an-option") and facts.heard("torch-found-no-driver")
    return not (works or idle or intended or facts.heard(*_ELSEWHERE, *_INTENDED))


def is_at_work(facts: Facts) -> bool:
    """Whether a framework says that it reaches a GPU, or a program that it computes on one."""
    return _is_reached(facts) or bool(facts.heard(*AT_WORK))


def made_a_picture(facts: Facts) -> bool:
    """Whether ComfyUI runs a workflow to its end on a GPU; whether the picture is as it should be, it does not say."""
    return bool(facts.heard("comfyui-made-a-picture") and facts.heard("comfyui-starts-on-a-gpu"))


def after_the_end(text: str, facts: Facts) -> str:
    """What stands behind the last line of a text that tells of a good end; the whole text where none does."""
    rows = signatures_of(facts.ids & ENDED_WELL)
    return text[max((found.end() for row in rows for found in pattern(row.regex).finditer(text)), default=0) :]


def _is_reached(facts: Facts) -> bool:
    """Whether torch says that it reaches a GPU, whoever's it is."""
    return any(torch.get(name) for torch in facts.of(Torch) for name in ("available", "xpu_available", "mps_available"))


def proof_of_work(facts: Facts) -> str:
    """A program's own words that show a GPU at work; "" where none do."""
    return _words_of_first(facts, facts.ids & SHOWN_AT_WORK)


def explained_message(facts: Facts) -> str:
    """The first message whose meaning is told as harmless; "" where none is."""
    return _words_of_first(facts, facts.ids - SHOWN_AT_WORK)


def _words_of_first(facts: Facts, ids: set[str] | frozenset[str]) -> str:
    shown = (words_of(row, facts.heard(row.id)[0]) for row in signatures_of(ids) if row.meaning and row.harmless and not row.idle_beside)
    return next(shown, "")


def words_of(row: Signature, symptom: Symptom) -> str:
    """What is known of a line, without what a logger or Python puts before it; of several lines those that a group named so holds."""
    if words := symptom.get("said"):
        return str(words).strip()
    line = symptom.fields["id"].where.text.strip()
    found = pattern(row.regex).search(line)
    return _whole(line, found.start(), found.end()) if found else line


def _whole(line: str, start: int, end: int) -> str:
    """A part of a line without half words at its ends; where words have no blanks between them it stays as it is."""
    before, behind = _TAIL.search(line[:start]), _HEAD.match(line[end:])
    return ((before[0] if before else "") + line[start:end] + (behind[0] if behind else "")).strip()
