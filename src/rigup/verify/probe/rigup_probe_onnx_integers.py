"""Operators of ONNX on whole numbers, and those of quantized networks."""

from __future__ import annotations

from typing import Any

import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import each, flat, normal, rounded, whole
from rigup_probe_onnx_model import Node
from rigup_probe_onnx_run import array, host, judged, ran


def integers(device: dict[str, Any]) -> dict[str, Any]:
    """Sums, products and comparisons of whole numbers; products of bytes in 32 bits."""
    found = Found()
    left, right = whole(1, -50, 50, 37), whole(2, 1, 9, 37)
    named = {
        "Add": lambda x, y: x + y,
        "Sub": lambda x, y: x - y,
        "Mul": lambda x, y: x * y,
        "Div": lambda x, y: int(x / y),
        "Max": max,
        "Min": min,
        "Mod": lambda x, y: x % y,
    }  # type: dict[str, Any]
    for kind in ("int32", "int64"):
        given = {"a": array(left, kind), "b": array(right, kind)}
        for name, function in named.items():
            judged(device, found, name + " " + kind, Node(name, ("a", "b")), given, list(map(function, left, right)), kind, exact=True)
        judged(
            device, found, "Greater " + kind, Node("Greater", ("a", "b")), given, [x > y for x, y in zip(left, right)], "bool", exact=True
        )
    for left_kind, other in (("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8")):
        _byte_products(device, found, left_kind, other)
    pictures, kernels = whole(5, 0, 255, 1, 2, 6, 7), whole(6, 0, 255, 3, 2, 3, 3)
    wanted = reference.conv2d(each(lambda x: x - 7, pictures), each(lambda x: x - 100, kernels))
    node, held = Node("ConvInteger", ("a", "b", "z", "w")), {"z": array(7, "uint8"), "w": array(100, "uint8")}
    judged(
        device,
        found,
        "ConvInteger",
        node,
        {"a": array(pictures, "uint8"), "b": array(kernels, "uint8")},
        wanted,
        "int32",
        exact=True,
        held=held,
    )
    flags = {"a": array([True, True, False], "bool"), "b": array([True, False, False], "bool")}
    for name, right_ in (("And", [True, False, False]), ("Or", [True, True, False]), ("Xor", [False, True, False])):
        judged(device, found, name, Node(name, ("a", "b")), flags, right_, "bool", exact=True)
    judged(device, found, "Not", Node("Not", ("a",)), {"a": flags["a"]}, [False, False, True], "bool", exact=True)
    return dict(found.measured())


def _byte_products(device: dict[str, Any], found: Found, left_kind: str, other: str) -> None:
    """MatMulInteger with and without zero points, in shapes that suit no tile."""
    for rows, inner, columns in ((1, 5, 3), (7, 33, 18)):
        left, right = (
            whole(seed, *((0, 255) if kind == "uint8" else (-60, 60)), *shape)
            for seed, kind, shape in ((3, left_kind, (rows, inner)), (4, other, (inner, columns)))
        )
        given = {"a": array(left, left_kind), "b": array(right, other)}
        name = "MatMulInteger " + left_kind + " " + other
        judged(device, found, name, Node("MatMulInteger", ("a", "b")), given, reference.matmul(left, right), "int32", exact=True)
        wanted = reference.matmul(each(lambda x: x - 9, left), each(lambda x: x - 3, right))
        held = {"z": array(9, left_kind), "w": array(3, other)}
        judged(
            device,
            found,
            name + " with zero points",
            Node("MatMulInteger", ("a", "b", "z", "w")),
            given,
            wanted,
            "int32",
            exact=True,
            held=held,
        )


def quantized(device: dict[str, Any]) -> dict[str, Any]:
    """To bytes and back; products and convolutions of bytes whose result is bytes, off by one step at most."""
    found = Found()
    values = rounded("float32", [number * 3 for number in normal(1, 101)])
    steps = {"s": array(0.0625, "float32"), "z": array(128, "uint8")}
    (got,), _places = ran(device, [Node("QuantizeLinear", ("a", "s", "z"))], {"a": array(values, "float32")}, {"y": "uint8"}, steps)
    wanted = [min(max(round(number / 0.0625) + 128, 0), 255) for number in values]
    found.exact("QuantizeLinear", host(got), wanted)
    (got,), _places = ran(device, [Node("DequantizeLinear", ("a", "s", "z"))], {"a": array(wanted, "uint8")}, {"y": "float32"}, steps)
    found.exact("DequantizeLinear", host(got), [(number - 128) * 0.0625 for number in wanted])
    (got, scale, zero), _places = ran(
        device,
        [Node("DynamicQuantizeLinear", ("a",), ("y", "s", "z"))],
        {"a": array(values, "float32")},
        {"y": "uint8", "s": "float32", "z": "uint8"},
    )
    back = [(number - host(zero)) * host(scale) for number in host(got)]
    spread = (max(values) - min(values)) / 255
    found.exact("DynamicQuantizeLinear", abs(host(scale) - spread) < 1e-5 and _within(back, values, 1.01 * spread), True)
    _products(device, found)
    return dict(found.measured())


def _products(device: dict[str, Any], found: Found) -> None:
    left, right = whole(3, 0, 255, 6, 17), whole(4, 0, 255, 17, 5)
    scales = {
        "s": array(0.02, "float32"),
        "z": array(120, "uint8"),
        "t": array(0.01, "float32"),
        "w": array(130, "uint8"),
        "r": array(0.05, "float32"),
        "q": array(128, "uint8"),
    }
    product = reference.matmul(each(lambda x: (x - 120) * 0.02, left), each(lambda x: (x - 130) * 0.01, right))
    wanted = each(lambda x: min(max(round(x / 0.05) + 128, 0), 255), product)
    node = Node("QLinearMatMul", ("a", "s", "z", "b", "t", "w", "r", "q"))
    (got,), _places = ran(device, [node], {"a": array(left, "uint8"), "b": array(right, "uint8")}, {"y": "uint8"}, scales)
    found.exact("QLinearMatMul", _within(host(got), wanted, 1), True)
    pictures, kernels = whole(5, 0, 255, 1, 2, 6, 7), whole(6, 0, 255, 3, 2, 3, 3)
    product = reference.conv2d(each(lambda x: (x - 120) * 0.02, pictures), each(lambda x: (x - 130) * 0.01, kernels))
    wanted = each(lambda x: min(max(round(x / 0.05) + 128, 0), 255), product)
    node = Node("QLinearConv", ("a", "s", "z", "b", "t", "w", "r", "q"))
    (got,), _places = ran(device, [node], {"a": array(pictures, "uint8"), "b": array(kernels, "uint8")}, {"y": "uint8"}, scales)
    found.exact("QLinearConv", _within(host(got), wanted, 1), True)


def _within(got: Any, wanted: Any, step: float) -> bool:
    """Whether both are of one shape and no element is further off."""
    same = reference.shape_of(got) == reference.shape_of(wanted)
    return same and all(abs(element - other) <= step for element, other in zip(flat(got), flat(wanted)))
