"""Operating systems by the names that people and tools write."""

import re
from collections.abc import Iterator

from rigup.machine.facts import Fact
from rigup.machine.kinds import Distribution, Platform
from rigup.machine.readers.values import Draft
from rigup.machine.texts import Text

# How a distribution's name begins, and its id in os-release.
_IDS = {
    "ubuntu": "ubuntu",
    "debian": "debian",
    "fedora": "fedora",
    "red hat enterprise": "rhel",
    "rhel": "rhel",
    "centos": "centos",
    "rocky": "rocky",
    "almalinux": "almalinux",
    "oracle linux": "ol",
    "amazon linux": "amzn",
    "arch": "arch",
    "manjaro": "manjaro",
    "opensuse leap": "opensuse-leap",
    "opensuse tumbleweed": "opensuse-tumbleweed",
    "opensuse": "opensuse",
    "suse linux enterprise": "sles",
    "linux mint": "linuxmint",
    "pop!_os": "pop",
    "nixos": "nixos",
    "gentoo": "gentoo",
    "alpine": "alpine",
    "kali": "kali",
    "endeavouros": "endeavouros",
    "cachyos": "cachyos",
    "zorin": "zorin",
    "elementary": "elementary",
    "void": "void",
    "azure linux": "azurelinux",
    "photon": "photon",
    "scientific linux": "scientific",
    "garuda": "garuda",
    "nobara": "nobara",
    "bazzite": "bazzite",
}


def os_of(text: Text, at: int, value: str) -> Iterator[Fact]:
    """`Ubuntu 22.04.4 LTS (x86_64)`, `macOS 14.4 (arm64)`, `Microsoft Windows 11 Pro`."""
    low = value.strip().lower()
    if low.startswith(("macos", "mac os")):
        yield from _mac(text, at, value)
    elif low.startswith(("microsoft windows", "windows")) and "wsl" not in low:
        yield from _windows(text, at, value)
    elif name := next((start for start in _IDS if low.startswith(start)), ""):
        draft = Draft(text, Distribution, at)
        draft.add("id", _IDS[name])
        draft.add("name", re.sub(r" \((?:x86_64|aarch64|arm64|ppc64le)\)\s*$", "", value.strip()))
        number = re.search(r"\b[vV]?(\d{1,4}(?:\.\d{1,3}){0,2})\b", value[len(name) :])
        draft.add("version", number[1] if number else None)
        yield from draft.facts()
        yield from _linux(text, at, value)


def _linux(text: Text, at: int, value: str) -> Iterator[Platform]:
    draft = Draft(text, Platform, at)
    draft.add("system", "linux")
    machine = re.search(r"\((x86_64|aarch64|arm64|ppc64le)\)", value)
    draft.add("architecture", machine[1] if machine else None)
    yield from draft.facts()


def _mac(text: Text, at: int, value: str) -> Iterator[Platform]:
    """The architecture in brackets is Python's: only arm64 tells the machine's."""
    draft = Draft(text, Platform, at)
    draft.add("system", "macos")
    number = re.search(r"\d{2}\.\d{1,2}(?:\.\d{1,2})?", value)
    draft.add("version", number[0] if number else None)
    draft.add("architecture", "arm64" if "(arm64)" in value else None)
    yield from draft.facts()


def _windows(text: Text, at: int, value: str) -> Iterator[Fact]:
    draft = Draft(text, Platform, at)
    draft.add("system", "windows")
    build = re.search(r"\b10\.0\.\d{4,6}(?:\.\d{1,6})?", value)
    draft.add("version", build[0] if build else None)
    yield from draft.facts()
    named = Draft(text, Distribution, at)
    named.add("id", "windows")
    named.add("name", value.strip())
    number = re.search(r"[Ww]indows (?:Server )?(\d{1,4}(?:\.\d)?)\b", value)
    named.add("version", number[1] if number else None)
    yield from named.facts()
