"""What is measured of TensorFlow: each device, against NumPy. Nothing may be placed elsewhere in silence."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
import tensorflow as tf
from rigup_probe_numpy import convolved, error, normal, product, rate

_SIDE = 1024


def about() -> dict[str, Any]:
    """The build."""
    tf.config.set_soft_device_placement(False)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    told = dict(tf.sysconfig.get_build_info())
    kept = ("cuda_version", "cudnn_version", "is_cuda_build", "is_rocm_build", "cuda_compute_capabilities")
    return {"version": tf.__version__, "build": {name: told[name] for name in kept if name in told}}


def devices() -> list[Any]:
    """All GPUs that TensorFlow lists, the CPU last."""
    found = []
    for index, one in enumerate(tf.config.list_physical_devices("GPU")):
        tf.config.experimental.set_memory_growth(one, True)
        told = tf.config.experimental.get_device_details(one)
        major = told.get("compute_capability")
        isa = "sm_{}{}".format(*major) if major else ""
        vendor = "amd" if tf.test.is_built_with_rocm() else "nvidia" if tf.test.is_built_with_cuda() else ""
        shown = {"name": told.get("device_name", ""), "isa": isa if vendor == "nvidia" else "", "vendor": vendor}
        found.append(dict(shown, id="gpu:" + str(index), type="gpu", index=index))
    return [*found, {"id": "cpu", "type": "cpu", "vendor": ""}]


def _called(device: dict[str, Any]) -> str:
    return "/CPU:0" if device["type"] == "cpu" else "/GPU:" + str(device["index"])


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """What is measured on a device."""
    yield "small-tensors", small_tensors
    yield "copy-host", copy_host
    for name in ("float64", "float32", "float16", "bfloat16"):
        yield "matmul-" + name, _product(name)
    yield "convolution", convolution
    yield "sorting", sorting
    yield "random", numbers
    yield "training-step", training_step
    if device["type"] != "cpu":
        yield "evidence", evidence
    if full:
        yield "training", training


def _elsewhere(device: dict[str, Any], **results: Any) -> list[Any]:
    wanted = _called(device).lower().strip("/")
    return [name + " on " + one.device for name, one in results.items() if not one.device.lower().endswith(wanted)]


def small_tensors(device: dict[str, Any]) -> dict[str, Any]:
    """Numbers that have one right answer, also from a compiled graph."""
    with tf.device(_called(device)):
        count = tf.cast(tf.range(1, 11), tf.float32)
        made = {"sum": (tf.reduce_sum(count), 55), "product": (tf.reduce_sum(count * count), 385),
                "joined": (tf.reduce_sum(tf.concat([count, count], 0)), 110),
                "graph": (tf.function(lambda x: tf.reduce_sum(x * 2 + 1))(count), 120)}  # fmt: skip
    wrong = [name for name, (one, right) in made.items() if float(one) != right]
    return {"wrong": wrong, "elsewhere": _elsewhere(device, sum=made["sum"][0], product=made["product"][0])}


def copy_host(device: dict[str, Any]) -> dict[str, Any]:
    """There and back."""
    bits = np.random.RandomState(6).randint(0, 2**24, 1_048_583).astype(np.float32)
    with tf.device(_called(device)):
        there = tf.identity(bits)
    right = np.array_equal(there.numpy(), bits)
    return {"wrong": [] if right else ["plain"], "elsewhere": _elsewhere(device, bits=there)}


def _product(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    kind = getattr(tf, name)

    def measured(device: dict[str, Any]) -> dict[str, Any]:
        away = []

        def multiplied(left: Any, right: Any) -> Any:
            with tf.device(_called(device)):
                got = tf.matmul(tf.cast(left, kind), tf.cast(right, kind))
            away.extend(_elsewhere(device, product=got))
            return tf.cast(got, tf.float64)

        return dict(product(lambda one: tf.cast(tf.cast(one, kind), tf.float64).numpy(), multiplied), elsewhere=away)

    return measured


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward, and the gradient of its kernels."""
    pictures, kernels = (normal(*one).astype(np.float32) for one in ((1, 2, 8, 17, 23), (2, 12, 8, 3, 3)))
    with tf.device(_called(device)):
        left, right = tf.constant(pictures.transpose(0, 2, 3, 1)), tf.constant(kernels.transpose(2, 3, 1, 0))
        with tf.GradientTape() as tape:
            tape.watch(right)
            got = tf.nn.conv2d(left, right, 1, "VALID")
            total = tf.reduce_sum(got)
        gradient = tape.gradient(total, right)
    wanted = convolved(pictures.astype(np.float64), kernels.astype(np.float64))
    sums = np.lib.stride_tricks.sliding_window_view(pictures.astype(np.float64), (15, 21), axis=(2, 3)).sum((0, 4, 5))
    errors = {"result": error(got.numpy().transpose(0, 3, 1, 2), wanted),
              "gradient": error(gradient.numpy().transpose(3, 2, 0, 1), np.broadcast_to(sums, kernels.shape))}  # fmt: skip
    return {"errors": errors, "elsewhere": _elsewhere(device, result=got, gradient=gradient)}


def sorting(device: dict[str, Any]) -> dict[str, Any]:
    """Sorted values and the best of them."""
    values = normal(1, 50, 1000).astype(np.float32)
    with tf.device(_called(device)):
        up, best = tf.sort(tf.constant(values), axis=1), tf.math.top_k(tf.constant(values), 9).values
    right = np.sort(values, axis=1)
    found = {"sort": np.array_equal(up.numpy(), right), "topk": np.array_equal(best.numpy(), right[:, ::-1][:, :9])}
    return {
        "wrong": [name for name, same in found.items() if not same],
        "elsewhere": _elsewhere(device, up=up, best=best),
    }


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers, the same from one seed."""
    drawn = []
    for seed in (1, 1, 2):
        with tf.device(_called(device)):
            first = tf.random.stateless_normal((100_000,), (seed, 0))
            drawn.append([first, tf.random.stateless_uniform((100_000,), (seed, 1))])
    first, again, other = ([one.numpy() for one in made] for made in drawn)
    normal_, uniform = first
    told = {"mean": float(normal_.mean()), "deviation": float(normal_.std()), "least": float(uniform.min()),
            "most": float(uniform.max()), "middle": float(uniform.mean()),
            "kept": float(np.floor(uniform * 10).mean()) / 4.5}  # fmt: skip
    same = all(np.array_equal(one, two) for one, two in zip(first, again))
    differs = not any(np.array_equal(one, two) for one, two in zip(first, other))
    return {
        "statistics": told,
        "repeats": same,
        "differs": differs,
        "elsewhere": _elsewhere(device, normal=drawn[0][0]),
    }


def training_step(device: dict[str, Any]) -> dict[str, Any]:
    """The gradient of a network's loss, against one that NumPy reckons by hand."""
    inputs, goals, first, second = normal(1, 64, 24), normal(2, 64, 5), normal(3, 24, 48) / 5, normal(4, 48, 5) / 7
    with tf.device(_called(device)):
        there = [tf.constant(one, tf.float32) for one in (inputs, goals, first, second)]
        with tf.GradientTape() as tape:
            tape.watch(there[2:])
            loss = tf.reduce_mean((tf.matmul(tf.tanh(tf.matmul(there[0], there[2])), there[3]) - there[1]) ** 2)
        got = tape.gradient(loss, there[2:])
    hidden = np.tanh(inputs @ first)
    off = 2 * (hidden @ second - goals) / goals.size
    wanted = (inputs.T @ ((off @ second.T) * (1 - hidden**2)), hidden.T @ off)
    errors = {"gradient " + str(n): error(one.numpy(), right) for n, (one, right) in enumerate(zip(got, wanted), 1)}
    return {"errors": errors, "elsewhere": _elsewhere(device, gradient=got[0])}


def evidence(device: dict[str, Any]) -> dict[str, Any]:
    """The device's memory before and after, and its rate beside the CPU's."""
    told = {"cpu_rate": _rate("/CPU:0"), "rate": _rate(_called(device))}
    before = _in_use(device)
    with tf.device(_called(device)):
        kept = tf.zeros(((64 << 20) // 4,))
    grown = {name: value - before[name] for name, value in _in_use(device).items() if name in before}
    return dict(told, asked=int(kept.shape[0]) * 4, taken=grown)


def _rate(place: str) -> float:
    with tf.device(place):
        values = tf.ones((_SIDE, _SIDE))
        return float(rate(_SIDE, lambda: tf.matmul(values, values).numpy()))


def _in_use(device: dict[str, Any]) -> dict[str, Any]:
    try:
        return {"current": tf.config.experimental.get_memory_info(_called(device).strip("/"))["current"]}
    except (ValueError, KeyError):
        return {}


def training(device: dict[str, Any]) -> dict[str, Any]:
    """A small network learns which of ten directions points came from."""
    draw = np.random.RandomState(11)
    middles, labels = draw.standard_normal((10, 32)) * 1.2, draw.randint(0, 10, 5000)
    points = (middles[labels] + draw.standard_normal((5000, 32))).astype(np.float32)
    with tf.device(_called(device)):
        weights = [
            tf.Variable(tf.cast(draw.standard_normal(one) / one[0] ** 0.5, tf.float32)) for one in ((32, 64), (64, 10))
        ]
        given, goals = tf.constant(points[:4000]), tf.constant(labels[:4000])
        for _ in range(150):
            with tf.GradientTape() as tape:
                said = tf.matmul(tf.tanh(tf.matmul(given, weights[0])), weights[1])
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(goals, said))
            for one, slope in zip(weights, tape.gradient(loss, weights)):
                one.assign_sub(0.5 * slope)
        told = tf.argmax(tf.matmul(tf.tanh(tf.matmul(points[4000:], weights[0])), weights[1]), 1).numpy()
    return {"accuracy": float((told == labels[4000:]).mean())}
