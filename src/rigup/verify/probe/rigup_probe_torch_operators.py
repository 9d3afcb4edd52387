"""Convolution, attention, reductions, sorting, indexing, random numbers: against the CPU in float64."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
from rigup_probe_torch_compare import elsewhere, error, forth_and_back, pseudo, to
from torch.nn import functional


def convolution(device: dict[str, Any]) -> dict[str, Any]:
    """Forward and backward; strides, groups, and sizes that suit no tile."""
    pictures, kernels, grouped = pseudo(1, 2, 8, 17, 23), pseudo(2, 12, 8, 3, 3), pseudo(3, 16, 2, 3, 3)
    with _in_full(device):
        plain = forth_and_back(lambda x, k: functional.conv2d(x, k, padding=1), device, pictures, kernels)
        strided = forth_and_back(
            lambda x, k: functional.conv2d(x, k, stride=2, dilation=2, groups=4), device, pictures, grouped
        )
        wide = forth_and_back(lambda x, k: functional.conv_transpose2d(x, k, stride=2), device, pictures, pseudo(4, 8, 3, 2, 2))  # fmt: skip
    return _all(plain=plain, strided=strided, transposed=wide)


def _in_full(device: dict[str, Any]) -> Any:
    """All bits of float32: cuDNN takes TF32 unless somebody says otherwise."""
    if device["type"] != "cuda":
        return contextlib.nullcontext()
    return torch.backends.cudnn.flags(enabled=True, allow_tf32=False)


def attention(device: dict[str, Any]) -> dict[str, Any]:
    """Forward and backward, with and without a causal mask; in half precision on a GPU."""
    query, key, value = (pseudo(seed, 2, 4, 48, 32) for seed in (1, 2, 3))
    told = {}
    for name, causal in (("plain", False), ("causal", True)):
        told[name] = forth_and_back(
            lambda q, k, v, c=causal: functional.scaled_dot_product_attention(q, k, v, is_causal=c),
            device, query, key, value,
        )  # fmt: skip
    measured = _all(**told)
    if device["type"] != "cpu":
        measured["half"] = _attention_in_half(device, query, key, value)
    return measured


def _attention_in_half(device: dict[str, Any], *inputs: Any) -> dict[str, Any]:
    """What the fused kernels give, where the device has any."""
    told = {}
    for dtype in (torch.float16, torch.bfloat16):
        try:
            got = functional.scaled_dot_product_attention(*to(device, *inputs, dtype=dtype), is_causal=True)
        except (RuntimeError, TypeError) as why:
            if not any(word in str(why) for word in ("not implemented", "not supported", "No available kernel")):
                raise
            continue
        rounded = [one.to(dtype).double() for one in inputs]
        wanted = functional.scaled_dot_product_attention(*rounded, is_causal=True)
        told[str(dtype).replace("torch.", "")] = error(got, wanted)
    return told


def reductions(device: dict[str, Any]) -> dict[str, Any]:
    """Sums and their like over each dimension, with gradients where there are any."""
    values = pseudo(1, 37, 1025)
    named = {
        "mean": lambda x: x.mean(0), "std": lambda x: x.std(1), "logsumexp": lambda x: x.logsumexp(1),
        "softmax": lambda x: x.softmax(1), "norm": lambda x: x.norm(dim=0), "cumsum": lambda x: x.cumsum(1),
        "layer norm": lambda x: functional.layer_norm(x, x.shape[1:]), "amax": lambda x: x.amax(1),
    }  # fmt: skip
    measured = _all(**{name: forth_and_back(function, device, values) for name, function in named.items()})
    there = to(device, values)
    exact = {"argmax": there.argmax(1).cpu().tolist() == values.float().argmax(1).tolist(),
             "count": int((there > 0).sum()) == int((values.float() > 0).sum()),
             "whole": int(torch.arange(100_001, device=device["id"]).sum()) == 5_000_050_000,
             "any": bool((there > 9).any()) == bool((values > 9).any())}  # fmt: skip
    measured["wrong"] = [name for name, right in exact.items() if not right]
    return measured


def sorting(device: dict[str, Any]) -> dict[str, Any]:
    """Sorted values and where they were: exact, for nothing is reckoned."""
    values = pseudo(1, 50, 1000).float()
    values[:, ::7] = 0.25  # equal ones
    there = values.to(device["id"])
    up, order = there.sort(dim=1)
    best, places = there.topk(9, dim=1)
    found = {
        "sort": torch.equal(up.cpu(), values.sort(dim=1)[0]),
        "order": torch.equal(values.gather(1, order.cpu()), up.cpu()),
        "permutation": torch.equal(order.cpu().sort(1)[0], torch.arange(1000).expand(50, -1)),
        "topk": torch.equal(best.cpu(), values.sort(dim=1, descending=True)[0][:, :9]),
        "places": torch.equal(values.gather(1, places.cpu()), best.cpu()),
        "large": _sorts_many(device),
    }
    wrong = [name for name, right in found.items() if not right]
    return {"wrong": wrong, "elsewhere": elsewhere(device, sorted=up, order=order, best=best)}


def _sorts_many(device: dict[str, Any]) -> bool:
    many = torch.randperm(200_003, generator=torch.Generator().manual_seed(3))
    return bool(torch.equal(many.to(device["id"]).sort()[0].cpu(), torch.arange(200_003)))


def indexing(device: dict[str, Any]) -> dict[str, Any]:
    """Take, put, gather, add, mask, embed: exact, and the gradient of an embedding."""
    draw = torch.Generator().manual_seed(4)
    table = torch.randint(-99, 99, (100, 16), generator=draw)
    rows = torch.randint(0, 100, (300,), generator=draw)
    there, at = table.to(device["id"]), rows.to(device["id"])
    ones = torch.ones(300, 16, dtype=torch.int64)
    found = {
        "rows": (there[at], table[rows]), "select": (there.index_select(0, at), table[rows]),
        "gather": (there.gather(0, at[:16].unsqueeze(0)), table.gather(0, rows[:16].unsqueeze(0))),
        "add": (there.index_add(0, at, ones.to(device["id"])), table.index_add(0, rows, ones)),
        "masked": (there[there > 50], table[table > 50]), "where": (there.where(there > 0, -there), table.abs()),
        "turned": (there.t().flip(0).roll(3, 1), table.t().flip(0).roll(3, 1)),
        "sliced": (there[3:90:7, ::2], table[3:90:7, ::2]),
    }  # fmt: skip
    wrong = [name for name, (got, right) in found.items() if not torch.equal(got.cpu(), right)]
    embedded = forth_and_back(lambda weights: functional.embedding(rows.to(weights.device), weights), device, pseudo(5, 100, 16))  # fmt: skip
    away = elsewhere(device, **{name: got for name, (got, _right) in found.items()})
    return {"wrong": wrong, "errors": embedded["errors"], "elsewhere": [*away, *embedded["elsewhere"]]}


def numbers(device: dict[str, Any]) -> dict[str, Any]:
    """Random numbers: the same from one seed, others from another, distributed as they should be."""
    first, again, other = (_drawn(device, seed) for seed in (1, 1, 2))
    normal, uniform, whole = first
    told = {
        "mean": normal.mean().item(), "deviation": normal.std().item(), "least": uniform.min().item(),
        "most": uniform.max().item(), "middle": uniform.mean().item(), "kept": whole.float().mean().item() / 4.5,
    }  # fmt: skip
    same = all(torch.equal(one, two) for one, two in zip(first, again))
    differs = not any(torch.equal(one, two) for one, two in zip(first, other))
    away = elsewhere(device, normal=torch.randn(3, device=device["id"]), uniform=torch.rand(3, device=device["id"]))
    return {"statistics": told, "repeats": same, "differs": differs, "elsewhere": away}


numbers.__name__ = "random"


def _drawn(device: dict[str, Any], seed: int) -> list[Any]:
    torch.manual_seed(seed)
    made = (torch.randn(100_000, device=device["id"]), torch.rand(100_000, device=device["id"]),
            torch.randint(0, 10, (100_000,), device=device["id"]))  # fmt: skip
    return [one.cpu() for one in made]


def _all(**told: dict[str, Any]) -> dict[str, Any]:
    """Several measurements as one."""
    errors = {name + " " + part: value for name, one in told.items() for part, value in one["errors"].items()}
    return {
        "errors": errors,
        "elsewhere": [name + " " + place for name, one in told.items() for place in one["elsewhere"]],
    }
