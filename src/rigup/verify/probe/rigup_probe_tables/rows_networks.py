"""Functions of networks, by the names that JAX has for them in `jax.nn` and `jax.lax`."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference as reference
import rigup_probe_reference_networks as networks
import rigup_probe_reference_special as special
import rigup_probe_tape as tape
from rigup_probe_grid import Grid, along, each, each_row, fromfunction, reduced
from rigup_probe_rows import ONE, TWO, Row
from rigup_probe_tape import curve

from rigup_probe_tables.rows_elements import least, odd, power
from rigup_probe_tables.rows_lanes import odd as odd_row
from rigup_probe_tables.rows_lanes import odd_in, order, ordered, place

_ROWS = (((5, 7),), ((41, 13),))
_FEW = (((5, 7),), ((520, 3),))


def celu(x: Any) -> Any:
    """x, and e^x - 1 below zero."""
    return reference.elu(x)


def _leaky(x: Any) -> Any:
    return x if x >= 0 else x * 0.01


def _log1mexp(x: Any) -> Any:
    return tape.log(1.0 - tape.exp(-x))


def _sparse_plus(x: Any) -> Any:
    return x * 0.0 if x <= -1 else x * 1.0 if x >= 1 else (x + 1.0) * (x + 1.0) * 0.25


def _sparse_sigmoid(x: Any) -> Any:
    return reference.clamped(0.0, 1.0)((x + 1.0) * 0.5)


def _squareplus(x: Any) -> Any:
    return (x + tape.sqrt(x * x + 4.0)) * 0.5


_ACTIVATIONS: dict[str, tuple[Any, float, float]] = {  # off the grid by a half of a step, where there is a bend
    "relu": (reference.relu, -5.03125, 5),
    "relu6": (reference.relu6, -2.03125, 9),
    "gelu": (reference.gelu_by_tanh, -4, 4),
    "silu|nn.swish": (reference.silu, -5, 5),
    "sigmoid": (tape.sigmoid, -6, 6),
    "hard_sigmoid": (reference.hardsigmoid, -5.03125, 5),
    "hard_silu|nn.hard_swish": (reference.hardswish, -5.03125, 5),
    "hard_tanh": (reference.hardtanh, -3.03125, 3),
    "elu": (reference.elu, -4.03125, 4),
    "celu": (celu, -4.03125, 4),
    "selu": (reference.selu, -4.03125, 4),
    "leaky_relu": (_leaky, -5.03125, 5),
    "soft_sign": (reference.softsign, -5.03125, 5),
    "softplus": (tape.softplus, -6, 6),
    "log_sigmoid": (reference.logsigmoid, -6, 6),
    "mish": (reference.mish, -5, 5),
    "identity": (lambda x: x * 1, -5, 5),
    "tanh": (tape.tanh, -3, 3),
    "log1mexp": (_log1mexp, 0.25, 5),
    "sparse_plus": (_sparse_plus, -3.03125, 3),
    "sparse_sigmoid": (_sparse_sigmoid, -3.03125, 3),
    "squareplus": (_squareplus, -5, 5),
}


def activations() -> Iterator[Row]:
    """Of one number; softmax and its like over rows."""
    for name, (function, low, high) in _ACTIVATIONS.items():
        yield Row("nn." + name, each(odd(function)), ((low, high),))
    yield Row("nn.gelu", each(odd(reference.gelu)), ((-4, 4),), call=lambda f, x: f(x, approximate=False), label="by erf", rare=True)
    for name, function in (("softmax", reference.softmax), ("log_softmax", reference.log_softmax)):
        yield Row("nn." + name, along(-1, _or_nan(function)), ((-6, 6),), _ROWS, factor=2.0)
        yield Row("nn." + name, along(0, _or_nan(function)), ((-6, 6),), _ROWS, {"axis": 0}, label="down", rare=True, factor=2.0)
        yield Row("nn." + name, along(-1, function), (lambda s: Grid(s, [896.0 + n % 5 * (4 - 8 * (n % 2)) for n in range(math.prod(s))]),), _ROWS, label="of large", nan="", types="f", factor=2.0)
    yield Row("nn.logsumexp", reduced((-1,), odd_row(reference.logsumexp)), ((-6, 6),), _FEW, {"axis": -1})
    yield Row("scipy.special.logsumexp", reduced((-1,), odd_row(reference.logsumexp)), ((-6, 6),), _FEW, {"axis": -1})
    yield Row("nn.logmeanexp", reduced((-1,), odd_row(lambda row: reference.logsumexp(row) - math.log(len(row)))), ((-6, 6),), _FEW, {"axis": -1})
    yield Row("nn.standardize", along(-1, reference.normal), ((-5, 5),), _ROWS, {"epsilon": reference.EPSILON}, factor=2.0)
    yield Row("nn.glu", _gated, ((-4, 4),), (((5, 8),), ((41, 26),)))
    yield Row("nn.one_hot", lambda x: fromfunction((len(x.flat), 30), lambda at: int(x.flat[at[0]] == at[1])), (lambda s: Grid(s, [n * 7 % 30 for n in range(math.prod(s))]),), (((9,),), ((31,),)), call=lambda f, x: f(x.astype("int32"), 30, dtype=x.dtype), nan="", slope=False)
    yield Row("nn.dot_product_attention", _heads, ((-2, 2),) * 3, (((1, 5, 2, 4),) * 3, ((2, 9, 4, 8),) * 3), nan="some", factor=3.0, types="s")


def _or_nan(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda row: [math.nan] * len(row) if odd_in(row) else function(row)


def _gated(x: Grid) -> Grid:
    half = x.shape[1] // 2
    return fromfunction((x.shape[0], half), lambda at: x[at] * tape.sigmoid(x[at[0], at[1] + half]))


def _heads(query: Grid, key: Grid, value: Grid) -> Grid:
    """Positions before heads."""

    def swapped(x: Grid) -> Grid:
        return fromfunction((x.shape[0], x.shape[2], x.shape[1], x.shape[3]), lambda at: x[at[0], at[2], at[1], at[3]])

    return swapped(networks.attention()(swapped(query), swapped(key), swapped(value)))


_OF_ONE: dict[str, tuple[Any, float, float]] = {
    "abs": (tape.absolute, -9.03125, 9),
    "exp": (tape.exp, -4, 4),
    "expm1": (tape.expm1, -2, 2),
    "log": (tape.log, 0.125, 9),
    "log1p": (tape.log1p, -0.5, 9),
    "sqrt": (tape.sqrt, 0.125, 9),
    "rsqrt": (lambda x: 1.0 / tape.sqrt(x), 0.125, 9),
    "sin": (tape.sin, -6, 6),
    "cos": (tape.cos, -6, 6),
    "tan": (tape.tan, -1.25, 1.25),
    "tanh": (tape.tanh, -3, 3),
    "logistic": (tape.sigmoid, -6, 6),
    "erf": (tape.erf, -3, 3),
    "erfc": (lambda x: 1.0 - tape.erf(x), -3, 3),
    "neg": (lambda x: -x, -9, 9),
    "square": (lambda x: x * x, -4, 4),
    "asin": (tape.asin, -0.875, 0.875),
    "acos": (tape.acos, -0.875, 0.875),
    "atan": (tape.atan, -5, 5),
    "sinh": (tape.sinh, -3, 3),
    "cosh": (tape.cosh, -3, 3),
    "lgamma": (curve(math.lgamma, special.digamma), 0.5, 6),
    "reciprocal": (lambda x: 1.0 / x, 0.5, 9),
    "acosh": (math.acosh, 1.5, 9),
    "asinh": (math.asinh, -5, 5),
    "atanh": (math.atanh, -0.75, 0.75),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), 0.125, 9),
    "exp2": (lambda x: 2.0**x, -4, 4),
    "digamma": (special.digamma, 0.5, 6),
    "bessel_i0e": (lambda x: special.bessel_i(0)(x) * math.exp(-abs(x)), -3, 3),
    "bessel_i1e": (lambda x: special.bessel_i(1)(x) * math.exp(-abs(x)), -3, 3),
    "erf_inv": (lambda x: special.erfinv(x), -0.875, 0.875),
    "stop_gradient": (lambda x: x, -9, 9),
    "optimization_barrier": (lambda x: x, -9, 9),
}


def _spence(x: float) -> float:
    """The integral of log t / (1 - t) from 1 to x, by its series about 1."""
    return math.fsum((1 - x) ** k / k**2 for k in range(1, 60))


def _exponential_integral(x: float) -> float:
    return -0.5772156649015329 - math.log(x) - math.fsum((-x) ** k / (k * math.factorial(k)) for k in range(1, 60))


def _principal(x: float) -> float:
    return 0.5772156649015329 + math.log(x) + math.fsum(x**k / (k * math.factorial(k)) for k in range(1, 60))


def _dawson(x: float) -> float:
    """By the series of its integral."""
    return math.exp(-x * x) * math.fsum(x ** (2 * k + 1) / (math.factorial(k) * (2 * k + 1)) for k in range(90))


_SPECIAL: dict[str, tuple[Any, float, float]] = {
    "erf": _OF_ONE["erf"],
    "erfc": _OF_ONE["erfc"],
    "gammaln": _OF_ONE["lgamma"],
    "expit": (tape.sigmoid, -6, 6),
    "logit": (lambda x: tape.log(x / (1.0 - x)), 0.125, 0.875),
    "digamma": (special.digamma, 0.5, 6),
    "i0": (special.bessel_i(0), -3, 3),
    "i1": (special.bessel_i(1), -3, 3),
    "entr": (lambda x: -(x * tape.log(x)), 0.125, 3),
    "i0e": _OF_ONE["bessel_i0e"],
    "i1e": _OF_ONE["bessel_i1e"],
    "erfinv": _OF_ONE["erf_inv"],
    "gamma": (math.gamma, 0.5, 4),
    "loggamma": _OF_ONE["lgamma"],
    "erfcx": (special.erfcx, -1, 3),
    "factorial": (lambda x: math.gamma(x + 1), 0.5, 4),
    "ndtr": (lambda x: 0.5 * math.erfc(-x / math.sqrt(2)), -3, 3),
    "log_ndtr": (lambda x: math.log(0.5 * math.erfc(-x / math.sqrt(2))), -3, 3),
    "ndtri": (lambda x: math.sqrt(2) * special.erfinv(2 * x - 1), 0.125, 0.875),
    "spence": (_spence, 0.5, 1.5),
    "gammasgn": (lambda x: 1.0, 0.5, 4),
    "exp1": (lambda x: _exponential_integral(x), 0.5, 4),
    "expi": (_principal, 0.5, 3),
    "dawsn": (_dawson, -3, 3),
}
_STEPPED: dict[str, Callable[[Any], Any]] = {"floor": math.floor, "ceil": math.ceil, "sign": lambda x: (x > 0) - (x < 0), "is_finite": math.isfinite}
_SPECIAL_TWO: dict[str, tuple[Any, Any, Any]] = {
    "beta": (lambda x, y: math.gamma(x) * math.gamma(y) / math.gamma(x + y), (0.5, 4), (0.5, 4)),
    "betaln": (lambda x, y: math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y), (0.5, 4), (0.5, 4)),
    "xlogy": (lambda x, y: x * math.log(y), (-4, 4), (0.5, 4)),
    "xlog1py": (lambda x, y: x * math.log1p(y), (-4, 4), (-0.5, 4)),
    "rel_entr": (lambda x, y: x * math.log(x / y), (0.5, 4), (0.5, 4)),
    "kl_div": (lambda x, y: x * math.log(x / y) - x + y, (0.5, 4), (0.5, 4)),
    "gammainc": (special.igamma, (0.5, 4), (0.5, 4)),
    "gammaincc": (lambda a, x: 1 - special.igamma(a, x), (0.5, 4), (0.5, 4)),
    "zeta": (special.zeta, (1.5, 4), (0.5, 4)),
    "boxcox": (lambda x, y: (x**y - 1) / y, (0.5, 4), (0.5, 2)),
    "boxcox1p": (lambda x, y: ((1 + x) ** y - 1) / y, (0.5, 4), (0.5, 2)),
    "poch": (lambda x, y: math.gamma(x + y) / math.gamma(x), (0.5, 3), (0.5, 2)),
}
_OF_TWO: dict[str, tuple[Any, Any, Any]] = {
    "add": (lambda x, y: x + y, (-9, 9), (-9, 9)),
    "sub": (lambda x, y: x - y, (-9, 9), (-9, 9)),
    "mul": (lambda x, y: x * y, (-3, 3), (-3, 3)),
    "div": (lambda x, y: x / y, (-9, 9), (0.5, 3)),
    "max": (odd(reference.maximum), (-9, 9), (-7.53125, 9)),
    "min": (odd(reference.minimum), (-9, 9), (-7.53125, 9)),
    "pow": (power, (0.5, 2), (-2, 2)),
    "rem": (odd(math.fmod), (-9, 9), (0.5, 3)),
    "atan2": (odd(math.atan2), (-5, 5), (0.5, 5)),
    "eq": (lambda x, y: x == y, (-1, 1), (-0.875, 1)),
    "ne": (lambda x, y: x != y, (-1, 1), (-0.875, 1)),
    "lt": (lambda x, y: x < y, (-1, 1), (-0.875, 1)),
    "le": (lambda x, y: x <= y, (-1, 1), (-0.875, 1)),
    "gt": (lambda x, y: x > y, (-1, 1), (-0.875, 1)),
    "ge": (lambda x, y: x >= y, (-1, 1), (-0.875, 1)),
}


def lax() -> Iterator[Row]:
    """What all else of JAX is made of, called by its own name."""
    for space, table in (("lax.", _OF_ONE), ("scipy.special.", _SPECIAL)):
        for name, (function, low, high) in table.items():
            yield Row(space + name, each(odd(function)), ((low, high),), ONE[:2], slope=space == "lax." and name != "stop_gradient", types="f" if space == "lax." else "m")
    for name, step in _STEPPED.items():
        yield Row("lax." + name, each(lambda x, f=step: f(x) if x == x or f(1.0) is True else x), ((-9, 9),), ONE[:2], slope=False)
    same = TWO[:2]
    for name, (double, left, right) in _OF_TWO.items():
        yield Row("lax." + name, each(double), (left, right), same, slope=name in ("add", "sub", "mul", "div", "pow"))
    yield from _more()
    yield Row("lax.clamp", each(odd(reference.clamped(-1.0, 2.0))), ((-4.03125, 5),), ONE[:2], call=lambda f, x: f(x.dtype.type(-1), x, x.dtype.type(2)))
    yield Row("lax.select", each(lambda x, y: max(y, x)), ((-9, 9), (-7.5, 9)), same, call=lambda f, x, y: f(x > y, x, y), slope=False)
    yield Row("lax.sort", along(-1, ordered), ((-9, 9),), _ROWS, slope=False)
    yield Row("lax.top_k", lambda x: (each_row(lambda row: sorted(row)[::-1][:3])(x), each_row(lambda row: sorted(range(len(row)), key=lambda at: -row[at])[:3])(x)), ((-9, 9),), (((5, 7),), ((201, 13),)), call=lambda f, x: f(x, 3), nan="", slope=False)
    for name, best in (("argmax", max), ("argmin", min)):
        yield Row("lax." + name, reduced((-1,), place(best)), ((-9, 9),), _FEW, call=lambda f, x: f(x, 1, "int32"), slope=False)
    yield Row("lax.cumsum", along(-1, reference.running_sum), ((-2, 2),), _ROWS, {"axis": 1}, factor=5.0)
    for name in ("dot", "batch_matmul"):
        shapes = (((3, 5), (5, 4)), ((23, 31), (31, 29))) if name == "dot" else (((2, 3, 4), (2, 4, 3)), ((13, 5, 7), (13, 7, 9)))
        yield Row("lax." + name, networks.matmul, ((-2, 2), (-2, 2)), shapes, factor=2.0)
    yield Row("lax.conv", networks.convolution(), ((-2, 2), (-2, 2)), (((1, 2, 5, 6), (3, 2, 3, 3)), ((2, 3, 12, 13), (4, 3, 3, 3))), call=lambda f, x, k: f(x, k, (1, 1), "VALID"), factor=3.0)
    yield Row("lax.reshape", lambda x: Grid(x.shape[::-1], x.flat), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, x.shape[::-1]))
    yield Row("lax.transpose", lambda x: fromfunction(x.shape[::-1], lambda at: x[at[::-1]]), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, (1, 0)))
    yield Row("lax.rev", lambda x: fromfunction(x.shape, lambda at: x[at[0], x.shape[1] - 1 - at[1]]), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, (1,)))
    yield Row("lax.concatenate", lambda x, y: Grid((x.shape[0] * 2, x.shape[1]), x.flat + y.flat), ((-9, 9),) * 2, same, call=lambda f, x, y: f([x, y], 0))
    yield Row("lax.slice", lambda x: fromfunction((x.shape[0], x.shape[1] - 2), lambda at: x[at[0], at[1] + 1]), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, (0, 1), (x.shape[0], x.shape[1] - 1)))
    yield Row("lax.broadcast", lambda x: Grid((3, *x.shape), x.flat * 3), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, (3,)))
    yield Row("lax.convert_element_type", lambda x: Grid(x.shape, [math.trunc(number) for number in x.flat]), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, "int32"), nan="", slope=False)


def _more() -> Iterator[Row]:
    same = TWO[:2]
    for name, (double, left, right) in _SPECIAL_TWO.items():
        nan = "" if name in ("rel_entr", "kl_div") else "all"  # of which older releases make infinity
        yield Row("scipy.special." + name, each(odd(double)), (left, right), same, slope=False, factor=3.0, nan=nan, types="m")
    for name, own in (("igamma", "gammainc"), ("igammac", "gammaincc"), ("zeta", "zeta")):
        yield Row("lax." + name, each(odd(_SPECIAL_TWO[own][0])), _SPECIAL_TWO[own][1:], same, slope=False, factor=3.0)
    for name, function in (("softmax", reference.softmax), ("log_softmax", reference.log_softmax)):
        yield Row("scipy.special." + name, along(-1, _or_nan(function)), ((-6, 6),), _ROWS, {"axis": -1}, slope=False)
    running: dict[str, Any] = {"cummax": max, "cummin": min, "cumlogsumexp": reference.logsumexp, "cumprod": math.prod}
    for name, function in running.items():
        yield Row("lax." + name, along(-1, lambda row, f=function: [f(row[: at + 1]) for at in range(len(row))]), ((0.5, 1.5),), _ROWS, {"axis": 1}, nan="", slope=False, factor=5.0)
    gone: dict[str, Any] = {"reduce_sum": math.fsum, "reduce_prod": math.prod, "reduce_max": max, "reduce_min": min}
    for name, function in gone.items():
        yield Row("lax." + name, reduced((-1,), function), ((0.5, 1.5),), _FEW, call=lambda f, x: f(x, axes=(1,)), nan="", slope=False, factor=3.0)
    for name, bits in (("bitwise_and", lambda x, y: x & y), ("bitwise_or", lambda x, y: x | y), ("bitwise_xor", lambda x, y: x ^ y), ("shift_left", lambda x, y: x << y % 3), ("shift_right_logical", lambda x, y: x >> y % 3)):
        yield Row("lax." + name, each(bits), ((0, 9), (0.25, 6)), same, types="i", call=(lambda f, x, y: f(x, y % 3)) if "shift" in name else None, slope=False)
    for name, whole in (("bitwise_not", lambda x: ~x), ("population_count", lambda x: bin(x).count("1")), ("clz", lambda x: 32 - x.bit_length())):
        yield Row("lax." + name, each(whole), ((0, 9),), ONE[:2], types="i", slope=False)
    yield Row("lax.round", each(lambda x: math.copysign(math.floor(abs(x) + 0.5), x) if x == x else x), ((-9, 9),), ONE[:2], slope=False)
    yield Row("lax.integer_pow", each(lambda x: x * x * x), ((-2, 2),), ONE[:2], call=lambda f, x: f(x, 3))
    yield Row("lax.full_like", each(lambda _x: 2.5), ((-2, 2),), ONE[:2], call=lambda f, x: f(x, 2.5), slope=False, nan="")
    yield Row("lax.reduce_precision", each(lambda x: x), ((-2, 2),), ONE[:2], call=lambda f, x: f(x, 5, 10), slope=False)
    yield Row("lax.nextafter", each(lambda x, y: math.copysign(2.0 ** math.floor(math.log2(x)), y - x)), ((0.5625, 0.9375), (1, 9)), same, call=lambda f, x, y: (f(x, y) - x) / least(x), slope=False, nan="")
    yield Row("lax.select_n", each(odd(min)), ((-9, 9), (-7.5, 9)), same, call=lambda f, x, y: f(x > y, x, y), slope=False)
    yield Row("lax.expand_dims", lambda x: Grid((1, *x.shape), x.flat), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, (0,)))
    yield Row("lax.collapse", lambda x: Grid((len(x.flat),), x.flat), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, 0, 2))
    yield Row("lax.broadcast_to_rank", lambda x: Grid((1, *x.shape), x.flat), ((-9, 9),), ONE[:2], call=lambda f, x: f(x, 3))
    for name in ("index_in_dim", "dynamic_index_in_dim"):
        yield Row("lax." + name, lambda x: fromfunction((1, x.shape[1]), lambda at: x[1, at[1]]), ((-9, 9),), (((3, 5),), ((3, 523),)), call=lambda f, x: f(x, 1, 0))
    yield Row("lax.sort_key_val", lambda x, y: (along(-1, ordered)(x), fromfunction(y.shape, lambda at: y[at[0], order(x.flat[at[0] * x.shape[1] :][: x.shape[1]])[at[1]]])), ((-9, 9), (-9, 9)), (((5, 7),) * 2, ((41, 13),) * 2), slope=False, nan="")


TABLES = (activations, lax)
