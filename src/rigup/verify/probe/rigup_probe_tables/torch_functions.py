"""Tables of functions of one, two and three numbers that stand in no other table; each by all its names and ways."""

from __future__ import annotations

import math
import operator
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_special as special
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import each
from rigup_probe_torch_cases import Case, Input, given, literal, real
from rigup_probe_torch_forms import forms

from rigup_probe_tables.torch_two_numbers import _SHAPE, _TWO

# name, reference, least, most
_SMOOTH: tuple[tuple[str, Any, float, float], ...] = (
    ("acosh", tape.curve(math.acosh, lambda x: 1 / math.sqrt(x * x - 1)), 1.25, 5),
    ("asinh", tape.curve(math.asinh, lambda x: 1 / math.sqrt(x * x + 1)), -3, 3),
    ("atanh", tape.curve(math.atanh, lambda x: 1 / (1 - x * x)), -0.75, 0.75),
    ("logit", lambda x: tape.log(x / (1.0 - x)), 0.125, 0.875),
    ("sinc", tape.curve(lambda x: math.sin(math.pi * x) / (math.pi * x), lambda x: (math.pi * x * math.cos(math.pi * x) - math.sin(math.pi * x)) / (math.pi * x * x)), -3, 3),
    ("erfinv", special.erfinv, -0.75, 0.75),
    ("lgamma", special.lgamma, 0.25, 6),
    ("digamma", special.psi, 0.25, 6),
    ("i0", special.i0, -3, 3),
    ("deg2rad", lambda x: x * (math.pi / 180), -3, 3),
    ("rad2deg", lambda x: x * (180 / math.pi), -3, 3),
    ("sigmoid", tape.sigmoid, -5, 5),
    ("frac", lambda x: x - math.trunc(tape.plain(x)), 0.0625, 3),
    ("positive", lambda x: x * 1.0, -3, 3),
    ("abs", tape.absolute, -3, 3),
    ("acos", tape.acos, -0.75, 0.75),
    ("asin", tape.asin, -0.75, 0.75),
    ("atan", tape.atan, -3, 3),
    ("neg", operator.neg, -3, 3),
    ("exp2", lambda x: tape.exp(x * math.log(2)), -3, 3),
    ("expm1", tape.expm1, -2, 2),
    ("log1p", tape.log1p, -0.5, 6),
    ("erf", tape.erf, -2, 2),
    ("erfc", lambda x: 1.0 - tape.erf(x), -1, 1),
)
_STEPS: tuple[tuple[str, Any], ...] = (("sgn", lambda x: (x > 0) - (x < 0)), ("signbit", lambda x: x < 0), ("isneginf", lambda _x: False), ("isposinf", lambda _x: False), ("isreal", lambda _x: True), ("logical_not", lambda _x: False), ("trunc", math.trunc))
_SPECIAL: tuple[tuple[str, Any, float, float], ...] = (
    ("entr", lambda x: -(x * tape.log(x)), 0.125, 3),
    ("i0e", lambda x: math.exp(-abs(x)) * special.bessel_i(0)(x), -3, 3),
    ("i1", special.i1, -3, 3),
    ("i1e", lambda x: math.exp(-abs(x)) * special.bessel_i(1)(x), -3, 3),
    ("ndtr", special.ndtr, -3, 3),
    ("ndtri", special.ndtri, 0.125, 0.875),
    ("log_ndtr", special.log_ndtr, -3, 3),
    ("erfcx", special.erfcx, -1, 2),
    ("airy_ai", special.airy, -2, 2),
    ("bessel_j0", special.bessel_j(0), -3, 3),
    ("bessel_j1", special.bessel_j(1), -3, 3),
    ("bessel_y0", special.bessel_y0, 0.25, 3),
    ("bessel_y1", special.bessel_y1, 0.25, 2),
    ("modified_bessel_i0", special.bessel_i(0), -3, 3),
    ("modified_bessel_i1", special.bessel_i(1), -3, 3),
    ("modified_bessel_k0", special.bessel_k(0), 0.25, 3),
    ("modified_bessel_k1", special.bessel_k(1), 0.25, 3),
    ("scaled_modified_bessel_k0", lambda x: math.exp(x) * special.bessel_k(0)(x), 0.25, 3),
    ("scaled_modified_bessel_k1", lambda x: math.exp(x) * special.bessel_k(1)(x), 0.25, 3),
    ("spherical_bessel_j0", lambda x: math.sin(x) / x, 0.25, 3),
)


def _curved(reference: Any) -> bool:
    """Whether a reference works on traced numbers too."""
    try:
        return isinstance(reference(tape.Traced(0.5)), tape.Traced)
    except (TypeError, AttributeError, ArithmeticError):
        return False
    finally:
        tape.forget()


def functions() -> Iterator[Case]:
    """Of one number."""
    for name, reference, low, high in _SMOOTH:
        values = real(*_SHAPE, low=low, high=high)
        if name == "frac":
            values = literal([number + 0.25 / 16 for number in values.grid.flat], _SHAPE)
        yield Case(name + " (all names)", forms(name), each(reference), (values,), elementwise=True, factor=3000.0 if name == "digamma" else 4.0)
    for name, reference in _STEPS:
        yield Case(name + " (all names)", forms(name), each(reference), (given(*_SHAPE),), backward=False)
    for name, reference, low, high in _SPECIAL:
        call = getattr(torch.special, name, None) if hasattr(torch, "special") else None
        if call is not None:
            back = _curved(reference)
            values = real(*_SHAPE, low=low, high=high) if back else given(*_SHAPE, low=low, high=high)
            yield Case("special." + name, (call,), each(reference), (values,), _TWO, backward=back, elementwise=True, factor=60.0, spreads=back)
    for name, order in (("polygamma 1", 1), ("polygamma 2", 2)):
        calls = (lambda x, n=order: torch.polygamma(n, x), lambda x, n=order: torch.special.polygamma(n, x), lambda x, n=order: torch.clone(x).polygamma_(n))
        yield Case(name, calls, each(special.polygamma(order)), (real(*_SHAPE, low=0.5, high=4),), ("float64",), factor=3000.0)
    gamma = lambda x: special.lgamma(x) + special.lgamma(x - 0.5) + 0.5 * math.log(math.pi)
    yield Case("mvlgamma", forms("mvlgamma", 2), each(gamma), (real(*_SHAPE, low=1, high=5),), _TWO, factor=20.0)
    yield from _with_arguments()


def _with_arguments() -> Iterator[Case]:
    values, share = given(*_SHAPE, step=1 / 16), real(*_SHAPE, low=0.0625, high=0.9375)
    held: Callable[[Any], Any] = lambda x: right.clamped(0.25, 0.75)(x)
    odd = literal([number + 1 / 64 for number in values.grid.flat], _SHAPE, "given")
    rows: tuple[tuple[str, Any, Any, Input], ...] = (
        ("round (decimals)", (*forms("round", decimals=1),), lambda x: round(x * 10) / 10, odd),
        ("round (decimals -1)", forms("round", decimals=-1), lambda x: round(x / 10) * 10.0, odd),
        ("nan_to_num (all)", forms("nan_to_num", 1.0, 2.0, -2.0), lambda x: x, values),
        ("clamp (all names)", forms("clamp", -1.03, 1.28), lambda x: min(max(x, -1.03), 1.28), values),
        ("clamp_min", forms("clamp_min", -1.03), lambda x: max(x, -1.03), values),
        ("clamp_max", forms("clamp_max", 1.28), lambda x: min(x, 1.28), values),
    )
    for name, calls, reference, values_ in rows:
        yield Case(name, calls, each(reference), (values_,), backward=False, factor=2.0, spreads="nan" not in name)
    yield Case("logit (eps)", forms("logit", 0.25), each(lambda x: tape.log(held(x) / (1.0 - held(x)))), (share,), _TWO, factor=10.0, twice=False)
    bounds = (given(*_SHAPE), given(*_SHAPE, low=-1.5, high=-0.25, seed=2), given(*_SHAPE, low=0.25, high=1.5, seed=3))
    yield Case("clamp by tensors", (torch.clamp, torch.Tensor.clip, lambda x, y, z: torch.clamp(x, min=y, max=z)), each(lambda x, y, z: min(max(x, y), z)), bounds, backward=False)


def triples() -> Iterator[Case]:
    """Of three numbers, and with a weight as a tensor."""
    three = (real(*_SHAPE), real(*_SHAPE, seed=2), real(*_SHAPE, seed=3, low=0.5, high=2))
    yield Case("lerp by a tensor", forms("lerp"), each(lambda x, y, w: x + (y - x) * w), three, factor=6.0, elementwise=True)
    yield Case("lerp by a number", forms("lerp", 0.75), each(lambda x, y: x + (y - x) * 0.75), three[:2], factor=6.0)
    yield Case("addcmul (all)", forms("addcmul", value=0.5), each(lambda x, y, z: x + y * z * 0.5), three, factor=4.0)
    yield Case("addcdiv (all)", forms("addcdiv", value=0.5), each(lambda x, y, z: x + y / z * 0.5), three, factor=4.0)
    for name, sign in (("add", 1.0), ("sub", -1.0)):
        yield Case(name + " (alpha, all)", forms(name, alpha=2.5), each(lambda x, y, s=sign: x + y * (2.5 * s)), three[:2], factor=4.0)
    for mode, cut in (("floor", math.floor), ("trunc", math.trunc)):
        inputs = (given(*_SHAPE, step=0.125), literal([0.5, -0.25, 2.0] * 7, _SHAPE, "given"))
        yield Case("div (all, " + mode + ")", forms("div", rounding_mode=mode), each(lambda x, y, c=cut: float(c(x / y))), inputs, backward=False)
    for name, number, reference in (
        ("mul", -2.5, lambda x: x * -2.5),
        ("div", 4.0, lambda x: x * 0.25),
        ("add", 1.5, lambda x: x + 1.5),
        ("sub", 1.5, lambda x: x - 1.5),
        ("pow", 3, lambda x: x * x * x),
        ("pow", 2, lambda x: x * x),
        ("copysign", -1.0, lambda x: -tape.absolute(x)),
        ("xlogy", 2.0, lambda x: x * math.log(2.0)),
        ("rsub", 2.0, lambda x: 2.0 - x),
    ):
        yield Case(name + " with the number " + str(number), forms(name, number), each(reference), three[:1], factor=4.0, spreads=name != "copysign")
    for name, reference in (
        ("remainder", lambda x: x - 0.75 * math.floor(x / 0.75)),
        ("fmod", lambda x: math.fmod(x, 0.75)),
        ("floor_divide", lambda x: float(math.floor(x / 0.75))),
        ("lt", lambda x: x < 0.75),
        ("ge", lambda x: x >= 0.75),
        ("gt", lambda x: x > 0.75),
        ("le", lambda x: x <= 0.75),
        ("eq", lambda x: x == 0.75),
        ("ne", lambda x: x != 0.75),
    ):
        yield Case(name + " with the number 0.75", forms(name, 0.75), each(reference), (given(*_SHAPE, step=0.25),), backward=False)
    powers = (given(*_SHAPE, low=-2, high=2),)
    yield Case("power of a number", (lambda x: 2.0**x, lambda x: torch.pow(2.0, x)), each(lambda x: 2.0**x), powers, backward=False, factor=4.0)
    yield Case("where with a number", (lambda x: torch.where(x > 0.5, x, 0.25), lambda x: torch.where(x <= 0.5, 0.25, x)), each(lambda x: x if x > 0.5 else 0.25), three[:1], twice=False)
