"""JAX's handling of arrays: orders, places, what is no number, linear algebra, and results that are not those of before."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import normal, rounded, turned, whole
from rigup_probe_jax_places import compared, elsewhere, host, moved, types_of

_NAN, _INF = math.nan, math.inf


def indexing(device: dict[str, Any]) -> dict[str, Any]:
    """Take, put, add at places that occur twice, cut, mask; the gradient of an embedding."""
    found = Found()
    table, rows = whole(1, -60, 60, 11, 4), whole(2, 0, 10, 23)
    at, counts = moved(device, rows, "int32"), [rows.count(n) for n in range(11)]
    for kind in ("float32", "int32", "float16"):
        array = moved(device, table, kind)
        cases = {
            "rows": (lambda x, n: x[n], [table[n] for n in rows]),
            "take": (lambda x, n: jnp.take(x, n, axis=0), [table[n] for n in rows]),
            "add": (lambda x, n: jnp.zeros(11, x.dtype).at[n].add(1), counts),
            "set": (lambda x, n: x.at[n[:3]].set(7), [[7] * 4 if n in rows[:3] else row for n, row in enumerate(table)]),
            "max": (lambda x, n: x.at[n].max(0)[n], [[max(v, 0) for v in table[n]] for n in rows]),
            "segment_sum": (lambda x, n: jax.ops.segment_sum(x[n], n, 11), [[v * counts[n] for v in row] for n, row in enumerate(table)]),
            "take_along_axis": (lambda x, n: jnp.take_along_axis(x, n[:11, None] % 4, 1), [[row[n % 4]] for row, n in zip(table, rows)]),
            "where": (lambda x, _n: jnp.where(x > 0, x, -x), [list(map(abs, row)) for row in table]),
            "sliced": (lambda x, _n: x[1::2, ::-2], [row[::-2] for row in table[1::2]]),
            "turned": (lambda x, _n: jnp.roll(jnp.flip(x.T, 0), 1, 1), [row[-1:] + row[:-1] for row in turned(table)[::-1]]),
            "dynamic_slice": (lambda x, n: jax.lax.dynamic_slice(x, (n[0] * 0 + 2, n[0] * 0), (3, 4)), table[2:5]),
            "dynamic_update_slice": (
                lambda x, n: jax.lax.dynamic_update_slice(x, x[:1] * 0, (n[0] * 0 + 1, n[0] * 0)),
                [table[0], [0] * 4, *table[2:]],
            ),
            "one_hot": (lambda x, n: jax.nn.one_hot(n, 11, dtype=x.dtype), [[int(n == m) for m in range(11)] for n in rows]),
            "repeat": (lambda x, _n: jnp.repeat(x, 2, 0)[3], table[1]),
            "tile": (lambda x, _n: jnp.tile(x, (1, 2)), [row * 2 for row in table]),
            "tril": (lambda x, _n: jnp.tril(x), [[v if j <= i else 0 for j, v in enumerate(row)] for i, row in enumerate(table)]),
            "outside": (lambda x, n: x[n + 100], [table[10]] * 23),
        }  # type: dict[str, Any]
        done = jax.jit(lambda x, n, cases=cases: {name: function(x, n) for name, (function, _wanted) in cases.items()})(array, at)
        called = {name + " called": function(array, at) for name, (function, _wanted) in cases.items()} if device["full"] else {}
        for name, got in {**done, **called}.items():
            found.exact(name + " " + kind, host(got), cases[name.replace(" called", "")][1])
            found.elsewhere += elsewhere(device, **{name.replace(" ", "_"): got})
    slope = jax.grad(lambda x: x[at].sum())(moved(device, table))
    found.exact("gradient of an embedding", host(slope), [[n] * 4 for n in counts])
    return dict(found.measured())


def unusual(device: dict[str, Any]) -> dict[str, Any]:
    """What is no number stays none; what is infinite, infinite."""
    found = Found()
    odd = [1.0, _NAN, _INF, -_INF, 0.0]
    for kind in types_of(device):
        cases = {
            "sum": (lambda x: x.sum(), [odd], _NAN),
            "max": (lambda x: x.max(), [odd], _NAN),
            "min": (lambda x: x.min(), [odd], _NAN),
            "mean": (lambda x: x.mean(), [odd], _NAN),
            "isnan": (jnp.isnan, [odd], [False, True, False, False, False]),
            "isfinite": (jnp.isfinite, [odd], [True, False, False, False, True]),
            "add": (lambda x: x + 1, [odd], [2, _NAN, _INF, -_INF, 1]),
            "multiply": (lambda x: x * (x - x), [odd], [0, _NAN, _NAN, _NAN, 0]),
            "exp": (jnp.exp, [odd[1:]], [_NAN, _INF, 0, 1]),
            "log": (jnp.log, [[-1.0, 0.0, _INF]], [_NAN, -_INF, _INF]),
            "maximum": (lambda x: jnp.maximum(x, 0), [odd], [1, _NAN, _INF, 0, 0]),
            "relu": (jax.nn.relu, [odd], [1, _NAN, _INF, 0, 0]),
            "softmax": (jax.nn.softmax, [[1.0, _NAN, 2.0]], [_NAN] * 3),
            "divide": (lambda x: x / 0, [[1.0, -1.0, 0.0]], [_INF, -_INF, _NAN]),
            "sqrt": (jnp.sqrt, [[-1.0, _INF, 4.0]], [_NAN, _INF, 2]),
            "tanh": (jnp.tanh, [odd[1:]], [_NAN, 1, -1, 0]),
            "sort": (jnp.sort, [odd], [-_INF, 0, 1, _INF, _NAN]),
            "product": (lambda x: jnp.dot(x, x * 0), [odd], _NAN),
            "nan_to_num": (lambda x: jnp.nan_to_num(x[:2]), [odd], [1, 0]),
            "where": (lambda x: jnp.where(jnp.isnan(x), 5, x), [odd[:2]], [1, 5]),
            "nansum": (jnp.nansum, [[1.0, _NAN, 2.0]], 3),
            "equal": (lambda x: x == x, [odd[:2]], [True, False]),
            "clip": (lambda x: jnp.clip(x, -2, 2), [odd], [1, _NAN, 2, -2, 0]),
            "cumsum": (jnp.cumsum, [odd[:3]], [1, _NAN, _NAN]),
            "argmax": (jnp.argmax, [odd], 1),
        }  # type: dict[str, Any]
        compared(device, found, kind, cases, exact=True)
    return dict(found.measured())


def repeated(device: dict[str, Any]) -> dict[str, Any]:
    """One compiled function with other numbers, shapes and types: no result is one of before, none changes later."""
    found = Found()
    function = jax.jit(lambda x: jnp.matmul(x, x.T, precision="highest") + 1)
    results = []
    for number in range(6):
        kind, size = ("float32", "bfloat16")[number // 4], 5 + number % 2
        given = rounded(kind, normal(number, size, 5))
        right = [[number + 1 for number in row] for row in reference.matmul(given, turned(given))]
        results.append(("round " + str(number) + " " + kind, function(moved(device, given, kind)), right))
        found.near(results[-1][0], host(results[-1][1]), right)
    for name, got, right in results:  # once more, when all others have been computed
        found.near("later " + name, host(got), right)
    held = moved(device, [1.0, 2.0, 3.0])
    for number in range(4):
        found.exact("changed " + str(number), host(held * number), [number * factor for factor in (1, 2, 3)])
    given = jax.jit(lambda x, n: x * n, static_argnums=1)
    found.exact("static argument", [host(given(held, n)) for n in (2, 3, 2)], [[2, 4, 6], [3, 6, 9], [2, 4, 6]])
    spent = jax.jit(lambda x: x + 1, donate_argnums=0)(moved(device, [1.0, 2.0]))
    found.exact("donated", host(spent), [2, 3])
    for kind in ("float16", "bfloat16"):
        spread = [number * 3.7 for number in normal(1, 101)]
        found.exact(
            "float32 to " + kind, host(moved(device, rounded("float32", spread)).astype(kind)), rounded(kind, rounded("float32", spread))
        )
    found.exact("float32 to int32", host(moved(device, [-1.7, 2.7, 3.0]).astype("int32")), [-1, 2, 3])
    return dict(found.measured())
