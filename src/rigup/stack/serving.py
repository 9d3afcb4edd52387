"""Whether a build serves a device of a machine, and what must change for it."""

import msgspec

from rigup.knowledge.apple import is_older, mps_minimum
from rigup.knowledge.intel import validated
from rigup.knowledge.vulkan import has_vulkan
from rigup.language import _
from rigup.stack import serving_amd, serving_nvidia
from rigup.stack.candidate import Candidate, Served, unserved
from rigup.stack.serving_kernel import on_kernel
from rigup.stack.site import Device, Site

# How a build may reach the devices of a maker.
PARTNERS = {
    "nvidia": ("cuda", "vulkan"),
    "amd": ("rocm", "directml", "vulkan", "mps"),
    "intel": ("xpu", "openvino", "directml", "vulkan"),
    "apple": ("mps", "metal"),
}


def served(build: Candidate, device: Device, site: Site) -> Served:
    """Whether a build serves a device.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if build.kind not in PARTNERS.get(device.vendor, ()):
        return _other_maker(build, device)
    judge = {
        "cuda": serving_nvidia.served,
        "rocm": serving_amd.served,
        "xpu": _intel,
        "mps": _apple,
        "metal": _metal,
        "openvino": _openvino,
        "directml": _directml,
        "vulkan": _vulkan,
    }[build.kind]
    answer = judge(build, device, site)
    if build.trial and answer.how == "native":
        answer = msgspec.structs.replace(answer, how="trial", because=build.trial)
    return on_kernel(answer, device, site) if build.kind in ("rocm", "xpu") else answer


def computes_on_intel(build: Candidate) -> bool:
    """A build that reaches an Intel GPU through Level Zero or OpenCL, and not through the graphics driver alone."""
    return build.kind in ("xpu", "openvino")


def _other_maker(build: Candidate, device: Device) -> Served:
    if build.kind == "unknown":
        return unserved(_("Whether {build} uses {device}, nobody can say.").format(build=build.label, device=device.label))
    if build.kind == "cpu":
        return unserved(_("{build} runs on the CPU alone.").format(build=build.label), build.source)
    return unserved(_("{build} is not made for {device}.").format(build=build.label, device=device.label), build.source)


def _intel(build: Candidate, device: Device, _site: Site) -> Served:
    known = validated(device.pci_id.partition(":")[2], device.architecture)
    if known is False or (known is None and device.integrated is not False and device.architecture):
        template = _("{device} is not among the GPUs for which PyTorch's XPU builds are made.")
        return unserved(template.format(device=device.label), "pci_intel")
    if known is None:
        template = _("Nobody has said whether XPU builds run on {device}.").format(device=device.label)
        return Served(how="trial", because=template, source="pci_intel")
    template = _("{device} is among the GPUs for which XPU builds such as {build} are validated.")
    return Served(how="native", because=template.format(device=device.label, build=build.label), source="pci_intel")


def _openvino(build: Candidate, device: Device, _site: Site) -> Served:
    sentence = _("{build} reaches {device} by OpenVINO.").format(build=build.label, device=device.label)
    return Served(how="native", because=sentence, source=build.source)


def _out_of_reach(site: Site) -> str:
    """Why Metal cannot be had there; "" if it can."""
    if site.rosetta:
        return _("This Python is translated by Rosetta and sees no GPU: use one built for arm64.")
    if site.virtual or site.container:
        return _("Metal does not reach into a virtual machine or a container.")
    return ""


def _metal(build: Candidate, device: Device, site: Site) -> Served:
    if reason := _out_of_reach(site):
        return unserved(reason, "apple")
    sentence = _("{build} reaches {device} by Metal.").format(build=build.label, device=device.label)
    return Served(how="native", because=sentence, source=build.source)


def _apple(build: Candidate, device: Device, site: Site) -> Served:
    if reason := _out_of_reach(site):
        return unserved(reason, "apple")
    least = mps_minimum(build.version) if build.package == "torch" else None
    if least and site.macos and is_older(site.macos, least):
        template = _("MPS of {build} needs macOS {least}; this is {macos}.")
        return unserved(template.format(build=build.label, least=least, macos=site.macos), "apple")
    because = _("{build} reaches {device} by MPS.").format(build=build.label, device=device.label)
    return Served(how="native", because=because, source="apple")


def _directml(build: Candidate, _device: Device, _site: Site) -> Served:
    template = _("DirectML drives any DirectX 12 GPU; it is no longer developed, and many operations run on the CPU.")
    return Served(how="trial", because=template, source=build.source)


def _vulkan(build: Candidate, device: Device, _site: Site) -> Served:
    if not has_vulkan(device.vendor, device.isa, device.architecture):
        return unserved(_("No driver offers Vulkan for {device}.").format(device=device.label), "vulkan")
    template = _("{build} reaches {device} by Vulkan, with the graphics driver that is there.")
    return Served(how="trial", because=template.format(build=build.label, device=device.label), source=build.source)
