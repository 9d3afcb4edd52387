"""Each way in which torch lets one operator be called: as a function, as a method, by its other names."""

from __future__ import annotations

from typing import Any, Callable

import torch

try:
    from torch.overrides import TorchFunctionMode
except ImportError:  # an older torch
    TorchFunctionMode = None  # type: ignore[assignment,misc,unused-ignore]

# other names of one operator, as torch's documentation tells them
ALIASES = {
    "abs": ("absolute",),
    "acos": ("arccos",),
    "acosh": ("arccosh",),
    "asin": ("arcsin",),
    "asinh": ("arcsinh",),
    "atan": ("arctan",),
    "atan2": ("arctan2",),
    "atanh": ("arctanh",),
    "clamp": ("clip",),
    "div": ("divide", "true_divide"),
    "eq": (),
    "gt": ("greater",),
    "ge": ("greater_equal",),
    "lt": ("less",),
    "le": ("less_equal",),
    "mul": ("multiply",),
    "ne": ("not_equal",),
    "neg": ("negative",),
    "sub": ("subtract",),
    "trunc": ("fix",),
    "movedim": ("moveaxis",),
    "transpose": ("swapaxes", "swapdims"),
    "outer": ("ger",),
    "cat": ("concat", "concatenate"),
    "vstack": ("row_stack",),
    "lgamma": ("gammaln",),
    "digamma": ("psi",),
    "sigmoid": ("expit",),
    "igamma": ("gammainc",),
    "igammac": ("gammaincc",),
    "mvlgamma": ("multigammaln",),
    "trapezoid": ("trapz",),
    "inverse": ("inv",),
}
WITHOUT_SLOPE = ("acosh", "asinh", "atanh")  # in place
_SPACES = (torch, getattr(torch, "special", None))


def forms(name: str, *more: Any, **named: Any) -> tuple[Callable[..., Any], ...]:
    """Calls that take the inputs; `more` and `named` follow them. In place and into a tensor every row is called anyway."""
    calls = []
    for each in (name, *(alias for alias in ALIASES.get(name, ()) if not (alias == "true_divide" and named))):
        found = [getattr(space, each, None) for space in (*_SPACES, torch.Tensor)]
        calls += [_with(function, more, named) for function in found if function is not None]
    return tuple(calls)


def _with(function: Any, more: tuple[Any, ...], named: dict[str, Any]) -> Callable[..., Any]:
    return lambda *x: function(*x, *more, **named)


def copied(call: Callable[..., Any]) -> Callable[..., Any]:
    """A call that changes its first input, on a copy of it."""
    return lambda x, *rest: call(torch.clone(x), *rest)


def with_parameters(module: Any, parameters: dict[str, Any], inputs: tuple[Any, ...], named: Any = None) -> Any:
    """A module called with these tensors in the place of its parameters."""
    if hasattr(torch, "func"):
        return torch.func.functional_call(module, parameters, inputs, named)
    from torch.nn.utils.stateless import functional_call

    return functional_call(module, parameters, inputs, named or {})


def called_functions(call: Callable[..., Any], inputs: list[Any]) -> list[str]:
    """The functions of torch that a call consists of."""
    if TorchFunctionMode is None:
        return []
    called: list[str] = []

    class Recorder(TorchFunctionMode):  # type: ignore[misc,unused-ignore]
        def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            called.append(getattr(function, "__name__", "_"))
            return function(*args, **(kwargs or {}))

    try:
        with torch.no_grad(), Recorder():
            call(*inputs)
    except Exception as why:  # it was called before, and what it is made of is all that is asked here
        del why
    return [name_ for name_ in dict.fromkeys(called) if not name_.startswith("_")]
