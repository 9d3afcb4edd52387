"""What of torch's public operators no check of the probe calls: runs with the Python of a real torch.

    python uncovered.py PROBE_FOLDER [--json]

It watches each call while the checks run, so that a row counts only where it reaches the operator. An operator is a public
function that torch lets others override, a module of `torch.nn`, or an optimizer; of each its arguments that have defaults.
"""

import functools
import inspect
import json
import sys
import types
import warnings

warnings.simplefilter("ignore")

import torch
from torch.overrides import TorchFunctionMode, get_ignored_functions, get_overridable_functions, resolve_name

# arguments that say where something lies and not what it is
PLACES = {
    "device",
    "layout",
    "pin_memory",
    "requires_grad",
    "memory_format",
    "generator",
    "names",
    "inplace",
    "self",
    "input",
    "size_average",
    "reduce",
    "capturable",
    "stream",
    "non_blocking",
    "copy",
    "other",
    "dtype",
}


class Watched(TorchFunctionMode):
    """Which functions are called, and with which arguments."""

    def __init__(self):
        self.seen = {}

    def __torch_function__(self, function, kinds, args=(), kwargs=None):
        kwargs = kwargs or {}
        record = self.seen.setdefault(_name(function), {"args": set(), "most": 0})
        record["args"].update(key for key, value in kwargs.items() if value is not None)
        record["most"] = max(record["most"], len(args))
        return function(*args, **kwargs)


@functools.cache
def _name(function):
    return plain(resolve_name(function) or getattr(function, "__name__", ""))


def plain(name):
    """`torch.Tensor.add` and `torch.add` are one operator; what lies under a namespace keeps it."""
    for head in (
        "torch.Tensor.",
        "torch._C.TensorBase.",
        "torch.nn.functional.",
        "torch._C._nn.",
        "torch.functional.",
        "torch._VF.",
        "torch.special.special_",
        "torch.linalg.linalg_",
        "torch.fft.fft_",
    ):
        if name.startswith(head):
            rest = name[len(head) :]
            return {"torch.special.special_": "special.", "torch.linalg.linalg_": "linalg.", "torch.fft.fft_": "fft."}.get(head, "") + rest
    return name.removeprefix("torch.")


UNDER = {
    "__" + under + "__": name
    for under, name in {
        "add": "add",
        "radd": "add",
        "iadd": "add_",
        "sub": "sub",
        "isub": "sub_",
        "mul": "mul",
        "rmul": "mul",
        "imul": "mul_",
        "truediv": "div",
        "itruediv": "div_",
        "div": "div",
        "idiv": "div_",
        "matmul": "matmul",
        "pow": "pow",
        "ipow": "pow_",
        "eq": "eq",
        "ne": "ne",
        "lt": "lt",
        "gt": "gt",
        "le": "le",
        "ge": "ge",
        "neg": "neg",
        "abs": "abs",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "invert": "bitwise_not",
        "mod": "remainder",
        "floordiv": "floor_divide",
    }.items()
}


def public():
    """Each operator by name, with its functions."""
    found = {}
    ignored = get_ignored_functions()
    for space, functions in get_overridable_functions().items():
        for function in functions:
            name = resolve_name(function)
            if function in ignored or name is None or getattr(space, "__name__", "") == "torch.nn.init":
                continue
            short = plain(name)
            short = UNDER.get(short, short)
            if not any(part.startswith("_") for part in short.split(".")):
                found.setdefault(short, []).append(function)
    return found


def arguments(name, functions):
    """Names of its arguments that have a default, and their places."""
    places_of = {}
    for function in functions:
        try:
            parameters = inspect.signature(function).parameters.values()
            places_of.update(
                {parameter.name: at for at, parameter in enumerate(parameters) if parameter.default is not inspect.Parameter.empty}
            )
        except (ValueError, TypeError):
            pass
    for schema in torch._C._jit_get_schemas_for_operator("aten::" + name.replace(".", "_")):
        for at, argument in enumerate(schema.arguments):
            if argument.has_default_value() and "out" not in [other.name for other in schema.arguments]:
                places_of[argument.name] = max(at if not argument.kwarg_only else 99, places_of.get(argument.name, 0))
    return {key: at for key, at in places_of.items() if key not in PLACES and not key.startswith("_")}


def watched(folder):
    """What the checks call."""
    sys.path.insert(0, folder)
    module = types.ModuleType("rigup_probe")
    module.Skip = type("Skip", (Exception,), {})
    sys.modules["rigup_probe"] = module
    built = _constructors()
    import rigup_probe_torch as probe

    mode = Watched()
    called = set()
    torch.nn.modules.module.register_module_forward_hook(lambda submodule, _in, _out: called.add(type(submodule).__name__))
    torch.set_num_threads(1)
    for name, check in probe.checks({"id": "cpu", "type": "cpu"}, False):
        if not name.startswith(("compile", "memory", "copy-", "gradients-held", "matmul-f", "matmul-b")):
            with mode:
                try:
                    check({"id": "cpu", "type": "cpu"})
                except Exception as why:
                    print("the check", name, "could not be watched:", why, file=sys.stderr)
    for name, plain_name in UNDER.items():
        if name in mode.seen:
            mode.seen.setdefault(plain_name, {"args": set(), "most": 0})
    return mode.seen, called, built


def _constructors():
    """What modules and optimizers are made with; replaced before the probe is imported."""
    built = {}
    for space in (torch.nn, torch.optim):
        for name in dir(space):
            cls = getattr(space, name)
            if isinstance(cls, type) and issubclass(cls, (torch.nn.Module, torch.optim.Optimizer)) and name not in ("Module", "Optimizer"):
                cls.__init__ = _noted(cls, cls.__init__, built)
    return built


def _noted(cls, real, built):
    def patched(self, *args, **kwargs):
        if type(self) is cls:
            try:
                arguments_ = inspect.signature(real).bind(self, *args, **kwargs).arguments
            except (TypeError, ValueError):
                arguments_ = kwargs
            defaults = inspect.signature(real).parameters
            built.setdefault(cls.__name__, set()).update(
                key for key in arguments_ if key in defaults and defaults[key].default is not inspect.Parameter.empty
            )
        real(self, *args, **kwargs)

    patched.__signature__ = inspect.signature(real)
    return patched


def gaps(folder):
    """Names of operators that are not called; `name(argument)` for what is never given; `name backward` for gradients."""
    seen, called, built = watched(folder)
    functions, missing, count_ = public(), [], 0
    for name, each in sorted(functions.items()):
        names = [name, name.rstrip("_")] if name.endswith("_") else [name]
        if not names[-1]:
            continue
        record = seen.get(name) or (None)
        count_ += 1
        if record is None:
            missing.append(name)
            continue
        for argument, at in arguments(name, each).items():
            count_ += 1
            if argument not in record["args"] and record["most"] <= at:
                missing.append(name + "(" + argument + ")")
    for name in sorted(
        name_
        for name_ in dir(torch.nn)
        if isinstance(getattr(torch.nn, name_), type) and issubclass(getattr(torch.nn, name_), torch.nn.Module)
    ):
        missing_of, count = _made("nn." + name, getattr(torch.nn, name), called, built)
        missing, count_ = missing + missing_of, count_ + count
    for name in sorted(
        name_
        for name_ in dir(torch.optim)
        if isinstance(getattr(torch.optim, name_), type) and issubclass(getattr(torch.optim, name_), torch.optim.Optimizer)
    ):
        missing_of, count = _made("optim." + name, getattr(torch.optim, name), set(built), built)
        missing, count_ = missing + missing_of, count_ + count
    return missing, count_


def _made(name, cls, called, built):
    short = name.partition(".")[2]
    signature = inspect.signature(cls.__init__)
    wanted = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.default is not inspect.Parameter.empty and parameter.name not in PLACES
    ]
    if short not in called or short not in built:
        return [name], 1
    return [name + "(" + name_ + ")" for name_ in wanted if name_ not in built[short]], 1 + len(wanted)


if __name__ == "__main__":
    found, count = gaps(sys.argv[1])
    if "--json" in sys.argv:
        print(json.dumps({"missing": found, "of": count}))
    else:
        whole = [name for name in found if "(" not in name]
        print("not called:", *whole, sep="\n  ")
        print("argument never given:", *(name for name in found if "(" in name), sep="\n  ")
        print(f"{count - len(found)} of {count} operators and arguments are covered ({100 * (count - len(found)) / count:.0f} %)")
