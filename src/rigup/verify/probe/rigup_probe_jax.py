"""What is measured of JAX: each device, against what Python computes."""

from __future__ import annotations

import math
import random
from typing import Any, Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
import rigup_probe_expected as reference
from rigup_probe import Skip
from rigup_probe_compare import LARGE, SHAPES, Found, distributed, misdistributed, product_error, rate
from rigup_probe_expected import normal, rounded, whole
from rigup_probe_jax_arrays import indexing, repeated, unusual
from rigup_probe_jax_functions import attention, transforms
from rigup_probe_jax_places import device_of, elsewhere, host, moved, wide
from rigup_probe_jax_rows import rows_check
from rigup_probe_tables.rows_all import TABLES
from rigup_probe_tables.rows_networks import activations, lax

_SIDE = 1024
_TABLES = {**TABLES, "activations": (activations,), "primitives": (lax,)}


def about() -> dict[str, Any]:
    """The build."""
    return {"version": jax.__version__, "build": {"backend": jax.default_backend()}}


def devices() -> list[Any]:
    """All that the default backend lists, the CPU last."""
    found = [device for device in jax.devices() if device.platform != "cpu"]
    return [*map(_device, found), {"id": "cpu", "type": "cpu", "vendor": ""}]


def _device(device: Any) -> dict[str, Any]:
    platform_version = str(getattr(device.client, "platform_version", "")).lower()
    named = {"cuda": "nvidia", "rocm": "amd", "metal": "apple", "oneapi": "intel"}
    vendor = next((vendor for word, vendor in named.items() if word in platform_version or word in device.platform.lower()), "")
    return {
        "id": device.platform.lower() + ":" + str(device.id),
        "type": device.platform.lower(),
        "index": device.id,
        "vendor": vendor,
        "name": device.device_kind,
    }


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """What is measured on a device; what is asked for most, first."""
    device["full"] = full
    yield "small-tensors", small_tensors
    yield "copy-host", copy_host
    yield "matmul-float32", _product("float32")
    for name in ("activations", "functions", "statistics", "products", "moves"):
        yield name, rows_check(*_TABLES[name])
    for check in (attention, convolution, indexing, transforms, repeated):
        yield check.__name__.replace("_", "-"), check
    for name in ("algebra", "orders", "made"):
        yield name, rows_check(*_TABLES[name])
    for name in ("float16", "bfloat16", *(("float64",) if device["type"] in ("cpu", "gpu", "cuda") else ())):
        yield "matmul-" + name, _product(name)
    for name, check in (("matmul-integers", integer_product), ("random", numbers), ("unusual", unusual), ("training-step", training_step)):
        yield name, check
    yield "primitives", rows_check(*_TABLES["primitives"])
    yield "sets", rows_check(*(table for tables in _TABLES.values() for table in tables), outside=True)
    if device["type"] != "cpu":
        yield "evidence", evidence
    if full:
        yield "training", training


def small_tensors(device: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers, which have one right answer; the function is compiled first, and then not."""
    found = Found()
    for kind in ("int32", "float32", "bfloat16"):
        count = moved(device, list(range(1, 11)), kind)
        named = {
            "sum": (lambda x: x.sum(), 55),
            "product": (lambda x: (x * x).sum(), 385),
            "compared": (lambda x: (x > 4).sum(), 6),
            "joined": (lambda x: jnp.concatenate([x, x]), [*range(1, 11)] * 2),
            "turned": (lambda x: x[::-1].reshape(2, 5).T, [[10, 5], [9, 4], [8, 3], [7, 2], [6, 1]]),
            "stacked": (lambda x: jnp.stack([x, -x])[1], [-n for n in range(1, 11)]),
            "padded": (lambda x: jnp.pad(x, (1, 0)), list(range(11))),
        }  # type: dict[str, tuple[Any, Any]]
        if kind == "bfloat16":
            del named["product"]  # which has no exact sum there
        for way, run in (("compiled", jax.jit), *([("called", lambda function: function)] if kind == "float32" or device["full"] else [])):
            done = run(lambda x, named=named: {name: function(x) for name, (function, _right) in named.items()})(count)
            for name, (_function, right) in named.items():
                found.exact(name + " " + way + " " + kind, host(done[name]), right)
        found.elsewhere += elsewhere(device, sum=done["sum"])
    return dict(found.measured())


def copy_host(device: dict[str, Any]) -> dict[str, Any]:
    """There and back."""
    draw = random.Random(6)  # noqa: S311
    bits = draw.getrandbits(32 * 262_147).to_bytes(4 * 262_147, "little")
    held = jax.device_put(np.frombuffer(bits, np.int32), device_of(device))
    copied = jnp.array(held, copy=True)
    found = {
        "plain": np.asarray(held).tobytes() == bits,
        "copied": np.asarray(copied).tobytes() == bits,
        "got": np.asarray(jax.device_get(held)).tobytes() == bits,
    }
    return {"wrong": [name for name, right in found.items() if not right], "elsewhere": elsewhere(device, bits=held)}


def _product(kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def measured(device: dict[str, Any]) -> dict[str, Any]:
        if kind != "float64":
            return _multiplied(device, kind)
        with wide():
            return _multiplied(device, kind)

    return measured


def _multiplied(device: dict[str, Any], kind: str) -> dict[str, Any]:
    """Small products in each way that one is written, large ones by matmul; in quick mode the ways in float32 alone."""
    found, every = Found(), bool(device.get("full")) or kind == "float32"
    left, right = (rounded(kind, normal(seed, *shape)) for seed, shape in ((1, (33, 65)), (2, (65, 17))))
    left_array, other, wanted = moved(device, left, kind), moved(device, right, kind), reference.matmul(left, right)
    exactly = {"precision": "highest"}
    functions = {
        "matmul": lambda x, y: jnp.matmul(x, y, **exactly),
        "dot": lambda x, y: jnp.dot(x, y, **exactly),
        "einsum": lambda x, y: jnp.einsum("ij,jk->ik", x, y, **exactly),
        "lax.dot": lambda x, y: jax.lax.dot(x, y, precision=jax.lax.Precision.HIGHEST),
        "tensordot": lambda x, y: jnp.tensordot(x, y, 1, **exactly),
        "matmul of a transpose": lambda x, y: jnp.matmul(y.T, x.T, **exactly).T,
        "dot_general": lambda x, y: jax.lax.dot_general(x, y, (((1,), (0,)), ((), ())), precision=jax.lax.Precision.HIGHEST),
        "vmap": lambda x, y: jax.vmap(lambda row: jnp.matmul(row, y, **exactly))(x),
        "vdot": lambda x, y: jnp.vdot(x[0], y[:, 0], **exactly)[None],
        "batch": lambda x, y: jnp.matmul(jnp.stack([x, -x]), y, **exactly)[1] * -1,
    }  # type: dict[str, Any]
    ways = {**functions, "@": lambda x, y: x @ y} if every else {"matmul": functions["matmul"]}
    with jax.default_matmul_precision("highest"):
        done = jax.jit(lambda x, y: {name: way(x, y) for name, way in ways.items()})(left_array, other)
        called = {name + " called": ways[name](left_array, other) for name in ("matmul", "dot", "@") if every}
    for name, got in {**done, **called}.items():
        found.near(name + " " + kind, host(got), wanted[0][:1] if name == "vdot" else wanted)
        found.elsewhere += elsewhere(device, **{name: got})
    for shape in (*SHAPES, *LARGE) if every else SHAPES[1:]:
        left, right = (rounded(kind, normal(seed, *shape[seed : seed + 2])) for seed in (0, 1))
        got = jnp.matmul(moved(device, left, kind), moved(device, right, kind), **exactly)
        found.errors["matmul " + str(shape) + " " + kind] = product_error(host(got), left, right)
        found.elsewhere += elsewhere(device, product=got)
    return dict(found.measured())


def integer_product(device: dict[str, Any]) -> dict[str, Any]:
    """Products of whole numbers have one right answer; of bytes, in 32 bits."""
    found = Found()
    left, right = whole(1, -9, 9, 13, 31), whole(2, -9, 9, 31, 7)
    wanted = reference.matmul(left, right)
    left_array, other = moved(device, left, "int32"), moved(device, right, "int32")
    found.exact("matmul int32", host(jnp.matmul(left_array, other)), wanted)
    found.exact("einsum int32", host(jnp.einsum("ij,jk->ik", left_array, other)), wanted)
    small, less = moved(device, left, "int8"), moved(device, right, "int8")
    got = jax.lax.dot(small, less, preferred_element_type=jnp.int32)
    found.exact("dot int8", host(got), wanted)
    found.elsewhere += elsewhere(device, dot=got)
    return dict(found.measured())


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward in several forms and types, and the gradients of pictures and kernels."""
    found = Found()
    pictures, kernels, grouped = normal(1, 2, 4, 9, 11), normal(2, 6, 4, 3, 3), normal(3, 8, 2, 3, 3)
    forms = {
        "plain": (kernels, {}),
        "padded": (kernels, {"padding": 1}),
        "strided": (kernels, {"stride": 2}),
        "dilated": (kernels, {"dilation": 2}),
        "grouped": (grouped, {"groups": 2}),
    }  # type: dict[str, Any]
    for kind in ("float32", "float16", "bfloat16"):
        given, of = rounded(kind, pictures), " " + kind
        for name, (kernel, how) in forms.items() if kind == "float32" else [("plain", forms["plain"])]:
            held = rounded(kind, kernel)
            got = _convolved(moved(device, given, kind), moved(device, held, kind), **how)
            found.near(name + of, host(got), reference.conv2d(given, held, **how))
            found.elsewhere += elsewhere(device, result=got)
    weights = normal(4, 2, 6, 7, 9)
    tensors = [moved(device, values) for values in (rounded("float32", pictures), rounded("float32", kernels), weights)]
    slope = jax.jit(jax.grad(lambda x, k, w: (_convolved(x, k) * w).sum(), argnums=(0, 1)))(*tensors)
    found.near("gradient of kernels float32", host(slope[1]), reference.conv2d_kernel_gradient(pictures, kernels, weights))
    flipped = [[[row[::-1] for row in kernels[o][c][::-1]] for o in range(6)] for c in range(4)]
    found.near("gradient of pictures float32", host(slope[0]), reference.conv2d(weights, flipped, padding=2))
    for name, start, step, function in (("max pooling", -math.inf, jax.lax.max, max), ("sum pooling", 0.0, jax.lax.add, math.fsum)):
        got = jax.lax.reduce_window(tensors[0], start, step, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        found.near(name + " float32", host(got), reference.pooled(pictures, function))
    return dict(found.measured())


def _convolved(x: Any, k: Any, stride: int = 1, padding: int = 0, dilation: int = 1, groups: int = 1) -> Any:
    if (stride, padding, dilation, groups) == (1, 0, 1, 1):
        return jax.lax.conv(x, k, (1, 1), "VALID", precision=jax.lax.Precision.HIGHEST)
    return jax.lax.conv_general_dilated(
        x,
        k,
        (stride, stride),
        [(padding, padding)] * 2,
        rhs_dilation=(dilation, dilation),
        feature_group_count=groups,
        precision=jax.lax.Precision.HIGHEST,
    )


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers, the same from one seed; keys that were split give others."""
    with jax.default_device(device_of(device)):
        drawn = [_drawn(jax.random.PRNGKey(seed)) for seed in (1, 1, 2)]
        key = jax.random.PRNGKey(1)
        streams = [host(jax.random.uniform(subkey, (9,))) for subkey in (key, *jax.random.split(key), jax.random.fold_in(key, 5))]
        order = host(jax.random.permutation(jax.random.PRNGKey(3), 1000))
        kept = host(jax.random.bernoulli(jax.random.PRNGKey(4), 0.3, (20_000,)))
        picked = host(jax.random.categorical(jax.random.PRNGKey(5), jnp.log(jnp.array([0.2, 0.8])), shape=(20_000,)))
    first, again, other = ([host(array) for array in arrays] for arrays in drawn)
    found = {
        "split": len(set(map(str, streams))) == 4,
        "permutation": sorted(order) == list(range(1000)) != order,
        "bernoulli": abs(sum(kept) / 20_000 - 0.3) < 0.02,
        "categorical": abs(sum(picked) / 20_000 - 0.8) < 0.02,
    }
    wrong = misdistributed(*first) + [name for name, right in found.items() if not right]
    return {
        "statistics": distributed(*first),
        "wrong": wrong,
        "repeats": first == again,
        "differs": all(value != two for value, two in zip(first, other)),
        "elsewhere": elsewhere(device, normal=drawn[0][0]),
    }


numbers.__name__ = "random"


def _drawn(key: Any) -> list[Any]:
    return [jax.random.normal(key, (100_000,)), jax.random.uniform(key, (100_000,)), jax.random.randint(key, (100_000,), 0, 10)]


def training_step(device: dict[str, Any]) -> dict[str, Any]:
    """The gradient of a network's loss, against one that Python reckons by hand; and the weights after the step."""
    (inputs, goals, first, second), right_loss, wanted = reference.network_step()

    def loss(weights: Any, given: Any, wanted: Any) -> Any:
        hidden = jnp.tanh(jnp.matmul(given, weights[0], precision="highest"))
        return ((jnp.matmul(hidden, weights[1], precision="highest") - wanted) ** 2).mean()

    first_weights, two, given, goal = (moved(device, each) for each in (first, second, inputs, goals))
    value, got = jax.jit(jax.value_and_grad(loss))((first_weights, two), given, goal)
    found = Found()
    found.near("loss float32", host(value), right_loss)
    for number, (held, before, right) in enumerate(zip(got, (first_weights, two), wanted), 1):
        found.near("gradient " + str(number) + " float32", host(held), right)
        stepped = reference.each(lambda x, y: x - 0.5 * y, host(before), right)
        found.near("step " + str(number) + " float32", host(before - 0.5 * held), stepped)
    found.elsewhere += elsewhere(device, gradient=got[0])
    return dict(found.measured())


def evidence(device: dict[str, Any]) -> dict[str, Any]:
    """The device's memory before and after, and its rate beside the CPU's."""
    cpu = jax.devices("cpu")[0]
    values = np.ones((_SIDE, _SIDE), np.float32)
    here, away = jax.device_put(values, cpu), jax.device_put(values, device_of(device))
    times = jax.jit(jnp.matmul)
    rates = {
        "cpu_rate": rate(_SIDE, lambda: times(here, here).block_until_ready()),
        "rate": rate(_SIDE, lambda: times(away, away).block_until_ready()),
    }
    before = _in_use(device)
    kept = jax.device_put(np.ones((64 << 20) // 4, np.float32), device_of(device)).block_until_ready()
    grown = {name: value - before[name] for name, value in _in_use(device).items() if name in before}
    return dict(rates, asked=kept.nbytes, taken=grown)


def _in_use(device: dict[str, Any]) -> dict[str, Any]:
    memory_stats = device_of(device).memory_stats() or {}
    return {name: memory_stats[name] for name in ("bytes_in_use",) if name in memory_stats}


def training(device: dict[str, Any]) -> dict[str, Any]:
    """A small network learns which of ten directions points came from."""
    draw = np.random.RandomState(11)
    middles, labels = draw.standard_normal((10, 32)) * 1.2, draw.randint(0, 10, 5000)
    points = (middles[labels] + draw.standard_normal((5000, 32))).astype(np.float32)
    given, goals = (jax.device_put(array[:4000], device_of(device)) for array in (points, labels))
    weights = tuple(
        jax.device_put((draw.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32), device_of(device))
        for shape in ((32, 64), (64, 10))
    )

    def loss(held: Any) -> Any:
        log_probabilities = jax.nn.log_softmax(jnp.tanh(given @ held[0]) @ held[1])
        return -log_probabilities[jnp.arange(4000), goals].mean()

    step = jax.jit(lambda held: tuple(weight - 0.5 * slope for weight, slope in zip(held, jax.grad(loss)(held))))
    for _ in range(150):
        weights = step(weights)
    last = jax.device_put(points[4000:], device_of(device))
    predicted = np.asarray((jnp.tanh(last @ weights[0]) @ weights[1]).argmax(1))
    return {"accuracy": float((predicted == labels[4000:]).mean()), "elsewhere": elsewhere(device, weights=weights[0])}


__all__ = ["Skip", "about", "checks", "devices"]
