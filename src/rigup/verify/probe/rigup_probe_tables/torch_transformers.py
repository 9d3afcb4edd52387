"""Tables of layers of transformers and of cells as modules: with masks, norms first or last, both ways, several layers."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import rigup_probe_reference as right
import rigup_probe_reference_networks as networks
import torch
from rigup_probe_grid import Grid, each, fromfunction, lanes
from rigup_probe_torch_cases import Case, Input, given, real
from rigup_probe_torch_forms import with_parameters
from torch import nn

_TWO = ("float64", "float32")
_WIDE, _HEADS, _INNER, _EPS = 4, 2, 3, right.EPSILON
_SUM = each(lambda x, y: x + y)
Weights = "dict[str, Grid]"


def _attended(query: Grid, key: Grid, params: Any, name: str, mask: Any = None) -> Grid:
    """Attention with its projections; `mask`: what is true is looked at, of N, L, S or what is spread over them."""
    inward, bias = params[name + ".in_proj_weight"], params[name + ".in_proj_bias"]
    parts = []
    for number, grid in enumerate((query, key, key)):
        weight = Grid((_WIDE, _WIDE), inward.flat[number * _WIDE * _WIDE : (number + 1) * _WIDE * _WIDE])
        flat = networks.linear(grid, weight, Grid((_WIDE,), bias.flat[number * _WIDE : (number + 1) * _WIDE]))
        size = _WIDE // _HEADS
        parts.append(fromfunction((grid.shape[0], _HEADS, grid.shape[1], size), lambda i, f=flat, s=size: f[i[0], i[2], i[1] * s + i[3]]))
    mixed, size = networks.attention()(*parts, mask), _WIDE // _HEADS
    joined = fromfunction(query.shape, lambda i: mixed[i[0], i[2] // size, i[1], i[2] % size])
    return networks.linear(joined, params[name + ".out_proj.weight"], params[name + ".out_proj.bias"])


def _normal(x: Grid, params: Any, name: str) -> Grid:
    plain = lanes(x, lambda i: i[:-1], right.normal)
    return fromfunction(x.shape, lambda i: plain[i] * params[name + ".weight"].flat[i[-1]] + params[name + ".bias"].flat[i[-1]])


def _fed(x: Grid, params: Any, head: str, curve: Callable[[Any], Any]) -> Grid:
    inner = each(curve)(networks.linear(x, params[head + "linear1.weight"], params[head + "linear1.bias"]))
    return networks.linear(inner, params[head + "linear2.weight"], params[head + "linear2.bias"])


def encoded(x: Grid, params: Any, head: str = "", first: bool = False, curve: Any = right.relu, mask: Any = None) -> Grid:
    """One layer of an encoder."""
    if first:
        inside = _normal(x, params, head + "norm1")
        x = _SUM(x, _attended(inside, inside, params, head + "self_attn", mask))
        return _SUM(x, _fed(_normal(x, params, head + "norm2"), params, head, curve))
    x = _normal(_SUM(x, _attended(x, x, params, head + "self_attn", mask)), params, head + "norm1")
    return _normal(_SUM(x, _fed(x, params, head, curve)), params, head + "norm2")


def decoded(x: Grid, memory: Grid, params: Any, head: str = "", first: bool = False, mask: Any = None) -> Grid:
    """One layer of a decoder."""
    if first:
        inside = _normal(x, params, head + "norm1")
        x = _SUM(x, _attended(inside, inside, params, head + "self_attn", mask))
        x = _SUM(x, _attended(_normal(x, params, head + "norm2"), memory, params, head + "multihead_attn"))
        return _SUM(x, _fed(_normal(x, params, head + "norm3"), params, head, right.relu))
    x = _normal(_SUM(x, _attended(x, x, params, head + "self_attn", mask)), params, head + "norm1")
    x = _normal(_SUM(x, _attended(x, memory, params, head + "multihead_attn")), params, head + "norm2")
    return _normal(_SUM(x, _fed(x, params, head, right.relu)), params, head + "norm3")


def _parameters(module: Any) -> tuple[tuple[str, ...], tuple[Input, ...]]:
    names, inputs = [], []
    for seed, (name, parameter) in enumerate(module.named_parameters(), 11):
        names.append(name)
        low = 0.25 if "norm" in name and name.endswith("weight") else -1.0
        inputs.append(real(*parameter.shape, seed=seed, low=low, high=1.0, step=0.125))
    return tuple(names), tuple(inputs)


def _run(module: Any, names: tuple[str, ...], **more: Any) -> Callable[..., Any]:
    """`more`: arguments, of which those that are functions are told the device."""

    def called(*x: Any) -> Any:
        inputs, weights = x[: len(x) - len(names)], x[len(x) - len(names) :]
        named = {key: value(x[0]) if callable(value) else value for key, value in more.items()}
        return with_parameters(module.to(x[0].dtype).to(x[0].device), dict(zip(names, weights)), inputs, named)

    return called


def _named_parameters(names: tuple[str, ...], weights: Any) -> Any:
    return dict(zip(names, weights))


def layers() -> Iterator[Case]:
    """Encoder, decoder, and the whole."""
    x, memory = real(2, 3, _WIDE, low=-2, high=2), real(2, 2, _WIDE, seed=5, low=-2, high=2)
    args = {"dim_feedforward": _INNER, "dropout": 0.0, "layer_norm_eps": _EPS, "batch_first": True}
    causal = Grid((3, 3), [column <= row for row in range(3) for column in range(3)])
    hidden = Grid((2, 1, 1, 3), [True, True, False, True, True, True])
    ahead: Callable[[Any], Any] = lambda x: nn.Transformer.generate_square_subsequent_mask(3, device=x.device, dtype=x.dtype)
    ahead_true: Callable[[Any], Any] = lambda x: torch.ones(3, 3, dtype=torch.bool, device=x.device).triu(1)
    padding: Callable[[Any], Any] = lambda x: torch.tensor([[False, False, True], [False] * 3], device=x.device)
    rows: tuple[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]], ...] = (
        ("", {}, {}, {}),
        (" (norm_first)", {"norm_first": True}, {}, {"first": True}),
        (" (gelu)", {"activation": "gelu"}, {}, {"curve": right.gelu}),
        (" with a causal mask", {}, {"src_mask": ahead, "is_causal": True}, {"mask": causal}),
        (" with a mask of truths", {}, {"src_mask": ahead_true}, {"mask": causal}),
        (" with hidden keys", {}, {"src_key_padding_mask": padding}, {"mask": hidden}),
    )
    for label, own, more, reference in rows:
        module = nn.TransformerEncoderLayer(_WIDE, _HEADS, **args, **own)
        names, weights = _parameters(module)
        eval_ = nn.TransformerEncoderLayer(_WIDE, _HEADS, **args, **own).eval()
        wanted = lambda x, *w, n=names, r=reference: encoded(x, _named_parameters(n, w), **r)
        yield Case("TransformerEncoderLayer" + label, (_run(module, names, **more), _run(eval_, names, **more)), wanted, (x, *weights), factor=10.0, few=bool(label), dtypes=_TWO if label else ("float64", "float32", "float16", "bfloat16"))
    module = nn.TransformerEncoder(nn.TransformerEncoderLayer(_WIDE, _HEADS, **args), 2, norm=nn.LayerNorm(_WIDE, _EPS), enable_nested_tensor=False)
    names, weights = _parameters(module)
    stacked = lambda x, *w, n=names: _normal(encoded(encoded(x, _named_parameters(n, w), "layers.0."), _named_parameters(n, w), "layers.1."), _named_parameters(n, w), "norm")
    yield Case("TransformerEncoder", (_run(module, names),), stacked, (x, *weights), _TWO, factor=20.0)
    masked = lambda x, *w, n=names: _normal(encoded(encoded(x, _named_parameters(n, w), "layers.0.", mask=causal), _named_parameters(n, w), "layers.1.", mask=causal), _named_parameters(n, w), "norm")
    yield Case("TransformerEncoder with a causal mask", (_run(module, names, mask=ahead, is_causal=True),), masked, (x, *weights), _TWO, factor=20.0, few=True)
    for first in (False, True):
        module = nn.TransformerDecoderLayer(_WIDE, _HEADS, **args, norm_first=first)
        names, weights = _parameters(module)
        yield Case("TransformerDecoderLayer" + (" (norm_first)" if first else ""), (_run(module, names),), lambda x, m, *w, n=names, f=first: decoded(x, m, _named_parameters(n, w), first=f), (x, memory, *weights), _TWO, factor=20.0, few=first)
    yield Case("TransformerDecoderLayer with a causal mask (norm_first)", (_run(module, names, tgt_mask=ahead, tgt_is_causal=True),), lambda x, m, *w, n=names: decoded(x, m, _named_parameters(n, w), first=True, mask=causal), (x, memory, *weights), _TWO, factor=20.0, few=True)
    module = nn.TransformerDecoder(nn.TransformerDecoderLayer(_WIDE, _HEADS, **args), 1, norm=nn.LayerNorm(_WIDE, _EPS))
    names, weights = _parameters(module)
    yield Case("TransformerDecoder", (_run(module, names),), lambda x, m, *w, n=names: _normal(decoded(x, m, _named_parameters(n, w), "layers.0."), _named_parameters(n, w), "norm"), (x, memory, *weights), _TWO, factor=20.0, few=True)
    module = nn.Transformer(_WIDE, _HEADS, 1, 1, _INNER, 0.0, layer_norm_eps=_EPS, batch_first=True)
    names, weights = _parameters(module)

    def whole(source: Grid, goal: Grid, *w: Grid) -> Grid:
        params = _named_parameters(names, w)
        seen = _normal(encoded(source, params, "encoder.layers.0."), params, "encoder.norm")
        return _normal(decoded(goal, seen, params, "decoder.layers.0."), params, "decoder.norm")

    yield Case("Transformer", (_run(module, names),), whole, (memory, x, *weights), _TWO, factor=20.0)


def cells() -> Iterator[Case]:
    """Recurrent modules by batch and by step, with a projection, with packed sequences."""
    low = {"low": -1.0, "high": 1.0, "step": 0.25}
    kinds: tuple[tuple[str, Any, int, int], ...] = (("RNN", networks.rnn_cell, 1, 1), ("LSTM", networks.lstm_cell, 4, 2), ("GRU", networks.gru_cell, 3, 1))
    for name, cell, gates, states in kinds:
        x = real(2, 3, 4, **low)
        inputs = (x, real(gates * 3, 4, seed=2, **low), real(gates * 3, 3, seed=3, **low), real(gates * 3, seed=4, **low), real(gates * 3, seed=5, **low))
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        by_step = networks.recurrent(cell, gates, states)

        def by_batch(x: Grid, *w: Grid, f: Any = by_step) -> Grid:
            turned = fromfunction((x.shape[1], x.shape[0], x.shape[2]), lambda i: x[i[1], i[0], i[2]])
            out = f(turned, *w)
            return fromfunction((out.shape[1], out.shape[0], out.shape[2]), lambda i: out[i[1], i[0], i[2]])

        first = lambda module, n=names: lambda x, *w: with_parameters(module.to(x.dtype).to(x.device), dict(zip(n, w)), (x,))[0]
        yield Case(name + " (batch_first)", (first(getattr(nn, name)(4, 3, batch_first=True)),), by_batch, inputs, factor=10.0)
        yield Case(name + " by steps", (first(getattr(nn, name)(4, 3)),), by_step, inputs, factor=10.0, few=True)
        bare = (inputs[0], inputs[1], inputs[2])
        none = Grid((gates * 3,), [0.0] * gates * 3)
        yield Case(name + " (bias False)", (first(getattr(nn, name)(4, 3, bias=False), names[:2]),), lambda x, a, b, f=by_step, z=none: f(x, a, b, z, z), bare, _TWO, factor=10.0, few=True)
        packed = lambda x, *w, m=getattr(nn, name)(4, 3), n=names: nn.utils.rnn.pad_packed_sequence(with_parameters(m.to(x.dtype).to(x.device), dict(zip(n, w)), (nn.utils.rnn.pack_padded_sequence(x, torch.tensor([2, 1, 1])),))[0])[0]
        yield Case(name + " of packed sequences", (packed,), lambda x, *w, f=by_step: (lambda out: fromfunction(out.shape, lambda i: out[i] if i[0] == 0 or i[1] == 0 else 0.0))(f(x, *w)), inputs, _TWO, factor=10.0, few=True)
        for size in (40,):
            many = (given(1, size, 4, **low), *(input_._replace(kind="given") for input_ in inputs[1:]))
            yield Case(name + " of many sequences", (first(getattr(nn, name)(4, 3)),), by_step, many, _TWO, backward=False, factor=10.0, few=True)
