"""Tables of modules and of functions of layers: pools, paddings, sizes, samples, norms, activations; with all arguments."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, each, lanes, made
from rigup_probe_torch_cases import FLOATS, Case, Input, distinct, literal, real
from rigup_probe_torch_forms import with_parameters
from torch import nn
from torch.nn import functional

_TWO = ("float64", "float32")
_EPS = right.EPSILON
Index = Any


def held(module: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """A module whose parameters and buffers are the inputs after the first."""

    def called(x: Any, *told: Any) -> Any:
        made_ = module().to(x.dtype).to(x.device)
        return with_parameters(made_, dict(zip(names, told)), (x,))

    return called


def pool(
    function: Callable[[list[Any]], Any],
    size: Any,
    stride: Any,
    padding: Any = 0,
    dilation: Any = 1,
    ceil: bool = False,
    whole: bool = False,
) -> Callable[[Grid], Grid]:
    """A function of each window. `whole`: its padding counts as zeros; `ceil`: the last may reach over the border."""

    def called(x: Grid) -> Grid:
        rank = len(x.shape) - 2
        sizes, strides, paddings, dilations = (
            [one] * rank if isinstance(one, int) else list(one) for one in (size, stride, padding, dilation)
        )
        outs = []
        for n, k, s, p, d in zip(x.shape[2:], sizes, strides, paddings, dilations):
            over = n + 2 * p - d * (k - 1) - 1
            count = (-(-over // s) if ceil else over // s) + 1
            outs.append(count - 1 if ceil and (count - 1) * s >= n + p else count)

        def one(i: Index) -> Any:
            values = []
            for at in itertools.product(*map(range, sizes)):
                place = [here * s - p + off * d for here, s, p, off, d in zip(i[2:], strides, paddings, at, dilations)]
                if x.has((*i[:2], *place)):
                    values.append(x[(*i[:2], *place)])
                elif whole and all(here < n + p for here, n, p in zip(place, x.shape[2:], paddings)):
                    values.append(0.0)
            return function(values)

        return made((*x.shape[:2], *outs), one)

    return called


def adaptive(function: Callable[[list[Any]], Any], outs: tuple[int, ...]) -> Callable[[Grid], Grid]:
    """A function of parts, as many as are wanted in each dimension."""

    def called(x: Grid) -> Grid:
        parts = lambda at, n, out: range(at * n // out, -(-(at + 1) * n // out))
        return made(
            (*x.shape[:2], *outs),
            lambda i: function(
                [
                    x[(*i[:2], *place)]
                    for place in itertools.product(*(parts(at, n, out) for at, n, out in zip(i[2:], x.shape[2:], outs)))
                ]
            ),
        )

    return called


def _power(row: list[Any]) -> Any:
    total = tape.total([one * one * one for one in row])
    return tape.exp(tape.log(total) * (1 / 3))


def pools() -> Iterator[Case]:
    """Windows, with each argument, as functions and as modules."""
    for rank, shape in ((1, (2, 3, 11)), (2, (2, 3, 7, 6)), (3, (1, 2, 5, 4, 6))):
        name, x, plain = str(rank) + "d", real(*shape), distinct(*shape) if math.prod(shape) <= 250 else real(*shape)
        plain = Input(Grid(shape, [(at * 37 % 251 - 125) / 16 for at in range(math.prod(shape))]))
        top, middle = getattr(functional, "max_pool" + name), getattr(functional, "avg_pool" + name)
        top_module, middle_module = getattr(nn, "MaxPool" + name), getattr(nn, "AvgPool" + name)
        for args in (
            {"stride": 2, "ceil_mode": True},
            {"stride": 2, "padding": 1},
            {"stride": 1, "dilation": 2},
            {"stride": 2, "padding": 1, "ceil_mode": True},
            {},
        ):
            said = ", ".join(key + " " + str(one) for key, one in args.items())
            told = {"stride": 3, **args}
            reference = pool(
                right.largest,
                3 if "dilation" not in args else 2,
                told["stride"],
                told.get("padding", 0),
                told.get("dilation", 1),
                bool(told.get("ceil_mode")),
            )
            size = 3 if "dilation" not in args else 2
            yield Case(
                "max_pool" + name + " (" + said + ")",
                (
                    lambda x, c=top, s=size, a=args: c(x, s, **a),
                    lambda x, c=top_module, s=size, a=args: c(s, **a)(x),
                    lambda x, c=top, s=size, a=args: c(x, s, return_indices=True, **a)[0],
                ),
                reference,
                (plain,),
                few=bool(said) and rank > 1,
            )
        for args in (
            {"stride": 2, "ceil_mode": True},
            {"stride": 2, "padding": 1},
            {"stride": 2, "padding": 1, "count_include_pad": False},
            {"stride": 2, "padding": 1, "ceil_mode": True},
            {},
        ):
            said = ", ".join(key + " " + str(one) for key, one in args.items())
            reference = pool(
                right.mean,
                3,
                args.get("stride", 3),
                args.get("padding", 0),
                1,
                bool(args.get("ceil_mode")),
                args.get("count_include_pad", True),
            )
            yield Case(
                "avg_pool" + name + " (" + said + ")",
                (lambda x, c=middle, a=args: c(x, 3, **a), lambda x, c=middle_module, a=args: c(3, **a)(x)),
                reference,
                (x,),
                factor=2.0,
                few=bool(said) and rank > 1,
            )
        if rank > 1:
            yield Case(
                "avg_pool" + name + " (divisor_override)",
                (
                    lambda x, c=middle: c(x, 2, divisor_override=3),
                    lambda x, c=middle_module: c(2, divisor_override=3)(x),
                ),
                pool(lambda row: tape.total(row) * (1 / 3), 2, 2),
                (x,),
                factor=2.0,
            )
        outs = (3, 2, 4)[:rank]
        for kind, function, source in (("avg", right.mean, x), ("max", right.largest, plain)):
            call, module = (
                getattr(functional, "adaptive_" + kind + "_pool" + name),
                getattr(nn, "Adaptive" + kind.title() + "Pool" + name),
            )
            yield Case(
                "adaptive_" + kind + "_pool" + name + " to " + str(outs),
                (
                    lambda x, c=call, o=outs: c(x, o if len(o) > 1 else o[0]),
                    lambda x, c=module, o=outs: c(o if len(o) > 1 else o[0])(x),
                ),
                adaptive(function, outs),
                (source,),
                factor=2.0,
            )
            if rank > 1:
                yield Case(
                    "adaptive_" + kind + "_pool" + name + " (None)",
                    (lambda x, c=call, r=rank: c(x, (None, *[2] * (r - 1))),),
                    adaptive(function, (shape[2], *[2] * (rank - 1))),
                    (source,),
                    factor=2.0,
                    few=True,
                )
        power, module = getattr(functional, "lp_pool" + name, None), getattr(nn, "LPPool" + name, None)
        if power and module:
            up = real(*shape, low=0.25, high=3)
            yield Case(
                "lp_pool" + name + ", LPPool" + name,
                (lambda x, c=power: c(x, 3.0, 2), lambda x, c=module: c(3.0, 2)(x)),
                pool(_power, 2, 2),
                (up,),
                factor=40.0,
            )
            yield Case(
                "lp_pool" + name + " (stride, ceil_mode), LPPool" + name,
                (lambda x, c=power: c(x, 3.0, 2, 1, ceil_mode=True), lambda x, c=module: c(3.0, 2, 1, True)(x)),
                pool(_power, 2, 1),
                (up,),
                factor=40.0,
                few=True,
            )
        places = lambda x, s=shape: _where(x, s)
        yield Case(
            "max_pool" + name + "'s places",
            (lambda x, c=top: c(x, 2, return_indices=True)[1], lambda x, c=top_module: c(2, return_indices=True)(x)[1]),
            places,
            (plain._replace(kind="given"),),
            _TWO,
            backward=False,
            few=True,
            spreads=False,
        )
        unpool, module = getattr(functional, "max_unpool" + name), getattr(nn, "MaxUnpool" + name)
        yield Case(
            "max_unpool" + name,
            (
                lambda x, u=unpool, c=top: u(*c(x, 2, return_indices=True), 2, output_size=x.shape),
                lambda x, u=module, c=top: u(2)(*c(x, 2, return_indices=True), output_size=x.shape),
            ),
            _kept_places,
            (plain,),
            few=True,
            spreads=False,
            twice=False,
        )


def _windows(x: Grid) -> Iterator[Any]:
    """Windows of two without overlap, each with its places."""
    shape = [*x.shape[:2], *(one // 2 for one in x.shape[2:])]
    for i in itertools.product(*map(range, shape)):
        yield (
            i,
            [
                (*i[:2], *(2 * a + b for a, b in zip(i[2:], off)))
                for off in itertools.product(range(2), repeat=len(shape) - 2)
            ],
        )


def _where(x: Grid, shape: Any) -> Grid:
    steps = [math.prod(shape[at + 1 :]) for at in range(2, len(shape))]
    best = [max(several, key=lambda at: tape.plain(x[at])) for _i, several in _windows(x)]
    return Grid(
        (*shape[:2], *(one // 2 for one in shape[2:])), [sum(a * b for a, b in zip(at[2:], steps)) for at in best]
    )


def _kept_places(x: Grid) -> Grid:
    best = {max(several, key=lambda at: tape.plain(x[at])) for _i, several in _windows(x)}
    return made(x.shape, lambda i: x[i] if i in best else 0.0)


def _border(mode: str) -> Callable[[int, int], Any]:
    return {
        "constant": lambda at, size: at if 0 <= at < size else None, "reflect": lambda at, size: size - 1 - abs(size - 1 - abs(at)),
        "replicate": lambda at, size: min(max(at, 0), size - 1), "circular": lambda at, size: at % size,
    }[mode]  # fmt: skip


def _padded(mode: str, pairs: Any, value: float = 0.0) -> Callable[[Grid], Grid]:
    """`pairs`: before and after, the last dimension first."""
    find = _border(mode)

    def called(x: Grid) -> Grid:
        rank = len(x.shape)
        by = {rank - 1 - at: (pairs[2 * at], pairs[2 * at + 1]) for at in range(len(pairs) // 2)}
        shape = [n + sum(by.get(d, (0, 0))) for d, n in enumerate(x.shape)]

        def one(i: Index) -> Any:
            source = [find(at - by[d][0], x.shape[d]) if d in by else at for d, at in enumerate(i)]
            return value if None in source else x[tuple(source)]

        return made(shape, one)

    return called


def paddings() -> Iterator[Case]:
    """Each kind of border in each number of dimensions."""
    for rank, shape in ((1, (2, 3, 5)), (2, (2, 2, 4, 5)), (3, (1, 2, 3, 4, 3))):
        pairs = (2, 1, 1, 2, 1, 1)[: 2 * rank]
        for mode, word in (
            ("constant", "ConstantPad"),
            ("reflect", "ReflectionPad"),
            ("replicate", "ReplicationPad"),
            ("circular", "CircularPad"),
        ):
            value = 1.5 if mode == "constant" else 0.0
            module = getattr(nn, word + str(rank) + "d", None)
            calls = [
                lambda x, m=mode, v=value, p=pairs: (
                    functional.pad(x, p, m, v) if m == "constant" else functional.pad(x, p, m)
                )
            ]
            if module is not None:
                calls.append(lambda x, c=module, m=mode, v=value, p=pairs: c(p, v)(x) if m == "constant" else c(p)(x))
            yield Case(
                "pad (" + mode + "), " + word + str(rank) + "d",
                tuple(calls),
                _padded(mode, pairs, value),
                (real(*shape),),
                spreads=False,
            )
        zero = getattr(nn, "ZeroPad" + str(rank) + "d", None)
        if zero is not None:
            yield Case(
                "ZeroPad" + str(rank) + "d",
                (lambda x, c=zero, p=pairs: c(p)(x), lambda x, p=pairs: functional.pad(x, p)),
                _padded("constant", pairs),
                (real(*shape),),
                spreads=False,
            )
    yield Case(
        "pad by less than nothing",
        (lambda x: functional.pad(x, (-1, 2)),),
        lambda x: made((3, 6), lambda i: x[i[0], i[1] + 1] if i[1] < 4 else 0.0),
        (real(3, 5),),
        spreads=False,
    )
    for stride, padding, dilation in ((1, 0, 1), (2, 1, 1), (1, 1, 2)):
        said = " (stride " + str(stride) + ", padding " + str(padding) + ", dilation " + str(dilation) + ")"
        args = {"stride": stride, "padding": padding, "dilation": dilation}
        outs = [(n + 2 * padding - dilation - 1) // stride + 1 for n in (5, 4)]
        apart = lambda x, s=stride, p=padding, d=dilation, o=outs: made(
            (2, 12, o[0] * o[1]), lambda i: _read(x, i, s, p, d, o)
        )
        yield Case(
            "unfold" + said,
            (lambda x, a=args: functional.unfold(x, 2, **a), lambda x, a=args: nn.Unfold(2, **a)(x)),
            apart,
            (real(2, 3, 5, 4),),
            few=True,
            spreads=False,
        )
        together = lambda x, s=stride, p=padding, d=dilation, o=outs: _folded(x, s, p, d, o)
        yield Case(
            "fold" + said,
            (lambda x, a=args: functional.fold(x, (5, 4), 2, **a), lambda x, a=args: nn.Fold((5, 4), 2, **a)(x)),
            together,
            (real(2, 8, outs[0] * outs[1]),),
            factor=2.0,
            few=True,
            spreads=False,
        )


def _read(x: Grid, i: Index, s: int, p: int, d: int, outs: Any) -> Any:
    channel, part = divmod(i[1], 4)
    row, column = divmod(i[2], outs[1])
    source = (i[0], channel, row * s - p + part // 2 * d, column * s - p + part % 2 * d)
    return x[source] if x.has(source) else 0.0


def _folded(x: Grid, s: int, p: int, d: int, outs: Any) -> Grid:
    sums: dict[Any, Any] = {}
    for number, channel, part, row, column in itertools.product(
        range(2), range(2), range(4), range(outs[0]), range(outs[1])
    ):
        at = (number, channel, row * s - p + part // 2 * d, column * s - p + part % 2 * d)
        sums[at] = sums.get(at, 0.0) + x[number, channel * 4 + part, row * outs[1] + column]
    return made((2, 2, 5, 4), lambda i: sums.get(i, 0.0))


def _cubic(t: float) -> float:
    """Keys' kernel with a = -0.75."""
    a, t = -0.75, abs(t)
    return (
        (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0
    )


def _weights(mode: str, corners: bool, factor: float = 0.0) -> Callable[[int, int, int], list[tuple[int, float]]]:
    def told(at: int, n: int, out: int) -> list[tuple[int, float]]:
        step = 1 / factor if factor else n / out
        if mode == "nearest":
            return [(min(int(at * step), n - 1), 1.0)]
        if mode == "nearest-exact":
            return [(min(int((at + 0.5) * step), n - 1), 1.0)]
        if mode == "area":
            several = range(at * n // out, -(-(at + 1) * n // out))
            return [(one, 1 / len(several)) for one in several]
        place = at * (n - 1) / (out - 1) if corners else (at + 0.5) * step - 0.5
        if mode == "cubic":
            low = math.floor(place)
            return [(min(max(low + k, 0), n - 1), _cubic(place - low - k)) for k in (-1, 0, 1, 2)]
        place = max(place, 0.0)
        low = min(int(place), n - 1)
        return [(low, 1 - (place - low)), (min(low + 1, n - 1), place - low)]

    return told


def _resized(outs: tuple[int, ...], weights: Any) -> Callable[[Grid], Grid]:
    def called(x: Grid) -> Grid:
        def one(i: Index) -> Any:
            several = list(itertools.product(*(weights(at, n, out) for at, n, out in zip(i[2:], x.shape[2:], outs))))
            return tape.dot(
                [x[(*i[:2], *(p for p, _w in some))] for some in several],
                [math.prod(w for _p, w in some) for some in several],
            )

        return made((*x.shape[:2], *outs), one)

    return called


def sizes() -> Iterator[Case]:
    """Images made larger and smaller in every mode, by a size and by a factor; sampled at places."""
    for rank, shape, outs in ((1, (1, 2, 5), (8,)), (2, (1, 2, 4, 5), (7, 3)), (3, (1, 1, 3, 2, 4), (5, 3, 6))):
        linear = ("linear", "bilinear", "trilinear")[rank - 1]
        modes = [
            ("nearest", False),
            ("nearest-exact", False),
            ("area", False),
            (linear, False),
            (linear, True),
            *([("bicubic", False), ("bicubic", True)] if rank == 2 else []),
        ]
        for mode, corners in modes:
            kind = "cubic" if mode == "bicubic" else mode if mode in ("nearest", "nearest-exact", "area") else "linear"
            flag = {"align_corners": corners} if kind in ("linear", "cubic") else {}
            said = "interpolate (" + mode + (", align_corners" if corners else "") + ") in " + str(rank) + " dimensions"
            up = () if mode == "area" else (lambda x, o=outs, m=mode, f=flag: nn.Upsample(o, mode=m, **f)(x),)
            yield Case(
                said + ", Upsample",
                (lambda x, o=outs, m=mode, f=flag: functional.interpolate(x, o, mode=m, **f), *up),
                _resized(outs, _weights(kind, corners)),
                (real(*shape),),
                factor=6.0,
                few=True,
                spreads=False,
            )
            by = tuple(int(n * 1.5) for n in shape[2:])
            if kind != "area" and not corners:
                yield Case(
                    said + " by 1.5",
                    (lambda x, m=mode, f=flag: functional.interpolate(x, scale_factor=1.5, mode=m, **f),),
                    _resized(by, _weights(kind, False, 1.5)),
                    (real(*shape),),
                    factor=6.0,
                    few=True,
                    spreads=False,
                )
                yield Case(
                    said + " by 1.5 (recompute_scale_factor)",
                    (
                        lambda x, m=mode, f=flag: functional.interpolate(
                            x, scale_factor=1.5, mode=m, recompute_scale_factor=True, **f
                        ),
                    ),
                    _resized(by, _weights(kind, False)),
                    (real(*shape),),
                    _TWO,
                    factor=6.0,
                    few=True,
                    spreads=False,
                )
    image = real(1, 2, 4, 5)
    yield Case(
        "UpsamplingNearest2d",
        (
            lambda x: nn.UpsamplingNearest2d(scale_factor=2)(x),
            lambda x: nn.UpsamplingNearest2d((8, 10))(x),
            lambda x: functional.upsample_nearest(x, scale_factor=2),
            lambda x: functional.upsample(x, scale_factor=2),
        ),
        _resized((8, 10), _weights("nearest", False)),
        (image,),
        few=True,
        spreads=False,
    )
    yield Case(
        "UpsamplingBilinear2d",
        (
            lambda x: nn.UpsamplingBilinear2d(scale_factor=2)(x),
            lambda x: functional.upsample_bilinear(x, (8, 10)),
            lambda x: functional.upsample(x, (8, 10), mode="bilinear", align_corners=True),
        ),
        _resized((8, 10), _weights("linear", True)),
        (image,),
        factor=4.0,
        few=True,
        spreads=False,
    )
    yield from _antialiased()
    yield from _sampled()


def _antialiased() -> Iterator[Case]:
    """Smaller, by means as wide as the step."""

    def triangle(at: int, n: int, out: int) -> list[tuple[int, float]]:
        step = n / out
        middle = (at + 0.5) * step
        first, last = max(int(middle - step + 0.5), 0), min(int(middle + step + 0.5), n)
        shares = [max(0.0, 1 - abs((one + 0.5 - middle) / step)) for one in range(first, last)]
        return [(one, share / sum(shares)) for one, share in zip(range(first, last), shares)]

    yield Case(
        "interpolate (bilinear, antialias)",
        (lambda x: functional.interpolate(x, (3, 4), mode="bilinear", antialias=True),),
        _resized((3, 4), triangle),
        (real(1, 2, 7, 9),),
        _TWO,
        factor=6.0,
        optional=True,
        few=True,
        spreads=False,
    )


def _sampled() -> Iterator[Case]:
    """Values of an image at places between -1 and 1, and beyond."""
    image = real(1, 2, 4, 5)
    at = Input(Grid((1, 3, 2, 2), [-0.9, -0.7, 0.13, 0.61, 0.37, -0.21, 1.17, 0.33, -1.21, 0.77, 0.05, -1.13]))
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for corners in (False, True):
                said = "grid_sample (" + mode + ", " + padding + (", align_corners" if corners else "") + ")"
                call = lambda x, g, m=mode, p=padding, c=corners: functional.grid_sample(x, g, m, p, align_corners=c)
                told = (image, at if mode == "bilinear" and padding == "zeros" else at._replace(kind="given"))
                yield Case(
                    said,
                    (call,),
                    lambda x, g, m=mode, p=padding, c=corners: _taken(x, g, m, p, c),
                    told,
                    _TWO,
                    factor=40.0,
                    few=True,
                    spreads=False,
                    twice=False,
                )
    for corners in (False, True):
        place = lambda k, n, c=corners: (2 * k + 1) / n - 1 if not c else 2 * k / (n - 1) - 1
        yield Case("affine_grid" + (" (align_corners)" if corners else ""), (lambda t, c=corners: functional.affine_grid(t, (1, 2, 3, 4), align_corners=c),),
                   lambda t, p=place: made((1, 3, 4, 2), lambda i: t[0, i[3], 0] * p(i[2], 4) + t[0, i[3], 1] * p(i[1], 3) + t[0, i[3], 2]), (real(1, 2, 3),), _TWO, factor=4.0, few=True)  # fmt: skip


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
            row, column = (
                int(min(max(reflected(float(row), height), 0), height - 1)),
                int(min(max(reflected(float(column), wide), 0), wide - 1)),
            )
        return x[b, c, row, column] if 0 <= row < height and 0 <= column < wide else 0.0

    def one(i: Index) -> Any:
        b, c, r, k = i
        across, down = moved(grid[b, r, k, 0], wide), moved(grid[b, r, k, 1], height)
        if mode == "nearest":
            return pixel(b, c, round(tape.plain(down)), round(tape.plain(across)))
        row, column = math.floor(tape.plain(down)), math.floor(tape.plain(across))
        near = (0, 1) if mode == "bilinear" else (-1, 0, 1, 2)
        share = (
            (lambda v, low, k: v - low if k else 1.0 - (v - low))
            if mode == "bilinear"
            else (lambda v, low, k: _cubic(v - low - k))
        )
        return tape.total(
            [
                pixel(b, c, row + p, column + q) * (share(down, row, p) * share(across, column, q))
                for p in near
                for q in near
            ]
        )

    return made((1, 2, *grid.shape[1:3]), one)


def norms() -> Iterator[Case]:
    """Norms as modules with their arguments, lengths, likeness, dropouts that are off."""
    x, weight, bias = real(2, 6, 7), real(6, seed=2, low=0.25), real(6, seed=3)
    for count, (name, size) in enumerate(
        (("BatchNorm1d", (2, 6, 7)), ("BatchNorm2d", (2, 6, 3, 2)), ("BatchNorm3d", (2, 6, 2, 2, 2)))
    ):
        told = (real(*size), weight, bias)
        yield Case(
            name + " (eps)",
            (held(lambda n=name: getattr(nn, n)(6, eps=_EPS), "weight", "bias"),),
            right.batch_norm,
            told,
            factor=6.0,
            few=count > 0,
        )
        yield Case(
            name + " (no affine, no statistics)",
            (
                lambda x, n=name: getattr(nn, n)(
                    6, _EPS, affine=False, track_running_stats=False, dtype=x.dtype
                ).eval()(x),
            ),
            lambda x: lanes(x, lambda at: at[1], right.normal),
            told[:1],
            factor=6.0,
            few=True,
        )
        still = lambda x, n=name: getattr(nn, n)(6, _EPS, affine=False, dtype=x.dtype).eval()(x)
        yield Case(
            name + " in eval",
            (still,),
            lambda x: Grid(x.shape, [one * (1 / math.sqrt(1 + _EPS)) for one in x.flat]),
            told[:1],
            factor=6.0,
            few=True,
        )
        alone = name.replace("Batch", "Instance")
        sample = size if len(size) == 3 else (1, *size[1:])
        yield Case(
            alone + " (affine)",
            (held(lambda n=alone: getattr(nn, n)(6, eps=_EPS, affine=True), "weight", "bias"),),
            lambda x, w, b: right.affine(right.instance_norm(x), w, b, 1),
            (real(*sample), weight, bias),
            factor=6.0,
            few=True,
        )
        yield Case(
            alone,
            (lambda x, n=alone: getattr(nn, n)(6, _EPS)(x),),
            right.instance_norm,
            (real(*sample),),
            factor=6.0,
            few=True,
        )
    yield Case(
        "GroupNorm (eps)",
        (held(lambda: nn.GroupNorm(2, 6, eps=_EPS), "weight", "bias"),),
        right.group_norm(2),
        (x, weight, bias),
        factor=6.0,
    )
    yield Case(
        "GroupNorm (no affine)",
        (lambda x: nn.GroupNorm(3, 6, _EPS, affine=False)(x),),
        lambda x: lanes(x, lambda at: (at[0], at[1] // 2), right.normal),
        (x,),
        factor=6.0,
    )
    wide = (real(3, 8), real(8, seed=2, low=0.25), real(8, seed=3))
    yield Case(
        "LayerNorm (eps)",
        (held(lambda: nn.LayerNorm(8, eps=_EPS), "weight", "bias"),),
        right.layer_norm,
        wide,
        factor=6.0,
    )
    plain = lambda x: lanes(x, lambda at: at[:1], right.normal)
    yield Case(
        "LayerNorm (elementwise_affine False)",
        (lambda x: nn.LayerNorm(8, _EPS, elementwise_affine=False)(x),),
        plain,
        wide[:1],
        factor=6.0,
    )
    yield Case(
        "LayerNorm (bias False)",
        (held(lambda: nn.LayerNorm(8, _EPS, bias=False), "weight"),),
        lambda x, w: right.layer_norm(x, w, Grid((8,), [0.0] * 8)),
        wide[:2],
        factor=6.0,
    )
    if hasattr(nn, "RMSNorm"):
        yield Case(
            "RMSNorm (eps)", (held(lambda: nn.RMSNorm(8, eps=_EPS), "weight"),), right.rms_norm, wide[:2], factor=6.0
        )
        yield Case(
            "RMSNorm (elementwise_affine False)",
            (lambda x: nn.RMSNorm(8, _EPS, elementwise_affine=False)(x),),
            lambda x: right.rms_norm(x, Grid((8,), [1.0] * 8)),
            wide[:1],
            factor=6.0,
        )
        exact = lambda row: [one / tape.sqrt(tape.dot(row, row) * 0.125) for one in row]
        yield Case(
            "rms_norm without eps, RMSNorm",
            (lambda x: functional.rms_norm(x, (8,)), lambda x: nn.RMSNorm(8, dtype=x.dtype)(x)),
            along(1, exact),
            wide[:1],
            factor=6.0,
        )
    yield Case(
        "LocalResponseNorm",
        (
            lambda x: nn.LocalResponseNorm(3, 0.5, 0.75, 2.0)(x),
            lambda x: functional.local_response_norm(x, 3, 0.5, 0.75, 2.0),
        ),
        _among,
        (real(2, 5, 4),),
        factor=6.0,
        few=True,
        spreads=False,
    )
    for power, size in ((2.0, right.length), (1.0, lambda row: tape.total(map(tape.absolute, row)))):
        for dim in (0, 1):
            unit = lambda row, s=size: [one / s(row) for one in row]
            yield Case(
                "normalize (" + str(power) + ") over dimension " + str(dim),
                (lambda x, p=power, d=dim: functional.normalize(x, p, d),),
                along(dim, unit),
                (real(4, 6),),
                factor=6.0,
            )
    tiny = literal([1.0, 0, 0, 0, 3.0, 4.0], (3, 2), "given")
    yield Case(
        "normalize (eps)",
        (lambda x: functional.normalize(x, eps=2.0),),
        lambda _x: Grid((3, 2), [0.5, 0, 0, 0, 0.6, 0.8]),
        (tiny,),
        backward=False,
        spreads=False,
    )
    pair = (real(4, 6), real(4, 6, seed=2))
    for dim in (0, 1):
        like = lambda x, y, d=dim: _likeness(x, y, d)
        yield Case(
            "cosine_similarity, CosineSimilarity over " + str(dim),
            (
                lambda x, y, d=dim: functional.cosine_similarity(x, y, d),
                lambda x, y, d=dim: nn.CosineSimilarity(d)(x, y),
            ),
            like,
            pair,
            factor=8.0,
        )
    yield Case(
        "cosine_similarity (eps)",
        (lambda x, y: functional.cosine_similarity(x, y, 1, 50.0),),
        lambda x, y: Grid((4,), [tape.dot(x.flat[n : n + 6], y.flat[n : n + 6]) * (1 / 2500) for n in range(0, 24, 6)]),
        tuple(one._replace(kind="given") for one in pair),
        _TWO,
        backward=False,
        factor=8.0,
    )
    for name in (
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "AlphaDropout",
        "FeatureAlphaDropout",
        "Identity",
        "RReLU",
    ):
        if hasattr(nn, name) and name != "RReLU":
            yield Case(
                name + " in eval",
                (lambda x, n=name: getattr(nn, n)().eval()(x),),
                each(lambda x: x * 1.0),
                (
                    real(2, 3, 4, 2, 2)
                    if "3d" in name or "Feature" in name
                    else real(2, 3, 4, 2)
                    if "2d" in name
                    else real(2, 3, 4),
                ),
                few=True,
            )
    yield Case(
        "RReLU in eval",
        (
            lambda x: nn.RReLU(0.125, 0.375).eval()(x),
            lambda x: functional.rrelu(x, 0.125, 0.375),
            lambda x: torch.rrelu(x, 0.125, 0.375),
        ),
        each(right.leaky_relu),
        (real(4, 6),),
    )
    yield Case(
        "weight_norm",
        (lambda v, g: torch._weight_norm(v, g, 0),),
        lambda v, g: made(v.shape, lambda i: v[i] * g.flat[i[0]] / right.length(v.flat[i[0] * 5 : i[0] * 5 + 5])),
        (real(3, 5), real(3, 1, seed=2)),
        _TWO,
        factor=6.0,
        optional=True,
        twice=False,
    )
    yield Case(
        "norm_except_dim",
        (lambda v: torch.norm_except_dim(v, 2, 0),),
        lambda v: made((3, 1), lambda i: right.length(v.flat[i[0] * 5 : i[0] * 5 + 5])),
        (real(3, 5),),
        _TWO,
        factor=6.0,
        optional=True,
    )


def _likeness(x: Grid, y: Grid, dim: int) -> Grid:
    pick = (
        (lambda g: [g.flat[n : n + 6] for n in range(0, 24, 6)])
        if dim
        else (lambda g: [g.flat[n::6] for n in range(6)])
    )
    pairs = list(zip(pick(x), pick(y)))
    return Grid((len(pairs),), [tape.dot(a, b) / (right.length(a) * right.length(b)) for a, b in pairs])


def _among(x: Grid) -> Grid:
    def one(i: Index) -> Any:
        near = [x[i[0], c, i[2]] for c in range(i[1] - 1, i[1] + 2) if 0 <= c < x.shape[1]]
        return x[i] / tape.exp(tape.log(tape.dot(near, near) * (0.5 / 3) + 2.0) * 0.75)

    return made(x.shape, one)


def activations() -> Iterator[Case]:
    """As modules with their arguments, and in place."""
    x = (literal([one + 1 / 64 for one in real(4, 6).grid.flat], (4, 6)),)  # no function has a bend there
    bound: Callable[..., Any] = right.clamped(-0.53, 1.28)
    rows: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
        ("ELU (alpha)", (lambda x: nn.ELU(0.5)(x), lambda x: nn.ELU(0.5, inplace=True)(x * 1), lambda x: functional.elu_(x * 1, 0.5)), lambda x: x * 1.0 if x > 0 else tape.expm1(x) * 0.5), ("CELU (alpha)", (lambda x: nn.CELU(2.0)(x), lambda x: nn.CELU(2.0, True)(x * 1), lambda x: torch.celu_(x * 1, 2.0)), lambda x: x * 1.0 if x > 0 else tape.expm1(x * 0.5) * 2.0), ("SELU", (nn.SELU(), lambda x: nn.SELU(True)(x * 1), lambda x: torch.selu_(x * 1)), right.selu),
        ("GELU (tanh)", (nn.GELU("tanh"), nn.GELU(approximate="tanh")), right.gelu_by_tanh), ("GELU", (nn.GELU(),), right.gelu), ("SiLU", (nn.SiLU(), lambda x: nn.SiLU(True)(x * 1)), right.silu), ("Mish", (nn.Mish(), lambda x: nn.Mish(True)(x * 1)), right.mish), ("ReLU", (nn.ReLU(), lambda x: nn.ReLU(True)(x * 1), lambda x: functional.relu_(x * 1), lambda x: functional.relu(x * 1, inplace=True), torch.relu, torch.Tensor.relu), right.relu),
        ("ReLU6", (nn.ReLU6(), lambda x: nn.ReLU6(True)(x * 1), lambda x: functional.relu6(x * 1, True)), right.relu6), ("LeakyReLU (negative_slope)", (lambda x: nn.LeakyReLU(0.25)(x), lambda x: nn.LeakyReLU(0.25, True)(x * 1), lambda x: functional.leaky_relu_(x * 1, 0.25)), right.leaky_relu), ("LeakyReLU", (nn.LeakyReLU(), functional.leaky_relu), lambda x: x * 1.0 if x > 0 else x * 0.01),
        ("Hardtanh (bounds)", (lambda x: nn.Hardtanh(-0.53, 1.28)(x), lambda x: nn.Hardtanh(-0.53, 1.28, True)(x * 1), lambda x: functional.hardtanh_(x * 1, -0.53, 1.28)), bound), ("Hardswish", (nn.Hardswish(), lambda x: nn.Hardswish(True)(x * 1)), lambda x: x * right.clamped(0.0, 6.0)(x + 3.0) * (1 / 6)), ("Hardsigmoid", (nn.Hardsigmoid(), lambda x: nn.Hardsigmoid(True)(x * 1)), lambda x: right.clamped(0.0, 6.0)(x + 3.0) * (1 / 6)),
        ("Threshold", (nn.Threshold(0.53, 0.25), lambda x: nn.Threshold(0.53, 0.25, True)(x * 1), lambda x: functional.threshold_(x * 1, 0.53, 0.25)), lambda x: x * 1.0 if x > 0.53 else x * 0.0 + 0.25), ("Softplus (beta, threshold)", (lambda x: nn.Softplus(2, 3)(x), lambda x: functional.softplus(x, 2, 3)), lambda x: x * 1.0 if 2 * tape.plain(x) > 3 else tape.softplus(x * 2.0) * 0.5), ("Softshrink (lambd)", (lambda x: nn.Softshrink(1.03)(x), lambda x: functional.softshrink(x, 1.03)), lambda x: x - 1.03 if x > 1.03 else x + 1.03 if x < -1.03 else x * 0.0), ("Softshrink", (nn.Softshrink(0.53), lambda x: functional.softshrink(x, lambd=0.53)), lambda x: x - 0.53 if x > 0.53 else x + 0.53 if x < -0.53 else x * 0.0),
        ("Hardshrink (lambd)", (lambda x: nn.Hardshrink(1.03)(x), lambda x: functional.hardshrink(x, 1.03)), lambda x: x * 1.0 if abs(tape.plain(x)) > 1.03 else x * 0.0), ("Tanh", (nn.Tanh(), functional.tanh), tape.tanh), ("Sigmoid", (nn.Sigmoid(), functional.sigmoid), tape.sigmoid), ("LogSigmoid", (nn.LogSigmoid(),), right.logsigmoid), ("Softsign", (nn.Softsign(),), right.softsign), ("Tanhshrink", (nn.Tanhshrink(),), lambda x: x - tape.tanh(x)),
    )  # fmt: skip
    for name, calls, reference in rows:
        kinds = FLOATS[1:] if name == "Hardsigmoid" else FLOATS  # torch has its sixth with the digits of float32
        yield Case(
            name + " (module)",
            calls,
            each(reference),
            x,
            kinds,
            factor=4.0,
            spreads=name not in ("Threshold", "Hardshrink (lambd)", "Softshrink (lambd)", "Softshrink"),
            twice="(beta" not in name,
            elementwise=True,
        )
    yield Case(
        "PReLU",
        (held(lambda: nn.PReLU(3), "weight"), functional.prelu, torch.prelu),
        lambda x, w: made(x.shape, lambda i: x[i] if x[i] > 0 else x[i] * w.flat[i[1]]),
        (real(2, 3, 4), real(3, seed=2)),
        factor=2.0,
    )
    yield Case(
        "PReLU (one weight)",
        (held(lambda: nn.PReLU(), "weight"),),
        lambda x, w: made(x.shape, lambda i: x[i] if x[i] > 0 else x[i] * w.flat[0]),
        (real(2, 3, 4), real(1, seed=2)),
        factor=4.0,
    )
    for dim in (0, 1):
        half = lambda x, d=dim: made(
            [n // 2 if at == d else n for at, n in enumerate(x.shape)],
            lambda i: (
                x[i] * tape.sigmoid(x[tuple(one + (x.shape[at] // 2 if at == d else 0) for at, one in enumerate(i))])
            ),
        )
        yield Case(
            "GLU, glu over dimension " + str(dim),
            (lambda x, d=dim: nn.GLU(d)(x), lambda x, d=dim: functional.glu(x, d)),
            half,
            x,
            factor=4.0,
        )
    yield Case(
        "Softmax2d",
        (nn.Softmax2d(),),
        lambda x: lanes(x, lambda at: (at[0], *at[2:]), right.softmax),
        (real(2, 3, 2, 2),),
        factor=4.0,
    )
    yield Case(
        "Softmin",
        (nn.Softmin(1), lambda x: functional.softmin(x, 1)),
        along(1, lambda row: right.softmax([-one for one in row])),
        x,
        factor=4.0,
    )
    yield Case(
        "softmax of the last, as methods",
        (
            lambda x: x.softmax(-1),
            lambda x: torch.softmax(x, 1),
            lambda x: nn.Softmax(-1)(x),
            lambda x: torch.special.softmax(x, 1),
        ),
        along(1, right.softmax),
        x,
        factor=4.0,
    )
    yield Case(
        "log_softmax of the last, as methods",
        (lambda x: x.log_softmax(-1), lambda x: torch.log_softmax(x, 1), lambda x: nn.LogSoftmax(-1)(x)),
        along(1, right.log_softmax),
        x,
        factor=4.0,
    )
    yield Case(
        "logsumexp (all names)",
        (lambda x: torch.logsumexp(x, 1), lambda x: x.logsumexp(1), lambda x: torch.special.logsumexp(x, 1)),
        lambda x: Grid((4,), [right.logsumexp(x.flat[n : n + 6]) for n in range(0, 24, 6)]),
        x,
        factor=4.0,
    )


def convolutions() -> Iterator[Case]:
    """As modules, with each argument."""
    low = {"low": -1.0, "high": 1.0, "step": 0.25}
    for rank, shape, window in ((1, (2, 4, 7), (3,)), (2, (1, 4, 5, 4), (2, 3)), (3, (1, 2, 3, 4, 3), (2, 2, 2))):
        name, channels = str(rank) + "d", shape[1]
        for args in ({}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": 2}, {"groups": 2}):
            said = ", ".join(key + " " + str(one) for key, one in args.items())
            groups = args.get("groups", 1)
            told = (real(*shape, **low), real(6, channels // groups, *window, seed=2, **low), real(6, seed=3, **low))
            yield Case(
                "Conv" + name + " (" + said + ")",
                (
                    held(
                        lambda n=name, c=channels, w=window, a=args: getattr(nn, "Conv" + n)(c, 6, w, **a),
                        "weight",
                        "bias",
                    ),
                    lambda x, w, b, n=name, a=args: getattr(torch, "conv" + n)(x, w, b, **a),
                ),
                networks.convolution(**args),
                told,
                factor=6.0,
                few=True,
                twice=False,
            )
            back = (real(*shape, **low), real(channels, 4 // groups, *window, seed=2, **low), real(4, seed=3, **low))
            more = {**args, "output_padding": 1} if "stride" in args else args
            yield Case(
                "ConvTranspose" + name + " (" + said + ")",
                (
                    held(
                        lambda n=name, c=channels, w=window, a=more: getattr(nn, "ConvTranspose" + n)(c, 4, w, **a),
                        "weight",
                        "bias",
                    ),
                    lambda x, w, b, n=name, a=more: getattr(functional, "conv_transpose" + n)(x, w, b, **a),
                ),
                networks.transposed_convolution(**more),
                back,
                factor=6.0,
                few=True,
                twice=False,
            )
        told = (real(*shape, **low), real(6, channels, *window, seed=2, **low))
        yield Case(
            "Conv" + name + " (bias False)",
            (
                held(lambda n=name, c=channels, w=window: getattr(nn, "Conv" + n)(c, 6, w, bias=False), "weight"),
                lambda x, w, n=name: getattr(functional, "conv" + n)(x, w),
            ),
            networks.convolution(),
            told,
            factor=6.0,
            few=True,
            twice=False,
        )
        for mode in ("reflect", "replicate", "circular"):
            pairs = (1,) * (2 * rank)
            wrapped = lambda x, w, b, m=mode, p=pairs: networks.convolution()(_padded(m, p)(x), w, b)
            told = (real(*shape, **low), real(6, channels, *window, seed=2, **low), real(6, seed=3, **low))
            yield Case(
                "Conv" + name + " (border " + mode + ", padding_mode)",
                (
                    held(
                        lambda n=name, c=channels, w=window, m=mode: getattr(nn, "Conv" + n)(
                            c, 6, w, padding=1, padding_mode=m
                        ),
                        "weight",
                        "bias",
                    ),
                ),
                wrapped,
                tuple(one._replace(kind="given") for one in told),
                _TWO,
                backward=False,
                factor=6.0,
                few=True,
                spreads=False,
            )


def embeddings() -> Iterator[Case]:
    """Rows of tables, alone and in bags, with each argument."""
    at, table = literal([[2, 0, 2], [4, 1, 3]][0] + [4, 1, 3], (2, 3), "int64"), real(5, 4)
    rows = lambda a, t: made((2, 3, 4), lambda i: t[int(a[i[:2]]), i[2]])
    yield Case(
        "Embedding",
        (
            lambda a, t: with_parameters(nn.Embedding(5, 4, dtype=t.dtype), {"weight": t}, (a,)),
            functional.embedding,
            lambda a, t: torch.embedding(t, a),
            lambda a, t: functional.embedding(a, t, sparse=False),
        ),
        rows,
        (at, table),
        spreads=False,
    )
    padded = lambda a, t: made((2, 3, 4), lambda i: tape.plain(t[2, i[2]]) if a[i[:2]] == 2 else t[int(a[i[:2]]), i[2]])
    yield Case(
        "Embedding (padding_idx)",
        (
            lambda a, t: with_parameters(nn.Embedding(5, 4, padding_idx=2, dtype=t.dtype), {"weight": t}, (a,)),
            lambda a, t: functional.embedding(a, t, padding_idx=-3),
        ),
        padded,
        (at, table),
        spreads=False,
    )

    def short(a: Grid, t: Grid) -> Grid:
        return made(
            (2, 3, 4),
            lambda i: (lambda row: row[i[2]] * min(1.0, 2.0 / (math.sqrt(sum(one * one for one in row)) + 1e-7)))(
                t.flat[int(a[i[:2]]) * 4 : int(a[i[:2]]) * 4 + 4]
            ),
        )

    yield Case(
        "embedding (max_norm), of rows",
        (
            lambda a, t: functional.embedding(a, torch.clone(t), max_norm=2.0),
            lambda a, t: nn.Embedding.from_pretrained(torch.clone(t), max_norm=2.0)(a),
        ),
        short,
        (at, table._replace(kind="given")),
        _TWO,
        backward=False,
        factor=8.0,
        spreads=False,
    )

    def shorter(a: Grid, t: Grid) -> Grid:
        return made(
            (2, 3, 4),
            lambda i: (lambda row: row[i[2]] * min(1.0, 2.0 / (sum(map(abs, row)) + 1e-7)))(
                t.flat[int(a[i[:2]]) * 4 : int(a[i[:2]]) * 4 + 4]
            ),
        )

    yield Case(
        "embedding (max_norm, norm_type)",
        (lambda a, t: functional.embedding(a, torch.clone(t), max_norm=2.0, norm_type=1.0),),
        shorter,
        (at, table._replace(kind="given")),
        _TWO,
        backward=False,
        factor=8.0,
        spreads=False,
    )
    by = Grid((5, 4), [0.5 * n for n in range(20)])
    slope = Grid((5, 4), [1.0] * 20)
    yield Case(
        "embedding (scale_grad_by_freq), by slope",
        (lambda a, t: _slope_of(lambda w: functional.embedding(a, w, scale_grad_by_freq=True), t),),
        lambda _a, _t, s=slope: s,
        (at, Input(by, "given")),
        _TWO,
        backward=False,
        spreads=False,
    )
    yield Case(
        "embedding (sparse)",
        (lambda a, t: _slope_of(lambda w: functional.embedding(a, w, sparse=True), t),),
        lambda _a, _t: Grid((5, 4), [2.0 if row == 2 else 1.0 for row in range(5) for _ in range(4)]),
        (at, Input(by, "given")),
        _TWO,
        backward=False,
        spreads=False,
    )
    flat, starts = literal([2, 0, 2, 4, 1], kind="int64"), literal([0, 2], kind="int64")
    parts = ((2, 0), (2, 4, 1))
    for mode, function in (
        ("sum", tape.total),
        ("mean", lambda s: tape.total(s) * (1 / len(s))),
        ("max", lambda s: max(s, key=tape.plain)),
    ):
        bag = lambda _a, t, _o, f=function: made((2, 4), lambda i: f([t[r, i[1]] for r in parts[i[0]]]))
        calls = (
            lambda a, t, o, m=mode: functional.embedding_bag(a, t, o, mode=m),
            lambda a, t, o, m=mode: with_parameters(
                nn.EmbeddingBag(5, 4, mode=m, dtype=t.dtype), {"weight": t}, (a, o)
            ),
            lambda a, t, o, m=mode: functional.embedding_bag(
                a, t, torch.cat([o, o.new_tensor([5])]), mode=m, include_last_offset=True
            ),
        )
        yield Case(
            "embedding_bag, EmbeddingBag (" + mode + ")",
            calls,
            bag,
            (flat, Input(Grid((5, 4), distinct(5, 4).grid.flat)), starts),
            factor=4.0,
            few=True,
            spreads=False,
            twice=False,
        )
        square = lambda a, t, f=function: made((2, 4), lambda i: f([t[int(a[i[0], k]), i[1]] for k in range(3)]))
        yield Case(
            "embedding_bag of rows (" + mode + ")",
            (lambda a, t, m=mode: functional.embedding_bag(a, t, mode=m),),
            square,
            (literal([2, 0, 3, 4, 1, 3], (2, 3), "int64"), Input(Grid((5, 4), distinct(5, 4).grid.flat))),
            factor=4.0,
            few=True,
            spreads=False,
            twice=False,
        )
    shares = real(5, seed=4)
    weighted = lambda a, t, _o, w: made(
        (2, 4),
        lambda i: tape.total([t[int(a.flat[k]), i[1]] * w.flat[k] for k in (range(2) if i[0] == 0 else range(2, 5))]),
    )
    yield Case(
        "embedding_bag (per_sample_weights), by rows",
        (lambda a, t, o, w: functional.embedding_bag(a, t, o, mode="sum", per_sample_weights=w),),
        weighted,
        (flat, table, starts, shares),
        factor=4.0,
        few=True,
        spreads=False,
        twice=False,
    )
    without = lambda _a, t, _o: made((2, 4), lambda i: tape.total([t[r, i[1]] for r in parts[i[0]] if r != 2]))
    yield Case(
        "embedding_bag (padding_idx), by rows",
        (lambda a, t, o: functional.embedding_bag(a, t, o, mode="sum", padding_idx=2),),
        without,
        (flat, table, starts),
        factor=4.0,
        few=True,
        spreads=False,
        twice=False,
    )


def _slope_of(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of the sum, as a tensor that holds all its numbers."""
    with torch.enable_grad():
        leaf = x.detach().clone().requires_grad_()
        function(leaf).sum().backward()
    return leaf.grad.to_dense() if leaf.grad.is_sparse else leaf.grad
