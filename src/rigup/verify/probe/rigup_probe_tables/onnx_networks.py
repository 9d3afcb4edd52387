"""Operators of ONNX that networks are made of: products, convolutions, pools, norms, recurrent cells, attention.

Sources: https://onnx.ai/onnx/operators/ and, of the domain com.microsoft,
https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference_algebra as algebra
import rigup_probe_reference_networks as networks
from rigup_probe_grid import Grid, along, each, fromfunction, reduced, scaled, swapped
from rigup_probe_onnx_rows import op
from rigup_probe_reference import affine
from rigup_probe_rows import Row

_NEAR = (-2, 2)
_MS = "com.microsoft"
_ROWS = (((5, 7),), ((41, 13),))
_PICTURES = (((1, 2, 5, 6), (3, 2, 3, 3)), ((2, 3, 13, 14), (4, 3, 3, 3)))
_POOLED = (((1, 2, 6, 8),), ((2, 5, 16, 18),))
_SMALL = 1e-5


def products() -> Iterator[Row]:
    """Of matrices and batches."""
    two = (((3, 5), (5, 4)), ((23, 31), (31, 29)))
    yield op("MatMul", networks.matmul, (_NEAR, _NEAR), two, types="fi", factor=2.0)
    yield op("MatMul", networks.matmul, (_NEAR, _NEAR), (((2, 3, 4), (2, 4, 3)), ((13, 5, 7), (13, 7, 9))), label="of a batch", factor=2.0)
    three = (((3, 5), (5, 4), (4,)), ((23, 31), (31, 29), (29,)))
    sums = lambda x, y, b: each(lambda a, c: 0.5 * a + 2 * c)(networks.matmul(x, y), b)
    yield op("Gemm", sums, (_NEAR,) * 3, three, {"alpha": 0.5, "beta": 2.0}, factor=2.0)
    yield op("FusedGemm", lambda x, y, b: each(lambda v: max(v, 0.0))(sums(x, y, b)), (_NEAR,) * 3, three, {"alpha": 0.5, "beta": 2.0, "activation": "Relu"}, factor=2.0, domain=_MS, nan="")
    yield op("Gemm", lambda x, y: networks.matmul(swapped(x), swapped(y)), (_NEAR,) * 2, (((5, 3), (4, 5)), ((31, 23), (29, 31))), {"transA": 1, "transB": 1}, label="of transposes", factor=2.0)
    for name in ("FusedMatMul", "TransposeMatMul"):
        yield op(name, lambda x, y: scaled(networks.matmul(x, swapped(y)), 0.5), (_NEAR,) * 2, (((3, 5), (4, 5)), ((23, 31), (29, 31))), {"alpha": 0.5, "transB": 1}, factor=2.0, domain=_MS)
    yield op("Einsum", networks.matmul, (_NEAR, _NEAR), two, {"equation": "ij,jk->ik"}, types="fi", factor=2.0)
    yield op("Det", _each_matrix(algebra.determinant), (_diagonal,), (((4, 3, 3),), ((520, 2, 2),)), nan="", factor=5.0)
    yield op("Inverse", _each_matrix(algebra.inverse), (_diagonal,), (((4, 3, 3),), ((67, 3, 3),)), nan="", factor=5.0, domain=_MS)


def _diagonal(shape: Any) -> Grid:
    return fromfunction(shape, lambda at: (3 * at[0] + 5 * at[1] + 2 * at[2]) % 7 / 8 + 3 * (at[1] == at[2]))


def _each_matrix(function: Callable[[Grid], Any]) -> Callable[[Grid], Grid]:
    def called(x: Grid) -> Grid:
        size = math.prod(x.shape[1:])
        parts = [function(Grid(x.shape[1:], x.flat[at : at + size])) for at in range(0, len(x.flat), size)]
        flat = [number for part in parts for number in (part.flat if isinstance(part, Grid) else [part])]
        return Grid(x.shape if isinstance(parts[0], Grid) else x.shape[:1], flat)

    return called


def windows() -> Iterator[Row]:
    """Convolutions and pools."""
    spans = (_NEAR, _NEAR)
    for label, how, attributes in (("", {}, {}), ("with padding", {"padding": 1}, {"pads": [1] * 4}), ("with strides", {"stride": 2}, {"strides": [2, 2]}), ("dilated", {"dilation": 2}, {"dilations": [2, 2]})):
        yield op("Conv", networks.convolution(**how), spans, _PICTURES, attributes, label=label, factor=3.0)
    for name, function, label in (("FusedConv", networks.convolution(), ""), ("Conv", networks.convolution(), "with bias")):
        shapes = tuple((*shape, shape[1][:1]) for shape in _PICTURES)
        wanted = (lambda x, k, b, f=function: each(lambda v: max(v, 0.0) if v == v else v)(f(x, k, b))) if name == "FusedConv" else function
        yield op(name, wanted, (*spans, _NEAR), shapes, {"activation": "Relu"} if name == "FusedConv" else {}, label=label, factor=3.0, nan="", **({"domain": _MS} if name == "FusedConv" else {}))
    yield op("Conv", networks.convolution(groups=2), spans, (((1, 4, 5, 6), (6, 2, 3, 3)), ((2, 4, 13, 14), (6, 2, 3, 3))), {"group": 2}, label="of groups", factor=3.0)
    yield op("Conv", networks.convolution(padding=1), spans, (((1, 2, 9), (3, 2, 3)), ((2, 3, 101), (4, 3, 3))), {"pads": [1, 1]}, label="of lines", factor=3.0)
    yield op("ConvTranspose", networks.transposed_convolution(), spans, (((1, 3, 4, 5), (3, 2, 3, 3)), ((2, 3, 9, 10), (3, 4, 3, 3))), factor=3.0)
    yield op("ConvTranspose", networks.transposed_convolution(stride=2), spans, (((1, 3, 4, 5), (3, 2, 3, 3)),), {"strides": [2, 2]}, label="with strides", factor=3.0)
    mean: Callable[[Any], Any] = lambda row: math.fsum(row) / len(row)
    square = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield op("MaxPool", networks.pool(2, 2, 0, max, False), ((-9, 9),), _POOLED, square, types="fi", nan="")
    yield op("MaxPool", networks.pool(3, 1, 1, max, False), ((-9, 9),), _POOLED, {"kernel_shape": [3, 3], "pads": [1] * 4}, nan="", label="with padding")
    yield op("AveragePool", networks.pool(2, 2, 0, mean, True), ((-9, 9),), _POOLED, square)
    yield op("AveragePool", networks.pool(3, 1, 1, mean, False), ((-9, 9),), _POOLED, {"kernel_shape": [3, 3], "pads": [1] * 4}, label="with padding")
    yield op("LpPool", networks.pool(2, 2, 0, lambda row: math.sqrt(math.fsum(x * x for x in row)), True), ((-9, 9),), _POOLED, {**square, "p": 2})
    whole = (((2, 3, 4, 5),), ((4, 150, 2, 3),))
    for name, function in (("GlobalAveragePool", mean), ("GlobalMaxPool", max), ("GlobalLpPool", lambda row: math.sqrt(math.fsum(x * x for x in row)))):
        yield op(name, _kept_places(function), ((-9, 9),), whole, nan="" if "Max" in name else "all")


def _kept_places(function: Callable[[Any], Any]) -> Callable[[Grid], Grid]:
    def called(x: Grid) -> Grid:
        pooled = reduced((-1, -2), function)(x)
        return Grid((*x.shape[:2], 1, 1), pooled.flat)

    return called


def _normal(row: Any, epsilon: float = _SMALL) -> Any:
    middle = math.fsum(row) / len(row)
    below = math.sqrt(math.fsum((x - middle) ** 2 for x in row) / len(row) + epsilon)
    return [(x - middle) / below for x in row]


def _root(row: Any) -> Any:
    below = math.sqrt(math.fsum(x * x for x in row) / len(row) + _SMALL)
    return [x / below for x in row]


def norms() -> Iterator[Row]:
    """Over rows, channels and places."""
    scaled = (((5, 7), (7,), (7,)), ((41, 13), (13,), (13,)))
    spans: Any = ((-4, 4), (0.5, 2), (-1, 1))
    yield op("LayerNormalization", lambda x, s, b: affine(along(-1, _normal)(x), s, b, -1), spans, scaled, {"axis": -1}, opset=17, factor=2.0)
    plain = lambda x, s: affine(along(-1, _root)(x), s, None, -1)
    two: Any = tuple(shape[:2] for shape in scaled)
    yield op("RMSNormalization", plain, spans[:2], two, {"axis": -1, "epsilon": _SMALL}, opset=23, factor=2.0)
    yield op("SimplifiedLayerNormalization", plain, spans[:2], two, {"axis": -1, "epsilon": _SMALL}, opset=13, factor=2.0)
    skip = tuple(((1, *shape[0]), (1, *shape[0]), shape[1], shape[2]) for shape in scaled)
    yield op("SkipLayerNormalization", lambda x, y, s, b: affine(along(-1, _normal)(each(lambda p, q: p + q)(x, y)), s, b, -1), (spans[0], *spans), skip, {"epsilon": _SMALL}, domain=_MS, factor=2.0)
    yield op("SkipSimplifiedLayerNormalization", lambda x, y, s: affine(along(-1, _root)(each(lambda p, q: p + q)(x, y)), s, None, -1), (spans[0], *spans[:2]), tuple(shape[:3] for shape in skip), {"epsilon": _SMALL}, domain=_MS, factor=2.0)
    batch = (((2, 3, 4, 5), *[(3,)] * 4), ((2, 7, 9, 11), *[(7,)] * 4))
    yield op("BatchNormalization", lambda x, s, b, m, v: affine(fromfunction(x.shape, lambda at: (x[at] - m.flat[at[1]]) / math.sqrt(v.flat[at[1]] + _SMALL)), s, b, 1), (*spans, (-1, 1), (0.5, 3)), batch, opset=15, factor=2.0)
    yield op("InstanceNormalization", lambda x, s, b: affine(_by_place(x), s, b, 1), spans, tuple(shape[:3] for shape in batch), factor=3.0, nan="some")
    yield op("GroupNormalization", lambda x, s, b: affine(_by_place(x, 2), s, b, 1), spans, (((2, 4, 3, 5), (4,), (4,)), ((2, 8, 6, 7), (8,), (8,))), {"num_groups": 2}, opset=21, factor=3.0, nan="some", types="h")
    yield op("MeanVarianceNormalization", _by_place, ((-4, 4),), (((1, 3, 4, 5),), ((1, 9, 9, 11),)), {"axes": [2, 3]}, factor=5.0, nan="some", types="s")
    yield op("LRN", lambda x: fromfunction(x.shape, lambda at: x[at] / (1 + 0.5 / 3 * math.fsum(x[at[0], c, at[2], at[3]] ** 2 for c in range(max(at[1] - 1, 0), min(at[1] + 2, x.shape[1])))) ** 0.75), ((-4, 4),), (((1, 3, 4, 5),), ((1, 9, 9, 11),)), {"size": 3, "alpha": 0.5, "beta": 0.75}, nan="some")


def _by_place(x: Grid, groups: int = 0) -> Grid:
    """Normal over the places of each channel, or of each group of channels."""
    size = math.prod(x.shape[2:]) * (x.shape[1] // groups if groups else 1)
    return Grid(x.shape, [number for at in range(0, len(x.flat), size) for number in _normal(x.flat[at : at + size])])


def cells() -> Iterator[Row]:
    """Recurrent layers, whose gates stand in orders of their own."""
    size = 5
    for name, gates, order, cell, states in (("RNN", 1, (0,), networks.rnn_cell, 1), ("LSTM", 4, (0, 2, 3, 1), networks.lstm_cell, 2), ("GRU", 3, (1, 0, 2), networks.gru_cell, 1)):
        shapes = (((4, 2, 3), (1, gates * size, 3), (1, gates * size, size), (1, 2 * gates * size)), ((13, 8, 3), (1, gates * size, 3), (1, gates * size, size), (1, 2 * gates * size)))
        attributes = {"hidden_size": size, **({"linear_before_reset": 1} if name == "GRU" else {})}
        yield op(name, lambda x, w, r, b, g=gates, o=order, c=cell, n=states: _layer(x, w, r, b, o, networks.recurrent(c, g, n)), ((-1, 1),) * 4, shapes, attributes, factor=5.0, nan="", opset=14, types="h")


def _layer(x: Grid, inward: Grid, inner: Grid, bias: Grid, order: Any, layer: Any) -> Grid:
    """From the order of ONNX (input, output, forget, cell; update, reset, new) to that of the reference."""
    gates, size = len(order), inner.shape[2]

    def part(flat: Any, wide: int) -> Any:
        return [number for gate in order for number in flat[gate * size * wide : (gate + 1) * size * wide]]

    half = gates * size
    output = layer(x, Grid((half, inward.shape[2]), part(inward.flat, inward.shape[2])), Grid((half, size), part(inner.flat, size)), Grid((half,), part(bias.flat[:half], 1)), Grid((half,), part(bias.flat[half:], 1)))
    return Grid((x.shape[0], 1, x.shape[1], size), output.flat)


def attention() -> Iterator[Row]:
    """As an operator of its own; what turns positions."""
    heads = (((1, 2, 5, 4),) * 3, ((2, 3, 9, 8),) * 3)
    for label, causal in (("", 0), ("causal", 1)):
        yield op("Attention", networks.attention(bool(causal)), (_NEAR,) * 3, heads, {"is_causal": causal}, opset=23, label=label, factor=3.0, nan="some", types="h")
    yield op("MultiHeadAttention", lambda q, k, v: _whole(q, k, v, 2), (_NEAR,) * 3, (((1, 5, 8),) * 3, ((2, 9, 32),) * 3), {"num_heads": 2}, domain=_MS, factor=3.0, nan="some")
    yield op("RotaryEmbedding", _rotated, (_NEAR, _NEAR, _NEAR), (((1, 2, 3, 4), (1, 3, 2), (1, 3, 2)), ((2, 4, 9, 8), (2, 9, 4), (2, 9, 4))), opset=23)


def _whole(query: Grid, key: Grid, value: Grid, heads: int) -> Grid:
    size = query.shape[2] // heads
    split = lambda x: fromfunction((x.shape[0], heads, x.shape[1], size), lambda at: x[at[0], at[2], at[1] * size + at[3]])
    mixed = networks.attention()(split(query), split(key), split(value))
    return fromfunction(query.shape, lambda at: mixed[at[0], at[2] // size, at[1], at[2] % size])


def _rotated(x: Grid, cosine: Grid, sine: Grid) -> Grid:
    half = x.shape[3] // 2

    def rotated_at(at: Any) -> float:
        spot = (at[0], at[2], at[3] % half)
        other = x[(*at[:3], (at[3] + half) % (2 * half))]
        return x[at] * cosine[spot] + (other if at[3] >= half else -other) * sine[spot]

    return fromfunction(x.shape, rotated_at)


TABLES = (products, windows, norms, cells, attention)
