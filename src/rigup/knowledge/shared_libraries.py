"""NVIDIA's libraries that wheels bring along as packages: an environment has one copy of each, whoever asks for it."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key

_SHORT = {"nvidia-cudnn": "cudnn", "nvidia-nccl": "nccl", "nvidia-cuda-runtime": "cuda"}


class _Release(msgspec.Struct, frozen=True, kw_only=True):
    torch: str
    pypi_linux_x86_64_variant: str = ""
    cudnn_pin: str = ""
    nccl_pin: str = ""


class _Inside(msgspec.Struct, frozen=True, kw_only=True):
    """Builds of PyTorch's own index that have the libraries inside, up to a release."""

    variants: str
    until: str


def short_names(pins: dict[str, str]) -> dict[str, str]:
    """Pins by short names ("nvidia-cudnn-cu12" is "cudnn"); those of which nobody asks are left out."""
    named = ((_SHORT.get(name.rpartition("-cu")[0], ""), pin) for name, pin in pins.items())
    return {name: pin for name, pin in named if name}


def torch_pins(torch: str, variant: str, cuda: str, own_index: bool) -> dict[str, str]:
    """What a build of torch for Linux takes of them; nothing where its libraries lie inside the wheel.

    Args:
        torch: the release.
        variant: "cu126"; whoever takes another one than the default index's has other releases of cuDNN.
        cuda: the toolkit inside ("12.6").
        own_index: it comes from PyTorch's own index.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = next((row for row in tables.rows("torch_releases", "release", _Release) if row.torch == torch), None)
    if row is None or not row.cudnn_pin or not cuda or (own_index and _inside(torch, variant)):
        return {}
    exact = variant == row.pypi_linux_x86_64_variant
    cudnn = "==" + (row.cudnn_pin if exact else row.cudnn_pin.partition(".")[0] + ".*")
    return {"cuda": f"=={cuda}.*", "cudnn": cudnn} | ({"nccl": "==" + row.nccl_pin} if exact and row.nccl_pin else {})


def _inside(torch: str, variant: str) -> bool:
    rows = tables.rows("torch_releases", "libraries_inside", _Inside)
    return any(variant.startswith(row.variants) and version_key(torch) <= version_key(row.until) for row in rows)
