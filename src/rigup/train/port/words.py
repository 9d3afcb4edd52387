"""Words that a call gets by `**`: of dicts that are written out in the script, with all that is done to them."""

import ast
from collections.abc import Iterator

import msgspec

from rigup.train.check.python.modules import FUNCTIONS, Binding
from rigup.train.port.flow import last
from rigup.train.port.script import Script

_DEPTH = 6
_READ = ("copy", "get", "items", "keys", "values")


class Words(msgspec.Struct):
    """What a call may get by `**`.

    Attributes:
        values: of each word, all that it may be.
        certain: words that are there in any case, with one value.
        name: the one dict that they are of; None for several, and for one that is written at the call.

    """

    values: dict[str, list[ast.expr]]
    certain: set[str]
    name: ast.Name | None = None


def starred(script: Script, call: ast.Call) -> Words | None:
    """What a call gets by `**`; None where that is not seen whole."""
    given = [word.value for word in call.keywords if word.arg is None]
    found = _joined([_of(script, value, _DEPTH) for value in given])
    if found is not None and len(given) == 1 and isinstance(given[0], ast.Name):
        found.name = given[0]
    return found


def _of(script: Script, node: ast.expr, depth: int) -> Words | None:
    """What a dict holds."""
    if depth == 0:
        return None
    if isinstance(node, ast.Dict):
        return _joined([_item(script, key, value, depth) for key, value in zip(node.keys, node.values, strict=True)])
    if isinstance(node, ast.IfExp):
        return _either([_of(script, branch, depth - 1) for branch in (node.body, node.orelse)])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _joined([_of(script, part, depth - 1) for part in (node.left, node.right)])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        return _keywords(script, node, depth)
    return _named(script, node, depth) if isinstance(node, ast.Name) else None


def _item(script: Script, key: ast.expr | None, value: ast.expr, depth: int) -> Words | None:
    """An entry of a dict; a key of None is another dict."""
    if key is None:
        return _of(script, value, depth - 1)
    word = key.value if isinstance(key, ast.Constant) else None
    return Words({word: [value]}, {word}) if isinstance(word, str) else None


def _keywords(script: Script, call: ast.Call, depth: int) -> Words | None:
    """`dict(other, word=value)`, and what `update` gets in the same form."""
    parts = [_of(script, given, depth - 1) for given in call.args]
    for word in call.keywords:
        key = ast.Constant(word.arg) if word.arg is not None else None
        parts.append(_item(script, key, word.value, depth))
    return _joined(parts)


def _named(script: Script, name: ast.Name, depth: int) -> Words | None:
    """What a name's dict holds after all that the script does to it; None where it is given away."""
    bindings = _bindings(script, name)
    made = [
        _of(script, binding.value, depth - 1) if binding.kind == "assign" and not binding.path else None
        for binding in bindings
        if binding.value is not None
    ]
    if not bindings or len(made) != len(bindings):
        return None
    later = [_use(script, use, depth) for use in _uses(script, name)]
    found = _either(made)
    if found is None or any(part is None for part in later):
        return None
    for part in filter(None, later):
        _add(found, part)
        found.certain -= part.values.keys()  # nobody says whether it comes before the call
    return found


def _bindings(script: Script, name: ast.Name) -> list[Binding]:
    """What a name is given in the nearest scope that has it; empty for a parameter."""
    here: ast.AST = name
    while not isinstance(here, ast.Module):
        here = script.module.scope(here)
        if isinstance(here, FUNCTIONS) and any(isinstance(part, ast.arg) and part.arg == name.id for part in ast.walk(here.args)):
            return []
        if found := script.module.bindings.get(here, {}).get(name.id):
            return found
    return []


def _uses(script: Script, name: ast.Name) -> Iterator[ast.Name]:
    """Wherever a name of these letters is read, in any scope."""
    for node in script.module.nodes:
        if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Load):
            yield node


def _use(script: Script, node: ast.Name, depth: int) -> Words | None:
    """What a use of a dict puts into it; None where that cannot be known."""
    parent = script.module.parents[node]
    around = script.module.parents[parent]
    nothing = Words({}, set())
    if isinstance(parent, ast.keyword):
        return nothing if parent.arg is None else None
    if isinstance(parent, ast.Attribute) and isinstance(around, ast.Call) and around.func is parent:
        return _keywords(script, around, depth - 1) if parent.attr == "update" else nothing if parent.attr in _READ else None
    if isinstance(parent, ast.Subscript) and parent.value is node and not isinstance(parent.ctx, ast.Del):
        if isinstance(parent.ctx, ast.Load):
            return nothing
        return _item(script, parent.slice, around.value, depth) if isinstance(around, ast.Assign) else None
    if isinstance(parent, ast.Dict):
        merged = node in parent.values and parent.keys[parent.values.index(node)] is None
        return nothing if merged else None
    is_read = isinstance(parent, ast.Call) and last(parent.func) in ("dict", "print", "update")
    return nothing if is_read or isinstance(parent, ast.BinOp) else None


def _joined(parts: list[Words | None]) -> Words | None:
    """One after the other: all that may be, and of what is certain the last."""
    found = Words({}, set())
    for part in parts:
        if part is None:
            return None
        _add(found, part)
        found.certain = {word for word in found.certain | part.certain if len(found.values[word]) == 1}
    return found


def _either(parts: list[Words | None]) -> Words | None:
    """One or the other: certain is what is so in each."""
    found = _joined(parts)
    if found is not None and len(parts) > 1:
        found.certain = set()
    return found


def _add(found: Words, part: Words) -> None:
    for word, values in part.values.items():
        known = found.values.setdefault(word, [])
        known += [value for value in values if value not in known]


def others(script: Script, name: ast.Name) -> bool:
    """Whether a dict is used by more than the one `**`."""
    return sum(not isinstance(script.module.parents[use], ast.Attribute) for use in _uses(script, name)) > 1
