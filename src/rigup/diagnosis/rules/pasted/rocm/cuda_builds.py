"""A framework for CUDA on a machine of AMD's."""

import re

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.told import Passes
from rigup.machine.kinds import Gpu, Package, Platform, Symptom, Torch


def for_rocm(torch: Torch | None) -> bool:
    """Whether torch is a build for ROCm."""
    return torch is not None and bool(torch.get("hip") or "rocm" in str(torch.get("version") or ""))


def _of_nvidia(name: str) -> bool:
    return re.fullmatch(r"nvidia-[a-z-]{3,30}-cu\d{2}", name) is not None


@rule("cuda-torch-on-amd", "likely")
def installer_puts_torch_of_rocm_away(
    symptom: Symptom = seen("torch-of-rocm-put-away"), other: Gpu | None = one(vendor="nvidia")
) -> Verdict:
    """A build of another kind takes the place of ROCm's; where a card of NVIDIA's is shown, that is meant."""
    return other is None and symptom.values()


@rule("cuda-torch-on-amd", "likely")
def torch_that_is_there_satisfies_pip(
    symptom: Symptom = seen("pip-keeps-plain-torch", "pip-fetches-plain-torch"), index: Symptom = seen("rocm-index-asked"), replaced: Symptom | None = seen("rocm-torch-installed"),
    other: Gpu | None = one(vendor="nvidia"), platform: Platform | None = None, torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """ROCm's index was asked, and pip keeps the torch of PyPI that is there, or, where it asks both, fetches a newer one."""
    linux = platform is None or platform.get("system") in (None, "linux")
    clear = replaced is None and other is None and linux and not for_rocm(torch)
    return clear and {"said": symptom.id, "index": index.id}


@rule("cuda-torch-on-amd", "likely")
def rocm_build_goes_and_nvidias_comes(
    gone: Symptom = seen(tag="torch-replaced"), new: Package | None = one(manager="pip", name="torch"), brought: Package | None = one(name=Passes(_of_nvidia)),
    card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """pip takes ROCm's torch away and brings PyPI's, which comes with NVIDIA's packages."""
    local = str(new.version).partition("+")[2] if new else ""
    plain = brought is not None if not local else local.startswith("cu")
    return card is None and str(gone.local).startswith("rocm") and plain and "rocm" not in local and {"have": gone.old}
