"""Intel's GPUs below torch: the kernel's driver, and the runtime that programs compute through."""

import re

from rigup.diagnosis.rule import Every, Params, Verdict, lacks, mends, one, rule
from rigup.knowledge.intel import compute_address, compute_packages, least_kernel
from rigup.machine.kinds import Distribution, Gpu, Platform, SystemPackage, Torch

_DRIVERS = ("i915", "xe")
_RUNTIMES = (
    "libze-intel-gpu1",
    "intel-level-zero-gpu",
    "intel-level-zero",
    "intel-compute-runtime",
    "intel-opencl-icd",
)


def _release(text: str) -> tuple[int, ...]:
    """6.8.0-45-generic in numbers, as far as they tell a kernel."""
    return tuple(int(number) for number in re.findall(r"\d+", text)[:2])


def older_than_card(card: Gpu, platform: Platform) -> dict[str, str] | None:
    """The first kernel that knows the card, where this one does not."""
    least = least_kernel(str(card.pci_id).partition(":")[2])
    older = least is not None and _release(str(platform.release)) < _release(least)
    return {"least": least} if older and least and not platform.get("wsl") else None


@rule("intel-kernel-too-old", "likely")
def kernel_older_than_the_card(
    card: Gpu = one(vendor="intel", driver=None), platform: Platform = one(system="linux")
) -> Verdict:
    """No driver is bound, and those of this kernel do not know the generation."""
    return older_than_card(card, platform)


@rule("intel-compute-runtime-missing", "likely")
def torch_for_intel_without_its_runtime(
    torch: Torch, distribution: Distribution, card: Gpu = one(vendor="intel", driver=_DRIVERS),
    _missing: Every[SystemPackage] = lacks(SystemPackage, name=_RUNTIMES),
) -> Verdict:  # fmt: skip
    """Somebody wants to compute on it, and no package of the distribution brings what that goes through."""
    wanted = "+xpu" in str(torch.get("version")) and torch.get("xpu_available") is not True
    known = compute_packages(str(distribution.id), str(distribution.get("version"))) is not None
    return wanted and known and {"card": card}


@mends("intel-compute-runtime-missing")
def packages_of_intels_runtime(distribution: Distribution | None = None) -> Params:
    """The distribution's own, or of a source that is added to it, else Intel's page."""
    if distribution is None or not distribution.get("id"):
        return {}
    source = compute_packages(str(distribution.get("id")), str(distribution.get("version")))
    if source is not None:
        return {
            "provider" if source.setup else "alone": source.provider or "distribution",
            "packages": ", ".join(source.packages),
        }
    return {"address": compute_address("linux")}


@mends("intel-kernel-too-old")
def kernel_that_knows_the_card(card: Gpu = one(vendor="intel")) -> Params:
    """From the table of generations."""
    least = least_kernel(str(card.get("pci_id", "")).partition(":")[2])
    return {"least": least} if least else {}
