"""Tables of conversions by every method, forward and backward: each type to each other, and to a type that is named alone."""

from __future__ import annotations

import math
from typing import Any, Iterator

import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, each
from rigup_probe_torch_cases import FLOATS, Case, Input, given, real

_METHODS = {"float64": ("double",), "float32": ("float",), "float16": ("half",), "bfloat16": ("bfloat16",), "int64": ("long",), "int32": ("int",), "int16": ("short",), "int8": ("char",), "uint8": ("byte",), "bool": ("bool",)}
_COMPLEX = {"complex64": "cfloat", "complex128": "cdouble"}


def casts() -> Iterator[Case]:
    """Numbers that each type holds."""
    inputs = (real(3, 5, low=-3, high=3, step=0.25),)
    for target in FLOATS:
        ways: list[Any] = [getattr(torch.Tensor, method) for method in _METHODS[target]]
        kind: Any = getattr(torch, target)
        ways += [lambda x, t=kind: x.to(t), lambda x, t=kind: x.to(dtype=t), lambda x, t=kind: x.type(t), lambda x, t=kind: x.to(torch.empty(1, dtype=t, device=x.device)), lambda x, t=kind: x.to(x.device, t), lambda x, t=kind: x.to(t, copy=True)]
        yield Case("conversion to " + target + " (to, " + _METHODS[target][0] + ")", tuple(ways), each(lambda x: x * 1.0), inputs, result=target)
    whole = given(3, 5, low=-6, high=6, step=0.25)
    for target in ("int64", "int32", "int16", "int8"):
        kind = getattr(torch, target)
        ways = [getattr(torch.Tensor, _METHODS[target][0]), lambda x, t=kind: x.to(t), lambda x, t=kind: x.type(t)]
        yield Case("conversion to " + target + " (to, " + _METHODS[target][0] + ")", tuple(ways), each(int), (whole,), backward=False)
    ways = [torch.Tensor.byte, lambda x: x.to(torch.uint8)]
    yield Case("conversion to uint8 (to, byte)", tuple(ways), each(int), (given(3, 5, low=0.25, high=9),), backward=False)
    yield Case("conversion to bool (to, bool)", (torch.Tensor.bool, lambda x: x.to(torch.bool)), each(bool), (Input(Grid((4,), [0.0, 0.25, -1.0, 0.0]), "given"),), backward=False)
    for target, name in _COMPLEX.items():
        kind = getattr(torch, target)
        part = lambda x: torch.view_as_real(x)[..., 0].to(torch.float64)
        yield Case("conversion to " + target + " (to, " + name + ")", (lambda x, n=name, p=part: p(getattr(x, n)()), lambda x, t=kind, p=part: p(x.to(t))), each(lambda x: x * 1.0), (whole,), FLOATS[:2], backward=False, result="float64")
    for kind_name in ("int64", "int32", "uint8", "bool"):
        numbers = Input(Grid((7,), [0, 1, 5, 99, 2, 0, 127] if kind_name != "bool" else [True, False, True, True, False, False, True]), kind_name)
        for target in ("float64", "float32", "float16", "bfloat16"):
            ways = [getattr(torch.Tensor, _METHODS[target][0]), lambda x, t=getattr(torch, target): x.to(t)]
            yield Case("conversion of " + kind_name + " to " + target + " (to, " + _METHODS[target][0] + ")", tuple(ways), each(float), (numbers,), (kind_name,), backward=False, few=True, result=target)


def promotions() -> Iterator[Case]:
    """What comes of two types: the result's type and its numbers."""
    whole = Input(Grid((5,), [3, -2, 7, 0, 11]), "int64")
    for name, call, reference in (("add", torch.add, lambda x, y: x + y), ("mul", torch.mul, lambda x, y: x * y), ("sub", torch.sub, lambda x, y: x - y)):
        yield Case(name + " of whole and real numbers", (call,), each(reference), (whole, given(5)), backward=False)
        yield Case(name + " of bytes and long ones", (call,), each(reference), (Input(Grid((5,), [3, 2, 7, 0, 11]), "uint8"), whole), ("int64",), backward=False)
    yield Case("div of whole numbers", (torch.div, torch.true_divide), each(lambda x, y: x / y), (whole, Input(Grid((5,), [2, 4, 2, 8, 4]), "int64")), ("int64",), backward=False, result="float32")
    rows: tuple[tuple[str, Any], ...] = (("sqrt", math.sqrt), ("exp", math.exp), ("sin", math.sin), ("sigmoid", tape.sigmoid))
    for name, right in rows:
        small = Input(Grid((4,), [4, 1, 0, 2]), "int64")
        yield Case(name + " of whole numbers gives real ones", (getattr(torch, name),), each(right), (small,), ("float32",), backward=False)
