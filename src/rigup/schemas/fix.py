"""`rigup fix --json`: the steps that mend a finding, or what became of them."""

from typing import Literal

from msgspec import Struct

from rigup.schemas.plan import Plan
from rigup.schemas.shared import Finding
from rigup.schemas.taken import DryRun, Ended


class Mending(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fix/1"):
    """Findings with the steps that mend them; nothing was changed.

    Attributes:
        cause: its id, as it was asked for; None for all that safe steps mend.
        environment: the one that is meant; None for none.
        findings: each with ways to mend it, whose steps have a state.
        plan: the stack that the machine would be given, where a stack mends it; else None.

    """

    cause: str | None
    environment: str | None
    findings: list[Finding]
    plan: Plan | None


class NothingMended(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fix/1"):
    """No step was taken.

    Attributes:
        verdict: nothing where no finding is mended by safe steps, by-hand where none of the steps is rigup's to take.

    """

    verdict: Literal["nothing", "by-hand"]


class FixDryRun(DryRun, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fix/1"):
    """What `rigup fix` would run; nothing was changed."""


class FixEnded(Ended, frozen=True, kw_only=True, tag_field="schema", tag="rigup.fix/1"):
    """How the run ended."""
