"""Operators of ONNX on single numbers, on rows and windows of them.

Sources: https://onnx.ai/onnx/operators/ and, of the domain com.microsoft,
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import numpy as np
import rigup_probe_reference as reference
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, along, each, reduced
from rigup_probe_onnx_rows import op
from rigup_probe_rows import FIRST, LAST, ONE, TWO, Row

from rigup_probe_tables.rows_elements import odd
from rigup_probe_tables.rows_lanes import odd as odd_row
from rigup_probe_tables.rows_lanes import place

_MS = "com.microsoft"
_INF = math.inf
_ROWS = (((5, 7),), ((41, 13),))
_OF_ONE: dict[str, tuple[Any, Any, Any, Any]] = {  # what it gives, from where to where, attributes
    "Abs": (abs, -9, 9, {}),
    "Acos": (math.acos, -0.875, 0.875, {}),
    "Acosh": (math.acosh, 1, 9, {}),
    "Asin": (math.asin, -0.875, 0.875, {}),
    "Asinh": (math.asinh, -5, 5, {}),
    "Atan": (math.atan, -5, 5, {}),
    "Atanh": (math.atanh, -0.875, 0.875, {}),
    "Ceil": (math.ceil, -9, 9, {}),
    "Celu": (lambda x: max(x, 0.0) + min(0.0, 2 * math.expm1(x / 2)), -4, 4, {"alpha": 2.0}),
    "Cos": (math.cos, -6, 6, {}),
    "Cosh": (math.cosh, -3, 3, {}),
    "Elu": (lambda x: x if x > 0 else 0.5 * math.expm1(x), -4, 4, {"alpha": 0.5}),
    "Erf": (math.erf, -3, 3, {}),
    "Exp": (math.exp, -4, 4, {}),
    "Floor": (math.floor, -9, 9, {}),
    "Identity": (lambda x: x, -9, 9, {}),
    "HardSigmoid": (lambda x: min(max(0.25 * x + 0.5, 0.0), 1.0), -4, 4, {"alpha": 0.25}),
    "LeakyRelu": (lambda x: x if x > 0 else 0.25 * x, -5, 5, {"alpha": 0.25}),
    "Log": (math.log, 0.125, 9, {}),
    "Neg": (lambda x: -x, -9, 9, {}),
    "Reciprocal": (lambda x: 1 / x, 0.5, 9, {}),
    "Relu": (lambda x: max(x, 0), -5, 5, {}),
    "Round": (round, -9, 9, {}),
    "Selu": (reference.selu, -4, 4, {}),
    "Shrink": (lambda x: x + 0.5 if x < -1.5 else x - 0.5 if x > 1.5 else 0.0, -5, 5, {"lambd": 1.5, "bias": 0.5}),
    "Sigmoid": (tape.sigmoid, -6, 6, {}),
    "Sign": (lambda x: (x > 0) - (x < 0), -5, 5, {}),
    "Sin": (math.sin, -6, 6, {}),
    "Sinh": (math.sinh, -3, 3, {}),
    "Softplus": (tape.softplus, -6, 6, {}),
    "Softsign": (reference.softsign, -5, 5, {}),
    "Sqrt": (math.sqrt, 0, 9, {}),
    "Tan": (math.tan, -1.25, 1.25, {}),
    "Tanh": (math.tanh, -3, 3, {}),
    "ThresholdedRelu": (lambda x: x if x > 1.5 else 0.0, -5, 5, {"alpha": 1.5}),
    "Dropout": (lambda x: x, -9, 9, {}),
    "ScaledTanh": (lambda x: 2 * math.tanh(x / 2), -3, 3, {"alpha": 2.0, "beta": 0.5}),
    "ParametricSoftplus": (lambda x: 2 * tape.softplus(x / 2), -3, 3, {"alpha": 2.0, "beta": 0.5}),
    "Affine": (lambda x: 2 * x + 0.5, -3, 3, {"alpha": 2.0, "beta": 0.5}),
}
_LATER: dict[str, tuple[Any, Any, Any, int]] = {"HardSwish": (reference.hardswish, -5, 5, 14), "Mish": (reference.mish, -5, 5, 18), "Gelu": (reference.gelu, -4, 4, 20), "Swish": (reference.silu, -5, 5, 24)}
_OF_TWO: dict[str, tuple[Any, Any, Any, str]] = {
    "Add": (lambda x, y: x + y, (-9, 9), (-9, 9), "fi"),
    "Sub": (lambda x, y: x - y, (-9, 9), (-9, 9), "fi"),
    "Mul": (lambda x, y: x * y, (-3, 3), (-3, 3), "fi"),
    "Div": (lambda x, y: x / y, (-9, 9), (0.5, 3), "f"),
    "Pow": (lambda x, y: x**y, (0.5, 2), (-2, 2), "f"),
    "Max": (odd(max), (-9, 9), (-7.5, 9), "fi"),
    "Min": (odd(min), (-9, 9), (-7.5, 9), "fi"),
    "Mean": (lambda x, y: (x + y) / 2, (-9, 9), (-9, 9), "f"),
    "Sum": (lambda x, y: x + y, (-9, 9), (-9, 9), "f"),
    "PRelu": (lambda x, y: x * y if x < 0 else x, (-9, 9), (0.25, 2), "fi"),
}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {"Equal": lambda x, y: x == y, "Greater": lambda x, y: x > y, "Less": lambda x, y: x < y, "GreaterOrEqual": lambda x, y: x >= y, "LessOrEqual": lambda x, y: x <= y}
_LOGICAL: dict[str, Callable[[Any, Any], bool]] = {"And": lambda x, y: x and y, "Or": lambda x, y: x or y, "Xor": lambda x, y: x != y}
_BITS: dict[str, Callable[[int, int], int]] = {"BitwiseAnd": lambda x, y: x & y, "BitwiseOr": lambda x, y: x | y, "BitwiseXor": lambda x, y: x ^ y}
_REDUCED: dict[str, tuple[Any, Any, str]] = {
    "ReduceSum": (lambda row: sum(row) if type(row[0]) is int else math.fsum(row), (-2, 2), "fi"),
    "ReduceMean": (lambda row: math.fsum(row) / len(row), (-4, 4), "f"),
    "ReduceMax": (odd_row(max), (-9, 9), "fi"),
    "ReduceMin": (odd_row(min), (-9, 9), "fi"),
    "ReduceProd": (math.prod, (0.5, 1.5), "f"),
    "ReduceL1": (lambda row: math.fsum(map(abs, row)), (-4, 4), "f"),
    "ReduceL2": (lambda row: math.sqrt(math.fsum(x * x for x in row)), (-4, 4), "f"),
    "ReduceSumSquare": (lambda row: math.fsum(x * x for x in row), (-4, 4), "f"),
    "ReduceLogSum": (lambda row: math.log(math.fsum(row)), (0.5, 4), "f"),
    "ReduceLogSumExp": (odd_row(reference.logsumexp), (-4, 4), "f"),
}


def _shown(shape: Any) -> Grid:
    return Grid(shape, [(1.5, _INF, -_INF, 0.0, -2.0, math.nan)[n % 6] for n in range(math.prod(shape))])


def elements() -> Iterator[Row]:
    """Of one number, and of two."""
    for name, (function, low, high, attributes) in _OF_ONE.items():
        first = name in ("ScaledTanh", "ParametricSoftplus", "Affine")
        types = "fi" if name in ("Abs", "Neg", "Relu", "Sign", "Identity") else "s" if first else "f"
        opset = {"opset": 1} if first else {"opset": 14} if name == "Relu" else {}
        # a NaN may be taken for either side of a bend; before 1.32 Erf had none
        yield op(name, each(odd(function)), ((low, high),), ONE, attributes, types=types, nan="" if name in ("Erf", "Sign", "Shrink", "ThresholdedRelu", "Relu", "HardSigmoid", "Selu", "Elu", "Celu", "LeakyRelu") else "all", **opset)
    for name, (function, low, high, opset_) in _LATER.items():
        yield op(name, each(odd(function)), ((low, high),), ONE, opset=opset_)
    for name in ("Gelu", "QuickGelu", "FastGelu"):
        function = {"Gelu": reference.gelu, "QuickGelu": lambda x: x * tape.sigmoid(1.702 * x), "FastGelu": reference.gelu_by_tanh}[name]
        yield op(name, each(odd(function)), ((-4, 4),), ONE[:2], domain=_MS, label="of " + _MS, types="f" if name == "Gelu" else "h")
    yield op("BiasGelu", each(odd(lambda v, w: reference.gelu(v + w))), ((-3, 3), (-1, 1)), (((3, 5), (5,)), ((23, 29), (29,))), domain=_MS)
    for name, truth in (("IsNaN", lambda x: x != x), ("IsInf", lambda x: abs(x) == _INF)):
        yield op(name, each(lambda x, f=truth: bool(f(x))), (_shown,), ONE, out=["bool"])
    yield op("Clip", each(odd(lambda x: min(max(x, -1), 2))), ((-4, 5),), ONE, held=[-1, 2], types="f")
    yield op("Not", each(lambda x: not x), ((-2, 2),), ONE, types="b")
    yield op("BitwiseNot", each(lambda x: ~x), ((-9, 9),), ONE, types="i", opset=18)
    for name, (double, left, right, types) in _OF_TWO.items():
        yield op(name, each(double), (left, right), TWO if name != "PRelu" else (*TWO[:2], ((4, 3), (1, 3))), types=types, opset=14 if name in ("Add", "Sub", "Mul", "Div") else 13)
    yield op("Div", each(lambda x, y: int(x / y)), ((-9, 9), (0.5, 3)), TWO, types="i", label="of whole numbers", opset=14)
    yield op("Mod", each(odd(math.fmod)), ((-9, 9), (0.75, 3)), TWO, {"fmod": 1}, types="f")
    yield op("Mod", each(lambda x, y: x % y), ((-9, 9), (0.75, 3)), TWO, types="i", label="of whole numbers")
    for name, compare in _COMPARED.items():
        yield op(name, each(lambda x, y, f=compare: bool(f(x, y))), ((-1, 1), (-0.875, 1)), TWO, types="fi", out=["bool"], opset=16)
    for name, logical in _LOGICAL.items():
        yield op(name, each(lambda x, y, f=logical: bool(f(x, y))), ((-1, 1), (-0.875, 1.5)), TWO, types="b", out=["bool"])
    for name, bits in _BITS.items():
        yield op(name, each(bits), ((0, 9), (0.25, 9)), TWO, types="i", opset=18)
    yield op("BitShift", each(lambda x, y: x << y), ((0, 3), (0.25, 0.75)), TWO, {"direction": "LEFT"}, types="i")
    yield op("Where", each(lambda c, x, y: x if c else y), (lambda s: Grid(s, [n % 3 == 1 for n in range(math.prod(s))]), (-9, 9), (-9, 9)), (((3, 5),) * 3, ((23, 29),) * 3, ((4, 1), (1, 3), (4, 3))), types="fi", kinds={0: "bool"}, opset=16)
    yield from _casts()


def _casts() -> Iterator[Row]:
    for number, kind in ((1, "float32"), (10, "float16"), (11, "float64"), (7, "int64"), (6, "int32"), (3, "int8"), (9, "bool")):
        turned = bool if kind == "bool" else (lambda x: x) if kind.startswith("float") else math.trunc
        for sort in "fi":
            yield op("Cast", each(turned), ((-9, 9),), ONE, {"to": number}, types=sort, out=[kind], label="to " + kind, nan="all" if kind.startswith("float") else "")
            if kind in ("float16", "int64"):
                yield op("CastLike", each(turned), ((-9, 9),), ONE, held=[np.zeros(1, kind)], types=sort, out=[kind], label="to " + kind, nan="all" if kind.startswith("float") else "", opset=15)


def rows() -> Iterator[Row]:
    """Over one dimension: sums and their like, orders, shares."""
    for name, (function, span, types) in _REDUCED.items():
        for label, dim, shapes in (("", -1, LAST), ("down", 0, FIRST)):
            of_input = name == "ReduceSum"
            yield op(name, reduced((dim,), function), (span,), shapes, {"keepdims": 0, **({} if of_input else {"axes": [dim]})}, held=[np.array([dim])] if of_input else [], types=types, label=label, factor=3.0, nan="" if name in ("ReduceLogSumExp", "ReduceMax", "ReduceMin") else "all")
        yield op(name, reduced((), function), (span,), (((5, 7),),), {"keepdims": 0}, types=types, label="of all", factor=5.0, nan="" if "Max" in name or "Min" in name else "small")
    for name, best in (("ArgMax", max), ("ArgMin", min)):
        for label, dim, shapes in (("", -1, LAST), ("down", 0, FIRST)):
            yield op(name, reduced((dim,), place(best)), ((-9, 9),), shapes, {"axis": dim, "keepdims": 0}, types="fi", label=label, out=["int64"], nan="")
    for name, running in (("CumSum", _running_sum), ("CumProd", reference.running_product)):
        yield op(name, along(-1, running), ((0.5, 1.5),), _ROWS, held=[np.array(1)], types="fi" if name == "CumSum" else "f", factor=5.0, opset=14 if name == "CumSum" else 26)
    for label, dim in (("", -1), ("down", 0)):
        for name, share in (("Softmax", reference.softmax), ("LogSoftmax", reference.log_softmax), ("Hardmax", _hardmax)):
            yield op(name, along(dim, share), ((-6, 6),), _ROWS, {"axis": dim}, label=label, factor=2.0, nan="" if name == "Hardmax" else "some")
    for label, large in (("", 1), ("of the least", 0)):
        yield op("TopK", lambda x, up=large: _best(x, up), ((-9, 9),), (((5, 7),), ((201, 13),)), {"axis": -1, "largest": large}, held=[np.array([3])], types="fi", label=label, out=[None, "int64"], nan="")
    yield op("LpNormalization", along(-1, _of_length_one), ((-4, 4),), _ROWS, {"axis": -1, "p": 2})


def _of_length_one(row: Any) -> Any:
    size = math.sqrt(math.fsum(x * x for x in row))
    return [x / size for x in row]


def _running_sum(row: Any) -> Any:
    return [sum(row[: at + 1]) for at in range(len(row))]


def _hardmax(row: Any) -> Any:
    best = row.index(max(row))
    return [float(at == best) for at in range(len(row))]


def _best(x: Grid, large: int) -> tuple[Grid, Grid]:
    wide = x.shape[1]
    rows_ = [x.flat[at : at + wide] for at in range(0, len(x.flat), wide)]
    places = [sorted(range(wide), key=lambda at, row=row: (-row[at] if large else row[at], at))[:3] for row in rows_]
    return Grid((x.shape[0], 3), [row[at] for row, order in zip(rows_, places) for at in order]), Grid((x.shape[0], 3), [at for spots in places for at in spots])
