"""What one GPU of a GRES type is worth for deep learning, by the catalogue."""

import re
from collections.abc import Iterable

from msgspec import UNSET

from rigup.knowledge.gpus import gpu_by_name, one_gpu
from rigup.knowledge.speeds import Sheet, data_sheet
from rigup.schemas.cluster import Worth

_PART = re.compile(r"_\d{1,2}(?:c\.\d{1,2})?g\.\d{1,3}gb")  # an instance of MIG: a100_1g.5gb
_STACKS = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}


def worths(types: Iterable[str]) -> dict[str, Worth]:
    """By type, those that the catalogue knows; a part of a card (MIG) is not judged by its whole."""
    found = {name: worth for name in sorted(set(types)) if name and not _PART.search(name) and (worth := _worth(name))}
    rates = {
        name: (worth.arithmetic * worth.bandwidth) ** 0.5
        for name, worth in found.items()
        if isinstance(worth.arithmetic, float) and isinstance(worth.bandwidth, float)
    }
    best = max(rates.values(), default=0.0)
    return {name: _with_rate(worth, rates.get(name, 0.0), best) for name, worth in found.items()}


def _with_rate(worth: Worth, rate: float, best: float) -> Worth:
    return Worth(
        device=worth.device,
        memory=worth.memory,
        bandwidth=worth.bandwidth,
        arithmetic=worth.arithmetic,
        stack=worth.stack,
        rate=round(rate / best, 3) if rate and best else UNSET,
    )


def _worth(name: str) -> Worth | None:
    """Of several products under one name the least of each is told."""
    products = gpu_by_name(name)
    gpu = one_gpu(name)
    if gpu is None or not products:
        return None
    sheets = [sheet for product in products if (sheet := data_sheet(product.name, product.memory_bytes))]
    memory = [product.memory_bytes for product in products if product.memory_bytes]
    bandwidth = [sheet.bandwidth for sheet in sheets if sheet.bandwidth]
    arithmetic = [rate for sheet in sheets if (rate := _arithmetic(sheet))]
    return Worth(
        device=_common_name([product.name for product in products]),
        memory=min(memory) if memory else UNSET,
        bandwidth=min(bandwidth) if bandwidth else UNSET,
        arithmetic=min(arithmetic) if arithmetic else UNSET,
        stack=_STACKS.get(gpu.vendor, UNSET),
    )


def _common_name(names: list[str]) -> str:
    """What all of them begin with, in whole words."""
    if len(names) == 1:
        return names[0]
    words = []
    for alike in zip(*(re.split(r"[ -]", name) for name in names), strict=False):
        if len(set(alike)) > 1:
            break
        words.append(alike[0])
    return " ".join(words) or names[0]


def _arithmetic(sheet: Sheet) -> float:
    return max(sheet.rates.get("float16", 0.0), sheet.rates.get("bfloat16", 0.0), sheet.rates.get("float32", 0.0))
