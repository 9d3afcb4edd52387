"""Cases: an operator of torch, its inputs, and the reference for results and gradients.

The inputs are few, and exact in every type from bfloat16 on, so that one reference in Python serves all types. Each case
is run in every type that the device has, with its inputs laid out in memory in several ways.
"""

from __future__ import annotations

import functools
import math
import random
import traceback
from typing import Any, Callable, NamedTuple, Sequence

import torch
from rigup_probe_grid import Grid
from rigup_probe_tape import Traced, differentiate, forget, plain, taped
from rigup_probe_torch_compare import elsewhere, unsupported
from rigup_probe_torch_deviation import deviation
from rigup_probe_torch_forms import called_functions
from rigup_probe_torch_pieces import tensor, worst

FLOATS = ("float64", "float32", "float16", "bfloat16")
_CERTAIN = ("float64", "float32")  # types in which a CPU or a CUDA device lacks no operator
LONG = 33_019  # numbers: more than 2^15, and no multiple of any vector's length
SIZES = (1, 5, 17)
_STEPS = 16  # inputs are multiples of 1 / _STEPS
_MOST_NAMES, _BY = 4, "; by "
_ROUGH = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}  # times a case's factor: surely no rounding
_MOST_LAID = 64  # inputs that are kept for the next way to call an operator
_NOISE = 77.0  # what lies between the numbers of a strided tensor


class Input(NamedTuple):
    """An input: its numbers and their kind.

    Attributes:
        grid: the numbers, exact in every type.
        kind: "real" (differentiated), "given" (of the case's type, no gradient), "mask" (truths), or the name of a type.

    """

    grid: Grid
    kind: str = "real"


class Case(NamedTuple):
    """One row of the tables.

    Attributes:
        name: the operator's, as people call it.
        calls: ways to ask torch for it, each of which takes the inputs; all must give the same.
        reference: the same over grids.
        inputs: what it is given.
        dtypes: the types of "real" inputs to try.
        factor: times the room that a type has, where many roundings are added up.
        backward: whether its gradients are asked for.
        elementwise: whether it may be given any number of numbers in any shape: it is tried in many.
        optional: whether a device may lack it in every type.
        result: the type of what comes out, where it is not the one that went in.
        few: whether its inputs are laid out as usual alone: what is tried are its arguments.
        spreads: whether a NaN in an input is one in all results that it counts for.
        twice: whether its gradients are differentiated again.

    """

    name: str
    calls: tuple[Callable[..., Any], ...]
    reference: Callable[..., Any]
    inputs: tuple[Input, ...]
    dtypes: tuple[str, ...] = FLOATS
    factor: float = 1.0
    backward: bool = True
    elementwise: bool = False
    optional: bool = False
    result: str = ""
    few: bool = False
    spreads: bool = True
    twice: bool = True


class Wanted(NamedTuple):
    """Expected results, the weights of their sum, the gradient of that sum by each real input, and the length of the tape."""

    results: list[Grid]
    weights: list[Grid]
    gradients: list[Grid]
    steps: int = 0


def real(*shape: int, low: float = -3.0, high: float = 3.0, seed: int = 1, step: float = 1 / _STEPS) -> Input:
    """Numbers between two bounds, multiples of `step`."""
    return Input(numbers(shape, low, high, seed, step))


def given(*shape: int, **options: Any) -> Input:
    """Likewise, without a gradient."""
    return real(*shape, **options)._replace(kind="given")


def literal(values: Sequence[Any], shape: Sequence[int] = (), kind: str = "real") -> Input:
    """These numbers."""
    return Input(Grid(shape or (len(values),), values), kind)


def distinct(*shape: int, seed: int = 1, step: float = 1 / _STEPS) -> Input:
    """Numbers no two of which are equal; at most 250 of them."""
    count = math.prod(shape)
    values = [(number - count // 2) * step for number in range(count)]
    random.Random(seed).shuffle(values)  # noqa: S311  (an order to sort)
    return Input(Grid(shape, values))


def numbers(shape: Sequence[int], low: float, high: float, seed: int, step: float) -> Grid:
    """A grid of multiples of `step`, the same each time, without zero."""
    draw = random.Random(seed * 1009 + len(shape))  # noqa: S311  (numbers to reckon with)
    bounds = math.ceil(low / step), math.floor(high / step)
    return Grid(shape, [(draw.randint(*bounds) or bounds[1]) * step for _ in range(math.prod(shape))])


_EXPECTED: dict[str, Wanted] = {}


def expected(case: Case) -> Wanted:
    """The reference's results, computed once."""
    if case.name not in _EXPECTED:
        _EXPECTED[case.name] = _expected(case)
    return _EXPECTED[case.name]


def _expected(case: Case) -> Wanted:
    return referenced(case, [input_.grid for input_ in case.inputs])


def referenced(case: Case, grids: Sequence[Grid], weights: Sequence[Grid] = ()) -> Wanted:
    """The reference's results and gradients for these inputs and weights."""
    forget()
    traced = [_traced(grid) if case.backward and input_.kind == "real" else grid for grid, input_ in zip(grids, case.inputs)]
    output = case.reference(*traced)
    results = list(output) if isinstance(output, tuple) else [output]
    if not case.backward:
        return Wanted([Grid(result.shape, [plain(x) for x in result.flat]) for result in results], [], [])
    weights = weights or [_weights(result.shape, 17 + at) for at, result in enumerate(results)]
    steps = taped()
    differentiate([x for result in results for x in result.flat], [x for grid in weights for x in grid.flat])
    slopes = [
        Grid(grid.shape, [x.gradient for x in grid.flat])
        for grid, input_ in zip(traced, case.inputs)
        if case.backward and input_.kind == "real"
    ]
    return Wanted([Grid(result.shape, [plain(x) for x in result.flat]) for result in results], list(weights), slopes, steps)


@functools.lru_cache(None)
def _weights(shape: tuple[int, ...], seed: int) -> Grid:
    return numbers(shape, -2.0, 2.0, seed, 0.125)


def _traced(grid: Grid) -> Grid:
    return Grid(grid.shape, [Traced(x) for x in grid.flat])


class Variant(NamedTuple):
    """A layout of inputs: its name, how a tensor is created, and how many of the case's numbers it uses."""

    name: str
    lay: Callable[[Grid, Any, str], Any]
    take: int = 0  # of an elementwise case: the first so many numbers, in a row, over and over; 0 for all as they are


def _plain(grid: Grid, dtype: Any, device: str) -> Any:
    return tensor(grid.flat, dtype).to(device).view(grid.shape)


def _transposed(grid: Grid, dtype: Any, device: str) -> Any:
    turned = list(range(len(grid.shape)))[::-1]
    return _permuted(grid, turned, dtype, device)


def _channels_last(grid: Grid, dtype: Any, device: str) -> Any:
    rank = len(grid.shape)
    return _permuted(grid, [0, *range(2, rank), 1], dtype, device) if rank > 2 else _transposed(grid, dtype, device)


def _permuted(grid: Grid, order: list[int], dtype: Any, device: str) -> Any:
    """The dimensions lie in memory in another order; no kernel moves the numbers."""
    shape = [grid.shape[place] for place in order]
    back = [order.index(place) for place in range(len(order))]
    places = [0]
    for dim in order:
        places = [place + step for place in places for step in range(0, grid.steps[dim] * grid.shape[dim], grid.steps[dim])]
    flat = [grid.flat[place] for place in places]
    return tensor(flat, dtype).to(device).view(shape).permute(back)


def _offset(grid: Grid, dtype: Any, device: str) -> Any:
    """It begins at an address that suits no vector."""
    return tensor([*grid.flat[:1] * 3, *grid.flat], dtype).to(device)[3:].view(grid.shape)


def _strided(grid: Grid, dtype: Any, device: str) -> Any:
    """A strided tensor: every other number of its storage is noise."""
    noise = bool(_NOISE) if dtype == torch.bool else 1 if not dtype.is_floating_point else _NOISE
    mixed = [x for number in grid.flat for x in (number, noise)]
    return tensor(mixed, dtype).to(device).view(*grid.shape, 2)[..., 0]


LAYOUTS = (
    Variant("contiguous", _plain),
    Variant("transposed", _transposed),
    Variant("channels last", _channels_last),
    Variant("offset", _offset),
    Variant("strided", _strided),
)
THREADS = torch.get_num_threads()  # as this process was started with
LARGE = Variant("1100003 numbers", _plain, 1_100_003)
ROWS = tuple(Variant(str(size) + " numbers", _plain, size) for size in (*SIZES, LONG))


def fits(case: Case, variant: Variant) -> bool:
    """Whether a layout differs from the others for these inputs."""
    rank = max((len(input_.grid.shape) for input_ in case.inputs), default=0)
    return {"transposed": rank > 1, "channels last": rank > 2}.get(variant.name, rank > 0)


class Report:
    """Results of a table's cases on one device."""

    def __init__(self, device: dict[str, Any]) -> None:
        self.device = device
        self.worst: dict[tuple[str, str, str], list[Any]] = {}
        self.raised: list[list[str]] = []
        self.without: list[str] = []
        self.away: list[str] = []
        self.left: list[str] = []
        self.once: dict[tuple[str, str], int] = {}

    def add(self, case: Case, dtype: str, way: str, error: float, where: str) -> None:
        """Record an error if it is the largest of its case, type and direction."""
        key = (case.name, dtype, way)
        if key not in self.worst or error > self.worst[key][0]:
            self.worst[key] = [error, where, case.factor]

    def called(self, case: Case, dtype: str, way: str, call: Callable[..., Any], inputs: list[Any]) -> None:
        """Add the names of torch's functions in a call whose result is surely wrong."""
        kept = self.worst.get((case.name, dtype, way), [0.0])
        if kept[0] > _ROUGH.get(dtype, 0.0) * case.factor and _BY not in kept[1]:
            names = called_functions(call, inputs)
            kept[1] += _BY + ", ".join(names) if 0 < len(names) <= _MOST_NAMES else ""

    def summary(self) -> dict[str, Any]:
        """The measurement for the probe's event."""
        cases = [[*key, *value] for key, value in self.worst.items()]
        without = list(dict.fromkeys(self.without))
        data = {"cases": cases, "raised": self.raised, "without": without, "elsewhere": list(dict.fromkeys(self.away))}
        return {**data, "left": self.left} if self.left else data


def one_variant(report: Report, case: Case, wanted: Wanted, dtype: str, variant: Variant, turn: int = -1) -> None:
    """Run a case in one layout and type: all its calls, and the gradients of the first."""
    way = "forward"
    try:
        for number, call in enumerate(_calls(case, dtype, variant, turn)):
            way = "forward"
            inputs = laid(report.device, case, dtype, variant)
            with torch.no_grad():
                _compare(report, case, (dtype, way, variant), call(*inputs), wanted.results)
            report.called(case, dtype, way, call, inputs)
            if case.backward and (number == 0 or variant in (LAYOUTS[0], LAYOUTS[-1])):
                way = "backward"
                _back(report, case, wanted, (dtype, way, variant), call)
                report.called(case, dtype, way, call, inputs)
    except Exception as why:  # whatever a broken build makes of it: it is told with the operator's name
        failed(report, case, dtype, way, why)


def failed(report: Report, case: Case, dtype: str, way: str, why: Exception) -> None:
    """Record an exception: an operator that this device lacks, or a failure."""
    if unsupported(why) and (case.optional or dtype not in _CERTAIN or report.device["type"] not in ("cpu", "cuda")):
        report.without.append(case.name + " " + dtype)
        return
    traceback.print_exc() if not report.raised else None
    text = (str(why).strip().splitlines() or [""])[0]
    report.raised.append([case.name, dtype, way, type(why).__name__ + ": " + text[:200]])


def _calls(case: Case, dtype: str, variant: Variant, turn: int) -> Sequence[Callable[..., Any]]:
    """All ways to call it where the inputs lie as usual; the first where they lie otherwise, or two where all is to be tried.

    `turn`: in types other than float32 the first and one more, which changes from case to case; -1 for all.
    """
    if variant is LAYOUTS[-1] and (turn < 0 or dtype == "float32"):  # a module comes last
        return case.calls if turn < 0 else tuple(dict.fromkeys((case.calls[0], case.calls[-1])))
    if variant is not LAYOUTS[0]:
        return case.calls[:2] if variant in LAYOUTS and dtype == "float32" and turn < 0 else case.calls[:1]
    if turn < 0 or dtype not in FLOATS or dtype == "float32" or len(case.calls) < 3:
        return case.calls
    return case.calls[0], case.calls[1 + turn % (len(case.calls) - 1)]


_LAID: dict[tuple[Any, ...], Any] = {}


def plain_tensor(grid: Grid, kind: str, dtype: str, device: str) -> Any:
    """A tensor of these numbers, as an input of a kind lies as usual."""
    return _plain(grid, _type(kind, dtype), device)


def weight(grid: Grid, result: Any, variant: Variant = LAYOUTS[0]) -> Any:
    """The gradient of the weighted sum by a result, in the result's type and on its device."""
    key = (id(grid), variant.take, result.dtype, result.device)
    if key not in _LAID or _LAID[key][0]._version != 0:
        _LAID.clear() if len(_LAID) > _MOST_LAID else None
        _LAID[key] = _plain(_shaped(grid, variant), result.dtype, str(result.device)), grid
    return _LAID[key][0]


def laid(device: dict[str, Any], case: Case, dtype: str, variant: Variant) -> list[Any]:
    """The case's input tensors, created anew if a cached one was modified."""
    return [_input(input_, dtype, variant, device["id"]) for input_ in case.inputs]


def _input(input_: Input, dtype: str, variant: Variant, device: str) -> Any:
    key = (id(input_.grid), input_.kind, dtype, variant.name, device)
    if key not in _LAID or _LAID[key][0]._version != 0:
        _LAID.clear() if len(_LAID) > _MOST_LAID else None
        _LAID[key] = variant.lay(_shaped(input_.grid, variant), _type(input_.kind, dtype), device), input_.grid
    return _LAID[key][0]


def _shaped(grid: Grid, variant: Variant) -> Grid:
    """As the variant wants it: the numbers over and over, until there are enough."""
    if not variant.take:
        return grid
    times = -(-variant.take // len(grid.flat))
    return Grid((variant.take,), (grid.flat * times)[: variant.take])


def _type(kind: str, dtype: str) -> Any:
    return getattr(torch, {"real": dtype, "given": dtype, "mask": "bool"}.get(kind, kind))


def _back(report: Report, case: Case, wanted: Wanted, at: Any, call: Callable[..., Any]) -> None:
    """Compare the gradients, and the results computed with them."""
    dtype, _way, variant = at
    inputs = laid(report.device, case, dtype, variant)
    leaves = [x.detach().requires_grad_() if input_.kind == "real" else x for x, input_ in zip(inputs, case.inputs)]
    reals = [leaf for leaf, input_ in zip(leaves, case.inputs) if input_.kind == "real"]
    with torch.enable_grad():
        results = several(call(*leaves))
        _compare(report, case, (dtype, "forward", variant), [result.detach() for result in results], wanted.results)
        weights = [weight(grid, result, variant) for grid, result in zip(wanted.weights, results)]
        slopes = torch.autograd.grad(results, reals, weights, allow_unused=True)
    for number, (slope, right) in enumerate(zip(slopes, wanted.gradients)):
        part = "gradient " + str(number + 1)
        _compare(report, case, at, [slope], [right], part)


def several(results: Any) -> list[Any]:
    """The results of a call as a list, also of a single tensor."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


def _compare(report: Report, case: Case, at: Any, got: Any, wanted: list[Grid], part: str = "") -> None:
    """Record the error of each result."""
    dtype, way, variant = at
    if len(several(got)) < len(wanted):
        report.add(case, dtype, way, math.inf, "fewer results")
    for number, (result, right) in enumerate(zip(several(got), wanted)):
        where = ", ".join(filter(None, [part or ("result " + str(number + 1) if len(wanted) > 1 else ""), variant.name]))
        if result is None:
            report.add(case, dtype, way, 0.0 if not any(right.flat) else math.inf, where)
            continue
        report.away += [case.name + " " + dtype + " " + place for place in elsewhere(report.device, result=result)]
        report.add(case, dtype, way, _error(result, right, variant, dtype if part else case.result or dtype), where)


def _error(got: Any, right: Grid, variant: Variant, dtype: str) -> float:
    """The largest deviation from the reference; `inf` where shape or type are others."""
    shape = (variant.take,) if variant.take else right.shape
    if tuple(got.shape) != tuple(shape) or (got.is_floating_point() and got.dtype != getattr(torch, dtype)):
        return math.inf
    if variant.take > len(right.flat):
        return worst(got, right.flat, len(right.flat), -(-variant.take // len(right.flat)))
    return deviation(got.detach().cpu().reshape(-1).tolist(), right.flat)
