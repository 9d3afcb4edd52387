"""Reverse-mode differentiation in plain Python: float64 numbers that record their operations on a tape.

A reference function is written once, over numbers. Called with floats it gives the value that is expected; called with
`Traced` numbers it leaves a tape (reverse-mode automatic differentiation), which gives the gradients that are expected.
Nothing here knows of any framework.
"""

from __future__ import annotations

import cmath
import math
from operator import mul
from typing import Any, Callable, Iterable, Sequence

Number = Any  # float or Traced
_TAPE: list[Traced] = []


class Traced:
    """A number with its operands and its derivative by each of them."""

    __slots__ = ("gradient", "parents", "slopes", "value")

    def __init__(self, value: float, parents: Sequence[Number] = (), slopes: Sequence[float] = ()) -> None:
        self.value, self.parents, self.slopes, self.gradient = value, parents, slopes, 0.0
        _TAPE.append(self)

    def __add__(self, other: Number) -> Traced:
        return Traced(self.value + plain(other), (self, other), (1.0, 1.0))

    def __sub__(self, other: Number) -> Traced:
        return Traced(self.value - plain(other), (self, other), (1.0, -1.0))

    def __rsub__(self, other: float) -> Traced:
        return Traced(other - self.value, (self,), (-1.0,))

    def __mul__(self, other: Number) -> Traced:
        return Traced(self.value * plain(other), (self, other), (plain(other), self.value))

    def __truediv__(self, other: Number) -> Traced:
        below = plain(other)
        return Traced(self.value / below, (self, other), (1.0 / below, -self.value / below**2))

    def __rtruediv__(self, other: float) -> Traced:
        return Traced(other / self.value, (self,), (-other / self.value**2,))

    def __neg__(self) -> Traced:
        return Traced(-self.value, (self,), (-1.0,))

    def __pow__(self, power: float) -> Traced:
        return Traced(self.value**power, (self,), (power * self.value ** (power - 1),))

    def __lt__(self, other: Number) -> bool:
        return self.value < plain(other)

    def __gt__(self, other: Number) -> bool:
        return self.value > plain(other)

    def __le__(self, other: Number) -> bool:
        return self.value <= plain(other)

    def __ge__(self, other: Number) -> bool:
        return self.value >= plain(other)

    __radd__ = __add__
    __rmul__ = __mul__


def plain(number: Number) -> float:
    """The value alone."""
    return number.value if isinstance(number, Traced) else number


def curve(value: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[Number], Number]:
    """A function of one number, from its value and its slope."""

    def called(number: Number) -> Number:
        if isinstance(number, Traced):
            return Traced(value(number.value), (number,), (slope(number.value),))
        return value(number)

    return called


def dot(left: Sequence[Number], right: Sequence[Number]) -> Number:
    """The sum of products, as one step of the tape."""
    here, right_traced = Traced in map(type, left), Traced in map(type, right)
    if not here and not right_traced:
        return summed(list(map(mul, left, right)))
    mine = [number.value if type(number) is Traced else number for number in left] if here else left
    theirs = [number.value if type(number) is Traced else number for number in right] if right_traced else right
    value = summed(list(map(mul, mine, theirs)))
    if not right_traced:
        return Traced(value, left, theirs)
    return Traced(value, [*left, *right], [*theirs, *mine]) if here else Traced(value, right, mine)


def summed(numbers: Sequence[Any]) -> Any:
    """Exactly, where they are no complex numbers."""
    try:
        return math.fsum(numbers)
    except TypeError:
        return sum(numbers)


def total(several: Iterable[Number]) -> Number:
    """The sum, as one step of the tape."""
    listed = list(several)
    return dot(listed, [1.0] * len(listed))


def differentiate(results: Sequence[Number], weights: Sequence[float]) -> None:
    """Give every number on the tape the gradient of the weighted sum of the results, and clear the tape."""
    for result, weight in zip(results, weights):
        if isinstance(result, Traced):
            result.gradient += weight
    for node in reversed(_TAPE):
        if node.gradient:
            for parent, slope in zip(node.parents, node.slopes):
                if type(parent) is Traced:
                    parent.gradient += node.gradient * (slope.conjugate() if type(slope) is complex else slope)
    forget()


def taped() -> int:
    """How many numbers are on the tape."""
    return len(_TAPE)


def forget() -> None:
    """Clear the tape."""
    del _TAPE[:]


def _exp(number: Any) -> Any:
    return cmath.exp(number) if type(number) is complex else math.exp(number) if number < 709 else math.inf


def _of(name: str) -> Callable[[Any], Any]:
    """Python's own function, for complex numbers too."""
    alone, wide = getattr(math, name), getattr(cmath, name)
    return lambda number: wide(number) if type(number) is complex else alone(number)


_sqrt, _sin, _cos, _tan, _tanh, _sinh, _cosh = map(_of, ("sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh"))
exp = curve(_exp, _exp)
log = curve(_of("log"), lambda x: 1 / x)
sqrt = curve(_sqrt, lambda x: 0.5 / _sqrt(x))
sin, cos = curve(_sin, _cos), curve(_cos, lambda x: -_sin(x))
tan = curve(_tan, lambda x: 1 + _tan(x) ** 2)
tanh = curve(_tanh, lambda x: 1 - _tanh(x) ** 2)
sinh, cosh = curve(_sinh, _cosh), curve(_cosh, _sinh)
asin = curve(_of("asin"), lambda x: 1 / _sqrt(1 - x * x))
acos = curve(_of("acos"), lambda x: -1 / _sqrt(1 - x * x))
atan = curve(_of("atan"), lambda x: 1 / (1 + x * x))
erf = curve(math.erf, lambda x: 2 / math.sqrt(math.pi) * math.exp(-x * x))
log1p, expm1 = curve(math.log1p, lambda x: 1 / (1 + x)), curve(math.expm1, math.exp)
absolute = curve(abs, lambda x: (x > 0) - (x < 0))


def _sigmoid(x: Any) -> Any:
    if type(x) is complex:
        return 1 / (1 + cmath.exp(-x))
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


sigmoid = curve(_sigmoid, lambda x: _sigmoid(x) * _sigmoid(-x))
softplus = curve(lambda x: max(x, 0.0) + math.log1p(math.exp(-abs(x))), _sigmoid)
