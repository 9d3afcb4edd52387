"""Operators of ONNX on bytes: to them and back, and what is done with them.

Sources: https://onnx.ai/onnx/operators/ and, of the domain com.microsoft,
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import numpy as np
import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, each, scaled
from rigup_probe_onnx_rows import op
from rigup_probe_rows import Row

_NEAR = (-2, 2)
_MS = "com.microsoft"


def _bytes(shape: Any) -> Grid:
    return Grid(shape, [(n * 37 + 11) % 256 for n in range(math.prod(shape))])


def _signed(shape: Any) -> Grid:
    return Grid(shape, [(n * 29 + 7) % 256 - 128 for n in range(math.prod(shape))])


def quantised() -> Iterator[Row]:
    """To bytes and back, and what is done with them."""
    for kind, low, span, zero in (("uint8", 0, _bytes, 128), ("int8", -128, _signed, 3)):
        held = [np.array(zero, kind)]
        yield op("QuantizeLinear", lambda x, z=zero, lo=low: each(lambda v: min(max(round(v * 16) + z, lo), lo + 255))(x), ((-9, 9),), (((3, 5),), ((23, 29),)), held=[0.0625, *held], out=[kind], nan="", opset=21, label=kind, types="s")
        yield op("DequantizeLinear", lambda x, z=zero: each(lambda v: (v - z) / 16)(x), (span,), (((3, 5),), ((23, 29),)), held=[0.0625, *held], kinds={0: kind}, opset=21, nan="", label=kind, types="s")
        matrices = (((3, 5), (5, 4)), ((23, 31), (31, 29)))
        product = lambda x, y, z=zero: networks.matmul(each(lambda v: v - z)(x), each(lambda v: v - 3)(y))
        yield op("MatMulInteger", lambda x, y, f=product: _rounded(f(x, y)), (span, _signed), matrices, held=[*held, np.array(3, "int8")], kinds={0: kind, 1: "int8"}, out=["int32"], nan="", label=kind, types="s")
        pictures = (((1, 2, 5, 6), (3, 2, 3, 3)), ((1, 3, 16, 17), (4, 3, 3, 3)))
        convolved = lambda x, k, z=zero: networks.convolution()(each(lambda v: v - z)(x), each(lambda v: v - 3)(k))
        if kind == "uint8":
            yield op("ConvInteger", lambda x, k, f=convolved: _rounded(f(x, k)), (span, _bytes), pictures, held=[*held, np.array(3, kind)], kinds={0: kind, 1: kind}, out=["int32"], nan="", label=kind, types="s")
        yield from _to_bytes(kind, low, span, zero, product, convolved, matrices, pictures)
    yield op("DynamicQuantizeLinear", _by_range, ((-9, 9),), (((3, 5),), ((23, 29),)), out=["uint8", "float32", "uint8"], nan="", types="s")
    yield op("DynamicQuantizeMatMul", lambda x, y: networks.matmul(x, scaled(y, 0.25)), (_NEAR, _signed), (((3, 5), (5, 4)), ((23, 31), (31, 29))), held=[np.array(0.25, "float32")], kinds={1: "int8"}, domain=_MS, nan="", factor=3e2, label="roughly", types="s")
    yield op(
        "MatMulIntegerToFloat",
        lambda x, y: scaled(networks.matmul(each(lambda v: v - 128)(x), y), 0.125),
        (_bytes, _signed),
        (((3, 5), (5, 4)), ((23, 31), (31, 29))),
        held=[np.array(0.5, "float32"), np.array(0.25, "float32"), np.array(128, "uint8")],
        kinds={0: "uint8", 1: "int8"},
        domain=_MS,
        nan="",
        types="s",
        out=["float32"],
    )


def _rounded(x: Grid) -> Grid:
    return Grid(x.shape, [round(number) for number in x.flat])


def _to_bytes(kind: str, low: int, span: Any, zero: int, product: Any, convolved: Any, matrices: Any, pictures: Any) -> Iterator[Row]:
    """What gives bytes: by scales that are powers of two and leave no halves, so that there is one right answer."""

    def cut(x: Grid, share: float) -> Grid:
        return Grid(x.shape, [min(max(round(number * share + zero), low), low + 255) for number in x.flat])

    def scale(*numbers: float) -> list[Any]:
        return [np.array(number, "float32") for number in numbers]

    mine, theirs = np.array(zero, kind), np.array(3, kind)
    other = _signed if kind == "int8" else _bytes
    share = 0.5 * 0.25 / 512.3
    first_scale, two, three = scale(0.5, 0.25, 512.3)
    pairs = [("QLinearMatMul", product, matrices, theirs), ("QLinearConv", convolved, pictures, theirs)]
    if kind == "int8":  # whose weights have no zero but zero
        pairs[1] = ("QLinearConv", lambda x, k: networks.convolution()(each(lambda v: v - zero)(x), k), pictures, np.array(0, kind))
    for name, wanted, shapes, least in pairs:
        # a, scale, zero, b, scale, zero, scale, zero: the second matrix is part of the model
        yield op(
            name,
            lambda x, f=wanted, w=other, s=shapes[-1][1]: cut(f(x, w(s)), share),
            (span,),
            tuple((pair[0],) for pair in shapes[-1:]),
            held=[first_scale, mine, np.array(other(shapes[-1][1]).flat, str(theirs.dtype)).reshape(shapes[-1][1]), two, least, three, mine],
            kinds={0: kind},
            out=[kind],
            nan="",
            label=kind,
            types="s",
        )
    functions: dict[str, Callable[[float], float]] = {"QLinearSigmoid": tape.sigmoid, "QLinearLeakyRelu": lambda v: v if v > 0 else 0.01 * v}
    for name, function in functions.items():
        yield op(name, lambda x, f=function: cut(each(lambda v: f((v - zero) / 32))(x), 100.3), (span,), (((3, 5),), ((23, 29),)), held=[np.array(1 / 32, "float32"), mine, np.array(1 / 100.3, "float32"), mine], kinds={0: kind}, out=[kind], nan="", domain=_MS, label=kind, types="s")


def _by_range(x: Grid) -> tuple[Grid, Grid, Grid]:
    """The least and the greatest, and zero, decide the step."""
    low, high = min(0.0, *x.flat), max(0.0, *x.flat)
    step = (high - low) / 255
    zero = round(min(max(-low / step, 0), 255))
    return Grid(x.shape, [min(max(round(v / step) + zero, 0), 255) for v in x.flat]), Grid((), [step]), Grid((), [zero])
