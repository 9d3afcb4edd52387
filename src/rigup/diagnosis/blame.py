"""What findings say together: of which causes they are, whether they are sure, and whether a card may be to blame."""

from collections.abc import Iterable

from rigup.knowledge.doctor_tables import causes
from rigup.schemas.shared import Finding

_ANY, _CARD, _FAMILY = "*", "#card", "/"
_SURE = ("certain", "likely")


def is_one_of(cause: str, names: Iterable[str]) -> bool:
    """Whether a cause is among ids, families (with a slash behind), those behind which a broken card may be, or any."""
    row = causes().get(cause)
    of_all = {cause, _ANY, *((row.family + _FAMILY, *([_CARD] if row.card else [])) if row else ())}
    return not of_all.isdisjoint(names)


def are_sure(found: Iterable[Finding]) -> bool:
    """Whether all of them are at least likely: only then is something else denied."""
    found = list(found)
    return bool(found) and all(one.confidence in _SURE and not one.guess for one in found)


def speaks_of_no_card(found: Iterable[Finding]) -> bool:
    """Whether all that is wrong is accounted for without a broken card."""
    found = list(found)
    return are_sure(found) and not any(is_one_of(one.cause, [_CARD]) for one in found)
