"""Interpolation, grids that are sampled, and what is folded and unfolded."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterator

import rigup_probe_tape as tape
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, Input, real
from torch import nn
from torch.nn import functional

_TWO = ("float64", "float32")


Index = Any


def _read(x: Grid, i: Index, s: int, p: int, d: int, outs: Any) -> Any:
    channel, part = divmod(i[1], 4)
    row, column = divmod(i[2], outs[1])
    source = (i[0], channel, row * s - p + part // 2 * d, column * s - p + part % 2 * d)
    return x[source] if x.has(source) else 0.0


def _folded(x: Grid, s: int, p: int, d: int, outs: Any) -> Grid:
    sums: dict[Any, Any] = {}
    for number, channel, part, row, column in itertools.product(range(2), range(2), range(4), range(outs[0]), range(outs[1])):
        at = (number, channel, row * s - p + part // 2 * d, column * s - p + part % 2 * d)
        sums[at] = sums.get(at, 0.0) + x[number, channel * 4 + part, row * outs[1] + column]
    return fromfunction((2, 2, 5, 4), lambda i: sums.get(i, 0.0))


def _cubic(t: float) -> float:
    """Keys' kernel with a = -0.75."""
    a, t = -0.75, abs(t)
    return (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def _weights(mode: str, corners: bool, factor: float = 0.0) -> Callable[[int, int, int], list[tuple[int, float]]]:
    def weights_at(at: int, n: int, out: int) -> list[tuple[int, float]]:
        step = 1 / factor if factor else n / out
        if mode == "nearest":
            return [(min(int(at * step), n - 1), 1.0)]
        if mode == "nearest-exact":
            return [(min(int((at + 0.5) * step), n - 1), 1.0)]
        if mode == "area":
            several = range(at * n // out, -(-(at + 1) * n // out))
            return [(place, 1 / len(several)) for place in several]
        place = at * (n - 1) / (out - 1) if corners else (at + 0.5) * step - 0.5
        if mode == "cubic":
            low = math.floor(place)
            return [(min(max(low + k, 0), n - 1), _cubic(place - low - k)) for k in (-1, 0, 1, 2)]
        place = max(place, 0.0)
        low = min(int(place), n - 1)
        return [(low, 1 - (place - low)), (min(low + 1, n - 1), place - low)]

    return weights_at


def _resized(outs: tuple[int, ...], weights: Any) -> Callable[[Grid], Grid]:
    def called(x: Grid) -> Grid:
        def element(i: Index) -> Any:
            several = list(itertools.product(*(weights(at, n, out) for at, n, out in zip(i[2:], x.shape[2:], outs))))
            return tape.dot([x[(*i[:2], *(p for p, _w in some))] for some in several], [math.prod(w for _p, w in some) for some in several])

        return fromfunction((*x.shape[:2], *outs), element)

    return called


def sizes() -> Iterator[Case]:
    """Images made larger and smaller in every mode, by a size and by a factor; sampled at places."""
    for rank, shape, outs in ((1, (1, 2, 5), (8,)), (2, (1, 2, 4, 5), (7, 3)), (3, (1, 1, 3, 2, 4), (5, 3, 6))):
        linear = ("linear", "bilinear", "trilinear")[rank - 1]
        modes = [("nearest", False), ("nearest-exact", False), ("area", False), (linear, False), (linear, True), *([("bicubic", False), ("bicubic", True)] if rank == 2 else [])]
        for mode, corners in modes:
            kind = "cubic" if mode == "bicubic" else mode if mode in ("nearest", "nearest-exact", "area") else "linear"
            flag = {"align_corners": corners} if kind in ("linear", "cubic") else {}
            label = "interpolate (" + mode + (", align_corners" if corners else "") + ") in " + str(rank) + " dimensions"
            up = () if mode == "area" else (lambda x, o=outs, m=mode, f=flag: nn.Upsample(o, mode=m, **f)(x),)
            yield Case(label + ", Upsample", (lambda x, o=outs, m=mode, f=flag: functional.interpolate(x, o, mode=m, **f), *up), _resized(outs, _weights(kind, corners)), (real(*shape),), factor=6.0, few=True)
            by = tuple(int(n * 1.5) for n in shape[2:])
            if kind != "area" and not corners:
                yield Case(label + " by 1.5", (lambda x, m=mode, f=flag: functional.interpolate(x, scale_factor=1.5, mode=m, **f),), _resized(by, _weights(kind, False, 1.5)), (real(*shape),), factor=6.0, few=True)
                yield Case(label + " by 1.5 (recompute_scale_factor)", (lambda x, m=mode, f=flag: functional.interpolate(x, scale_factor=1.5, mode=m, recompute_scale_factor=True, **f),), _resized(by, _weights(kind, False)), (real(*shape),), _TWO, factor=6.0, few=True)
    image = real(1, 2, 4, 5)
    yield Case("UpsamplingNearest2d", (lambda x: nn.UpsamplingNearest2d(scale_factor=2)(x), lambda x: nn.UpsamplingNearest2d((8, 10))(x), lambda x: functional.upsample_nearest(x, scale_factor=2), lambda x: functional.upsample(x, scale_factor=2)), _resized((8, 10), _weights("nearest", False)), (image,), few=True)
    yield Case("UpsamplingBilinear2d", (lambda x: nn.UpsamplingBilinear2d(scale_factor=2)(x), lambda x: functional.upsample_bilinear(x, (8, 10)), lambda x: functional.upsample(x, (8, 10), mode="bilinear", align_corners=True)), _resized((8, 10), _weights("linear", True)), (image,), factor=4.0, few=True)
    yield from _antialiased()
    yield from _sampled()


def _antialiased() -> Iterator[Case]:
    """Smaller, by means as wide as the step."""

    def triangle(at: int, n: int, out: int) -> list[tuple[int, float]]:
        step = n / out
        middle = (at + 0.5) * step
        first, last = max(int(middle - step + 0.5), 0), min(int(middle + step + 0.5), n)
        shares = [max(0.0, 1 - abs((place + 0.5 - middle) / step)) for place in range(first, last)]
        return [(place, share / sum(shares)) for place, share in zip(range(first, last), shares)]

    yield Case("interpolate (bilinear, antialias)", (lambda x: functional.interpolate(x, (3, 4), mode="bilinear", antialias=True),), _resized((3, 4), triangle), (real(1, 2, 7, 9),), _TWO, factor=6.0, optional=True, few=True)


def _sampled() -> Iterator[Case]:
    """Values of an image at places between -1 and 1, and beyond."""
    image = real(1, 2, 4, 5)
    at = Input(Grid((1, 3, 2, 2), [-0.9, -0.7, 0.13, 0.61, 0.37, -0.21, 1.17, 0.33, -1.21, 0.77, 0.05, -1.13]))
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                label = "grid_sample (" + mode + ", " + padding + (", align_corners" if corners else "") + ")"
                call = lambda x, g, m=mode, p=padding, c=corners: functional.grid_sample(x, g, m, p, align_corners=c)
                inputs = (image, at if mode == "bilinear" and padding == "zeros" else at._replace(kind="given"))
                yield Case(label, (call,), lambda x, g, m=mode, p=padding, c=corners: _taken(x, g, m, p, c), inputs, _TWO, factor=40.0, few=True)
    for corners in (False, True):
        place = lambda k, n, c=corners: (2 * k + 1) / n - 1 if not c else 2 * k / (n - 1) - 1
        yield Case(
            "affine_grid" + (" (align_corners)" if corners else ""),
            (lambda t, c=corners: functional.affine_grid(t, (1, 2, 3, 4), align_corners=c),),
            lambda t, p=place: fromfunction((1, 3, 4, 2), lambda i: t[0, i[3], 0] * p(i[2], 4) + t[0, i[3], 1] * p(i[1], 3) + t[0, i[3], 2]),
            (real(1, 2, 3),),
            _TWO,
            factor=4.0,
            few=True,
        )


def _taken(x: Grid, grid: Grid, mode: str, padding: str, corners: bool) -> Grid:
    height, wide = x.shape[2:]

    def reflected(v: Any, n: int) -> Any:
        low, high = (0.0, n - 1.0) if corners else (-0.5, n - 0.5)
        while not low <= tape.plain(v) <= high:
            v = 2 * low - v if tape.plain(v) < low else 2 * high - v
        return v

    def moved(v: Any, n: int) -> Any:
        place = (v + 1.0) * ((n - 1) / 2) if corners else ((v + 1.0) * n - 1.0) * 0.5
        if mode == "bicubic" or padding == "zeros":
            return place
        return min(max(reflected(place, n) if padding == "reflection" else place, 0.0), n - 1.0)

    def pixel(b: int, c: int, row: int, column: int) -> Any:
        if padding == "border" or (padding == "reflection" and mode != "bicubic"):
            row, column = min(max(row, 0), height - 1), min(max(column, 0), wide - 1)
        elif padding == "reflection":
            row, column = (int(min(max(reflected(float(row), height), 0), height - 1)), int(min(max(reflected(float(column), wide), 0), wide - 1)))
        return x[b, c, row, column] if 0 <= row < height and 0 <= column < wide else 0.0

    def element(i: Index) -> Any:
        b, c, r, k = i
        across, down = moved(grid[b, r, k, 0], wide), moved(grid[b, r, k, 1], height)
        if mode == "nearest":
            return pixel(b, c, round(tape.plain(down)), round(tape.plain(across)))
        row, column = math.floor(tape.plain(down)), math.floor(tape.plain(across))
        near = (0, 1) if mode == "bilinear" else (-1, 0, 1, 2)
        share = (lambda v, low, k: v - low if k else 1.0 - (v - low)) if mode == "bilinear" else (lambda v, low, k: _cubic(v - low - k))
        return tape.total([pixel(b, c, row + p, column + q) * (share(down, row, p) * share(across, column, q)) for p in near for q in near])

    return fromfunction((1, 2, *grid.shape[1:3]), element)
