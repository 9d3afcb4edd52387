"""Which devices of a machine an image serves."""

import msgspec

from rigup.container.images import Image
from rigup.knowledge.chips import why_not
from rigup.knowledge.container_images import limit
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, version_key
from rigup.knowledge.driver_recipes import for_servers
from rigup.knowledge.forward import forward_package
from rigup.knowledge.rocm import last_rocm_with, override_facts, rocblas_has
from rigup.language import _
from rigup.stack.candidate import Candidate, Served, unserved
from rigup.stack.serving import PARTNERS, served
from rigup.stack.serving_nvidia import driver_change
from rigup.stack.site import Device, Site

_CONSUMER = ("geforce", "titan")


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A device, whether it is served, and the cause by which it is not; "" for none."""

    device: Device
    served: Served
    cause: str = ""


def judge(found: Image, device: Device, site: Site) -> Verdict:
    """Whether an image serves a device once it is handed over."""
    build = found.build
    if site.macos or site.system == "macos":
        sentence = _("Linux containers on a Mac run in a virtual machine that Metal does not reach: the program runs on the CPU.")
        return Verdict(device=device, served=unserved(sentence, "apple"), cause="mps-inside-linux-container")
    if site.jetpack and (reason := _of_another_jetson(found, site)):
        return Verdict(device=device, served=unserved(reason, "container_runs"), cause="jetson-generic-wheel")
    if build.kind == "unknown":
        sentence = _("{device} is handed over; what the image has for it, its name does not tell.").format(device=device.label)
        return Verdict(device=device, served=Served(how="native", because=sentence))
    if build.kind == "cpu" or build.kind not in PARTNERS.get(device.vendor, ()):
        return Verdict(device=device, served=served(build, device, site))
    if build.code or build.isa_min:
        service = served(build, device, site)
    else:
        change = driver_change(build, site) if build.kind == "cuda" else None
        sentence = _("{device} is handed over; {image} does not tell which chips it has code for.")
        because = sentence.format(device=device.label, image=found.name)
        service = Served(how="native", because=because, source="container_runs", change=change)
    return _with_driver(found, device, service, site)


def _of_another_jetson(found: Image, site: Site) -> str:
    """Why an image is not made for a Jetson's system; "" if it is, or nobody can tell."""
    if not found.kind.jetson:
        if not found.kind.vendor:
            return ""
        template = _("{image} is not made for a Jetson: images for it are those of L4T, or end in -igpu.")
        return template.format(image=found.name)
    from rigup.knowledge.jetson import jetpack, jetpack_of_l4t

    tag = found.tag.lstrip("r")
    asked = jetpack_of_l4t(tag.split("-")[0]) if found.tag.startswith("r") else None
    have = jetpack(site.jetpack)
    if asked is None or have is None or asked.release.split(".")[0] == have.release.split(".")[0]:
        return ""
    template = _("{image} is made for JetPack {asked}, and this is {have}.")
    return template.format(image=found.name, asked=asked.release, have=site.jetpack)


def _with_driver(found: Image, device: Device, outcome: Served, site: Site) -> Verdict:
    """The driver decides too: what the image asks of it, and forward compatibility on data-centre cards."""
    if outcome.change is not None and "driver" in outcome.change.change:
        if site.nvidia_driver and _forward(found, site):
            because = _("The image brings cuda-compat, by which data-centre cards run CUDA {cuda} on driver {driver}.")
            kept = msgspec.structs.replace(
                outcome, how="native", change=None, because=because.format(cuda=found.build.cuda, driver=site.nvidia_driver)
            )
            return Verdict(device=device, served=kept)
        return Verdict(device=device, served=unserved(outcome.change.why, "cuda_driver"), cause="container-requires-newer-driver")
    return Verdict(device=device, served=outcome, cause="" if outcome.served else _cause(found.build, device))


def _forward(found: Image, site: Site) -> bool:
    names = [device.name for device in site.gpus if device.vendor == "nvidia"]
    driver = site.nvidia_driver or ""
    return found.kind.compat and all(map(for_servers, names)) and bool(forward_package(found.build.cuda, driver))


def _cause(build: Candidate, device: Device) -> str:
    """What the doctor calls it that a build has no code for a device."""
    isa = device.isa or ""
    if build.kind == "cuda":
        if build.isa_min and not build.code:
            return "gpu-arch-older-than-wheel"
        why = why_not(isa, build.code, build.cuda or None) if build.code and isa else None
        return "gpu-arch-newer-than-wheel" if why and why.kind == "newer-chip" else "gpu-arch-older-than-wheel"
    if build.kind == "rocm":
        row = override_facts(isa)
        last = last_rocm_with(isa)
        if rocblas_has(build.rocm, isa) is False and last and version_key(last) < version_key(build.rocm):
            return "rocm-dropped-arch"
        return "gfx-not-in-rocblas" if isa in build.code and row else "gfx-not-in-torch-wheel"
    return ""


def refused(found: Image, devices: tuple[Device, ...], site: Site) -> str:
    """Why NVIDIA's hook refuses to start an image on this driver (NVIDIA_REQUIRE_CUDA); "" where it does not."""
    cuda, driver = found.build.cuda, site.nvidia_driver
    cards = [device for device in devices if device.vendor == "nvidia"]
    if not found.kind.guarded or not cuda or not driver or not cards or site.jetpack:
        return ""
    shown = cuda_of_driver(driver)
    if driver_carries(driver, cuda, "windows" if site.wsl else "linux") is False and not _forward(found, site):
        return _("{image} asks for CUDA {cuda}, and driver {driver} carries {shown}: it refuses to start.").format(
            image=found.name, cuda=cuda, driver=driver, shown=shown or "?"
        )
    newer = shown and version_key(cuda)[:2] > version_key(shown)[:2]
    consumer = any(word in device.name.lower() for device in cards for word in _CONSUMER)
    if newer and consumer and version_key(cuda)[:2] >= limit("nvidia/cuda refuses GeForce"):
        template = _(
            "{image} asks for CUDA {cuda} and excuses an older driver on data-centre and professional cards alone: "
            "with NVIDIA's hook it refuses to start on {device}, whose driver shows {shown}."
        )
        return template.format(image=found.name, cuda=cuda, device=cards[0].label, shown=shown)
    return ""
