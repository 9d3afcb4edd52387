"""A projector by which the tiny model sees one thing: whether a picture is red or blue.

It is made and not trained: a picture's mean colour comes out of one patch, and is told to the model as the token of its word.
"""

import struct
import zlib
from array import array
from pathlib import Path

from rigup.fit.gguf import read_header
from rigup.fit.source import Local

_SIDE, _WIDTH, _SHARP = 14, 32, 40.0
COLOURS = {"red": (255, 0, 0), "blue": (0, 0, 255)}


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _value(value: object) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    return struct.pack("<IIQ3f", 9, 6, 3, *value)  # type: ignore[misc]


def _embeddings(model: Path) -> "list[array[float]]":
    """Rows of the colours' words, in their order; the blank before a word is a token of its own."""
    data = model.read_bytes()
    header = read_header(Local(model))
    tensor = next(row for row in header.tensors if row.name == "token_embd.weight")
    width = tensor.sizes[0]
    at = data.index(_text("tokenizer.ggml.tokens")) + len(_text("tokenizer.ggml.tokens")) + 4 + 12
    names = []
    for _number in range(tensor.sizes[1]):
        (length,) = struct.unpack_from("<Q", data, at)
        names.append(data[at + 8 : at + 8 + length].decode())
        at += 8 + length
    start = header.start + tensor.offset
    rows = (names.index(colour) for colour in COLOURS)
    return [array("f", data[start + 4 * width * row : start + 4 * width * (row + 1)]) for row in rows]


def write_projector(model: Path, path: Path) -> None:
    """The projector as a GGUF file."""
    words = _embeddings(model)
    size = len(words[0])
    zeros, ones = array("f", bytes(4 * _WIDTH)), array("f", [1.0] * _WIDTH)
    square = array("f", bytes(4 * _WIDTH * _WIDTH))
    patch = array("f", bytes(4 * 3 * _SIDE**2 * _WIDTH))
    for place, colour in enumerate((0, 2)):  # red and blue; row-major: output, channel, height, width
        begin = (place * 3 + colour) * _SIDE**2
        patch[begin : begin + _SIDE**2] = array("f", [_SHARP / _SIDE**2] * _SIDE**2)
    same = array("f", [float(row == column) for row in range(_WIDTH) for column in range(_WIDTH)])
    told = array("f", bytes(4 * size * _WIDTH))
    for colour, word in enumerate(words):
        for row, number in enumerate(word):
            told[row * _WIDTH + colour] = number / _SHARP
    tensors = {
        "v.patch_embd.weight": ((_SIDE, _SIDE, 3, _WIDTH), patch),
        "v.position_embd.weight": ((_WIDTH, 1), zeros),
        "mm.0.weight": ((_WIDTH, _WIDTH), same),
        "mm.0.bias": ((_WIDTH,), zeros),
        "mm.2.weight": ((_WIDTH, size), told),
        "mm.2.bias": ((size,), array("f", bytes(4 * size))),
    }
    for layer in range(2):
        name = f"v.blk.{layer}."
        for part in ("attn_q", "attn_k", "attn_v", "attn_out", "ffn_up", "ffn_down"):
            tensors |= {f"{name}{part}.weight": ((_WIDTH, _WIDTH), square), f"{name}{part}.bias": ((_WIDTH,), zeros)}
        for part in ("ln1", "ln2"):
            tensors |= {f"{name}{part}.weight": ((_WIDTH,), ones), f"{name}{part}.bias": ((_WIDTH,), zeros)}
    keys: dict[str, object] = {
        "general.architecture": "clip",
        "general.file_type": 0,
        "clip.has_vision_encoder": True,
        "clip.projector_type": "mlp",
        "clip.use_gelu": True,
        "clip.vision.image_size": _SIDE,
        "clip.vision.patch_size": _SIDE,
        "clip.vision.embedding_length": _WIDTH,
        "clip.vision.feed_forward_length": _WIDTH,
        "clip.vision.block_count": 2,
        "clip.vision.attention.head_count": 2,
        "clip.vision.attention.layer_norm_epsilon": 1e-5,
        "clip.vision.projection_dim": size,
        "clip.vision.image_mean": (0.0, 0.0, 0.0),
        "clip.vision.image_std": (1.0, 1.0, 1.0),
    }
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(_text(name) + _value(value) for name, value in keys.items())
    offset, parts = 0, []
    for name, (sizes, numbers) in tensors.items():
        head += _text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, offset)
        data = numbers.tobytes()
        parts.append(data + bytes(-len(data) % 32))
        offset += len(parts[-1])
    path.write_bytes(head + bytes(-len(head) % 32) + b"".join(parts))


def picture(colour: str, side: int = 28) -> bytes:
    """A PNG of one colour."""
    row = b"\0" + bytes(COLOURS[colour]) * side

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row * side)) + chunk(b"IEND", b"")
