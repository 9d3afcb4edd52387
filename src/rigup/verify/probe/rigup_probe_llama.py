"""Checks of llama.cpp: a small generated model on each device against the same model in Python.

The model has random weights and a vocabulary of bytes. What it says next is compared number by number.
"""

from __future__ import annotations

import math
import os
import random
import struct
import tempfile
from array import array
from typing import Any, Callable, Iterator

from rigup_probe_gguf import BASE, EPSILON, F32, Part, Shape, matrices, write
from rigup_probe_llama_engines import engine

_SHAPE = Shape(width=64, heads=4, layers=2, inner=96, vocabulary=288, context=4096)
_PROMPT = [1, 75, 112, 98, 35, 200, 41, 76]
Weights = Any
Device = Any


def about() -> dict[str, Any]:
    """The build."""
    return dict(engine().about())


def devices() -> list[Device]:
    """All that llama.cpp lists, the CPU last."""
    return list(engine().devices())


def checks(device: Device, full: bool) -> Iterator[tuple[str, Callable[[Device], Any]]]:  # noqa: ARG001
    """The checks of a device."""
    yield "next-token", next_token


def next_token(device: Device) -> dict[str, Any]:
    """The probabilities of the next token, on the device and in Python."""
    weights = _weights()
    wanted = _reference(weights, _PROMPT)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.gguf")
        with open(path, "wb") as file:
            write(file, _SHAPE, [_part(name, rows) for name, rows in weights.items()])
        got, taken = engine().next_token(path, device, _PROMPT, _SHAPE.context)
    off = [abs(probability - wanted[token]) for token, probability in got.items()]
    best = max(range(_SHAPE.vocabulary), key=wanted.__getitem__)
    measured = {"errors": {"half float16": max(off, default=math.inf)}}  # type: dict[str, Any]
    measured["wrong"] = [] if best in got else ["the likeliest token"]
    asked = 2 * 4 * _SHAPE.layers * _SHAPE.width * _SHAPE.context // 4  # half of what the cache takes in float16
    if device["type"] != "cpu" and taken < asked:
        measured["elsewhere"] = ["the model (" + str(taken) + " bytes were taken on the device)"]
    return measured


def _part(name: str, rows: list[list[float]]) -> Part:
    sizes = [len(rows[0])] if len(rows) == 1 else [len(rows[0]), len(rows)]
    body = b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows)
    return Part(name, sizes, F32, len(body), lambda: body)


# -- the model, and what it ought to say


def _weights() -> Weights:
    """Random, the same each time; each as rows."""
    draw = random.Random(3)  # noqa: S311  (weights)

    def matrix(rows: int, columns: int) -> list[list[float]]:
        size = 1.5 / math.sqrt(columns)
        return [array("f", [draw.gauss(0, size) for _ in range(columns)]).tolist() for _ in range(rows)]

    return {name: [[1.0] * columns] if rows == 1 else matrix(rows, columns) for name, (rows, columns) in matrices(_SHAPE).items()}


def _times(rows: list[list[float]], vector: list[float]) -> list[float]:
    return [math.fsum(a * b for a, b in zip(row, vector)) for row in rows]


def _normed(vector: list[float]) -> list[float]:
    size = math.sqrt(math.fsum(number * number for number in vector) / len(vector) + EPSILON)
    return [number / size for number in vector]


def _turned(vector: list[float], place: int) -> list[float]:
    """Pairs of numbers, turned by the place."""
    size, turned = _SHAPE.width // _SHAPE.heads, list(vector)
    for at in range(0, _SHAPE.width, 2):
        angle = place / BASE ** ((at % size) / size)
        x, y = vector[at], vector[at + 1]
        turned[at], turned[at + 1] = (x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle))
    return turned


def _reference(weights: Weights, tokens: list[int]) -> list[float]:
    """The logarithm of each token's probability after these."""
    states = [list(weights["token_embd.weight"][token]) for token in tokens]
    for layer in range(_SHAPE.layers):
        held = {name.split(".", 2)[2]: tensor for name, tensor in weights.items() if name.startswith("blk." + str(layer) + ".")}
        states = _fed(held, _attended(held, states))
    logits = _times(weights["output.weight"], _normed(states[-1]))
    most = max(logits)
    total = most + math.log(math.fsum(math.exp(logit - most) for logit in logits))
    return [logit - total for logit in logits]


def _attended(held: Weights, states: list[list[float]]) -> list[list[float]]:
    """The attention of each state to itself and those before it."""
    normed = [_normed(state) for state in states]
    query, key = (
        [_turned(_times(held[name], state), place) for place, state in enumerate(normed)] for name in ("attn_q.weight", "attn_k.weight")
    )
    value = [_times(held["attn_v.weight"], state) for state in normed]
    size, found = _SHAPE.width // _SHAPE.heads, []
    for place, state in enumerate(states):
        mixed = []  # type: list[float]
        for head in (slice(at, at + size) for at in range(0, _SHAPE.width, size)):
            scores = [math.fsum(a * b for a, b in zip(query[place][head], earlier[head])) / math.sqrt(size) for earlier in key[: place + 1]]
            shares = [math.exp(score - max(scores)) for score in scores]
            mixed += [
                math.fsum(share * row[at] for share, row in zip(shares, value)) / math.fsum(shares) for at in range(_SHAPE.width)[head]
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
