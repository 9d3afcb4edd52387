"""Operators of ONNX, each in a model of its own, and what Python computes in their place."""

from __future__ import annotations

import math
from typing import Any, Callable

import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import ACTIVATIONS, normal, rounded
from rigup_probe_onnx_model import Node
from rigup_probe_onnx_run import array, host, judged, ran

_NAN, _INF = math.nan, math.inf


def fused(device: dict[str, Any]) -> dict[str, Any]:
    """GELU as exporters write it, and a dense layer: patterns that sessions replace by operators of their own."""
    found = Found()
    rows = rounded("float32", normal(1, 6, 8))
    held = {"r": array(math.sqrt(2), "float32"), "o": array(1.0, "float32"), "h": array(0.5, "float32")}
    nodes = [
        Node("Div", ("a", "r"), ("d",)),
        Node("Erf", ("d",), ("e",)),
        Node("Add", ("e", "o"), ("s",)),
        Node("Mul", ("a", "s"), ("p",)),
        Node("Mul", ("p", "h")),
    ]
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"}, held)
    found.near("GELU of parts float32", host(got), reference.each(reference.gelu, rows))
    nodes = [Node("Sigmoid", ("a",), ("s",)), Node("Mul", ("a", "s"))]
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"})
    found.near("SiLU of parts float32", host(got), reference.each(ACTIVATIONS["silu"][0], rows))
    weights, bias = rounded("float32", normal(2, 8, 5)), rounded("float32", normal(3, 5))
    nodes = [Node("MatMul", ("a", "w"), ("m",)), Node("Add", ("m", "c"), ("t",)), Node("Tanh", ("t",))]
    (got,), _places = ran(
        device, nodes, {"a": array(rows, "float32")}, {"y": "float32"}, {"w": array(weights, "float32"), "c": array(bias, "float32")}
    )
    found.near("dense layer float32", host(got), [[math.tanh(x + y) for x, y in zip(row, bias)] for row in reference.matmul(rows, weights)])
    return dict(found.measured())


def composed(device: dict[str, Any]) -> dict[str, Any]:
    """As exporters compose it: products, a mask that is added, softmax."""
    found = Found()
    query, key, value = (rounded("float32", normal(seed, 10, 8)) for seed in (1, 2, 3))
    masks: dict[str, Callable[[int, int], bool]] = {
        "plain": lambda _i, _j: True,
        "causal": lambda i, j: j <= i,
        "masked": lambda i, j: (i * 3 + j) % 4 != 1,
    }
    nodes = [
        Node("Transpose", ("k",), ("t",), {"perm": [1, 0]}),
        Node("MatMul", ("q", "t"), ("s",)),
        Node("Mul", ("s", "h"), ("w",)),
        Node("Add", ("w", "m"), ("x",)),
        Node("Softmax", ("x",), ("p",), {"axis": -1}),
        Node("MatMul", ("p", "v")),
    ]
    for name, seen in masks.items():
        mask = [[0.0 if seen(i, j) else -1e9 for j in range(10)] for i in range(10)]
        given = {"q": array(query, "float32"), "k": array(key, "float32"), "v": array(value, "float32"), "m": array(mask, "float32")}
        (got,), _places = ran(device, nodes, given, {"y": "float32"}, {"h": array(1 / math.sqrt(8), "float32")})
        found.near("attention composed, " + name + " float32", host(got), reference.attention(query, key, value, seen))
    return dict(found.measured())


def normalisation(device: dict[str, Any]) -> dict[str, Any]:
    """Batch, instance and layer norm, and the layer norm of parts that sessions fuse."""
    found = Found()
    _of_pictures(device, found)
    _of_rows(device, found)
    return dict(found.measured())


def _of_pictures(device: dict[str, Any], found: Found) -> None:
    """By channel: batch and instance norm."""
    pictures = rounded("float32", reference.each(lambda x: 2 * x + 1, normal(1, 2, 3, 4, 5)))
    scale, bias, middle, spread = ([1.0, 2.0, -0.5], [0.5, 0.0, 1.0], [1.0, 0.5, -1.0], [4.0, 1.0, 0.25])
    held = {name: array(values, "float32") for name, values in zip("sbmv", (scale, bias, middle, spread))}
    given = {"a": array(pictures, "float32")}
    wanted = [
        [
            reference.each(lambda x, c=c: (x - middle[c]) / math.sqrt(spread[c] + 1e-5) * scale[c] + bias[c], channel)
            for c, channel in enumerate(picture)
        ]
        for picture in pictures
    ]
    judged(device, found, "BatchNormalization", Node("BatchNormalization", ("a", "s", "b", "m", "v")), given, wanted, "float32", held=held)
    wanted = [
        [
            reference.shaped([x * scale[c] + bias[c] for x in reference.normalised(reference.flat(channel))], (4, 5))
            for c, channel in enumerate(picture)
        ]
        for picture in pictures
    ]
    judged(device, found, "InstanceNormalization", Node("InstanceNormalization", ("a", "s", "b")), given, wanted, "float32", held=held)


def _of_rows(device: dict[str, Any], found: Found) -> None:
    """By row: layer norm, whole and in parts, and to length one."""
    rows = rounded("float32", [[number * 2 + 1 for number in row] for row in normal(2, 6, 8)])
    weight, shift = normal(3, 8), normal(4, 8)
    held = {"s": array(weight, "float32"), "b": array(shift, "float32"), "e": array(1e-5, "float32"), "two": array(2.0, "float32")}
    wanted = [[x * s + b for x, s, b in zip(reference.normalised(row), weight, shift)] for row in rows]
    node = Node("LayerNormalization", ("a", "s", "b"), ("y",), {"axis": -1})
    judged(
        device,
        found,
        "LayerNormalization",
        node,
        {"a": array(rows, "float32")},
        wanted,
        "float32",
        held={"s": held["s"], "b": held["b"]},
        opset=17,
    )
    nodes = [
        Node("ReduceMean", ("a",), ("m",), {"axes": [-1]}),
        Node("Sub", ("a", "m"), ("d",)),
        Node("Pow", ("d", "two"), ("q",)),
        Node("ReduceMean", ("q",), ("v",), {"axes": [-1]}),
        Node("Add", ("v", "e"), ("w",)),
        Node("Sqrt", ("w",), ("r",)),
        Node("Div", ("d", "r"), ("n",)),
        Node("Mul", ("n", "s"), ("t",)),
        Node("Add", ("t", "b")),
    ]
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"}, held)
    found.near("layer norm of parts float32", host(got), wanted)
    unit = [[number / math.sqrt(reference.dot(row, row)) for number in row] for row in rows]
    judged(
        device,
        found,
        "LpNormalization",
        Node("LpNormalization", ("a",), ("y",), {"axis": -1, "p": 2}),
        {"a": array(rows, "float32")},
        unit,
        "float32",
    )


def unusual(device: dict[str, Any]) -> dict[str, Any]:
    """What is no number stays none; what is infinite, infinite."""
    found = Found()
    odd = [1.0, _NAN, _INF, -_INF, 0.0]
    for kind in ("float32", "float64", "float16"):
        cases = {
            "Add": (("a", "a"), [2, _NAN, _INF, -_INF, 0]),
            "Sub": (("a", "a"), [0, _NAN, _NAN, _NAN, 0]),
            "Mul": (("a", "z"), [0, _NAN, _NAN, _NAN, 0]),
            "Div": (("a", "z"), [_INF, _NAN, _INF, -_INF, _NAN]),
            "Exp": (("b",), [_NAN, _INF, 0, 1]),
            "Abs": (("a",), [1, _NAN, _INF, _INF, 0]),
            "Neg": (("a",), [-1, _NAN, -_INF, _INF, 0]),
            "Sqrt": (("a",), [1, _NAN, _INF, _NAN, 0]),
            "MatMul": (("r", "c"), [[_NAN]]),
            "Identity": (("a",), odd),
        }  # type: dict[str, Any]
        arrays = {
            "a": array(odd, kind),
            "b": array(odd[1:], kind),
            "z": array([0.0] * 5, kind),
            "r": array([[1.0, _NAN]], kind),
            "c": array([[1.0], [0.0]], kind),
        }
        for name, (inputs, wanted) in cases.items():
            given = {input_name: arrays[input_name] for input_name in dict.fromkeys(inputs)}
            judged(device, found, name + " " + kind, Node(name, inputs), given, wanted, kind, exact=True)
        for name, wanted in (("IsNaN", [False, True, False, False, False]), ("IsInf", [False, False, True, True, False])):
            judged(device, found, name + " " + kind, Node(name, ("a",)), {"a": arrays["a"]}, wanted, "bool", exact=True)
        held = {"x": array([0], "int64")}
        judged(
            device,
            found,
            "ReduceSum " + kind,
            Node("ReduceSum", ("a", "x"), ("y",), {"keepdims": 0}),
            {"a": arrays["a"]},
            _NAN,
            kind,
            exact=True,
            held=held,
        )
    return dict(found.measured())
