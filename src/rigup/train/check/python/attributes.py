"""Attributes and items: of options, configurations, objects of the program's own classes, and what frameworks tell of ranks."""

import ast

import msgspec

from rigup.train.check.python.evaluation import Evaluation, Frame
from rigup.train.check.python.guards import MAIN, ONE
from rigup.train.check.python.known_calls import VARIABLES
from rigup.train.check.python.modules import Module
from rigup.train.check.python.parameters import bound_arguments
from rigup.train.check.python.settings import as_type, is_flag
from rigup.train.check.python.values import COUNT, GLOBAL, LOCAL, NODE, UNKNOWN_VALUE, WORLD, Value, constant, either

_RANKED = {
    "process_index": GLOBAL,
    "local_process_index": LOCAL,
    "global_rank": GLOBAL,
    "local_rank": LOCAL,
    "node_rank": NODE,
    "num_processes": WORLD,
    "world_size": WORLD,
    "global_world_size": WORLD,
    "rank": GLOBAL,
}
_DEEPEST = 6


def attribute_value(evaluator: Evaluation, node: ast.Attribute, frame: Frame) -> Value:
    """`object.name`."""
    dotted = evaluator.dotted(node, frame.module)
    if dotted in ("os.environ", "sys.argv"):
        return _arguments(evaluator) if dotted == "sys.argv" else UNKNOWN_VALUE
    if dotted.startswith("local:"):
        _local, name, attribute = dotted.split(":", 2)
        other = evaluator.by_name.get(name)
        if other is not None and other.bindings.get(other.tree, {}).get(attribute):
            return evaluator.global_value(other, attribute)
    if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
        return _of_self(evaluator, node, frame)
    base = evaluator.value(node.value, frame)
    found = member(evaluator, base, node.attr, frame)
    modules = evaluator.modules if base.options else [frame.module]  # options of the command line are handed about
    assigned = [(each, module) for module in modules for each, _at in module.attributes.get(None, {}).get(node.attr, ())]
    if assigned and not (base.fields and not base.options and found.known):
        found = _with_assigned(evaluator, found, assigned)
    return found


def _with_assigned(evaluator: Evaluation, found: Value, assigned: list[tuple[ast.expr, Module]]) -> Value:
    values = [evaluator.at(expression, module) for expression, module in assigned[:8]]
    if found.known or found.marks or found.alternatives:
        values.append(found)
    return either(values)


def member(evaluator: Evaluation, base: Value, name: str, frame: Frame) -> Value:  # noqa: PLR0911
    """A member of a value by its name."""
    if base.fields is not None and name in base.fields:
        return base.fields[name]
    if base.options:
        return option_value(evaluator, name)
    if base.instance is not None and (found := _of_object(evaluator, base, name)) is not None:
        return found
    if MAIN.fullmatch(name):
        return Value(marks=frozenset((GLOBAL,)), guard=ONE)
    if name in _RANKED and (base.instance is None or "torch.device" not in base.instance.name):
        return Value(marks=frozenset((_RANKED[name],)))
    if name in ("index", "parent", "name", "stem") and base.marks:
        return Value(marks=base.marks)
    if base.alternatives:
        return either([member(evaluator, each, name, frame) for each in base.alternatives[:6]])
    return Value(marks=base.marks & {COUNT})


def option_value(evaluator: Evaluation, name: str) -> Value:  # noqa: PLR0911
    """An option of the script, by any of the ways in which scripts declare them."""
    option = evaluator.declared.get(name)
    if name in evaluator.given.named:
        value = evaluator.given.named[name]
        if option is not None and is_flag(option) and value.const is True:
            return msgspec.structs.replace(value, const=option.action != "store_false")
        return as_type(value, option.type if option else "int")
    if option is None:
        return Value(marks=frozenset((_RANKED[name],))) if name in ("local_rank", "rank", "global_rank") else UNKNOWN_VALUE
    if option.positional:
        return _positional(evaluator, name)
    if name == "local_rank":
        return Value(marks=frozenset((LOCAL,)), sources=frozenset(("--local_rank",)))
    if option.default is None:
        return constant(None) if not option.action else UNKNOWN_VALUE
    value = evaluator.at(option.default, option.module)
    return as_type(value, option.type) if isinstance(value.const, str) else value


def _positional(evaluator: Evaluation, name: str) -> Value:
    order = [option.dest for option in evaluator.declared.values() if option.positional]
    option, words = evaluator.declared[name], evaluator.given.positional
    at = order.index(name)
    if option.many or not evaluator.given.seen:
        return UNKNOWN_VALUE
    if at < len(words):
        return as_type(words[at], option.type)
    return evaluator.at(option.default, option.module) if option.default is not None else UNKNOWN_VALUE


def _arguments(evaluator: Evaluation) -> Value:
    words = (constant("script.py"), *evaluator.given.words)
    known = evaluator.given.seen and all(word.known for word in words)
    return Value(items=words if evaluator.given.seen else None, const=[word.const for word in words] if known else msgspec.UNSET)


def _of_self(evaluator: Evaluation, node: ast.Attribute, frame: Frame) -> Value:
    """`self.name` within a class: what its methods assign, or the class itself."""
    module = frame.module
    owner = module.enclosing_class(node)
    if MAIN.fullmatch(node.attr):
        return Value(marks=frozenset((GLOBAL,)), guard=ONE)
    for _hop in range(_DEEPEST):
        if owner is None:
            break
        assigned = module.attributes.get(owner, {}).get(node.attr, ())
        if assigned:
            return either([evaluator.value(expression, frame) for expression, _node in assigned[:6]])
        if (field := _class_field(owner, node.attr)) is not None:
            return evaluator.value(field, frame)
        owner = _base_class(evaluator, owner, module)
    return Value(marks=frozenset((_RANKED[node.attr],))) if node.attr in _RANKED else UNKNOWN_VALUE


def _base_class(evaluator: Evaluation, owner: ast.ClassDef, module: Module) -> ast.ClassDef | None:
    for base in owner.bases:
        found = evaluator.function_named(evaluator.dotted(base, module))
        if found is not None and isinstance(found[0], ast.ClassDef) and found[1] is module:
            return found[0]
    return None


def _class_field(owner: ast.ClassDef, name: str) -> ast.expr | None:
    for statement in owner.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and statement.target.id == name:
            return _field_default(statement.value)
        if isinstance(statement, ast.Assign) and any(isinstance(each, ast.Name) and each.id == name for each in statement.targets):
            return statement.value
    return None


def _field_default(value: ast.expr | None) -> ast.expr | None:
    """The default of a dataclass's field, also of `field(default=…)`."""
    if isinstance(value, ast.Call) and getattr(value.func, "id", getattr(value.func, "attr", "")) == "field":
        keywords = {keyword.arg: keyword.value for keyword in value.keywords}
        factory = keywords.get("default_factory")
        return keywords.get("default") or (factory.body if isinstance(factory, ast.Lambda) else None)
    return value


def dataclass_fields(owner: ast.ClassDef) -> dict[str, ast.expr | None]:
    """The annotated fields of a class with their defaults."""
    return {
        statement.target.id: _field_default(statement.value)
        for statement in owner.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
    }


def _of_object(evaluator: Evaluation, base: Value, name: str) -> Value | None:
    """An attribute of an object of the program's own classes; None where it is another's."""
    instance = base.instance
    found = evaluator.function_named(instance.name) if instance is not None else None
    if instance is None or found is None or not isinstance(found[0], ast.ClassDef) or evaluator.depth > 40:
        return None
    owner, module = found[0], found[1]
    start = next((each for each in owner.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    bound = (
        bound_arguments(evaluator, instance.call, start, instance.frame or Frame(instance.module))
        if start is not None and instance.call is not None
        else {}
    )
    assigned = module.attributes.get(owner, {}).get(name, ())
    if assigned:
        return either(
            [
                evaluator.value(expression, Frame(module, bound if start is not None and module.function(where) is start else {}))
                for expression, where in assigned[:6]
            ]
        )
    if instance.call is not None and start is None:
        for keyword in instance.call.keywords:
            if keyword.arg == name:
                return evaluator.value(keyword.value, instance.frame or Frame(instance.module))
        fields = list(dataclass_fields(owner))
        if name in fields and fields.index(name) < len(instance.call.args):
            return evaluator.value(instance.call.args[fields.index(name)], instance.frame or Frame(instance.module))
    field = _class_field(owner, name)
    return evaluator.value(field, Frame(module)) if field is not None else None


def item_value(evaluator: Evaluation, node: ast.Subscript, frame: Frame) -> Value:
    """`object[key]`."""
    if evaluator.dotted(node.value, frame.module) == "os.environ":
        return variable(evaluator, evaluator.value(node.slice, frame), None)
    base = evaluator.value(node.value, frame)
    if isinstance(node.slice, ast.Slice):
        marks = evaluator.parts(node.slice, frame).marks
        items = _sliced(base, node.slice)
        return Value(
            marks=base.marks | marks,
            items=items,
            const=[item.const for item in items] if items is not None and all(item.known for item in items) else msgspec.UNSET,
        )
    key = evaluator.value(node.slice, frame)
    if base.items is not None and key.number is not None and -len(base.items) <= key.number < len(base.items):
        return base.items[key.number]
    if isinstance(key.const, str | int) and (base.fields is not None or base.options):
        return member(evaluator, base, str(key.const), frame)
    return Value(marks=base.marks | key.marks)


def _sliced(base: Value, part: ast.Slice) -> tuple[Value, ...] | None:
    if base.items is None or part.step is not None:
        return None
    ends = [each.value if isinstance(each, ast.Constant) and isinstance(each.value, int) else None for each in (part.lower, part.upper)]
    if any(given is not None and end is None for given, end in zip((part.lower, part.upper), ends, strict=True)):
        return None
    return base.items[slice(*ends)]


def variable(evaluator: Evaluation, name: Value, default: Value | None) -> Value:
    """A variable of the environment. One that nobody is known to set may still be set where the job is submitted."""
    if name.text is None:
        return Value(alternatives=(default,) if default is not None else ())
    found = evaluator.outside(name.text)
    marks = found.marks | (frozenset((VARIABLES[name.text],)) if name.text in VARIABLES else frozenset())
    if not found.known and default is not None and not marks:
        return Value(alternatives=(default,), sources=frozenset((name.text,)))
    return msgspec.structs.replace(found, marks=marks, sources=found.sources | {name.text})
