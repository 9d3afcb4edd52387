"""A machine that is not at hand, described in words: "2x RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11"."""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.distributions import distribution
from rigup.knowledge.gpu_words import gpu_in_words, is_known, near
from rigup.knowledge.gpus import Gpu
from rigup.knowledge.jetson import jetpack, last_jetpack
from rigup.knowledge.system_pythons import making_environments
from rigup.language import _, sentences
from rigup.stack.profile_words import Changes, changes_of
from rigup.stack.site import NONE, Device, Site

_MOST = 64  # devices of one part
_MOST_PARTS = 200
_COUNTED = re.compile(r"(?P<count>\d{1,3}) ?[x×*] ?(?P<name>.+)", re.IGNORECASE)


class ProfileError(Exception):
    """A profile that cannot be understood: which part, and what may stand there."""


def read_profile(text: str) -> Site:
    """A machine from words. Raises ProfileError for a part that means nothing."""
    fields: Changes = {}
    devices: list[tuple[Gpu, str]] = []
    for part in (piece.strip() for piece in re.split(r"[,;\n]", text)[:_MOST_PARTS]):
        changes = changes_of(" ".join(part.lower().split())) if part else {}
        if changes is None:
            devices += _devices(part)
        else:
            fields.update(changes)
    if devices or "devices" in fields:
        fields["devices"] = tuple(_device(number, *device) for number, device in enumerate(devices))
    return completed(Site(**fields, in_words=True))


def read_profile_table(text: str) -> Site:
    """A machine from a TOML table: gpu = ["2x RTX 3090"], driver = "535.129.03", root = false. Raises ProfileError."""
    import tomllib

    try:
        table = tomllib.loads(text)
        parts = [part for key, value in table.items() for part in _parts(key.replace("_", " "), value)]
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ProfileError(_("The profile is no TOML table: {error}.").format(error=str(error))) from error
    return read_profile(", ".join(parts))


def _parts(key: str, value: Any) -> Iterator[str]:
    """One entry of a table as parts of a profile; keys that only say what kind of thing follows are left out."""
    if isinstance(value, bool):
        yield key if value else f"no {key}"
    elif isinstance(value, list):
        yield from (part for item in value for part in _parts(key, item))
    elif isinstance(value, str | int | float):
        plain = key in ("gpu", "gpus", "device", "devices", "os", "system", "distribution")
        yield str(value) if plain else f"{key} {value}"


def completed(site: Site) -> Site:
    """A machine with what follows from what is known of it; assumptions are listed."""
    site = _with_jetpack(site)
    changes: Changes = {}
    if not site.macos and any(device.vendor == "apple" for device in site.gpus):
        changes["system"] = "macos"
    if any(device.vendor == "apple" for device in site.gpus) and site.machine == "x86_64" and not site.rosetta:
        changes["machine"] = "arm64"
    changes |= _of_distribution(site) | _of_jetson(site) | _of_arm(site)
    known = site.but(**changes)
    return known.but(assumed=(*site.assumed, *_assumed(known)))


def _of_arm(site: Site) -> Changes:
    """One architecture has two names: Linux says aarch64, Windows and macOS say arm64. Snapdragons are of it."""
    snapdragon = any(device.vendor == "qualcomm" for device in site.gpus)
    on_windows = site.system == "windows" or (snapdragon and not site.distribution and not site.kernel)
    if site.machine not in ("aarch64", "arm64") and not snapdragon:
        return {}
    if on_windows:
        return {"system": "windows", "machine": "arm64"}
    return {"machine": "arm64" if site.system == "macos" else "aarch64"}


def _of_distribution(site: Site) -> Changes:
    row = distribution(site.distribution, site.release)
    if row is None:
        return {}
    changes: Changes = {"glibc": NONE if row.glibc == "musl" else row.glibc} if site.glibc is None else {}
    if row.python and not site.python and not site.pythons and not site.colab:
        changes |= {"python": row.python, "pythons": (row.python,), "own_python": True}
    return changes


def _with_jetpack(site: Site) -> Site:
    """A module described without its JetPack runs the last one that there is for it."""
    board = next((gpu for gpu in site.gpus if gpu.name.startswith("Jetson")), None)
    last = last_jetpack(board.isa or "") if board and site.in_words and site.system == "linux" else ""
    if board is None or site.jetpack or not last:
        return site
    template = _("Nobody told which JetPack runs on {device}: {release}, the last one for it, was taken for granted.")
    return site.but(jetpack=last, assumed=(*site.assumed, template.format(device=board.name, release=last)))


def _of_jetson(site: Site) -> Changes:
    """A Jetson's system is its JetPack."""
    known = jetpack(site.jetpack) if site.jetpack else None
    if known is None:
        return {}
    changes: Changes = {"machine": "aarch64"}
    if not site.distribution and known.ubuntu:
        changes |= {"distribution": "ubuntu", "release": known.ubuntu}
    if not site.python:
        changes |= {"python": known.python, "pythons": (known.python,), "own_python": True}
    return changes if site.glibc is not None or site.distribution else changes | {"glibc": known.glibc}


def _assumed(site: Site) -> Iterator[str]:
    yield from _assumed_python(site)
    if site.devices is None:
        yield _("Nobody told of a GPU, so none was taken for granted.")
    if any(device.vendor == "nvidia" for device in site.gpus) and site.nvidia_driver is None and not site.jetpack:
        yield _("The NVIDIA driver is not known; one that is new enough was taken for granted.")
    if site.system == "linux" and site.gpus and site.glibc is None:
        yield _("The distribution is not known; one with a C library that is new enough was taken for granted.")


def _assumed_python(site: Site) -> Iterator[str]:
    if site.own_python:
        template = _("Nobody told of a Python: the one that the distribution has for its own, {python}, was taken for granted.")
        yield template.format(python=site.python)
    if site.in_words and site.root is False and site.system == "linux" and any(gpu.vendor == "intel" for gpu in site.gpus):
        yield _("Only root can install Level Zero for Intel's GPUs: it was taken to be there.")
    parts = making_environments(site.distribution, site.python) if site.in_words and site.python else ()
    if parts and site.root is False and site.own_python:
        template = _("{packages}, which makes environments and which only root can install, was taken to be there.")
        yield template.format(packages=", ".join(parts))


def _devices(part: str) -> list[tuple[Gpu, str]]:
    """Three cards of "2x RTX 3090 + GTX 1080 Ti", each with the PCI id that it was named by."""
    gpus: list[tuple[Gpu, str]] = []
    for piece in (text.strip() for text in re.split(r"\s\+\s|\+(?=\s?\d{1,2} ?x)|(?<=\w)\+(?=[A-Za-z])", part)):
        counted = _COUNTED.fullmatch(piece)
        count = min(int(counted["count"]), _MOST) if counted else 1
        gpus += [_gpu(counted["name"] if counted else piece)] * count
    return gpus[:_MOST]


def _gpu(name: str) -> tuple[Gpu, str]:
    """A product by its id or name. Raises ProfileError for words that name none."""
    known = gpu_in_words(name)
    if known and is_known(*known):
        return known
    raise ProfileError(_question(name[:100], known[0].vendor if known else None))


def _question(name: str, maker: str | None) -> str:
    """What a person is asked who names a device that the tables do not know: nothing is taken for granted of it."""
    template = _("{part} is neither a GPU that the catalogue knows nor a word of a profile.")
    if maker is not None:
        template = _("{part} is no GPU that the catalogue knows.")
    nearest = near(name)
    nearly = _("Was one of these meant: {names}?").format(names=", ".join(nearest)) if nearest else ""
    example = _("Write for instance: 2x RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11, no root.")
    return sentences(template.format(part=name), nearly, _newer(name, maker), example)


def _newer(name: str, maker: str | None) -> str:
    """How to name a GPU that is newer than the tables; Intel's have no such word."""
    targets = [target for vendor, target in (("nvidia", "sm_NN"), ("amd", "gfxNNNN")) if maker in (None, vendor)]
    if not targets:
        return ""
    template = _("Of one that is newer than the catalogue, write the target too: {examples}.")
    return template.format(examples=", ".join(f"{name} {target}" for target in targets))


def _device(index: int, gpu: Gpu, pci_id: str) -> Device:
    return Device(
        index=index,
        vendor=gpu.vendor,
        name=gpu.name,
        isa=gpu.isa,
        pci_id=pci_id,
        architecture=gpu.architecture,
        integrated=gpu.integrated,
        memory={"vram": gpu.memory_bytes} if gpu.memory_bytes else {},
    )
