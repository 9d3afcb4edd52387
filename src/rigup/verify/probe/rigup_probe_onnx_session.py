"""Sessions of onnxruntime: one with other numbers and shapes, by each way to call it, as written and as it is rewritten."""

from __future__ import annotations

import math
import threading
from typing import Any

import onnxruntime
import rigup_probe_expected as reference
from rigup_probe import Skip
from rigup_probe_compare import Found, distributed, misdistributed
from rigup_probe_expected import normal, rounded
from rigup_probe_onnx_model import Node, model
from rigup_probe_onnx_run import OPSET, array, host, ran, session_of

_RECURRENT = 5  # numbers that a recurrent cell holds


def repeated(device: dict[str, Any]) -> dict[str, Any]:
    """No result is one of before, none changes later, and the inputs are left alone."""
    found, results = Found(), []  # type: Found, list[tuple[str, Any, Any]]
    for size in (5, 8):
        given = {"a": array(normal(0, size, 6), "float32"), "b": array(normal(1, 6, 3), "float32")}
        nodes = [Node("MatMul", ("a", "b"), ("t",)), Node("Relu", ("t",))]
        session = session_of(device, model(nodes, given, {"y": "float32"}, {}, OPSET))
        for number in range(4):
            left, right = (rounded("float32", normal(10 * number + seed, *shape)) for seed, shape in ((0, (size, 6)), (1, (6, 3))))
            asked = {"a": array(left, "float32"), "b": array(right, "float32")}
            wanted = reference.each(lambda x: max(x, 0.0), reference.matmul(left, right))
            results.append((str(size) + " round " + str(number) + " float32", session.run(["y"], asked)[0], wanted))
            found.near(results[-1][0], host(results[-1][1]), wanted)
            found.exact("inputs of " + results[-1][0], [host(asked["a"]), host(asked["b"])], [left, right])
    for name, got, wanted in results:  # once more, when all others have been computed
        found.near("later " + name, host(got), wanted)
    return dict(found.measured())


def sessions(device: dict[str, Any]) -> dict[str, Any]:
    """A network of layers as it is written and as the session rewrites it; by bound memory; from threads; recurrent cells."""
    found = Found()
    rows = rounded("float32", normal(1, 7, 12))
    first, second = (rounded("float32", reference.each(lambda x: x / 3, normal(*shape))) for shape in ((2, 12, 9), (3, 9, 4)))
    held = {"w": array(first, "float32"), "v": array(second, "float32"), "c": array([0.5] * 9, "float32")}
    nodes = [
        Node("MatMul", ("a", "w"), ("t",)),
        Node("Add", ("t", "c"), ("s",)),
        Node("Relu", ("s",), ("r",)),
        Node("MatMul", ("r", "v"), ("l",)),
        Node("Softmax", ("l",), ("y",), {"axis": -1}),
    ]
    given = {"a": array(rows, "float32")}
    hidden = reference.each(lambda x: max(x + 0.5, 0.0), reference.matmul(rows, first))
    wanted = list(map(reference.softmax, reference.matmul(hidden, second)))
    model_bytes = model(nodes, given, {"y": "float32"}, held, OPSET)
    session, plain = session_of(device, model_bytes), session_of(device, model_bytes, plain=True)
    found.near("rewritten float32", host(session.run(None, given)[0]), wanted)
    found.near("as written float32", host(plain.run(None, given)[0]), wanted)
    binding = session.io_binding()
    binding.bind_cpu_input("a", given["a"])
    binding.bind_output("y")
    session.run_with_iobinding(binding)
    found.near("bound memory float32", host(binding.copy_outputs_to_cpu()[0]), wanted)
    turned = {"a": array([[-number for number in row] for row in rows], "float32")}
    binding.bind_cpu_input("a", turned["a"])
    session.run_with_iobinding(binding)
    hidden = reference.each(lambda x: max(0.5 - x, 0.0), reference.matmul(rows, first))
    other = list(map(reference.softmax, reference.matmul(hidden, second)))
    found.near("bound memory again float32", host(binding.copy_outputs_to_cpu()[0]), other)
    value = onnxruntime.OrtValue.ortvalue_from_numpy(given["a"])
    found.exact("OrtValue", host(value.numpy()), rows)
    if hasattr(session, "run_with_ort_values"):
        found.near("run_with_ort_values float32", host(session.run_with_ort_values(["y"], {"a": value})[0].numpy()), wanted)
    results = []  # type: list[Any]
    threads = [threading.Thread(target=lambda: results.append(host(session.run(None, given)[0]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        found.near("thread " + str(number) + " float32", results[number] if number < len(results) else [], wanted)
    _many(device, found)
    _recurrent(device, found)
    return dict(found.measured())


def _many(device: dict[str, Any], found: Found) -> None:
    """More elements than one thread takes."""
    values = rounded("float32", [n % 1000 / 8 for n in range(200_003)])
    given = {"a": array(values, "float32")}
    (got,), _places = ran(device, [Node("Add", ("a", "a"))], given, {"y": "float32"})
    found.exact("Add of many", host(got), [2 * number for number in values])
    held = {"x": array([0], "int64")}
    (got,), _places = ran(device, [Node("ReduceSum", ("a", "x"), ("y",), {"keepdims": 0})], given, {"y": "float32"}, held)
    found.near("ReduceSum of many float32", host(got), math.fsum(values))


def _recurrent(device: dict[str, Any], found: Found) -> None:
    """An LSTM, step after step; its gates stand in the order input, output, forget, cell."""
    size, width, steps = _RECURRENT, 3, 4
    inputs = rounded("float32", normal(1, steps, 1, width))
    weights, back = rounded("float32", normal(2, 1, 4 * size, width)), rounded("float32", normal(3, 1, 4 * size, size))
    given = {"a": array(inputs, "float32"), "w": array(weights, "float32"), "r": array(back, "float32")}
    try:
        (got,), _places = ran(device, [Node("LSTM", ("a", "w", "r"), ("y",), {"hidden_size": size})], given, {"y": "float32"})
    except Exception as error:
        if "NOT_IMPLEMENTED" not in str(error):
            raise
        return
    shown, cell, wanted = [0.0] * size, [0.0] * size, []
    for step in inputs:
        sums = [reference.dot(row, step[0]) + reference.dot(other, shown) for row, other in zip(weights[0], back[0])]
        into, out, forget, new = (sums[n * size : (n + 1) * size] for n in range(4))
        cell = [reference.sigmoid(f) * c + reference.sigmoid(i) * math.tanh(n) for f, c, i, n in zip(forget, cell, into, new)]
        shown = [reference.sigmoid(o) * math.tanh(c) for o, c in zip(out, cell)]
        wanted.append([[shown]])
    found.near("LSTM float32", host(got), wanted)


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers from a seed, where the provider makes any."""
    if device["type"] != "cpu":
        raise Skip("random numbers are made by the CPU's provider")
    drawn = [_drawn(device, seed) for seed in (1.0, 1.0, 2.0)]
    first, again, other = drawn
    integers = [min(int(number * 10), 9) for number in first[1]]
    return {
        "statistics": distributed(first[0], first[1], integers),
        "wrong": misdistributed(first[0], first[1], integers),
        "repeats": first == again,
        "differs": all(v != two for v, two in zip(first, other)),
    }


numbers.__name__ = "random"


def _drawn(device: dict[str, Any], seed: float) -> list[list[float]]:
    streams = []
    for name in ("RandomNormal", "RandomUniform"):
        node = Node(name, (), ("y",), {"shape": [100_000], "seed": seed, "dtype": 1})
        (got,), _places = ran(device, [node], {}, {"y": "float32"})
        streams.append(host(got))
    return streams
