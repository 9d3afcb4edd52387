"""Models without a file: the header that a well-known shape would have."""

from collections.abc import Iterator
from math import prod

from rigup.fit.gguf import Header, Tensor
from rigup.fit.mixtures import requantised
from rigup.fit.model import Model
from rigup.fit.quants import block_named
from rigup.knowledge.model_shapes import Shape, file_types

_GAMMA = ("gemma2", "gemma3", "gemma3n")
_NORMED_HEADS = ("qwen3", "qwen3moe", "gemma3", "qwen3next", "lfm2")
_START = 1 << 20


Named = tuple[str, tuple[int, ...]]


def parameters(shape: Shape) -> int:
    """How many weights it has."""
    return sum(prod(sizes) for _name, sizes in _tensors(shape))


def model_of(shape: Shape, file_type: str) -> Model:
    """The model as a file of a type would hold it."""
    half, single = block_named("F16"), block_named("F32")
    tensors, at = [], 0
    for name, sizes in _tensors(shape):
        large = len(sizes) > 1 and name.endswith("weight") and "ffn_gate_inp" not in name and "conv" not in name
        row, count = half if large else single, prod(sizes)
        tensors.append(Tensor(name, sizes, row.number, at, count * row.bytes))
        at += count * row.bytes
    plain = Model(Header(3, _keys(shape), tuple(tensors), _START, _START + at))
    quantised = requantised(plain, file_type)
    keys = {**plain.keys, "general.file_type": next((kind.number for kind in file_types() if kind.name == file_type), 1)}
    return Model(Header(3, keys, quantised, _START, _START + sum(tensor.bytes for tensor in quantised)))


def _keys(shape: Shape) -> dict[str, object]:
    fields: dict[str, object] = {
        "context_length": shape.context,
        "embedding_length": shape.width,
        "block_count": shape.layers,
        "feed_forward_length": shape.inner,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.shared,
        "attention.key_length": shape.length,
        "attention.value_length": shape.length,
        "vocab_size": shape.words,
    }
    if shape.architecture in ("cohere2", "command-r"):
        fields["attention.layer_norm_epsilon"] = 1e-5
    if shape.window:
        fields["attention.sliding_window"] = shape.window
    if shape.experts:
        fields |= {"expert_count": shape.experts, "expert_used_count": shape.used}
    if shape.rank:
        fields |= {
            "attention.kv_lora_rank": shape.rank,
            "rope.dimension_count": shape.turned,
            "attention.key_length": shape.rank + shape.turned,
            "attention.value_length": shape.rank,
            "attention.key_length_mla": shape.plain + shape.turned,
            "attention.value_length_mla": shape.value,
        }
    if shape.state:
        fields |= {
            "ssm.conv_kernel": shape.state.conv,
            "ssm.inner_size": shape.state.inner,
            "ssm.state_size": shape.state.size,
            "ssm.time_step_rank": shape.state.rank,
            "ssm.group_count": shape.state.groups,
        }
    if shape.before:
        fields["shortconv.l_cache"] = shape.before
    whole: dict[str, object] = {f"{shape.architecture}.{name}": value for name, value in fields.items()}
    return {"general.architecture": shape.architecture, "general.name": shape.name, **whole}


def _tensors(shape: Shape) -> Iterator[Named]:
    yield "token_embd.weight", (shape.width, shape.words)
    yield "output_norm.weight", (shape.width,)
    if not shape.tied:
        yield "output.weight", (shape.width, shape.words)
    if shape.factors:
        yield "rope_freqs.weight", (shape.length // 2,)
    for layer in range(shape.layers):
        for name, sizes in _layer(shape, layer):
            yield f"blk.{layer}.{name}", sizes


def _layer(shape: Shape, layer: int) -> Iterator[Named]:
    if shape.architecture != "olmo2":
        yield "attn_norm.weight", (shape.width,)
    if shape.architecture == "mamba":
        yield from _mamba(shape)
        return
    if shape.every and (layer + 1) % shape.every:
        yield from _delta(shape)
    elif shape.attends and layer not in shape.attends:
        yield "shortconv.conv.weight", (shape.before, shape.width)
        yield "shortconv.in_proj.weight", (shape.width, 3 * shape.width)
        yield "shortconv.out_proj.weight", (shape.width, shape.width)
    elif shape.rank:
        yield from _latent(shape)
    else:
        yield from _attention(shape)
    yield from _norms(shape)
    if shape.experts and layer >= shape.dense:
        yield from _experts(shape)
    elif shape.architecture == "phi3":
        yield "ffn_up.weight", (shape.width, 2 * shape.inner)
        yield "ffn_down.weight", (shape.inner, shape.width)
    else:
        yield from _three("ffn_{}.weight", shape.width, shape.inner)


def _three(form: str, width: int, inner: int, *count: int) -> Iterator[Named]:
    yield form.format("gate"), (width, inner, *count)
    yield form.format("up"), (width, inner, *count)
    yield form.format("down"), (inner, width, *count)


def _norms(shape: Shape) -> Iterator[Named]:
    if shape.architecture in _GAMMA:
        names = ["post_attention_norm", "ffn_norm", "post_ffw_norm"]
    elif shape.architecture == "olmo2":
        names = ["post_attention_norm", "post_ffw_norm"]
    elif shape.architecture in ("gpt-oss", "qwen3next"):
        names = ["post_attention_norm"]
    else:
        names = [] if shape.architecture in ("cohere2", "command-r") else ["ffn_norm"]
    for name in names:
        yield f"{name}.weight", (shape.width,)


def _attention(shape: Shape) -> Iterator[Named]:
    width, wide, narrow = shape.width, shape.heads * shape.length, shape.shared * shape.length
    if shape.architecture == "phi3":
        yield "attn_qkv.weight", (width, wide + 2 * narrow)
    else:
        yield "attn_q.weight", (width, wide * (2 if shape.architecture == "qwen3next" else 1))
        yield "attn_k.weight", (width, narrow)
        yield "attn_v.weight", (width, narrow)
    yield "attn_output.weight", (wide, width)
    if shape.architecture in ("qwen2", "gpt-oss"):
        yield from ((f"attn_{name}.bias", (size,)) for name, size in (("q", wide), ("k", narrow), ("v", narrow)))
    if shape.architecture in _NORMED_HEADS:
        yield from ((f"attn_{name}_norm.weight", (shape.length,)) for name in "qk")
    if shape.architecture == "olmo2":
        yield from ((f"attn_{name}_norm.weight", (size,)) for name, size in (("q", wide), ("k", narrow)))
    if shape.architecture == "gpt-oss":
        yield "attn_output.bias", (width,)
        yield "attn_sinks.weight", (shape.heads,)


def _latent(shape: Shape) -> Iterator[Named]:
    width, rank, heads = shape.width, shape.rank, shape.heads
    each = shape.plain + shape.turned
    if shape.asked:
        yield "attn_q_a_norm.weight", (shape.asked,)
        yield "attn_q_a.weight", (width, shape.asked)
        yield "attn_q_b.weight", (shape.asked, heads * each)
    else:
        yield "attn_q.weight", (width, heads * each)
    yield "attn_kv_a_norm.weight", (rank,)
    yield "attn_kv_a_mqa.weight", (width, rank + shape.turned)
    yield "attn_k_b.weight", (shape.plain, rank, heads)
    yield "attn_v_b.weight", (rank, shape.value, heads)
    yield "attn_output.weight", (heads * shape.value, width)


def _delta(shape: Shape) -> Iterator[Named]:
    if shape.state is None:
        return
    keys, values = shape.state.size * shape.state.groups, shape.state.size * shape.state.rank
    yield "attn_qkv.weight", (shape.width, 2 * keys + values)
    yield "attn_gate.weight", (shape.width, values)
    yield "ssm_conv1d.weight", (shape.state.conv, 2 * keys + values)
    yield "ssm_dt.bias", (shape.state.rank,)
    yield "ssm_a", (shape.state.rank,)
    yield "ssm_ba.weight", (shape.width, 2 * shape.state.rank)
    yield "ssm_norm.weight", (shape.state.size,)
    yield "ssm_out.weight", (values, shape.width)


def _mamba(shape: Shape) -> Iterator[Named]:
    if shape.state is None:
        return
    inner, size, rank = shape.state.inner, shape.state.size, shape.state.rank
    yield "ssm_in.weight", (shape.width, 2 * inner)
    yield "ssm_conv1d.weight", (shape.state.conv, inner)
    yield "ssm_conv1d.bias", (inner,)
    yield "ssm_x.weight", (inner, rank + 2 * size)
    yield "ssm_dt.weight", (rank, inner)
    yield "ssm_dt.bias", (inner,)
    yield "ssm_a", (size, inner)
    yield "ssm_d", (inner,)
    yield "ssm_out.weight", (inner, shape.width)


def _experts(shape: Shape) -> Iterator[Named]:
    width, count = shape.width, shape.experts
    yield "ffn_gate_inp.weight", (width, count)
    yield from _three("ffn_{}_exps.weight", width, shape.narrow, count)
    if shape.architecture == "gpt-oss":
        yield "ffn_gate_inp.bias", (count,)
        yield from (
            (f"ffn_{name}_exps.bias", (size, count)) for name, size in (("gate", shape.narrow), ("up", shape.narrow), ("down", width))
        )
    if shape.corrected:
        yield "exp_probs_b.bias", (count,)
    if shape.common:
        yield from _three("ffn_{}_shexp.weight", width, shape.narrow * shape.common)
    if shape.beside:
        yield "ffn_gate_inp_shexp.weight", (width,)
        yield from _three("ffn_{}_shexp.weight", width, shape.beside)
