"""Losses with margins, of triplets and of sequences."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import Case, Input, literal, real
from torch import nn
from torch.nn import functional

_HOW = ("mean", "sum", "none")


_TWO = ("float64", "float32")


def _added(how: str, shape: tuple[int, ...], values: list[Any], below: Any = None) -> Grid:
    if how == "none":
        return Grid(shape, values)
    whole = tape.total(values)
    return Grid((), [whole if how == "sum" else whole * (1 / (below if below is not None else len(values)))])


def _margins(scores: Input, goals: Input, weights: Input) -> Iterator[Case]:
    relu = right.relu
    many = literal([3, 0, -1, 1, 2, 1, -1, 0, 0, 0, 4, 2, 3, -1, 0], (3, 5), "int64")
    for how in _HOW:
        for power in (1, 2):

            def multi(x: Grid, g: Grid, w: Grid, h: str = how, p: int = power) -> Grid:
                values = []
                for row, goal in enumerate(g.flat):
                    off = [relu(0.53 - x[row, int(goal)] + x[row, k]) for k in range(5) if k != goal]
                    values.append(tape.total([margin if p == 1 else margin * margin for margin in off]) * (w.flat[int(goal)] / 5))
                return _added(h, g.shape, values)

            yield Case(
                "multi_margin_loss, MultiMarginLoss (p " + str(power) + ", " + how + ")",
                (lambda x, g, w, h=how, p=power: functional.multi_margin_loss(x, g, p, 0.53, w, reduction=h), lambda x, g, w, h=how, p=power: nn.MultiMarginLoss(p, 0.53, w, reduction=h)(x, g)),
                multi,
                (scores, goals, weights),
                _TWO,
                factor=6.0,
                few=True,
                spreads=False,
            )

        def several(x: Grid, g: Grid, h: str = how) -> Grid:
            values = []
            for row in range(x.shape[0]):
                goals_ = list(itertools.takewhile(lambda goal: goal >= 0, g.flat[row * 5 : row * 5 + 5]))
                values.append(tape.total([relu(1.0 - (x[row, int(t)] - x[row, k])) for t in goals_ for k in range(5) if k not in goals_]) * (1 / 5))
            return _added(h, x.shape[:1], values)

        yield Case(
            "multilabel_margin_loss, MultiLabelMarginLoss (" + how + ")",
            (lambda x, g, h=how: functional.multilabel_margin_loss(x, g, reduction=h), lambda x, g, h=how: nn.MultiLabelMarginLoss(reduction=h)(x, g)),
            several,
            (literal([v + 1 / 128 * (n % 2) for n, v in enumerate(real(3, 5).grid.flat)], (3, 5)), many),
            _TWO,
            factor=6.0,
            few=True,
            spreads=False,
        )
        truths = Input(Grid((6, 5), [float(at % 3 == 0) for at in range(30)]), "given")
        soft = lambda x, t, w, h=how: _added(h, x.shape[:1], [tape.total([(right.binary_with_logits(x[row, k], t[row, k])) * w.flat[k] for k in range(5)]) * (1 / 5) for row in range(x.shape[0])])
        yield Case("multilabel_soft_margin_loss, MultiLabelSoftMarginLoss (" + how + ")", (lambda x, t, w, h=how: functional.multilabel_soft_margin_loss(x, t, w, reduction=h), lambda x, t, w, h=how: nn.MultiLabelSoftMarginLoss(w, reduction=h)(x, t)), soft, (scores, truths, weights), factor=6.0, few=True)
        yield from _triplets(how)


def _triplets(how: str) -> Iterator[Case]:
    three = (real(4, 3), real(4, 3, seed=2), real(4, 3, seed=3))
    relu = right.relu

    def far(power: float) -> Callable[[list[Any], list[Any]], Any]:
        def called(a: list[Any], b: list[Any]) -> Any:
            off = [x - y + 0.125 for x, y in zip(a, b)]
            return right.length(off) if power == 2 else tape.total(map(tape.absolute, off))

        return called

    row = lambda g, n: g.flat[n * 3 : n * 3 + 3]
    for power, swap in ((2.0, False), (1.0, False), (2.0, True)):

        def triplet_loss(a: Grid, p: Grid, n: Grid, d: Any = far(power), s: bool = swap) -> Grid:
            values = []
            for at in range(a.shape[0]):
                near, off = d(row(a, at), row(p, at)), d(row(a, at), row(n, at))
                other = d(row(p, at), row(n, at))
                off = min(off, other, key=tape.plain) if s else off
                values.append(relu(near - off + 1.5))
            return _added(how, a.shape[:1], values)

        args = {"margin": 1.5, "p": power, "eps": 0.125, "swap": swap, "reduction": how}
        yield Case("triplet_margin_loss, TripletMarginLoss (p " + str(power) + (", swap" if swap else "") + ", " + how + ")", (lambda a, p, n, k=args: functional.triplet_margin_loss(a, p, n, **k), lambda a, p, n, k=args: nn.TripletMarginLoss(**k)(a, p, n)), triplet_loss, three, factor=10.0, few=True, spreads=False)
    flat = lambda a, b: (a - b).abs().sum(-1)
    for swap in (False, True):

        def by(a: Grid, p: Grid, n: Grid, s: bool = swap) -> Grid:
            off = lambda x, y, at: tape.total([tape.absolute(i - j) for i, j in zip(row(x, at), row(y, at))])
            values = [relu(off(a, p, at) - (min(off(a, n, at), off(p, n, at), key=tape.plain) if s else off(a, n, at)) + 1.53) for at in range(a.shape[0])]
            return _added(how, a.shape[:1], values)

        args = {"distance_function": flat, "margin": 1.53, "swap": swap, "reduction": how}
        yield Case(
            "triplet_margin_with_distance_loss, TripletMarginWithDistanceLoss (" + how + (", swap" if swap else "") + ")",
            (lambda a, p, n, k=args: functional.triplet_margin_with_distance_loss(a, p, n, **k), lambda a, p, n, k=args: nn.TripletMarginWithDistanceLoss(**k)(a, p, n)),
            by,
            three,
            factor=10.0,
            few=True,
            spreads=False,
        )
    signs = literal([1.0, -1.0, -1.0, 1.0], kind="given")

    def alike(a: Grid, b: Grid, s: Grid) -> Grid:
        values = []
        for at in range(a.shape[0]):
            x, y = row(a, at), row(b, at)
            likeness = tape.dot(x, y) / (right.length(x) * right.length(y))
            values.append(1.0 - likeness if s.flat[at] > 0 else relu(likeness + 0.53))
        return _added(how, a.shape[:1], values)

    yield Case("cosine_embedding_loss, CosineEmbeddingLoss (" + how + ")", (lambda a, b, s: functional.cosine_embedding_loss(a, b, s, -0.53, reduction=how), lambda a, b, s: nn.CosineEmbeddingLoss(-0.53, reduction=how)(a, b, s)), alike, (*three[:2], signs), factor=10.0, few=True, spreads=False)


def sequences() -> Iterator[Case]:
    """Connectionist temporal classification: all ways to read the goal, added up. Source: Graves et al. (2006)."""
    logs = real(5, 2, 4, low=-3, high=0)
    goals = literal([1, 2, 3, 3, 1, 1], (2, 3), "int64")
    steps, sizes = literal([5, 4], kind="int64"), literal([3, 2], kind="int64")

    def each(x: Grid, blank: int = 0) -> list[Any]:
        losses = []
        for number, (count, size) in enumerate(((5, 3), (4, 2))):
            wanted = [int(goal) for goal in goals.grid.flat[number * 3 : number * 3 + size]]
            rows = [right.log_softmax([x[step, number, k] for k in range(4)]) for step in range(count)]
            found = []
            for path in itertools.product(range(4), repeat=count):
                read = [symbol for symbol, _ in itertools.groupby(path) if symbol != blank]
                if read == wanted:
                    found.append(tape.total([rows[step][k] for step, k in enumerate(path)]))
            losses.append(-right.logsumexp(found))
        return losses

    for how in _HOW:
        wanted = lambda x, *_r, h=how: Grid((2,), each(x)) if h == "none" else Grid((), [tape.total(each(x)) if h == "sum" else (each(x)[0] * (1 / 3) + each(x)[1] * (1 / 2)) * 0.5])
        calls = (lambda x, g, n, s, h=how: functional.ctc_loss(functional.log_softmax(x, 2), g, n, s, reduction=h), lambda x, g, n, s, h=how: nn.CTCLoss(reduction=h)(functional.log_softmax(x, 2), g, n, s))
        yield Case("ctc_loss, CTCLoss (" + how + ")", calls, wanted, (logs, goals, steps, sizes), _TWO, factor=40.0, few=True, spreads=False)
    never = literal([1, 1, 1, 1, 2, 3], (2, 3), "int64")
    yield Case("ctc_loss (zero_infinity)", (lambda x, g, n, s: functional.ctc_loss(functional.log_softmax(x[:3], 2), g, torch.clamp(n, max=3), s, reduction="none", zero_infinity=True)[:1],), lambda *_x: Grid((1,), [0.0]), (logs._replace(kind="given"), never, steps, sizes), _TWO, backward=False, few=True, spreads=False)
