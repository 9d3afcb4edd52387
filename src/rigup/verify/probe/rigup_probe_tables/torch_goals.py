"""Tables of losses with each argument and each way to add up, as functions and as modules."""

from __future__ import annotations

import itertools
import math
from typing import Any, Iterator

import rigup_probe_reference as right
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid
from rigup_probe_torch_cases import Case, Input, given, literal, real
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_margins import _HOW, _added, _margins

Report = Any


def pairs() -> Iterator[Case]:
    """Of one number and its goal."""
    x, y = real(4, 6), real(4, 6, seed=2)
    share, sure = given(4, 6, low=0.125, high=0.875, seed=3), real(4, 6, low=0.125, high=0.875)
    sign = Input(Grid((4, 6), [1.0 if at % 3 else -1.0 for at in range(24)]), "given")
    scale = given(4, 6, low=0.25, seed=5)
    relu = right.relu
    rows: tuple[tuple[str, Any, Any, Any, tuple[Input, ...], dict[str, Any]], ...] = (
        ("mse_loss", functional.mse_loss, "MSELoss", right.squared, (x, y), {}),
        ("l1_loss", functional.l1_loss, "L1Loss", lambda a, b: tape.absolute(a - b), (x, y), {}),
        ("smooth_l1_loss", functional.smooth_l1_loss, "SmoothL1Loss", _smooth(1.0), (x, y), {}),
        ("smooth_l1_loss (beta)", functional.smooth_l1_loss, "SmoothL1Loss", _smooth(0.53), (x, y), {"beta": 0.53}),
        ("huber_loss", functional.huber_loss, "HuberLoss", _huber(1.0), (x, y), {}),
        ("huber_loss (delta)", functional.huber_loss, "HuberLoss", _huber(2.03), (x, y), {"delta": 2.03}),
        ("binary_cross_entropy", functional.binary_cross_entropy, "BCELoss", right.binary, (sure, share), {}),
        ("binary_cross_entropy_with_logits", functional.binary_cross_entropy_with_logits, "BCEWithLogitsLoss", right.binary_with_logits, (x, share), {}),
        ("kl_div", functional.kl_div, "KLDivLoss", right.divergence, (x, share), {}),
        ("kl_div (log_target)", functional.kl_div, "KLDivLoss", lambda a, b: tape.exp(b) * (b - a), (x, given(4, 6, low=-3, high=-0.125, seed=4)), {"log_target": True}),
        ("poisson_nll_loss", functional.poisson_nll_loss, "PoissonNLLLoss", lambda a, b: tape.exp(a) - b * a, (x, share), {}),
        ("poisson_nll_loss (log_input)", functional.poisson_nll_loss, "PoissonNLLLoss", lambda a, b: a - b * tape.log(a + 0.125), (sure, share), {"log_input": False, "eps": 0.125}),
        ("poisson_nll_loss (full)", functional.poisson_nll_loss, "PoissonNLLLoss", lambda a, b: tape.exp(a) - b * a + (b * math.log(b) - b + 0.5 * math.log(2 * math.pi * b) if b > 1 else 0.0), (x, given(4, 6, low=0.5, high=5, seed=3)), {"full": True}),
        ("soft_margin_loss", functional.soft_margin_loss, "SoftMarginLoss", lambda a, b: tape.softplus(-(a * b)), (x, sign), {}),
        ("hinge_embedding_loss", functional.hinge_embedding_loss, "HingeEmbeddingLoss", lambda a, b: a * 1.0 if b > 0 else relu(1.03 - a), (x, sign), {"margin": 1.03}),
        ("margin_ranking_loss", functional.margin_ranking_loss, "MarginRankingLoss", lambda a, b, s: relu((b - a) * s + 0.53), (x, y, sign), {"margin": 0.53}),
        ("gaussian_nll_loss", functional.gaussian_nll_loss, "GaussianNLLLoss", lambda a, b, v: (tape.log(v) + (a - b) * (a - b) / v) * 0.5, (x, y, real(4, 6, low=0.25, seed=6)), {}),
        ("gaussian_nll_loss (full, eps)", functional.gaussian_nll_loss, "GaussianNLLLoss", lambda a, b, v: (math.log(max(v, 1.0)) + (a - b) * (a - b) * (1 / max(v, 1.0))) * 0.5 + 0.5 * math.log(2 * math.pi), (x, y, given(4, 6, low=0.25, seed=6)), {"full": True, "eps": 1.0}),
    )
    for name, call, module, reference, inputs, more in rows:
        for how in _HOW:
            ways = (lambda *g, c=call, m=more, h=how: c(*g, reduction=h, **m), lambda *g, c=module, m=more, h=how: getattr(nn, c)(reduction=h, **m)(*g))
            wanted = lambda *g, r=reference, h=how: _added(h, g[0].shape, list(map(r, *(grid.flat for grid in g))))
            plain = name not in ("huber_loss", "smooth_l1_loss", "l1_loss")
            yield Case(name + " (" + how + "), " + module, ways, wanted, inputs, factor=6.0, few=how != "mean", twice=plain, spreads=name != "binary_cross_entropy")
    for how in _HOW:
        weighted = lambda x, y, w, h=how: _added(h, x.shape, [right.binary(a, b) * c for a, b, c in zip(x.flat, y.flat, w.flat)])
        yield Case("binary_cross_entropy (weight, " + how + "), BCELoss", (lambda x, y, w, h=how: functional.binary_cross_entropy(x, y, w, reduction=h), lambda x, y, w, h=how: nn.BCELoss(w, reduction=h)(x, y)), weighted, (sure, share, scale), factor=6.0, few=True, spreads=False)
        lifted = lambda x, y, w, p, h=how: _added(h, x.shape, [(tape.softplus(-a) * (b * p.flat[n % 6]) + tape.softplus(a) * (1.0 - b)) * c for n, (a, b, c) in enumerate(zip(x.flat, y.flat, w.flat))])
        yield Case(
            "binary_cross_entropy_with_logits (weight, pos_weight, " + how + "), BCEWithLogitsLoss",
            (lambda x, y, w, p, h=how: functional.binary_cross_entropy_with_logits(x, y, w, pos_weight=p, reduction=h), lambda x, y, w, p, h=how: nn.BCEWithLogitsLoss(w, pos_weight=p, reduction=h)(x, y)),
            lifted,
            (x, share, scale, given(6, low=0.25, seed=8)),
            factor=6.0,
            few=True,
        )
    yield Case("kl_div (batchmean), KLDivLoss", (lambda x, y: functional.kl_div(x, y, reduction="batchmean"), nn.KLDivLoss(reduction="batchmean")), lambda x, y: _added("mean", (), list(map(right.divergence, x.flat, y.flat)), 4), (x, share), factor=6.0)
    wide = (real(3, 70), real(3, 70, seed=2))
    for name, call, reference in (("mse_loss", functional.mse_loss, right.squared), ("l1_loss", functional.l1_loss, lambda a, b: tape.absolute(a - b)), ("binary_cross_entropy_with_logits", functional.binary_cross_entropy_with_logits, right.binary_with_logits)):
        yield Case(name + " of long rows", (call,), lambda a, b, r=reference: _added("mean", (), list(map(r, a.flat, b.flat))), wide if name != "binary_cross_entropy_with_logits" else (wide[0], given(3, 70, low=0.125, high=0.875)), factor=6.0, twice=name[0] != "l")
    more = (real(3, 70), given(3, 70, low=0.125, high=0.875))
    yield Case("kl_div of long rows, KLDivLoss", (functional.kl_div, nn.KLDivLoss()), lambda a, b: _added("mean", (), list(map(right.divergence, a.flat, b.flat))), more, factor=6.0)


def _smooth(beta: float) -> Any:
    def called(x: Any, y: Any) -> Any:
        off = tape.absolute(x - y)
        return off * off * (0.5 / beta) if off < beta else off - beta / 2

    return called


def _huber(delta: float) -> Any:
    def called(x: Any, y: Any) -> Any:
        off = tape.absolute(x - y)
        return off * off * 0.5 if off < delta else (off - delta / 2) * delta

    return called


def classes() -> Iterator[Case]:
    """Of scores and the right class, or shares of classes."""
    goals, scores = literal([2, 0, 4, 1, 3, 3], kind="int64"), real(6, 5)
    weights = literal([0.5, 2.0, 1.0, 0.25, 1.5], kind="given")
    for how, ignored, smooth in itertools.product(_HOW, (-100, 3), (0.0, 0.25)):
        args = {"ignore_index": ignored, "reduction": how, "label_smoothing": smooth}
        label = " (ignore_index " + str(ignored) + ", label_smoothing " + str(smooth) + ", " + how + ")"
        for own in (False, True):
            calls = (lambda x, g, w, a=args, o=own: functional.cross_entropy(x, g, w if o else None, **a), lambda x, g, w, a=args, o=own: nn.CrossEntropyLoss(w if o else None, **a)(x, g))
            wanted = lambda x, g, w, a=args, o=own: _entropy(x, g, w.flat if o else [1.0] * 5, **a)
            yield Case("cross_entropy, CrossEntropyLoss" + label + (" with weights" if own else ""), calls, wanted, (scores, goals, weights), factor=6.0, few=True, spreads=False)
        if not smooth:
            few = {key: args[key] for key in ("ignore_index", "reduction")}
            calls = (lambda x, g, w, a=few: functional.nll_loss(x, g, w, **a), lambda x, g, w, a=few: nn.NLLLoss(w, **a)(x, g))
            yield Case("nll_loss, NLLLoss" + label, calls, lambda x, g, w, a=few: _likelihood(x, g, w, **a), (scores, goals, weights), factor=6.0, few=True)
    shares = given(6, 5, low=0.0625, high=0.5, seed=4)
    for how in _HOW:
        by = lambda x, s, h=how: _added(h, (6,), [-tape.dot(right.log_softmax(x.flat[n * 5 : n * 5 + 5]), s.flat[n * 5 : n * 5 + 5]) for n in range(6)])
        yield Case("cross_entropy of shares (" + how + "), CrossEntropyLoss", (lambda x, s, h=how: functional.cross_entropy(x, s, reduction=h), lambda x, s, h=how: nn.CrossEntropyLoss(reduction=h)(x, s)), by, (scores, shares), factor=6.0, few=True)
    planes = literal([at % 5 for at in range(12)], (2, 2, 3), "int64")
    flat = lambda x, g: [-(right.log_softmax([x[at[0], k, at[1], at[2]] for k in range(5)])[int(goal)]) for at, goal in zip(g.indices(), g.flat)]
    yield Case("cross_entropy of planes (all)", (functional.cross_entropy, nn.CrossEntropyLoss()), lambda x, g: _added("mean", (), flat(x, g)), (real(2, 5, 2, 3), planes), factor=6.0, few=True)
    bare = lambda x, g: [-x[at[0], int(goal), at[1], at[2]] for at, goal in zip(g.indices(), g.flat)]
    yield Case("nll_loss of planes, NLLLoss", (functional.nll_loss, nn.NLLLoss(), torch.nn.NLLLoss()), lambda x, g: _added("mean", (), bare(x, g)), (real(2, 5, 2, 3), planes), factor=6.0, few=True)
    long = literal([(at * 7) % 5 for at in range(70)], kind="int64")
    yield Case("cross_entropy of many rows", (functional.cross_entropy,), lambda x, g: _entropy(x, g, [1.0] * 5), (real(70, 5), long), factor=6.0, few=True)
    yield from _margins(scores, goals, weights)


def _entropy(x: Grid, goals: Grid, weights: list[float], ignore_index: int = -100, reduction: str = "mean", label_smoothing: float = 0.0) -> Grid:
    each, sizes = [], []
    for row, goal in enumerate(goals.flat):
        logs = right.log_softmax(x.flat[row * 5 : row * 5 + 5])
        sizes.append(0.0 if goal == ignore_index else weights[int(goal)])
        if goal == ignore_index:
            each.append(0.0)
            continue
        smooth = tape.dot(logs, weights) * (label_smoothing / 5)
        each.append(-(logs[int(goal)] * (weights[int(goal)] * (1 - label_smoothing)) + smooth))
    return _added(reduction, (len(each),), each, sum(sizes))


def _likelihood(x: Grid, goals: Grid, weights: Grid, ignore_index: int, reduction: str) -> Grid:
    sizes = [0.0 if goal == ignore_index else weights.flat[int(goal)] for goal in goals.flat]
    return _added(reduction, (6,), [-(x[row, int(goal)] * sizes[row]) for row, goal in enumerate(goals.flat)], sum(sizes))
