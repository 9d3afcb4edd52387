"""What a finding rests on: its messages, and the system that they tell of."""

import re
from collections.abc import Iterator

from rigup.diagnosis.rule import Params
from rigup.machine.kinds import Platform, Symptom


def symptoms_in(knew: Params) -> Iterator[Symptom]:
    """The messages that a finding rests on."""
    return (held for held in knew.values() if isinstance(held, Symptom))


def ids_in(knew: Params) -> list[str]:
    """Their ids, also those that a rule gives as text."""
    texts = [str(knew[name]) for name in ("said", "why", "where", "error") if isinstance(knew.get(name), str)]
    return [*(str(symptom.id) for symptom in symptoms_in(knew)), *texts]


def system_of(knew: Params, platform: Platform | None, windows: Symptom | None) -> str:
    """Windows also where only a path tells it; Linux where nothing does."""
    if platform is not None and platform.get("system"):
        return str(platform.get("system"))
    paths = (reading.value for symptom in symptoms_in(knew) for reading in symptom.fields.values())
    drive = any(re.match(r'"?[A-Z]:\\', str(path)) for path in paths)
    return "windows" if drive or windows is not None else "linux"
