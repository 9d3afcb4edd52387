"""Conditions on the rank: whether they hold on one rank alone, or on all but one."""

import ast
import re
from collections.abc import Callable
from typing import Any

from rigup.train.check.python.values import NODE, RANKS, Value

ONE, OTHERS = "one", "others"
_OPPOSITE = {ONE: OTHERS, OTHERS: ONE, "": ""}
MAIN = re.compile(
    r"(?:is_|am_i_|on_|only_|if_)?(?:local_|global_|world_)*(?:main|master|primary|chief|root|leader|first)(?:_process|_rank|_proc|_worker|_node)?"
    r"|is_(?:local_|global_|world_)?(?:process_|rank_?)?zero|is_rank_?0|rank_?zero|rank0|is_last",
    re.IGNORECASE,
)
"""Names of functions and attributes that are true on the main rank."""


def compared(operator: ast.cmpop, left: Value, right: Value) -> dict[str, Any]:
    """The constant and the guard of a comparison."""
    if left.known and right.known:
        return {"const": _constant(operator, left.const, right.const)} if _comparable(operator, left.const, right.const) else {}
    ranked, other = (left, right) if left.ranked or left.marks & {NODE} else (right, left)
    if not ranked.ranked and not ranked.marks & {NODE}:
        return {}
    if ranked is right:
        operator = _flipped(operator)
    if other.is_none() or _is_computed(ranked):
        return {"marks": (left.marks | right.marks) - RANKS - {NODE}}
    return {"guard": _rank_guard(operator, other)}


def _is_computed(value: Value) -> bool:
    """What torch or a method makes of a rank, such as a tensor on its card, is no rank."""
    return value.instance is not None and value.instance.name.startswith((".", "torch."))


def _comparable(operator: ast.cmpop, left: object, right: object) -> bool:
    if isinstance(operator, ast.In | ast.NotIn):
        return isinstance(right, str | list | tuple | dict) and (not isinstance(right, str) or isinstance(left, str))
    if isinstance(operator, ast.Lt | ast.Gt | ast.LtE | ast.GtE):
        return all(isinstance(each, int | float) for each in (left, right))
    return True


def _constant(operator: ast.cmpop, left: Any, right: Any) -> bool:
    results: dict[type[ast.cmpop], Callable[[], Any]] = {
        ast.Eq: lambda: left == right,
        ast.NotEq: lambda: left != right,
        ast.Lt: lambda: left < right,
        ast.Gt: lambda: left > right,
        ast.LtE: lambda: left <= right,
        ast.GtE: lambda: left >= right,
        ast.Is: lambda: left == right and type(left) is type(right),
        ast.IsNot: lambda: not (left == right and type(left) is type(right)),
        ast.In: lambda: left in right,
        ast.NotIn: lambda: left not in right,
    }
    return bool(results[type(operator)]())


def _flipped(operator: ast.cmpop) -> ast.cmpop:
    pairs = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
    return pairs.get(type(operator), type(operator))()


def _rank_guard(operator: ast.cmpop, other: Value) -> str:
    """`rank == 0`, `rank < 1`, `rank in (-1, 0)`; `rank != 0`, `rank > 0`."""
    number = other.number
    if isinstance(operator, ast.In | ast.NotIn):
        guard = ONE if other.items is not None and 0 < len(other.items) <= 3 else ""
        return _OPPOSITE[guard] if isinstance(operator, ast.NotIn) else guard
    if isinstance(operator, ast.Eq | ast.Is):
        return ONE if not other.ranked else ""
    if isinstance(operator, ast.NotEq | ast.IsNot):
        return OTHERS if not other.ranked else ""
    if (isinstance(operator, ast.Lt) and number == 1) or (isinstance(operator, ast.LtE) and number is not None and number <= 0):
        return ONE
    if (isinstance(operator, ast.Gt) and number == 0) or (isinstance(operator, ast.GtE) and number == 1):
        return OTHERS
    return ""


def truth(value: Value) -> str:
    """The guard of a value that is used as a condition: a rank itself is true on all but rank 0."""
    return value.guard or (OTHERS if value.ranked and not _is_computed(value) else "")


def negated(value: Value) -> str:
    """The guard of `not value`."""
    return _OPPOSITE[truth(value)]


def joined(parts: list[Value], is_or: bool) -> str:
    """The guard of `a and b`, `a or b`. `not distributed or rank == 0` holds on one rank as well."""
    guards = [truth(part) for part in parts]
    if not is_or:
        return ONE if ONE in guards else OTHERS if OTHERS in guards else ""
    real = [guard for guard in guards if guard]
    if real and all(guard == ONE for guard in real):
        return ONE
    return OTHERS if real and all(guard == OTHERS for guard in real) else ""
