"""Which devices of a machine an image serves, and which image serves a wish best."""

from collections.abc import Iterator

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.container.images import Image, fallback, image, limit, newest_ngc
from rigup.knowledge.chips import why_not
from rigup.knowledge.cuda import cuda_of_driver, driver_carries, version_key
from rigup.knowledge.driver_recipes import for_servers
from rigup.knowledge.forward import forward_package
from rigup.knowledge.rocm import last_rocm_with, override_facts, rocblas_has
from rigup.language import _
from rigup.stack.candidate import Candidate, Served, unserved
from rigup.stack.inside import inside
from rigup.stack.serving import PARTNERS, served
from rigup.stack.serving_nvidia import driver_change
from rigup.stack.site import Device, Site
from rigup.stack.weigh import Judged, judged, rank
from rigup.stack.wish import Wish, read_wishes

_CONSUMER = ("geforce", "titan")
_KIND_OF = {"nvidia": "cuda", "amd": "rocm", "intel": "xpu"}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A device, whether it is served, and the cause by which it is not; "" for none."""

    device: Device
    served: Served
    cause: str = ""


def judge(found: Image, device: Device, site: Site) -> Told:
    """Whether an image serves a device once it is handed over."""
    build = found.build
    if site.macos or site.system == "macos":
        told = _(
            "Linux containers on a Mac run in a virtual machine that Metal does not reach: the program runs on the CPU."
        )
        return Told(device=device, served=unserved(told, "apple"), cause="mps-inside-linux-container")
    if site.jetpack and (reason := _of_another_jetson(found, site)):
        return Told(device=device, served=unserved(reason, "container_runs"), cause="jetson-generic-wheel")
    if build.kind == "unknown":
        told = _("{device} is handed over; what the image has for it, its name does not tell.").format(
            device=device.label
        )
        return Told(device=device, served=Served(how="native", because=told))
    if build.kind == "cpu" or build.kind not in PARTNERS.get(device.vendor, ()):
        return Told(device=device, served=served(build, device, site))
    if build.code or build.isa_min:
        told_of = served(build, device, site)
    else:
        change = driver_change(build, site) if build.kind == "cuda" else None
        told = _("{device} is handed over; {image} does not tell which chips it has code for.")
        because = told.format(device=device.label, image=found.name)
        told_of = Served(how="native", because=because, source="container_runs", change=change)
    return _with_driver(found, device, told_of, site)


def _of_another_jetson(found: Image, site: Site) -> str:
    """Why an image is not made for a Jetson's system; "" if it is, or nobody can tell."""
    if not found.kind.jetson:
        if not found.kind.vendor:
            return ""
        told = _("{image} is not made for a Jetson: images for it are those of L4T, or end in -igpu.")
        return told.format(image=found.name)
    from rigup.knowledge.jetson import jetpack, jetpack_of_l4t

    tag = found.tag.lstrip("r")
    asked = jetpack_of_l4t(tag.split("-")[0]) if found.tag.startswith("r") else None
    have = jetpack(site.jetpack)
    if asked is None or have is None or asked.release.split(".")[0] == have.release.split(".")[0]:
        return ""
    told = _("{image} is made for JetPack {asked}, and this is {have}.")
    return told.format(image=found.name, asked=asked.release, have=site.jetpack)


def _with_driver(found: Image, device: Device, told: Served, site: Site) -> Told:
    """The driver decides too: what the image asks of it, and forward compatibility on data-centre cards."""
    if told.change is not None and "driver" in told.change.change:
        if site.nvidia_driver and _forward(found, site):
            because = _("The image brings cuda-compat, by which data-centre cards run CUDA {cuda} on driver {driver}.")
            kept = msgspec.structs.replace(
                told,
                how="native",
                change=None,
                because=because.format(cuda=found.build.cuda, driver=site.nvidia_driver),
            )
            return Told(device=device, served=kept)
        return Told(
            device=device, served=unserved(told.change.why, "cuda_driver"), cause="container-requires-newer-driver"
        )
    return Told(device=device, served=told, cause="" if told.served else _cause(found.build, device))


def _forward(found: Image, site: Site) -> bool:
    names = [one.name for one in site.gpus if one.vendor == "nvidia"]
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
        told = _(
            "{image} asks for CUDA {cuda} and excuses an older driver on data-centre and professional cards alone: "
            "with NVIDIA's hook it refuses to start on {device}, whose driver shows {shown}."
        )
        return told.format(image=found.name, cuda=cuda, device=cards[0].label, shown=shown)
    return ""


# -- wishes --------------------------------------------------------------------------------------------


def as_wish(word: str, site: Site) -> Wish | None:
    """A word as a wish of which the tables know images; None for the name of an image."""
    from rigup.stack import frameworks

    if "/" in word or ":" in word or word.endswith(".sif"):
        return None
    try:
        packages = read_wishes((word,), site)
        name = canonicalize_name(Requirement(packages[0]).name)
    except (InvalidRequirement, ValueError):
        return None
    known = bool(frameworks.called({name: Requirement(packages[0])})) or bool(fallback(name, "cpu", site))
    return Wish(packages=packages, manager="docker") if known else None


def for_wish(wish: Wish, site: Site, devices: tuple[Device, ...]) -> Image | None:
    """The image for a wish: the architecture first, then the newest that the driver accepts; None where none is known."""
    there = inside(wish, site).but(devices=devices)
    best = max(_judged(wish, there), key=lambda one: _order(one, there, wish), default=None)
    if best is not None and (any(told.served for told in best.served) or not devices):
        return image(best.build.image, there.machine) if devices else _without_gpu(wish, there)
    name = canonicalize_name(Requirement(wish.packages[0]).name)
    for vendor in dict.fromkeys(device.vendor for device in devices):
        if vendor == "nvidia" and name == "torch" and there.machine == "aarch64" and not site.jetpack:
            every = (image(one, there.machine) for one in newest_ngc())
            fits = (one for one in every if all(judge(one, card, site).served.served for card in devices))
            if found := next(fits, None):
                return found
        if told := fallback(name, _KIND_OF.get(vendor, "cpu"), site):
            return image(told, there.machine)
    return _without_gpu(wish, there)


def _without_gpu(wish: Wish, site: Site) -> Image | None:
    name = canonicalize_name(Requirement(wish.packages[0]).name)
    told = fallback(name, "cpu", site)
    return image(told, site.machine) if told else None


def _judged(wish: Wish, site: Site) -> Iterator[Judged]:
    from rigup.stack import frameworks
    from rigup.stack.frameworks.images import candidates

    asked = wish.asked()
    for name in frameworks.called(asked):
        yield from (judged(build, site, wish) for build in candidates(name, (name,), asked, site) if build.image)


def _order(one: Judged, site: Site, wish: Wish) -> tuple[object, ...]:
    """As wheels are ranked, but under an override nothing newer than was tried, and nothing that the driver refuses."""
    tried = True
    for device, told in zip(site.gpus, one.served, strict=True):
        row = override_facts(device.isa or "") if told.override else None
        if row and row.tried_rocm and version_key(one.build.rocm)[:2] > version_key(row.tried_rocm)[:2]:
            tried = False
    found = image(one.build.image, site.machine)
    return (not one.refusal, tried, not refused(found, site.gpus, site), *rank(one, site, wish))
