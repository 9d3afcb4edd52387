"""What is measured of llama.cpp: a small model that is made here, on each device, against the same in Python.

The model has random weights and a vocabulary of bytes. What it says next is compared number by number.
"""

from __future__ import annotations

import json
import math
import os
import random
import struct
import tempfile
from array import array
from typing import Any, Callable, Iterator

import xllamacpp
from rigup_probe import Skip

_WIDTH, _HEADS, _LAYERS, _INNER, _VOCABULARY, _CONTEXT = 64, 4, 2, 96, 288, 4096
_EPSILON, _BASE = 1e-5, 10000.0
_PROMPT = [1, 75, 112, 98, 35, 200, 41, 76]
_GROUP = 32  # bytes to which the file's parts are aligned
_TEXT, _ARRAY, _U32, _F32, _I32 = 8, 9, 4, 6, 5  # GGUF's numbers of types
_SHOWN = 20  # tokens whose probabilities are asked for
Weights = Any


def about() -> dict[str, Any]:
    """The build."""
    return {"version": xllamacpp.__version__, "build": {"system": str(xllamacpp.get_system_info())[:500]}}


def devices() -> list[Any]:
    """All that llama.cpp lists, the CPU last."""
    told = [one for one in xllamacpp.get_device_info() if one["type"].name.endswith("GPU")]
    found = [{"id": str(one["name"]).lower(), "type": "gpu", "index": index, "name": one["description"], "vendor": _vendor(one)}
             for index, one in enumerate(told)]  # fmt: skip
    return [*found, {"id": "cpu", "type": "cpu", "vendor": ""}]


def _vendor(one: dict[str, Any]) -> str:
    name = (str(one["name"]) + " " + str(one["description"])).lower()
    words = {
        "cuda": "nvidia",
        "rocm": "amd",
        "metal": "apple",
        "nvidia": "nvidia",
        "amd": "amd",
        "radeon": "amd",
        "intel": "intel",
    }
    return next((maker for word, maker in words.items() if word in name), "")


def checks(device: dict[str, Any], full: bool) -> Iterator[tuple[str, Callable[[dict[str, Any]], Any]]]:  # noqa: ARG001
    """What is measured on a device."""
    yield "next-token", next_token


def next_token(device: dict[str, Any]) -> dict[str, Any]:
    """The probabilities of the next token, on the device and in Python."""
    weights = _weights()
    wanted = _reference(weights, _PROMPT)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        with open(path, "wb") as file:
            file.write(_gguf(weights))
        got, taken = _asked(path, device)
    off = [abs(one - wanted[token]) for token, one in got.items()]
    best = sorted(range(_VOCABULARY), key=lambda token: -wanted[token])[:3]
    wrong = [] if len(got) >= _SHOWN and best[0] in got else ["the likeliest token"]
    told = {"errors": {"half float16": max(off, default=math.inf)}, "wrong": wrong}
    asked = 2 * 4 * _LAYERS * _WIDTH * _CONTEXT // 4  # half of what the cache takes in float16
    if device["type"] != "cpu" and taken < asked:
        told["elsewhere"] = ["the model (" + str(taken) + " bytes were taken on the device)"]
    return told


def _asked(path: str, device: dict[str, Any]) -> tuple[dict[int, float], int]:
    """The logarithms of the likeliest tokens' probabilities, and bytes that the device gave."""
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.n_ctx, params.warmup, params.n_parallel = _CONTEXT, False, 1
    params.n_gpu_layers = 0 if device["type"] == "cpu" else 99
    if device["type"] != "cpu":
        params.main_gpu, params.split_mode = device["index"], xllamacpp.llama_split_mode.LLAMA_SPLIT_MODE_NONE
    before = _free(device)
    server = xllamacpp.Server(params)
    taken = before - _free(device)
    request = {"prompt": _PROMPT, "n_predict": 1, "n_probs": _SHOWN, "temperature": 0.0, "cache_prompt": False}
    answer = server.handle_completions(request)
    answer = json.loads(answer) if isinstance(answer, (str, bytes)) else answer
    said = _probabilities(answer)
    if not said:
        raise RuntimeError("no probabilities in: " + json.dumps(answer, default=str)[:500])
    return said, taken


def _probabilities(answer: Any) -> dict[int, float]:
    """From the server's own form, or that of OpenAI's interface."""
    found = answer.get("completion_probabilities") or []
    if not found:
        choice = (answer.get("choices") or [{}])[0]
        found = (choice.get("logprobs") or {}).get("content") or []
    listed = found[0].get("top_logprobs") if found else []
    return {int(one["id"]): float(one["logprob"]) for one in listed or []}


def _free(device: dict[str, Any]) -> int:
    told = [one for one in xllamacpp.get_device_info() if str(one["name"]).lower() == device["id"]]
    return int(told[0]["memory_free"]) if told else 0


# -- the model


def _weights() -> Weights:
    """Random, the same each time; each as rows."""
    draw = random.Random(3)  # noqa: S311  (weights)

    def matrix(rows: int, columns: int) -> list[list[float]]:
        size = 1.5 / math.sqrt(columns)
        return [array("f", [draw.gauss(0, size) for _ in range(columns)]).tolist() for _ in range(rows)]

    made = {"token_embd.weight": matrix(_VOCABULARY, _WIDTH), "output_norm.weight": [[1.0] * _WIDTH],
            "output.weight": matrix(_VOCABULARY, _WIDTH)}  # fmt: skip
    for layer in range(_LAYERS):
        name = "blk." + str(layer) + "."
        made.update(
            {
                name + one: matrix(_WIDTH, _WIDTH)
                for one in ("attn_q.weight", "attn_k.weight", "attn_v.weight", "attn_output.weight")
            }
        )
        made.update({name + one: matrix(_INNER, _WIDTH) for one in ("ffn_gate.weight", "ffn_up.weight")})
        made.update({name + one: [[1.0] * _WIDTH] for one in ("attn_norm.weight", "ffn_norm.weight")})
        made[name + "ffn_down.weight"] = matrix(_WIDTH, _INNER)
    return made


def _times(rows: list[list[float]], vector: list[float]) -> list[float]:
    return [math.fsum(a * b for a, b in zip(row, vector)) for row in rows]


def _normed(vector: list[float]) -> list[float]:
    size = math.sqrt(math.fsum(one * one for one in vector) / len(vector) + _EPSILON)
    return [one / size for one in vector]


def _turned(vector: list[float], place: int) -> list[float]:
    """Pairs of numbers, turned by the place."""
    size, turned = _WIDTH // _HEADS, list(vector)
    for at in range(0, _WIDTH, 2):
        angle = place / _BASE ** ((at % size) / size)
        x, y = vector[at], vector[at + 1]
        turned[at], turned[at + 1] = (
            x * math.cos(angle) - y * math.sin(angle),
            x * math.sin(angle) + y * math.cos(angle),
        )
    return turned


def _reference(weights: Weights, tokens: list[int]) -> list[float]:
    """The logarithm of each token's probability after these."""
    states = [list(weights["token_embd.weight"][token]) for token in tokens]
    for layer in range(_LAYERS):
        held = {
            name.split(".", 2)[2]: one for name, one in weights.items() if name.startswith("blk." + str(layer) + ".")
        }
        states = _fed(held, _attended(held, states))
    said = _times(weights["output.weight"], _normed(states[-1]))
    most = max(said)
    total = most + math.log(math.fsum(math.exp(one - most) for one in said))
    return [one - total for one in said]


def _attended(held: Weights, states: list[list[float]]) -> list[list[float]]:
    """Each state with what its heads find in those before it."""
    normed = [_normed(one) for one in states]
    query, key = (
        [_turned(_times(held[name], one), place) for place, one in enumerate(normed)]
        for name in ("attn_q.weight", "attn_k.weight")
    )
    value = [_times(held["attn_v.weight"], one) for one in normed]
    size, found = _WIDTH // _HEADS, []
    for place, state in enumerate(states):
        mixed = []  # type: list[float]
        for head in (slice(at, at + size) for at in range(0, _WIDTH, size)):
            scores = [
                math.fsum(a * b for a, b in zip(query[place][head], one[head])) / math.sqrt(size)
                for one in key[: place + 1]
            ]
            shares = [math.exp(one - max(scores)) for one in scores]
            mixed += [
                math.fsum(share * one[at] for share, one in zip(shares, value)) / math.fsum(shares)
                for at in range(_WIDTH)[head]
            ]
        found.append([a + b for a, b in zip(state, _times(held["attn_output.weight"], mixed))])
    return found


def _fed(held: Weights, states: list[list[float]]) -> list[list[float]]:
    """Each state after its own part of the layer."""
    found = []
    for state in states:
        normed = _normed(state)
        gates, ups = _times(held["ffn_gate.weight"], normed), _times(held["ffn_up.weight"], normed)
        inner = [gate / (1 + math.exp(-gate)) * up for gate, up in zip(gates, ups)]
        found.append([a + b for a, b in zip(state, _times(held["ffn_down.weight"], inner))])
    return found


# -- its file


def _gguf(weights: Weights) -> bytes:
    """The model as a file: what it is, where each part begins, the parts."""
    facts = _facts()
    heads, body = [], bytearray()
    for name, rows in weights.items():
        sizes = [len(rows[0])] if len(rows) == 1 else [len(rows[0]), len(rows)]
        heads.append(
            _text(name)
            + struct.pack("<I", len(sizes))
            + struct.pack(f"<{len(sizes)}Q", *sizes)
            + struct.pack("<IQ", 0, len(body))
        )
        body += b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
        body += bytes(-len(body) % _GROUP)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(heads), len(facts)) + b"".join(facts) + b"".join(heads)
    return head + bytes(-len(head) % _GROUP) + bytes(body)


def _facts() -> list[bytes]:
    whole = {"context_length": _CONTEXT, "embedding_length": _WIDTH, "block_count": _LAYERS, "feed_forward_length": _INNER,
             "attention.head_count": _HEADS, "attention.head_count_kv": _HEADS, "rope.dimension_count": _WIDTH // _HEADS,
             "vocab_size": _VOCABULARY}  # fmt: skip
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += ["piece" + str(number) for number in range(_VOCABULARY - len(pieces))]
    kinds = [2, 3, 3, *[6] * 256]
    kinds += [1] * (_VOCABULARY - len(kinds))
    return [
        _text("general.architecture") + struct.pack("<I", _TEXT) + _text("llama"),
        _text("general.name") + struct.pack("<I", _TEXT) + _text("made to verify"),
        *(_text("llama." + name) + struct.pack("<II", _U32, value) for name, value in whole.items()),
        _text("llama.attention.layer_norm_rms_epsilon") + struct.pack("<If", _F32, _EPSILON),
        _text("llama.rope.freq_base") + struct.pack("<If", _F32, _BASE),
        _text("tokenizer.ggml.model") + struct.pack("<I", _TEXT) + _text("llama"),
        _list("tokenizer.ggml.tokens", _TEXT, [_text(piece) for piece in pieces]),
        _list("tokenizer.ggml.scores", _F32, [struct.pack("<f", -number) for number in range(_VOCABULARY)]),
        _list("tokenizer.ggml.token_type", _I32, [struct.pack("<i", kind) for kind in kinds]),
        *(_text("tokenizer.ggml." + name) + struct.pack("<II", _U32, value)
          for name, value in (("bos_token_id", 1), ("eos_token_id", 2), ("unknown_token_id", 0))),
    ]  # fmt: skip


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _list(name: str, kind: int, items: list[bytes]) -> bytes:
    return _text(name) + struct.pack("<IIQ", _ARRAY, kind, len(items)) + b"".join(items)


__all__ = ["Skip", "about", "checks", "devices"]
