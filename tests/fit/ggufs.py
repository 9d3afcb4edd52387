"""GGUF files for tests: headers followed by a hole, of any shape, written by the standard library alone."""

import random
import struct
from pathlib import Path

U32, FLOAT, TEXT, LIST = 4, 6, 8, 9
F32, F16 = 0, 1
SIZES = {F32: 4, F16: 2}


def text(told):
    raw = told.encode() if isinstance(told, str) else told
    return struct.pack("<Q", len(raw)) + raw


def value(told):
    if isinstance(told, str):
        return struct.pack("<I", TEXT) + text(told)
    if isinstance(told, float):
        return struct.pack("<If", FLOAT, told)
    if isinstance(told, list):
        if told and isinstance(told[0], str):
            return struct.pack("<IIQ", LIST, TEXT, len(told)) + b"".join(map(text, told))
        return struct.pack("<IIQ", LIST, U32, len(told)) + b"".join(struct.pack("<I", one) for one in told)
    return struct.pack("<II", U32, told)


def info(name, sizes, kind, offset):
    return text(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes) + struct.pack("<IQ", kind, offset)


def header(keys, tensors):
    """Bytes of a header, and how many bytes of data would follow."""
    parts, at = [], 0
    for name, sizes, kind in tensors:
        count = 1
        for one in sizes:
            count *= one
        parts.append(info(name, sizes, kind, at))
        at += -(-count * SIZES[kind] // 32) * 32
    told = b"".join(text(key) + value(one) for key, one in keys.items())
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + told + b"".join(parts)
    return head + bytes(-len(head) % 32), at


def write(path: Path, keys, tensors) -> Path:
    """A header and a hole."""
    head, size = header(keys, tensors)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    return path


def write_filled(path: Path, keys, tensors) -> Path:
    """The same with small random half-precision numbers, of which none is infinite."""
    head, size = header(keys, tensors)
    chance = random.Random(7)
    block = b"".join(bytes((chance.randrange(256), chance.choice((0x20, 0x24, 0xA0, 0xA4)))) for _n in range(1 << 15))
    with path.open("wb") as file:
        file.write(head)
        for _number in range(-(-size // len(block))):
            file.write(block)
        file.truncate(len(head) + size)
    return path


def llama(width=2048, layers=16, heads=32, shared=8, inner=8192, words=128256, context=131072, length=64, tied=True, **more):
    """Keys and tensors of a model of llama's kind."""
    keys = {
        "general.architecture": "llama",
        "general.name": "tiny test",
        "general.file_type": 1,
        "llama.context_length": context,
        "llama.embedding_length": width,
        "llama.block_count": layers,
        "llama.feed_forward_length": inner,
        "llama.attention.head_count": heads,
        "llama.attention.head_count_kv": shared,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.attention.key_length": length,
        "llama.attention.value_length": length,
        "llama.vocab_size": words,
        "llama.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "no_vocab",
        **more,
    }
    tensors = [("token_embd.weight", (width, words), F16), ("output_norm.weight", (width,), F32)]
    tensors += [] if tied else [("output.weight", (width, words), F16)]
    for layer in range(layers):
        tensors += layer_of(layer, width, heads * length, shared * length, inner)
    return keys, tensors


def layer_of(layer, width, wide, narrow, inner):
    """The tensors of one dense layer."""
    name = f"blk.{layer}."
    return [
        (name + "attn_norm.weight", (width,), F32),
        (name + "attn_q.weight", (width, wide), F16),
        (name + "attn_k.weight", (width, narrow), F16),
        (name + "attn_v.weight", (width, narrow), F16),
        (name + "attn_output.weight", (wide, width), F16),
        (name + "ffn_norm.weight", (width,), F32),
        (name + "ffn_gate.weight", (width, inner), F16),
        (name + "ffn_up.weight", (width, inner), F16),
        (name + "ffn_down.weight", (inner, width), F16),
    ]


def sliding(layers=26, width=1152, heads=4, shared=1, inner=6912, words=262144, length=256, window=512):
    """Keys and tensors of a model of Gemma 3's kind, in which five of six layers slide."""
    keys, tensors = llama(width, layers, heads, shared, inner, words, 32768, length)
    keys = {key.replace("llama.", "gemma3."): one for key, one in keys.items()}
    keys |= {"general.architecture": "gemma3", "gemma3.attention.sliding_window": window}
    for layer in range(layers):
        name = f"blk.{layer}."
        tensors += [
            (name + "attn_q_norm.weight", (length,), F32),
            (name + "attn_k_norm.weight", (length,), F32),
            (name + "post_attention_norm.weight", (width,), F32),
            (name + "post_ffw_norm.weight", (width,), F32),
        ]
    return keys, tensors


def experts(width=2048, layers=8, heads=32, shared=4, inner=768, words=151936, length=128, count=128, used=8):
    """Keys and tensors of a model of Qwen 3's kind with experts."""
    keys, _tensors = llama(width, layers, heads, shared, inner, words, 40960, length, tied=False)
    keys = {key.replace("llama.", "qwen3moe."): one for key, one in keys.items()}
    keys |= {
        "general.architecture": "qwen3moe",
        "qwen3moe.expert_count": count,
        "qwen3moe.expert_used_count": used,
        "qwen3moe.expert_feed_forward_length": inner,
    }
    tensors = [("token_embd.weight", (width, words), F16), ("output_norm.weight", (width,), F32), ("output.weight", (width, words), F16)]
    for layer in range(layers):
        name = f"blk.{layer}."
        tensors += [one for one in layer_of(layer, width, heads * length, shared * length, inner) if ".ffn_" not in one[0]]
        tensors += [
            (name + "attn_q_norm.weight", (length,), F32),
            (name + "attn_k_norm.weight", (length,), F32),
            (name + "ffn_norm.weight", (width,), F32),
            (name + "ffn_gate_inp.weight", (width, count), F32),
            (name + "ffn_gate_exps.weight", (width, inner, count), F16),
            (name + "ffn_up_exps.weight", (width, inner, count), F16),
            (name + "ffn_down_exps.weight", (inner, width, count), F16),
        ]
    return keys, tensors
