"""Tables of the large operators: products, convolutions, pools; one row each."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import torch
from rigup_probe_grid import Grid, fromfunction, transposed
from rigup_probe_torch_cases import Case, Input, distinct, given, real
from torch import nn
from torch.nn import functional

LOW = {"low": -1.0, "high": 1.0}


def products() -> Iterator[Case]:
    """Small ones of all kinds, with gradients; large ones stand in `matmul-…`."""
    shapes = (((3, 5), (5, 4)), ((1, 1), (1, 1)), ((17, 33), (33, 9)), ((16, 32), (32, 16)), ((5,), (5,)), ((4, 5), (5,)), ((5,), (5, 4)), ((2, 3, 5), (2, 5, 4)), ((2, 3, 3, 7), (2, 3, 7, 5)), ((2, 3, 5), (5, 4)), ((1, 129), (129, 1)))
    for first, second in shapes:
        pair = (real(*first, **LOW), real(*second, seed=2, **LOW))
        name = "matmul of " + "x".join(map(str, first)) + " and " + "x".join(map(str, second))
        yield Case(name, (torch.matmul, lambda x, y: x @ y), networks.matmul, pair, factor=2.0)
    two, batch = (real(3, 5), real(5, 4, seed=2)), (real(2, 3, 5), real(2, 5, 4, seed=2))
    yield Case("mm", (torch.mm,), networks.matmul, two, factor=2.0)
    yield Case("bmm", (torch.bmm,), networks.matmul, batch, factor=2.0)
    yield Case("einsum", (lambda x, y: torch.einsum("bij,bjk->bik", x, y),), networks.matmul, batch, factor=2.0)
    yield Case("matmul of a transposed", (lambda x, y: x.t() @ y.t(),), _of_transposed, (real(5, 3), real(4, 5, seed=2)), factor=2.0)
    yield Case("addmm", (lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=2),), _scaled_sum, (real(3, 4, seed=3), *two), factor=4.0)
    yield Case("baddbmm", (lambda c, x, y: torch.baddbmm(c, x, y, beta=0.5, alpha=2),), _scaled_sum, (real(2, 3, 4, seed=3), *batch), factor=4.0)
    yield Case("addmv", (torch.addmv,), lambda c, x, y: right_sum(c, networks.matmul(x, y)), (real(3), real(3, 5), real(5)), factor=2.0)
    yield Case("outer", (torch.outer,), lambda x, y: fromfunction((4, 5), lambda at: x.flat[at[0]] * y.flat[at[1]]), (real(4), real(5)))
    yield Case("dot", (torch.dot,), networks.matmul, (real(37), real(37, seed=2)), factor=2.0)
    for shape, outputs in (((7, 12), 5), ((2, 3, 33), 17), ((1, 64), 1)):
        inputs = (real(*shape, **LOW), real(outputs, shape[-1], seed=2, **LOW), real(outputs, seed=3, **LOW))
        yield Case("linear of " + "x".join(map(str, shape)), (functional.linear, _linear_module), networks.linear, inputs, factor=2.0)
        yield Case("linear without bias of " + "x".join(map(str, shape)), (functional.linear,), networks.linear, inputs[:2], factor=2.0)


def _linear_module(x: Any, weight: Any, bias: Any) -> Any:
    return functional_call(nn.Linear(x.shape[-1], bias.shape[0], dtype=x.dtype, device=x.device), x, weight=weight, bias=bias)


def functional_call(module: Any, *inputs: Any, **parameters: Any) -> Any:
    """A module with these tensors in the place of its parameters."""
    for name, tensor in parameters.items():
        del module._parameters[name]
        setattr(module, name, tensor)
    return module(*inputs)


def right_sum(x: Grid, y: Grid) -> Grid:
    """Number by number."""
    return Grid(x.shape, [number + other for number, other in zip(x.flat, y.flat)])


def _of_transposed(x: Grid, y: Grid) -> Grid:
    return networks.matmul(transposed(x), transposed(y))


def _scaled_sum(before: Grid, x: Grid, y: Grid) -> Grid:
    product = networks.matmul(x, y)
    return Grid(before.shape, [number * 0.5 + other * 2.0 for number, other in zip(before.flat, product.flat)])


def in_whole_numbers() -> Iterator[Case]:
    """Products of int8 and of other whole numbers: exact."""
    for kind in ("int8", "int16", "int32", "int64", "uint8"):
        first, second = _whole(kind, 1, 5, 11), _whole(kind, 2, 11, 4)
        yield Case("matmul in " + kind, (torch.matmul,), networks.matmul, (first, second), (kind,), backward=False, optional=True)
    first, second = _whole("int8", 3, 32, 64), _whole("int8", 4, 64, 32)
    yield Case("int8 product into int32", (getattr(torch, "_int_mm", None) or _lacking,), networks.matmul, (first, second), ("int8",), backward=False, optional=True)


def _lacking(*_inputs: Any) -> Any:
    raise NotImplementedError("this torch has no such operator")


def _whole(kind: str, seed: int, *shape: int) -> Input:
    plain_input = real(*shape, low=0 if kind == "uint8" else -3, high=3, seed=seed, step=1)
    return Input(Grid(plain_input.grid.shape, list(map(int, plain_input.grid.flat))), kind)


# dimensions, input, weight, what differs from the usual
_CONVOLUTIONS: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, int]], ...] = (
    ((2, 3, 11), (4, 3, 3), {}),
    ((2, 4, 13), (6, 2, 3), {"stride": 2, "padding": 1, "groups": 2}),
    ((2, 3, 7, 8), (4, 3, 3, 3), {"padding": 1}),
    ((1, 4, 9, 7), (6, 4, 1, 1), {}),
    ((2, 4, 9, 8), (8, 1, 3, 3), {"groups": 4, "padding": 1}),
    ((2, 3, 9, 10), (5, 3, 3, 3), {"stride": 2, "dilation": 2, "padding": 2}),
    ((1, 16, 6, 6), (16, 16, 3, 3), {"padding": 1}),
    ((1, 2, 12, 12), (3, 2, 5, 5), {"stride": 3}),
    ((4, 4, 4, 4), (4, 4, 2, 2), {"stride": 2}),
    ((1, 2, 5, 4, 6), (3, 2, 2, 3, 2), {"padding": 1}),
    ((2, 2, 6, 5, 4), (4, 1, 3, 2, 2), {"groups": 2, "stride": 2, "padding": 1}),
)
_TRANSPOSED: tuple[tuple[tuple[int, ...], tuple[int, ...], dict[str, int]], ...] = (
    ((2, 3, 7), (3, 4, 3), {"stride": 2}),
    ((2, 4, 5, 4), (4, 3, 3, 3), {}),
    ((1, 4, 5, 4), (4, 2, 3, 2), {"stride": 2, "padding": 1, "groups": 2}),
    ((1, 2, 4, 5), (2, 3, 2, 2), {"dilation": 2}),
    ((2, 2, 3, 4), (2, 3, 3, 2), {"stride": 2, "output_padding": 1}),
    ((1, 2, 3, 4, 3), (2, 3, 2, 2, 2), {"stride": 2}),
)


def convolutions() -> Iterator[Case]:
    """In one, two and three dimensions, and transposed, with all gradients; large enough for blocks at last."""
    for shape, weight, more in _CONVOLUTIONS:
        yield _convolution("conv", shape, weight, more, weight[0], networks.convolution)
    for shape, weight, more in _TRANSPOSED:
        yield _convolution("conv_transpose", shape, weight, more, weight[1] * more.get("groups", 1), networks.transposed_convolution)
    inputs = (given(1, 16, 8, 9, **LOW), given(17, 16, 3, 3, seed=2, **LOW))
    yield Case("conv2d of many channels", (_exact(lambda x, k: functional.conv2d(x, k, padding=1)),), networks.convolution(padding=1), inputs, backward=False, factor=4.0)
    yield from _convolution_modules()


def _convolution(prefix: str, shape: tuple[int, ...], weight: tuple[int, ...], more: dict[str, int], outputs: int, reference: Any) -> Case:
    name = prefix + str(len(shape) - 2) + "d"
    calls = (_exact(lambda x, k, b: getattr(functional, name)(x, k, b, **more)),)
    inputs = (real(*shape, **LOW), real(*weight, seed=2, **LOW), real(outputs, seed=3, **LOW))
    label = ", ".join(key + " " + str(value) for key, value in more.items())
    return Case(name + " by " + "x".join(map(str, weight)) + (" (" + label + ")" if label else ""), calls, reference(**more), inputs, factor=2.0)


def _convolution_modules() -> Iterator[Case]:
    inputs = (real(2, 2, 5, 6, **LOW), real(3, 2, 3, 3, seed=2, **LOW), real(3, seed=3, **LOW))

    def module(x: Any, weight: Any, bias: Any) -> Any:
        return functional_call(nn.Conv2d(2, 3, 3, dtype=x.dtype, device=x.device), x, weight=weight, bias=bias)

    yield Case("Conv2d", (_exact(module),), networks.convolution(), inputs, factor=2.0)
    yield Case("unfold", (lambda x: functional.unfold(x, 2),), _unfolded, inputs[:1])


def _unfolded(x: Grid) -> Grid:
    count, channels, high, wide = x.shape
    return fromfunction((count, channels * 4, (high - 1) * (wide - 1)), lambda at: x[at[0], at[1] // 4, at[2] // (wide - 1) + at[1] % 4 // 2, at[2] % (wide - 1) + at[1] % 2])


def _exact(call: Callable[..., Any]) -> Callable[..., Any]:
    """All bits of float32: cuDNN takes TF32 unless somebody says otherwise."""

    def called(*inputs: Any) -> Any:
        cuda = inputs[0].device.type == "cuda"
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=False) if cuda else contextlib.nullcontext():
            return call(*inputs)

    return called


def pools() -> Iterator[Case]:
    """The largest and the mean of windows, and the mean of parts."""
    for shape in ((2, 3, 11), (2, 3, 7, 6), (1, 4, 5, 5), (1, 2, 4, 5, 4)):
        for window in ((2, 2, 0), (3, 2, 1)):
            yield from _windows(shape, *window)
        yield from _adaptive(shape)
    yield from _resized()


def _windows(shape: tuple[int, ...], size: int, stride: int, padding: int) -> Iterator[Case]:
    rank = len(shape) - 2
    label = str(rank) + "d (" + str(size) + ", " + str(stride) + ", " + str(padding) + ") of " + str(shape[1]) + " channels"
    top, middle = (getattr(functional, "max_pool" + str(rank) + "d"), getattr(functional, "avg_pool" + str(rank) + "d"))
    ways = (lambda x, c=top, a=(size, stride, padding): c(x, *a), lambda x, c=middle, a=(size, stride, padding): c(x, *a))
    yield Case("max_pool" + label, ways[:1], networks.pool(size, stride, padding, right.largest, False), (distinct(*shape),), factor=2.0)
    yield Case("avg_pool" + label, ways[1:], networks.pool(size, stride, padding, right.mean, True), (real(*shape),), factor=2.0)


def _adaptive(shape: tuple[int, ...]) -> Iterator[Case]:
    rank = len(shape) - 2
    for outputs in (1, 3):
        call = getattr(functional, "adaptive_avg_pool" + str(rank) + "d")
        name = "adaptive_avg_pool" + str(rank) + "d to " + str(outputs) + " of " + str(shape[1]) + " channels"
        yield Case(name, (lambda x, c=call, o=outputs: c(x, o),), networks.adaptive_mean(outputs), (real(*shape),), factor=2.0)


def _resized() -> Iterator[Case]:
    yield Case("interpolate (nearest)", (lambda x: functional.interpolate(x, scale_factor=2),), _doubled, (real(2, 3, 4, 5),), factor=2.0)
    yield Case("pad", (lambda x: functional.pad(x, (1, 2), value=1.5),), _padded, (real(3, 5),))
    yield Case("pad (reflect)", (lambda x: functional.pad(x, (2, 2), mode="reflect"),), _reflected, (real(2, 3, 5),), optional=True)


def _doubled(x: Grid) -> Grid:
    return fromfunction((*x.shape[:2], *(2 * extent for extent in x.shape[2:])), lambda at: x[(at[0], at[1], at[2] // 2, at[3] // 2)])


def _padded(x: Grid) -> Grid:
    return fromfunction((3, 8), lambda at: x[at[0], at[1] - 1] if 0 < at[1] < 6 else 1.5)


def _reflected(x: Grid) -> Grid:
    return fromfunction((2, 3, 9), lambda at: x[at[0], at[1], 4 - abs(4 - abs(at[2] - 2))])
