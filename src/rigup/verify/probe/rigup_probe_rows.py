"""Rows of tables: one function of a framework, its reference in Python, and the shapes and types in which it is called.

A table knows no framework: `name` is looked up in NumPy's namespace, in JAX's, or is an operator of ONNX. Inputs are multiples
of 1/16, which each type holds, so that one list of expected values serves all types; whole numbers are those times 4.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, NamedTuple, Sequence

from rigup_probe_compare import Found, listed
from rigup_probe_expected import flat, shape_of
from rigup_probe_grid import Grid
from rigup_probe_torch_deviation import deviation

STEPS, WHOLE = (16, 4)  # inputs are multiples of 1 / STEPS; WHOLE times as much is a whole number, where fractions are left away
ONE = (((3, 5),), ((23, 29),), ((0, 3),))
TWO = (((3, 5),) * 2, ((23, 29),) * 2, ((4, 1), (1, 3)), ((0, 3),) * 2)
LAST, FIRST, ALL = (((5, 7),), ((520, 3),)), (((7, 5),), ((3, 521),)), (((5, 7),), ((23, 29),))
REALS, INTEGERS, COMPLEX = ("float32", "float64", "float16"), ("int32", "int64", "int16", "int8", "uint8"), ("complex64", "complex128")
_BITS = {
    "int8": (-128, 127),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 255),
}
_FAULTS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Row(NamedTuple):
    """One function.

    Attributes:
        name: where it stands in the framework; other names of the same after bars.
        wanted: what it gives, as one grid or several, from grids.
        inputs: of each the least and the greatest number, or a function from a shape to a grid, which no type changes.
        shapes: of each form the shapes of the inputs: few numbers, many, and others.
        named: further arguments.
        call: how it is called with the inputs, where that is not with one after the other.
        types: `f` floating point, `m` what linear algebra has of it, `s` single precision alone, `c` complex, `i` whole numbers, `b` truth values.
        nan: "all" where the reference knows what becomes of NaN in each place, "small" where few numbers are to be asked so,
            "some" where NaN must be in the result, "" for none.
        slope: whether it is asked for its gradient, where the framework has gradients.
        factor: how much more it may be off than others.
        label: what tells this row from others of the same function.
        eager: its result's shape hangs on the numbers.
        rare: another form of a function that has a row: left out where each costs much.

    """

    name: str
    wanted: Callable[..., Any]
    inputs: tuple[Any, ...]
    shapes: Any = ONE
    named: Any = {}  # noqa: RUF012  (read only)
    call: Any = None
    types: str = "f"
    nan: str = "all"
    slope: bool = True
    factor: float = 1.0
    label: str = ""
    eager: bool = False
    rare: bool = False

    @property
    def names(self) -> list[str]:
        """All of one function."""
        return self.name.split("|")

    def called(self, function: Any, given: Sequence[Any]) -> Any:
        """The framework's function with these inputs."""
        return self.call(function, *given, **self.named) if self.call else function(*given, **self.named)


class Form(NamedTuple):
    """Inputs of a row and their expected results; None if only NaN must occur in the result."""

    label: str
    grids: list[Grid]
    wanted: Any


_FORMS: dict[Any, list[Form]] = {}


def values(span: Any, shape: Sequence[int], seed: int) -> Grid:
    """A grid in which no number returns soon."""
    if callable(span):
        special: Grid = span(shape)
        return special
    low, high = span
    count = max(
        candidate for candidate in range(2, int((high - low) * STEPS) + 2) if all(candidate % d for d in range(2, int(candidate**0.5) + 1))
    )
    step = (7, 11, 5)[seed % 3] % count or 1
    numbers = [low + ((at + 1) * step * (1 + at // count) + 3 * seed) % count / STEPS for at in range(math.prod(shape))]
    return Grid(shape, numbers)


def forms(row: Row, kind: str) -> list[Form]:
    """Each form of a row in a type; none where Python has no answer, or where the type does not hold it."""
    sort = "whole" if kind in INTEGERS else "truth" if kind == "bool" else "complex" if kind in COMPLEX else "real"
    key = row.name, row.label, sort, kind == "uint8"
    if key not in _FORMS:
        _FORMS[key] = list(_formed(row, sort, kind))
    least, most = _BITS.get(kind, (-math.inf, math.inf))
    return [
        form
        for form in _FORMS[key]
        if sort != "whole" or all(least <= x <= most for grid in (*form.grids, *form.wanted) for x in grid.flat if type(x) is int)
    ]


def _formed(row: Row, sort: str, kind: str) -> Iterator[Form]:
    for number, shapes in enumerate(row.shapes):
        plain = [values(span, shape, seed) for seed, (span, shape) in enumerate(zip(row.inputs, shapes))]
        grids = [grid if callable(span) else _of_sort(grid, sort, kind) for grid, span in zip(plain, row.inputs)]
        label = "small" if not number else "of " + " and ".join(map(str, shapes))
        odd = sort == "real" and row.nan == "all" and number == 1
        if not odd:
            yield from _answered(row, sort, label, grids)
        if sort == "real" and row.nan and (odd or not number):
            first = next((at for at, span in enumerate(row.inputs) if not callable(span)), 0)
            with_nan = [_with_nan(grid) if at == first else grid for at, grid in enumerate(grids)]
            yield from (
                [Form(label + " with NaN", with_nan, None)] if row.nan == "some" else _answered(row, sort, label + " with NaN", with_nan)
            )


def _answered(row: Row, sort: str, label: str, grids: list[Grid]) -> Iterator[Form]:
    try:
        wanted = row.wanted(*grids)
    except _FAULTS:
        if sort == "real":
            raise
        return
    several = list(wanted) if isinstance(wanted, (tuple, list)) else [wanted]
    if sort == "whole" and any(isinstance(x, float) and x != int(x) for grid in several for x in grid.flat):
        return
    if sort == "whole":
        several = [Grid(grid.shape, [x if type(x) is bool else int(x) for x in grid.flat]) for grid in several]
    yield Form(label, grids, several)


def _of_sort(grid: Grid, sort: str, kind: str) -> Grid:
    if sort == "whole":
        return Grid(grid.shape, [abs(int(x * WHOLE)) if kind == "uint8" else int(x * WHOLE) for x in grid.flat])
    if sort == "truth":
        return Grid(grid.shape, [int(x * STEPS) % 3 > 0 for x in grid.flat])
    if sort == "complex":
        return Grid(grid.shape, [complex(x, y / 2) for x, y in zip(grid.flat, grid.flat[::-1])])
    return grid


def _with_nan(grid: Grid) -> Grid:
    """Here and there: at most one in any dozen."""
    return Grid(grid.shape, [math.nan if at % 13 == 4 else number for at, number in enumerate(grid.flat)])


def kinds(row: Row, reals: Sequence[str] = REALS, whole: Sequence[str] = INTEGERS, pairs: Sequence[str] = COMPLEX) -> list[str]:
    """The types in which a row is called."""
    kinds_of = {"f": reals, "i": whole, "c": pairs, "b": ("bool",)}
    return [kind for letter in row.types for kind in kinds_of[letter]]


def note_result(found: Found, row: Row, kind: str, form: Form, results: Any, name: str = "") -> None:
    """Compare a result with the expected one: recorded by function and type, the worst of all forms."""
    results_ = [listed(result) for result in (results if isinstance(results, (list, tuple)) and not _number(results) else [results])]
    label = " ".join(part for part in (name or row.names[0], row.label) if part)
    if form.wanted is None:
        if not any(number != number for grid in results_ for number in flat(grid)):
            found.wrong.append(label + " keeps NaN " + kind)
        return
    worst = 0.0 if len(results_) == len(form.wanted) else math.inf
    for result, right in zip(results_, form.wanted):
        numbers = flat(result)
        if _shape(result, right.shape) != right.shape or len(numbers) != len(right.flat):
            worst = math.inf
        else:
            worst = max(worst, _off(numbers, right.flat))
    note(found, label, kind if kind in (*REALS, "bfloat16", *COMPLEX) else "", worst / row.factor, form.label)


def note(found: Found, label: str, kind: str, worst: float, form: str = "") -> None:
    """The worst of a function in a type; of whole numbers and truth, whether it is right."""
    if kind:
        found.errors[label + " " + kind] = max(found.errors.get(label + " " + kind, 0.0), worst)
    elif worst:
        found.wrong.append(label + " (" + form + ")")


def _off(numbers: list[Any], right: list[Any]) -> float:
    if any(type(number) is complex for number in (*numbers, *right)):
        return deviation(*([part for number in side for part in (complex(number).real, complex(number).imag)] for side in (numbers, right)))
    return deviation(numbers, right)


def _number(result: Any) -> bool:
    return hasattr(result, "shape")


def _shape(result: Any, wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a nested list; an empty one has the expected shape if that has a 0."""
    return wanted if 0 in wanted and 0 in shape_of(result) else shape_of(result)
