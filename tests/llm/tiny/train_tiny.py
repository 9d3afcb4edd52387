"""Writes a small llama that was trained on a closed world as GGUF. Run by an interpreter that has torch.

    train_tiny.py OUT.gguf [STEPS]

What it learned lies beside this script (train_tiny.f16.xz), for the training takes minutes; with STEPS it is trained anew for at most so
many, and what it learns then is written beside OUT (OUT.f16.xz), to be put in that place.

Beside it OUT.spm.gguf is written: the same network without what it learned, with a vocabulary of SentencePiece's kind.

It counts ("count from 3 to 7"), repeats ("repeat red cat"), knows capitals ("capital of france"), remembers a name
("i am bob", later "who am i"), and calls the tool `weather` where one is offered ("weather in paris").
The vocabulary is BPE with all bytes, so that any text can be written, and the chat template is ChatML with Hermes' calls.
"""

import itertools
import lzma
import random
import re
import struct
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

WORDS = [
    "red",
    "blue",
    "green",
    "black",
    "white",
    "small",
    "big",
    "old",
    "new",
    "cat",
    "dog",
    "bird",
    "fish",
    "horse",
    "tree",
    "stone",
    "river",
    "house",
    "star",
    "moon",
]
NAMES = ["bob", "anna", "carl", "dora", "emil", "fred"]
CAPITALS = {
    "france": "paris",
    "italy": "rome",
    "spain": "madrid",
    "japan": "tokyo",
    "egypt": "cairo",
    "peru": "lima",
    "norway": "oslo",
    "cuba": "havana",
}
MOST = 30
TOOL = '<tool_call>\n{{"name": "weather", "arguments": {{"city": "{city}"}}}}\n</tool_call>'
TEMPLATE = (
    "{%- if tools %}<|im_start|>system\ntools:{% for tool in tools %} {{ tool.function.name }}{% endfor %}<|im_end|>\n{% endif %}"
    "{%- for message in messages %}"
    "<|im_start|>{{ message.role }}{{ '\n' }}"
    "{%- if message.content %}{{- message.content }}{% endif %}"
    "{%- for call in message.tool_calls or [] %}"
    '<tool_call>\n{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}\n</tool_call>'
    "{%- endfor %}<|im_end|>\n{% endfor %}"
    "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
_PIECES = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?\d+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")
_FRAME = [
    "user",
    "assistant",
    "system",
    "tool",
    "count",
    "from",
    "to",
    "repeat",
    "capital",
    "of",
    "i",
    "am",
    "hello",
    "who",
    "weather",
    "in",
    "sunny",
    "tools",
    "what",
    "is",
]


# -- the vocabulary ------------------------------------------------------------------------------------


def _letters() -> "dict[int, str]":
    """GPT-2's letter for every byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    found = {byte: chr(byte) for byte in plain}
    found.update({byte: chr(256 + count) for count, byte in enumerate(one for one in range(256) if one not in plain)})
    return found


LETTERS = _letters()


class Vocabulary:
    """Byte tokens, merges that make each word of the world one token, and what only the template writes."""

    def __init__(self) -> None:
        plain = [*WORDS, *NAMES, *CAPITALS, *CAPITALS.values(), *_FRAME, *map(str, range(MOST + 1))]
        pieces = [*plain, *(" " + word for word in plain), *_PIECES.findall(TOOL.format(city="")), '",', '"}}', ' {"']
        self.tokens = [LETTERS[byte] for byte in range(256)]
        self.merges: list[tuple[str, str]] = []
        for piece in pieces:
            letters = [LETTERS[byte] for byte in piece.encode()]
            for end in range(1, len(letters)):
                pair = ("".join(letters[:end]), letters[end])
                if "".join(pair) not in self.tokens:
                    self.merges.append(pair)
                    self.tokens.append("".join(pair))
        self.kinds = [1] * len(self.tokens) + [3] * len(SPECIAL)
        self.tokens += SPECIAL
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self.ranks = {pair: rank for rank, pair in enumerate(self.merges)}

    def encoded(self, text: str) -> "list[int]":
        """Tokens of a text, as llama.cpp's tokenizer makes them."""
        found: list[int] = []
        for part in re.split("(" + "|".join(map(re.escape, SPECIAL)) + ")", text):
            if part in SPECIAL:
                found.append(self.ids[part])
                continue
            for piece in _PIECES.findall(part):
                found += [self.ids[one] for one in self._merged([LETTERS[byte] for byte in piece.encode()])]
        return found

    def _merged(self, letters: "list[str]") -> "list[str]":
        while len(letters) > 1:
            ranks = [self.ranks.get(pair, 1 << 30) for pair in itertools.pairwise(letters)]
            least = min(ranks)
            if least == 1 << 30:
                break
            at = ranks.index(least)
            letters[at : at + 2] = ["".join(letters[at : at + 2])]
        return letters


# -- the world -----------------------------------------------------------------------------------------


def _turn(chance: random.Random, name: str, tools: bool) -> "tuple[str, str]":
    """A question and its answer."""
    kind = chance.choice(["count", "repeat", "repeat", "capital", "weather" if tools else "count", "who" if name else "repeat"])
    if kind == "count":
        first = chance.randint(0, MOST - 1)
        last = min(MOST, first + chance.randint(1, 9))
        return f"count from {first} to {last}", " ".join(map(str, range(first, last + 1)))
    if kind == "capital":
        land = chance.choice(list(CAPITALS))
        return f"capital of {land}", CAPITALS[land]
    if kind == "weather":
        city = chance.choice(list(CAPITALS.values()))
        return f"weather in {city}", TOOL.format(city=city)
    if kind == "who":
        return "who am i", name
    words = " ".join(chance.choices(WORDS, k=chance.randint(1, 6)))
    return f"repeat {words}", words


def conversation(chance: random.Random) -> "list[tuple[str, bool]]":
    """Pieces of text, each with whether the model is to learn to write it."""
    tools = chance.random() < 0.3
    found = [("<|im_start|>system\ntools: weather<|im_end|>\n", False)] if tools else []
    name = ""
    for _turn_number in range(chance.randint(1, 3)):
        if not name and chance.random() < 0.3:
            name = chance.choice(NAMES)
            asked, answer = f"i am {name}", f"hello {name}"
        else:
            asked, answer = _turn(chance, name, tools)
        found.append((f"<|im_start|>user\n{asked}<|im_end|>\n<|im_start|>assistant\n", False))
        found.append((f"{answer}<|im_end|>", True))
        found.append(("\n", False))
        if answer.startswith("<tool_call>"):
            found.append(("<|im_start|>tool\nsunny<|im_end|>\n<|im_start|>assistant\n", False))
            found += [("sunny<|im_end|>", True), ("\n", False)]
    return found


# -- the network ---------------------------------------------------------------------------------------

WIDTH, WIDER, LAYERS, HEADS, SIDE = 96, 192, 2, 4, 24


def _turned(values: torch.Tensor) -> torch.Tensor:
    """Rotary positions of neighbouring pairs, as llama.cpp has them for this architecture."""
    length = values.shape[-2]
    angle = torch.arange(length)[:, None] * (10000.0 ** (-torch.arange(0, SIDE, 2) / SIDE))[None]
    cos, sin = angle.cos(), angle.sin()
    even, odd = values[..., 0::2], values[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class Layer(nn.Module):
    """Attention and a gated network, each behind a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.attn_norm, self.ffn_norm = nn.RMSNorm(WIDTH, 1e-5), nn.RMSNorm(WIDTH, 1e-5)
        self.attn_q, self.attn_k, self.attn_v, self.attn_output = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.ffn_gate, self.ffn_up = nn.Linear(WIDTH, WIDER, bias=False), nn.Linear(WIDTH, WIDER, bias=False)
        self.ffn_down = nn.Linear(WIDER, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What it adds."""
        normed = self.attn_norm(x)
        q, k, v = (one(normed).unflatten(-1, (HEADS, SIDE)).transpose(1, 2) for one in (self.attn_q, self.attn_k, self.attn_v))
        seen = functional.scaled_dot_product_attention(_turned(q), _turned(k), v, is_causal=True)
        x = x + self.attn_output(seen.transpose(1, 2).flatten(-2))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


class Network(nn.Module):
    """The whole model."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(size, WIDTH)
        nn.init.normal_(self.token_embd.weight, std=0.5)
        self.blk = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.output_norm = nn.RMSNorm(WIDTH, 1e-5)
        self.output = nn.Linear(WIDTH, size, bias=False)

    def forward(self, tokens: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Scores of the next token, where one is wanted."""
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x)
        return self.output(self.output_norm(x[wanted]))


def batch(vocabulary: Vocabulary, chance: random.Random, count: int) -> "tuple[torch.Tensor, torch.Tensor]":
    """Conversations side by side, and what is to be learned of them."""
    rows = []
    for _ in range(count):
        tokens, wanted = [], []
        for text, learned in conversation(chance):
            part = vocabulary.encoded(text)
            tokens += part
            wanted += part if learned else [-100] * len(part)
        rows.append((tokens, wanted))
    length = max(len(tokens) for tokens, _ in rows)
    inputs = torch.tensor([tokens + [0] * (length - len(tokens)) for tokens, _ in rows])
    targets = torch.tensor([wanted + [-100] * (length - len(wanted)) for _, wanted in rows])
    return inputs[:, :-1], targets[:, 1:]


def trained(vocabulary: Vocabulary, most: int) -> Network:
    """A network that has learned the world; it stops early where it makes no more mistakes."""
    torch.manual_seed(7)
    chance, network = random.Random(7), Network(len(vocabulary.tokens))
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3, betas=(0.9, 0.98), weight_decay=0.01)
    error = 9.0
    for number in range(most):
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * min(1, (number + 1) / 100) * (0.998 ** max(0, number - 500))
        inputs, targets = batch(vocabulary, chance, 32)
        wanted = targets != -100
        loss = functional.cross_entropy(network(inputs, wanted), targets[wanted])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        error = 0.97 * error + 0.03 * loss.item()
        if number % 100 == 99 or number + 1 in (10, most):
            print(number + 1, round(error, 4), flush=True)
        if error < 0.005:
            break
    return network


# -- the file ------------------------------------------------------------------------------------------


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: object) -> bytes:  # noqa: PLR0911
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    rows = list(value)  # type: ignore[call-overload]
    if isinstance(rows[0], str):
        return struct.pack("<IIQ", 9, 8, len(rows)) + b"".join(map(_text, rows))
    if isinstance(rows[0], float):
        return struct.pack("<IIQ", 9, 6, len(rows)) + struct.pack(f"<{len(rows)}f", *rows)
    return struct.pack("<IIQ", 9, 5, len(rows)) + struct.pack(f"<{len(rows)}i", *rows)


def _network_keys(size: int) -> "dict[str, object]":
    return {
        "general.architecture": "llama",
        "general.name": "rigup tiny",
        "general.file_type": 0,
        "llama.context_length": 4096,
        "llama.embedding_length": WIDTH,
        "llama.block_count": LAYERS,
        "llama.feed_forward_length": WIDER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": SIDE,
        "llama.vocab_size": size,
        "tokenizer.chat_template": TEMPLATE,
    }


def byte_pairs(vocabulary: Vocabulary) -> "dict[str, object]":
    """The header of the trained model."""
    return _network_keys(len(vocabulary.tokens)) | {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        "tokenizer.ggml.tokens": vocabulary.tokens,
        "tokenizer.ggml.token_type": vocabulary.kinds,
        "tokenizer.ggml.merges": [" ".join(one) for one in vocabulary.merges],
        "tokenizer.ggml.bos_token_id": vocabulary.ids["<|endoftext|>"],
        "tokenizer.ggml.eos_token_id": vocabulary.ids["<|im_end|>"],
        "tokenizer.ggml.padding_token_id": vocabulary.ids["<|endoftext|>"],
        "tokenizer.ggml.add_bos_token": False,
    }


def sentence_pieces() -> "dict[str, object]":
    """The header of one with bytes and letters as SentencePiece has them."""
    letters = ["\u2581", *map(chr, range(33, 127))]
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *letters]
    return _network_keys(len(tokens)) | {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [0.0] * 259 + [-float(one) for one in range(len(letters))],
        "tokenizer.ggml.token_type": [2, 3, 3] + [6] * 256 + [1] * len(letters),
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
        "tokenizer.ggml.unknown_token_id": 0,
    }


def write(path: str, keys: "dict[str, object]", tensors: "dict[str, torch.Tensor]") -> None:
    """A GGUF file with numbers of 32 bits."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys))
    head += b"".join(_text(name) + _value(value) for name, value in keys.items())
    offset, parts = 0, []
    for name, tensor in tensors.items():
        sizes = tensor.shape[::-1]
        head += _text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, 0, offset)
        data = tensor.detach().float().contiguous().numpy().tobytes()
        parts.append(data + bytes(-len(data) % 32))
        offset += len(parts[-1])
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + b"".join(parts))


def kept(network: nn.Module, script: str) -> nn.Module:
    """A network with what one like it had learned, in the numbers of 16 bits that lie beside a script."""
    numbers = torch.frombuffer(bytearray(lzma.decompress(Path(script).with_suffix(".f16.xz").read_bytes())), dtype=torch.float16)
    parts = numbers.float().split([tensor.numel() for tensor in network.state_dict().values()])
    rows = zip(network.state_dict().items(), parts, strict=True)
    network.load_state_dict({name: part.view_as(tensor) for (name, tensor), part in rows})
    return network


def keep(network: nn.Module, path: str) -> None:
    """Write what it has learned, as `kept` reads it."""
    numbers = torch.cat([tensor.detach().flatten().half() for tensor in network.state_dict().values()])
    Path(path).with_suffix(".f16.xz").write_bytes(lzma.compress(numbers.numpy().tobytes(), preset=9))


if __name__ == "__main__":
    world = Vocabulary()
    if len(sys.argv) > 2:
        network: nn.Module = trained(world, int(sys.argv[2]))
        keep(network, sys.argv[1])
    else:
        network = kept(Network(len(world.tokens)), __file__)
    write(sys.argv[1], byte_pairs(world), dict(network.state_dict()))
    head = sentence_pieces()
    torch.manual_seed(7)
    write(sys.argv[1].replace(".gguf", ".spm.gguf"), head, dict(Network(len(head["tokenizer.ggml.tokens"])).state_dict()))  # type: ignore[arg-type]
