"""The running kernel has no driver for this GPU of Intel."""

from rigup.diagnosis.causes.access.device_nodes import is_render_node
from rigup.diagnosis.causes.kernels import is_older
from rigup.diagnosis.rule import Params, Passes, Verdict, mends, one, rule, seen, text_rule
from rigup.knowledge.intel import least_kernel
from rigup.machine.kinds import DeviceNode, Gpu, Platform, Symptom, Torch


def older_than_card(card: Gpu, platform: Platform) -> dict[str, str] | None:
    """The first kernel that knows the card, where this one does not."""
    least = least_kernel(str(card.pci_id).partition(":")[2])
    older = least is not None and is_older(str(platform.release), least)
    return {"least": least} if older and least and not platform.get("wsl") else None


@rule("intel-kernel-too-old", "likely")
def kernel_older_than_the_card(card: Gpu = one(vendor="intel", driver=None), platform: Platform = one(system="linux")) -> Verdict:
    """No driver is bound, and those of this kernel do not know the generation."""
    return older_than_card(card, platform)


@text_rule("intel-kernel-too-old", "likely")
def no_node_for_a_card_that_the_kernel_does_not_know(
    card: Gpu = one(vendor="intel"),
    platform: Platform = one(system="linux"),
    symptom: Symptom | None = seen(tag="dri-without-render-node intel-gpu-unseen"),
    torch: Torch | None = one(xpu_available=False),
    node: DeviceNode | None = one(path=Passes(is_render_node)),
) -> Verdict:
    """The bus shows the card, no driver made a node for it or torch finds none, and nobody shows a driver that came in another way."""
    release = None if card.get("driver") or node else older_than_card(card, platform)
    seen_so = symptom is not None or torch is not None
    return release if release and seen_so else False


@mends("intel-kernel-too-old")
def kernel_that_knows_the_card(card: Gpu = one(vendor="intel")) -> Params:
    """From the table of generations."""
    least = least_kernel(str(card.get("pci_id", "")).partition(":")[2])
    return {"least": least} if least else {}
