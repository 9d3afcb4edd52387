"""Operators with their arguments off the default: a build that ignores one is right wherever nobody gives it."""

from __future__ import annotations

import math
from typing import Any, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, each, fromfunction, reduced
from rigup_probe_torch_cases import Case, Input, distinct, given, literal, real
from torch.nn import functional

_INF = math.inf


def activations() -> Iterator[Case]:
    """Slopes, bounds and thresholds."""
    inputs = (real(4, 9),)
    rows: tuple[tuple[str, Any, Any], ...] = (
        ("softplus (beta)", lambda x: tape.softplus(x * 2.0) * 0.5, lambda x: functional.softplus(x, beta=2)),
        ("softplus (threshold)", _straight_above_one, lambda x: functional.softplus(x, threshold=1)),
        ("elu (alpha)", lambda x: x * 1.0 if x > 0 else (tape.exp(x) - 1.0) * 0.5, lambda x: functional.elu(x, 0.5)),
        ("celu (alpha)", lambda x: x * 1.0 if x > 0 else (tape.exp(x * 0.5) - 1.0) * 2.0, lambda x: functional.celu(x, 2.0)),
        ("hardtanh (bounds)", right.clamped(-0.53, 1.28), lambda x: functional.hardtanh(x, -0.53, 1.28)),
        ("softshrink (lambda)", _shrunk, lambda x: functional.softshrink(x, 1.03)),
        ("clamp from below", right.clamped(-1.03, _INF), lambda x: torch.clamp(x, min=-1.03)),
        ("clamp from above", right.clamped(-_INF, 1.28), lambda x: torch.clamp(x, max=1.28)),
    )
    for name, reference, call in rows:
        yield Case(name, (call,), each(reference), inputs, factor=2.0)


def _straight_above_one(x: Any) -> Any:
    return x * 1.0 if x > 1 else tape.softplus(x)


def _shrunk(x: Any) -> Any:
    return x - 1.03 if x > 1.03 else x + 1.03 if x < -1.03 else x * 0.0


def elementwise() -> Iterator[Case]:
    """Weights of products, and ways to round quotients."""
    three = (real(4, 9), real(4, 9, seed=2), real(4, 9, low=0.5, high=2, seed=3))
    yield Case("addcmul (value)", (lambda x, y, z: torch.addcmul(x, y, z, value=-0.5),), each(lambda x, y, z: x - y * z * 0.5), three, factor=4.0)
    yield Case("addcdiv (value)", (lambda x, y, z: torch.addcdiv(x, y, z, value=-0.5),), each(lambda x, y, z: x - y / z * 0.5), three, factor=4.0)
    two = (given(4, 9, step=0.125), literal([0.5, -0.25, 2.0, -4.0] * 9, (4, 9), "given"))
    for name, reference, call in (
        ("div (floor)", lambda x, y: float(math.floor(x / y)), lambda x, y: torch.div(x, y, rounding_mode="floor")),
        ("div (trunc)", lambda x, y: float(int(x / y)), lambda x, y: torch.div(x, y, rounding_mode="trunc")),
        ("remainder", lambda x, y: x - y * math.floor(x / y), torch.remainder),
        ("fmod", math.fmod, torch.fmod),
    ):
        yield Case(name, (call,), each(reference), two, backward=False)


def losses() -> Iterator[Case]:
    """Targets as logarithms, weights of what is true, where the square ends."""
    two, fixed = (real(5, 9), real(5, 9, seed=2)), given(5, 9, low=0.125, high=0.875, seed=3)
    logarithms = given(5, 9, low=-3, high=-0.125, seed=4)
    rows: tuple[tuple[str, Any, Any, tuple[Input, ...]], ...] = (
        ("kl_div (log_target)", lambda x, y: tape.exp(y) * (y - x), lambda x, y: functional.kl_div(x, y, reduction="mean", log_target=True), (two[0], logarithms)),
        ("smooth_l1_loss (beta)", _early, lambda x, y: functional.smooth_l1_loss(x, y, beta=0.53), two),
        ("huber_loss (delta)", _late, lambda x, y: functional.huber_loss(x, y, delta=2.03), two),
        ("binary_cross_entropy_with_logits (pos_weight)", _weighted, _by_weight, (two[0], fixed)),
    )
    for name, reference, call, inputs in rows:
        yield Case(name, (call,), right.mean_of(reference), inputs, factor=4.0)


def _early(x: Any, y: Any) -> Any:
    off = right.absolute(x - y)
    return off * off * (0.5 / 0.53) if off < 0.53 else off - 0.53 / 2


def _late(x: Any, y: Any) -> Any:
    off = right.absolute(x - y)
    return off * off * 0.5 if off < 2.03 else (off - 2.03 / 2) * 2.03


def _weighted(x: Any, y: Any) -> Any:
    return tape.softplus(-x) * (y * 3.0) + tape.softplus(x) * (1.0 - y)


def _by_weight(x: Any, y: Any) -> Any:
    weight = torch.full((1,), 3.0, dtype=x.dtype, device=x.device)
    return functional.binary_cross_entropy_with_logits(x, y, pos_weight=weight)


def reductions() -> Iterator[Case]:
    """Other norms; of equal numbers the first, as is promised; all of these where the dimension stays."""
    inputs = (real(5, 6, 7),)
    for name, order, reference in (("norm (1)", 1, lambda row: tape.total([right.absolute(number) for number in row])), ("norm (infinite)", _INF, lambda row: right.largest([right.absolute(number) for number in row]))):
        yield Case(
            name,
            (lambda x, o=order: torch.linalg.vector_norm(x, o, dim=1),),
            reduced((1,), reference),
            inputs,
            backward=order == 1,  # of equal numbers each has a part of it
            factor=4.0,
        )
    equal = [[1.0, 3, 3, -2, 3], [2.0, 2, 2, 2, 2], [-1.0, -4, 0, -4, 0]]
    rows = literal([number for row in equal for number in row], (3, 5), "given")
    for name, function in (("max", max), ("min", min)):
        wanted = Grid((3,), [float(row.index(function(row))) for row in equal])
        calls = (lambda x, n=name: getattr(torch, "arg" + n)(x, 1), lambda x, n=name: getattr(torch, n)(x, 1)[1])
        yield Case("arg" + name + " of equal numbers", calls, lambda *_given, w=wanted: w, (rows,), backward=False)


def sorting() -> Iterator[Case]:
    """The least instead of the largest."""
    values = distinct(7, 12)

    def least(x: Grid) -> Grid:
        ordered = [sorted(x.flat[at * 12 : at * 12 + 12]) for at in range(7)]
        return fromfunction((7, 3), lambda index: ordered[index[0]][index[1]])

    yield Case("topk (smallest)", (lambda x: torch.topk(x, 3, largest=False)[0],), least, (values,))
    yield Case("kthvalue", (lambda x: torch.kthvalue(x, 3, 1)[0],), reduced((1,), lambda row: sorted(row)[2]), (values,))


def products() -> Iterator[Case]:
    """Results whose dimensions stand in another order than they come in, and whole numbers beyond the digits of floats."""
    batch = (real(2, 3, 4), real(2, 4, 5, seed=2))

    def turned(x: Grid, y: Grid) -> Grid:
        plain = networks.matmul(x, y)
        return fromfunction((5, 2, 3), lambda index: plain[index[1], index[2], index[0]])

    yield Case("einsum in another order", (lambda x, y: torch.einsum("bij,bjk->kbi", x, y),), turned, batch, factor=2.0)
    yield Case("einsum that only turns", (lambda x: torch.einsum("ijk->kij", x),), lambda x: fromfunction((4, 2, 3), lambda index: x[index[1], index[2], index[0]]), batch[:1])
    left = Input(Grid((3, 4), [(-1) ** at * (16_777_217 + 2 * at) for at in range(12)]), "int64")
    second = Input(Grid((4, 2), [1_000_003 + at for at in range(8)]), "int64")
    calls = (torch.matmul, torch.mm, lambda x, y: torch.einsum("ij,jk->ik", x, y))
    yield Case("product of long whole numbers", calls, networks.matmul, (left, second), ("int64",), backward=False, optional=True)


def conversions() -> Iterator[Case]:
    """What a whole number is made of is cut, not rounded down."""
    values = given(3, 25, low=-6, high=6, step=0.125)
    calls = (lambda x: x.to(torch.int32), lambda x: x.long(), lambda x: x.to(torch.int8), lambda x: torch.zeros(3, 25, dtype=torch.int32, device=x.device).copy_(x))
    yield Case("to whole numbers", calls, each(int), (values,), backward=False)
