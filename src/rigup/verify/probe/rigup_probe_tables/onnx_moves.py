"""Operators of ONNX that move numbers: turned, joined, cut, taken from places and put there, made.

Source: https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import numpy as np
from rigup_probe_expected import fourier
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_onnx_rows import indices, op
from rigup_probe_rows import ONE, Row

_SPAN = (-9, 9)
_FEW = ONE[:2]
_TYPES = "fib"


def _move(name: str, wanted: Callable[..., Any], attributes: Any = None, shapes: Any = _FEW, **more: Any) -> Row:
    inputs = more.pop("inputs", (_SPAN,) * len(shapes[0]))
    return op(name, wanted, inputs, shapes, attributes, **{"types": _TYPES, **more})


def _whole(*numbers: int) -> Any:
    return np.array(numbers, "int64")


def turns() -> Iterator[Row]:
    """One array in another order or shape, or several as one."""
    both = (((3, 5),) * 2, ((23, 29),) * 2)
    yield _move("Transpose", lambda x: fromfunction(x.shape[::-1], lambda at: x[at[::-1]]), {"perm": [1, 0]})
    yield _move("Transpose", lambda x: fromfunction((x.shape[0], x.shape[2], x.shape[1]), lambda at: x[at[0], at[2], at[1]]), {"perm": [0, 2, 1]}, (((2, 3, 4),), ((7, 9, 11),)), label="of a batch")
    yield _move("Reshape", lambda x: Grid((len(x.flat),), x.flat), held=[_whole(-1)], opset=14)
    yield _move("Flatten", lambda x: Grid((1, len(x.flat)), x.flat), {"axis": 0})
    yield _move("Squeeze", lambda x: Grid(x.shape[1:], x.flat), held=[_whole(0)], shapes=(((1, 9),), ((1, 523),)))
    yield _move("Unsqueeze", lambda x: Grid((1, *x.shape), x.flat), held=[_whole(0)])
    yield _move("Concat", lambda x, y: Grid((2 * x.shape[0], x.shape[1]), x.flat + y.flat), {"axis": 0}, both)
    yield _move("Concat", lambda x, y: fromfunction((x.shape[0], 2 * x.shape[1]), lambda at: (x, y)[at[1] // x.shape[1]][at[0], at[1] % x.shape[1]]), {"axis": 1}, both, label="of columns")
    yield _move("Split", lambda x: (_cut(x, 0, 2), _cut(x, 2, x.shape[1])), {"axis": 1}, (((3, 5),), ((261, 5),)), held=[_whole(2, 3)], out=[None, None])
    yield _move("Slice", lambda x: fromfunction((x.shape[0] - 1, (x.shape[1] - 1) // 2), lambda at: x[at[0] + 1, 1 + 2 * at[1]]), shapes=(((3, 5),), ((51, 29),)), held=[_whole(1, 1), _whole(9999, 9999), _whole(0, 1), _whole(1, 2)])
    yield _move("Slice", lambda x: fromfunction(x.shape, lambda at: x[at[0], x.shape[1] - 1 - at[1]]), held=[_whole(-1), _whole(-9999), _whole(1), _whole(-1)], label="backwards")
    yield _move("Expand", lambda x: fromfunction((4, *x.shape), lambda at: x[at[1:]]), held=[_whole(4, 1, 1)])
    yield _move("Tile", lambda x: fromfunction((2 * x.shape[0], 3 * x.shape[1]), lambda at: x[at[0] % x.shape[0], at[1] % x.shape[1]]), held=[_whole(2, 3)])
    yield _move("Pad", lambda x: fromfunction((x.shape[0] + 1, x.shape[1] + 2), lambda at: x[at[0], at[1] - 1] if at[0] < x.shape[0] and 1 <= at[1] <= x.shape[1] else 1), held=[_whole(0, 1, 1, 1), 1])
    yield _move("Pad", lambda x: fromfunction((x.shape[0], x.shape[1] + 2), lambda at: x[at[0], min(max(at[1] - 1, 0), x.shape[1] - 1)]), {"mode": "edge"}, held=[_whole(0, 1, 0, 1)], label="with the edge")
    yield _move("Pad", lambda x: fromfunction((x.shape[0], x.shape[1] + 2), lambda at: x[at[0], _mirrored(at[1] - 1, x.shape[1])]), {"mode": "reflect"}, held=[_whole(0, 1, 0, 1)], label="mirrored")
    yield _move("Trilu", lambda x: fromfunction(x.shape, lambda at: x[at] if at[1] <= at[0] else 0), {"upper": 0}, opset=14)
    yield _move("Trilu", lambda x: fromfunction(x.shape, lambda at: x[at] if at[1] >= at[0] else 0), {"upper": 1}, opset=14, label="upper")
    yield _move("DepthToSpace", _to_space, {"blocksize": 2}, (((1, 4, 2, 3),), ((2, 8, 5, 9),)))
    yield _move("SpaceToDepth", _to_depth, {"blocksize": 2}, (((1, 1, 4, 6),), ((2, 2, 10, 18),)))
    yield _move("ReverseSequence", lambda x: fromfunction(x.shape, lambda at: x[at[0], 2 - at[1] if at[1] < 3 else at[1]]), {"batch_axis": 0, "time_axis": 1}, (((3, 5),), ((3, 201),)), held=[_whole(3, 3, 3)])
    yield _move("CenterCropPad", lambda x: fromfunction((x.shape[0], x.shape[1] - 2), lambda at: x[at[0], at[1] + 1]), {"axes": [1]}, (((3, 5),), ((90, 5),)), held=[_whole(3)], opset=18)
    for name, mode in (("Resize", {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}), ("Upsample", {"mode": "nearest"})):
        held = [None, np.array([1, 1, 2, 2], "float32")][name == "Upsample" :]
        yield _move(name, lambda x: fromfunction((*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3]), lambda at: x[at[0], at[1], at[2] // 2, at[3] // 2]), mode, (((1, 1, 3, 4),), ((1, 2, 12, 13),)), held=held, opset=9 if name == "Upsample" else 13)
    yield op("Resize", _halfway, (_SPAN,), (((1, 1, 3, 4),),), {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, held=[None, None, _whole(1, 1, 5, 7)], label="by lines", nan="")


def pictures() -> Iterator[Row]:
    """Of pictures, and what is made of a length."""
    flat = (((1, 2, 5, 6),), ((1, 3, 15, 16),))
    yield op("Crop", lambda x: fromfunction((*x.shape[:2], x.shape[2] - 2, x.shape[3] - 2), lambda at: x[at[0], at[1], at[2] + 1, at[3] + 1]), (_SPAN,), flat, {"border": [1, 1, 1, 1]}, opset=1, types="s")
    yield op("Scale", lambda x: Grid(x.shape, [2.5 * v for v in x.flat]), (_SPAN,), flat, {"scale": 2.5}, opset=1, types="s")
    yield op("ImageScaler", lambda x: Grid(x.shape, [2.5 * number for number in x.flat]), (_SPAN,), (((1, 3, 4, 5),), ((1, 3, 13, 14),)), {"scale": 2.5, "bias": [0.0, 0.0, 0.0]}, opset=1, types="s")
    yield op("MaxUnpool", _spread, (_SPAN, _corners), (((1, 1, 2, 3),) * 2, ((1, 1, 13, 12),) * 2), {"kernel_shape": [2, 2], "strides": [2, 2]}, kinds={1: "int64"}, types="fi")
    yield op("Col2Im", lambda x: Grid((1, 1, 2, x.shape[2] * 2), [x[0, 2 * r + c % 2, c // 2] for r in range(2) for c in range(x.shape[2] * 2)]), (_SPAN,), (((1, 4, 150),),), held=[_whole(2, 300), _whole(2, 2)], attributes={"strides": [2, 2]}, opset=18, nan="")
    yield op("AffineGrid", lambda x: fromfunction((1, 20, 20, 2), lambda at: sum(x[0, at[3], k] * ((2 * at[2 - k] + 1) / 20 - 1) for k in range(2)) + x[0, at[3], 2]), (_SPAN,), (((1, 2, 3),),), held=[_whole(1, 1, 20, 20)], opset=20, nan="", types="s")
    yield op("GridSample", lambda x, g: x, (_SPAN, _itself), (((1, 1, 5, 6), (1, 5, 6, 2)), ((1, 1, 23, 24), (1, 23, 24, 2))), {"mode": "nearest"}, opset=16, types="s")
    shares: dict[str, Any] = {"HannWindow": lambda t: 0.5 - 0.5 * math.cos(t), "HammingWindow": lambda t: 25 / 46 - 21 / 46 * math.cos(t), "BlackmanWindow": lambda t: 0.42 - 0.5 * math.cos(t) + 0.08 * math.cos(2 * t)}
    for name, share in shares.items():
        yield op(name, lambda n, f=share: Grid((n.flat[0],), [f(2 * math.pi * at / n.flat[0]) for at in range(n.flat[0])]), (lambda _s: Grid((), [600]),), (((),),), kinds={0: "int64"}, out=["float32"], opset=17, nan="", types="s")
    yield op("DFT", _transformed, ((-2, 2),), (((1, 8, 1),), ((1, 300, 1),)), {"axis": 1}, opset=17, nan="some", factor=5.0, types="s")


def _corners(shape: Any) -> Grid:
    """Each in a corner of its square of four."""
    wide = shape[3]
    return Grid(shape, [(n // wide * 2 + n % 2) * 2 * wide + n % wide * 2 + n % 3 % 2 for n in range(math.prod(shape))])


def _spread(x: Grid, spots: Grid) -> Grid:
    unpooled = Grid((1, 1, 2 * x.shape[2], 2 * x.shape[3]), [0] * (4 * len(x.flat)))
    for number, spot in zip(x.flat, spots.flat):
        unpooled.flat[int(spot)] = number
    return unpooled


def _itself(shape: Any) -> Grid:
    """Each place's own coordinates."""
    return fromfunction(shape, lambda at: (2 * at[2] + 1) / shape[2] - 1 if at[3] == 0 else (2 * at[1] + 1) / shape[1] - 1)


def _transformed(x: Grid) -> Grid:
    spectrum = fourier(x.flat)
    return Grid((1, len(spectrum), 2), [part for coefficient in spectrum for part in (coefficient.real, coefficient.imag)])


def _halfway(x: Grid) -> Grid:
    """Between each two a third, which is their mean."""

    def mean_at(at: Any) -> float:
        rows = [at[2] // 2, -(-at[2] // 2)]
        columns = [at[3] // 2, -(-at[3] // 2)]
        return sum(x[at[0], at[1], r, c] for r in rows for c in columns) / 4

    return fromfunction((*x.shape[:2], 2 * x.shape[2] - 1, 2 * x.shape[3] - 1), mean_at)


def _cut(x: Grid, first: int, last: int) -> Grid:
    return fromfunction((x.shape[0], last - first), lambda at: x[at[0], at[1] + first])


def _mirrored(at: int, size: int) -> int:
    return -at if at < 0 else 2 * size - 2 - at if at >= size else at


def _to_space(x: Grid) -> Grid:
    deep = x.shape[1] // 4
    return fromfunction((x.shape[0], deep, 2 * x.shape[2], 2 * x.shape[3]), lambda at: x[at[0], (at[2] % 2 * 2 + at[3] % 2) * deep + at[1], at[2] // 2, at[3] // 2])


def _to_depth(x: Grid) -> Grid:
    deep = x.shape[1]
    return fromfunction((x.shape[0], 4 * deep, x.shape[2] // 2, x.shape[3] // 2), lambda at: x[at[0], at[1] % deep, 2 * at[2] + at[1] // deep // 2, 2 * at[3] + at[1] // deep % 2])


def places() -> Iterator[Row]:
    """Taken from and put to places; what is where."""
    rows = (((7, 5), (4,)), ((7, 131), (4,)))
    yield _move("Gather", lambda x, n: fromfunction((n.shape[0], x.shape[1]), lambda at: x[n.flat[at[0]], at[1]]), {"axis": 0}, rows, inputs=(_SPAN, indices(7)), kinds={1: "int64"})
    yield _move("Gather", lambda x, n: fromfunction((x.shape[0], n.shape[0]), lambda at: x[at[0], n.flat[at[1]]]), {"axis": 1}, (((7, 5), (4,)), ((131, 7), (4,))), inputs=(_SPAN, indices(5)), kinds={1: "int32"}, label="of columns")
    yield _move("GatherElements", lambda x, n: fromfunction(n.shape, lambda at: x[n[at], at[1]]), {"axis": 0}, (((7, 5), (4, 5)), ((7, 131), (4, 131))), inputs=(_SPAN, indices(7)), kinds={1: "int64"})
    yield _move("GatherND", lambda x, n: fromfunction((n.shape[0], x.shape[1]), lambda at: x[n.flat[at[0]], at[1]]), shapes=(((7, 5), (4, 1)), ((7, 131), (4, 1))), inputs=(_SPAN, indices(7)), kinds={1: "int64"})
    put = (((7, 5), (4, 5), (4, 5)), ((7, 131), (4, 131), (4, 131)))
    for name, opset in (("ScatterElements", 13), ("Scatter", 9)):
        yield _move(name, _put, {"axis": 0}, put, inputs=(_SPAN, indices(7), (-5, 5)), kinds={1: "int64"}, opset=opset)
    yield _move("ScatterElements", _added, {"axis": 0, "reduction": "add"}, put, inputs=((-2, 2), indices(3), (-2, 2)), kinds={1: "int64"}, opset=16, label="added", types="f")
    yield _move("ScatterND", lambda x, n, u: fromfunction(x.shape, lambda at: u[n.flat.index(at[0]), at[1]] if at[0] in n.flat else x[at]), shapes=(((7, 5), (4, 1), (4, 5)), ((7, 131), (4, 1), (4, 131))), inputs=(_SPAN, indices(7), (-5, 5)), kinds={1: "int64"})
    yield _move("Compress", lambda x: fromfunction(((x.shape[0] + 1) // 2, x.shape[1]), lambda at: x[2 * at[0], at[1]]), {"axis": 0}, (((3, 5),), ((3, 301),)), held=[np.array([True, False, True])])
    spots = (-0.25, 0.25)
    yield op("NonZero", _found, (spots,), (((3, 5),), ((23, 29),)), types="fib", out=["int64"])
    yield op("Unique", lambda x: Grid((len(set(x.flat)),), sorted(set(x.flat))), ((-30, 30),), (((15,),), ((900,),)), {"sorted": 1}, types="fi", nan="")
    yield op("OneHot", lambda n: fromfunction((len(n.flat), 30), lambda at: 3 if n.flat[at[0]] == at[1] else 1), (indices(30),), (((9,),), ((31,),)), held=[np.array(30), [1, 3]], kinds={0: "int64"}, types="fi", nan="", out=None)
    yield op("EyeLike", lambda x: fromfunction(x.shape, lambda at: int(at[1] == at[0] + 1)), (_SPAN,), _FEW, {"k": 1}, types="fi", nan="")
    yield op("Shape", lambda x: Grid((len(x.shape),), list(x.shape)), (_SPAN,), _FEW, types="fi", out=["int64"], nan="")
    yield op("Size", lambda x: Grid((), [len(x.flat)]), (_SPAN,), _FEW, types="fi", out=["int64"], nan="")
    for kind in ("float32", "float64", "float16", "int64", "int32", "int8", "bool"):
        yield op("ConstantOfShape", lambda n: fromfunction([int(x) for x in n.flat], lambda _at: 1), (lambda _s: Grid((2,), [23, 29]),), (((2,),), ((2,),)), {"value": np.ones(1, kind)}, kinds={0: "int64"}, out=[kind], types="f", nan="", label=kind)
    yield op("Range", lambda: Grid((600,), [3 + 2 * at for at in range(600)]), (), ((),), held=[3, 1203, 2], types="fi", nan="")
    yield op("NonMaxSuppression", _suppressed, (_boxes, lambda s: Grid(s, [(n * 7 % 19 + 1) / 20 for n in range(math.prod(s))])), (((1, 6, 4), (1, 1, 6)), ((1, 18, 4), (1, 1, 18))), held=[np.array([99]), np.array([0.4], "float32"), np.array([0.1], "float32")], types="f", out=["int64"], nan="")


def _put(x: Grid, n: Grid, u: Grid) -> Grid:
    output = Grid(x.shape, x.flat)
    for at in n.indices():
        output.flat[output.place((n[at], at[1]))] = u[at]
    return output


def _added(x: Grid, n: Grid, u: Grid) -> Grid:
    output = Grid(x.shape, x.flat)
    for at in n.indices():
        output.flat[output.place((n[at], at[1]))] += u[at]
    return output


def _found(x: Grid) -> Grid:
    spots = [index for index, number in zip(x.indices(), x.flat) if number]
    return fromfunction((len(x.shape), len(spots)), lambda at: spots[at[1]][at[0]])


def _boxes(shape: Any) -> Grid:
    """Pairs that overlap by more than a half, apart from each other: top, left, bottom, right."""
    return Grid(shape, [x for n in range(shape[1]) for x in (0, 3 * (n // 2) + n % 2 / 4, 1, 3 * (n // 2) + n % 2 / 4 + 2)])


def _suppressed(boxes: Grid, scores: Grid) -> Grid:
    kept: list[int] = []
    for box in sorted(range(boxes.shape[1]), key=lambda at: -scores.flat[at]):
        if scores.flat[box] > 0.1 and not any(box // 2 == other // 2 for other in kept):
            kept.append(box)
    return Grid((len(kept), 3), [x for box in kept for x in (0, 0, box)])
