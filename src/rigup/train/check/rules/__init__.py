"""Rules: each a small function from a case to findings of one id. What is not known yields nothing."""

from collections.abc import Callable, Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Found

Rule = Callable[[Case], Iterator[Found]]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    """Register a rule."""
    RULES.append(function)
    return function
