"""JAX's functions of networks: activations and their gradients, softmax, attention, norms, sums, transformations."""

from __future__ import annotations

import math
from typing import Any, Callable

import jax
import jax.numpy as jnp
import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import ACTIVATIONS, each, normal, rounded, turned
from rigup_probe_jax_places import compared, elsewhere, host, moved, types_of

_STEPS = [n / 8 for n in range(-40, 41)] + [-12.0, 12.0]
_LARGE = [-80.0, -33.0, 12.0, 31.0, 47.0, 64.0, 80.0]
_OF_ONE = {
    "exp": (math.exp, math.exp), "log": (lambda x: math.log(abs(x) + 1), None), "sqrt": (lambda x: math.sqrt(abs(x)), None),
    "sin": (math.sin, math.cos), "cos": (math.cos, lambda x: -math.sin(x)), "erf": (math.erf, lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x)),
    "abs": (abs, lambda x: float((x > 0) - (x < 0))), "square": (lambda x: x * x, lambda x: 2 * x),
    "expm1": (math.expm1, math.exp), "log1p": (lambda x: math.log1p(abs(x)), None), "floor": (math.floor, None),
    "round": (round, None), "sign": (lambda x: float((x > 0) - (x < 0)), None), "arctan": (math.atan, lambda x: 1 / (1 + x * x)),
}  # type: dict[str, tuple[Callable[[float], float], Any]]  # fmt: skip
_CALLS = {
    "log": lambda x: jnp.log(abs(x) + 1),
    "sqrt": lambda x: jnp.sqrt(abs(x)),
    "erf": jax.scipy.special.erf,
    "log1p": lambda x: jnp.log1p(abs(x)),
    "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "tanh": jnp.tanh,
}  # type: dict[str, Callable[[Any], Any]]


def _call(name: str) -> Callable[[Any], Any]:
    """The function of that name: looked up when it is called, as programs do."""
    return _CALLS.get(name) or (getattr(jax.nn if name in ACTIVATIONS else jnp, name))


def activations(device: dict[str, Any]) -> dict[str, Any]:
    """Functions of one element in each type, and of two."""
    found = Found()
    for kind in types_of(device):
        steps = rounded(kind, [one for one in _STEPS if abs(one) < 9])
        named = {
            **{name: pair[0] for name, pair in ACTIVATIONS.items()},
            **{name: pair[0] for name, pair in _OF_ONE.items()},
        }
        cases = {
            name: (_call(name), [steps], [float(function(one)) for one in steps]) for name, function in named.items()
        }
        other = rounded(kind, [abs(one) + 0.5 for one in normal(3, len(steps))])
        double = {
            "add": (jnp.add, lambda x, y: x + y), "subtract": (jnp.subtract, lambda x, y: x - y), "multiply": (jnp.multiply, lambda x, y: x * y),
            "divide": (jnp.divide, lambda x, y: x / y), "maximum": (jnp.maximum, max), "minimum": (jnp.minimum, min),
            "where": (lambda x, y: jnp.where(x > y, x, -y), lambda x, y: x if x > y else -y), "power": (lambda x, y: jnp.power(abs(x) + 0.5, y / 4), lambda x, y: (abs(x) + 0.5) ** (y / 4)),
            "clip": (lambda x, y: jnp.clip(x, -y, y), lambda x, y: min(max(x, -y), y)), "arctan2": (jnp.arctan2, math.atan2),
        }  # type: dict[str, tuple[Any, Any]]  # fmt: skip
        cases.update(
            {name: (call, [steps, other], list(map(right, steps, other))) for name, (call, right) in double.items()}
        )
        tanhs = [0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) for x in steps]
        cases["gelu by tanh"] = (lambda x: jax.nn.gelu(x, approximate=True), [steps], tanhs)
        if kind != "float16":  # it ends before
            cases["exp of large numbers"] = (jnp.exp, [_LARGE], list(map(math.exp, _LARGE)))
        compared(device, found, kind, cases)
    return dict(found.measured())


def gradients(device: dict[str, Any]) -> dict[str, Any]:
    """Derivatives of functions of one element: by grad, and forward by jvp."""
    found = Found()
    for kind in types_of(device):
        steps = rounded(kind, [one for one in _STEPS if one and abs(one) < (5 if kind == "float32" else 2.5)])
        weights = rounded(kind, normal(5, len(steps)))
        named = {name: pair[1] for name, pair in {**ACTIVATIONS, **_OF_ONE}.items() if pair[1] is not None}
        cases = {}  # type: dict[str, Any]
        for name, slope in named.items():
            function, wanted = _call(name), [slope(x) * w for x, w in zip(steps, weights)]
            backward = jax.grad(lambda x, w, f=function: (f(x) * w).sum())
            cases["gradient of " + name] = (backward, [steps, weights], wanted)
            forward = lambda x, w, f=function: jax.jvp(f, (x,), (w,))[1]  # noqa: E731
            cases["forward gradient of " + name] = (forward, [steps, weights], wanted)
        compared(device, found, kind, {name: one for name, one in cases.items() if kind == "float32" or not name.startswith("forward")})  # fmt: skip
    return dict(found.measured())


def softmax(device: dict[str, Any]) -> dict[str, Any]:
    """Softmax and its like over each dimension, also of large numbers; gradients; the loss that stands on it."""
    found = Found()
    for kind in types_of(device):
        rows, weights = rounded(kind, normal(1, 5, 9)), rounded(kind, normal(2, 5, 9))
        large = rounded(kind, [[one * 90 + 900 for one in row] for row in rows])
        slopes = [reference.softmax_gradient(row, held) for row, held in zip(rows, weights)]
        shares = [[held - p * math.fsum(others) for held, p in zip(others, reference.softmax(row))] for row, others in zip(rows, weights)]  # fmt: skip
        labels = [0, 8, 3, 3, 5]
        loss = [-reference.log_softmax(row)[at] for row, at in zip(rows, labels)]
        cases = {
            "softmax": (jax.nn.softmax, [rows], list(map(reference.softmax, rows))),
            "softmax down": (lambda x: jax.nn.softmax(x, axis=0), [rows], turned(map(reference.softmax, turned(rows)))),
            "softmax of large": (jax.nn.softmax, [large], list(map(reference.softmax, large))),
            "softmax of small": (lambda x: jax.nn.softmax(-x), [large], [reference.softmax([-one for one in row]) for row in large]),
            "log_softmax": (jax.nn.log_softmax, [rows], list(map(reference.log_softmax, rows))),
            "log_softmax of large": (jax.nn.log_softmax, [large], list(map(reference.log_softmax, large))),
            "log_softmax of small": (lambda x: jax.nn.log_softmax(-x), [large], [reference.log_softmax([-one for one in row]) for row in large]),
            "log_sigmoid of large": (lambda x: jax.nn.log_sigmoid(-x) / 900, [large], [[-one / 900 for one in row] for row in large]),
            "softplus of large": (lambda x: jax.nn.softplus(x) / 900, [large], [[one / 900 for one in row] for row in large]),
            "logsumexp of large": (lambda x: jax.nn.logsumexp(x, axis=1) / 900, [large], [reference.logsumexp(row) / 900 for row in large]),
            "gradient of softmax": (jax.grad(lambda x, w: (jax.nn.softmax(x) * w).sum()), [rows, weights], slopes),
            "gradient of log_softmax": (jax.grad(lambda x, w: (jax.nn.log_softmax(x) * w).sum()), [rows, weights], shares),
            "log_sigmoid": (jax.nn.log_sigmoid, [rows], [[-reference.softplus(-one) for one in row] for row in rows]),
            "scipy.logsumexp": (lambda x: jax.scipy.special.logsumexp(x, axis=1), [rows], list(map(reference.logsumexp, rows))),
            "cross entropy": (lambda x, n=labels: -(jax.nn.one_hot(jnp.array(n), 9) * jax.nn.log_softmax(x)).sum(1), [rows], loss),
        }  # type: dict[str, Any]  # fmt: skip
        compared(device, found, kind, cases)
    return dict(found.measured())


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
            if whole_ is not None and (kind, device["type"]) != (
                "float16",
                "cpu",
            ):  # whose compiler has no such product
                mask = None if name == "causal" else allowed
                cases["dot_product_attention " + name] = (
                    lambda q, k, v, m=mask, c=name == "causal": jax.nn.dot_product_attention(
                        *(one[None, :, None] for one in (q, k, v)), mask=None if m is None else m[None, None], is_causal=c
                    )[0, :, 0],
                    [query, key, value], wanted,
                )  # fmt: skip
        compared(device, found, kind, cases)
    _attention_gradient(device, found, whole_ is not None)
    return dict(found.measured())


def _composed(q: Any, k: Any, v: Any, mask: Any) -> Any:
    scores = jnp.einsum("id,jd->ij", q, k) / math.sqrt(q.shape[-1])
    return jax.nn.softmax(scores if mask is None else jnp.where(mask, scores, -jnp.inf)) @ v


def _attention_gradient(device: dict[str, Any], found: Found, offered: bool) -> None:
    """Against differences in Python of what moves along one direction."""
    inputs, ways = (
        [rounded("float32", normal(seed, 6, 4)) for seed in (1, 2, 3)],
        [normal(seed, 6, 4) for seed in (4, 5, 6)],
    )
    weights, step = normal(7, 6, 4), 1e-5

    def total(share: float) -> float:
        at = [each(lambda x, y: x + share * y, one, way) for one, way in zip(inputs, ways)]
        return float(
            reference.dot(reference.flat(reference.attention(*at, lambda i, j: j <= i)), reference.flat(weights))
        )

    wanted = (total(step) - total(-step)) / (2 * step)
    allowed = jnp.array([[j <= i for j in range(6)] for i in range(6)])
    made = {"composed": lambda q, k, v: _composed(q, k, v, allowed)}  # type: dict[str, Any]
    if offered:
        made["dot_product_attention"] = lambda q, k, v: jax.nn.dot_product_attention(*(one[None, :, None] for one in (q, k, v)), is_causal=True)[0, :, 0]  # fmt: skip
    for name, way in made.items():
        with jax.default_matmul_precision("highest"):
            got = jax.grad(lambda q, k, v, w, f=way: (f(q, k, v) * w).sum(), argnums=(0, 1, 2))(*(moved(device, one) for one in (*inputs, weights)))  # fmt: skip
        moves = math.fsum(
            reference.dot(reference.flat(host(one)), reference.flat(way_)) for one, way_ in zip(got, ways)
        )
        found.near("gradient of " + name + " float32", moves, wanted)
        found.elsewhere += elsewhere(device, gradient=got[0])


def normalisation(device: dict[str, Any]) -> dict[str, Any]:
    """Layer and batch norm as networks compose them, `standardize`, norms of vectors."""
    found = Found()
    for kind in types_of(device):
        rows = rounded(kind, [[one * 2 + 1 for one in row] for row in normal(1, 7, 12)])
        down = turned(map(reference.normalised, turned(rows)))
        lengths = [math.sqrt(math.fsum(one * one for one in row)) for row in rows]
        roots = [[one / math.sqrt(size**2 / 12 + 1e-5) for one in row] for row, size in zip(rows, lengths)]
        cases = {
            "layer norm": (lambda x: (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5), [rows], list(map(reference.normalised, rows))),
            "batch norm": (lambda x: (x - x.mean(0)) * jax.lax.rsqrt(x.var(0) + 1e-5), [rows], down),
            "root mean square norm": (lambda x: x * jax.lax.rsqrt((x * x).mean(1, keepdims=True) + 1e-5), [rows], roots),
            "norm": (lambda x: jnp.linalg.norm(x, axis=1), [rows], lengths),
            **({"standardize": (lambda x: jax.nn.standardize(x, epsilon=1e-5), [rows], list(map(reference.normalised, rows)))} if kind == "float32" else {}),
        }  # type: dict[str, Any]  # fmt: skip
        compared(device, found, kind, cases)
    return dict(found.measured())


def reductions(device: dict[str, Any]) -> dict[str, Any]:
    """Sums and their like over each dimension, and the gradient of some."""
    found = Found()
    named = {
        "sum": math.fsum, "mean": reference.mean, "var": reference.variance, "std": lambda row: math.sqrt(reference.variance(row)),
        "max": max, "min": min, "prod": math.prod, "cumsum": lambda row: [math.fsum(row[: n + 1]) for n in range(len(row))],
        "cumprod": lambda row: [math.prod(row[: n + 1]) for n in range(len(row))], "median": lambda row: sorted(row)[len(row) // 2],
    }  # type: dict[str, Callable[[list[float]], Any]]  # fmt: skip
    for kind in types_of(device):
        rows = rounded(kind, [[1 + one / 8 for one in row] for row in normal(1, 9, 19)])
        cases = {}  # type: dict[str, Any]
        for name, function in named.items() if kind == "float32" else list(named.items())[:6]:
            columns = list(map(function, turned(rows)))
            cases[name] = (lambda x, n=name: getattr(jnp, n)(x, axis=1), [rows], list(map(function, rows)))
            cases[name + " down"] = (lambda x, n=name: getattr(jnp, n)(x, axis=0), [rows], turned(columns) if isinstance(columns[0], list) else columns)  # fmt: skip
        if kind != "float32":  # of equal ones each has a share
            compared(device, found, kind, cases)
            continue
        cases["gradient of max"] = (jax.grad(lambda x: x.max(1).sum()), [rows], [[float(one == max(row)) for one in row] for row in rows])  # fmt: skip
        cases["gradient of mean"] = (jax.grad(lambda x: (x.mean(0) ** 2).sum()), [rows], [[2 * reference.mean(column) / 9 for column in turned(rows)]] * 9)  # fmt: skip
        compared(device, found, kind, cases)
    many = rounded("float32", normal(2, 50_021))
    found.near("sum of many float32", host(moved(device, many).sum()) / 100, math.fsum(many) / 100)
    found.near("mean of a product float32", host(jnp.vdot(moved(device, many), moved(device, many), precision="highest")) / 50_021, reference.dot(many, many) / 50_021)  # fmt: skip
    return dict(found.measured())


def transforms(device: dict[str, Any]) -> dict[str, Any]:
    """What JAX makes of functions: over a batch, in a loop, by a condition, with what is kept left out, twice derived."""
    found = Found()
    rows, one = rounded("float32", normal(1, 6, 5)), rounded("float32", normal(2, 5))
    dots = [reference.dot(row, one) for row in rows]
    running = [math.fsum(column[: n + 1]) for column in turned(rows) for n in (5,)]
    cases = {
        "vmap": (lambda x, y: jax.vmap(lambda row: (row * y).sum())(x), [rows, one], dots),
        "scan": (lambda x, _y: jax.lax.scan(lambda held, row: (held + row, held), jnp.zeros(5), x)[0], [rows, one], running),
        "fori_loop": (lambda x, _y: jax.lax.fori_loop(0, 6, lambda n, held: held + x[n], jnp.zeros(5)), [rows, one], running),
        "while_loop": (lambda _x, y: jax.lax.while_loop(lambda held: held[0] < 4, lambda held: (held[0] + 1, held[1] * 2), (0, y))[1], [rows, one], [16 * n for n in one]),
        "cond": (lambda _x, y: jax.lax.cond(y[0] > 9, lambda z: z, lambda z: -z, y), [rows, one], [-n for n in one]),
        "checkpoint": (jax.grad(lambda x, y: jax.checkpoint(lambda z: jnp.sin(z) * y)(x).sum()), [rows, one], [[math.cos(a) * b for a, b in zip(row, one)] for row in rows]),
        "hessian": (lambda _x, y: jax.hessian(lambda z: (z**3).sum())(y), [rows, one], [[6 * n if i == j else 0.0 for j in range(5)] for i, n in enumerate(one)]),
        "jacobian": (lambda x, y: jax.jacfwd(lambda z: x @ z)(y), [rows, one], rows), "jacobian backward": (lambda x, y: jax.jacrev(lambda z: x @ z)(y), [rows, one], rows),
        "vjp": (lambda x, y: jax.vjp(lambda z: z * z, y)[1](x[0])[0], [rows, one], [2 * a * b for a, b in zip(rows[0], one)]),
        "stop_gradient": (lambda _x, y: jax.grad(lambda z: (z * jax.lax.stop_gradient(z)).sum())(y), [rows, one], one),
        "associative_scan": (lambda x, _y: jax.lax.associative_scan(jnp.add, x)[-1], [rows, one], running),
    }  # type: dict[str, Any]  # fmt: skip
    compared(device, found, "float32", cases)
    return dict(found.measured())
