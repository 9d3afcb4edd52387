"""What a cause means, and which causes a message may mean."""

from typing import TYPE_CHECKING, Any

import msgspec

from rigup.language import current
from rigup.schemas.explain import Cause, Explain

if TYPE_CHECKING:
    from collections.abc import Iterable

_SPELT = 0.75  # of 1: how alike a word and the name of a cause are to be


def explained(text: str) -> Explain:
    """The cause of that name, or those that a message may mean; all of them where nothing was asked."""
    from rigup.knowledge.doctor_tables import causes

    known = _find_causes(text) if text else list(causes())
    near = [] if known else _near(text)
    return Explain(asked=text, causes=list(map(_entry, known)), near=list(map(_entry, near)))


def _find_causes(text: str) -> list[str]:
    """The cause of that name; else causes that the message decides, that are mostly behind it, or that account for it."""
    from rigup.knowledge.doctor_tables import causes

    if text.strip() in causes():
        return [text.strip()]
    symptoms = _symptoms(text)
    decided = [row.means for row in symptoms if row.means] + [row.usually for row in symptoms if row.usually]
    families = {row.family for row in symptoms}
    explaining = [cause for cause, row in causes().items() if {symptom.id for symptom in symptoms} & set(row.explains)]
    nearest = sorted(explaining, key=lambda cause: causes()[cause].family not in families)
    return [cause for cause in dict.fromkeys([*decided, *nearest]) if cause in causes()]


def _near(text: str) -> "Iterable[str]":
    """Where nothing fits: causes named almost so, else those that people report in such words."""
    from difflib import get_close_matches

    from rigup.knowledge.doctor_tables import causes
    from rigup.knowledge.text_classifier import nearest

    named = get_close_matches(text.strip(), causes(), n=3, cutoff=_SPELT)
    return named or [like.cause for like in nearest(text)]


def _symptoms(text: str) -> list[Any]:
    from rigup.knowledge.doctor_tables import signatures_of
    from rigup.machine.matcher import match
    from rigup.machine.texts import Text

    ids = {symptom.values()["id"] for symptom, _told in match(Text("asked", text))}
    return list(signatures_of(ids))


def _entry(cause: str) -> Cause:
    from rigup.knowledge.doctor_tables import causes, texts

    row, text = causes()[cause], texts(current()).get(cause)
    entry = Cause(cause=cause, family=row.family, severity=row.severity, layer=row.layer)
    if text is None:
        return entry
    return msgspec.structs.replace(
        entry,
        title=text.title[-1] if text.title else "",
        meaning=text.meaning,
        recognise=text.recognise,
        mends=text.mends,
        in_vain=text.in_vain,
        sources=list(text.sources),
    )
