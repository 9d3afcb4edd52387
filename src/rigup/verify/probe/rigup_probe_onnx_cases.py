"""Operators of ONNX, each in a model of its own, and what Python computes in their place."""

from __future__ import annotations

import math
from typing import Any, Callable

import rigup_probe_expected as reference
from rigup_probe_compare import Found
from rigup_probe_expected import ACTIVATIONS, normal, rounded, turned, whole
from rigup_probe_onnx_model import Node
from rigup_probe_onnx_run import array, host, judged, ran

_NAN, _INF = math.nan, math.inf
_OF_ONE: dict[str, Callable[[float], float]] = {
    "Relu": ACTIVATIONS["relu"][0], "Sigmoid": reference.sigmoid, "Tanh": math.tanh, "Softplus": reference.softplus,
    "Elu": ACTIVATIONS["elu"][0], "LeakyRelu": ACTIVATIONS["leaky_relu"][0], "Exp": math.exp, "Erf": math.erf, "Abs": abs, "Neg": lambda x: -x,
    "Sin": math.sin, "Cos": math.cos, "Atan": math.atan, "Floor": math.floor, "Ceil": math.ceil, "Round": round,
    "Sign": lambda x: float((x > 0) - (x < 0)), "Softsign": lambda x: x / (1 + abs(x)), "Identity": lambda x: x, "Sinh": math.sinh,
    "HardSigmoid": lambda x: min(max(0.2 * x + 0.5, 0.0), 1.0), "Selu": lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * math.expm1(x)),
}  # fmt: skip
_OF_TWO: dict[str, Callable[[float, float], float]] = {
    "Add": lambda x, y: x + y,
    "Sub": lambda x, y: x - y,
    "Mul": lambda x, y: x * y,
    "Div": lambda x, y: x / y,
    "Max": max,
    "Min": min,
    "Pow": lambda x, y: x**y,
    "PRelu": lambda x, y: x if x > 0 else x * y,
    "Mean": lambda x, y: (x + y) / 2,
    "Sum": lambda x, y: x + y,
}
_COMPARED: dict[str, Callable[[float, float], bool]] = {
    "Greater": lambda x, y: x > y,
    "Less": lambda x, y: x < y,
    "Equal": lambda x, y: x == y,
    "GreaterOrEqual": lambda x, y: x >= y,
    "LessOrEqual": lambda x, y: x <= y,
}


def activations(device: dict[str, Any]) -> dict[str, Any]:
    """Functions of one element and of two; compositions that the session fuses."""
    found = Found()
    for kind in ("float32", "float16", "float64"):
        steps = rounded(kind, [n / 8 for n in range(-32, 33)])
        given = {"a": array(steps, kind)}
        for name, function in _OF_ONE.items() if kind == "float32" or device["full"] else list(_OF_ONE.items())[:10]:
            judged(device, found, name, Node(name, ("a",)), given, [float(function(one)) for one in steps], kind)
        over = {"a": array([abs(one) + 0.25 for one in steps], kind)}
        for name, function in (("Log", math.log), ("Sqrt", math.sqrt), ("Reciprocal", lambda x: 1 / x)):
            wanted = [function(abs(one) + 0.25) for one in steps]
            judged(device, found, name, Node(name, ("a",)), over, wanted, kind)
        judged(device, found, "Gelu", Node("Gelu", ("a",)), given, list(map(reference.gelu, steps)), kind, opset=20)
        _of_two(device, found, kind, steps)
    _fused(device, found)
    return dict(found.measured())


def _of_two(device: dict[str, Any], found: Found, kind: str, steps: list[float]) -> None:
    other = rounded(kind, [abs(one) + 0.5 for one in normal(2, len(steps))])
    for name, function in _OF_TWO.items():
        plain = [abs(one) for one in steps] if name == "Pow" else steps
        given = {"a": array(plain, kind), "b": array(other, kind)}
        judged(device, found, name, Node(name, ("a", "b")), given, [function(x, y) for x, y in zip(plain, other)], kind)
    wide = {"a": array([[x] for x in steps[:5]], kind), "b": array(other[:7], kind)}
    judged(device, found, "Add with broadcast", Node("Add", ("a", "b")), wide, [[x + y for y in other[:7]] for x in steps[:5]], kind)  # fmt: skip
    for name, compare in _COMPARED.items():
        given = {"a": array(steps, kind), "b": array(other, kind)}
        judged(device, found, name, Node(name, ("a", "b")), given, [compare(x, y) for x, y in zip(steps, other)], "bool", exact=True)  # fmt: skip


def _fused(device: dict[str, Any], found: Found) -> None:
    """GELU as exporters write it, and a dense layer: patterns that sessions replace by operators of their own."""
    rows = rounded("float32", normal(1, 6, 8))
    held = {"r": array(math.sqrt(2), "float32"), "o": array(1.0, "float32"), "h": array(0.5, "float32")}
    nodes = [Node("Div", ("a", "r"), ("d",)), Node("Erf", ("d",), ("e",)), Node("Add", ("e", "o"), ("s",)),
             Node("Mul", ("a", "s"), ("p",)), Node("Mul", ("p", "h"))]  # fmt: skip
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"}, held)
    found.near("GELU of parts float32", host(got), reference.each(reference.gelu, rows))
    nodes = [Node("Sigmoid", ("a",), ("s",)), Node("Mul", ("a", "s"))]
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"})
    found.near("SiLU of parts float32", host(got), reference.each(ACTIVATIONS["silu"][0], rows))
    weights, bias = rounded("float32", normal(2, 8, 5)), rounded("float32", normal(3, 5))
    nodes = [Node("MatMul", ("a", "w"), ("m",)), Node("Add", ("m", "c"), ("t",)), Node("Tanh", ("t",))]
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"}, {"w": array(weights, "float32"), "c": array(bias, "float32")})  # fmt: skip
    found.near("dense layer float32", host(got), [[math.tanh(x + y) for x, y in zip(row, bias)] for row in reference.matmul(rows, weights)])  # fmt: skip


def softmax(device: dict[str, Any]) -> dict[str, Any]:
    """Over each dimension, also of large numbers."""
    found = Found()
    for kind in ("float32", "float16", "float64"):
        rows = rounded(kind, normal(1, 5, 9))
        large = rounded(kind, [[one * 90 + 900 for one in row] for row in rows])
        for name, function in (("Softmax", reference.softmax), ("LogSoftmax", reference.log_softmax)):
            for way, values in (("", rows), (" of large", large), (" of small", [[-x for x in row] for row in large])):
                node = Node(name, ("a",), ("y",), {"axis": -1})
                judged(device, found, name + way, node, {"a": array(values, kind)}, list(map(function, values)), kind)
            down = Node(name, ("a",), ("y",), {"axis": 0})
            judged(
                device, found, name + " down", down, {"a": array(rows, kind)}, turned(map(function, turned(rows))), kind
            )
    return dict(found.measured())


def attention(device: dict[str, Any]) -> dict[str, Any]:
    """As exporters compose it: products, a mask that is added, softmax."""
    found = Found()
    query, key, value = (rounded("float32", normal(seed, 10, 8)) for seed in (1, 2, 3))
    masks: dict[str, Callable[[int, int], bool]] = {
        "plain": lambda _i, _j: True,
        "causal": lambda i, j: j <= i,
        "masked": lambda i, j: (i * 3 + j) % 4 != 1,
    }
    nodes = [Node("Transpose", ("k",), ("t",), {"perm": [1, 0]}), Node("MatMul", ("q", "t"), ("s",)), Node("Mul", ("s", "h"), ("w",)),
             Node("Add", ("w", "m"), ("x",)), Node("Softmax", ("x",), ("p",), {"axis": -1}), Node("MatMul", ("p", "v"))]  # fmt: skip
    for name, seen in masks.items():
        mask = [[0.0 if seen(i, j) else -1e9 for j in range(10)] for i in range(10)]
        given = {
            "q": array(query, "float32"),
            "k": array(key, "float32"),
            "v": array(value, "float32"),
            "m": array(mask, "float32"),
        }
        (got,), _places = ran(device, nodes, given, {"y": "float32"}, {"h": array(1 / math.sqrt(8), "float32")})
        found.near("attention " + name + " float32", host(got), reference.attention(query, key, value, seen))
    return dict(found.measured())


def normalisation(device: dict[str, Any]) -> dict[str, Any]:
    """Batch, instance and layer norm, and the layer norm of parts that sessions fuse."""
    found = Found()
    pictures = rounded("float32", reference.each(lambda x: 2 * x + 1, normal(1, 2, 3, 4, 5)))
    scale, bias, middle, spread = ([1.0, 2.0, -0.5], [0.5, 0.0, 1.0], [1.0, 0.5, -1.0], [4.0, 1.0, 0.25])
    held = {name: array(one, "float32") for name, one in zip("sbmv", (scale, bias, middle, spread))}
    given = {"a": array(pictures, "float32")}
    wanted = [[reference.each(lambda x, c=c: (x - middle[c]) / math.sqrt(spread[c] + 1e-5) * scale[c] + bias[c], one) for c, one in enumerate(picture)] for picture in pictures]  # fmt: skip
    judged(device, found, "BatchNormalization", Node("BatchNormalization", ("a", "s", "b", "m", "v")), given, wanted, "float32", held=held)  # fmt: skip
    wanted = [[reference.shaped([x * scale[c] + bias[c] for x in reference.normalised(reference.flat(one))], (4, 5)) for c, one in enumerate(picture)] for picture in pictures]  # fmt: skip
    judged(device, found, "InstanceNormalization", Node("InstanceNormalization", ("a", "s", "b")), given, wanted, "float32", held=held)  # fmt: skip
    rows = rounded("float32", [[one * 2 + 1 for one in row] for row in normal(2, 6, 8)])
    weight, shift = normal(3, 8), normal(4, 8)
    held = {
        "s": array(weight, "float32"),
        "b": array(shift, "float32"),
        "e": array(1e-5, "float32"),
        "two": array(2.0, "float32"),
    }
    wanted = [[x * s + b for x, s, b in zip(reference.normalised(row), weight, shift)] for row in rows]
    node = Node("LayerNormalization", ("a", "s", "b"), ("y",), {"axis": -1})
    judged(device, found, "LayerNormalization", node, {"a": array(rows, "float32")}, wanted, "float32", held={"s": held["s"], "b": held["b"]}, opset=17)  # fmt: skip
    nodes = [Node("ReduceMean", ("a",), ("m",), {"axes": [-1]}), Node("Sub", ("a", "m"), ("d",)), Node("Pow", ("d", "two"), ("q",)),
             Node("ReduceMean", ("q",), ("v",), {"axes": [-1]}), Node("Add", ("v", "e"), ("w",)), Node("Sqrt", ("w",), ("r",)),
             Node("Div", ("d", "r"), ("n",)), Node("Mul", ("n", "s"), ("t",)), Node("Add", ("t", "b"))]  # fmt: skip
    (got,), _places = ran(device, nodes, {"a": array(rows, "float32")}, {"y": "float32"}, held)
    found.near("layer norm of parts float32", host(got), wanted)
    unit = [[one / math.sqrt(reference.dot(row, row)) for one in row] for row in rows]
    judged(device, found, "LpNormalization", Node("LpNormalization", ("a",), ("y",), {"axis": -1, "p": 2}), {"a": array(rows, "float32")}, unit, "float32")  # fmt: skip
    return dict(found.measured())


def reductions(device: dict[str, Any]) -> dict[str, Any]:
    """Sums and their like over each dimension."""
    found = Found()
    named: dict[str, Callable[[list[float]], float]] = {
        "ReduceMean": reference.mean, "ReduceMax": max, "ReduceMin": min, "ReduceProd": math.prod, "ReduceL1": lambda row: math.fsum(map(abs, row)),
        "ReduceL2": lambda row: math.sqrt(reference.dot(row, row)), "ReduceSumSquare": lambda row: reference.dot(row, row),
        "ReduceLogSumExp": reference.logsumexp, "ReduceSum": math.fsum,
    }  # fmt: skip
    for kind in ("float32", "float16", "float64"):
        rows = rounded(kind, [[1 + one / 8 for one in row] for row in normal(1, 9, 19)])
        given = {"a": array(rows, kind)}
        for name, function in named.items():
            for axis, way, wanted in (
                (1, "", list(map(function, rows))),
                (0, " down", list(map(function, turned(rows)))),
            ):
                of_input = name == "ReduceSum"
                node = Node(
                    name,
                    ("a", "x") if of_input else ("a",),
                    ("y",),
                    {"keepdims": 0, **({} if of_input else {"axes": [axis]})},
                )
                held = {"x": array([axis], "int64")} if of_input else {}
                judged(device, found, name + way, node, given, wanted, kind, held=held)
        running = [[math.fsum(row[: n + 1]) for n in range(19)] for row in rows]
        judged(device, found, "CumSum", Node("CumSum", ("a", "x")), given, running, kind, held={"x": array(1, "int64")})
    counts = whole(2, -50, 50, 7, 11)
    for kind in ("int32", "int64"):
        node = Node("ReduceSum", ("a", "x"), ("y",), {"keepdims": 0})
        judged(device, found, "ReduceSum " + kind, node, {"a": array(counts, kind)}, list(map(sum, counts)), kind, exact=True, held={"x": array([1], "int64")})  # fmt: skip
    return dict(found.measured())


def sorting(device: dict[str, Any]) -> dict[str, Any]:
    """The best and where they were; the first of equal ones."""
    found = Found()
    for kind in ("float32", "int64", "int32", "float64"):
        values = whole(1, -60, 60, 5, 41)
        given, how = {"a": array(values, kind)}, {"keepdims": 0, "axis": 1}
        for name, best in (("ArgMax", max), ("ArgMin", min)):
            judged(device, found, name + " " + kind, Node(name, ("a",), ("y",), how), given, [row.index(best(row)) for row in values], "int64", exact=True)  # fmt: skip
        for large in (1, 0):
            node, held = Node("TopK", ("a", "k"), ("y", "i"), {"largest": large, "axis": 1}), {"k": array([7], "int64")}
            try:
                (got, places), _places = ran(device, [node], given, {"y": kind, "i": "int64"}, held)
            except Exception as error:
                if "NOT_IMPLEMENTED" not in str(error):
                    raise
                continue
            wanted = [sorted(row, reverse=bool(large))[:7] for row in values]
            found.exact("TopK " + str(large) + " " + kind, host(got), wanted)
            found.exact("places of TopK " + str(large) + " " + kind, [[row[n] for n in at] for row, at in zip(values, host(places))], wanted)  # fmt: skip
    given = {"a": array([3, 1, 3, 2, 1], "int64")}
    judged(
        device, found, "Unique", Node("Unique", ("a",), ("y",), {"sorted": 1}), given, [1, 2, 3], "int64", exact=True
    )
    return dict(found.measured())


def indexing(device: dict[str, Any]) -> dict[str, Any]:
    """Take, put, cut, join and turn: exact, for nothing is reckoned."""
    found = Found()
    table, rows = whole(1, -60, 60, 6, 4), [5, 0, 3, 3, -1]
    at = array(rows, "int64")
    for kind in ("float32", "int64", "float16", "int32"):
        a = array(table, kind)
        two, ones = array(2, kind), array([1, 3], "int64")
        cases = {
            "Gather": (Node("Gather", ("a", "i")), {"i": at}, [table[n] for n in rows]),
            "Gather of columns": (Node("Gather", ("a", "i"), ("y",), {"axis": 1}), {"i": ones}, [[row[1], row[3]] for row in table]),
            "GatherElements": (Node("GatherElements", ("a", "i"), ("y",), {"axis": 1}), {"i": array([[1], [0], [3], [2], [-1], [0]], "int64")}, [[row[n]] for row, n in zip(table, (1, 0, 3, 2, -1, 0))]),
            "GatherND": (Node("GatherND", ("a", "i")), {"i": array([[1, 2], [5, 0]], "int64")}, [table[1][2], table[5][0]]),
            "ScatterElements": (Node("ScatterElements", ("a", "i", "u"), ("y",), {"axis": 1}), {"i": array([[1]], "int64"), "u": array([[7]], kind)}, [[table[0][0], 7, *table[0][2:]], *table[1:]]),
            "ScatterND": (Node("ScatterND", ("a", "i", "u")), {"i": array([[2]], "int64"), "u": array([[1, 2, 3, 4]], kind)}, [*table[:2], [1, 2, 3, 4], *table[3:]]),
            "Slice": (Node("Slice", ("a", "s", "e", "x", "t")), {"s": ones, "e": array([6, -9], "int64"), "x": array([0, 1], "int64"), "t": array([2, -2], "int64")}, [row[3::-2] for row in table[1::2]]),
            "Transpose": (Node("Transpose", ("a",), ("y",), {"perm": [1, 0]}), {}, turned(table)), "Concat": (Node("Concat", ("a", "a"), ("y",), {"axis": 1}), {}, [row + row for row in table]),
            "Reshape": (Node("Reshape", ("a", "s")), {"s": array([3, -1], "int64")}, reference.shaped(reference.flat(table), (3, 8))), "Flatten": (Node("Flatten", ("a",), ("y",), {"axis": 0}), {}, [reference.flat(table)]),
            "Expand": (Node("Expand", ("a", "s")), {"s": array([2, 6, 4], "int64")}, [table, table]), "Tile": (Node("Tile", ("a", "s")), {"s": array([1, 2], "int64")}, [row * 2 for row in table]),
            "Where": (Node("Where", ("c", "a", "b")), {"c": array([True, False, True, False], "bool"), "b": two}, [[one if n % 2 == 0 else 2 for n, one in enumerate(row)] for row in table]),
            "Pad": (Node("Pad", ("a", "s", "b")), {"s": array([0, 1, 0, 0], "int64"), "b": two}, [[2, *row] for row in table]), "Unsqueeze": (Node("Unsqueeze", ("a", "x")), {"x": array([0], "int64")}, [table]),
            "Trilu": (Node("Trilu", ("a",), ("y",), {"upper": 0}), {}, [[one if j <= i else 0 for j, one in enumerate(row)] for i, row in enumerate(table)]),
        }  # type: dict[str, Any]  # fmt: skip
        for name, (node, held, wanted) in cases.items():
            judged(device, found, name + " " + kind, node, {"a": a}, wanted, kind, exact=True, held=held, opset=14)
        for other in ("float32", "float64", "float16", "int32", "int64"):
            judged(device, found, "Cast " + kind + " to " + other, Node("Cast", ("a",), ("y",), {"to": {"float32": 1, "int32": 6, "int64": 7, "float16": 10, "float64": 11}[other]}), {"a": a}, table, other, exact=True)  # fmt: skip
    judged(
        device,
        found,
        "NonZero",
        Node("NonZero", ("a",)),
        {"a": array([0, 3, 0, 4], "int64")},
        [[1, 3]],
        "int64",
        exact=True,
    )
    hot = Node("OneHot", ("a", "d", "v"))
    judged(device, found, "OneHot", hot, {"a": array([1, 0], "int64")}, [[0, 1, 0], [1, 0, 0]], "float32", exact=True, held={"d": array(3, "int64"), "v": array([0, 1], "float32")})  # fmt: skip
    return dict(found.measured())


def unusual(device: dict[str, Any]) -> dict[str, Any]:
    """What is no number stays none; what is infinite, infinite."""
    found = Found()
    odd = [1.0, _NAN, _INF, -_INF, 0.0]
    for kind in ("float32", "float64", "float16"):
        cases = {
            "Add": (("a", "a"), [2, _NAN, _INF, -_INF, 0]), "Sub": (("a", "a"), [0, _NAN, _NAN, _NAN, 0]), "Mul": (("a", "z"), [0, _NAN, _NAN, _NAN, 0]), "Div": (("a", "z"), [_INF, _NAN, _INF, -_INF, _NAN]),
            "Exp": (("b",), [_NAN, _INF, 0, 1]), "Abs": (("a",), [1, _NAN, _INF, _INF, 0]), "Neg": (("a",), [-1, _NAN, -_INF, _INF, 0]), "Sqrt": (("a",), [1, _NAN, _INF, _NAN, 0]),
            "MatMul": (("r", "c"), [[_NAN]]), "Identity": (("a",), odd),
        }  # type: dict[str, Any]  # fmt: skip
        arrays = {"a": array(odd, kind), "b": array(odd[1:], kind), "z": array([0.0] * 5, kind), "r": array([[1.0, _NAN]], kind), "c": array([[1.0], [0.0]], kind)}  # fmt: skip
        for name, (inputs, wanted) in cases.items():
            given = {one: arrays[one] for one in dict.fromkeys(inputs)}
            judged(device, found, name + " " + kind, Node(name, inputs), given, wanted, kind, exact=True)
        for name, wanted in (
            ("IsNaN", [False, True, False, False, False]),
            ("IsInf", [False, False, True, True, False]),
        ):
            judged(device, found, name + " " + kind, Node(name, ("a",)), {"a": arrays["a"]}, wanted, "bool", exact=True)
        held = {"x": array([0], "int64")}
        judged(device, found, "ReduceSum " + kind, Node("ReduceSum", ("a", "x"), ("y",), {"keepdims": 0}), {"a": arrays["a"]}, _NAN, kind, exact=True, held=held)  # fmt: skip
    return dict(found.measured())
