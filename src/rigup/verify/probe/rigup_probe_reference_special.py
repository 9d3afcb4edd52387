"""What special functions ought to give: series, recurrences and integrals over one number, and their slopes where they are known.

Sources: Abramowitz and Stegun, Handbook of Mathematical Functions (1964), chapters 5 to 10 and 22; DLMF (dlmf.nist.gov).
"""

from __future__ import annotations

import math
from typing import Any, Callable

from rigup_probe_tape import Number, curve

_TERMS = 60
_PIECES = 200


def digamma(x: float) -> float:
    """The slope of the logarithm of the gamma function: upwards by its recurrence, then by its asymptotic series."""
    return _polygamma(0, x)


def _polygamma(order: int, x: float) -> float:
    total, sign = 0.0, (-1) ** (order + 1)
    while x < 20:
        total += sign * math.factorial(order) / x ** (order + 1)
        x += 1
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730)
    if order == 0:
        return total + math.log(x) - 0.5 / x - math.fsum(b / (2 * k * x ** (2 * k)) for k, b in enumerate(bernoulli, 1))
    far = math.factorial(order - 1) / x**order + math.factorial(order) / (2 * x ** (order + 1))
    far += math.fsum(
        b * math.factorial(2 * k + order - 1) / (math.factorial(2 * k) * x ** (2 * k + order)) for k, b in enumerate(bernoulli, 1)
    )
    return total + sign * far


def polygamma(order: int) -> Callable[[Number], Number]:
    """Derivatives of digamma."""
    return curve(lambda x: _polygamma(order, x), lambda x: _polygamma(order + 1, x))


lgamma = curve(math.lgamma, digamma)
psi = polygamma(0)


def _inverse(function: Callable[[float], float], slope: Callable[[float], float], wanted: float) -> float:
    """By bisection, and then by Newton's steps."""
    low, high = -6.0, 6.0
    for _step in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < wanted else (low, middle)
    x = (low + high) / 2
    for _step in range(3):
        x -= (function(x) - wanted) / slope(x)
    return x


def _erf_slope(x: float) -> float:
    return 2 / math.sqrt(math.pi) * math.exp(-x * x)


def _erfinv(x: float) -> float:
    return _inverse(math.erf, _erf_slope, x)


def _normal(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _below(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


erfinv = curve(_erfinv, lambda x: 1 / _erf_slope(_erfinv(x)))
ndtr = curve(_below, _normal)
ndtri = curve(lambda x: _inverse(_below, _normal, x), lambda x: 1 / _normal(_inverse(_below, _normal, x)))
log_ndtr = curve(lambda x: math.log(_below(x)), lambda x: _normal(x) / _below(x))


def erfcx(x: float) -> float:
    """erfc without its decay."""
    return math.exp(x * x) * math.erfc(x)


def _integral(function: Callable[[float], float], high: float) -> float:
    """By the trapezoidal rule: of what is smooth and periodic, or dies at both ends, exact to the last digits."""
    step = high / _PIECES
    return step * (0.5 * (function(0.0) + function(high)) + math.fsum(function(at * step) for at in range(1, _PIECES)))


def bessel_j(order: int) -> Callable[[float], float]:
    """Of the first kind, by Bessel's integral."""
    return lambda x: _integral(lambda t: math.cos(order * t - x * math.sin(t)), math.pi) / math.pi


def bessel_y0(x: float) -> float:
    """Of the second kind: the series about zero."""
    terms, harmonic = [], 0.0
    for k in range(1, _TERMS):
        harmonic += 1 / k
        terms.append((-1) ** (k + 1) * harmonic * (x * x / 4) ** k / math.factorial(k) ** 2)
    return 2 / math.pi * ((math.log(x / 2) + 0.5772156649015329) * bessel_j(0)(x) + math.fsum(terms))


def bessel_y1(x: float) -> float:
    """From the Wronskian J1 Y0 - J0 Y1 = 2 / (pi x)."""
    return (bessel_j(1)(x) * bessel_y0(x) - 2 / (math.pi * x)) / bessel_j(0)(x)


def bessel_i(order: int) -> Callable[[float], float]:
    """Modified, of the first kind."""
    return lambda x: _integral(lambda t: math.exp(x * math.cos(t)) * math.cos(order * t), math.pi) / math.pi


def bessel_k(order: int) -> Callable[[float], float]:
    """Modified, of the second kind."""
    return lambda x: _integral(lambda t: math.exp(-x * math.cosh(t)) * math.cosh(order * t), 7.0)


i0 = curve(bessel_i(0), bessel_i(1))
i1 = curve(bessel_i(1), lambda x: (bessel_i(0)(x) + bessel_i(2)(x)) / 2)


def airy(x: float) -> float:
    """Ai: the two series about zero."""
    first, second, f, g = 1.0, x, [], []
    for k in range(_TERMS):
        f.append(first)
        g.append(second)
        first *= x**3 / ((3 * k + 2) * (3 * k + 3))
        second *= x**3 / ((3 * k + 3) * (3 * k + 4))
    return 0.355028053887817239 * math.fsum(f) - 0.258819403792806798 * math.fsum(g)


def zeta(x: float, q: float) -> float:
    """Hurwitz's, by Euler and Maclaurin."""
    most = 20
    total = math.fsum((q + k) ** -x for k in range(most))
    end = q + most
    total += end ** (1 - x) / (x - 1) + 0.5 * end**-x
    return total + x * end ** (-x - 1) / 12 - x * (x + 1) * (x + 2) * end ** (-x - 3) / 720


def igamma(a: float, x: float) -> float:
    """The regularized lower incomplete gamma function, by its series."""
    term, total = 1 / a, 1 / a
    for k in range(1, 400):
        term *= x / (a + k)
        total += term
    return total * math.exp(-x + a * math.log(x) - math.lgamma(a))


def polynomial(first: float, second: Callable[[float], float], step: Callable[..., float]) -> Callable[..., float]:
    """By a recurrence: `step` gives the next from x, its number, the last and the one before."""

    def called(x: float, count: float) -> float:
        before, last = first, second(x)
        if count == 0:
            return before
        for number in range(1, int(count)):
            before, last = last, step(x, number, last, before)
        return last

    return called


def _chebyshev(second: Callable[[float], float]) -> Callable[..., float]:
    return polynomial(1.0, second, lambda x, _n, last, before: 2 * x * last - before)


POLYNOMIALS: dict[str, Any] = {
    "chebyshev_polynomial_t": _chebyshev(lambda x: x),
    "chebyshev_polynomial_u": _chebyshev(lambda x: 2 * x),
    "chebyshev_polynomial_v": _chebyshev(lambda x: 2 * x - 1),
    "chebyshev_polynomial_w": _chebyshev(lambda x: 2 * x + 1),
    "hermite_polynomial_h": polynomial(1.0, lambda x: 2 * x, lambda x, n, last, before: 2 * x * last - 2 * n * before),
    "hermite_polynomial_he": polynomial(1.0, lambda x: x, lambda x, n, last, before: x * last - n * before),
    "laguerre_polynomial_l": polynomial(1.0, lambda x: 1 - x, lambda x, n, last, before: ((2 * n + 1 - x) * last - n * before) / (n + 1)),
    "legendre_polynomial_p": polynomial(1.0, lambda x: x, lambda x, n, last, before: ((2 * n + 1) * x * last - n * before) / (n + 1)),
}
