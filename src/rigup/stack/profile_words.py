"""The words of a profile that name no device."""

import re
from collections.abc import Callable
from typing import Any

from rigup.knowledge.distributions import of_codename, spoken
from rigup.knowledge.jetson import jetpack_of_l4t
from rigup.stack.site import NONE
from rigup.stack.system_state import SystemState

Changes = dict[str, Any]
Found = re.Match[str]

_UNITS = {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = r"(?P<size>\d{1,7}(?:\.\d{1,3})?) ?(?P<unit>[kmgt]i?)b?"
_BEFORE = _SIZE.replace(">", "_before>")
_NUMBER = r"[ :=-]?v?r?(?P<number>\d[\d.]{0,20})(?:\.?x{1,3})?"
_NO = r"(?:no|none|not installed|missing|without)"
_SYSTEM = re.compile(
    r"(?P<name>[a-z][a-z!_. -]{0,40}?)[ :-]?(?P<release>\d[\d.]{0,12})?(?: ?sp ?(?P<pack>\d))?(?: ?lts)?(?: (?:server|desktop|core|workstation))?"
)
_LINUX = re.compile(r"[a-z][a-z .-]{1,30} (?:linux|os)\b")
_MACHINE = r"(?P<machine>x86[_-]64|amd64|x64|aarch64|arm64|armv[67]l|i[3-6]86|ppc64le|riscv64|s390x)"
_WITH_MACHINE = re.compile(rf"(?P<rest>\S.{{0,80}}?)(?: ?\(?(?:on |for )?{_MACHINE}\)?| (?:on|for) arm)")
_INSIDE_WSL = re.compile(r"wsl ?[12]? (?P<inner>\S.{1,60})|(?P<before>\S.{1,60}?) (?:in |on |under )?\(?wsl ?[12]?\)?")


def changes_of(part: str) -> Changes | None:
    """The changes of a part, which is in lower case and with single blanks; None for one that is no word of a profile."""
    return _as_it_stands(part) or _on_a_machine(part)


def _on_a_machine(part: str) -> Changes | None:
    """A system with its architecture in one part: "windows 11 arm64", "ubuntu 24.04 (aarch64)", "windows 11 on arm"."""
    match = _WITH_MACHINE.fullmatch(part)
    system = _as_it_stands(match["rest"].rstrip()) if match else None
    if not match or not system or not {"system", "windows", "macos", "jetpack"} & system.keys():
        return None
    return system | (_machine(match) if match["machine"] else {"machine": "arm64"})


def _as_it_stands(part: str) -> Changes | None:
    inside = _INSIDE_WSL.fullmatch(part)
    changes = _system(inside["inner"] or inside["before"]) if inside else _plainly(part)
    return changes | {"wsl": True} if changes and inside else changes


def _plainly(part: str) -> Changes | None:
    for pattern, meaning in _WORDS:
        if match := re.fullmatch(pattern, part):
            return meaning(match)
    return _system(part)


def _system(part: str) -> Changes | None:
    """A distribution and its release: "ubuntu 22.04", "rhel9", "rocky linux 9.4", "sles 15 sp6", "debian bookworm"."""
    return _by_codename(part) or _by_number(part)


def _by_codename(part: str) -> Changes | None:
    """The release of "bookworm", "debian bookworm" and "debian 12 (bookworm)"."""
    before, _blank, word = part.rpartition(" ")
    row, name = of_codename(word.strip("()")), before.rstrip(" 0123456789.")
    if row is None or (name and spoken().get(name) != row.id):
        return None
    return {"system": "linux", "distribution": row.id, "release": row.release}


def _by_number(part: str) -> Changes | None:
    """A distribution that nobody wrote down is Linux all the same; its C library is then not known."""
    match = _SYSTEM.fullmatch(part)
    if not match:
        return None
    known, release = spoken(), ".".join(number for number in (match["release"], match["pack"]) if number)
    for word in (match["name"], match["name"].removesuffix(" linux").strip()):
        if word in known:
            return {"system": "linux", "distribution": known[word], "release": release}
    return {"system": "linux", "distribution": match["name"], "release": release} if _LINUX.match(part) else None


def _version(field: str) -> Callable[[Found], Changes]:
    """A field with a number, "" where it is absent."""
    return lambda match: {field: (match["number"] or NONE).rstrip(".")}


def _fixed(**changes: Any) -> Callable[[Found], Changes]:
    return lambda _found: changes


def _sized(field: str) -> Callable[[Found], Changes]:
    """Bytes, from a number before or behind the word."""
    return lambda match: {field: int(float(match["size"] or match["size_before"]) * _UNITS[match["unit"] or match["unit_before"]])}


def _rocm(match: Found) -> Changes:
    """A ROCm of the system: its libraries and tools, and the kernel driver that belongs to it."""
    release = (match["number"] or NONE).rstrip(".")
    return {"amd_driver": release, "system_state": SystemState(toolkits={"rocm": (release,)} if release else {})}


def _machine(match: Found) -> Changes:
    spelt = {"amd64": "x86_64", "x64": "x86_64", "x86-64": "x86_64"}
    return {"machine": spelt.get(match["machine"], match["machine"])}


def _windows(match: Found) -> Changes:
    return {"system": "windows", "windows": match["number"] or ""}


def _macos(match: Found) -> Changes:
    return {"system": "macos", "macos": match["number"] or ""}


def _l4t(match: Found) -> Changes:
    known = jetpack_of_l4t(match["number"])
    return {"jetpack": known.release if known else match["number"], "machine": "aarch64"}


def _python(match: Found) -> Changes:
    return {"python": match["minor"], "pythons": (match["minor"],)}


_WORDS: tuple[tuple[str, Callable[[Found], Changes]], ...] = (
    (r"(?:no|without) (?:gpus?|graphics card)|cpu(?:[ -]only)?", _fixed(devices=())),
    (rf"(?:nvidia )?driver[ :=]?(?:version )?(?:{_NO}|{_NUMBER})", _version("nvidia_driver")),
    (r"nvidia[- ]driver-(?P<number>\d{3})(?:-server)?(?:-open)?", _version("nvidia_driver")),
    (rf"{_NO}(?: nvidia)? driver(?P<number>)", _version("nvidia_driver")),
    (r"(?:nvidia[ -])?open(?:[ -]kernel)?[ -]modules?", _fixed(open_module=True)),
    (r"(?:nvidia[ -])?(?:proprietary|closed)(?:[ -]kernel)?[ -]modules?", _fixed(open_module=False)),
    (rf"rocm[ :=]?(?:{_NO}|{_NUMBER})|{_NO} rocm", _rocm),
    (rf"cuda(?: toolkit)?[ :=]?(?:{_NO}|{_NUMBER})|{_NO} cuda(?: toolkit)?", _version("toolkit")),
    (r"win(?:dows)?(?: ?(?P<number>\d[\w.]{0,12}))?(?: pro| home| enterprise| education| \d{2}h\d| server \d{4}){0,3}", _windows),
    (r"mac ?os(?: ?x)?(?: [a-z]{3,9})?(?: ?(?P<number>\d[\d.]{0,8}))?", _macos),
    (r"wsl ?[12]?", _fixed(system="linux", wsl=True)),
    (r"vm|(?:in )?(?:a )?virtual machine|kvm|vmware|proxmox|hyper-v", _fixed(virtual=True)),
    (r"(?:in )?(?:a )?(?:container|docker|podman|apptainer|singularity|kubernetes)(?: container)?", _fixed(container=True)),
    (r"(?:jetpack|jp) ?(?P<number>\d[\d.]{0,8})", lambda f: {"jetpack": f["number"], "machine": "aarch64"}),
    (r"(?:l4t|jetson linux) ?r?(?P<number>\d[\d.]{0,8})", _l4t),
    (r"(?:google )?colab", _fixed(colab=True, system="linux", container=True, root=True)),
    (r"kernel[ :=]?(?P<number>\S{1,60})", lambda f: {"kernel": f["number"]}),
    (r"(?:g?libc) ?(?P<number>\d[\d.]{0,8})", _version("glibc")),
    (r"musl(?: libc)?", _fixed(glibc=NONE)),
    (r"(?:c?python|py) ?(?P<minor>\d\.\d{1,2}t?)(?:\.\d{1,3})?(?: \(?free[- ]threaded\)?)?", _python),
    (r"(?:mini|ana)?conda3?|miniforge3?|mamba|micromamba|pixi", _fixed(conda=True)),
    (rf"(?:arch(?:itecture)?[ :=])?{_MACHINE}", _machine),
    (r"rosetta ?2?", _fixed(rosetta=True, machine="x86_64", system="macos")),
    (rf"(?:(?:system )?ram|(?:main )?memory)[ :=]?{_SIZE}|{_BEFORE} (?:of )?(?:ram|memory)", _sized("ram")),
    (rf"(?:free )?disk(?: space)?[ :=]?{_SIZE}(?: free)?|{_BEFORE} (?:free )?(?:of )?disk(?: space)?", _sized("disk")),
    (r"(?:no|without) (?:network|internet)|offline|air[- ]?gapped", _fixed(network=False)),
    (r"network|internet|online", _fixed(network=True)),
    (r"(?:no|without) (?:root|sudo|admin(?:istrator)?(?: rights)?)|not root|unprivileged", _fixed(root=False)),
    (r"root|sudo|administrator", _fixed(root=True)),
    (r"secure ?boot(?: on| enabled)?", _fixed(secure_boot=True)),
    (r"(?:no|without) (?:secure ?boot)|secure ?boot (?:off|disabled)", _fixed(secure_boot=False)),
    (r"nv ?switch|hgx", _fixed(nvswitch=True)),
    (r"no avx(?P<wide>2)?", lambda f: {"lacks": ("avx2",) if f["wide"] else ("avx", "avx2")}),
)
