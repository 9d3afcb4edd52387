"""What calls give: of the environment, of parsers of options, of files beside, of the program's own functions."""

import ast

from rigup.train.check.python import known_calls
from rigup.train.check.python.attributes import member, variable
from rigup.train.check.python.evaluation import Evaluation, Frame
from rigup.train.check.python.files import file_value, merged
from rigup.train.check.python.guards import MAIN, ONE
from rigup.train.check.python.modules import FUNCTIONS, Function, Module
from rigup.train.check.python.parameters import bound_arguments
from rigup.train.check.python.values import GLOBAL, LOCAL, UNKNOWN_VALUE, WORLD, Instance, Value, constant, either, mixed

_OPTIONS = (
    ".parse_args",
    ".parse_known_args",
    ".parse_args_and_config",
    ".parse_intermixed_args",
    "tyro.cli",
    "simple_parsing.parse",
    "jsonargparse.CLI",
    "draccus.parse",
)
_DATACLASSES = (".parse_args_into_dataclasses", ".parse_args_and_config", ".parse_yaml_file", ".parse_json_file", ".parse_dict")
_READS = (
    ".read_text",
    "open",
    ".open",
    ".read",
    "json.load",
    "json.loads",
    "yaml.safe_load",
    "yaml.load",
    "yaml.full_load",
    "tomllib.load",
    "omegaconf.OmegaConf.load",
    "toml.load",
    "tomli.load",
    "yaml.unsafe_load",
)
_BY_NAME = {"get_rank": GLOBAL, "get_local_rank": LOCAL, "get_world_size": WORLD, "get_global_rank": GLOBAL, "local_rank": LOCAL}
_DEEPEST = 30


def call_value(evaluator: Evaluation, node: ast.Call, frame: Frame) -> Value:
    """The value of a call."""
    name = evaluator.dotted(node.func, frame.module)
    if (found := _of_environment(evaluator, name, node, frame)) is not None:
        return found
    if name in _OPTIONS or name.endswith(".ArgumentParser.parse_args"):
        options = Value(options=True)
        return Value(items=(options, UNKNOWN_VALUE)) if name.endswith("known_args") else options
    if name in _DATACLASSES:
        return Value(items=(Value(options=True),) * 8, options=True)
    if name in _READS and (found := _of_file(evaluator, name, node, frame)) is not None:
        return found
    if (found := _own(evaluator, name, node, frame)) is not None:
        return found
    arguments = [evaluator.value(argument, frame) for argument in node.args]
    known = known_calls.called(name, arguments, evaluator.place(node, frame))
    return known if known is not None else _object(evaluator, name, node, frame, arguments)


def _of_environment(evaluator: Evaluation, name: str, node: ast.Call, frame: Frame) -> Value | None:
    if name in ("os.environ.get", "os.getenv", "os.environ.setdefault", "os.environ.pop") and node.args:
        default = node.args[1] if len(node.args) > 1 else next((each.value for each in node.keywords if each.arg == "default"), None)
        handed = evaluator.value(default, frame) if default is not None else constant(None)
        return variable(evaluator, evaluator.value(node.args[0], frame), handed)
    return None


def _of_file(evaluator: Evaluation, name: str, node: ast.Call, frame: Frame) -> Value | None:
    """A configuration that is read: the path, wherever in the call or in front of it it stands."""
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name.startswith(".") and receiver is not None:
        path = evaluator.value(receiver, frame)
    elif node.args:
        path = evaluator.value(node.args[0], frame)
    else:
        return None
    if path.fields is not None or path.items is not None:
        return path
    if path.text is None:
        return path if path.instance is not None else None
    found = file_value(path.text.removeprefix("./"), evaluator.read)
    return found if found is not None else Value(const=path.const, open=True)


def _own(evaluator: Evaluation, name: str, node: ast.Call, frame: Frame) -> Value | None:
    """A function of the program's own: what its returns give, with the arguments of this call."""
    if name.startswith(".") and isinstance(node.func, ast.Attribute):
        return _method(evaluator, node, frame)
    found = evaluator.function_named(name)
    if found is None:
        return None
    function, module = found
    if isinstance(function, ast.ClassDef):
        return Value(instance=Instance(name=name, call=node, module=frame.module, frame=frame))
    return returned(evaluator, function, module, node, frame) if isinstance(function, FUNCTIONS) else None


def _method(evaluator: Evaluation, node: ast.Call, frame: Frame) -> Value | None:
    """A method of the class around, or of an object of the program's own classes."""
    assert isinstance(node.func, ast.Attribute)  # noqa: S101  (who calls it has looked)
    receiver = node.func.value
    owner: tuple[ast.AST, Module] | None = None
    if isinstance(receiver, ast.Name) and receiver.id == "self":
        inside = frame.module.enclosing_class(node)
        owner = (inside, frame.module) if inside is not None else None
    else:
        instance = evaluator.value(receiver, frame).instance
        owner = evaluator.function_named(instance.name) if instance is not None else None
    if owner is None or not isinstance(owner[0], ast.ClassDef):
        return None
    for each in owner[0].body:
        if isinstance(each, ast.FunctionDef) and each.name == node.func.attr:
            return returned(evaluator, each, owner[1], node, frame)
    return None


def returned(evaluator: Evaluation, function: Function, module: Module, node: ast.Call, frame: Frame) -> Value:
    """What a function returns in one call."""
    if evaluator.depth > _DEEPEST:
        return UNKNOWN_VALUE
    bound = bound_arguments(evaluator, node, function, frame)
    inner = Frame(module, bound or {"": UNKNOWN_VALUE}, function)
    if isinstance(function, ast.Lambda):
        return evaluator.value(function.body, inner)
    values = [evaluator.value(each.value, inner) for each in _returns(function, module) if each.value is not None][:8]
    return either(values) if values else constant(None)


def _returns(function: Function, module: Module) -> list[ast.Return | ast.Yield]:
    return [each for each in ast.walk(function) if isinstance(each, ast.Return) and module.function(each) is function]


def _object(evaluator: Evaluation, name: str, node: ast.Call, frame: Frame, arguments: list[Value]) -> Value:  # noqa: PLR0911
    """A call of something that is not the program's own."""
    last = name.rsplit(".", 1)[-1]
    receiver = evaluator.value(node.func.value, frame) if isinstance(node.func, ast.Attribute) and name.startswith(".") else UNKNOWN_VALUE
    if last == "get" and (receiver.fields is not None or receiver.options) and arguments:
        return _got(evaluator, receiver, arguments, frame)
    if MAIN.fullmatch(last):
        return Value(marks=frozenset((GLOBAL,)), guard=ONE)
    if last in _BY_NAME:
        return Value(marks=frozenset((_BY_NAME[last],)))
    if name.endswith("OmegaConf.merge") and arguments:
        return _merged(arguments)
    if name.endswith("OmegaConf.from_cli"):
        return Value(fields=dict(evaluator.given.assigned), open=True)
    if (
        last
        in (
            "to",
            "cuda",
            "eval",
            "train",
            "float",
            "half",
            "bfloat16",
            "module",
            "shuffle",
            "compile",
            "items",
            "values",
            "resolve",
            "expanduser",
        )
        and receiver.instance
    ):
        return receiver
    if last in ("resolve", "expanduser", "absolute", "as_posix") and receiver.known:
        return receiver
    keywords = [evaluator.value(keyword.value, frame) for keyword in node.keywords[:30]]
    inside = mixed([*arguments, *keywords, Value(marks=receiver.marks, sources=receiver.sources)])
    return Value(
        marks=inside.marks,
        sources=inside.sources,
        instance=Instance(name=name, call=node, module=frame.module, frame=frame if frame.bound else None),
    )


def _got(evaluator: Evaluation, receiver: Value, arguments: list[Value], frame: Frame) -> Value:
    key = arguments[0].text
    if key is None:
        return UNKNOWN_VALUE
    if receiver.fields is not None and key not in receiver.fields and len(arguments) > 1:
        return arguments[1]
    return member(evaluator, receiver, key, frame)


def _merged(arguments: list[Value]) -> Value:
    value = Value(fields={})
    for each in arguments:
        value = merged(value, each) if each.fields is not None else Value(fields=value.fields, open=True)
    return value
