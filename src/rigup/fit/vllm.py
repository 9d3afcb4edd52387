"""What vLLM makes of a GPU: weights by rank, a pool of cache blocks out of what is left, and how many sequences that holds."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from rigup.fit.errors import FitError
from rigup.fit.gguf import Tensor
from rigup.fit.model import Layer, Model
from rigup.fit.plan import Part
from rigup.fit.pools import HOST, Pool
from rigup.fit.quants import cache_bytes
from rigup.knowledge import tables
from rigup.language import _

ENGINE = "vllm"
_HALF, _FLOAT = 2, 4
_REPLICATED = ("norm", "ffn_gate_inp", "attn_kv_a", "attn_q_a", "exp_probs_b", "rope_freqs", "ssm_conv1d")
_STREAMS = 4  # rows of the model's width that a step holds beside the widest product: residual, normed, result, copy
_SORTED = 3  # copies of all scores that a sampler makes
_CACHE_TYPES = {"f16": "auto", "bf16": "auto", "q8_0": "fp8"}
_MOST_RANKS = 64


class _Serving(msgspec.Struct, frozen=True):
    engine: str
    below: int
    share: float
    block: int
    batch: int
    sequences: int


class _Rank(msgspec.Struct, frozen=True):
    engine: str
    bytes: int
    graph: int


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """How it is to be started.

    Attributes:
        context: the longest sequence (--max-model-len).
        kv: type of the cache, in llama.cpp's words; q8_0 is what vLLM calls fp8.
        share: of the GPU that it may take; None is what it takes by itself, or less where that is not free.
        tensor, pipeline: ranks in each direction; None spreads over all GPUs.
        eager: no graphs are captured.

    """

    context: int
    kv: str = "f16"
    share: float | None = None
    tensor: int | None = None
    pipeline: int | None = None
    eager: bool = False


class Served(NamedTuple):
    """The plan: a part for each GPU, and what the cache holds."""

    parts: list[Part]
    share: float
    tensor: int
    pipeline: int
    tokens: int
    sequences: int
    longest: int | None
    blocks: int
    batch: int


def served(model: Model, wish: Wish, pools: Sequence[Pool], weights: int = 0) -> Served:
    """The plan of a wish.

    Args:
        model: what is served.
        wish: how.
        pools: the machine's memories.
        weights: bytes of the files, where they are known: quantised ones are smaller than their shape implies.

    Raises:
        FitError: there is no GPU, the ranks are not that many, or the cache's type is none of vLLM's.

    """
    cards = [pool for pool in pools if pool.kind != HOST]
    if not cards:
        raise FitError(_("vLLM is reckoned for GPUs, and this machine has none: ask of llama.cpp (--engine llama.cpp)."))
    if wish.kv not in _CACHE_TYPES:
        raise FitError(_("vLLM has no cache of the type {kind}: write --kv f16 or --kv q8_0 (its fp8).").format(kind=wish.kv))
    tensor, pipeline = _ranks(model, wish, len(cards))
    used = cards[: tensor * pipeline]
    least = min((pool.total or pool.free or 0) for pool in used)
    row = next(row for row in tables.rows("engine_memory", "serving", _Serving) if row.engine == ENGINE and least < row.below)
    share = _share(wish, row, used)
    stages = _stages(model.layers, pipeline)
    parts = [_rank(model, stages[number // tensor], wish, row, tensor) for number in range(len(used))]
    if weights:
        for part in parts:
            part.weights = part.weights * weights // max(1, sum(weight.bytes for weight in model.tensors))
    rooms = [int((pool.total or pool.free or 0) * share) - part.total for pool, part in zip(used, parts, strict=True)]
    kept = [_cache_sizes(model, stages[number // tensor], wish.kv, tensor) for number in range(len(used))]
    for part, room in zip(parts, rooms, strict=True):
        part.kv = max(0, room)
    asked = min(_sequences(layers, room, wish.context, model.window, row) for layers, room in zip(kept, rooms, strict=True))
    longest = _longest(model, kept, rooms, row)
    blocks = min(_blocks(layers, room, row) for layers, room in zip(kept, rooms, strict=True))
    return Served(parts, share, tensor, pipeline, blocks * row.block, min(asked, row.sequences), longest, blocks, row.batch)


def start(name: str, wish: Wish, plan: Served) -> list[str]:
    """The words that start it so."""
    words = ["vllm", "serve", name, "--max-model-len", str(wish.context), "--gpu-memory-utilization", f"{plan.share:.2f}"]
    if plan.tensor > 1:
        words += ["--tensor-parallel-size", str(plan.tensor)]
    if plan.pipeline > 1:
        words += ["--pipeline-parallel-size", str(plan.pipeline)]
    if _CACHE_TYPES[wish.kv] != "auto":
        words += ["--kv-cache-dtype", _CACHE_TYPES[wish.kv]]
    return [*words, "--max-num-seqs", str(max(1, plan.sequences)), *(["--enforce-eager"] if wish.eager else [])]


def _ranks(model: Model, wish: Wish, cards: int) -> tuple[int, int]:
    """Ranks that share each layer, and stages one behind another."""
    heads = max(1, *(model.heads(layer) for layer in range(model.layers)))
    pipeline = wish.pipeline or 1
    most = max(1, min(cards // pipeline, _MOST_RANKS))
    tensor = wish.tensor or next(count for count in range(most, 0, -1) if heads % count == 0)
    if tensor * pipeline > cards:
        template = _("{ranks} ranks need {ranks} GPUs, and this machine has {cards}.")
        raise FitError(template.format(ranks=tensor * pipeline, cards=cards))
    if heads % tensor:
        template = _("vLLM divides heads among ranks, and {heads} heads are not divisible by {ranks}.")
        raise FitError(template.format(heads=heads, ranks=tensor))
    if pipeline > model.layers:
        raise FitError(_("The model has {layers} layers, which is fewer than stages.").format(layers=model.layers))
    return tensor, pipeline


def _share(wish: Wish, row: _Serving, cards: Sequence[Pool]) -> float:
    """The share of each GPU that it takes: no more than what is free, or it refuses to start."""
    if wish.share is not None:
        return wish.share
    free = (
        min(pool.free / pool.total for pool in cards if pool.total and pool.free is not None) if all(pool.total for pool in cards) else 1.0
    )
    return max(0.01, min(row.share, int(free * 100) / 100))


def _stages(layers: int, count: int) -> list[range]:
    ends = [layers * number // count for number in range(count + 1)]
    return [range(begin, end) for begin, end in pairwise(ends)]


def _rank(model: Model, layers: range, wish: Wish, row: _Serving, tensor: int) -> Part:
    """What a rank of a stage holds beside the cache."""
    first, last = layers.start == 0, layers.stop == model.layers
    weights = sum(_sharded(model, weight, tensor) for number in layers for weight in model.parts[number].values())
    for weight in model.tensors:
        if weight.name.startswith("blk.") or not (first or last):
            continue
        begins = weight.name.startswith("token_embd")
        if (first if begins else last) or (begins and model.tied and last):
            weights += _sharded(model, weight, tensor)
    costs = next(cost for cost in tables.rows("engine_memory", "rank", _Rank) if cost.engine == ENGINE)
    graphs = 0 if wish.eager else costs.graph * len(layers)
    return Part(weights=weights, compute=_work(model, row, tensor, last), overhead=costs.bytes + graphs)


def _sharded(model: Model, weight: Tensor, tensor: int) -> int:
    """Bytes of a tensor that a rank has."""
    if tensor == 1 or any(word in weight.name for word in _REPLICATED) or len([size for size in weight.sizes if size > 1]) < 2:
        return weight.bytes
    heads = max(1, model.number("attention.head_count_kv") or 1)
    ranks = min(tensor, heads) if ".attn_k." in weight.name or ".attn_v." in weight.name else tensor
    return -(-weight.bytes // ranks)


def _work(model: Model, row: _Serving, tensor: int, last: bool) -> int:
    """What a step of so many tokens needs meanwhile, as the profile at its start would find."""
    heads, length = model.heads(0) or 1, model.key_length(0)
    inner = max(model.number("feed_forward_length"), model.number("expert_feed_forward_length") * max(1, model.number("expert_used_count")))
    widest = max(3 * inner, 3 * heads * length) // tensor
    scores = min(row.batch, row.sequences) * model.vocabulary * _FLOAT * _SORTED if last else 0
    return max(row.batch * (_STREAMS * model.width + widest) * _HALF, scores)


def _cache_sizes(model: Model, layers: range, kv: str, tensor: int) -> list[tuple[int, bool, int]]:
    """Of each layer that keeps something: bytes of a token, whether it slides, bytes of a sequence."""
    sizes = []
    for number in layers:
        layer: Layer = model.kept[number]
        heads = max(1, model.of_layer("attention.head_count_kv", number, 1) or 1)
        ranks = 1 if model.latent else min(tensor, heads)
        row = _bytes(kv, layer.key_row + layer.value_row) // ranks
        if row or layer.state:
            sizes.append((row, layer.slides, layer.state * _HALF // tensor))
    return sizes


def _bytes(kv: str, count: int) -> int:
    return count if _CACHE_TYPES[kv] == "fp8" else cache_bytes("f16", count)


def _of_sequence(layers: list[tuple[int, bool, int]], context: int, window: int, row: _Serving) -> int:
    """Bytes of a sequence of so many tokens, in whole blocks."""

    def cells(count: int) -> int:
        return -(-count // row.block) * row.block

    return sum(size * cells(min(context, window + row.batch) if slides else context) + state for size, slides, state in layers)


def _sequences(layers: list[tuple[int, bool, int]], room: int, context: int, window: int, row: _Serving) -> int:
    each = _of_sequence(layers, context, window, row)
    return max(0, room) // each if each else row.sequences


def _blocks(layers: list[tuple[int, bool, int]], room: int, row: _Serving) -> int:
    """Blocks of the pool, as in its log: one holds so many tokens of all layers."""
    each = sum(size for size, _slides, _state in layers) * row.block
    return max(0, room) // each if each else 0


def _longest(model: Model, kept: list[list[tuple[int, bool, int]]], rooms: list[int], row: _Serving) -> int | None:
    """The longest sequence that every rank has room for, in whole blocks; None where there is none."""
    low, high = 0, -(-(model.number("context_length") or 1 << 20) // row.block)
    while low < high:
        middle = (low + high + 1) // 2
        roomy = all(_sequences(layers, room, middle * row.block, model.window, row) >= 1 for layers, room in zip(kept, rooms, strict=True))
        low, high = (middle, high) if roomy else (low, middle - 1)
    return min(low * row.block, model.number("context_length") or low * row.block) or None
