"""Tables of operators at sizes and ranges where kernels change their way: long rows, large numbers, many rows, blocks."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, along, always, each, reduced
from rigup_probe_torch_cases import FLOATS, Case, Input, given, literal, real
from torch.nn import functional

_LONG = 9001  # numbers in a row: more than a block, and no multiple of one
_SINGLE = ("float64", "float32")


def reductions() -> Iterator[Case]:
    """Over several dimensions, of signed, large, equal and many numbers, with a correction."""
    rows: tuple[tuple[str, Any, Any], ...] = (
        ("sum", torch.sum, tape.total),
        ("mean", torch.mean, right.mean),
        ("var", torch.var, right.variance),
        ("std", torch.std, right.deviation),
        ("norm", torch.linalg.vector_norm, right.length),
        ("amax", torch.amax, right.largest),
        ("amin", torch.amin, right.smallest),
        ("logsumexp", torch.logsumexp, right.logsumexp),
    )
    for name, call, reference in rows:
        for dims in ((0, 1), (0, 2), (1, 2), (-1, -2, 0)):
            yield Case(name + " over dimensions " + ", ".join(map(str, dims)), (lambda x, c=call, d=dims: c(x, dim=d), lambda x, c=call, d=dims: c(x, dim=d, keepdim=True).flatten().view(c(x, dim=d).shape)), reduced(dims, reference), (_unequal(3, 4, 5),), factor=4.0)
    yield from _corrected()
    yield from _large_numbers()
    yield from _of_equal()
    yield from _far_places()


def _unequal(*shape: int) -> Input:
    """No two of which are equal, so that the largest has one gradient."""
    count = math.prod(shape)
    return Input(Grid(shape, [(at * 37 % count - count // 2) / 16 for at in range(count)]))


def _corrected() -> Iterator[Case]:
    for less in (0, 1, 2):
        reference: Callable[..., Any] = lambda row, n=less: right.variance(row, n)
        root: Callable[..., Any] = lambda row, n=less: tape.sqrt(right.variance(row, n))
        for name, call, wanted in (("var", torch.var, reference), ("std", torch.std, root)):
            yield Case(name + " with a correction of " + str(less), (lambda x, c=call, n=less: c(x, dim=1, correction=n),), reduced((1,), wanted), (real(4, 7),), factor=4.0, optional=True)
    for shape in ((4, 3), (3, 5), (2, 7)):
        signed = real(*shape, low=-2, high=-0.5)
        for dim in (0, 1):
            name = "prod of negative numbers over dimension " + str(dim) + " of " + "x".join(map(str, shape))
            yield Case(name, (lambda x, d=dim: torch.prod(x, d),), reduced((dim,), right.product), (signed,), factor=4.0)
    yield Case("prod of negative numbers", (torch.prod,), reduced((), right.product), (real(7, low=-2, high=-0.5),), factor=4.0)


def _large_numbers() -> Iterator[Case]:
    """Whose exponentials or squares the type does not hold, while the result it does."""
    wide = literal([at % 7 * 96.0 - 288 for at in range(24)], (4, 6))
    far = literal([1000.0, 992, 1000, 984, -1000, -1008, -1016, -1000, 0, 88, 90, 89], (3, 4))
    for name, values in (("large numbers", far), ("numbers far apart", wide)):
        yield Case("logsumexp of " + name, (lambda x: torch.logsumexp(x, 1),), reduced((1,), right.logsumexp), (values,), backward=False, factor=4.0)
    squares = literal([at % 5 * 128.0 + 256 for at in range(24)], (4, 6))
    calls = (lambda x: torch.linalg.vector_norm(x, dim=1), lambda x: torch.norm(x, dim=1), lambda x: x.norm(2, 1))
    yield Case("norm of large numbers", calls, reduced((1,), right.length), (squares,), factor=4.0)
    count = 2048
    yield Case("mean of many large numbers", (torch.mean,), reduced((), right.mean), (given(count, low=64, high=128, step=1),), backward=False, factor=4.0)


def _of_equal() -> Iterator[Case]:
    """Many equal ones: a sum that is kept in a short type stands still, or is off by the same each time."""
    for value, count in ((1.0, 16_384), (0.5, 33_019), (1.125, _LONG)):
        for shape in ((count,), (count, 2), (2, count)):
            dim = 0 if shape[0] == count else 1
            values = literal([value] * (2 * count if len(shape) > 1 else count), shape, "given")
            wanted = Grid(shape[1 - dim : 2 - dim] if len(shape) > 1 else (), [value * count] * (2 if len(shape) > 1 else 1))
            yield Case("sum of " + "x".join(map(str, shape)) + " equal ones", (lambda x, d=dim: torch.sum(x, d),) if len(shape) > 1 else (torch.sum, lambda x: torch.sum(x, 0)), always(wanted), (values,), backward=False)


def _far_places() -> Iterator[Case]:
    """The one that counts lies in the last part, in the middle, or in the first of a long row or column."""
    for place in (3, _LONG // 2, _LONG - 2):
        flat = [(at * 7 % 32) / 32 for at in range(_LONG)]
        flat[place] = 3.0
        turned = [-number for number in flat]
        for name, numbers in (("max", flat), ("min", turned)):
            top, largest = literal(numbers, (1, _LONG), "given"), 3.0 if name == "max" else -3.0
            label = " of a row whose " + str(place) + "th number it is"
            for ending, wanted in (("arg" + name, float(place)), ("a" + name, largest)):
                call = getattr(torch, ending)
                yield Case(ending + label, (lambda x, c=call: c(x, 1), lambda x, c=call: c(x).view(1), lambda x, c=call: c(x.t(), 0)), always(Grid((1,), [wanted])), (top,), FLOATS[:2], backward=False)


def sorting() -> Iterator[Case]:
    """Rows longer than a block: values, places, and which of equal ones comes first."""
    flat = [float(at * 4001 % _LONG) for at in range(_LONG)]
    long = literal(flat, (1, _LONG), "given")
    order = always(Grid((1, _LONG), sorted(range(_LONG), key=flat.__getitem__)))
    whole = Input(Grid((1, _LONG), list(map(int, flat))), "int64")
    for kind, values in (("", long), (" in int64", whole)):
        kinds = _SINGLE if not kind else ("int64",)
        yield Case("sort of a long row" + kind, (lambda x: torch.sort(x, 1)[0],), along(1, sorted), (values,), kinds, backward=False)
        yield Case("argsort of a long row" + kind, (lambda x: torch.argsort(x, 1),), order, (values,), kinds, backward=False)
    top = Grid((1, 9), [float(_LONG - 1 - at) for at in range(9)])
    yield Case("topk of a long row", (lambda x: torch.topk(x, 9, 1)[0],), always(top), (long,), _SINGLE, backward=False)
    same = [float(at * 7 % 5) for at in range(_LONG)]
    stable = always(Grid((1, _LONG), sorted(range(_LONG), key=same.__getitem__)))
    yield Case("stable sort of a long row", (lambda x: torch.sort(x, dim=1, stable=True)[1],), stable, (literal(same, (1, _LONG), "given"),), _SINGLE, backward=False)
    yield from _running()


def _running() -> Iterator[Case]:
    for count in (257, _LONG):
        values = literal([float(at % 3 - 1) for at in range(count)], kind="given")
        yield Case("cumsum of " + str(count), (lambda x: torch.cumsum(x, 0),), along(0, right.running_sum), (values,), _SINGLE, backward=False)


def embeddings() -> Iterator[Case]:
    """Tables of so many rows that a place does not fit in eight, fifteen or sixteen bits."""
    for rows in (300, 33_000, 66_000):
        table = Input(Grid((rows, 2), [float(at % 251) for at in range(2 * rows)]), "given")
        places = [rows - 1, 0, rows // 2, 255, 256, rows - 2]
        at = literal(places, kind="int64")
        wanted = Grid((6, 2), [float((2 * row + column) % 251) for row in places for column in range(2)])
        for name, call in (("embedding", functional.embedding), ("index_select", lambda r, t: t.index_select(0, r)), ("index", lambda r, t: t[r])):
            label = name + " in a table of " + str(rows) + " rows"
            yield Case(label, (call,), always(wanted), (at, table), backward=False)


def attentions() -> Iterator[Case]:
    """More keys than one block holds, and numbers of them that are no multiple of one."""
    call = functional.scaled_dot_product_attention
    for queries, keys, causal in ((3, 300, False), (1, 515, False), (129, 129, True)):
        inputs = tuple(given(1, 1, count, 8, seed=seed, low=-1, high=1) for seed, count in enumerate((queries, keys, keys), 1))
        name = ("causal " if causal else "") + "attention to " + str(keys) + " keys"
        yield Case(name, (lambda q, k, v, c=causal: call(q, k, v, is_causal=c),), networks.attention(causal=causal), inputs, backward=False, factor=3.0)
    inputs = tuple(given(1, 1, count, 8, seed=seed, low=-1, high=1) for seed, count in enumerate((3, 300, 300), 1))
    mask = Input(Grid((3, 300), [at % 3 != 1 for at in range(900)]), "mask")
    yield Case("attention to 300 keys with a mask", (lambda q, k, v, m: call(q, k, v, attn_mask=m),), networks.attention(), (*inputs, mask), backward=False, factor=3.0)


def products() -> Iterator[Case]:
    """Many rows, many columns, long rows; and of complex numbers."""
    for first, second in (((1031, 3), (3, 2)), ((2, 3), (3, 1031)), ((2, 1031), (1031, 2)), ((70, 2, 3), (70, 3, 2))):
        inputs = (real(*first, low=-1, high=1), real(*second, seed=2, low=-1, high=1))
        name = "matmul of " + "x".join(map(str, first)) + " and " + "x".join(map(str, second))
        yield Case(name, (torch.matmul,), networks.matmul, tuple(input_._replace(kind="given") for input_ in inputs), backward=False, factor=2.0)
    tall = (given(1031, 3, low=-1, high=1), given(2, 3, seed=2, low=-1, high=1), given(2, seed=3, low=-1, high=1))
    yield Case("linear of 1031x3", (functional.linear,), networks.linear, tall, backward=False, factor=2.0)


def ranges() -> Iterator[Case]:
    """Functions over all that the type holds: small numbers, and those where a formula as it is written overflows."""
    rows: tuple[tuple[str, Any, Any, float, float, float], ...] = (
        ("exp", torch.exp, tape.exp, -10, 11, 0.25),
        ("expm1", torch.expm1, tape.expm1, -10, 11, 0.25),
        ("log", torch.log, tape.log, 1, 1024, 8),
        ("log1p", torch.log1p, tape.log1p, 1, 1024, 8),
        ("sqrt", torch.sqrt, tape.sqrt, 1, 1024, 8),
        ("rsqrt", torch.rsqrt, lambda x: 1.0 / tape.sqrt(x), 1, 1024, 8),
        ("sin", torch.sin, tape.sin, -100, 100, 1),
        ("cos", torch.cos, tape.cos, -100, 100, 1),
        ("tanh", torch.tanh, tape.tanh, -100, 100, 1),
        ("sigmoid", torch.sigmoid, tape.sigmoid, -100, 100, 1),
        ("silu", functional.silu, right.silu, -100, 100, 1),
        ("gelu", functional.gelu, right.gelu, -100, 100, 1),
        ("softplus", functional.softplus, tape.softplus, -100, 100, 1),
        ("mish", functional.mish, right.mish, -100, 100, 1),
        ("elu", functional.elu, right.elu, -100, 100, 1),
        ("logsigmoid", functional.logsigmoid, right.logsigmoid, -100, 100, 1),
        ("atan", torch.atan, tape.atan, -100, 100, 1),
        ("erf", torch.erf, tape.erf, -100, 100, 1),
    )
    for name, call, reference, low, high, step in rows:
        for side, values in _octaves(low, high, step):
            yield Case(name + side, (call,), each(reference), (values._replace(kind="given"),), FLOATS[1:], backward=False, factor=2.0)


def small_numbers() -> Iterator[Case]:
    """Functions that are about their argument near zero: written as they are defined, they have no digits left there."""
    names: tuple[tuple[str, Any], ...] = (
        ("expm1", tape.expm1),
        ("log1p", tape.log1p),
        ("sin", tape.sin),
        ("tan", tape.tan),
        ("asin", tape.asin),
        ("atan", tape.atan),
        ("sinh", tape.sinh),
        ("tanh", tape.tanh),
        ("asinh", math.asinh),
        ("atanh", math.atanh),
        ("sqrt", tape.sqrt),
        ("softsign", right.softsign),
        ("silu", right.silu),
        ("gelu", right.gelu),
        ("elu", right.elu),
    )
    for name, reference in names:
        call = getattr(torch, name, None) or getattr(functional, name)
        for place, dtypes in ((-52, ("float64", "float32", "bfloat16")), (-26, ("float64", "float32", "bfloat16")), (-12, FLOATS)):
            values = literal([2.0**place * (1 + at % 61) / 8 for at in range(67)], kind="given")
            label = name + " of small numbers about 2^" + str(place)
            yield Case(label, (call,), each(reference), (values,), dtypes, backward=False, factor=2.0, few=True)


def _octaves(low: float, high: float, step: float) -> Iterator[tuple[str, Input]]:
    """Numbers of one size each, so that an error in small results is not lost beside large ones."""
    whole = real(97, low=low, high=high, step=step)
    flat = sorted(set(whole.grid.flat), key=abs)
    size = -(-len(flat) // 4)
    for at in range(0, len(flat), size):
        part = flat[at : at + size]
        yield " of numbers of " + str(abs(part[0])) + " to " + str(abs(part[-1])), literal(part)


def mixed_layouts() -> Iterator[Case]:
    """Matrices of which one lies by columns and the others by rows."""
    for shape in ((7, 7), (5, 9)):
        count = math.prod(shape)
        mask = Input(Grid(shape, [at % 3 == 0 or at % 7 == 1 for at in range(count)]), "mask")
        x, y = real(*shape), real(*shape, seed=2)
        rows: tuple[tuple[str, Any, Any, tuple[Input, ...]], ...] = (
            ("where", torch.where, lambda m, x, y: x if m else y, (mask, x, y)),
            ("masked_fill", lambda m, x: x.masked_fill(m, 2.0), lambda m, x: 2.0 if m else x, (mask, x)),
            ("masked_fill_", lambda m, x: _kept(x).masked_fill_(m, 2.0), lambda m, x: 2.0 if m else x, (mask, x)),
            ("add", torch.add, lambda x, y: x + y, (x, y)),
            ("add_", lambda x, y: _kept(x).add_(y), lambda x, y: x + y, (x, y)),
            ("mul", torch.mul, lambda x, y: x * y, (x, y)),
            ("mul_", lambda x, y: _kept(x).mul_(y), lambda x, y: x * y, (x, y)),
            ("copy_", lambda x, y: (_kept(x) * 1).copy_(y), lambda _x, y: y * 1.0, (x._replace(kind="given"), y)),
        )
        for name, call, reference, inputs in rows:
            for turned in range(len(inputs)):
                label = name + " of " + "x".join(map(str, shape)) + " matrices, number " + str(turned + 1) + " transposed"
                yield Case(label, (_with_one_turned(call, turned),), each(reference), inputs, factor=2.0)


def _kept(x: Any) -> Any:
    """A copy that lies in memory as its source does."""
    return torch.clone(x, memory_format=torch.preserve_format)


def _with_one_turned(call: Callable[..., Any], number: int) -> Callable[..., Any]:
    return lambda *x: call(*(tensor.t().contiguous().t() if at == number else tensor for at, tensor in enumerate(x)))
