"""Tables of what types do to numbers: rounding into shorter ones, products that outgrow them, bits of whole numbers."""

from __future__ import annotations

import struct
from typing import Any, Callable, Iterator

import torch
from rigup_probe_grid import Grid, always, each
from rigup_probe_torch_cases import Case, Input, literal

_SHORT = {"float16": (11, -14, 65504.0), "bfloat16": (8, -126, 3.3895313892515355e38)}  # digits, least exponent, most
_EIGHT = {"float8_e4m3fn": (4, -6, 448.0), "float8_e5m2": (3, -14, 57344.0)}
_SIGNED = ("int8", "int16", "int32", "int64")


def rounded(value: float, digits: int, least: int) -> float:
    """The nearest number with so many binary digits, the even one of two; below 2^least they lie equally far apart.

    Source: IEEE 754-2019, section 4.3.1.
    """
    if not value:
        return value
    _fraction, exponent = _split(value)
    step = 2.0 ** (max(exponent, least) - digits + 1)
    return round(value / step) * step


def _split(value: float) -> tuple[float, int]:
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return value, (bits >> 52 & 0x7FF) - 1023


def conversions() -> Iterator[Case]:
    """From float32 and float64, whose further digits are rounded; each number has one right answer."""
    for target, (digits, least, most) in {**_SHORT, **_EIGHT}.items():
        if not hasattr(torch, target):
            continue
        for kind in ("float32", "float64"):
            yield from _converted(kind, target, digits, least, most)
    fine = [1 + at * 2.0**-30 for at in range(37)]
    wanted = always(Grid((37,), [rounded(number, 24, -126) for number in fine]))
    yield Case("rounded conversion of float64 to float32", (lambda x: x.to(torch.float32).double(),), wanted, (literal(fine, kind="given"),), ("float64",), backward=False)


def _converted(kind: str, target: str, digits: int, least: int, most: float) -> Iterator[Case]:
    """Numbers of many sizes, halfway between two of the target's, a little beyond that, and a little less."""
    numbers = [sign * size * (1 + (at + part) * 2.0 ** (1 - digits)) for sign in (1, -1) for size in (2.0**least, 0.25, 1.0, 16.0, 64.0, most / 4) for at in (0, 1, 2, 5) for part in (0.0, 0.5, 0.5 + 2.0**-9, 0.5 - 2.0**-9)]
    if least < -100:
        numbers = [number for number in numbers if abs(number) >= 0.25]
    exact = [struct.unpack("f", struct.pack("f", number))[0] for number in numbers]
    values = literal(exact, kind="given")
    right = [rounded(number, digits, least) for number in exact]
    dtype, source = getattr(torch, target), getattr(torch, kind)
    way: Callable[[Any], Any] = lambda x: x.to(dtype).to(source)
    again: Callable[[Any], Any] = lambda x: _twice(x, dtype).to(source)
    eight = target in _EIGHT
    for name, call in (("rounded conversion", way), ("second conversion (cast) of one tensor", again)):
        label = name + " of " + kind + " to " + target
        yield Case(label, (call,), always(Grid((len(right),), right)), (values,), (kind,), backward=False, optional=eight)


def _twice(x: Any, dtype: Any) -> Any:
    """A tensor that was converted before, when it held other numbers."""
    tensor = torch.zeros_like(x)
    tensor.to(dtype)
    tensor.copy_(x)
    return tensor.to(dtype)


def products() -> Iterator[Case]:
    """Whose sums outgrow a byte, sixteen bits, or the digits of a short type."""
    for count in (64, 1024):
        flat = [127] * count
        for sign in (1, -1):
            left, right = Input(Grid((32, count), [sign * number for _ in range(32) for number in flat]), "int8"), Input(Grid((count, 16), [126] * 16 * count), "int8")
            wanted = always(Grid((32, 16), [sign * 127 * 126 * count] * 512))
            name = "int8 product of " + str(sign * 127) + " and 126, " + str(count) + " times"
            call = _unless_saturated({_saturated(sign * 127, 126, count), _saturated(126, sign * 127, count)})
            yield Case(name, (call,), wanted, (left, right), ("int8",), backward=False, optional=True)
    yield from _in_long_sums()
    for size, count in ((1.0, 4099), (0.5, 9001)):
        long = literal([size] * 3 * count, (3, count), "given")
        calls = (lambda x, y: x @ y.t(), lambda x, y: torch.bmm(x[None], y.t()[None])[0])
        name = "products of " + str(count) + " equal ones"
        yield Case(name, calls, always(Grid((3, 3), [size * size * count] * 9)), (long, long), backward=False)
        yield Case("linear: " + name, (torch.nn.functional.linear,), always(Grid((3, 3), [size * size * count] * 9)), (long, long), backward=False)


def _saturated(factor: int, other: int, count: int) -> int:
    """The product on a processor without VNNI: one factor is made positive, and pairs are added in 16 bits.

    Source: oneDNN's developer guide, "Nuances of int8 Computations".
    """
    pair = max(-(2**15), min(2**15 - 1, 2 * (factor + 128) * other))
    return pair * count // 2 - 128 * other * count


def _unless_saturated(saturated: set[int]) -> Callable[..., Any]:
    def called(x: Any, y: Any) -> Any:
        result = _by_int8(x, y)
        first = int(result.reshape(-1)[0])
        if x.device.type == "cpu" and first in saturated - {int(x[0, 0]) * int(y[0, 0]) * x.shape[1]} and bool((result == first).all()):
            raise NotImplementedError("this processor has no VNNI: products of large whole numbers saturate")
        return result

    return called


def _in_long_sums() -> Iterator[Case]:
    """Whose partial sums are large and cancel: what a short type rounds away on the way is missed at the end."""
    count = 2048
    signed = [33.03125 if at < count // 2 else -33.0 for at in range(count)]
    left, right = literal(signed * 3, (3, count), "given"), literal([1.0] * 3 * count, (3, count), "given")
    wanted = always(Grid((3, 3), [count / 64.0] * 9))
    calls = tuple(map(_in_whole_precision, (lambda x, y: x @ y.t(), torch.nn.functional.linear)))
    yield Case("products whose partial sums cancel", calls, wanted, (left, right), ("float64", "float32", "float16"), backward=False)


def _in_whole_precision(call: Callable[..., Any]) -> Callable[..., Any]:
    """CUDA adds the parts of a product in float16 unless somebody says otherwise."""

    def called(*inputs: Any) -> Any:
        flags = torch.backends.cuda.matmul
        held = flags.allow_fp16_reduced_precision_reduction
        flags.allow_fp16_reduced_precision_reduction = False
        try:
            return call(*inputs)
        finally:
            flags.allow_fp16_reduced_precision_reduction = held

    return called


def _by_int8(x: Any, y: Any) -> Any:
    int_mm: Callable[[Any, Any], Any] | None = getattr(torch, "_int_mm", None)
    if int_mm is None:
        raise NotImplementedError("this torch has no product of int8")
    return int_mm(x, y)


def integers() -> Iterator[Case]:
    """Shifts, quotients and bits, of negative numbers too."""
    for kind in (*_SIGNED, "uint8"):
        low = 0 if kind == "uint8" else -37
        values = Input(Grid((73,), [low + at for at in range(73)]), kind)
        by = Input(Grid((73,), [at % 4 for at in range(73)]), kind)
        divisor = Input(Grid((73,), [(at % 4 + 1) * (-1 if at % 2 and low else 1) for at in range(73)]), kind)
        rows: tuple[tuple[str, Any, Any, Input], ...] = (
            ("right shift", torch.bitwise_right_shift, lambda x, y: x >> y, by),
            ("left shift", torch.bitwise_left_shift, lambda x, y, k=kind: _held(x << y, k), by),
            ("floor_divide by either sign", torch.floor_divide, lambda x, y: x // y, divisor),
            ("remainder by either sign", torch.remainder, lambda x, y: x % y, divisor),
            ("div (trunc)", _truncated, lambda x, y: int(x / y), divisor),
        )
        for name, call, reference, other in rows:
            label = name + " in " + kind
            yield Case(label, (call,), each(reference), (values, other), (kind,), backward=False)
        yield Case("bitwise_not in " + kind, (torch.bitwise_not,), each(lambda x, k=kind: _held(~x, k)), (values,), (kind,), backward=False)


def _truncated(x: Any, y: Any) -> Any:
    return torch.div(x, y, rounding_mode="trunc")


def _held(value: int, kind: str) -> int:
    """As so many bits hold it."""
    bits = int(kind.lstrip("uint"))
    low = value & (1 << bits) - 1
    return low - (1 << bits) if kind[0] == "i" and low >> bits - 1 else low
