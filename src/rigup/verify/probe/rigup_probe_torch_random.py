"""Random numbers: how they are distributed, and that a seed means the same each time."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import torch
from rigup_probe_compare import misdistributed
from rigup_probe_torch_compare import elsewhere, unsupported

_COUNT = 20_011  # numbers of each further draw; none is off by more than six standard deviations once in 10^9 runs


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers: the same from one seed, others from another, distributed as they should be."""
    first, again, other = (_drawn(device, seed) for seed in (1, 1, 2))
    normal, uniform, whole = first
    statistics = {
        "mean": normal.mean().item(),
        "deviation": normal.std().item(),
        "least": uniform.min().item(),
        "most": uniform.max().item(),
        "middle": uniform.mean().item(),
        "kept": whole.float().mean().item() / 4.5,
    }
    same = all(torch.equal(drawn, two) for drawn, two in zip(first, again))
    differs = not any(torch.equal(drawn, two) for drawn, two in zip(first, other))
    away = elsewhere(device, normal=torch.randn(3, device=device["id"]), uniform=torch.rand(3, device=device["id"]))
    wrong = [*misdistributed(*(drawn.tolist() for drawn in first)), *_further(device)]
    return {"statistics": statistics, "repeats": same, "differs": differs, "elsewhere": away, "wrong": wrong}


numbers.__name__ = "random"


def _drawn(device: dict[str, Any], seed: int) -> list[Any]:
    torch.manual_seed(seed)
    streams = (
        torch.randn(100_000, device=device["id"]),
        torch.rand(100_000, device=device["id"]),
        torch.randint(0, 10, (100_000,), device=device["id"]),
    )
    return [drawn.cpu() for drawn in streams]


def _further(device: dict[str, Any]) -> list[str]:
    """What is wrong with draws of other kinds; what this device lacks is left out."""
    return [problem for check in (_permutations, _weighted, _coins, _in_place) for problem in _of(check, device)]


def _of(check: Callable[[str], Iterator[str]], device: dict[str, Any]) -> list[str]:
    try:
        return list(check(device["id"]))
    except (RuntimeError, NotImplementedError) as why:
        if unsupported(why):
            return []
        raise


def _permutations(device: str) -> Iterator[str]:
    for count in (2, 17, 1031, 40_009):
        order = torch.randperm(count, device=device).cpu().tolist()
        if sorted(order) != list(range(count)):
            yield "randperm of " + str(count)
        if count > 17 and (order == list(range(count)) or order == torch.randperm(count, device=device).cpu().tolist()):
            yield "randperm's order of " + str(count)


def _weighted(device: str) -> Iterator[str]:
    """By weights, of which some are zero; with and without putting back."""
    weights = [0.1, 0.0, 0.6, 0.3]
    given = torch.tensor(weights, dtype=torch.float32).to(device)
    drawn = torch.multinomial(given, _COUNT, replacement=True).cpu().tolist()
    if any(_off(drawn.count(at), weight) for at, weight in enumerate(weights)):
        yield "multinomial"
    rows = torch.multinomial(given.expand(64, 4).contiguous(), 3).cpu().tolist()
    if any(sorted(row) != [0, 2, 3] for row in rows):
        yield "multinomial without putting back"


def _coins(device: str) -> Iterator[str]:
    for kind in ("float32", "float16", "bfloat16"):
        for share in (0.125, 0.75):
            drawn = torch.empty(_COUNT, dtype=getattr(torch, kind)).to(device).bernoulli_(share).cpu().tolist()
            if {*drawn} != {0.0, 1.0} or _off(sum(drawn), share):
                yield "bernoulli_ in " + kind
    drawn = torch.bernoulli(torch.tensor([0.25] * _COUNT).to(device)).cpu().tolist()
    if {*drawn} != {0.0, 1.0} or _off(sum(drawn), 0.25):
        yield "bernoulli"


def _off(count: float, share: float) -> bool:
    return abs(count / _COUNT - share) > 6 * math.sqrt(share * (1 - share) / _COUNT)


def _in_place(device: str) -> Iterator[str]:
    """Into a tensor that is there, with bounds and spreads of its own; one draw after the other is another."""
    for kind in ("float32", "float16", "bfloat16"):
        tensor = torch.zeros(_COUNT, dtype=getattr(torch, kind)).to(device)
        uniform, again = (tensor.uniform_(2, 6).cpu().tolist() for _ in range(2))
        if not 2 <= min(uniform) <= max(uniform) <= 6 or abs(math.fsum(uniform) / _COUNT - 4) > 0.06:
            yield "uniform_ in " + kind
        if uniform == again:
            yield "uniform_ gives the same twice in " + kind
        normal = tensor.normal_(3, 2).cpu().tolist()
        middle = math.fsum(normal) / _COUNT
        spread = math.sqrt(math.fsum((number - middle) ** 2 for number in normal) / _COUNT)
        if abs(middle - 3) > 0.1 or abs(spread - 2) > 0.08:
            yield "normal_ in " + kind
