"""How the program that ran out of memory is made to need less."""

from collections.abc import Iterable

from rigup.diagnosis.rule import Every, Params, every, seen
from rigup.knowledge.memory_ways import signs, ways_to_need_less
from rigup.language import _
from rigup.machine.kinds import Gpu, Platform, Symptom

_MOST = 6  # that are told
_NAMED = ("shorter", "raised", "lowered", "engine")  # a value that the program's own message names, or an engine's own way


def cards_there(cards: Every[Gpu] = every(Gpu), told: Symptom | None = seen("several-cards-in-words")) -> Params:
    """Whether there are several cards beside a processor's own graphics, shown or told."""
    return {"several": told is not None or len([card for card in cards if not card.get("integrated")]) > 1}


def signs_of_the_program(heard: Every[Symptom] = every(Symptom, id=signs())) -> Params:
    """What tells the program, and what of it is in use; nothing where nothing of it is heard."""
    return {"signs": tuple(symptom.id for symptom in heard)}


def less_in_words_of_the_program(knew: Params, card: Gpu | None = None, platform: Platform | None = None) -> Params:
    """What fits the program, and is neither in use already nor at its least."""
    if any(knew.get(hole) for hole in _NAMED):
        return {}
    system = str(platform.get("system") or "") if platform else ""
    mac = card is not None and card.get("vendor") == "apple"
    return {"how": _in_words(knew.get("signs") or (), system or ("macos" if mac else "linux"), bool(knew.get("several")))}


def less_on_a_mac(knew: Params) -> Params:
    """The same where the cause itself tells the system."""
    return {"how": _in_words(knew.get("signs") or (), "macos", several=False)}


def _in_words(heard: Iterable[str], system: str, several: bool) -> str:
    return _("; ").join(_(words) for words in ways_to_need_less(set(heard), system, several)[:_MOST])
