"""Functions of two tensors."""

from __future__ import annotations

import math
import operator
from typing import Any, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_special as special
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, each
from rigup_probe_torch_cases import Case, Input, given, literal, real
from rigup_probe_torch_forms import forms

_SHAPE = (3, 7)


_TWO = ("float64", "float32")


_PAIRS: tuple[tuple[str, Any, Any, Any], ...] = (
    ("add", lambda x, y: x + y, (-3, 3), (-3, 3)),
    ("sub", lambda x, y: x - y, (-3, 3), (-3, 3)),
    ("mul", lambda x, y: x * y, (-3, 3), (-3, 3)),
    ("div", lambda x, y: x / y, (-3, 3), (0.5, 2)),
    ("pow", lambda x, y: tape.exp(y * tape.log(x)), (0.5, 3), (-2, 2)),
    ("atan2", lambda x, y: tape.atan(x / y), (-3, 3), (0.5, 2)),
    ("hypot", lambda x, y: tape.sqrt(x * x + y * y), (0.25, 3), (0.25, 3)),
    ("logaddexp", lambda x, y: right.logsumexp([x, y]), (-3, 3), (-3, 3)),
    ("logaddexp2", lambda x, y: right.logsumexp([x * math.log(2), y * math.log(2)]) * (1 / math.log(2)), (-3, 3), (-3, 3)),
    ("xlogy", lambda x, y: x * tape.log(y), (-3, 3), (0.5, 3)),
    ("float_power", lambda x, y: tape.exp(y * tape.log(x)), (0.5, 3), (-2, 2)),
    ("copysign", lambda x, y: tape.absolute(x) * (1.0 if y > 0 else -1.0), (-3, 3), (-3, 3)),
    ("ldexp", lambda x, y: x * 2.0**y, (-3, 3), None),
    ("rsub", lambda x, y: y - x, (-3, 3), (-3, 3)),
)


def pairs() -> Iterator[Case]:
    """Of two numbers."""
    for name, reference, first, second in _PAIRS:
        other = real(*_SHAPE, seed=2, low=second[0], high=second[1]) if second else given(*_SHAPE, seed=2, low=-3, high=3, step=1)
        other = other._replace(kind="given") if name == "copysign" else other
        inputs = (real(*_SHAPE, low=first[0], high=first[1]), other)
        yield Case(name + " of two (all names)", forms(name), each(reference), inputs, elementwise=True, factor=8.0, result="float64" if name == "float_power" else "", dtypes=("float64",) if name == "float_power" else ("float64", "float32", "float16", "bfloat16"), spreads=name != "copysign")
        row = (inputs[0], inputs[1]._replace(grid=Grid((7,), inputs[1].grid.flat[:7])))
        yield Case(name + " by a row", forms(name)[:2], each(reference), row, ("float32",) if name != "float_power" else ("float64",), factor=8.0, few=True)
    yield from _of_equal_kind()
    yield from _whole_pairs()
    yield from _special_pairs()


def _of_equal_kind() -> Iterator[Case]:
    two = (given(*_SHAPE, step=0.5), given(*_SHAPE, seed=2, step=0.5))
    rows: tuple[tuple[str, Any], ...] = (
        ("lt", operator.lt),
        ("le", operator.le),
        ("gt", operator.gt),
        ("ge", operator.ge),
        ("eq", operator.eq),
        ("ne", operator.ne),
        ("fmax", max),
        ("fmin", min),
        ("maximum", max),
        ("minimum", min),
        ("logical_and", lambda x, y: bool(x and y)),
        ("logical_or", lambda x, y: bool(x or y)),
        ("logical_xor", lambda x, y: bool(x) != bool(y)),
        ("heaviside", lambda x, y: y if x == 0 else float(x > 0)),
        ("fmod", math.fmod),
        ("remainder", lambda x, y: x - y * math.floor(x / y)),
        ("floor_divide", lambda x, y: float(math.floor(x / y))),
        ("nextafter", None),
        ("isclose", operator.eq),
    )
    for name, reference in rows:
        if reference is not None:
            yield Case(name + " (all names)", forms(name), each(reference), two, backward=False, elementwise=True)
    back = (real(*_SHAPE, low=-4, high=-0.25), real(*_SHAPE, low=0.25, high=4, seed=2))
    for name, reference in (("fmax", lambda _x, y: y * 1.0), ("fmin", lambda x, _y: x * 1.0), ("max", lambda _x, y: y * 1.0), ("min", lambda x, _y: x * 1.0)):
        yield Case(name + " of two with gradients", (getattr(torch, name),), each(reference), back)
    for name in ("fmod", "remainder"):
        off = (real(*_SHAPE, low=2, high=4), real(*_SHAPE, low=0.75, high=1.75, seed=2, step=0.25))
        shifted = off[0]._replace(grid=Grid(_SHAPE, [number + 1 / 32 for number in off[0].grid.flat]))
        yield Case(name + " with gradients", (getattr(torch, name),), each(lambda x, y: x - y * math.floor(tape.plain(x) / tape.plain(y))), (shifted, off[1]), _TWO, factor=4.0)
    odd = literal([math.nan, 1.0, 2.0, math.nan], kind="given"), literal([3.0, math.nan, 1.0, math.nan], kind="given")
    for name, values in (("fmax", [3.0, 1.0, 2.0, math.nan]), ("fmin", [3.0, 1.0, 1.0, math.nan])):
        yield Case(name + " of NaN", (getattr(torch, name),), lambda *_x, w=values: Grid((4,), w), odd, backward=False)
    near = (literal([1.0, 1.0, 2.0, 0.0], kind="given"), literal([1.0625, 1.25, 2.0, 0.0625], kind="given"))
    yield Case("isclose (rtol, atol)", (lambda x, y: torch.isclose(x, y, rtol=0.0, atol=0.125), lambda x, y: torch.isclose(x, y, atol=0.0625, rtol=0.0625)), lambda *_x: Grid((4,), [True, False, True, True]), near, backward=False)


def _whole_pairs() -> Iterator[Case]:
    for kind in ("int32", "int64"):
        two = (Input(Grid((9,), [12, -5, 7, 100, -64, 3, 0, 8, 250]), kind), Input(Grid((9,), [18, 3, 2, 4, 1, 5, 6, 2, 3]), kind))
        rows = (
            ("gcd", math.gcd),
            ("lcm", lambda x, y: abs(x * y) // math.gcd(x, y) if x else 0),
            ("bitwise_left_shift", lambda x, y: x << y),
            ("bitwise_right_shift", lambda x, y: x >> y),
            ("bitwise_and", operator.and_),
            ("bitwise_or", operator.or_),
            ("bitwise_xor", operator.xor),
            ("add", operator.add),
            ("sub", operator.sub),
            ("mul", operator.mul),
            ("fmod", lambda x, y: int(math.fmod(x, y))),
            ("remainder", operator.mod),
            ("floor_divide", operator.floordiv),
            ("eq", operator.eq),
            ("lt", operator.lt),
            ("ge", operator.ge),
            ("logical_and", lambda x, y: bool(x and y)),
            ("logical_xor", lambda x, y: bool(x) != bool(y)),
        )
        for name, reference in rows:
            shift = (two[0], two[1]._replace(grid=Grid((9,), [1, 2, 3, 4, 1, 2, 3, 4, 0]))) if "shift" in name else two
            yield Case(name + " of whole numbers in " + kind, forms(name), each(reference), shift, (kind,), backward=False, few=True)
        yield Case("bitwise_not of whole numbers in " + kind, forms("bitwise_not"), each(operator.invert), two[:1], (kind,), backward=False, few=True)
        yield Case("clamp in " + kind, forms("clamp", -4, 9), each(lambda x: min(max(x, -4), 9)), two[:1], (kind,), backward=False, few=True)
        yield Case("pow in " + kind, forms("pow", 3), each(lambda x: x**3), two[:1], (kind,), backward=False, few=True)
    truths = (Input(Grid((4,), [True, True, False, False]), "mask"), Input(Grid((4,), [True, False, True, False]), "mask"))
    for name, how in (("logical_and", operator.and_), ("logical_or", operator.or_), ("logical_xor", operator.xor), ("bitwise_and", operator.and_), ("bitwise_or", operator.or_), ("bitwise_xor", operator.xor), ("eq", operator.eq), ("ne", operator.ne)):
        yield Case(name + " of truths", forms(name), each(how), truths, ("bool",), backward=False, few=True)
    for name in ("logical_not", "bitwise_not"):
        yield Case(name + " of truths", forms(name), each(operator.not_), truths[:1], ("bool",), backward=False, few=True)


def _special_pairs() -> Iterator[Case]:
    x = given(*_SHAPE, low=0.25, high=3)
    counts = literal([at % 5 for at in range(21)], _SHAPE, "given")
    for name, reference in special.POLYNOMIALS.items():
        if hasattr(torch.special, name):
            yield Case("special." + name, (getattr(torch.special, name),), each(reference), (x, counts), _TWO, backward=False, factor=60.0)
        shifted = "shifted_" + name
        if hasattr(torch.special, shifted):
            yield Case("special." + shifted, (getattr(torch.special, shifted),), each(lambda x, n, f=reference: f(2 * x - 1, n)), (x, counts), _TWO, backward=False, factor=60.0)
    two = (given(*_SHAPE, low=0.25, high=3), given(*_SHAPE, low=0.25, high=3, seed=2))
    yield Case("igamma", forms("igamma"), each(special.igamma), two, _TWO, backward=False, factor=60.0)
    yield Case("igammac", forms("igammac"), each(lambda a, x: 1 - special.igamma(a, x)), two, _TWO, backward=False, factor=300.0)
    if hasattr(torch, "special"):
        log = lambda x, y: x * tape.log1p(y)
        yield Case("special.xlog1py", (torch.special.xlog1py,), each(log), (real(*_SHAPE), real(*_SHAPE, low=-0.5, high=3, seed=2)), factor=4.0)
        yield Case("special.zeta", (torch.special.zeta,), each(special.zeta), (given(*_SHAPE, low=2, high=5), given(*_SHAPE, low=0.5, high=3, seed=2)), _TWO, backward=False, factor=60.0)
