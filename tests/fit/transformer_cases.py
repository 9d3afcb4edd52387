"""Run by an interpreter with torch: real training steps of small models of named kinds, as JSON lines."""

import itertools
import json
import sys
from types import SimpleNamespace

import module_cases
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Norm(nn.Module):
    """As transformers writes it."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        kind, x = x.dtype, x.float()
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)).to(kind)


def turned(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Layer(nn.Module):
    def __init__(self, shape, flash):
        super().__init__()
        self.shape, self.flash = shape, flash
        wide, narrow, width = shape.heads * shape.length, shape.shared * shape.length, shape.width
        bias = shape.architecture == "qwen2"
        self.q, self.k, self.v = (nn.Linear(width, out, bias=bias) for out in (wide, narrow, narrow))
        self.o = nn.Linear(wide, width, bias=False)
        self.gate, self.up = nn.Linear(width, shape.inner, bias=False), nn.Linear(width, shape.inner, bias=False)
        self.down = nn.Linear(shape.inner, width, bias=False)
        self.first, self.second = Norm(width), Norm(width)
        self.of_heads = nn.ModuleList([Norm(shape.length), Norm(shape.length)] if shape.architecture == "qwen3" else [])

    def forward(self, x, cos, sin):
        batch, count = x.shape[:2]
        normed, shape = self.first(x), self.shape
        q, k, v = (part(normed).view(batch, count, -1, shape.length) for part in (self.q, self.k, self.v))
        if self.of_heads:
            q, k = self.of_heads[0](q), self.of_heads[1](k)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        q, k = turned(q, cos, sin), turned(k, cos, sin)
        k, v = (one.repeat_interleave(shape.heads // shape.shared, 1) for one in (k, v))
        if self.flash:
            found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(2, 3) * shape.length**-0.5
            scores = scores + torch.full((count, count), float("-inf")).triu(1).to(scores.dtype)
            found = nn.functional.softmax(scores, -1, dtype=torch.float32).to(q.dtype) @ v
        x = x + self.o(found.transpose(1, 2).reshape(batch, count, -1))
        normed = self.second(x)
        return x + self.down(nn.functional.silu(self.gate(normed)) * self.up(normed))


class Language(nn.Module):
    def __init__(self, shape, wish):
        super().__init__()
        self.shape, self.wish = shape, wish
        self.embed = nn.Embedding(shape.words, shape.width)
        self.layers = nn.ModuleList(Layer(shape, wish.flash_attn) for _n in range(shape.layers))
        self.norm, self.head = Norm(shape.width), nn.Linear(shape.width, shape.words, bias=False)
        if shape.tied:
            self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        place = torch.arange(tokens.shape[1])[:, None] * torch.logspace(0, -4, self.shape.length // 2)[None]
        cos, sin = (torch.cat((one, one), -1).to(x.dtype) for one in (place.cos(), place.sin()))
        for layer in self.layers:
            x = layer(x, cos, sin) if self.wish.kept else checkpoint(layer, x, cos, sin, use_reentrant=False)
        return nn.functional.cross_entropy(self.head(self.norm(x)).float().flatten(0, 1), tokens.flatten())


class Adapted(nn.Module):
    """A frozen linear layer with LoRA's two matrices beside it."""

    def __init__(self, base, rank):
        super().__init__()
        self.base = base
        self.one = nn.Linear(base.in_features, rank, bias=False, dtype=base.weight.dtype)
        self.two = nn.Linear(rank, base.out_features, bias=False, dtype=base.weight.dtype)

    def forward(self, x):
        return self.base(x) + self.two(self.one(x)) * 2.0


def adapted(net, rank):
    net.requires_grad_(False)
    for layer in net.layers:
        for name in ("q", "k", "v", "o", "gate", "up", "down"):
            setattr(layer, name, Adapted(getattr(layer, name), rank))
    return net


def shape(kind, **more):
    told = {
        "name": kind,
        "architecture": kind,
        "size": "",
        "names": [],
        "width": 128,
        "layers": 4,
        "heads": 4,
        "shared": 2,
        "inner": 384,
        "words": 512,
        "length": 32,
        "context": 4096,
        "tied": False,
    }
    return {**told, **more}


SHAPES = [shape("llama"), shape("qwen3", tied=True, layers=6), shape("qwen2", width=192, heads=6, inner=512, words=2000)]


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    ways = ((True, True, 4, 128), (False, True, 4, 128), (True, False, 2, 128))
    full = itertools.product(["full"], SHAPES, ("fp32", "bf16", "mixed"), ("adamw", "sgd"), ways)
    lora = itertools.product(["lora"], SHAPES[:1], ("fp32", "bf16"), ("adamw",), ways[:2])
    for kind, one, precision, optimizer, (kept, flash, samples, context) in itertools.chain(full, lora):
        wish = {"optimizer": optimizer, "precision": precision, "samples": samples, "context": context, "kept": kept}
        wish |= {"flash_attn": flash, "many": False, "kind": kind, "rank": 8}
        net = Language(SimpleNamespace(**one), SimpleNamespace(**wish))
        net = net.bfloat16() if precision == "bf16" else net
        net = adapted(net, 8) if kind == "lora" else net
        tokens = torch.randint(0, one["words"], (samples, context))
        real = module_cases.judged(net, tokens, optimizer, torch.bfloat16 if precision == "mixed" else None)
        print(json.dumps({"shape": one, "wish": wish, "real": real}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
