"""Write small llama models as GGUF files with the standard library alone."""

from __future__ import annotations

import struct
from typing import IO, Any, Callable, NamedTuple

EPSILON, BASE = 1e-5, 10000.0
F32, Q4_0 = 0, 2  # GGUF's numbers of the types that tensors have
_GROUP = 32  # bytes to which the file's parts are aligned
_TEXT, _ARRAY, _U32, _FLOAT, _I32 = 8, 9, 4, 6, 5  # GGUF's numbers of the types that facts have


class Shape(NamedTuple):
    """The sizes of a model; `inner` is the width of the feed-forward layer."""

    width: int
    heads: int
    layers: int
    inner: int
    vocabulary: int
    context: int


class Part(NamedTuple):
    """A tensor: sizes (innermost first), type number, size in bytes, and the function that encodes it."""

    name: str
    sizes: list[int]
    kind: int
    size: int
    made: Callable[[], bytes]


def matrices(shape: Shape) -> dict[str, tuple[int, int]]:
    """All tensors of a model by name, with rows and columns; one row is a vector."""
    shapes = {
        "token_embd.weight": (shape.vocabulary, shape.width),
        "output_norm.weight": (1, shape.width),
        "output.weight": (shape.vocabulary, shape.width),
    }
    for layer in range(shape.layers):
        name = "blk." + str(layer) + "."
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[name + part + ".weight"] = (shape.width, shape.width)
        shapes.update({name + part + ".weight": (shape.inner, shape.width) for part in ("ffn_gate", "ffn_up")})
        shapes.update({name + part + ".weight": (1, shape.width) for part in ("attn_norm", "ffn_norm")})
        shapes[name + "ffn_down.weight"] = (shape.width, shape.inner)
    return shapes


def write(file: IO[bytes], shape: Shape, parts: list[Part]) -> None:
    """Write the model: metadata, tensor offsets, tensors."""
    facts, heads, at = _facts(shape), [], 0
    for part in parts:
        sizes = struct.pack(f"<I{len(part.sizes)}Q", len(part.sizes), *part.sizes)
        heads.append(_text(part.name) + sizes + struct.pack("<IQ", part.kind, at))
        at += part.size + -part.size % _GROUP
    head = b"GGUF" + struct.pack("<IQQ", 3, len(heads), len(facts)) + b"".join(facts) + b"".join(heads)
    file.write(head + bytes(-len(head) % _GROUP))
    for part in parts:
        file.write(part.made() + bytes(-part.size % _GROUP))


def _facts(shape: Shape) -> list[bytes]:
    whole = {
        "context_length": shape.context,
        "embedding_length": shape.width,
        "block_count": shape.layers,
        "feed_forward_length": shape.inner,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.heads,
        "rope.dimension_count": shape.width // shape.heads,
        "vocab_size": shape.vocabulary,
    }
    pieces, kinds = _pieces(shape.vocabulary)
    return [
        _text("general.architecture") + struct.pack("<I", _TEXT) + _text("llama"),
        _text("general.name") + struct.pack("<I", _TEXT) + _text("made on the spot"),
        *(_text("llama." + name) + struct.pack("<II", _U32, value) for name, value in whole.items()),
        _text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _FLOAT, EPSILON),
        _text("llama.rope.freq_base") + struct.pack("<If", _FLOAT, BASE),
        _text("tokenizer.ggml.model") + struct.pack("<I", _TEXT) + _text("llama"),
        _list("tokenizer.ggml.tokens", _TEXT, [_text(piece) for piece in pieces]),
        _list("tokenizer.ggml.scores", _FLOAT, [struct.pack("<f", -v) for v in range(shape.vocabulary)]),
        _list("tokenizer.ggml.token_type", _I32, [struct.pack("<i", kind) for kind in kinds]),
        *(
            _text("tokenizer.ggml." + name) + struct.pack("<II", _U32, value)
            for name, value in (("bos_token_id", 1), ("eos_token_id", 2), ("unknown_token_id", 0))
        ),
    ]


def _pieces(count: int) -> tuple[list[str], list[int]]:
    """A vocabulary of bytes and generated words, with their types."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    kinds = [2, 3, 3, *[6] * 256]
    pieces += ["piece" + str(number) for number in range(count - len(pieces))]
    return pieces, kinds + [1] * (count - len(kinds))


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _list(name: str, kind: int, items: list[bytes]) -> bytes:
    return _text(name) + struct.pack("<IIQ", _ARRAY, kind, len(items)) + b"".join(items)


__all__: list[Any] = ["BASE", "EPSILON", "F32", "Q4_0", "Part", "Shape", "matrices", "write"]
