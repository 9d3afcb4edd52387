"""Writes a small model that was trained to rank texts as GGUF. Run by an interpreter that has torch.

    train_rank.py OUT.gguf [STEPS]

It says how likely a text holds the word that is asked for, as Qwen3's rerankers do: two labels, of which the first is yes,
after the last token. Vocabulary and file are those of `train_tiny.py`, and so is what it does with STEPS.
"""

import random
import sys

import torch
from torch import nn
from torch.nn import functional
from train_tiny import HEADS, LAYERS, SIDE, WIDER, WIDTH, WORDS, Layer, Vocabulary, byte_pairs, keep, kept, write

TEMPLATE = "<|im_start|> {query}<|im_end|> {document}<|im_end|>"


def _turned(values: torch.Tensor) -> torch.Tensor:
    """Rotary positions of the two halves, as llama.cpp has them for this architecture."""
    angle = torch.arange(values.shape[-2])[:, None] * (10000.0 ** (-torch.arange(0, SIDE, 2) / SIDE))[None]
    cos, sin = angle.cos(), angle.sin()
    first, second = values.chunk(2, -1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


class RankLayer(Layer):
    """Queries and keys are normed, each head by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.attn_q_norm, self.attn_k_norm = nn.RMSNorm(SIDE, 1e-5), nn.RMSNorm(SIDE, 1e-5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What it adds."""
        normed = self.attn_norm(x)
        q, k, v = (part(normed).unflatten(-1, (HEADS, SIDE)).transpose(1, 2) for part in (self.attn_q, self.attn_k, self.attn_v))
        q, k = _turned(self.attn_q_norm(q)), _turned(self.attn_k_norm(k))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.attn_output(seen.transpose(1, 2).flatten(-2))
        normed = self.ffn_norm(x)
        return x + self.ffn_down(functional.silu(self.ffn_gate(normed)) * self.ffn_up(normed))


class Ranker(nn.Module):
    """The whole model."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.token_embd = nn.Embedding(size, WIDTH)
        nn.init.normal_(self.token_embd.weight, std=0.5)
        self.blk = nn.ModuleList(RankLayer() for _ in range(LAYERS))
        self.output_norm = nn.RMSNorm(WIDTH, 1e-5)
        self.cls = nn.ModuleDict({"output": nn.Linear(WIDTH, 2, bias=False)})

    def forward(self, tokens: torch.Tensor, last: torch.Tensor) -> torch.Tensor:
        """Scores of yes and no behind the last token of each row."""
        x = self.token_embd(tokens)
        for layer in self.blk:
            x = layer(x)
        found: torch.Tensor = self.cls["output"](self.output_norm(x[torch.arange(len(x)), last]))
        return found


def batch(vocabulary: Vocabulary, chance: random.Random, count: int) -> "tuple[torch.Tensor, torch.Tensor, torch.Tensor]":
    """Words with texts, where each ends, and whether it holds its word (0 is yes)."""
    rows, answers = [], []
    for _ in range(count):
        document, query = chance.sample(WORDS, chance.randint(1, 3)), chance.choice(WORDS)
        if chance.random() < 0.5:
            query = chance.choice(document)
        text = TEMPLATE.replace("{query}", query).replace("{document}", " ".join(document))
        rows.append(vocabulary.encoded(text))
        answers.append(int(query not in document))
    longest = max(map(len, rows))
    tokens = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return tokens, torch.tensor([len(row) - 1 for row in rows]), torch.tensor(answers)


def trained(vocabulary: Vocabulary, most: int) -> Ranker:
    """A model that tells words that stand there from others."""
    torch.manual_seed(7)
    chance, network = random.Random(7), Ranker(len(vocabulary.tokens))
    optimizer = torch.optim.AdamW(network.parameters(), lr=5e-3, betas=(0.9, 0.98), weight_decay=0.01)
    error = 1.0
    for number in range(most):
        tokens, last, answers = batch(vocabulary, chance, 64)
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * min(1, (number + 1) / 100)
        loss = functional.cross_entropy(network(tokens, last), answers)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        error = 0.97 * error + 0.03 * loss.item()
        if number % 100 == 99 or number + 1 in (10, most):
            print(number + 1, round(error, 4), flush=True)
        if error < 0.08:
            break
    return network


def header(vocabulary: Vocabulary) -> "dict[str, object]":
    """The file's header: its pooling says that it ranks."""
    shared = byte_pairs(vocabulary)
    keys = {name.replace("llama.", "qwen3."): value for name, value in shared.items()}
    return keys | {
        "general.architecture": "qwen3",
        "qwen3.pooling_type": 4,
        "qwen3.classifier.output_labels": ["yes", "no"],
        "qwen3.attention.key_length": SIDE,
        "qwen3.attention.value_length": SIDE,
        "qwen3.feed_forward_length": WIDER,
        "tokenizer.chat_template.rerank": TEMPLATE,
    }


if __name__ == "__main__":
    world = Vocabulary()
    if len(sys.argv) > 2:
        network: nn.Module = trained(world, int(sys.argv[2]))
        keep(network, sys.argv[1])
    else:
        network = kept(Ranker(len(world.tokens)), __file__)
    write(sys.argv[1], header(world), dict(network.state_dict()))
