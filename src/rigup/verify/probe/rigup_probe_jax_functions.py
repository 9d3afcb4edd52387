"""Attention as networks compose it and as JAX offers it, and what JAX makes of functions."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import each, normal, rounded, turned
from rigup_probe_jax_places import compared, elsewhere, host, moved, types_of


def attention(device: dict[str, Any]) -> dict[str, Any]:
    """As networks compose it and as JAX offers it, plain, causal, with a mask; and gradients by their differences."""
    found = Found()
    whole_ = getattr(jax.nn, "dot_product_attention", None)
    for kind in types_of(device):
        query, key, value = (rounded(kind, normal(seed, 10, 8)) for seed in (1, 2, 3))
        masks = {"plain": None, "causal": lambda i, j: j <= i, "masked": lambda i, j: (i * 3 + j) % 4 != 1}  # type: dict[str, Any]
        cases = {}  # type: dict[str, Any]
        for name, seen in masks.items():
            allowed = None if seen is None else jnp.array([[bool(seen(i, j)) for j in range(10)] for i in range(10)])
            wanted = reference.attention(query, key, value, seen)
            cases[name] = (lambda q, k, v, m=allowed: _composed(q, k, v, m), [query, key, value], wanted)
            if whole_ is not None and (kind, device["type"]) != ("float16", "cpu"):  # whose compiler has no such product
                mask = None if name == "causal" else allowed
                cases["dot_product_attention " + name] = (
                    lambda q, k, v, m=mask, c=name == "causal": jax.nn.dot_product_attention(
                        *(matrix[None, :, None] for matrix in (q, k, v)), mask=None if m is None else m[None, None], is_causal=c
                    )[0, :, 0],
                    [query, key, value],
                    wanted,
                )
        compared(device, found, kind, cases)
    _attention_gradient(device, found, whole_ is not None)
    return dict(found.measured())


def _composed(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = jnp.einsum("id,jd->ij", q, k) / math.sqrt(q.shape[-1])
    return jax.nn.softmax(scores if mask is None else jnp.where(mask, scores, -jnp.inf)) @ v


def _attention_gradient(device: dict[str, Any], found: Found, offered: bool) -> None:
    """Against differences in Python of what moves along one direction."""
    inputs, ways = ([rounded("float32", normal(seed, 6, 4)) for seed in (1, 2, 3)], [normal(seed, 6, 4) for seed in (4, 5, 6)])
    weights, step = normal(7, 6, 4), 1e-5

    def total(share: float) -> float:
        at = [each(lambda x, y: x + share * y, matrix, way) for matrix, way in zip(inputs, ways)]
        return float(reference.dot(reference.flat(reference.attention(*at, lambda i, j: j <= i)), reference.flat(weights)))

    wanted = (total(step) - total(-step)) / (2 * step)
    allowed = jnp.array([[j <= i for j in range(6)] for i in range(6)])
    functions = {"composed": lambda q, k, v: _composed(q, k, v, allowed)}  # type: dict[str, Any]
    if offered:
        functions["dot_product_attention"] = lambda q, k, v: jax.nn.dot_product_attention(
            *(matrix[None, :, None] for matrix in (q, k, v)), is_causal=True
        )[0, :, 0]
    for name, way in functions.items():
        with jax.default_matmul_precision("highest"):
            got = jax.jit(jax.grad(lambda q, k, v, w, f=way: (f(q, k, v) * w).sum(), argnums=(0, 1, 2)))(
                *(moved(device, matrix) for matrix in (*inputs, weights))
            )
        moves = math.fsum(reference.dot(reference.flat(host(gradient)), reference.flat(way_)) for gradient, way_ in zip(got, ways))
        found.near("gradient of " + name + " float32", moves, wanted)
        found.elsewhere += elsewhere(device, gradient=got[0])


def transforms(device: dict[str, Any]) -> dict[str, Any]:
    """What JAX makes of functions: over a batch, in a loop, by a condition, with what is kept left out, twice derived."""
    found = Found()
    rows, vector = rounded("float32", normal(1, 6, 5)), rounded("float32", normal(2, 5))
    dots = [reference.dot(row, vector) for row in rows]
    running = [math.fsum(column[: n + 1]) for column in turned(rows) for n in (5,)]
    cases = {
        "vmap": (lambda x, y: jax.vmap(lambda row: (row * y).sum())(x), [rows, vector], dots),
        "scan": (lambda x, _y: jax.lax.scan(lambda held, row: (held + row, held), jnp.zeros(5), x)[0], [rows, vector], running),
        "fori_loop": (lambda x, _y: jax.lax.fori_loop(0, 6, lambda n, held: held + x[n], jnp.zeros(5)), [rows, vector], running),
        "while_loop": (
            lambda _x, y: jax.lax.while_loop(lambda held: held[0] < 4, lambda held: (held[0] + 1, held[1] * 2), (0, y))[1],
            [rows, vector],
            [16 * n for n in vector],
        ),
        "cond": (lambda _x, y: jax.lax.cond(y[0] > 9, lambda z: z, lambda z: -z, y), [rows, vector], [-n for n in vector]),
        "checkpoint": (
            jax.grad(lambda x, y: jax.checkpoint(lambda z: jnp.sin(z) * y)(x).sum()),
            [rows, vector],
            [[math.cos(a) * b for a, b in zip(row, vector)] for row in rows],
        ),
        "hessian": (
            lambda _x, y: jax.hessian(lambda z: (z**3).sum())(y),
            [rows, vector],
            [[6 * n if i == j else 0.0 for j in range(5)] for i, n in enumerate(vector)],
        ),
        "jacobian": (lambda x, y: jax.jacfwd(lambda z: x @ z)(y), [rows, vector], rows),
        "jacobian backward": (lambda x, y: jax.jacrev(lambda z: x @ z)(y), [rows, vector], rows),
        "vjp": (lambda x, y: jax.vjp(lambda z: z * z, y)[1](x[0])[0], [rows, vector], [2 * a * b for a, b in zip(rows[0], vector)]),
        "stop_gradient": (lambda _x, y: jax.grad(lambda z: (z * jax.lax.stop_gradient(z)).sum())(y), [rows, vector], vector),
        "associative_scan": (lambda x, _y: jax.lax.associative_scan(jnp.add, x)[-1], [rows, vector], running),
    }  # type: dict[str, Any]
    compared(device, found, "float32", cases)
    return dict(found.measured())
