"""How one acts: the vocabulary of changes, pure. Findings, plans and containers all speak it.

A fix names a kind and its parameters (`join-group group=render`); title, place, commands, needs and undo
follow from the kind. Commands are argument vectors: a value from data is one argument, never shell text.
"""

from rigup.schemas.shared import Step
from rigup.steps.step import Commands, Kind, StepError, make, make_as, parse
from rigup.steps.vocabulary import KINDS

__all__ = ["KINDS", "Commands", "Kind", "Step", "StepError", "make", "make_as", "parse"]
