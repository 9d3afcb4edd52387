"""What a training step of a language model takes, by closed forms: weights, gradients, an optimizer's state, activations.

The activations are those of the usual code in torch (transformers' Llama and its kin, attention by
`scaled_dot_product_attention`). What autograd keeps of each layer is counted; the peak is the largest of the step's phases.
"""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from rigup.fit.errors import FitError
from rigup.fit.gguf import Tensor
from rigup.fit.model import Model
from rigup.language import _

OPTIMIZERS = {
    "adamw": 2.0,
    "adam": 2.0,
    "adamw8bit": 0.0,
    "lion": 1.0,
    "momentum": 1.0,
    "adagrad": 1.0,
    "rmsprop": 1.0,
    "sgd": 0.0,
    "adafactor": 0.0,
}
PRECISIONS = ("fp32", "bf16", "mixed")
SHARDINGS = ("none", "ddp", "zero1", "zero2", "zero3")
KINDS = ("full", "lora", "qlora")
_EIGHT_BITS = 2.0 + 2 * 4 / 256  # bytes of two states of a byte, and a scale of each block of 256
_SINGLE, _HALF, _INDEX = 4, 2, 8
_FOUR_BITS = (4 + 8 / 64 + 32 / (64 * 256)) / 8  # NF4 in blocks of 64, whose scales are quantised again
_SCORES = 3  # of all tokens and words, in single precision: log-softmax, its gradient, and the loss's
_GATHERED = 2  # layers whose weights a rank has whole at once


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How it is trained.

    Attributes:
        samples: sequences of a step on each device.
        context: tokens of each.
        kept: no activations are thrown away; False is checkpointing of each layer.
        flash_attn: attention keeps no table of scores.
        rank: of LoRA's matrices, beside all linear layers.
        many: the optimizer computes all tensors at once, as torch does on GPUs.

    """

    kind: str = "full"
    optimizer: str = "adamw"
    precision: str = "bf16"
    samples: int = 1
    context: int = 2048
    kept: bool = True
    flash_attn: bool = True
    rank: int = 16
    devices: int = 1
    sharding: str = "ddp"
    many: bool = True


class Step(NamedTuple):
    """The most that a step holds on each device, in bytes, and of what that consists."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    temporary: int

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self)


class _Sizes(NamedTuple):
    """Numbers of a model: of all weights, of linear layers', of the largest tensor, of a layer, of the tables."""

    all: int
    linear: int
    largest: int
    layer: int
    table: int
    trained: int
    factored: int


def training_step(model: Model, wish: Wish) -> Step:
    """The peak of a step.

    Raises:
        FitError: the model has layers whose activations are not known here.

    """
    if any(layer.state for layer in model.kept):
        template = _("What {kind} keeps for its gradients is not known here: trace the module itself with rigup.fit.module.")
        raise FitError(template.format(kind=model.architecture[:60]))
    sizes = _sizes(model, wish)
    weights = _weights(sizes, wish)
    gradients = _of_float(wish) * sizes.trained
    states = _states(sizes, wish)
    kept, work = _phases(model, sizes, wish)
    shared = max(1, wish.devices)
    if wish.sharding == "zero3":
        weights = weights // shared + _GATHERED * sizes.layer * _of_float(wish)
    if wish.sharding in ("zero2", "zero3"):
        gradients = gradients // shared + sizes.layer * _of_float(wish)
    if wish.sharding in ("zero1", "zero2", "zero3"):
        states //= shared
    bucket = gradients if shared > 1 and wish.sharding == "ddp" else 0
    return _largest(weights, gradients, states, kept, (*work, _stepping(sizes, wish, shared), _missing(model, sizes, wish)), bucket)


def _largest(weights: int, gradients: int, states: int, kept: int, work: tuple[int, int, int, int, int], bucket: int) -> Step:
    """The largest of a step's phases: the loss, the first and the last layer's gradients, the optimizer."""
    loss, first, last, stepping, missing = work
    steps = [
        Step(weights, 0, states, kept, max(loss, first) + bucket),
        Step(weights, max(0, gradients - missing), states, 0, last + bucket),
        Step(weights, gradients, states, 0, stepping + bucket),
    ]
    return max(steps, key=lambda step: step.total)


def _missing(model: Model, sizes: _Sizes, wish: Wish) -> int:
    """Gradients that are not there yet while the first layer's are computed: its own, and those of the table of tokens."""
    if wish.kind != "full" or wish.sharding in ("zero2", "zero3"):
        return 0
    table = 0 if model.tied else sizes.table // 2
    return (sizes.layer + table) * _of_float(wish)


def _of_float(wish: Wish) -> int:
    """Bytes of a trained weight and of its gradient."""
    return _HALF if wish.precision == "bf16" else _SINGLE


def _sizes(model: Model, wish: Wish) -> _Sizes:
    tables = {"token_embd.weight", "output.weight"}
    tensors = [tensor for tensor in model.tensors if not tensor.name.startswith("rope_")]
    linear = [
        tensor
        for tensor in tensors
        if tensor.name not in tables and len([size for size in tensor.sizes if size > 1]) > 1 and "norm" not in tensor.name
    ]
    adapters = [_adapter(tensor.sizes, wish.rank) for tensor in linear if "ffn_gate_inp" not in tensor.name]
    trained = tensors if wish.kind == "full" else []
    factored = sum(
        tensor.numbers // tensor.sizes[0] + tensor.numbers // tensor.sizes[1] if len(tensor.sizes) > 1 else tensor.numbers
        for tensor in trained
    )
    return _Sizes(
        sum(tensor.numbers for tensor in tensors),
        sum(tensor.numbers for tensor in linear),
        max((tensor.numbers for tensor in trained), default=max(adapters, default=0)),
        max(sum(tensor.numbers for tensor in part.values()) for part in model.parts),
        sum(tensor.numbers for tensor in tensors if tensor.name in tables),
        sum(tensor.numbers for tensor in trained) or sum(adapters),
        factored or sum(adapters),
    )


def _adapter(sizes: tuple[int, ...], rank: int) -> int:
    count = sizes[2] if len(sizes) > 2 else 1
    return count * rank * (sizes[0] + sizes[1])


def _weights(sizes: _Sizes, wish: Wish) -> int:
    if wish.kind == "full":
        return sizes.all * _of_float(wish)
    adapters = sizes.trained * _of_float(wish)
    if wish.kind == "qlora":
        return int(sizes.linear * _FOUR_BITS) + (sizes.all - sizes.linear) * _SINGLE + adapters
    return sizes.all * (_SINGLE if wish.precision == "fp32" else _HALF) + adapters


def _states(sizes: _Sizes, wish: Wish) -> int:
    if wish.optimizer == "adamw8bit":
        return int(sizes.trained * _EIGHT_BITS)
    if wish.optimizer == "adafactor":
        return sizes.factored * _SINGLE
    return int(sizes.trained * OPTIMIZERS[wish.optimizer] * _of_float(wish))


def _stepping(sizes: _Sizes, wish: Wish, shared: int) -> int:
    """What an optimizer needs meanwhile: of one tensor after another, or of all at once."""
    if wish.optimizer in ("sgd", "momentum", "adamw8bit", "lion"):
        return 0
    if wish.many:
        return sizes.trained * _of_float(wish) // (shared if wish.sharding.startswith("zero") else 1)
    return 2 * sizes.largest * _of_float(wish)


class _Token(NamedTuple):
    """Bytes that a layer keeps of a token: all of it, and its input alone; and what its gradients need meanwhile."""

    kept: int
    input: int
    work: int


def _phases(model: Model, sizes: _Sizes, wish: Wish) -> tuple[int, tuple[int, int, int]]:
    """What all layers keep, and what the loss, the first and the last layer's gradients need beside it."""
    tokens, half = wish.samples * wish.context, wish.precision != "fp32"
    each = _token(model, wish)
    scores = 0 if wish.flash_attn else wish.samples * model.heads(0) * wish.context**2 * (_SINGLE + _HALF * half)
    layer = tokens * each.kept + scores
    if wish.precision == "mixed" and not wish.kept:
        layer += _HALF * sizes.layer
    layers = model.layers * (layer if wish.kept else tokens * each.input)
    kept = layers + tokens * (_norm(model.width, wish, 1) + 2 * _INDEX) + _casts(sizes, wish)
    words = tokens * model.vocabulary
    again = 0 if wish.kept else layer
    head = sizes.table // (1 if model.tied else 2) * (_of_float(wish) if wish.kind == "full" else 0)
    dequantised = (
        _HALF * max((tensor.numbers for tensor in model.tensors if tensor.name.startswith("blk.")), default=0)
        if wish.kind == "qlora"
        else 0
    )
    loss = words * _SINGLE * _SCORES
    whole = sizes.trained * _of_float(wish) * sizes.layer // max(1, sizes.all)
    first = (
        max(words * (_HALF if half else _SINGLE) + head + tokens * model.width * _SINGLE, head + again + tokens * each.work + whole)
        + dequantised
    )
    last = layer + tokens * each.work + dequantised
    if model.tied and wish.kind == "full":
        last = max(last, head)
    return kept, (loss, first, last)


def _norm(width: int, wish: Wish, readers: int) -> int:
    """Bytes of a token that a norm and those that read it keep; a frozen weight needs no normed value."""
    normed = wish.kind == "full"
    if wish.precision == "fp32":
        return width * (_SINGLE * (2 + normed))
    if wish.precision == "bf16":
        return width * (_SINGLE + _HALF * (1 + normed))
    return width * (_SINGLE * (1 + normed) + _HALF * readers)


def _token(model: Model, wish: Wish) -> _Token:
    """Of a layer that has most."""
    size = _SINGLE if wish.precision == "fp32" else _HALF
    part = max(model.parts, key=lambda names: sum(tensor.numbers for tensor in names.values()))
    heads, length, width = model.heads(0), model.key_length(0), model.width
    query, narrow = heads * length, model.of_layer("attention.head_count_kv", 0, heads) * length
    inner = _inner(model, part)
    norms = sum(tensor.sizes[-1] == width and "norm" in name for name, tensor in part.items())
    kept = _norm(width, wish, 3) + max(0, norms - 1) * _norm(width, wish, 2)
    kept += size * (4 * query + 4 * inner) + _SINGLE * heads
    if any(name.startswith("attn_q_norm") for name in part):
        kept += (_SINGLE + size * (wish.kind == "full")) * (query + narrow)
    if wish.kind != "full":
        kept += size * wish.rank * len([tensor for tensor in part.values() if len(tensor.sizes) > 1])
    residual = _HALF if wish.precision == "bf16" else _SINGLE
    return _Token(kept, width * residual, residual * width + size * max(3 * inner, 4 * query))


def _inner(model: Model, part: Mapping[str, Tensor]) -> int:
    """Numbers of a token within the feed-forward network, of all experts that it goes to."""
    if "ffn_gate_inp.weight" not in part:
        return model.number("feed_forward_length")
    shared = part["ffn_up_shexp.weight"].sizes[1] if "ffn_up_shexp.weight" in part else 0
    return model.experts_used * (model.number("expert_feed_forward_length") or model.number("feed_forward_length")) + shared


def _casts(sizes: _Sizes, wish: Wish) -> int:
    """Copies of weights in half precision, which autocast keeps until their gradients are there."""
    if wish.precision != "mixed":
        return 0
    return _HALF * (sizes.table + (sizes.linear if wish.kept else 0))


def largest_batch(model: Model, wish: Wish, room: int) -> int:
    """The most sequences of a step that a device has room for; 0 where not even one fits."""
    low, high = 0, 1 << 16
    while low < high:
        middle = (low + high + 1) // 2
        fit = training_step(model, msgspec.structs.replace(wish, samples=middle)).total <= room
        low, high = (middle, high) if fit else (low, middle - 1)
    return low
