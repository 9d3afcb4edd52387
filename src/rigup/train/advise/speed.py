"""How long an epoch takes on an allocation: a scaling law fitted to measured rates, with its uncertainty.

T = a/N + b + c(nodes - 1), N GPUs together, all of them at least 0: least squares of relative residuals. Ernest (Venkataraman
and others, NSDI 2016) has the form; a term is fitted only where the rows can tell it from the others. A share that does
not scale cannot be negative, so no gain better than linear is promised.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from rigup.train.advise.inputs import Allocation, Rate

PRIOR_SPREAD = 0.05
"""Relative standard deviation of one run, before any repeat is known; it counts as PRIOR_WEIGHT degrees of freedom."""
PRIOR_WEIGHT = 4
GPUS_BEYOND, NODES_BEYOND = 0.05, 0.10
"""Spread added for each doubling beyond the largest measured number of GPUs, and of nodes."""
LOSS_UNKNOWN = 1.10
"""What a doubling costs where the rows tell of one number of GPUs only."""
CATALOGUE_SPREAD, BENCH_SPREAD = 0.35, 0.25
"""Of a rate of another type, carried over by data sheets or by what `rigup bench` measured on both."""
CONSTANT_FROM = 3
"""Runs from which on a share that does not scale is told from noise."""
# 90 % quantiles of Student's t for 1 to 30 degrees of freedom, then of the normal distribution.
_T90 = (
    3.0777,
    1.8856,
    1.6377,
    1.5332,
    1.4759,
    1.4398,
    1.4149,
    1.3968,
    1.3830,
    1.3722,
    1.3634,
    1.3562,
    1.3502,
    1.3450,
    1.3406,
    1.3368,
    1.3334,
    1.3304,
    1.3277,
    1.3253,
    1.3232,
    1.3212,
    1.3195,
    1.3178,
    1.3163,
    1.3150,
    1.3137,
    1.3125,
    1.3114,
    1.3104,
)
_NORMAL90 = 1.2816


Source = Literal["measured", "fitted", "catalogue"]


class Interval(NamedTuple):
    """10 %, most likely, 90 %."""

    low: float
    likely: float
    high: float

    def plus(self, other: "Interval") -> "Interval":
        """Both one after the other; wide, as if they were bad together."""
        return Interval(self.low + other.low, self.likely + other.likely, self.high + other.high)


class Epoch(NamedTuple):
    """Seconds of an epoch, where they are from (measured, fitted, catalogue), and whether the rows reach so far.

    `benched`: not data sheets but `rigup bench` tells how this type compares with the one that was measured.
    """

    seconds: Interval
    source: Source
    extrapolated: bool
    benched: bool = False


class _Row(NamedTuple):
    nodes: int
    total: int
    seconds: float


class Law(NamedTuple):
    """A fitted law of one device: what each term weighs, the spread of a run, and what the rows reach."""

    terms: tuple[str, ...]
    weights: tuple[float, ...]
    inverse: tuple[tuple[float, ...], ...]
    spread: float
    freedom: int
    rows: tuple[_Row, ...]
    carried: str  # "bench" or "catalogue" where the rows are of another type, else ""

    def epoch(self, asked: Allocation) -> Epoch:
        """Seconds of an epoch on an allocation."""
        largest = max(row.total for row in self.rows)
        nodes = max(row.nodes for row in self.rows)
        totals = {row.total for row in self.rows}
        beyond = max(0.0, math.log2(asked.total / largest))
        across = max(0.0, math.log2(asked.nodes / nodes))
        alone = abs(math.log2(asked.total / largest)) if len(totals) == 1 else 0.0
        hidden = beyond if len(self.rows) < CONSTANT_FROM else 0.0  # a share that does not scale would not show
        design = _design(self.terms, asked.nodes, asked.total)
        likely = sum(weight * value for weight, value in zip(self.weights, design, strict=True))
        if len(totals) == 1:
            likely *= LOSS_UNKNOWN**beyond
        here = [value / likely for value in design]
        leverage = sum(x * y * z for x, line in zip(here, self.inverse, strict=True) for y, z in zip(here, line, strict=True))
        spread = math.sqrt(
            self.spread**2 * (1 + max(0.0, leverage)) + (GPUS_BEYOND * beyond) ** 2 + (NODES_BEYOND * max(across, alone, hidden)) ** 2
        )
        width = math.exp(min(20.0, _quantile(self.freedom) * spread))
        exact = any(row.total == asked.total and row.nodes == asked.nodes for row in self.rows)
        source: Source = "catalogue" if self.carried else "measured" if exact else "fitted"
        reach = beyond > 0 or across > 0 or alone > 0
        return Epoch(Interval(likely / width, likely, likely * width), source, reach, self.carried == "bench")


def law(rates: Iterable[Rate]) -> Law | None:
    """Fit what is known of one device: what was measured, else what bench carries over, else the catalogue. None without a row."""
    known = list(rates)
    by_source = {source: [rate for rate in known if rate.source == source] for source in ("measured", "bench")}
    best = by_source["measured"] or by_source["bench"] or known
    rows = tuple(_Row(rate.nodes, rate.nodes * rate.gpus, seconds) for rate in best for seconds in rate.seconds)
    if not rows:
        return None
    totals, settings = {row.total for row in rows}, {(row.nodes, row.total) for row in rows}
    possible = ["gpus"]
    if len(totals) >= 2 and len(rows) >= CONSTANT_FROM:
        possible.append("constant")
    if len({row.nodes for row in rows}) >= 2 and len(settings) >= 3:
        possible.append("nodes")
    terms, weights = _least(rows, possible)
    columns = [[value / row.seconds for value in _design(terms, row.nodes, row.total)] for row in rows]
    residual = sum((sum(w * x for w, x in zip(weights, line, strict=True)) - 1) ** 2 for line in columns)
    freedom = PRIOR_WEIGHT + max(0, len(rows) - len(terms))
    spread = math.sqrt((PRIOR_WEIGHT * PRIOR_SPREAD**2 + residual) / freedom)
    carried = "" if by_source["measured"] else "bench" if by_source["bench"] else "catalogue"
    usual = {"bench": BENCH_SPREAD, "catalogue": CATALOGUE_SPREAD}
    return Law(terms, weights, _inverse(_gram(columns)), usual.get(carried, spread), 10_000 if carried else freedom, rows, carried)


def _design(terms: Sequence[str], nodes: int, total: int) -> list[float]:
    values = {"gpus": 1 / total, "constant": 1.0, "nodes": float(nodes - 1)}
    return [values[term] for term in terms]


def _least(rows: Sequence[_Row], possible: Sequence[str]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Non-negative least squares over at most three terms: the best of all subsets whose weights are positive."""
    best: tuple[float, tuple[str, ...], tuple[float, ...]] | None = None
    for count in range(1, len(possible) + 1):
        for terms in combinations(possible, count):
            columns = [[value / row.seconds for value in _design(terms, row.nodes, row.total)] for row in rows]
            weights = _solved(columns)
            if weights is None or min(weights) <= 0:
                continue
            residual = sum((sum(w * x for w, x in zip(weights, line, strict=True)) - 1) ** 2 for line in columns)
            if best is None or residual < best[0] * (1 - 1e-9) - 1e-15:
                best = (residual, terms, weights)
    if best is None:  # one term over positive rows always has a positive weight
        raise ValueError(possible)
    return best[1], best[2]


def _gram(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    size = len(columns[0])
    return [[sum(line[i] * line[j] for line in columns) for j in range(size)] for i in range(size)]


def _solved(columns: Sequence[Sequence[float]]) -> tuple[float, ...] | None:
    """Weights that bring every row nearest to 1; None where the rows do not tell the terms apart."""
    inverse = _inverse(_gram(columns))
    sums = [sum(line[i] for line in columns) for i in range(len(columns[0]))]
    weights = tuple(sum(x * y for x, y in zip(line, sums, strict=True)) for line in inverse)
    return weights if all(map(math.isfinite, weights)) and any(weights) else None


def _inverse(matrix: Sequence[Sequence[float]]) -> tuple[tuple[float, ...], ...]:
    """The inverse of a small symmetric matrix; zeros where it has none."""
    size = len(matrix)
    scale = [math.sqrt(matrix[i][i]) or 1.0 for i in range(size)]
    work = [[matrix[i][j] / scale[i] / scale[j] for j in range(size)] + [float(i == j) for j in range(size)] for i in range(size)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda line: abs(work[line][column]))
        if abs(work[pivot][column]) < 1e-10:
            return tuple(tuple(0.0 for _ in range(size)) for _ in range(size))
        work[column], work[pivot] = work[pivot], work[column]
        head = work[column][column]
        work[column] = [value / head for value in work[column]]
        for line in range(size):
            if line != column and (factor := work[line][column]):
                work[line] = [x - factor * y for x, y in zip(work[line], work[column], strict=True)]
    return tuple(tuple(work[i][size + j] / scale[i] / scale[j] for j in range(size)) for i in range(size))


def _quantile(freedom: int) -> float:
    return _T90[freedom - 1] if freedom <= len(_T90) else _NORMAL90
