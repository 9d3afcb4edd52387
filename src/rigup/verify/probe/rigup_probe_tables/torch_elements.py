"""Tables of operators on single numbers: arithmetic, functions, activations; one row each."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, always, each
from rigup_probe_torch_cases import FLOATS, Case, Input, given, literal, real
from torch import nn
from torch.nn import functional

_SHAPE = (2, 5, 3, 3)  # prime to the length of vectors where it is put in a row
_INF, _NAN = math.inf, math.nan

# name, reference, least, most, other ways to call it than torch's and Tensor's own
_UNARY = (
    ("exp", tape.exp, -3, 3),
    ("log", tape.log, 0.0625, 6),
    ("sqrt", tape.sqrt, 0.0625, 6),
    ("sin", tape.sin, -3, 3),
    ("cos", tape.cos, -3, 3),
    ("tan", tape.tan, -1, 1),
    ("tanh", tape.tanh, -3, 3),
    ("sigmoid", tape.sigmoid, -5, 5),
    ("sinh", tape.sinh, -2, 2),
    ("cosh", tape.cosh, -2, 2),
    ("asin", tape.asin, -0.75, 0.75),
    ("acos", tape.acos, -0.75, 0.75),
    ("atan", tape.atan, -3, 3),
    ("erf", tape.erf, -2, 2),
    ("log1p", tape.log1p, -0.5, 6),
    ("expm1", tape.expm1, -2, 2),
    ("abs", tape.absolute, -3, 3),
    ("neg", operator.neg, -3, 3),
    ("square", lambda x: x * x, -3, 3),
    ("reciprocal", lambda x: 1.0 / x, 0.25, 4),
    ("rsqrt", lambda x: 1.0 / tape.sqrt(x), 0.0625, 4),
    ("exp2", lambda x: tape.exp(x * math.log(2)), -3, 3),
    ("log2", lambda x: tape.log(x) * (1 / math.log(2)), 0.0625, 6),
    ("log10", lambda x: tape.log(x) * (1 / math.log(10)), 0.0625, 6),
    ("erfc", lambda x: 1.0 - tape.erf(x), -1, 1),
)

_CONSTANT = (("floor", math.floor), ("ceil", math.ceil), ("round", round), ("trunc", math.trunc), ("sign", lambda x: (x > 0) - (x < 0)))

_ACTIVATIONS: tuple[tuple[str, Any, tuple[Callable[..., Any], ...]], ...] = (
    ("relu", right.relu, (functional.relu, torch.relu_, nn.ReLU())),
    ("relu6", right.relu6, (functional.relu6, nn.ReLU6())),
    ("gelu", right.gelu, (functional.gelu, nn.GELU())),
    ("gelu (tanh)", right.gelu_by_tanh, (lambda x: functional.gelu(x, approximate="tanh"),)),
    ("silu", right.silu, (functional.silu, nn.SiLU())),
    ("mish", right.mish, (functional.mish, nn.Mish())),
    ("elu", right.elu, (functional.elu, nn.ELU())),
    ("selu", right.selu, (functional.selu, nn.SELU())),
    ("celu", right.elu, (functional.celu, nn.CELU())),
    ("leaky_relu", right.leaky_relu, (lambda x: functional.leaky_relu(x, 0.25), nn.LeakyReLU(0.25))),
    ("softplus", tape.softplus, (functional.softplus, nn.Softplus())),
    ("hardswish", right.hardswish, (functional.hardswish, nn.Hardswish())),
    ("hardsigmoid", right.hardsigmoid, (functional.hardsigmoid, nn.Hardsigmoid())),
    ("hardtanh", right.hardtanh, (functional.hardtanh, nn.Hardtanh())),
    ("softsign", right.softsign, (functional.softsign, nn.Softsign())),
    ("logsigmoid", right.logsigmoid, (functional.logsigmoid, nn.LogSigmoid())),
    ("tanhshrink", lambda x: x - tape.tanh(x), (functional.tanhshrink, nn.Tanhshrink())),
    ("threshold", lambda x: x if x > 0.5 else x * 0.0 + 0.25, (lambda x: functional.threshold(x, 0.5, 0.25),)),
    ("hardshrink", lambda x: x if abs(tape.plain(x)) > 0.5 else x * 0.0, (functional.hardshrink, nn.Hardshrink())),
)

_BINARY: tuple[tuple[str, Any, tuple[Callable[..., Any], ...]], ...] = (
    ("add", lambda x, y: x + y, (torch.add, operator.add, lambda x, y: torch.clone(x).add_(y))),
    ("sub", lambda x, y: x - y, (torch.sub, operator.sub, lambda x, y: torch.clone(x).sub_(y))),
    ("mul", lambda x, y: x * y, (torch.mul, operator.mul, lambda x, y: torch.clone(x).mul_(y))),
    ("div", lambda x, y: x / y, (torch.div, operator.truediv, lambda x, y: torch.clone(x).div_(y))),
    ("maximum", right.maximum, (torch.maximum,)),
    ("minimum", right.minimum, (torch.minimum,)),
    ("atan2", lambda x, y: tape.atan(x / y), (torch.atan2,)),
    ("hypot", lambda x, y: tape.sqrt(x * x + y * y), (torch.hypot,)),
    ("pow", lambda x, y: tape.exp(y * tape.log(x)), (torch.pow, operator.pow)),
    ("lerp", lambda x, y: x + (y - x) * 0.25, (lambda x, y: torch.lerp(x, y, 0.25),)),
    ("add with alpha", lambda x, y: x - y * 3.0, (lambda x, y: torch.add(x, y, alpha=-3),)),
)

_EIGHTHS = real(*_SHAPE, low=-5, high=6.75, step=0.125).grid
_ODD_SIXTEENTHS = Input(Grid(_SHAPE, [v + 1 / 16 for v in _EIGHTHS.flat]))  # no activation has a bend at such a number
_COMPARED = (("lt", operator.lt), ("le", operator.le), ("gt", operator.gt), ("ge", operator.ge), ("eq", operator.eq), ("ne", operator.ne))


def elementwise() -> Iterator[Case]:
    """Arithmetic and functions."""
    for name, reference, low, high in _UNARY:
        inputs = (real(*_SHAPE, low=low, high=high),)
        yield Case(name, _ways(name), each(reference), inputs, elementwise=True, factor=2.0)
    for name, reference, calls in _BINARY:
        first, second = real(*_SHAPE, low=0.25, high=3), real(*_SHAPE, low=0.5, high=2, seed=2)
        yield Case(name, calls, each(reference), (first, second), elementwise=True, factor=2.0)
        yield Case(name + " (broadcast)", calls[:2], each(reference), (first, real(3, 1, low=0.5, high=2, seed=3)), factor=4.0)
    for name, reference in _CONSTANT:
        yield Case(name, _ways(name), each(reference), (given(*_SHAPE),), elementwise=True, backward=False)
    yield from _with_numbers()


def _ways(name: str) -> tuple[Any, ...]:
    return (getattr(torch, name), getattr(torch.Tensor, name))


def _with_numbers() -> Iterator[Case]:
    """One operand is a number of Python, or a mask chooses."""
    inputs = (real(*_SHAPE),)
    three = (real(*_SHAPE), real(*_SHAPE, seed=2), real(*_SHAPE, low=0.5, high=2, seed=3))
    rows: tuple[tuple[str, Any, Any], ...] = (
        ("add a number", lambda x: x + 1.5, (lambda x: x + 1.5, lambda x: 1.5 + x)),
        ("subtract from a number", lambda x: 1.5 - x, (lambda x: 1.5 - x,)),
        ("multiply by a number", lambda x: x * -2.5, (lambda x: x * -2.5, lambda x: torch.clone(x).mul_(-2.5))),
        ("divide by a number", lambda x: x / 4.0, (lambda x: x / 4,)),
        ("power of 3", lambda x: x * x * x, (lambda x: x**3, lambda x: torch.pow(x, 3))),
        ("clamp", right.clamped(-1.03, 1.28), (lambda x: torch.clamp(x, -1.03, 1.28), lambda x: torch.clone(x).clamp_(-1.03, 1.28))),
    )
    for name, reference, calls in rows:
        yield Case(name, calls, each(reference), inputs, elementwise=True)
    yield Case("addcmul", (lambda x, y, z: torch.addcmul(x, y, z, value=0.5),), each(lambda x, y, z: x + y * z * 0.5), three, elementwise=True, factor=2)
    yield Case("addcdiv", (lambda x, y, z: torch.addcdiv(x, y, z, value=0.5),), each(lambda x, y, z: x + y / z * 0.5), three, elementwise=True, factor=2)
    mask = Input(Grid(_SHAPE, [number % 3 == 0 for number in range(math.prod(_SHAPE))]), "mask")
    yield Case("where", (torch.where,), each(lambda m, x, y: x if m else y), (mask, *three[:2]), elementwise=True)
    yield Case("masked_fill", (lambda x, m: x.masked_fill(m, 2.0), lambda x, m: torch.clone(x).masked_fill_(m, 2.0)), each(lambda x, m: 2.0 if m else x), (three[0], mask), elementwise=True)
    for name, compared in _COMPARED:
        yield Case(name, (getattr(torch, name), compared), each(compared), (given(*_SHAPE, low=-1, high=1, step=0.25), given(*_SHAPE, low=-1, high=1, step=0.25, seed=2)), backward=False, elementwise=True)


def activations() -> Iterator[Case]:
    """Each forward and backward."""
    for name, reference, calls in _ACTIVATIONS:
        ways = tuple(map(_on_a_copy, calls)) if torch.relu_ in calls else calls
        case = Case(name, ways, each(reference), (_ODD_SIXTEENTHS,), elementwise=True, factor=2.0)
        if name == "hardsigmoid":  # torch keeps its 1/6 in float32, whatever the type
            yield case._replace(name=name + " (constant in float32)", dtypes=("float64",), factor=1e5)
            case = case._replace(dtypes=FLOATS[1:])
        yield case
    yield Case("prelu", (functional.prelu,), _prelu, (real(3, 4, 5), real(4, seed=2)), factor=2.0)
    yield Case("glu", (functional.glu,), _glu, (real(5, 14),), factor=2.0)
    two = (real(*_SHAPE, seed=3), real(*_SHAPE, seed=4))
    yield Case("silu (gated)", (lambda x, y: functional.silu(x) * y,), each(lambda x, y: right.silu(x) * y), two, factor=4.0)


def _on_a_copy(call: Any) -> Any:
    """In place it would change a leaf."""
    return (lambda x: call(torch.clone(x))) if call is torch.relu_ else call


def _prelu(x: Grid, weight: Grid) -> Grid:
    return Grid(x.shape, [v if v > 0 else v * weight.flat[at[1]] for at, v in zip(x.indices(), x.flat)])


def _glu(x: Grid) -> Grid:
    rows, wide = x.shape[0], x.shape[1] // 2
    return Grid((rows, wide), [x[r, c] * tape.sigmoid(x[r, c + wide]) for r in range(rows) for c in range(wide)])


_ODD = (_NAN, _INF, -_INF, 1.0, -1.0, 0.0, 2.0)
# name, calls, what comes of _ODD
_SPECIAL: tuple[tuple[str, Any, tuple[float, ...]], ...] = (
    ("add", lambda x: x + x, (_NAN, _INF, -_INF, 2, -2, 0, 4)),
    ("sub", lambda x: x - x, (_NAN, _NAN, _NAN, 0, 0, 0, 0)),
    ("mul", lambda x: x * 0, (_NAN, _NAN, _NAN, 0, 0, 0, 0)),
    ("div", lambda x: x / x, (_NAN, _NAN, _NAN, 1, 1, _NAN, 1)),
    ("exp", torch.exp, (_NAN, _INF, 0, math.e, 1 / math.e, 1, math.e**2)),
    ("log", torch.log, (_NAN, _INF, _NAN, 0, _NAN, -_INF, math.log(2))),
    ("sqrt", torch.sqrt, (_NAN, _INF, _NAN, 1, _NAN, 0, math.sqrt(2))),
    ("relu", functional.relu, (_NAN, _INF, 0, 1, 0, 0, 2)),
    ("abs", torch.abs, (_NAN, _INF, _INF, 1, 1, 0, 2)),
    ("tanh", torch.tanh, (_NAN, 1, -1, math.tanh(1), -math.tanh(1), 0, math.tanh(2))),
    ("sigmoid", torch.sigmoid, (_NAN, 1, 0, 1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.5, 1 / (1 + math.exp(-2)))),
    ("clamp", lambda x: torch.clamp(x, -1, 1), (_NAN, 1, -1, 1, -1, 0, 1)),
    ("maximum", lambda x: torch.maximum(x, torch.zeros_like(x)), (_NAN, _INF, 0, 1, 0, 0, 2)),
    ("minimum", lambda x: torch.minimum(x, torch.zeros_like(x)), (_NAN, 0, -_INF, 0, -1, 0, 0)),
    ("isnan", torch.isnan, (1, 0, 0, 0, 0, 0, 0)),
    ("isinf", torch.isinf, (0, 1, 1, 0, 0, 0, 0)),
    ("isfinite", torch.isfinite, (0, 0, 0, 1, 1, 1, 1)),
    ("nan_to_num", lambda x: torch.nan_to_num(x, 5, 6, 7), (5, 6, 7, 1, -1, 0, 2)),
    ("where", lambda x: torch.where(x == x, x, x), _ODD),
    ("cumsum", lambda x: torch.cumsum(x, -1), (_NAN,) * 7),
    ("eq", lambda x: x == x, (0, 1, 1, 1, 1, 1, 1)),
    ("round", torch.round, _ODD),
)
# the same of a whole row
_OF_ROWS: tuple[tuple[str, Any, float], ...] = (
    ("max", torch.max, _NAN),
    ("min", torch.min, _NAN),
    ("amax", torch.amax, _NAN),
    ("amin", torch.amin, _NAN),
    ("sum", torch.sum, _NAN),
    ("mean", torch.mean, _NAN),
    ("prod", torch.prod, _NAN),
    ("var", torch.var, _NAN),
    ("norm", torch.norm, _NAN),
    ("logsumexp", lambda x: torch.logsumexp(x, 0), _NAN),
    ("nansum", torch.nansum, 2.0),
    ("argmax", torch.argmax, 3.0),
    ("argmin", torch.argmin, 3.0),
)
_ROW = (1.0, 2.0, -3.0, _NAN, 2.0)


def special_values() -> Iterator[Case]:
    """NaN and infinity are kept, and come where they ought to."""
    for name, call, wanted in _SPECIAL:
        inputs = (literal(_ODD, kind="given"),)
        yield Case(name + " of NaN and infinity", (call,), always(Grid((7,), wanted)), inputs, backward=False, elementwise=True, factor=2.0)
    for name, call, wanted_number in _OF_ROWS:
        yield Case(name + " of a row with NaN", (call,), always(Grid((), [wanted_number])), (literal(_ROW, kind="given"),), backward=False)
    for name, call in (("softmax", functional.softmax), ("log_softmax", functional.log_softmax)):
        flat = [_NAN if row == 1 else 1 / 3 if name == "softmax" else -math.log(3) for row in range(3) for _ in range(3)]
        inputs = (literal([2.0, 2, 2, 1, _NAN, 3, -7, -7, -7], (3, 3), "given"),)
        yield Case(name + " of a row with NaN", (lambda x, c=call: c(x, -1),), always(Grid((3, 3), flat)), inputs, backward=False)
    flat = [_NAN] * 2 + [3.0] * 2
    two = (literal([_NAN, 0.0, 1.0, 2.0], (2, 2), "given"), literal([1.0] * 4, (2, 2), "given"))
    yield Case("matmul with NaN", (torch.matmul,), always(Grid((2, 2), flat)), two, backward=False)


_WHOLE = ("int8", "int16", "int32", "int64", "uint8")


def integers() -> Iterator[Case]:
    """Whole numbers have one right answer, in each type."""
    for kind in _WHOLE:
        low = 0 if kind == "uint8" else -9
        first = _whole(kind, low, 9, 1)
        second = _whole(kind, 1, 9, 2)
        rows = (
            ("add", torch.add, lambda x, y: x + y),
            ("mul", torch.mul, lambda x, y: x * y),
            ("floor_divide", torch.floor_divide, lambda x, y: x // y),
            ("remainder", torch.remainder, lambda x, y: x % y),
            ("bitwise_and", torch.bitwise_and, lambda x, y: x & y),
            ("bitwise_or", torch.bitwise_or, lambda x, y: x | y),
            ("bitwise_xor", torch.bitwise_xor, lambda x, y: x ^ y),
            ("maximum", torch.maximum, max),
            ("less", torch.lt, lambda x, y: x < y),
        )
        for name, call, reference in rows:
            yield Case("integer " + name + " " + kind, (call,), each(reference), (first, second), (kind,), backward=False, elementwise=True)
        total = torch.sum, lambda x: Grid((), [sum(x.flat)])
        yield Case("integer sum " + kind, total[:1], total[1], (first,), (kind,), backward=False)
        yield Case("integer abs " + kind, (torch.abs,), each(abs), (first,), (kind,), backward=False, elementwise=True)
    yield from _converted()


def _whole(kind: str, low: int, high: int, seed: int) -> Input:
    plain_input = real(*_SHAPE, low=low, high=high, seed=seed, step=1)
    return Input(Grid(plain_input.grid.shape, list(map(int, plain_input.grid.flat))), kind)


def _converted() -> Iterator[Case]:
    """From each type to each: also a copy."""
    numbers = _whole("int32", 0, 99, 5)
    for kind in (*_WHOLE, *FLOATS):
        for target in (*_WHOLE, *FLOATS):
            call = (lambda x, t=target: x.to(getattr(torch, t)),)
            yield Case("conversion of " + kind + " to " + target, call, each(lambda x: x), (numbers._replace(kind=kind),), (kind,), backward=False, elementwise=True, result=target)
