"""Chips that ollama leaves out."""

from rigup.diagnosis.causes.rocm_chips import inside_a_processor
from rigup.diagnosis.rule import wordings
from rigup.machine.kinds import Symptom

REFUSED = wordings(tag="ollama-refuses-chip")


def of_ollama(symptom: Symptom) -> bool:
    """Whether its server wrote it, or a library that it brings along: by the message, the unit, or the library's path."""
    told = str(symptom.id).startswith("ollama-") and symptom.id != "ollama-named"
    path = str(symptom.get("path") or "").replace("\\", "/").lower()
    return told or symptom.place.process.endswith(":ollama") or "/lib/ollama/" in path


def spared(error: Symptom, served: Symptom | None) -> bool:
    """A processor's graphics are left out while the server computes on a card: as it should be."""
    return error.id in REFUSED and served is not None and inside_a_processor(str(error.get("gfx")))
