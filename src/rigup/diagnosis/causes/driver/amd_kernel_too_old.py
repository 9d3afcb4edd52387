"""The running kernel has no driver for this GPU of AMD."""

from rigup.diagnosis.causes.access.device_nodes import is_render_node
from rigup.diagnosis.causes.kernels import is_older
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.kernels import kernel_minimum
from rigup.machine.kinds import DeviceNode, DkmsTree, Gpu, KfdNode, Platform, Symptom, SystemPackage, Torch


def older_than_card(card: Gpu, platform: Platform) -> dict[str, str] | None:
    """The first kernel whose own amdgpu drives the card, where this one is older."""
    least = kernel_minimum("amd", str(card.get("isa") or "").lower(), "")
    return {"least": least} if least and is_older(str(platform.release), least) and not platform.get("wsl") else None


@rule("amd-kernel-too-old", "likely")
def kernel_older_than_the_card(
    card: Gpu = one(vendor="amd", driver=None),
    platform: Platform = one(system="linux"),
    tree: DkmsTree | None = one(module="amdgpu"),
    package: SystemPackage | None = one(name="amdgpu-dkms", state="installed"),
) -> Verdict:
    """No driver is bound, amdgpu of this kernel does not know the generation, and AMD's own, which would, is not installed."""
    return older_than_card(card, platform) if tree is None and package is None else False


@text_rule("amd-kernel-too-old", "likely")
def nothing_drives_a_card_that_the_kernel_does_not_know(
    card: Gpu = one(vendor="amd"),
    platform: Platform = one(system="linux"),
    symptom: Symptom | None = seen(tag="dri-without-render-node module-builds-missed driver-amd-no-device amdgpu-not-up"),
    torch: Torch | None = one(available=False),
    node: DeviceNode | None = one(path=Passes(is_render_node)),
    kfd: KfdNode | None = None,
    listed: Gpu | None = one(seen_by=("rocminfo", "rocm-smi", "amd-smi")),
    package: SystemPackage | None = one(name="amdgpu-dkms", state="installed"),
) -> Verdict:
    """The bus shows the card; ROCm's programs find none or no driver made a node, and nobody shows a driver that came in another way."""
    driven = card.get("driver") or any(part is not None for part in (node, kfd, listed, package))
    of_rocm = torch is not None and "rocm" in str(torch.get("version"))
    release = None if driven else older_than_card(card, platform)
    return release if release and (symptom is not None or of_rocm) else False


@text_rule("amd-kernel-too-old")
def driver_does_not_know_a_part_of_the_card(
    symptom: Symptom = seen("amdgpu-part-unknown"), platform: Platform | None = one(system="linux")
) -> Verdict:
    """amdgpu reads from the card itself of which parts it is made, and has no code for one of them."""
    return {"part": symptom.get("part"), "kernel": platform.get("release") if platform else None}


@mends("amd-kernel-too-old")
def kernel_that_knows_the_card(card: Gpu = one(vendor="amd")) -> Params:
    """From the table of kernels."""
    least = kernel_minimum("amd", str(card.get("isa") or "").lower(), "")
    return {"least": least} if least else {}
