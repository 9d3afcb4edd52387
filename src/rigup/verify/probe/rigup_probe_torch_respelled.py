"""Each operator in the other forms that torch has of it: in place, into a tensor, as a method, by its other names.

What a case calls is intercepted (`torch.overrides.TorchFunctionMode`) and called in another form, which is looked up by name. A form
that there is not, or not for these arguments, is left: the call is made as it stands.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable

import torch
from rigup_probe_torch_cases import LAYOUTS, Case, Report, Wanted, laid, one_variant
from rigup_probe_torch_forms import ALIASES, WITHOUT_SLOPE, TorchFunctionMode

FORMS = ("in place", "into a tensor", "as a method", "by another name", "in place by another name", "in place by a third name")
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge", "not_equal", "less", "less_equal", "greater", "greater_equal")
_HEADS = ("linalg_", "special_", "fft_")  # of functions that stand in a space of their own


def respelled(report: Report, case: Case, wanted: Wanted, dtype: str, form: str) -> None:
    """One case in one form, as far as there is one."""
    if TorchFunctionMode is None or (case.name, form) in _NONE:
        return
    mode = _Mode(form)
    variant = LAYOUTS[0]._replace(name=form)

    def called(*inputs: Any) -> Any:
        with mode:
            return case.calls[0](*inputs)

    if _can_call(report, case, dtype, called) and not mode.found:
        _NONE.add((case.name, form))
        return
    backward = case.backward and form != FORMS[1]
    asked = case._replace(calls=(called,), backward=backward)
    one_variant(report, asked, wanted, dtype, variant)


_NONE: set[tuple[str, str]] = set()  # cases that have no such form


def _can_call(report: Report, case: Case, dtype: str, called: Callable[..., Any]) -> bool:
    """Whether a call raises nothing."""
    try:
        with torch.no_grad():
            called(*laid(report.device, case, dtype, LAYOUTS[0]))
    except Exception as why:  # it is made again, where errors are told
        del why
        return False
    return True


if TorchFunctionMode is not None:

    class _Mode(TorchFunctionMode):  # type: ignore[misc,unused-ignore]
        """Calls in another form; as they stand where that raises."""

        def __init__(self, form: str) -> None:
            super().__init__()
            self.found = False
            self._form: Callable[..., Any] = {
                FORMS[0]: _in_place,
                FORMS[1]: _into,
                FORMS[2]: _method,
                FORMS[3]: _by_name,
                FORMS[4]: functools.partial(_in_place_by_name, 0),
                FORMS[5]: functools.partial(_in_place_by_name, 1),
            }[form]

        def __torch_function__(self, function: Any, kinds: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            name = getattr(function, "__name__", "_")
            if not name.startswith("_") and not name.endswith("_") and "out" not in kwargs:
                try:
                    result = self._form(function, name, args, kwargs)
                    self.found = True
                    return result
                except Exception as why:  # there is no such form, or not for these
                    del why
            return function(*args, **kwargs)


def _in_place(function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """On a copy of the first tensor; or by a switch that functions of torch.nn have."""
    if name in WITHOUT_SLOPE and torch.is_grad_enabled():
        raise LookupError(name)
    inside = getattr(torch.Tensor, name + "_", None)
    if inside is not None and isinstance(args[0], torch.Tensor):
        result = inside(torch.clone(args[0]), *args[1:], **kwargs)
        return result.to(torch.bool) if name in _COMPARED or name.startswith("logical") else result
    if "inplace" in inspect.signature(function).parameters:
        return function(torch.clone(args[0]), *args[1:], **dict(kwargs, inplace=True))
    raise LookupError(name)


def _in_place_by_name(place: int, function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """By the first or second of its other names, on a copy of the first tensor."""
    return _in_place(function, ALIASES.get(name, ())[place], args, kwargs)


def _into(function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Into tensors of the result's shape and type."""
    if not _takes_out(name):
        raise LookupError(name)
    plain = function(*args, **kwargs)
    several = plain if isinstance(plain, (tuple, list)) else (plain,)
    into = tuple(torch.ones_like(result) for result in several)
    _public(name)(*args, **kwargs, out=into if isinstance(plain, (tuple, list)) else into[0])
    return into if isinstance(plain, (tuple, list)) else into[0]


@functools.lru_cache(None)
def _takes_out(name: str) -> bool:
    schemas = torch._C._jit_get_schemas_for_operator("aten::" + name)
    return any(argument.is_out for schema in schemas for argument in schema.arguments)


def _public(name: str) -> Callable[..., Any]:
    for head in _HEADS:
        if name.startswith(head):
            return getattr(getattr(torch, head[:-1]), name[len(head) :])
    return getattr(torch, name, None) or getattr(torch.nn.functional, name)


def _method(function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Call functions as methods, and methods as functions."""
    method = getattr(torch.Tensor, name)
    other = getattr(torch, name) if method is function else method
    return other(*args, **kwargs)


def _by_name(_function: Any, name: str, args: Any, kwargs: Any) -> Any:
    """By the first of its other names, or by the name that it has among torch's special functions."""
    for other in ALIASES.get(name, ()):
        if callable(getattr(torch, other, None)):
            return getattr(torch, other)(*args, **kwargs)
    return getattr(torch.special, name)(*args, **kwargs)
