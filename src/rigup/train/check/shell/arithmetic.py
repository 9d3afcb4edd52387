"""`$(( … ))`: whole numbers and variables of known value."""

import ast
import operator
from collections.abc import Callable, Mapping

_MOST = 10**12
_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.floordiv,
}


def calculated(text: str, values: Mapping[str, int]) -> int | None:
    """The value of an expression of shells; None where a variable is not known or it is of another form."""
    try:
        tree = ast.parse(text.replace("$", "").replace("{", "").replace("}", "").strip(), mode="eval")
        return _value(tree.body, values, 0)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError, OverflowError):
        return None


def _value(node: ast.AST, values: Mapping[str, int], depth: int) -> int | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        return values.get(node.id)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS and depth < 30:
        left, right = _value(node.left, values, depth + 1), _value(node.right, values, depth + 1)
        if left is None or right is None:
            return None
        result = _OPERATORS[type(node.op)](left, right)
        return result if abs(result) < _MOST else None
    return None
