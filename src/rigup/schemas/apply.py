"""`rigup apply --json`: what became of a plan."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.plan import Plan
from rigup.schemas.taken import Blocked, DryRun, Ended


class ApplyNothing(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.apply/1"):
    """There was nothing to take: all is there already, or it is impossible.

    Attributes:
        verdict: as the plan's.
        plan: the whole plan; left out where a lock was to be made again.

    """

    verdict: Literal["ready", "impossible"]
    plan: Plan | UnsetType = UNSET


class ApplyBlocked(Blocked, frozen=True, kw_only=True, tag_field="schema", tag="rigup.apply/1"):
    """A step of the plan cannot be taken here, so nothing was changed."""


class ApplyDryRun(DryRun, frozen=True, kw_only=True, tag_field="schema", tag="rigup.apply/1"):
    """What `rigup apply` would run; nothing was changed."""


class ApplyEnded(Ended, frozen=True, kw_only=True, tag_field="schema", tag="rigup.apply/1"):
    """How the run ended."""
