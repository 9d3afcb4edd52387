"""Run by an interpreter with torch: traced and real peaks of training steps, as JSON lines."""

import json
import sys

import torch
from torch import nn
from torch.distributed._tools.mem_tracker import MemTracker
from torch.utils.checkpoint import checkpoint

from rigup.fit.module import _optimizer, largest_batch, measured, module, step


class Checkpointed(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        for part in self.parts:
            x = checkpoint(part, x, use_reentrant=False)
        return x


class Language(nn.Module):
    def __init__(self, words, width, layers, heads):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        one = nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, dropout=0.1)
        self.body = nn.TransformerEncoder(one, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.head = nn.GRU(64, 128, 2, batch_first=True), nn.Linear(128, 10)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)

    def forward(self, x):
        q, k, v = self.qkv(x).view(*x.shape[:2], 3, 8, 32).permute(2, 0, 3, 1, 4)
        found = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out(found.transpose(1, 2).reshape(x.shape))


def dense(width, layers):
    return [nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _n in range(layers)]


def conv(wide):
    return nn.Sequential(
        nn.Conv2d(3, wide, 3, padding=1),
        nn.BatchNorm2d(wide),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(wide, 2 * wide, 3, padding=1),
        nn.BatchNorm2d(2 * wide),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * wide, 10),
    )


def noise(*sizes):
    return torch.randn(*sizes)


CASES = {
    "dense": (lambda: nn.Sequential(*dense(256, 4)), lambda: noise(64, 256), {}),
    "dense, sgd": (lambda: nn.Sequential(*dense(256, 4)), lambda: noise(64, 256), {"optimizer": "sgd"}),
    "dense, momentum": (lambda: nn.Sequential(*dense(256, 4)), lambda: noise(64, 256), {"optimizer": "momentum"}),
    "dense, adagrad": (lambda: nn.Sequential(*dense(256, 4)), lambda: noise(64, 256), {"optimizer": "adagrad"}),
    "dense, checkpointed": (lambda: Checkpointed(dense(256, 6)), lambda: noise(512, 256), {}),
    "dense, bfloat16 casts": (lambda: nn.Sequential(*dense(256, 4)), lambda: noise(512, 256), {"autocast": torch.bfloat16}),
    "dense in bfloat16": (lambda: nn.Sequential(*dense(256, 4)).bfloat16(), lambda: noise(64, 256).bfloat16(), {}),
    "convolutions": (lambda: conv(16), lambda: noise(8, 3, 32, 32), {}),
    "convolutions, momentum": (lambda: conv(32), lambda: noise(4, 3, 32, 32), {"optimizer": "momentum"}),
    "convolutions, bfloat16 casts": (lambda: conv(16), lambda: noise(8, 3, 32, 32), {"autocast": torch.bfloat16}),
    "language model": (lambda: Language(2000, 128, 2, 4), lambda: torch.randint(0, 2000, (4, 64)), {}),
    "language model, sgd": (lambda: Language(4000, 64, 3, 2), lambda: torch.randint(0, 4000, (2, 128)), {"optimizer": "sgd"}),
    "recurrent": (Recurrent, lambda: noise(8, 20, 64), {}),
    "attention": (Attention, lambda: noise(4, 128, 256), {}),
    "attention, checkpointed": (lambda: Checkpointed([Attention() for _n in range(4)]), lambda: noise(4, 128, 256), {}),
    "frozen but for the last": (lambda: frozen(nn.Sequential(*dense(256, 4))), lambda: noise(64, 256), {}),
}


def frozen(net):
    for part in net[:-1]:
        part.requires_grad_(False)
    return net


def judged(net, given, optimizer="adamw", autocast=None):
    """The peak of two steps that really run, by torch's own tracker; it knows no frozen parameters."""
    if not all(one.requires_grad for one in net.parameters()):
        return measured(net, (given,), optimizer=optimizer, autocast=autocast).peak
    made, tracker = _optimizer(optimizer, list(net.parameters())), MemTracker()
    tracker.track_external(net, made, given)
    with tracker:
        for _number in range(2):
            step(net, (given,), made, None, autocast)
            tracker.reset_mod_stats()
    return sum(told["Total"] for told in tracker.get_tracker_snapshot("peak").values())


def main():
    torch.manual_seed(3)
    torch.set_num_threads(1)
    for name, (make, batch, how) in CASES.items():
        net, given = make(), batch()
        before = [one.clone() for one in net.parameters()]
        traced = module(net, (given,), **how)
        untouched = all(torch.equal(one, two) for one, two in zip(before, net.parameters(), strict=True))
        print(
            json.dumps(
                {"name": name, "traced": traced.peak, "parts": traced.parts, "untouched": untouched, "real": judged(net, given, **how)}
            )
        )
    with torch.device("meta"):
        huge = nn.Sequential(*dense(16384, 8))
        print(json.dumps({"name": "huge", "traced": module(huge, (torch.empty(1, 16384),)).peak}))
    net = nn.Sequential(*dense(64, 2))
    room = module(net, (noise(100, 64),)).peak
    print(json.dumps({"name": "largest", "found": largest_batch(net, lambda count: (noise(count, 64),), room, most=1000)}))


if __name__ == "__main__":
    sys.exit(main())
