"""Follows expressions to what they are: through names, attributes, calls of the program's own functions, files beside."""

import ast
from typing import Any

import msgspec

from rigup.train.check.python import known_calls
from rigup.train.check.python.attributes import attribute_value, item_value
from rigup.train.check.python.calls import call_value
from rigup.train.check.python.evaluation import Evaluation, Frame
from rigup.train.check.python.guards import MAIN, ONE, compared, joined, negated
from rigup.train.check.python.modules import FUNCTIONS, Binding, Function, Module, Scope
from rigup.train.check.python.names import absolute
from rigup.train.check.python.parameters import parameter_value
from rigup.train.check.python.reaching import has_parameter, rank_arithmetic, reaching
from rigup.train.check.python.values import COUNT, NAMED, NODE, NOTHING, UNKNOWN_VALUE, Value, constant, either, mixed

_DEEPEST = 60
_MOST_SITES = 12
_NAMED_RANKS = ("rank", "global_rank", "local_rank", "proc_id", "process_index", "gpu_id", "local_process_index")


class Evaluator(Evaluation):
    """Evaluates expressions of a program."""

    def value(self, node: ast.expr | None, frame: Frame) -> Value:
        """What an expression is, as far as it can be told."""
        if node is None:
            return UNKNOWN_VALUE
        key = id(node)
        plain = not frame.bound
        if plain and key in self.memory:
            return self.memory[key]
        self.steps += 1
        if self.depth > _DEEPEST or self.spent or (plain and key in self.busy):
            return UNKNOWN_VALUE
        self.depth += 1
        self.busy.add(key)
        try:
            found = self._evaluate(node, frame)
        finally:
            self.depth -= 1
            self.busy.discard(key)
        if plain and self.depth == 0:
            self.memory[key] = found
        return found

    def _evaluate(self, node: ast.expr, frame: Frame) -> Value:
        method = getattr(self, "_" + type(node).__name__.lower(), None)
        found: Value = method(node, frame) if method is not None else self.parts(node, frame)
        return found

    # -- literals
    def _constant(self, node: ast.Constant, frame: Frame) -> Value:
        return Value(const=node.value, place=self.place(node, frame))

    def _tuple(self, node: ast.Tuple | ast.List, frame: Frame) -> Value:
        items = tuple(self.value(part, frame) for part in node.elts[:200])
        known = all(item.known for item in items) and not any(isinstance(part, ast.Starred) for part in node.elts)
        marks = frozenset().union(*(item.marks for item in items))
        const: Any = [item.const for item in items] if known else NOTHING
        return Value(items=items, const=const, marks=marks, place=self.place(node, frame))

    _list = _tuple

    def _dict(self, node: ast.Dict, frame: Frame) -> Value:
        fields: dict[str, Value] = {}
        opened = False
        for key, part in zip(node.keys, node.values, strict=True):
            value = self.value(part, frame)
            name = self.value(key, frame) if key is not None else None
            if name is None:
                fields.update(value.fields or {})
                opened = opened or value.fields is None
            elif name.known and isinstance(name.const, str | int):
                fields[str(name.const)] = value
            else:
                opened = True
        return Value(fields=fields, open=opened, place=self.place(node, frame))

    def _joinedstr(self, node: ast.JoinedStr, frame: Frame) -> Value:
        parts = [self.value(part.value if isinstance(part, ast.FormattedValue) else part, frame) for part in node.values]
        value = mixed(parts)
        if all(part.known for part in parts):
            text = "".join(str(part.const) for part in parts)
            return msgspec.structs.replace(value, const=text[:5000], place=self.place(node, frame))
        return value

    # -- operations
    def _ifexp(self, node: ast.IfExp, frame: Frame) -> Value:
        test = self.value(node.test, frame)
        if test.known:
            return self.value(node.body if test.const else node.orelse, frame)
        return either([self.value(node.body, frame), self.value(node.orelse, frame)])

    def _boolop(self, node: ast.BoolOp, frame: Frame) -> Value:
        parts = [self.value(part, frame) for part in node.values]
        result = mixed(parts)
        is_or = isinstance(node.op, ast.Or)
        if parts[0].known and not any(part.guard for part in parts):
            chosen = next((part for part in parts[:-1] if part.known and bool(part.const) == is_or), None)
            if chosen is not None or all(part.known for part in parts[:-1]):
                return chosen or parts[-1]
        return msgspec.structs.replace(result, guard=joined(parts, is_or), alternatives=tuple(parts) if is_or else ())

    def _unaryop(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.value(node.operand, frame)
        if isinstance(node.op, ast.Not):
            const = not value.const if value.known else NOTHING
            return Value(const=const, marks=value.marks, sources=value.sources, guard=negated(value))
        if isinstance(node.op, ast.USub) and isinstance(value.const, int | float):
            return msgspec.structs.replace(value, const=-value.const, place=self.place(node, frame))
        return mixed([value])

    def _compare(self, node: ast.Compare, frame: Frame) -> Value:
        left, right = self.value(node.left, frame), self.value(node.comparators[0], frame)
        result = mixed([left, right])
        if len(node.ops) > 1:
            return result
        return msgspec.structs.replace(result, **compared(node.ops[0], left, right))

    def _binop(self, node: ast.BinOp, frame: Frame) -> Value:
        left, right = self.value(node.left, frame), self.value(node.right, frame)
        result = mixed([left, right])
        if left.ranked or left.marks & {NODE}:
            return msgspec.structs.replace(result, marks=rank_arithmetic(node.op, left, right))
        if left.known and right.known:
            return known_calls.operated(node.op, left, right, self.place(node, frame))
        return result

    # -- names
    def _name(self, node: ast.Name, frame: Frame) -> Value:
        if node.id in frame.bound:
            return frame.bound[node.id]
        if node.id in ("True", "False", "None"):
            return constant({"True": True, "False": False, "None": None}[node.id])
        scope = frame.module.scope(node) if node in frame.module.parents else frame.module.tree
        found = self._look_up(node, scope, frame)
        if found is not None:
            return found
        return self._imported(frame.module.imports.get(node.id, ""), frame.module, node.id)

    def _look_up(self, node: ast.Name, scope: Scope, frame: Frame) -> Value | None:
        here: ast.AST | None = scope
        while here is not None:
            if isinstance(here, FUNCTIONS) and has_parameter(here, node.id):
                own = self._bindings(node, here, frame)
                default = self.parameter(here, node.id, frame)
                return default if own is None else either([default, own])
            if isinstance(here, (*FUNCTIONS, ast.Module)) and (own := self._bindings(node, here, frame)) is not None:
                return own
            here = frame.module.parents.get(here)
        return None

    def _bindings(self, node: ast.Name, scope: Scope, frame: Frame) -> Value | None:
        bindings = frame.module.bindings.get(scope, {}).get(node.id)
        if not bindings:
            return None
        holding = reaching(node, scope, bindings, frame.module)
        values = [self._bound(binding, frame) for binding in holding[:_MOST_SITES]]
        return either(values) if values else None

    def _bound(self, binding: Binding, frame: Frame) -> Value:
        if binding.kind == "def" or binding.value is None:
            return UNKNOWN_VALUE
        value = self.value(binding.value, frame)
        if binding.kind == "with":
            held = value.fields is not None or value.items is not None  # a configuration that is opened
            return value if held else Value(instance=value.instance, marks=value.marks)
        if binding.kind == "for":
            return Value(marks=value.marks - {COUNT}, alternatives=value.items or ()) if not binding.path else Value(marks=value.marks)
        if binding.kind == "augmented":
            return mixed([value])
        for at in binding.path:
            value = value.items[at] if value.items is not None and at < len(value.items) else Value(marks=value.marks, instance=None)
        return value

    def parameter(self, function: Function, name: str, frame: Frame) -> Value:
        """A parameter: what the calls of its function hand over, else its default."""
        return parameter_value(self, function, name, frame)

    def _imported(self, dotted: str, module: Module, name: str) -> Value:
        """A name of a module beside, or one of which only its name is known."""
        base, _dot, attribute = absolute(dotted, module).rpartition(".")
        if base and base in self.by_name:
            return self.global_value(self.by_name[base], attribute)
        for star in module.stars:
            other = self.by_name.get(absolute(star, module))
            if other is not None and other is not module and name in other.bindings.get(other.tree, {}):
                return self.global_value(other, name)
        if MAIN.fullmatch(name):
            return Value(marks=frozenset((NAMED,)), guard=ONE)
        return Value(marks=frozenset((NAMED,))) if name in _NAMED_RANKS else UNKNOWN_VALUE

    def global_value(self, module: Module, name: str) -> Value:
        """A name of another module, through no more modules than programs have: imports may go in a circle."""
        if self.depth > _DEEPEST:
            return UNKNOWN_VALUE
        self.depth += 1
        try:
            return self._global(module, name)
        finally:
            self.depth -= 1

    def _global(self, module: Module, name: str) -> Value:
        bindings = module.bindings.get(module.tree, {}).get(name, [])
        values = [self._bound(binding, Frame(module)) for binding in bindings[-_MOST_SITES:]]
        return either(values) if values else self._imported(module.imports.get(name, ""), module, name)

    # -- attributes, items, calls
    def _attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        return attribute_value(self, node, frame)

    def _subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        return item_value(self, node, frame)

    def _call(self, node: ast.Call, frame: Frame) -> Value:
        return call_value(self, node, frame)

    def _await(self, node: ast.Await, frame: Frame) -> Value:
        return self.value(node.value, frame)

    def _starred(self, node: ast.Starred, frame: Frame) -> Value:
        return mixed([self.value(node.value, frame)])

    def _namedexpr(self, node: ast.NamedExpr, frame: Frame) -> Value:
        return self.value(node.value, frame)

    def _lambda(self, node: ast.Lambda, frame: Frame) -> Value:  # noqa: ARG002
        return UNKNOWN_VALUE

    def _generatorexp(self, node: ast.GeneratorExp, frame: Frame) -> Value:  # noqa: ARG002
        return UNKNOWN_VALUE
