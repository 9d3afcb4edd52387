"""Values as tools print them, and statements that are put together from several lines."""

import re
from collections.abc import Iterator
from typing import Any, Generic, NamedTuple, TypeVar

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact, Reading
from rigup.machine.kinds import Distribution, Platform
from rigup.machine.texts import Text

T = TypeVar("T", bound=Fact)

_NOTHING = lazy_regex(
    r"\[?(?:n/?a|none|null|not? (?:supported|available|applicable)|unknown(?: error)?|err!?|not found|redacted|"
    r"requested functionality has been deprecated|could not collect|graphics device|x+)\]?|\W*",
    re.IGNORECASE,
)
_UNITS = {"": 1, "b": 1, "bytes": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = lazy_regex(r"(\d{1,20}(?:\.\d{1,9})?)(?:[eE]\+?(\d{1,2}))? ?([kKmMgGtT]?)(?:i?[bB](?:ytes)?)?\b")
_ADDRESS = lazy_regex(r"(?:([0-9a-fA-F]{4,8}):)?([0-9a-fA-F]{2}):([0-9a-fA-F]{1,2})\.([0-7])\b")
_UUID = lazy_regex(r"(?:GPU-|MIG-)?[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?:/\d+/\d+)?")
_HIP_UUID = lazy_regex(r"GPU-[0-9a-fA-F]{16}")
_LINE = lazy_regex(r"^([ \t>|*-]{0,60})([^\s:=][^:=\n]{0,79}?)[ \t]{0,60}[:=](?:[ \t]+|(?=\S)|$)(.*)$", re.MULTILINE)


def known_value(value: str) -> str | None:
    """A value, or None where the tool prints that it has none."""
    value = value.strip()
    return None if _NOTHING.fullmatch(value) else value


def size(value: str, unit: str = "") -> int | None:
    """Bytes. nvidia-smi's MiB and rocm's KB alike are powers of two; `unit` counts where none is written."""
    match = _SIZE.match(value.strip())
    if not match:
        return None
    number: float = float(match[1]) * 10 ** int(match[2] or 0)
    return int(number * _UNITS[(match[3] or unit).lower()])


def address(value: str) -> str | None:
    """0000:01:00.0 from any of its forms: a longer domain, capital letters, none at all."""
    match = _ADDRESS.search(value)
    if not match:
        return None
    domain = (match[1] or "").lstrip("0").lower().rjust(4, "0")
    return f"{domain}:{match[2].lower()}:{match[3].lower().rjust(2, '0')}.{match[4]}"


def uuid(value: str) -> str | None:
    """A UUID that tells a card; one that was masked does not."""
    match = _UUID.search(value) or _HIP_UUID.search(value)
    if not match or not re.search(r"[1-9a-fA-F]", match[0].removeprefix("GPU-").removeprefix("MIG-")):
        return None
    plain = match[0].startswith(("GPU-", "MIG-"))
    return match[0] if plain else "GPU-" + match[0]


def number(value: str) -> int | None:
    """The whole number that a value begins with."""
    match = re.match(r"\s*([+-]?\d{1,18})(?![\d.]*\.\d)", value)
    return int(match[1]) if match else None


def version(value: str) -> str | None:
    """The version that a value begins with, whatever stands behind it."""
    match = re.match(r"\s*[vV]?(\d{1,9}(?:\.\d{1,9})*[^\s,;\[\]()\"']{0,60})", value)
    return match[1] if match else None


def truth(value: str) -> bool | None:
    """Yes or no, in the words that tools have for it."""
    word = value.strip().strip("()`'\".,").lower()
    return {
        "true": True,
        "yes": True,
        "on": True,
        "enabled": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "disabled": False,
        "0": False,
    }.get(word)


def pci_id(vendor: str, device: str) -> str | None:
    """10de:2204 from two hexadecimal numbers."""
    both = [re.fullmatch(r"\s*(?:0[xX])?([0-9a-fA-F]{1,4})\s*", part) for part in (vendor, device)]
    return ":".join(part[1].lower().rjust(4, "0") for part in both if part) if all(both) else None


class Line(NamedTuple):
    """`key : value` in a report that is laid out in lines."""

    start: int  # of the line
    indent: int
    key: str
    value: str
    at: int  # of the value


def keyed(text: Text, start: int = 0, end: int | None = None) -> Iterator[Line]:
    """The lines of a part of a text that tell a key and its value; quote marks and bullets aside."""
    for match in _LINE.finditer(text.body, start, len(text.body) if end is None else end):
        yield Line(match.start(), len(match[1].expandtabs(8)), match[2].strip(), match[3].strip(), match.start(3))


class Draft(Generic[T]):
    """A statement that is put together from several spots of a text."""

    def __init__(self, text: Text, kind: type[T], at: int) -> None:
        self.text, self.kind, self.at = text, kind, at
        self.readings: dict[str, Reading] = {}

    def add(self, name: str, value: Any, at: int | None = None, rank: int = 0) -> None:
        """Set a field; None is ignored, and the first value stays."""
        if value is not None and name not in self.readings:
            where = self.text.where(self.at if at is None else at)
            self.readings[name] = Reading(value, where, self.text.rank + rank)

    def lacks(self, name: str, at: int | None = None, rank: int = 0) -> None:
        """A field is known to have no value."""
        where = self.text.where(self.at if at is None else at)
        self.readings.setdefault(name, Reading(None, where, self.text.rank + rank))

    def has(self, name: str) -> bool:
        """Whether a field is set."""
        return name in self.readings

    def get(self, name: str) -> Any:
        """A field's value so far."""
        return self.readings[name].value if name in self.readings else None

    def facts(self, *but: str) -> Iterator[T]:
        """The statement, if it tells more than `but`."""
        if set(self.readings) - set(but):
            yield self.kind(self.text.place(self.at), dict(self.readings))


def says(text: Text, kind: type[T], at: int, **fields: Any) -> Iterator[T]:
    """A fact about one spot; fields of value None are left out."""
    draft = Draft(text, kind, at)
    for name, value in fields.items():
        draft.add(name, value)
    return draft.facts()


def platform_of(text: Text, at: int, value: str) -> Iterator[Fact]:
    """What Python's platform.platform() tells. On a Mac its architecture is the interpreter's alone."""
    system = re.match(r"(Linux|Windows|macOS|Darwin)-([^\s-]+(?:-[\w.+~]+){0,12})", value)
    if not system:
        return
    kind = {"Darwin": "macos"}.get(system[1], system[1].lower())
    draft = Draft(text, Platform, at)
    draft.add("system", kind)
    machine = re.search(r"-(x86_64|aarch64|arm64|AMD64|ARM64|ppc64le|riscv64|i686)\b", value)
    if kind == "linux":
        release = re.match(r"Linux-(\S+?)-(?:x86_64|aarch64|arm64|ppc64le|riscv64|i686)(?:-|\b)", value)
        draft.add("release", release[1] if release else None)
        draft.add("wsl", wsl(release[1]) if release else None)
        draft.add("architecture", machine[1] if machine else None)
        libc = re.search(r"-glibc(\d[\d.]*)", value)
        yield from says(text, Distribution, at, glibc=libc[1] if libc else None)
    elif kind == "windows":
        build = re.match(r"Windows-[\w.]+-(\d[\d.]*)", value)
        draft.add("version", build[1] if build else None)
    else:
        draft.add("version" if system[1] == "macOS" else "release", system[2].split("-")[0])
        draft.add("architecture", "arm64" if machine and machine[1] == "arm64" else None)
    yield from draft.facts()


def wsl(release: str) -> int | None:
    """1 or 2 by the kernel's release, None for another kernel."""
    low = release.lower()
    if "microsoft" not in low:
        return None
    return 1 if release.endswith("-Microsoft") else 2


def vendor_of(name: str) -> str | None:
    """Who makes a card, by the name that it is sold under."""
    low = " " + name.lower()
    for vendor, words in _MAKERS.items():
        if any(word in low for word in words):
            return vendor
    return None


_MAKERS = {
    "nvidia": ("nvidia", "geforce", "quadro", "tesla ", " titan", " rtx ", " gtx "),
    "apple": (" apple",),
    "intel": (" intel", "intel(r)", " arc ", " iris ", " uhd graphics"),
    "amd": (" amd", "radeon", "instinct", "firepro", "advanced micro", " gfx"),
    "hygon": ("hygon", " dcu"),
    "moorethreads": ("moore threads", " mtt "),
    "microsoft": ("microsoft",),
}
