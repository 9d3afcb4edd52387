"""Functions of one number and of two, by the names that NumPy has for them, which JAX shares."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as reference
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, each
from rigup_probe_rows import ONE, TWO, Row
from rigup_probe_tape import Traced, curve, plain

_NAN = math.nan


def odd(function: Callable[..., Any]) -> Callable[..., Any]:
    """NaN where one of the numbers is none."""
    return lambda *x: _NAN if any(number != number for number in x if not isinstance(number, Traced)) else function(*x)


def _constant(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of the value alone, with no slope."""
    return odd(lambda x: type(x)(0) + function(x) if type(x) is int else float(function(plain(x))))


def _truth(function: Callable[..., bool]) -> Callable[..., bool]:
    return lambda *x: bool(function(*map(plain, x)))


def _cbrt(x: float) -> float:
    return math.copysign(abs(x) ** (1 / 3), x)


def _i0(x: float) -> float:
    return math.fsum((x * x / 4) ** k / math.factorial(k) ** 2 for k in range(30))


def power(x: Any, y: Any) -> Any:
    """x to the power of y."""
    if isinstance(x, Traced) or isinstance(y, Traced):
        return tape.exp(y * tape.log(x))
    return x**y


_SMOOTH: dict[str, tuple[Any, float, float]] = {
    "exp": (tape.exp, -4, 4),
    "exp2": (lambda x: tape.exp(x * math.log(2)), -4, 4),
    "expm1": (tape.expm1, -2, 2),
    "log": (tape.log, 0.125, 9),
    "log2": (lambda x: tape.log(x) * (1 / math.log(2)), 0.125, 9),
    "log10": (lambda x: tape.log(x) * (1 / math.log(10)), 0.125, 9),
    "log1p": (tape.log1p, -0.5, 9),
    "sqrt": (tape.sqrt, 0.125, 9),
    "cbrt": (curve(_cbrt, lambda x: 1 / (3 * _cbrt(x) ** 2)), 0.125, 9),
    "square": (lambda x: x * x, -4, 4),
    "reciprocal": (lambda x: 1.0 / x, 0.5, 9),
    "sin": (tape.sin, -6, 6),
    "cos": (tape.cos, -6, 6),
    "tan": (tape.tan, -1.25, 1.25),
    "arcsin|asin": (tape.asin, -0.875, 0.875),
    "arccos|acos": (tape.acos, -0.875, 0.875),
    "arctan|atan": (tape.atan, -5, 5),
    "sinh": (tape.sinh, -3, 3),
    "cosh": (tape.cosh, -3, 3),
    "tanh": (tape.tanh, -3, 3),
    "arcsinh|asinh": (curve(math.asinh, lambda x: 1 / math.sqrt(1 + x * x)), -5, 5),
    "arccosh|acosh": (curve(math.acosh, lambda x: 1 / math.sqrt(x * x - 1)), 1.5, 9),
    "arctanh|atanh": (curve(math.atanh, lambda x: 1 / (1 - x * x)), -0.75, 0.75),
    "negative": (lambda x: -x, -9, 9),
    "positive": (lambda x: x * 1, -9, 9),
    "deg2rad|radians": (lambda x: x * (math.pi / 180), -90, 90),
    "rad2deg|degrees": (lambda x: x * (180 / math.pi), -6, 6),
    "sinc": (curve(lambda x: math.sin(math.pi * x) / (math.pi * x) if x else 1.0, lambda x: (math.cos(math.pi * x) - math.sin(math.pi * x) / (math.pi * x)) / x if x else 0.0), 0.125, 3),
    "i0": (curve(_i0, lambda x: (_i0(x + 1e-5) - _i0(x - 1e-5)) / 2e-5), -3, 3),
    "real|conj|conjugate|copy|real_if_close|nan_to_num|squeeze|asmatrix|require": (lambda x: x * 1, -9, 9),
}
_STEPPED: dict[str, Callable[[Any], Any]] = {"floor": math.floor, "ceil": math.ceil, "trunc|fix": math.trunc, "rint|round|around": round, "sign": lambda x: (x > 0) - (x < 0), "imag": lambda _x: 0}
_TRUTH: dict[str, Callable[[Any], Any]] = {
    "isnan": lambda x: x != x,
    "isinf": lambda x: abs(x) == math.inf,
    "isfinite": math.isfinite,
    "isposinf": lambda x: x == math.inf,
    "isneginf": lambda x: x == -math.inf,
    "signbit": lambda x: math.copysign(1, x) < 0,
    "logical_not": lambda x: not x,
    "isreal": lambda _x: True,
    "iscomplex": lambda _x: False,
}
_PAIRS: dict[str, tuple[Any, Any, Any]] = {
    "add": (lambda x, y: x + y, (-9, 9), (-9, 9)),
    "subtract": (lambda x, y: x - y, (-9, 9), (-9, 9)),
    "multiply": (lambda x, y: x * y, (-3, 3), (-3, 3)),
    "divide|true_divide": (lambda x, y: x / y, (-9, 9), (0.5, 3)),
    "power|pow|float_power": (power, (0.5, 2), (-2, 2)),
    "maximum": (odd(lambda x, y: reference.maximum(x, y) if _moves(x, y) else max(y, x)), (-9, 9), (-7.5, 9)),
    "minimum": (odd(lambda x, y: reference.minimum(x, y) if _moves(x, y) else min(y, x)), (-9, 9), (-7.5, 9)),
    "fmax": (lambda x, y: y if x != x or y > x else x, (-9, 9), (-7.5, 9)),
    "fmin": (lambda x, y: y if x != x or y < x else x, (-9, 9), (-7.5, 9)),
    "hypot": (lambda x, y: tape.sqrt(x * x + y * y), (0.5, 5), (0.5, 5)),
    "logaddexp": (lambda x, y: tape.softplus(x - y) + y, (-3, 3), (-3, 3)),
    "logaddexp2": (lambda x, y: tape.softplus((x - y) * math.log(2)) * (1 / math.log(2)) + y, (-3, 3), (-3, 3)),
}
_STEPPED_PAIRS: dict[str, tuple[Any, Any, Any]] = {
    "arctan2|atan2": (odd(math.atan2), (-5, 5), (0.5, 5)),
    "copysign": (math.copysign, (0.5, 9), (-5, 5)),
    "fmod": (odd(math.fmod), (-9, 9), (0.5, 3)),
    "remainder|mod": (odd(lambda x, y: x % y), (-9, 9), (0.75, 3)),
    "floor_divide": (odd(lambda x, y: x // y), (-9, 9), (0.75, 3)),
    "heaviside": (lambda x, y: 0.0 if x < 0 else 1.0 if x else y, (-2, 2), (1, 3)),
}
_COMPARED: dict[str, Callable[[Any, Any], bool]] = {"greater": lambda x, y: x > y, "greater_equal": lambda x, y: x >= y, "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y, "equal": lambda x, y: x == y, "not_equal": lambda x, y: x != y, "isclose": lambda x, y: abs(x - y) <= 1e-8 + 1e-5 * abs(y)}
_LOGICAL: dict[str, Callable[[Any, Any], bool]] = {"logical_and": lambda x, y: bool(x and y), "logical_or": lambda x, y: bool(x or y), "logical_xor": lambda x, y: bool(x) != bool(y)}
_BITS: dict[str, Callable[[int, int], int]] = {
    "bitwise_and": lambda x, y: x & y,
    "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y,
    "gcd": math.gcd,
    "lcm": lambda x, y: abs(x * y) // math.gcd(x, y) if x and y else 0,
    "left_shift|bitwise_left_shift": lambda x, y: x << abs(y) % 3,
    "right_shift|bitwise_right_shift": lambda x, y: x >> abs(y) % 3,
}
_COMPLEX = ("exp", "sin", "cos", "tanh", "sinh", "cosh", "sqrt", "square", "log", "negative", "reciprocal", "add", "subtract", "multiply", "divide|true_divide")
_WHOLE = ("negative", "positive", "square", "add", "subtract", "multiply", "maximum", "minimum", "remainder|mod", "floor_divide", "sign")


def _moves(*numbers: Any) -> bool:
    return any(isinstance(number, Traced) for number in numbers)


def types_of(name: str) -> str:
    """Floating point, and what else the function has."""
    return "f" + ("i" if name in _WHOLE else "") + ("c" if name in _COMPLEX else "")


def elements() -> Iterator[Row]:
    """Of one number."""
    for name, (function, low, high) in _SMOOTH.items():
        unary = "f" if name.startswith("real") else types_of(name)
        if name.startswith("real|"):
            for alias in name.split("|"):
                shown = ONE if alias not in ("asmatrix", "squeeze") else ONE[:2]
                yield Row(alias, each(odd(function)) if alias != "nan_to_num" else each(lambda x: 0.0 if x != x else x * 1), ((low, high),), shown, nan="all", slope=alias not in ("asmatrix", "require", "real_if_close"))
        else:
            yield Row(name, each(odd(function)), ((low, high),), types=unary)
    for name, step in _STEPPED.items():
        yield Row(name, each(_constant(step)) if name != "imag" else each(lambda _x: 0.0), ((-9, 9),), types="fi" if name == "sign" else "f", slope=False)
    yield Row("absolute|abs|fabs", each(odd(tape.absolute)), ((-9, 9),))
    for name, truth in _TRUTH.items():
        shown = (lambda _shape: Grid(_shape, [(1.5, math.inf, -math.inf, 0.0, -2.0, _NAN)[n % 6] for n in range(math.prod(_shape))]),)
        yield Row(name, each(_truth(truth)), shown if name not in ("signbit", "logical_not") else ((-2, 2),), slope=False)
    yield Row("angle", each(odd(lambda x: 0.0 if x >= 0 else math.pi)), ((0.5, 3),), slope=False)
    yield Row("ones_like", each(lambda _x: 1.0), ((-2, 2),), slope=False)
    yield Row("zeros_like", each(lambda _x: 0.0), ((-2, 2),), slope=False)
    yield Row("full_like", each(lambda _x: 2.5), ((-2, 2),), named={"fill_value": 2.5}, slope=False)
    yield Row("modf", lambda x: (each(odd(lambda v: v - math.trunc(v)))(x), each(odd(math.trunc))(x)), ((-9, 9),), slope=False, nan="")
    yield Row("frexp", lambda x: (each(lambda v: math.frexp(v)[0])(x), each(lambda v: math.frexp(v)[1])(x)), ((-9, 9),), slope=False, nan="")
    yield Row("spacing", each(lambda x: 2.0 ** math.floor(math.log2(x))), ((0.5, 9),), call=lambda f, x: f(x) / least(x), slope=False, nan="")
    yield Row("clip", each(odd(lambda x: min(max(x, -1), 2) if not isinstance(x, Traced) else (x if -1 < x.value < 2 else x * 0.0 + min(max(x.value, -1), 2)))), ((-4.03125, 5),), call=lambda f, x: f(x, -1, 2), types="fi")
    yield Row("unwrap", lambda x: x, ((-1, 1),), slope=False, nan="")


def least(x: Any) -> Any:
    """A step of the type at one."""
    return {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}[str(x.dtype)]


def pairs() -> Iterator[Row]:
    """Of two."""
    for name, (function, left, right) in _PAIRS.items():
        yield Row(name, each(function), (left, right), TWO, types=types_of(name), slope=name[:4] not in ("fmax", "fmin"))
    for name, (function, left, right) in _STEPPED_PAIRS.items():
        yield Row(name, each(function), (left, right), TWO, types=types_of(name), slope=False, nan="" if name in ("copysign", "heaviside") else "all")
    for name, compare in {**_COMPARED, **_LOGICAL}.items():
        yield Row(name, each(_truth(compare)), ((-1, 1), (-0.875, 1)), TWO, types="f" if name == "isclose" else "fi", slope=False)
    for name, bits in _BITS.items():
        shift = _shifted if "shift" in name else None
        yield Row(name, each(bits), ((0, 9), (0.25, 6)), TWO, types="i", slope=False, call=shift)
    for name, invert in (("invert|bitwise_not|bitwise_invert", lambda x: ~x), ("bitwise_count", lambda x: bin(abs(x)).count("1"))):
        yield Row(name, each(invert), ((0, 9),), types="i", slope=False)
    yield Row("divmod", lambda x, y: (each(odd(lambda a, b: a // b))(x, y), each(odd(lambda a, b: a % b))(x, y)), ((-9, 9), (0.75, 3)), TWO, slope=False)
    yield Row("ldexp", each(lambda x, y: x * 2.0**y), ((-2, 2), lambda s: Grid(s, [n % 5 for n in range(math.prod(s))])), TWO, call=lambda f, x, y: f(x, y.astype("int32")), slope=False)
    yield Row("nextafter", each(lambda x, y: math.copysign(2.0 ** math.floor(math.log2(x)), y - x)), ((0.5625, 0.9375), (1, 9)), TWO, call=lambda f, x, y: (f(x, y) - x) / least(x), slope=False, nan="")
    yield Row("where", each(lambda c, x, y: x if c else y), (lambda s: Grid(s, [n % 3 == 1 for n in range(math.prod(s))]), (-9, 9), (-9, 9)), (((3, 5),) * 3, ((23, 29),) * 3, ((4, 1), (1, 3), (4, 3))), types="fi", call=lambda f, c, x, y: f(c != 0, x, y))
    shown = each(lambda c, x, y: x if c else y)
    yield Row("where", lambda x, y: shown(each(lambda a, b: a > b)(x, y), x, each(lambda b: -b)(y)), ((-9, 9), (-9, 9)), TWO, call=lambda f, x, y: f(x > y, x, -y), label="by comparison", types="f")
    for name in ("allclose", "array_equal", "array_equiv"):
        yield Row(name, lambda _x: (Grid((), [True]), Grid((), [False])), ((1, 9),), ONE[:2], call=_both, slope=False, nan="")


def _shifted(function: Any, x: Any, y: Any) -> Any:
    return function(x, y % 3)


def _both(function: Any, x: Any) -> Any:
    """Of one and the same, and of others."""
    return [function(x, x), function(x, x + 1)]
