"""Tables of layers as networks use them: cells in layers and both ways, heads with masks, bags of rows; one row each."""

from __future__ import annotations

import math
import random
from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_layers as layers
import rigup_probe_reference_networks as networks
import torch
from rigup_probe_grid import Grid
from rigup_probe_tape import total
from rigup_probe_torch_cases import Case, Input, given, literal, real
from torch import nn
from torch.nn import functional

from rigup_probe_tables.torch_networks import LOW, functional_call

_NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
_WIDE, _SIZE, _STEPS, _BATCH = 4, 3, 3, 2


def recurrents() -> Iterator[Case]:
    """In two layers, in both ways, from states that are given, with the states at the end; cells from a state."""
    kinds: tuple[tuple[str, Any, Any, Any, int, int], ...] = (("RNN", nn.RNN, nn.RNNCell, networks.rnn_cell, 1, 1), ("LSTM", nn.LSTM, nn.LSTMCell, networks.lstm_cell, 4, 2), ("GRU", nn.GRU, nn.GRUCell, networks.gru_cell, 3, 1))
    for name, kind, single, cell, gates, states in kinds:
        for deep, both in ((2, False), (2, True)):
            label = name + " of " + str(deep) + " layers" + " in both ways" * both
            inputs = _layer_inputs(deep, both, gates, states)
            call = _through(kind, deep, both, states, {})
            yield Case(label, (call,), layers.stacked(cell, gates, states, deep, both), inputs, factor=8.0, few=True)
        inputs = _layer_inputs(1, False, gates, states)
        yield Case(name + "Cell from a state", (_one_step(single, states, {}),), _first_step(cell, gates, states), inputs, factor=8.0, few=True)
    inputs = _layer_inputs(1, False, 1, 1)
    relu = {"nonlinearity": "relu"}
    reference = layers.stacked(networks.rectified_cell, 1, 1, 1, False)
    yield Case("RNN (relu)", (_through(nn.RNN, 1, False, 1, relu),), reference, inputs, factor=8.0, few=True)
    yield Case("RNNCell (relu)", (_one_step(nn.RNNCell, 1, relu),), _first_step(networks.rectified_cell, 1, 1), inputs, factor=8.0, few=True)


def _layer_inputs(deep: int, both: bool, gates: int, states: int) -> tuple[Input, ...]:
    ways = 2 if both else 1
    inputs = [real(_STEPS, _BATCH, _WIDE, **LOW)]
    inputs += [real(deep * ways, _BATCH, _SIZE, seed=40 + at, **LOW) for at in range(states)]
    for number in range(deep * ways):
        wide = _WIDE if number < ways else _SIZE * ways
        shapes: tuple[tuple[int, ...], ...] = ((gates * _SIZE, wide), (gates * _SIZE, _SIZE), (gates * _SIZE,), (gates * _SIZE,))
        inputs += [real(*shape, seed=4 * number + at + 2, **LOW) for at, shape in enumerate(shapes)]
    return tuple(inputs)


def _through(kind: Any, deep: int, both: bool, states: int, more: dict[str, Any]) -> Callable[..., Any]:
    def called(x: Any, *given_: Any) -> Any:
        module = kind(_WIDE, _SIZE, deep, bidirectional=both, dtype=x.dtype, device=x.device, **more)
        begun, weights = given_[:states], given_[states:]
        ends = [name + "_l" + str(layer) + way for layer in range(deep) for way in ("", "_reverse")[: both + 1] for name in _NAMES]
        output, last = functional_call(module, x, begun if states > 1 else begun[0], **dict(zip(ends, weights)))
        return (output, *(last if states > 1 else (last,)))

    return called


def _one_step(kind: Any, states: int, more: dict[str, Any]) -> Callable[..., Any]:
    def called(x: Any, *given_: Any) -> Any:
        module = kind(_WIDE, _SIZE, dtype=x.dtype, device=x.device, **more)
        begun, weights = [tensor[0] for tensor in given_[:states]], given_[states:]
        state = functional_call(module, x[0], tuple(begun) if states > 1 else begun[0], **dict(zip(_NAMES, weights)))
        return tuple(state) if states > 1 else (state,)

    return called


def _first_step(cell: Any, gates: int, states: int) -> Callable[..., Any]:
    def called(x: Grid, *more: Grid) -> tuple[Grid, ...]:
        step_input = Grid((1, _BATCH, _WIDE), x.flat[: _BATCH * _WIDE])
        outputs = layers.stacked(cell, gates, states, 1, False)(step_input, *more)
        return tuple(Grid((_BATCH, _SIZE), end.flat) for end in outputs[1:])

    return called


def attentions() -> Iterator[Case]:
    """Masks of each head and each example, other numbers of keys than of queries, and of wide and odd heads."""
    call = functional.scaled_dot_product_attention
    three = (real(2, 3, 5, 7, **LOW), real(2, 3, 6, 7, seed=2, **LOW), real(2, 3, 6, 7, seed=3, **LOW))
    for name, shape in (("each head and example", (2, 3, 5, 6)), ("each head", (1, 3, 5, 6)), ("each example", (2, 1, 5, 6)), ("the keys of each example", (2, 1, 1, 6))):
        for label, mask in (("truths", _truths(shape)), ("numbers", given(*shape, seed=7))):
            masked = lambda q, k, v, m: call(q, k, v, attn_mask=m)
            yield Case("attention with a mask of " + label + " for " + name, (masked,), networks.attention(), (*three, mask), factor=3.0, few=True)
    for queries, keys in ((4, 7), (7, 4)):
        inputs = (real(1, 2, queries, 8, **LOW), real(1, 2, keys, 8, seed=2, **LOW), real(1, 2, keys, 8, seed=3, **LOW))
        label = "causal attention of " + str(queries) + " queries to " + str(keys) + " keys"
        yield Case(label, (lambda q, k, v: call(q, k, v, is_causal=True),), networks.attention(causal=True), inputs, factor=3.0)
    for size in (1, 7, 33, 72):
        inputs = tuple(real(1, 2, 3, size, seed=seed, **LOW) for seed in (1, 2, 3))
        yield Case("attention of heads of " + str(size), (call,), networks.attention(), inputs, factor=4.0)
    inputs = tuple(given(1, 1, 131, 4, seed=seed, **LOW) for seed in (1, 2, 3))
    yield Case("attention of 131 queries", (call,), networks.attention(), inputs, backward=False, factor=3.0)
    yield from _shared_keys()
    yield from _heads()


def _truths(shape: tuple[int, ...]) -> Input:
    """About half of the keys, the first of them always."""
    draw = random.Random(5)  # noqa: S311  (which places are masked)
    return Input(Grid(shape, [not at % shape[-1] or draw.random() < 0.6 for at in range(math.prod(shape))]), "mask")


def _shared_keys() -> Iterator[Case]:
    """Several query heads for each key head, where this torch knows of it."""
    call = functional.scaled_dot_product_attention
    tensor = torch.zeros(1, 1, 1, 1)
    try:
        call(tensor, tensor, tensor, enable_gqa=True)
    except (TypeError, RuntimeError):
        return
    inputs = (real(2, 6, 5, 8, **LOW), real(2, 2, 7, 8, seed=2, **LOW), real(2, 2, 7, 8, seed=3, **LOW))
    ways = (lambda q, k, v: call(q, k, v, enable_gqa=True),)
    yield Case("attention with shared keys", ways, networks.attention(shared=3), inputs, factor=3.0, optional=True)


def _heads() -> Iterator[Case]:
    """MultiheadAttention to other keys, and with keys that are hidden."""
    query, key, value = real(2, 3, 8, **LOW), real(2, 5, 8, seed=6, **LOW), real(2, 5, 8, seed=7, **LOW)
    weights = (real(24, 8, seed=2, **LOW), real(24, seed=3, **LOW), real(8, 8, seed=4, **LOW), real(8, seed=5, **LOW))
    hidden = Input(Grid((2, 5), [False, False, True, False, True, False, True, True, False, False]), "mask")
    reference = layers.heads_across(2)
    for name, masks in (("MultiheadAttention to other keys", ()), ("MultiheadAttention with key_padding_mask", (hidden,))):
        ways = tuple(lambda *x, w=needed: _across(w, *x) for needed in (False, True))
        yield Case(name, ways, reference, (query, key, value, *weights, *masks), factor=6.0, few=True)
    own = (lambda x, *rest: _across(False, x, x, x, *rest),)
    of_own = lambda x, *rest: reference(x, x, x, *rest)
    yield Case("MultiheadAttention to itself with key_padding_mask", own, of_own, (key, *weights, hidden), factor=6.0, few=True)


def _across(needed: bool, query: Any, key: Any, value: Any, inward: Any, bias: Any, outward: Any, last: Any, hidden: Any = None) -> Any:
    module = nn.MultiheadAttention(8, 2, batch_first=True, dtype=query.dtype, device=query.device).eval()
    for owner, name, parameter in ((module.out_proj, "weight", outward), (module.out_proj, "bias", last), (module, "in_proj_weight", inward), (module, "in_proj_bias", bias)):
        del owner._parameters[name]
        setattr(owner, name, parameter)
    return module(query, key, value, key_padding_mask=hidden, need_weights=needed)[0]


def embeddings() -> Iterator[Case]:
    """Bags by their first place, their weights, their padding; rows kept short; gradients by frequency."""
    rows, table = literal([3, 1, 0, 3, 2, 5, 3, 1], kind="int64"), real(7, 6, seed=2)
    begins = literal([0, 3, 4], kind="int64")
    ends = ((0, 3), (3, 4), (4, 8))
    for mode, function in (("sum", total), ("mean", right.mean), ("max", right.largest)):
        call = lambda r, t, b, m=mode: functional.embedding_bag(r, t, b, mode=m)
        reference = lambda r, t, _b, f=function: layers.bags(ends, f)(r, t)
        yield Case("embedding_bag (" + mode + ") by places", (call,), reference, (rows, table, begins), optional=True, factor=2.0)
    weighted = lambda r, t, b, w: functional.embedding_bag(r, t, b, mode="sum", per_sample_weights=w)
    by_weight = lambda r, t, _b, w: layers.bags(ends, total)(r, t, w)
    yield Case("embedding_bag (per_sample_weights)", (weighted,), by_weight, (rows, table, begins, real(8, seed=5)), optional=True, factor=2.0)
    without = literal([1, 0, 2, 5, 1, 2], kind="int64")
    yield Case("embedding_bag (padding_idx)", (_padded_bags,), layers.bags(((0, 4), (4, 6)), right.mean), (without, table), optional=True, factor=2.0)
    kept = rows._replace(grid=Grid((2, 4), rows.grid.flat))
    short = lambda r, t: functional.embedding(r, t.clone(), max_norm=2.0)
    yield Case("embedding (max_norm)", (short,), layers.shortened(2.0), (kept, table._replace(kind="given")), backward=False, factor=4.0)
    often = lambda r, t: functional.embedding(r, t, scale_grad_by_freq=True)
    yield Case("embedding (scale_grad_by_freq)", (often,), layers.by_frequency, (kept, table), optional=True, factor=2.0)


def _padded_bags(rows: Any, table: Any) -> Any:
    """Two bags of four, in the second of which two are padding."""
    return functional.embedding_bag(torch.cat([rows, rows[:2] * 0 + 3]).view(2, 4), table, mode="mean", padding_idx=3)
