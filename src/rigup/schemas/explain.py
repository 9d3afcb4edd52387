"""`rigup explain --json`: what a cause means."""

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.shared import Severity


class Cause(Struct, frozen=True, kw_only=True):
    """A cause; its texts are left out where there are none in this language.

    Attributes:
        cause: its id.
        family: what it belongs to ("driver", "container" …).
        severity: of its findings.
        layer: of the machine in which it lies ("kernel module", "framework" …).
        title: one line.
        meaning: what it means.
        recognise: how to recognise it.
        mends: what mends it.
        in_vain: what is often tried and does not help.
        sources: addresses of what was read.

    """

    cause: str
    family: str
    severity: Severity
    layer: str
    title: str | UnsetType = UNSET
    meaning: str | UnsetType = UNSET
    recognise: str | UnsetType = UNSET
    mends: str | UnsetType = UNSET
    in_vain: str | UnsetType = UNSET
    sources: list[str] | UnsetType = UNSET


class Explain(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.explain/1"):
    """What a cause means, or which causes an error message may mean.

    Attributes:
        asked: the words that were given; "" for none.
        causes: the cause of that name, those that the message may mean, or without words all.
        near: where there are none, those with a name or a text that is near.

    """

    asked: str
    causes: list[Cause]
    near: list[Cause]
