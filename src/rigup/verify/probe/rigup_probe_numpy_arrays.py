"""NumPy's handling of arrays: shapes, types, orders, places, and what is no number."""

from __future__ import annotations

import bisect
import math
from typing import Any

import numpy as np
from rigup_probe_compare import Found
from rigup_probe_expected import flat, normal, rounded, turned, whole

_TYPES = ("float64", "float32", "float16", "int8", "int16", "int32", "int64", "uint8")
_NAN, _INF = math.nan, math.inf


def small_tensors(_device: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers in each type; bytes as they were given."""
    found = Found()
    for kind in _TYPES:
        count = np.arange(1, 11).astype(kind)
        found.exact("arange " + kind, count, list(range(1, 11)))
        found.exact("sum " + kind, count.sum(), 55)
        found.exact("compared " + kind, (count > 4).sum(), 6)
        found.exact("zeros " + kind, np.zeros((2, 3), kind), [[0] * 3] * 2)
        found.exact("ones " + kind, np.ones((2, 3), kind), [[1] * 3] * 2)
        found.exact("full " + kind, np.full(3, 7, kind), [7] * 3)
        found.exact("copy " + kind, count.copy(), list(range(1, 11)))
        again = np.frombuffer(count.tobytes(), kind)
        found.exact("bytes " + kind, again, list(range(1, 11)))
        held = count.copy()
        held += 1
        held[::2] *= 2
        found.exact("in place " + kind, held, [n + 1 if at % 2 else 2 * (n + 1) for at, n in enumerate(range(1, 11))])
    large = np.arange(1_048_583, dtype=np.int64)
    found.exact("sum of many", large.sum(), 1_048_583 * 1_048_582 // 2)
    found.exact("copy of many", (large.copy() != large).sum(), 0)
    found.near("linspace float64", np.linspace(0, 1, 11), [n / 10 for n in range(11)])
    found.exact("eye", np.eye(2, 3, 1), [[0, 1, 0], [0, 0, 1]])
    return dict(found.measured())


def casts(_device: dict[str, Any]) -> dict[str, Any]:
    """From each type to each other, rounding as IEEE 754 has it."""
    found = Found()
    values = [n - 6 for n in range(13)]
    for source in _TYPES:
        for other in _TYPES:
            given = [abs(n) for n in values] if "u" in source + other else values
            found.exact(source + " to " + other, np.array(given, source).astype(other), given)
    spread = [number * 3.7 for number in normal(1, 101)]
    for kind in ("float32", "float16"):
        found.exact("float64 to " + kind, np.array(spread).astype(kind), rounded(kind, spread))
    found.exact("float64 to int32", np.array(spread).astype("int32"), list(map(int, spread)))
    found.exact("to bool", np.array([0.0, 2.0, -1.0]).astype(bool), [False, True, True])
    found.exact("round", np.round(np.array(spread), 2), [round(number, 2) for number in np.array(spread).tolist()])
    found.exact("byte order", np.array([1, 258], ">i2").astype("<i4"), [1, 258])
    return dict(found.measured())


def unusual(_device: dict[str, Any]) -> dict[str, Any]:
    """What is no number stays none; what is infinite, infinite."""
    found = Found()
    with np.errstate(all="ignore"):
        for kind in ("float64", "float32", "float16"):
            odd = np.array([1.0, _NAN, _INF, -_INF, 0.0] * 7, kind)
            cases = {
                "sum": (odd.sum(), _NAN),
                "max": (odd.max(), _NAN),
                "min": (odd.min(), _NAN),
                "mean": (odd.mean(), _NAN),
                "isnan": (np.isnan(odd), [False, True, False, False, False] * 7),
                "isinf": (np.isinf(odd), [False, False, True, True, False] * 7),
                "isfinite": (np.isfinite(odd), [True, False, False, False, True] * 7),
                "add": (odd + 1, [2, _NAN, _INF, -_INF, 1] * 7),
                "multiply": (odd * 0, [0, _NAN, _NAN, _NAN, 0] * 7),
                "exp": (np.exp(odd[1:5]), [_NAN, _INF, 0, 1]),
                "maximum": (np.maximum(odd, 0), [1, _NAN, _INF, 0, 0] * 7),
                "fmax": (np.fmax(odd, 0), [1, 0, _INF, 0, 0] * 7),
                "nanmax": (np.nanmax(odd), _INF),
                "log": (np.log(np.array([-1, 0], kind)), [_NAN, -_INF]),
                "sqrt": (np.sqrt(np.array([-1, _INF], kind)), [_NAN, _INF]),
                "divide": (np.array([1, -1, 0], kind) / np.array([0, 0, 0], kind), [_INF, -_INF, _NAN]),
                "clip": (np.clip(odd, -2, 2), [1, _NAN, 2, -2, 0] * 7),
                "sort": (np.sort(odd[:5]), [-_INF, 0, 1, _INF, _NAN]),
                "matmul": (np.array([[1, _NAN], [1, 1]], kind) @ np.array([[1], [0]], kind), [[_NAN], [1]]),
                "nan_to_num": (np.nan_to_num(odd[:2]), [1, 0]),
                "equal": (odd[:2] == odd[:2], [True, False]),
                "where": (np.where(np.isnan(odd[:2]), 5, odd[:2]), [1, 5]),
                "argmax": (odd.argmax(), 1),
                "dot": (np.dot(odd, odd), _NAN),
                "tanh": (np.tanh(odd[1:4]), [_NAN, 1, -1]),
                "cumsum": (odd[:3].cumsum(), [1, _NAN, _NAN]),
            }
            for name, (got, wanted) in cases.items():
                found.exact(name + " " + kind, got, wanted)
    return dict(found.measured())


def sorting(_device: dict[str, Any]) -> dict[str, Any]:
    """Sorted values and where they were, in each type and kind of sorting; equal ones stay in order where that is promised."""
    found = Found()
    for kind in _TYPES:
        for size in (5, 17, 300, 5003):
            values = whole(size, 0, 60, size)
            array, up = np.array(values, kind), sorted(values)
            for way in ("quicksort", "mergesort", "heapsort", "stable"):
                found.exact("sort " + way + " " + kind, np.sort(array, kind=way), up)
                order = np.argsort(array, kind=way).tolist()
                found.exact("argsort " + way + " " + kind, [values[n] for n in order], up)
            found.exact("argsort in order " + kind, np.argsort(array, kind="stable"), sorted(range(size), key=values.__getitem__))
            part = np.partition(array, size // 2).tolist()
            found.exact("partition " + kind, [sorted(part[: size // 2]), part[size // 2]], [up[: size // 2], up[size // 2]])
            where = np.argpartition(array, size // 2).tolist()
            found.exact("argpartition " + kind, values[where[size // 2]], up[size // 2])
            found.exact("unique " + kind, np.unique(array), sorted(set(values)))
            found.exact(
                "searchsorted " + kind, np.searchsorted(np.array(up, kind), array), [bisect.bisect_left(up, value) for value in values]
            )
            found.exact(
                "searchsorted from the right " + kind,
                np.searchsorted(np.array(up, kind), array, side="right"),
                [bisect.bisect_right(up, value) for value in values],
            )
            found.exact(
                "digitize " + kind, np.digitize(array, np.arange(0, 60, 5).astype(kind)), [min(value // 5 + 1, 12) for value in values]
            )
            found.exact("argmax " + kind, array.argmax(), values.index(max(values)))
            found.exact("argmin " + kind, array.argmin(), values.index(min(values)))
        matrix = whole(3, 0, 99, 7, 9)
        found.exact("sort rows " + kind, np.sort(np.array(matrix, kind), axis=1), list(map(sorted, matrix)))
        found.exact("sort columns " + kind, np.sort(np.array(matrix, kind), axis=0), turned(map(sorted, turned(matrix))))
        found.exact("argmax rows " + kind, np.array(matrix, kind).argmax(1), [row.index(max(row)) for row in matrix])
    found.exact("lexsort", np.lexsort((np.array([1, 0, 1]), np.array([2, 2, 1]))), [2, 1, 0])
    return dict(found.measured())


def indexing(_device: dict[str, Any]) -> dict[str, Any]:
    """Take, put, mask, count, add at places that occur twice."""
    found = Found()
    for kind in _TYPES:
        table, rows = whole(1, 0, 60, 11, 4), whole(2, 0, 10, 23)
        array, at = np.array(table, kind), np.array(rows)
        counts = [rows.count(n) for n in range(11)]
        added, put = np.zeros(11, kind), np.array(table, kind)
        np.add.at(added, at, np.ones(23, kind))
        put[at[:3]] = 7
        cases = {
            "rows": (array[at], [table[n] for n in rows]),
            "take": (np.take(array, at, 0), [table[n] for n in rows]),
            "mask": (array[array > 30], [v for v in flat(table) if v > 30]),
            "add.at": (added, counts),
            "where": (np.where(array > 30, array, 0), [[v if v > 30 else 0 for v in row] for row in table]),
            "nonzero": (np.nonzero(array[:, 0] > 30)[0], [n for n, row in enumerate(table) if row[0] > 30]),
            "take_along_axis": (np.take_along_axis(array, at[:11, None] % 4, 1), [[row[n % 4]] for row, n in zip(table, rows)]),
            "put": (put, [[7] * 4 if n in rows[:3] else row for n, row in enumerate(table)]),
            "pairs": (array[at, at % 4], [table[n][n % 4] for n in rows]),
            "negative": (array[-2], table[-2]),
            "select": (
                np.select([array > 40, array > 20], [array, np.ones_like(array)], np.zeros_like(array)),
                [[v if v > 40 else int(v > 20) for v in row] for row in table],
            ),
            "compress": (np.compress(np.array([True, False, True]), array, 0), [table[0], table[2]]),
            "any": (np.any(array > 58, 1), [any(v > 58 for v in row) for row in table]),
            "all": (np.all(array > 9, 1), [all(v > 9 for v in row) for row in table]),
            "clip": (np.clip(array, 10, 40), [[min(max(v, 10), 40) for v in row] for row in table]),
            "delete": (np.delete(array, 1, 0), [table[0], *table[2:]]),
            "insert": (np.insert(array[:, 0], 1, 9), [table[0][0], 9, *(row[0] for row in table[1:])]),
        }
        for name, (got, wanted) in cases.items():
            found.exact(name + " " + kind, got, wanted)
    rows = whole(2, 0, 10, 23)
    found.exact("bincount", np.bincount(np.array(rows), minlength=11), [rows.count(n) for n in range(11)])
    found.exact("histogram", np.histogram(np.array(rows), 11, (0, 11))[0], [rows.count(n) for n in range(11)])
    found.exact("isin", np.isin(np.array(rows), [1, 5]), [number in (1, 5) for number in rows])
    found.near("interp float64", np.interp([0.5, 1.25], [0, 1, 2], [0, 10, 30]), [5.0, 15.0])
    return dict(found.measured())
