"""Run the rows of tables with NumPy: each type, small and large arrays, several memory layouts, repeatedly."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
from rigup_probe_compare import Found
from rigup_probe_grid import Grid
from rigup_probe_rows import Row, forms, kinds, note_result

_MATRICES = ("float32", "float64")  # what LAPACK has
_AGAIN = 3  # calls with other numbers of the same shape before the one that is looked at


def rows_check(*tables: Callable[[], Iterator[Row]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The check of a table."""

    def checked(_device: dict[str, Any]) -> dict[str, Any]:
        found = Found()
        with np.errstate(all="ignore"):
            for row in (row_ for table in tables for row_ in table()):
                functions = {name: resolved(np, name) for name in row.names}
                for name, function in functions.items():
                    if function is None:
                        continue
                    for kind in _MATRICES if row.types == "m" else kinds(row):
                        _check_function(found, row, name, function, kind)
        return dict(found.measured())

    return checked


def resolved(space: Any, name: str) -> Any:
    """The function of that dotted name; None where a release has none."""
    for part in name.split("."):
        space = getattr(space, part, None)
    return space


def _check_function(found: Found, row: Row, name: str, function: Any, kind: str) -> None:
    for form in forms(row, kind):
        given = [array_of(grid, kind) for grid in form.grids]
        try:
            for turn in range(1, _AGAIN + 1):
                _again(row, function, [np.roll(array, turn, 0) if array.ndim else array for array in given])
            for layout, lay in _LAYOUTS if form.label == "small" or not row.rare else _LAYOUTS[:1]:
                laid = [lay(array) for array in given]
                note_result(found, row, kind, form._replace(label=form.label + layout), row.called(function, laid), name)
        except np.linalg.LinAlgError as error:
            if form.wanted is not None:
                found.wrong.append(name + " " + kind + ": " + str(error))
        except Exception as error:
            found.wrong.append(name + " " + kind + " (" + form.label + "): " + repr(error)[:200])
        if any(
            not np.array_equal(array, array_of(grid, kind), equal_nan=True)
            for array, grid in zip(given, form.grids)
            if array.dtype.kind in "fiu"
        ):
            found.wrong.append(name + " leaves its inputs alone " + kind)


def _again(row: Row, function: Any, given: list[Any]) -> None:
    """Call with other numbers of the same shape; results and errors are ignored."""
    try:
        row.called(function, given)
    except (np.linalg.LinAlgError, ValueError, IndexError) as why:
        del why


def array_of(grid: Grid, kind: str) -> Any:
    """A grid as an array."""
    return np.array(grid.flat, kind).reshape(grid.shape)


def _in_steps(array: Any) -> Any:
    """Every second of twice as many along the last dimension."""
    return np.repeat(array, 2, -1)[..., ::2] if array.ndim else array


_LAYOUTS = (
    ("", lambda array: array),
    (" in steps", _in_steps),
    (" by columns", lambda array: np.asfortranarray(array) if array.ndim else array),
    (" backwards", lambda array: array[::-1].copy()[::-1] if array.ndim else array),
)
