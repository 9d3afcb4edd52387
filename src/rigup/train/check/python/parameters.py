"""Parameters of functions: by the calls of the function, by the command line, by their defaults."""

import ast

from rigup.train.check.python.evaluation import Evaluation, Frame
from rigup.train.check.python.guards import MAIN, ONE
from rigup.train.check.python.modules import Function, Module
from rigup.train.check.python.settings import as_type
from rigup.train.check.python.values import NAMED, SPAWNED, UNKNOWN_VALUE, Value, either

_MOST_CALLERS = 8
_RANK_NAMES = ("rank", "global_rank", "local_rank", "gpu", "gpu_id", "proc_id", "process_index")


def parameter_value(evaluator: Evaluation, function: Function, name: str, frame: Frame) -> Value:
    """What a parameter may be. A parameter that is named as a rank and of which nothing else is known counts as one."""
    module = frame.module
    if function in evaluator.hydra:
        return evaluator.hydra[function]
    default = default_of(function, name)
    if function in evaluator.command_line and not isinstance(function, ast.Lambda):
        return _of_command_line(evaluator, function, name, frame, default)
    values = [
        handed
        for call, caller in evaluator.callers.get(function, ())[:_MOST_CALLERS]
        if (handed := _handed(evaluator, call, function, name, Frame(caller))) is not None
    ]
    if default is not None and (not values or len(values) < len(evaluator.callers.get(function, ()))):
        values.append(evaluator.value(default, Frame(module)))
    found = either(values) if values else UNKNOWN_VALUE
    if found.known or found.marks or found.alternatives:
        return found
    if MAIN.fullmatch(name):
        return Value(marks=frozenset((NAMED,)), guard=ONE)
    return Value(marks=frozenset((NAMED,)), instance=found.instance) if name in _RANK_NAMES else found


def default_of(function: Function, name: str) -> ast.expr | None:
    """The default of a parameter."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    for argument, default in zip(reversed(positional), reversed(arguments.defaults), strict=False):
        if argument.arg == name:
            return default
    for argument, each in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if argument.arg == name:
            return each
    return None


def bound_arguments(evaluator: Evaluation, call: ast.Call, function: Function, frame: Frame) -> dict[str, Value]:
    """The parameters of a function in one call."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)]
    bound: dict[str, Value] = {}
    for name in names:
        handed = _handed(evaluator, call, function, name, frame)
        if handed is not None:
            bound[name] = handed
        elif (default := default_of(function, name)) is not None:
            bound[name] = evaluator.value(default, Frame(_module_of(evaluator, function) or frame.module))
    return bound


def _module_of(evaluator: Evaluation, function: Function) -> Module | None:
    return next((module for module in evaluator.modules if function in module.parents), None)


def _handed(evaluator: Evaluation, call: ast.Call, function: Function, name: str, frame: Frame) -> Value | None:  # noqa: C901
    """What one call hands over for a parameter; None for nothing."""
    positional = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    for keyword in call.keywords:
        if keyword.arg == name:
            return evaluator.value(keyword.value, frame)
    called = evaluator.dotted(call.func, frame.module)
    if called.rsplit(".", 1)[-1] in ("spawn", "start_processes") and "multiprocessing" in called:
        return _spawned(evaluator, call, positional, name, frame)
    if any(keyword.arg is None for keyword in call.keywords):
        for keyword in call.keywords:
            if keyword.arg is None:
                fields = evaluator.value(keyword.value, frame).fields
                if fields is not None and name in fields:
                    return fields[name]
    if name in positional and positional.index(name) < len(call.args):
        argument = call.args[positional.index(name)]
        if not any(isinstance(each, ast.Starred) for each in call.args):
            return evaluator.value(argument, frame)
        return UNKNOWN_VALUE
    return None


def _spawned(evaluator: Evaluation, call: ast.Call, positional: list[str], name: str, frame: Frame) -> Value | None:
    """`mp.spawn(f, args=(a, b), nprocs=n)` calls f(i, a, b)."""
    if positional[:1] == [name]:
        return Value(marks=frozenset((SPAWNED,)))
    handed = next((keyword.value for keyword in call.keywords if keyword.arg == "args"), call.args[1] if len(call.args) > 1 else None)
    items = evaluator.value(handed, frame).items if handed is not None else None
    at = positional.index(name) - 1 if name in positional else -1
    return items[at] if items is not None and 0 <= at < len(items) else None


def _of_command_line(
    evaluator: Evaluation, function: "ast.FunctionDef | ast.AsyncFunctionDef", name: str, frame: Frame, default: ast.expr | None
) -> Value:
    """A parameter that click, typer or fire fills."""
    option = evaluator.declared.get(name)
    kind = option.type if option else _annotated(function, name)
    if name in evaluator.given.named:
        return as_type(evaluator.given.named[name], kind or "int")
    if option is not None and option.default is not None:
        return evaluator.at(option.default, option.module)
    if isinstance(default, ast.Call) and default.args and evaluator.dotted(default.func, frame.module).startswith("typer."):
        first = default.args[0]
        return UNKNOWN_VALUE if isinstance(first, ast.Constant) and first.value is ... else evaluator.at(first, frame.module)
    if isinstance(default, ast.Call):
        return UNKNOWN_VALUE
    return evaluator.at(default, frame.module) if default is not None else UNKNOWN_VALUE


def _annotated(function: "ast.FunctionDef | ast.AsyncFunctionDef", name: str) -> str:
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    annotation = next((argument.annotation for argument in arguments if argument.arg == name), None)
    if isinstance(annotation, ast.Subscript):  # Annotated[int, …], Optional[int]
        inner = annotation.slice
        annotation = inner.elts[0] if isinstance(inner, ast.Tuple) and inner.elts else inner
    return annotation.id if isinstance(annotation, ast.Name) else ""
