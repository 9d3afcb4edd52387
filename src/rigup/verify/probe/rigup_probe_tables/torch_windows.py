"""Tables of convolutions with their arguments off the default, and of many channels; what folds and shuffles places."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator

import rigup_probe_reference_networks as networks
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, given, real
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_networks import LOW, _exact, functional_call

Places = Callable[[int, int], "int | None"]  # where a place outside of a row of so many is read; None for a zero
_MODES: tuple[tuple[str, Places], ...] = (("zeros", lambda at, size: at if 0 <= at < size else None), ("reflect", lambda at, size: size - 1 - abs(size - 1 - abs(at))), ("replicate", lambda at, size: min(max(at, 0), size - 1)), ("circular", lambda at, size: at % size))


def convolutions() -> Iterator[Case]:
    """As wide as the input, with each kind of border, and of many channels in each type."""
    for window, dilation in (((2,), 1), ((4,), 2), ((2, 3), 1), ((3, 4), 2)):
        inputs = (real(2, 2, *(7, 6)[: len(window)], **LOW), real(3, 2, *window, seed=2, **LOW), real(3, seed=3, **LOW))
        name = "conv" + str(len(window)) + "d"
        call = lambda x, k, b, n=name, d=dilation: getattr(functional, n)(x, k, b, padding="same", dilation=d)
        label = name + " by " + "x".join(map(str, window)) + " (padding same, dilation " + str(dilation) + ")"
        yield Case(label, (_exact(call),), _same(dilation), inputs, factor=2.0, few=True)
    for mode, places in _MODES:
        inputs = (real(1, 2, 5, 6, **LOW), real(3, 2, 3, 3, seed=2, **LOW), real(3, seed=3, **LOW))
        module = _module(mode)
        yield Case("Conv2d (padding_mode " + mode + ")", (_exact(module),), _bordered(places), inputs, factor=2.0, few=True)
    yield from _of_many_channels()
    yield Case("fold", (lambda x: functional.fold(x, (4, 5), 2),), _folded, (real(2, 12, 12),), factor=2.0, few=True)
    yield Case("pixel_shuffle", (lambda x: functional.pixel_shuffle(x, 2),), _shuffled, (real(2, 8, 3, 4),), few=True)


def _module(mode: str) -> Callable[..., Any]:
    def called(x: Any, weight: Any, bias: Any) -> Any:
        module = nn.Conv2d(2, 3, 3, padding=2, padding_mode=mode, dtype=x.dtype, device=x.device)
        return functional_call(module, x, weight=weight, bias=bias)

    return called


def _shuffled(x: Grid) -> Grid:
    """Four channels become the places of a square."""
    return fromfunction((2, 2, 6, 8), lambda at: x[at[0], at[1] * 4 + at[2] % 2 * 2 + at[3] % 2, at[2] // 2, at[3] // 2])


def _of_many_channels() -> Iterator[Case]:
    """More than one block of the library's holds, in and out; and one channel by one."""
    for inward, outward in ((64, 7), (7, 65), (130, 3)):
        inputs = (real(1, inward, 3, 3, **LOW), real(outward, inward, 2, 2, seed=2, **LOW))
        label = "conv2d of many channels, " + str(inward) + " to " + str(outward)
        yield Case(label, (_exact(functional.conv2d),), networks.convolution(), inputs, backward=inward > 100, factor=6.0, few=True)
    inputs = (real(1, 40, 4, 3, **LOW), real(40, 1, 3, 3, seed=2, **LOW))
    alone = lambda x, k: functional.conv2d(x, k, padding=1, groups=40)
    yield Case("conv2d of 40 channels (groups 40)", (_exact(alone),), networks.convolution(padding=1, groups=40), inputs, factor=2.0, few=True)
    inputs = (given(1, 70, 6, **LOW), given(66, 70, 3, seed=2, **LOW))
    yield Case("conv1d of many channels, 70 to 66", (_exact(functional.conv1d),), networks.convolution(), inputs, backward=False, factor=6.0)


def _read(x: Grid, before: tuple[int, ...], after: tuple[int, ...], places: Places) -> Grid:
    """With a border on both sides, which may differ."""
    sizes = x.shape[2:]
    shape = (*x.shape[:2], *(first + size + last for first, size, last in zip(before, sizes, after)))

    def element(at: tuple[int, ...]) -> Any:
        source = [places(here - first, size) for here, first, size in zip(at[2:], before, sizes)]
        return 0.0 if None in source else x[(at[0], at[1], *source)]

    return fromfunction(shape, element)


def _same(dilation: int) -> Callable[..., Grid]:
    """As many places as before: of an odd border the larger part comes after."""

    def called(x: Grid, weight: Grid, bias: Grid) -> Grid:
        whole = [dilation * (size - 1) for size in weight.shape[2:]]
        before, after = tuple(extent // 2 for extent in whole), tuple(extent - extent // 2 for extent in whole)
        return networks.convolution(dilation=dilation)(_read(x, before, after, _MODES[0][1]), weight, bias)

    return called


def _bordered(places: Places) -> Callable[..., Grid]:
    return lambda x, weight, bias: networks.convolution()(_read(x, (2, 2), (2, 2), places), weight, bias)


def _folded(x: Grid) -> Grid:
    """What unfold took apart, added up where windows overlap."""
    sums: dict[tuple[int, ...], Any] = {}
    for number, channel, part, row, column in itertools.product(range(2), range(3), range(4), range(3), range(4)):
        place = (number, channel, row + part // 2, column + part % 2)
        sums[place] = sums.get(place, 0.0) + x[number, channel * 4 + part, row * 4 + column]
    return fromfunction((2, 3, 4, 5), lambda at: sums[at])
