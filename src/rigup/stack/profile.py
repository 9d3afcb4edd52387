"""A machine that is not at hand, told in words: "2x RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11"."""

import re
from collections.abc import Callable
from typing import Any

from rigup.knowledge.distributions import distribution, spoken
from rigup.knowledge.gpus import VENDORS, Gpu, gpu_by_pci, one_gpu
from rigup.language import _
from rigup.stack.site import NONE, Device, Site

_MOST = 64  # devices of one part
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_WSL_VERSION = re.compile(r"wsl ?([12])?")
_COUNTED = re.compile(r"(?P<count>\d{1,3}) ?[x×*] ?(?P<name>.+)", re.IGNORECASE)
_PCI = re.compile(r"(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})", re.IGNORECASE)
_MAKERS = re.compile(
    r"nvidia|geforce|rtx|gtx|quadro|tesla|titan|amd|radeon|instinct|\brx\b|intel|\barc\b|iris|apple m\d|jetson|gpu",
    re.IGNORECASE,
)

Changes = dict[str, Any]


class ProfileError(Exception):
    """A profile that cannot be understood: which part, and what may stand there."""


def read_profile(text: str) -> Site:
    """A machine from words. Raises ProfileError for a part that means nothing."""
    told: Changes = {}
    devices: list[tuple[Gpu, str]] = []
    for part in (piece.strip() for piece in re.split(r"[,;\n]", text)):
        if not part:
            continue
        said = _said(part.lower())
        if said is None:
            devices += _devices(part)
        else:
            told.update(said)
    if devices or "devices" in told:
        told["devices"] = tuple(_device(number, *found) for number, found in enumerate(devices))
    return completed(Site(**told))


def completed(site: Site) -> Site:
    """A machine with what follows from what is known of it; what is taken for granted is said."""
    changes: Changes = {}
    assumed = list(site.assumed)
    if not site.macos and any(device.vendor == "apple" for device in site.gpus):
        changes["system"] = "macos"
    if (
        (changes.get("system") or site.system) == "macos"
        and site.machine == "x86_64"
        and site.gpus
        and not site.rosetta
    ):
        changes["machine"] = "arm64"
    row = distribution(site.distribution, site.release)
    if row and site.glibc is None:
        changes["glibc"] = NONE if row.glibc == "musl" else row.glibc
    if site.devices is None:
        assumed.append(_("Nobody told of a GPU, so none was taken for granted."))
    if any(device.vendor == "nvidia" for device in site.gpus) and site.nvidia_driver is None and not site.jetpack:
        assumed.append(_("The NVIDIA driver is not known; one that is new enough was taken for granted."))
    return site.but(**changes, assumed=tuple(assumed))


def _said(part: str) -> Changes | None:
    """What a part says that names no device; None for one that does not."""
    for pattern, meaning in _WORDS:
        if found := re.fullmatch(pattern, part):
            return meaning(found)
    return _system(part)


def _system(part: str) -> Changes | None:
    name, _space, release = part.rpartition(" ")
    if not release[:1].isdigit():
        name, release = part, ""
    known = spoken()
    plain = name.removesuffix(" linux").strip()
    for word in (name, plain):
        if word in known:
            return {"system": "linux", "distribution": known[word], "release": release}
    return None


def _version(field: str) -> Callable[["re.Match[str]"], Changes]:
    return lambda found: {field: NONE if found[1] in ("none", "no") else found[1]}


def _fixed(**changes: Any) -> Callable[["re.Match[str]"], Changes]:
    return lambda _found: changes


def _size(field: str) -> Callable[["re.Match[str]"], Changes]:
    return lambda found: {field: int(float(found[1]) * _UNITS[found[2]])}


def _colab(_found: "re.Match[str]") -> Changes:
    return {"colab": True, "system": "linux", "container": True, "root": True}


_SIZE = r" (\d{1,7}(?:\.\d{1,3})?) ?([kmgt]i?b)(?: free)?"
_WORDS: tuple[tuple[str, Callable[["re.Match[str]"], Changes]], ...] = (
    (r"(?:no|without) gpus?|cpu(?: only)?", _fixed(devices=())),
    (r"(?:nvidia )?driver (none|no|\d[\d.]{0,20})", _version("nvidia_driver")),
    (r"no (?:nvidia )?driver", _fixed(nvidia_driver=NONE)),
    (r"open(?: kernel)? modules?", _fixed(open_module=True)),
    (r"(?:proprietary|closed)(?: kernel)? modules?", _fixed(open_module=False)),
    (r"rocm (none|no|\d[\d.]{0,20})", _version("amd_driver")),
    (
        r"windows(?: (\d[\w.]{0,12}))?(?: pro| home| server \d{4})?",
        lambda f: {"system": "windows", "windows": f[1] or ""},
    ),
    (r"mac ?os(?: x)?(?: (\d[\d.]{0,8}))?", lambda f: {"system": "macos", "macos": f[1] or ""}),
    (r"wsl ?[12]?", _fixed(system="linux", wsl=True)),
    (r"vm|virtual machine", _fixed(virtual=True)),
    (r"container|docker|podman", _fixed(container=True)),
    (r"jetpack (\d[\d.]{0,8})", lambda f: {"jetpack": f[1], "machine": "aarch64"}),
    (r"(?:google )?colab", _colab),
    (r"kernel (\S{1,60})", _version("kernel")),
    (r"glibc (\d[\d.]{0,8})", _version("glibc")),
    (r"musl", _fixed(glibc=NONE)),
    (r"python (\d\.\d{1,2}t?)(?:\.\d{1,3})?", lambda f: {"python": f[1], "pythons": (f[1],)}),
    (r"conda|miniconda|anaconda|miniforge|mamba", _fixed(conda=True)),
    (r"arch (x86_64|amd64|aarch64|arm64)", lambda f: {"machine": {"amd64": "x86_64"}.get(f[1], f[1])}),
    (r"rosetta", _fixed(rosetta=True, machine="x86_64", system="macos")),
    (r"(?:ram|memory)" + _SIZE, _size("ram")),
    (r"disk" + _SIZE, _size("disk")),
    (r"no network|offline", _fixed(network=False)),
    (r"no root|no sudo", _fixed(root=False)),
    (r"root|sudo", _fixed(root=True)),
    (r"secure boot", _fixed(secure_boot=True)),
)


def _devices(part: str) -> list[tuple[Gpu, str]]:
    """Three cards of "2x RTX 3090 + GTX 1080 Ti", each with the PCI id that it was named by."""
    found: list[tuple[Gpu, str]] = []
    for piece in (one.strip() for one in part.split("+")):
        counted = _COUNTED.fullmatch(piece)
        count = min(int(counted["count"]), _MOST) if counted else 1
        found += [_gpu(counted["name"] if counted else piece)] * count
    return found


def _gpu(name: str) -> tuple[Gpu, str]:
    """A product by its id or name. Raises ProfileError for words that name none."""
    if found := _PCI.fullmatch(name):
        known = gpu_by_pci(found["vendor"], found["device"])
        vendor = VENDORS.get(found["vendor"].lower(), found["vendor"].lower())
        return known or Gpu(vendor=vendor, name=name), name.lower()
    if known := one_gpu(name) or one_gpu(re.sub(r"\d{1,3} ?[gG]i?[bB]", "", name).strip()):
        return known, ""
    if _MAKERS.search(name):
        return Gpu(vendor=_maker(name), name=name), ""
    raise ProfileError(
        _(
            "{part} is neither a GPU that the catalogue knows nor a word of a profile. Write for instance: "
            "2x RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11, no root."
        ).format(part=name[:100])
    )


def _maker(name: str) -> str:
    low = name.lower()
    if re.search(r"amd|radeon|instinct|\brx\b", low):
        return "amd"
    if re.search(r"intel|\barc\b|iris", low):
        return "intel"
    return "apple" if "apple" in low else "nvidia"


def _device(index: int, gpu: Gpu, pci_id: str) -> Device:
    return Device(
        index=index, vendor=gpu.vendor, name=gpu.name, isa=gpu.isa, pci_id=pci_id, architecture=gpu.architecture,
        integrated=gpu.integrated, memory={"vram": gpu.memory_bytes} if gpu.memory_bytes else {},
    )  # fmt: skip
