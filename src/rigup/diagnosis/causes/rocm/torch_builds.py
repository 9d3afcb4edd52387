"""Builds of torch for ROCm, and what installs them."""

import re

from rigup.diagnosis.rule import Params
from rigup.knowledge.amd_ways import newest_for_rocm, torch_of_amd
from rigup.knowledge.chips import runs_on
from rigup.knowledge.torch_builds import TorchBuild, builds, companions, index_url, newest_build
from rigup.machine.kinds import Symptom, Torch

_VARIANT = re.compile(r"/((?:rocm|cu)[\d.]+)/?$")
_NEEDS_NO_GPU = "cpu"


def for_amd(torch: Torch) -> bool:
    """It says so, or its code is of AMD's chips."""
    return bool(torch.hip) if torch.knows("hip") else any(code.startswith("gfx") for code in torch.get("code") or ())


def variant_of(index: Symptom | None) -> str:
    """`rocm6.2` of the address of torch's index; "" where that is of another kind."""
    match = _VARIANT.search(str(index.get("index"))) if index is not None else None
    return match[1] if match else ""


def serves(isa: str, code: list[str]) -> bool:
    """Whether a build has code for the chip; one that nobody knows may be any."""
    return not isa or runs_on(isa, code)


def of_card(isa: str) -> TorchBuild | None:
    """The newest build for ROCm that serves the card."""
    newest = newest_build(isa) if isa else newest_for_rocm()
    return newest if newest and newest.rocm else newest_for_rocm()


def newer(knew: Params) -> TorchBuild | None:
    """The newest build for the card, unless it is there already."""
    newest = of_card(str(knew.get("isa") or ""))
    have = str(knew.get("version_of_torch") or "").partition("+")[0]
    return None if newest is None or newest.torch == have else newest


def torch_holes(build: TorchBuild | None) -> Params:
    """What the step that installs torch is filled with."""
    companion_versions = companions(build.torch) if build else None
    if build is None:
        return {}
    return {"torch": build.torch, "index": index_url(build.variant), "torchvision": companion_versions and companion_versions.torchvision}


def amd_holes(isa: str, system: str) -> Params:
    """The same of AMD's own index."""
    own = torch_of_amd(isa, system)
    return {"packages": own.packages, "index_of_amd": own.address} if own else {}


def without_a_gpu(system: str) -> Params:
    """The build for the processor, which any machine runs."""
    newest = next((row for row in builds(system) if row.variant == _NEEDS_NO_GPU), None)
    holes = torch_holes(newest)
    return {"cpu_torch": holes.get("torch"), "cpu_index": holes.get("index"), "cpu_vision": holes.get("torchvision")}
