"""Which of several bindings of a name hold where it is read; what arithmetic makes of a rank."""

import ast

from rigup.train.check.python.modules import Binding, Function, Module, Scope
from rigup.train.check.python.values import GLOBAL, LOCAL, NODE, RANKS, SPAWNED, Value


def has_parameter(function: Function, name: str) -> bool:
    """Whether a function has a parameter."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return any(argument.arg == name for argument in every)


def reaching(node: ast.Name, scope: Scope, bindings: list[Binding], module: Module) -> list[Binding]:
    """The bindings that may hold where a name is read: in the same scope the last sure one before it and those behind that."""
    if module.scope(node) is not scope:
        return bindings
    line = getattr(node, "lineno", 0)
    before = [
        each for each in bindings if getattr(each.node, "lineno", 0) < line or (each.kind == "for" and _within(node, each.node, module))
    ]
    if not before:
        return bindings
    for at in range(len(before) - 1, -1, -1):
        if before[at].kind == "assign" and module.parents.get(before[at].node) is _block_owner(node, before[at].node, module):
            return before[at:]
    return before


def _within(node: ast.AST, loop: ast.AST, module: Module) -> bool:
    if isinstance(loop, ast.comprehension):
        loop = module.parents.get(loop, loop)
    return any(parent is loop for parent, _child in module.ancestors(node))


def _block_owner(node: ast.AST, statement: ast.AST, module: Module) -> ast.AST | None:
    """The parent of a statement where it is around the node too, and in the same branch of it."""
    owner = module.parents.get(statement)
    for parent, child in module.ancestors(node):
        if parent is owner:
            return owner if _same_branch(owner, statement, child) else None
    return None


def _same_branch(owner: ast.AST | None, first: ast.AST, second: ast.AST) -> bool:
    for name in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(owner, name, None)
        if isinstance(block, list) and any(each is first for each in block):
            return any(each is second for each in block)
    return True


def rank_arithmetic(operator: ast.operator, left: Value, right: Value) -> frozenset[str]:
    """`rank % count` is local, `rank // count` a node's, `rank - count * (rank // count)` local."""
    marks = left.marks | right.marks
    if isinstance(operator, ast.Mod) and left.ranked:
        return frozenset(marks - RANKS - {NODE} | {LOCAL})
    if isinstance(operator, ast.FloorDiv) and left.ranked:
        return frozenset(marks - RANKS | {NODE})
    if isinstance(operator, ast.Sub) and left.ranked and right.marks & {NODE, GLOBAL}:
        return frozenset(marks - RANKS - {NODE} | {LOCAL})
    if left.marks & {NODE} and not left.ranked and right.marks & {LOCAL, SPAWNED}:
        return frozenset(marks - {LOCAL, SPAWNED, NODE} | {GLOBAL})
    return marks
