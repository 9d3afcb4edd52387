"""Pools and paddings, as functions and as modules."""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, Input, distinct, real
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_resampling import _TWO, Index, _folded, _read


def pool(function: Callable[[list[Any]], Any], size: Any, stride: Any, padding: Any = 0, dilation: Any = 1, ceil: bool = False, whole: bool = False) -> Callable[[Grid], Grid]:
    """A function of each window. `whole`: its padding counts as zeros; `ceil`: the last may reach over the border."""

    def called(x: Grid) -> Grid:
        rank = len(x.shape) - 2
        sizes, strides, paddings, dilations = ([extent] * rank if isinstance(extent, int) else list(extent) for extent in (size, stride, padding, dilation))
        outs = []
        for n, k, s, p, d in zip(x.shape[2:], sizes, strides, paddings, dilations):
            over = n + 2 * p - d * (k - 1) - 1
            count = (-(-over // s) if ceil else over // s) + 1
            outs.append(count - 1 if ceil and (count - 1) * s >= n + p else count)

        def element(i: Index) -> Any:
            values = []
            for at in itertools.product(*map(range, sizes)):
                place = [here * s - p + off * d for here, s, p, off, d in zip(i[2:], strides, paddings, at, dilations)]
                if x.has((*i[:2], *place)):
                    values.append(x[(*i[:2], *place)])
                elif whole and all(here < n + p for here, n, p in zip(place, x.shape[2:], paddings)):
                    values.append(0.0)
            return function(values)

        return fromfunction((*x.shape[:2], *outs), element)

    return called


def adaptive(function: Callable[[list[Any]], Any], outs: tuple[int, ...]) -> Callable[[Grid], Grid]:
    """A function of parts, as many as are wanted in each dimension."""

    def called(x: Grid) -> Grid:
        parts = lambda at, n, out: range(at * n // out, -(-(at + 1) * n // out))
        return fromfunction((*x.shape[:2], *outs), lambda i: function([x[(*i[:2], *place)] for place in itertools.product(*(parts(at, n, out) for at, n, out in zip(i[2:], x.shape[2:], outs)))]))

    return called


def _power(row: list[Any]) -> Any:
    total = tape.total([number * number * number for number in row])
    return tape.exp(tape.log(total) * (1 / 3))


def pools() -> Iterator[Case]:
    """Windows, with each argument, as functions and as modules."""
    for rank, shape in ((1, (2, 3, 11)), (2, (2, 3, 7, 6)), (3, (1, 2, 5, 4, 6))):
        name, x, plain = str(rank) + "d", real(*shape), distinct(*shape) if math.prod(shape) <= 250 else real(*shape)
        plain = Input(Grid(shape, [(at * 37 % 251 - 125) / 16 for at in range(math.prod(shape))]))
        top, middle = getattr(functional, "max_pool" + name), getattr(functional, "avg_pool" + name)
        top_module, middle_module = getattr(nn, "MaxPool" + name), getattr(nn, "AvgPool" + name)
        for args in ({"stride": 2, "ceil_mode": True}, {"stride": 2, "padding": 1}, {"stride": 1, "dilation": 2}, {"stride": 2, "padding": 1, "ceil_mode": True}, {}):
            label = ", ".join(key + " " + str(value) for key, value in args.items())
            arguments = {"stride": 3, **args}
            reference = pool(right.largest, 3 if "dilation" not in args else 2, arguments["stride"], arguments.get("padding", 0), arguments.get("dilation", 1), bool(arguments.get("ceil_mode")))
            size = 3 if "dilation" not in args else 2
            yield Case("max_pool" + name + " (" + label + ")", (lambda x, c=top, s=size, a=args: c(x, s, **a), lambda x, c=top_module, s=size, a=args: c(s, **a)(x), lambda x, c=top, s=size, a=args: c(x, s, return_indices=True, **a)[0]), reference, (plain,), few=bool(label) and rank > 1)
        for args in ({"stride": 2, "ceil_mode": True}, {"stride": 2, "padding": 1}, {"stride": 2, "padding": 1, "count_include_pad": False}, {"stride": 2, "padding": 1, "ceil_mode": True}, {}):
            label = ", ".join(key + " " + str(value) for key, value in args.items())
            reference = pool(right.mean, 3, args.get("stride", 3), args.get("padding", 0), 1, bool(args.get("ceil_mode")), args.get("count_include_pad", True))
            yield Case("avg_pool" + name + " (" + label + ")", (lambda x, c=middle, a=args: c(x, 3, **a), lambda x, c=middle_module, a=args: c(3, **a)(x)), reference, (x,), factor=2.0, few=bool(label) and rank > 1)
        if rank > 1:
            yield Case("avg_pool" + name + " (divisor_override)", (lambda x, c=middle: c(x, 2, divisor_override=3), lambda x, c=middle_module: c(2, divisor_override=3)(x)), pool(lambda row: tape.total(row) * (1 / 3), 2, 2), (x,), factor=2.0)
        outs = (3, 2, 4)[:rank]
        for kind, function, source in (("avg", right.mean, x), ("max", right.largest, plain)):
            call, module = (getattr(functional, "adaptive_" + kind + "_pool" + name), getattr(nn, "Adaptive" + kind.title() + "Pool" + name))
            yield Case("adaptive_" + kind + "_pool" + name + " to " + str(outs), (lambda x, c=call, o=outs: c(x, o if len(o) > 1 else o[0]), lambda x, c=module, o=outs: c(o if len(o) > 1 else o[0])(x)), adaptive(function, outs), (source,), factor=2.0)
            if rank > 1:
                yield Case("adaptive_" + kind + "_pool" + name + " (None)", (lambda x, c=call, r=rank: c(x, (None, *[2] * (r - 1))),), adaptive(function, (shape[2], *[2] * (rank - 1))), (source,), factor=2.0, few=True)
        power, module = getattr(functional, "lp_pool" + name, None), getattr(nn, "LPPool" + name, None)
        if power and module:
            up = real(*shape, low=0.25, high=3)
            yield Case("lp_pool" + name + ", LPPool" + name, (lambda x, c=power: c(x, 3.0, 2), lambda x, c=module: c(3.0, 2)(x)), pool(_power, 2, 2), (up,), factor=40.0)
            yield Case("lp_pool" + name + " (stride, ceil_mode), LPPool" + name, (lambda x, c=power: c(x, 3.0, 2, 1, ceil_mode=True), lambda x, c=module: c(3.0, 2, 1, True)(x)), pool(_power, 2, 1), (up,), factor=40.0, few=True)
        places = lambda x, s=shape: _where(x, s)
        yield Case("max_pool" + name + "'s places", (lambda x, c=top: c(x, 2, return_indices=True)[1], lambda x, c=top_module: c(2, return_indices=True)(x)[1]), places, (plain._replace(kind="given"),), _TWO, backward=False, few=True)
        unpool, module = getattr(functional, "max_unpool" + name), getattr(nn, "MaxUnpool" + name)
        yield Case("max_unpool" + name, (lambda x, u=unpool, c=top: u(*c(x, 2, return_indices=True), 2, output_size=x.shape), lambda x, u=module, c=top: u(2)(*c(x, 2, return_indices=True), output_size=x.shape)), _kept_places, (plain,), few=True)


def _windows(x: Grid) -> Iterator[Any]:
    """Windows of two without overlap, each with its places."""
    shape = [*x.shape[:2], *(extent // 2 for extent in x.shape[2:])]
    for i in itertools.product(*map(range, shape)):
        yield (i, [(*i[:2], *(2 * a + b for a, b in zip(i[2:], off))) for off in itertools.product(range(2), repeat=len(shape) - 2)])


def _where(x: Grid, shape: Any) -> Grid:
    steps = [math.prod(shape[at + 1 :]) for at in range(2, len(shape))]
    best = [max(several, key=lambda at: tape.plain(x[at])) for _i, several in _windows(x)]
    return Grid((*shape[:2], *(extent // 2 for extent in shape[2:])), [sum(a * b for a, b in zip(at[2:], steps)) for at in best])


def _kept_places(x: Grid) -> Grid:
    best = {max(several, key=lambda at: tape.plain(x[at])) for _i, several in _windows(x)}
    return fromfunction(x.shape, lambda i: x[i] if i in best else 0.0)


def _border(mode: str) -> Callable[[int, int], Any]:
    return {"constant": lambda at, size: at if 0 <= at < size else None, "reflect": lambda at, size: size - 1 - abs(size - 1 - abs(at)), "replicate": lambda at, size: min(max(at, 0), size - 1), "circular": lambda at, size: at % size}[mode]


def _padded(mode: str, pairs: Any, value: float = 0.0) -> Callable[[Grid], Grid]:
    """`pairs`: before and after, the last dimension first."""
    find = _border(mode)

    def called(x: Grid) -> Grid:
        rank = len(x.shape)
        by = {rank - 1 - at: (pairs[2 * at], pairs[2 * at + 1]) for at in range(len(pairs) // 2)}
        shape = [n + sum(by.get(d, (0, 0))) for d, n in enumerate(x.shape)]

        def element(i: Index) -> Any:
            source = [find(at - by[d][0], x.shape[d]) if d in by else at for d, at in enumerate(i)]
            return value if None in source else x[tuple(source)]

        return fromfunction(shape, element)

    return called


def paddings() -> Iterator[Case]:
    """Each kind of border in each number of dimensions."""
    for rank, shape in ((1, (2, 3, 5)), (2, (2, 2, 4, 5)), (3, (1, 2, 3, 4, 3))):
        pairs = (2, 1, 1, 2, 1, 1)[: 2 * rank]
        for mode, word in (("constant", "ConstantPad"), ("reflect", "ReflectionPad"), ("replicate", "ReplicationPad"), ("circular", "CircularPad")):
            value = 1.5 if mode == "constant" else 0.0
            module = getattr(nn, word + str(rank) + "d", None)
            calls = [lambda x, m=mode, v=value, p=pairs: functional.pad(x, p, m, v) if m == "constant" else functional.pad(x, p, m)]
            if module is not None:
                calls.append(lambda x, c=module, m=mode, v=value, p=pairs: c(p, v)(x) if m == "constant" else c(p)(x))
            yield Case("pad (" + mode + "), " + word + str(rank) + "d", tuple(calls), _padded(mode, pairs, value), (real(*shape),))
        zero = getattr(nn, "ZeroPad" + str(rank) + "d", None)
        if zero is not None:
            yield Case("ZeroPad" + str(rank) + "d", (lambda x, c=zero, p=pairs: c(p)(x), lambda x, p=pairs: functional.pad(x, p)), _padded("constant", pairs), (real(*shape),))
    yield Case("pad by less than nothing", (lambda x: functional.pad(x, (-1, 2)),), lambda x: fromfunction((3, 6), lambda i: x[i[0], i[1] + 1] if i[1] < 4 else 0.0), (real(3, 5),))
    for stride, padding, dilation in ((1, 0, 1), (2, 1, 1), (1, 1, 2)):
        label = " (stride " + str(stride) + ", padding " + str(padding) + ", dilation " + str(dilation) + ")"
        args = {"stride": stride, "padding": padding, "dilation": dilation}
        outs = [(n + 2 * padding - dilation - 1) // stride + 1 for n in (5, 4)]
        unfolded = lambda x, s=stride, p=padding, d=dilation, o=outs: fromfunction((2, 12, o[0] * o[1]), lambda i: _read(x, i, s, p, d, o))
        yield Case("unfold" + label, (lambda x, a=args: functional.unfold(x, 2, **a), lambda x, a=args: nn.Unfold(2, **a)(x)), unfolded, (real(2, 3, 5, 4),), few=True)
        folded = lambda x, s=stride, p=padding, d=dilation, o=outs: _folded(x, s, p, d, o)
        yield Case("fold" + label, (lambda x, a=args: functional.fold(x, (5, 4), 2, **a), lambda x, a=args: nn.Fold((5, 4), 2, **a)(x)), folded, (real(2, 8, outs[0] * outs[1]),), factor=2.0, few=True)
