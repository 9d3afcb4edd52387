"""How one acts: the vocabulary of changes, pure. Findings, plans and containers all speak it.

A fix names a kind and its parameters (`join-group group=render`); title, place, commands, needs and undo
follow from the kind. Commands are argument vectors: a value from data is one argument, never shell text.
"""

from rigup.schemas.shared import Step
from rigup.steps.kinds import Commands, Kind, step_kinds
from rigup.steps.step import StepError, make, make_as, parse

__all__ = ["Commands", "Kind", "Step", "StepError", "make", "make_as", "parse", "step_kinds"]
