"""What is measured of JAX: each device, against NumPy."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from rigup_probe import Skip
from rigup_probe_numpy import convolved, error, normal, product, rate

_SIDE = 1024


def about() -> dict[str, Any]:
    """The build."""
    return {"version": jax.__version__, "build": {"backend": jax.default_backend()}}


def devices() -> list[Any]:
    """All that the default backend lists, the CPU last."""
    found = [one for one in jax.devices() if one.platform != "cpu"]
    return [*map(_device, found), {"id": "cpu", "type": "cpu", "vendor": ""}]


def _device(one: Any) -> dict[str, Any]:
    told = str(getattr(one.client, "platform_version", "")).lower()
    named = {"cuda": "nvidia", "rocm": "amd", "metal": "apple", "oneapi": "intel"}
    vendor = next((vendor for word, vendor in named.items() if word in told or word in one.platform.lower()), "")
    return {"id": one.platform.lower() + ":" + str(one.id), "type": one.platform.lower(), "index": one.id,
            "vendor": vendor, "name": one.device_kind}  # fmt: skip


def _there(device: dict[str, Any]) -> Any:
    return next(one for one in jax.devices(device["type"]) if device["type"] == "cpu" or one.id == device["index"])


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """What is measured on a device."""
    yield "small-tensors", small_tensors
    yield "copy-host", copy_host
    for name in ("float32", "float16", "bfloat16"):
        yield "matmul-" + name, _product(name)
    yield "convolution", convolution
    yield "sorting", sorting
    yield "random", numbers
    yield "training-step", training_step
    if device["type"] != "cpu":
        yield "evidence", evidence
    if full:
        yield "training", training


def _moved(device: dict[str, Any], value: Any) -> Any:
    return jax.device_put(jnp.asarray(value), _there(device))


def _elsewhere(device: dict[str, Any], **results: Any) -> list[Any]:
    wanted = {_there(device)}
    return [name + " on " + str(one.devices()) for name, one in results.items() if one.devices() != wanted]


def small_tensors(device: dict[str, Any]) -> dict[str, Any]:
    """Whole numbers, which have one right answer; the function is compiled first."""
    count = _moved(device, np.arange(1, 11, dtype=np.int32))
    done = jax.jit(lambda x: (x.sum(), (x * x).sum(), (x > 4).sum(), jnp.concatenate([x, x]).sum()))(count)
    wrong = [
        name
        for name, one, right in zip(("sum", "product", "compared", "joined"), done, (55, 385, 6, 110))
        if int(one) != right
    ]
    return {"wrong": wrong, "elsewhere": _elsewhere(device, sum=done[0])}


def copy_host(device: dict[str, Any]) -> dict[str, Any]:
    """There and back."""
    bits = np.random.RandomState(6).randint(-(2**31), 2**31 - 1, 1_048_583, dtype=np.int64).astype(np.int32)
    there = _moved(device, bits)
    return {
        "wrong": [] if np.array_equal(np.asarray(there), bits) else ["plain"],
        "elsewhere": _elsewhere(device, bits=there),
    }


def _product(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    kind = getattr(jnp, name)

    def measured(device: dict[str, Any]) -> dict[str, Any]:
        away = []

        def multiplied(left: Any, right: Any) -> Any:
            got = jnp.matmul(_moved(device, left.astype(kind)), _moved(device, right.astype(kind)), precision="highest")
            away.extend(_elsewhere(device, product=got))
            return got

        return dict(product(lambda one: one.astype(kind).astype(np.float64), multiplied), elsewhere=away)

    return measured


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward, against windows that NumPy sums; and its gradient, against a shift of one kernel number."""
    pictures, kernels = normal(1, 2, 8, 17, 23), normal(2, 12, 8, 3, 3)
    left, right = (_moved(device, one.astype(np.float32)) for one in (pictures, kernels))

    def forward(kernel: Any) -> Any:
        return jax.lax.conv(left, kernel, (1, 1), "VALID", precision="highest")

    got = forward(right)
    wanted = convolved(pictures.astype(np.float32).astype(np.float64), kernels.astype(np.float32).astype(np.float64))
    gradient = jax.grad(lambda kernel: forward(kernel).sum())(right)
    sums = np.lib.stride_tricks.sliding_window_view(pictures, (15, 21), axis=(2, 3)).sum((0, 4, 5))
    right_one = np.broadcast_to(sums, kernels.shape)
    errors = {"result": error(got, wanted), "gradient": error(gradient, right_one)}
    return {"errors": errors, "elsewhere": _elsewhere(device, result=got, gradient=gradient)}


def sorting(device: dict[str, Any]) -> dict[str, Any]:
    """Sorted values and where they were."""
    values = normal(1, 50, 1000).astype(np.float32)
    there = _moved(device, values)
    up, order = jnp.sort(there, axis=1), jnp.argsort(there, axis=1)
    found = {"sort": np.array_equal(np.asarray(up), np.sort(values, axis=1)),
             "order": np.array_equal(np.take_along_axis(values, np.asarray(order), 1), np.sort(values, axis=1))}  # fmt: skip
    return {"wrong": [name for name, right in found.items() if not right], "elsewhere": _elsewhere(device, up=up)}


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers, the same from one seed."""
    drawn = []
    with jax.default_device(_there(device)):
        for seed in (1, 1, 2):
            key = jax.random.PRNGKey(seed)
            drawn.append(
                [
                    jax.random.normal(key, (100_000,)),
                    jax.random.uniform(key, (100_000,)),
                    jax.random.randint(key, (100_000,), 0, 10),
                ]
            )
    away = _elsewhere(device, normal=drawn[0][0])
    first, again, other = ([np.asarray(one) for one in made] for made in drawn)
    normal_, uniform, whole = first
    told = {"mean": float(normal_.mean()), "deviation": float(normal_.std()), "least": float(uniform.min()),
            "most": float(uniform.max()), "middle": float(uniform.mean()), "kept": float(whole.mean()) / 4.5}  # fmt: skip
    same = all(np.array_equal(one, two) for one, two in zip(first, again))
    differs = not any(np.array_equal(one, two) for one, two in zip(first, other))
    return {"statistics": told, "repeats": same, "differs": differs, "elsewhere": away}


def training_step(device: dict[str, Any]) -> dict[str, Any]:
    """The gradient of a network's loss, against one that NumPy reckons by hand."""
    inputs, goals, first, second = normal(1, 64, 24), normal(2, 64, 5), normal(3, 24, 48) / 5, normal(4, 48, 5) / 7

    def loss(weights: Any, given: Any, wanted: Any) -> Any:
        hidden = jnp.tanh(jnp.matmul(given, weights[0], precision="highest"))
        return ((jnp.matmul(hidden, weights[1], precision="highest") - wanted) ** 2).mean()

    there = [_moved(device, one.astype(np.float32)) for one in (first, second, inputs, goals)]
    got = jax.jit(jax.grad(loss))((there[0], there[1]), there[2], there[3])
    hidden = np.tanh(inputs @ first)
    off = 2 * (hidden @ second - goals) / goals.size
    wanted = (inputs.T @ ((off @ second.T) * (1 - hidden**2)), hidden.T @ off)
    errors = {"gradient " + str(n): error(one, right) for n, (one, right) in enumerate(zip(got, wanted), 1)}
    return {"errors": errors, "elsewhere": _elsewhere(device, gradient=got[0])}


def evidence(device: dict[str, Any]) -> dict[str, Any]:
    """The device's memory before and after, and its rate beside the CPU's."""
    cpu = jax.devices("cpu")[0]
    values = np.ones((_SIDE, _SIDE), np.float32)
    here, there = jax.device_put(values, cpu), _moved(device, values)
    times = jax.jit(jnp.matmul)
    told = {"cpu_rate": rate(_SIDE, lambda: times(here, here).block_until_ready()),
            "rate": rate(_SIDE, lambda: times(there, there).block_until_ready())}  # fmt: skip
    before = _in_use(device)
    kept = _moved(device, np.ones((64 << 20) // 4, np.float32)).block_until_ready()
    grown = {name: value - before[name] for name, value in _in_use(device).items() if name in before}
    return dict(told, asked=kept.nbytes, taken=grown)


def _in_use(device: dict[str, Any]) -> dict[str, Any]:
    told = _there(device).memory_stats() or {}
    return {name: told[name] for name in ("bytes_in_use",) if name in told}


def training(device: dict[str, Any]) -> dict[str, Any]:
    """A small network learns which of ten directions points came from."""
    draw = np.random.RandomState(11)
    middles, labels = draw.standard_normal((10, 32)) * 1.2, draw.randint(0, 10, 5000)
    points = (middles[labels] + draw.standard_normal((5000, 32))).astype(np.float32)
    given, goals = _moved(device, points[:4000]), _moved(device, labels[:4000])
    weights = tuple(
        _moved(device, (draw.standard_normal(shape) / math.sqrt(shape[0])).astype(np.float32))
        for shape in ((32, 64), (64, 10))
    )

    def loss(held: Any) -> Any:
        said = jax.nn.log_softmax(jnp.tanh(given @ held[0]) @ held[1])
        return -said[jnp.arange(4000), goals].mean()

    step = jax.jit(lambda held: tuple(one - 0.5 * slope for one, slope in zip(held, jax.grad(loss)(held))))
    for _ in range(150):
        weights = step(weights)
    there = _moved(device, points[4000:])
    said = np.asarray((jnp.tanh(there @ weights[0]) @ weights[1]).argmax(1))
    return {"accuracy": float((said == labels[4000:]).mean()), "elsewhere": _elsewhere(device, weights=weights[0])}


__all__ = ["Skip", "about", "checks", "devices"]
