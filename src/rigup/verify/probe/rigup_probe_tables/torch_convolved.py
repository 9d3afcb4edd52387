"""Convolutions and embeddings, as functions and as modules."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import rigup_probe_reference_networks as networks
import rigup_probe_tape as tape
import torch
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, Input, distinct, literal, real
from rigup_probe_torch_forms import with_parameters
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_pooling import _padded
from rigup_probe_tables.torch_resampling import _TWO


def held(module: Callable[..., Any], *names: str) -> Callable[..., Any]:
    """A module whose parameters and buffers are the inputs after the first."""

    def called(x: Any, *parameters: Any) -> Any:
        layer = module().to(x.dtype).to(x.device)
        return with_parameters(layer, dict(zip(names, parameters)), (x,))

    return called


def convolutions() -> Iterator[Case]:
    """As modules, with each argument."""
    low = {"low": -1.0, "high": 1.0, "step": 0.25}
    for rank, shape, window in ((1, (2, 4, 7), (3,)), (2, (1, 4, 5, 4), (2, 3)), (3, (1, 2, 3, 4, 3), (2, 2, 2))):
        name, channels = str(rank) + "d", shape[1]
        for args in ({}, {"stride": 2, "padding": 1}, {"dilation": 2, "padding": 2}, {"groups": 2}):
            label = ", ".join(key + " " + str(value) for key, value in args.items())
            groups = args.get("groups", 1)
            inputs = (real(*shape, **low), real(6, channels // groups, *window, seed=2, **low), real(6, seed=3, **low))
            yield Case("Conv" + name + " (" + label + ")", (held(lambda n=name, c=channels, w=window, a=args: getattr(nn, "Conv" + n)(c, 6, w, **a), "weight", "bias"), lambda x, w, b, n=name, a=args: getattr(torch, "conv" + n)(x, w, b, **a)), networks.convolution(**args), inputs, factor=6.0, few=True)
            back = (real(*shape, **low), real(channels, 4 // groups, *window, seed=2, **low), real(4, seed=3, **low))
            more = {**args, "output_padding": 1} if "stride" in args else args
            yield Case(
                "ConvTranspose" + name + " (" + label + ")",
                (held(lambda n=name, c=channels, w=window, a=more: getattr(nn, "ConvTranspose" + n)(c, 4, w, **a), "weight", "bias"), lambda x, w, b, n=name, a=more: getattr(functional, "conv_transpose" + n)(x, w, b, **a)),
                networks.transposed_convolution(**more),
                back,
                factor=6.0,
                few=True,
            )
        inputs = (real(*shape, **low), real(6, channels, *window, seed=2, **low))
        yield Case("Conv" + name + " (bias False)", (held(lambda n=name, c=channels, w=window: getattr(nn, "Conv" + n)(c, 6, w, bias=False), "weight"), lambda x, w, n=name: getattr(functional, "conv" + n)(x, w)), networks.convolution(), inputs, factor=6.0, few=True)
        for mode in ("reflect", "replicate", "circular"):
            pairs = (1,) * (2 * rank)
            wrapped = lambda x, w, b, m=mode, p=pairs: networks.convolution()(_padded(m, p)(x), w, b)
            inputs = (real(*shape, **low), real(6, channels, *window, seed=2, **low), real(6, seed=3, **low))
            yield Case(
                "Conv" + name + " (border " + mode + ", padding_mode)", (held(lambda n=name, c=channels, w=window, m=mode: getattr(nn, "Conv" + n)(c, 6, w, padding=1, padding_mode=m), "weight", "bias"),), wrapped, tuple(input_._replace(kind="given") for input_ in inputs), _TWO, backward=False, factor=6.0, few=True
            )


def embeddings() -> Iterator[Case]:
    """Rows of tables, alone and in bags, with each argument."""
    at, table = literal([[2, 0, 2], [4, 1, 3]][0] + [4, 1, 3], (2, 3), "int64"), real(5, 4)
    rows = lambda a, t: fromfunction((*a.shape, 4), lambda i: t[int(a[i[:2]]), i[2]])
    yield Case("Embedding", (lambda a, t: with_parameters(nn.Embedding(5, 4, dtype=t.dtype), {"weight": t}, (a,)), functional.embedding, lambda a, t: torch.embedding(t, a), lambda a, t: functional.embedding(a, t, sparse=False)), rows, (at, table))
    padded = lambda a, t: fromfunction((2, 3, 4), lambda i: tape.plain(t[2, i[2]]) if a[i[:2]] == 2 else t[int(a[i[:2]]), i[2]])
    yield Case("Embedding (padding_idx)", (lambda a, t: with_parameters(nn.Embedding(5, 4, padding_idx=2, dtype=t.dtype), {"weight": t}, (a,)), lambda a, t: functional.embedding(a, t, padding_idx=-3)), padded, (at, table), twice=False)

    def short(a: Grid, t: Grid) -> Grid:
        return fromfunction((2, 3, 4), lambda i: (lambda row: row[i[2]] * min(1.0, 2.0 / (math.sqrt(sum(v * v for v in row)) + 1e-7)))(t.flat[int(a[i[:2]]) * 4 : int(a[i[:2]]) * 4 + 4]))

    yield Case("embedding (max_norm), of rows", (lambda a, t: functional.embedding(a, torch.clone(t), max_norm=2.0), lambda a, t: nn.Embedding.from_pretrained(torch.clone(t), max_norm=2.0)(a)), short, (at, table._replace(kind="given")), _TWO, backward=False, factor=8.0)

    def shorter(a: Grid, t: Grid) -> Grid:
        return fromfunction((2, 3, 4), lambda i: (lambda row: row[i[2]] * min(1.0, 2.0 / (sum(map(abs, row)) + 1e-7)))(t.flat[int(a[i[:2]]) * 4 : int(a[i[:2]]) * 4 + 4]))

    yield Case("embedding (max_norm, norm_type)", (lambda a, t: functional.embedding(a, torch.clone(t), max_norm=2.0, norm_type=1.0),), shorter, (at, table._replace(kind="given")), _TWO, backward=False, factor=8.0)
    by = Grid((5, 4), [0.5 * n for n in range(20)])
    slope = Grid((5, 4), [1.0] * 20)
    yield Case("embedding (scale_grad_by_freq), by slope", (lambda a, t: _slope_of(lambda w: functional.embedding(a, w, scale_grad_by_freq=True), t),), lambda _a, _t, s=slope: s, (at, Input(by, "given")), _TWO, backward=False)
    yield Case("embedding (sparse)", (lambda a, t: _slope_of(lambda w: functional.embedding(a, w, sparse=True), t),), lambda _a, _t: Grid((5, 4), [2.0 if row == 2 else 1.0 for row in range(5) for _ in range(4)]), (at, Input(by, "given")), _TWO, backward=False)
    flat, starts = literal([2, 0, 2, 4, 1], kind="int64"), literal([0, 2], kind="int64")
    parts = ((2, 0), (2, 4, 1))
    for mode, function in (("sum", tape.total), ("mean", lambda s: tape.total(s) * (1 / len(s))), ("max", lambda s: max(s, key=tape.plain))):
        bag = lambda _a, t, _o, f=function: fromfunction((2, 4), lambda i: f([t[r, i[1]] for r in parts[i[0]]]))
        calls = (lambda a, t, o, m=mode: functional.embedding_bag(a, t, o, mode=m), lambda a, t, o, m=mode: with_parameters(nn.EmbeddingBag(5, 4, mode=m, dtype=t.dtype), {"weight": t}, (a, o)), lambda a, t, o, m=mode: functional.embedding_bag(a, t, torch.cat([o, o.new_tensor([5])]), mode=m, include_last_offset=True))
        yield Case("embedding_bag, EmbeddingBag (" + mode + ")", calls, bag, (flat, Input(Grid((5, 4), distinct(5, 4).grid.flat)), starts), factor=4.0, few=True)
        square = lambda a, t, f=function: fromfunction((2, 4), lambda i: f([t[int(a[i[0], k]), i[1]] for k in range(3)]))
        yield Case("embedding_bag of rows (" + mode + ")", (lambda a, t, m=mode: functional.embedding_bag(a, t, mode=m),), square, (literal([2, 0, 3, 4, 1, 3], (2, 3), "int64"), Input(Grid((5, 4), distinct(5, 4).grid.flat))), factor=4.0, few=True)
    shares = real(5, seed=4)
    weighted = lambda a, t, _o, w: fromfunction((2, 4), lambda i: tape.total([t[int(a.flat[k]), i[1]] * w.flat[k] for k in (range(2) if i[0] == 0 else range(2, 5))]))
    yield Case("embedding_bag (per_sample_weights), by rows", (lambda a, t, o, w: functional.embedding_bag(a, t, o, mode="sum", per_sample_weights=w),), weighted, (flat, table, starts, shares), factor=4.0, few=True)
    without = lambda _a, t, _o: fromfunction((2, 4), lambda i: tape.total([t[r, i[1]] for r in parts[i[0]] if r != 2]))
    yield Case("embedding_bag (padding_idx), by rows", (lambda a, t, o: functional.embedding_bag(a, t, o, mode="sum", padding_idx=2),), without, (flat, table, starts), factor=4.0, few=True)


def _slope_of(function: Callable[[Any], Any], x: Any) -> Any:
    """The gradient of the sum, as a tensor that holds all its numbers."""
    with torch.enable_grad():
        leaf = x.detach().clone().requires_grad_()
        function(leaf).sum().backward()
    return leaf.grad.to_dense() if leaf.grad.is_sparse else leaf.grad
