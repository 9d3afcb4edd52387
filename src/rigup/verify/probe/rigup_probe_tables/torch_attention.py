"""Tables of attention, recurrent cells and embeddings; one row each."""

from __future__ import annotations

import math
import random
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import torch
from rigup_probe_grid import Grid, fromfunction
from rigup_probe_torch_cases import Case, Input, given, literal, real
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_networks import LOW, functional_call


def attentions() -> Iterator[Case]:
    """Plain, causal, masked, with large scores, with fewer keys than queries, by each way that the build has."""
    call = functional.scaled_dot_product_attention
    usual = (real(2, 2, 9, 8, **LOW), real(2, 2, 9, 8, seed=2, **LOW), real(2, 2, 9, 8, seed=3, **LOW))
    other = (real(1, 2, 7, 16, **LOW), real(1, 2, 17, 16, seed=2, **LOW), real(1, 2, 17, 16, seed=3, **LOW))
    large = tuple(input_._replace(grid=Grid(input_.grid.shape, [x * (8 if place < 2 else 1) for x in input_.grid.flat])) for place, input_ in enumerate(usual))
    wide = tuple(given(1, 1, 70, 32, seed=seed, **LOW) for seed in (1, 2, 3))
    truths, floats = _masks(9)
    rows: tuple[tuple[str, dict[str, Any], Any, tuple[Input, ...]], ...] = (
        ("attention", {}, networks.attention(), usual),
        ("causal attention", {"is_causal": True}, networks.attention(causal=True), usual),
        ("attention to other keys", {}, networks.attention(), other),
        ("attention with large scores", {}, networks.attention(), large),
        ("causal attention with large scores", {"is_causal": True}, networks.attention(causal=True), large),
        ("attention with a scale", {"scale": 0.125}, networks.attention(scale=0.125), usual),
        ("long attention", {}, networks.attention(), wide),
        ("long causal attention", {"is_causal": True}, networks.attention(causal=True), wide),
    )
    for name, more, reference, inputs in rows:
        yield Case(name, (lambda q, k, v, m=more: call(q, k, v, **m), *_backends(more)), reference, inputs, backward=inputs is not wide, factor=8.0 if inputs is large else 3.0)
    for name, mask in (("attention with a mask of truths", truths), ("attention with a mask of numbers", floats)):
        masked = lambda q, k, v, m: call(q, k, v, attn_mask=m)
        yield Case(name, (masked, _by_the_formula), networks.attention(), (*usual, mask), factor=3.0)
    three = tuple(input_._replace(grid=Grid((4, 9, 8), input_.grid.flat)) for input_ in usual)
    yield Case("attention of three dimensions", (call,), networks.attention(), three, factor=3.0)
    yield from _multihead()


def _masks(size: int) -> tuple[Input, Input]:
    draw = random.Random(3)  # noqa: S311  (which places are masked)
    truths = [row == column or draw.random() < 0.5 for row in range(size) for column in range(size)]
    return Input(Grid((size, size), truths), "mask"), given(size, size, seed=7)


def _backends(more: dict[str, Any]) -> Iterator[Callable[..., Any]]:
    """Each way that this torch lets one choose; what a device does not have it says."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        return
    for name in ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"):
        backend = getattr(SDPBackend, name, None)
        if backend is not None:
            yield lambda q, k, v, b=backend, c=sdpa_kernel: _by(b, c, more, q, k, v)


def _by(backend: Any, chosen: Any, more: dict[str, Any], *inputs: Any) -> Any:
    try:
        with chosen(backend):
            return functional.scaled_dot_product_attention(*inputs, **more)
    except RuntimeError as why:
        if "No available kernel" not in str(why) and "No viable backend" not in str(why):
            raise
        return functional.scaled_dot_product_attention(*inputs, **more)


def _by_the_formula(query: Any, key: Any, value: Any, mask: Any) -> Any:
    """As it is written where nobody has a fused kernel."""
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return functional.softmax(scores, -1) @ value


def _multihead() -> Iterator[Case]:
    inputs = (real(2, 5, 8, **LOW), real(24, 8, seed=2, **LOW), real(24, seed=3, **LOW), real(8, 8, seed=4, **LOW), real(8, seed=5, **LOW))
    for name, causal in (("MultiheadAttention", False), ("causal MultiheadAttention", True)):
        ways = tuple(lambda *x, c=causal, w=weights: _through_module(c, w, *x) for weights in (False, True))
        yield Case(name, ways, networks.multihead(2, causal), inputs, factor=6.0)


def _through_module(causal: bool, weights: bool, x: Any, inward: Any, bias: Any, outward: Any, last: Any) -> Any:
    module = nn.MultiheadAttention(8, 2, batch_first=True, dtype=x.dtype, device=x.device).eval()
    for owner, name, parameter in ((module.out_proj, "weight", outward), (module.out_proj, "bias", last)):
        del owner._parameters[name]
        setattr(owner, name, parameter)
    steps = x.shape[1]
    mask = torch.tensor([[column > row for column in range(steps)] for row in range(steps)]).to(x.device) if causal else None
    del module._parameters["in_proj_weight"], module._parameters["in_proj_bias"]
    module.in_proj_weight, module.in_proj_bias = inward, bias
    output = module(x, x, x, attn_mask=mask, need_weights=weights)
    return output[0]


def recurrents() -> Iterator[Case]:
    """Layers of cells, and cells alone."""
    for name, kind, single, cell, gates, states in (("RNN", nn.RNN, nn.RNNCell, networks.rnn_cell, 1, 1), ("LSTM", nn.LSTM, nn.LSTMCell, networks.lstm_cell, 4, 2), ("GRU", nn.GRU, nn.GRUCell, networks.gru_cell, 3, 1)):
        for wide, size, steps in ((5, 6, 4), (3, 17, 2)):
            inputs = (real(steps, 2, wide, **LOW), real(gates * size, wide, seed=2, **LOW), real(gates * size, size, seed=3, **LOW), real(gates * size, seed=4, **LOW), real(gates * size, seed=5, **LOW))
            calls = (lambda *x, k=kind, s=size: _layer(k, s, *x), lambda *x, k=single, s=size: _cell_by_cell(k, s, *x))
            yield Case(name + " of " + str(size), calls, networks.recurrent(cell, gates, states), inputs, factor=16.0 if size > 6 else 8.0)


_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def _layer(kind: Any, size: int, x: Any, *weights: Any) -> Any:
    module = kind(x.shape[2], size, dtype=x.dtype, device=x.device)
    output = functional_call(module, x, **{name + "_l0": weight for name, weight in zip(_NAMES, weights)})
    return output[0]


def _cell_by_cell(kind: Any, size: int, x: Any, *weights: Any) -> Any:
    module = kind(x.shape[2], size, dtype=x.dtype, device=x.device)
    for name, weight in zip(_NAMES, weights):
        del module._parameters[name]
        setattr(module, name, weight)
    state, outputs = None, []
    for step in x.unbind(0):
        state = module(step, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    return torch.stack(outputs)


def embeddings() -> Iterator[Case]:
    """Rows of a table, with equal ones, and with padding."""
    rows = literal([3, 1, 0, 3, 2, 5, 3, 1], (2, 4), "int64")
    for wide in (6, 16, 33):
        table = real(7, wide, seed=2)
        yield Case("embedding of " + str(wide), (functional.embedding,), networks.embedding(), (rows, table))
    yield Case("embedding (padding_idx)", (lambda r, t: functional.embedding(r, t, padding_idx=3), _embedding_module), networks.embedding(3), (rows, real(7, 6, seed=2)), twice=False)
    few = rows._replace(grid=Grid((2, 4), rows.grid.flat))
    yield Case("embedding_bag (mean)", (lambda r, t: functional.embedding_bag(r, t, mode="mean"),), _bags, (few, real(7, 6, seed=2)), optional=True, factor=2.0)
    hot = literal([2, 0, 1], kind="int64")
    yield Case("one_hot", (lambda r: functional.one_hot(r, 4),), lambda r: fromfunction((3, 4), lambda at: int(r.flat[at[0]] == at[1])), (hot,), ("int64",), backward=False)


def _embedding_module(rows: Any, table: Any) -> Any:
    module = nn.Embedding(7, 6, padding_idx=3, dtype=table.dtype, device=table.device)
    return functional_call(module, rows, weight=table)


def _bags(rows: Grid, table: Grid) -> Grid:
    return fromfunction((2, 6), lambda at: right.mean([table[int(rows[at[0], place]), at[1]] for place in range(4)]))
