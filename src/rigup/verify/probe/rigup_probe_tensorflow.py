"""What is measured of TensorFlow: each device, against what Python computes. Nothing may be placed elsewhere in silence."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import numpy as np
import rigup_probe_expected as reference
import tensorflow as tf
from rigup_probe_compare import SHAPES, Found, distributed, misdistributed, product_error, rate
from rigup_probe_expected import normal, rounded, whole

_SIDE = 1024


def about() -> dict[str, Any]:
    """The build."""
    tf.config.set_soft_device_placement(False)
    tf.config.experimental.enable_tensor_float_32_execution(False)
    build_info = dict(tf.sysconfig.get_build_info())
    kept = ("cuda_version", "cudnn_version", "is_cuda_build", "is_rocm_build", "cuda_compute_capabilities")
    return {"version": tf.__version__, "build": {name: build_info[name] for name in kept if name in build_info}}


def devices() -> list[Any]:
    """All GPUs that TensorFlow lists, the CPU last."""
    found = []
    for index, gpu in enumerate(tf.config.list_physical_devices("GPU")):
        tf.config.experimental.set_memory_growth(gpu, True)
        details = tf.config.experimental.get_device_details(gpu)
        major = details.get("compute_capability")
        isa = "sm_{}{}".format(*major) if major else ""
        vendor = "amd" if tf.test.is_built_with_rocm() else "nvidia" if tf.test.is_built_with_cuda() else ""
        shown = {"name": details.get("device_name", ""), "isa": isa if vendor == "nvidia" else "", "vendor": vendor}
        found.append(dict(shown, id="gpu:" + str(index), type="gpu", index=index))
    return [*found, {"id": "cpu", "type": "cpu", "vendor": ""}]


def _called(device: dict[str, Any]) -> str:
    return "/CPU:0" if device["type"] == "cpu" else "/GPU:" + str(device["index"])


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:
    """The checks of a device."""
    yield "small-tensors", small_tensors
    yield "copy-host", copy_host
    for name in ("float64", "float32", "float16", "bfloat16"):
        yield "matmul-" + name, _product(name)
    for check in (convolution, activations, functions, sorting, unusual, numbers, training_step):
        yield check.__name__.replace("_", "-"), check
    if device["type"] != "cpu":
        yield "evidence", evidence
    if full:
        yield "training", training


def _elsewhere(device: dict[str, Any], **results: Any) -> list[Any]:
    wanted = _called(device).lower().strip("/")
    return [name + " on " + result.device for name, result in results.items() if not result.device.lower().endswith(wanted)]


def small_tensors(device: dict[str, Any]) -> dict[str, Any]:
    """Numbers that have one right answer, also from a compiled graph."""
    with tf.device(_called(device)):
        count = tf.cast(tf.range(1, 11), tf.float32)
        cases = {
            "sum": (tf.reduce_sum(count), 55),
            "product": (tf.reduce_sum(count * count), 385),
            "joined": (tf.reduce_sum(tf.concat([count, count], 0)), 110),
            "graph": (tf.function(lambda x: tf.reduce_sum(x * 2 + 1))(count), 120),
        }
    wrong = [name for name, (got, right) in cases.items() if float(got) != right]
    return {"wrong": wrong, "elsewhere": _elsewhere(device, sum=cases["sum"][0], product=cases["product"][0])}


def copy_host(device: dict[str, Any]) -> dict[str, Any]:
    """There and back."""
    bits = [float(n * 2654435761 % 2**24) for n in range(262_147)]
    with tf.device(_called(device)):
        tensor = tf.identity(np.array(bits, np.float32))
    return {"wrong": [] if host(tensor) == bits else ["plain"], "elsewhere": _elsewhere(device, bits=tensor)}


def host(tensor: Any) -> Any:
    """Numbers of Python again."""
    return tf.cast(tensor, tf.float32).numpy().tolist() if tensor.dtype == tf.bfloat16 else tensor.numpy().tolist()


def _moved(device: dict[str, Any], values: Any, kind: str = "float32") -> Any:
    with tf.device(_called(device)):
        return tf.cast(tf.identity(np.array(values, np.float64)), kind)


def _product(kind: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def measured(device: dict[str, Any]) -> dict[str, Any]:
        found = Found()
        for shape in ((33, 65, 17), *SHAPES):
            left, right = (rounded(kind, normal(seed, *shape[seed : seed + 2])) for seed in (0, 1))
            with tf.device(_called(device)):
                left_tensor, other = _moved(device, left, kind), _moved(device, right, kind)
                got = tf.matmul(left_tensor, other)
                found.errors["matmul " + str(shape) + " " + kind] = product_error(host(got), left, right)
                found.elsewhere += _elsewhere(device, product=got)
                if shape not in SHAPES:
                    found.near("einsum " + kind, host(tf.einsum("ij,jk->ik", left_tensor, other)), reference.matmul(left, right))
                    found.near("tensordot " + kind, host(tf.tensordot(left_tensor, other, 1)), reference.matmul(left, right))
        return dict(found.measured())

    return measured


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward, and the gradient of its kernels."""
    found = Found()
    pictures, kernels, weights = (rounded("float32", normal(*shape)) for shape in ((1, 2, 4, 9, 11), (2, 6, 4, 3, 3), (3, 2, 6, 7, 9)))
    with tf.device(_called(device)):
        left, right = (tf.transpose(_moved(device, pictures), (0, 2, 3, 1)), tf.transpose(_moved(device, kernels), (2, 3, 1, 0)))
        with tf.GradientTape() as tape:
            tape.watch(right)
            got = tf.nn.conv2d(left, right, 1, "VALID")
            total = tf.reduce_sum(got * tf.transpose(_moved(device, weights), (0, 2, 3, 1)))
        gradient = tape.gradient(total, right)
        pooled = tf.nn.max_pool2d(left, 2, 2, "VALID")
        found.near("conv2d float32", host(tf.transpose(got, (0, 3, 1, 2))), reference.conv2d(pictures, kernels))
        slope = reference.conv2d_kernel_gradient(pictures, kernels, weights)
        found.near("gradient of conv2d float32", host(tf.transpose(gradient, (3, 2, 0, 1))), slope)
        found.near("max_pool2d float32", host(tf.transpose(pooled, (0, 3, 1, 2))), reference.pooled(pictures, max))
    found.elsewhere += _elsewhere(device, result=got, gradient=gradient)
    return dict(found.measured())


def activations(device: dict[str, Any]) -> dict[str, Any]:
    """Activations and their gradients in each type."""
    found = Found()
    calls = {"tanh": tf.tanh, "sigmoid": tf.sigmoid, "gelu": tf.nn.gelu, "leaky_relu": lambda x: tf.nn.leaky_relu(x, 0.01)}  # type: dict[str, Any]
    for kind in ("float32", "float16", "bfloat16"):
        steps = rounded(kind, [n / 8 + 0.0625 for n in range(-20, 20)])
        weights = rounded(kind, normal(5, len(steps)))
        for name, (function, slope) in reference.ACTIVATIONS.items():
            tensor = _moved(device, steps, kind)
            with tf.device(_called(device)), tf.GradientTape() as tape:
                tape.watch(tensor)
                got = calls[name](tensor) if name in calls else getattr(tf.nn, name)(tensor)
                total = tf.reduce_sum(got * _moved(device, weights, kind))
            found.near(name + " " + kind, host(got), [function(x) for x in steps])
            found.near(
                "gradient of " + name + " " + kind, host(tape.gradient(total, tensor)), [slope(x) * w for x, w in zip(steps, weights)]
            )
            found.elsewhere += _elsewhere(device, **{name: got})
    return dict(found.measured())


def functions(device: dict[str, Any]) -> dict[str, Any]:
    """Softmax, norms, attention as networks compose it, sums over each dimension."""
    found, kind = Found(), "float32"
    rows = rounded(kind, normal(1, 7, 9))
    large = rounded(kind, [[number * 90 + 900 for number in row] for row in rows])
    query, key, value = (rounded(kind, normal(seed, 10, 8)) for seed in (1, 2, 3))
    seen = [[0.0 if j <= i else -1e9 for j in range(10)] for i in range(10)]
    with tf.device(_called(device)):
        x, q, k, v, mask = (_moved(device, values) for values in (rows, query, key, value, seen))
        cases = {
            "softmax": (tf.nn.softmax(x), list(map(reference.softmax, rows))),
            "softmax of large": (tf.nn.softmax(_moved(device, large)), list(map(reference.softmax, large))),
            "log_softmax": (tf.nn.log_softmax(x), list(map(reference.log_softmax, rows))),
            "reduce_logsumexp": (tf.reduce_logsumexp(x, 1), list(map(reference.logsumexp, rows))),
            "attention": (
                tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 8**0.5 + mask), v),
                reference.attention(query, key, value, lambda i, j: j <= i),
            ),
            "batch norm": (
                tf.nn.batch_normalization(x, *tf.nn.moments(x, 0), None, None, 1e-5),
                reference.turned(map(reference.normalised, reference.turned(rows))),
            ),
            "reduce_sum": (tf.reduce_sum(x, 1), list(map(math.fsum, rows))),
            "reduce_sum down": (tf.reduce_sum(x, 0), list(map(math.fsum, reference.turned(rows)))),
            "reduce_mean": (tf.reduce_mean(x, 1), list(map(reference.mean, rows))),
            "reduce_max": (tf.reduce_max(x, 1), list(map(max, rows))),
            "reduce_variance": (tf.math.reduce_variance(x, 1), list(map(reference.variance, rows))),
            "cumsum": (tf.cumsum(x, 1), [[math.fsum(row[: n + 1]) for n in range(9)] for row in rows]),
        }  # type: dict[str, Any]
    for name, (got, wanted) in cases.items():
        found.near(name + " " + kind, host(got), wanted)
        found.elsewhere += _elsewhere(device, **{name.replace(" ", "_"): got})
    return dict(found.measured())


def sorting(device: dict[str, Any]) -> dict[str, Any]:
    """Sorted values, the best of them, and where they were; taken, put and added at places."""
    found = Found()
    values, rows = whole(1, -60, 60, 9, 101), whole(2, 0, 8, 23)
    ups = list(map(sorted, values))
    with tf.device(_called(device)):
        x, at = _moved(device, values), tf.identity(np.array(rows, np.int32))
        best = tf.math.top_k(x, 7)
        cases = {
            "sort": (tf.sort(x, axis=1), ups),
            "top_k": (best.values, [row[::-1][:7] for row in ups]),
            "argmax": (tf.argmax(x, 1), [row.index(max(row)) for row in values]),
            "argsort": (tf.gather(x, tf.argsort(x, axis=1), batch_dims=1), ups),
            "gather": (tf.gather(x, at), [values[n] for n in rows]),
            "segment_sum": (tf.math.unsorted_segment_sum(tf.ones(23), at, 9), [rows.count(n) for n in range(9)]),
            "where": (tf.where(x > 0, x, -x), [list(map(abs, row)) for row in values]),
            "scatter_nd": (tf.scatter_nd(at[:, None], tf.ones(23), (9,)), [rows.count(n) for n in range(9)]),
            "transpose": (tf.transpose(x), reference.turned(values)),
        }  # type: dict[str, Any]
    for name, (got, wanted) in cases.items():
        found.exact(name, host(got), wanted)
    found.elsewhere += _elsewhere(device, up=cases["sort"][0], best=best.values)
    return dict(found.measured())


def unusual(device: dict[str, Any]) -> dict[str, Any]:
    """What is no number stays none; what is infinite, infinite."""
    found, none, much = Found(), math.nan, math.inf
    with tf.device(_called(device)):
        odd = _moved(device, [1.0, none, much, -much, 0.0])
        cases = {
            "reduce_sum": (tf.reduce_sum(odd), none),
            "add": (odd + 1, [2, none, much, -much, 1]),
            "multiply": (odd * 0, [0, none, none, none, 0]),
            "exp": (tf.exp(odd[1:]), [none, much, 0, 1]),
            "is_nan": (tf.math.is_nan(odd), [False, True, False, False, False]),
            "sqrt": (tf.sqrt(odd), [1, none, much, none, 0]),
            "tanh": (tf.tanh(odd[1:]), [none, 1, -1, 0]),
            "matmul": (tf.matmul(odd[None, :2], odd[:2, None] * 0), [[none]]),
        }  # type: dict[str, Any]
    for name, (got, wanted) in cases.items():
        found.exact(name, host(got), wanted)
    return dict(found.measured())


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers, the same from one seed."""
    drawn = []
    for seed in (1, 1, 2):
        with tf.device(_called(device)):
            first = tf.random.stateless_normal((100_000,), (seed, 0))
            drawn.append([first, tf.random.stateless_uniform((100_000,), (seed, 1))])
    first, again, other = ([host(tensor) for tensor in tensors] for tensors in drawn)
    integers = [min(int(number * 10), 9) for number in first[1]]
    return {
        "statistics": distributed(*first, integers),
        "wrong": misdistributed(*first, integers),
        "repeats": first == again,
        "differs": all(v != two for v, two in zip(first, other)),
        "elsewhere": _elsewhere(device, normal=drawn[0][0]),
    }


numbers.__name__ = "random"


def training_step(device: dict[str, Any]) -> dict[str, Any]:
    """The gradient of a network's loss, against one that Python reckons by hand."""
    arrays, right_loss, wanted = reference.network_step()
    with tf.device(_called(device)):
        tensors = [_moved(device, values) for values in arrays]
        with tf.GradientTape() as tape:
            tape.watch(tensors[2:])
            loss = tf.reduce_mean((tf.matmul(tf.tanh(tf.matmul(tensors[0], tensors[2])), tensors[3]) - tensors[1]) ** 2)
        got = tape.gradient(loss, tensors[2:])
    found = Found()
    found.near("loss float32", float(loss), right_loss)
    for number, (gradient, right) in enumerate(zip(got, wanted), 1):
        found.near("gradient " + str(number) + " float32", host(gradient), right)
    found.elsewhere += _elsewhere(device, gradient=got[0])
    return dict(found.measured())


def evidence(device: dict[str, Any]) -> dict[str, Any]:
    """The device's memory before and after, and its rate beside the CPU's."""
    rates = {"cpu_rate": _rate("/CPU:0"), "rate": _rate(_called(device))}
    before = _in_use(device)
    with tf.device(_called(device)):
        kept = tf.zeros(((64 << 20) // 4,))
    grown = {name: value - before[name] for name, value in _in_use(device).items() if name in before}
    return dict(rates, asked=int(kept.shape[0]) * 4, taken=grown)


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
        weights = [tf.Variable(tf.cast(draw.standard_normal(shape) / shape[0] ** 0.5, tf.float32)) for shape in ((32, 64), (64, 10))]
        given, goals = tf.constant(points[:4000]), tf.constant(labels[:4000])
        for _ in range(150):
            with tf.GradientTape() as tape:
                logits = tf.matmul(tf.tanh(tf.matmul(given, weights[0])), weights[1])
                loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(goals, logits))
            for variable, slope in zip(weights, tape.gradient(loss, weights)):
                variable.assign_sub(0.5 * slope)
        predicted = tf.argmax(tf.matmul(tf.tanh(tf.matmul(points[4000:], weights[0])), weights[1]), 1).numpy()
    return {"accuracy": float((predicted == labels[4000:]).mean())}
