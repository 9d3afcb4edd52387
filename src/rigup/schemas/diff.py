"""`rigup diff --json`: what two machines, or two states of one, do not have in common."""

from msgspec import Struct

from rigup.schemas.shared import Difference


class Diff(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.diff/1"):
    """What differs between two machines.

    Attributes:
        before: the first, as it was named.
        after: the second.
        equal: whether nothing differs of what both tell.
        compared: kinds of facts of which both tell.
        differences: the likeliest suspects first.

    """

    before: str
    after: str
    equal: bool
    compared: list[str]
    differences: list[Difference]
