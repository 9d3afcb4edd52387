"""What would tell more of a kind of fact, on the machine that is asked about and nowhere else."""

import functools
from collections.abc import Iterable
from typing import Any

from rigup.machine.kinds import Gpu, Platform
from rigup.machine.reader import READERS, Ask, File, Input, Listing, Run, shown
from rigup.machine.store import Facts

_OF_WINDOWS, _OF_MACS = ("powershell", "cmd", "reg", "wmic", "dxdiag"), ("system_profiler", "sw_vers", "sysctl")
_TREES = {"windows": ("/Windows/", "{PythonEnv.prefix}/Lib/", "{Proof.env}/Lib/"), "macos": ("/System/", "/Library/", "/Applications/")}
_EVERYWHERE = ("nvidia-smi", "rocminfo", "uname")
_MAKERS = {"nvidia": "nvidia", "rocm": "amd", "amd": "amd", "kfd": "amd", "i915": "intel", "sycl": "intel"}
_MOST = 6


def would_tell(kind: str, facts: Facts) -> list[str]:
    """Commands and files, as a person types them, that tell of a kind on this system and of these makers' cards."""
    system = next((str(platform.get("system")) for platform in facts.of(Platform) if platform.get("system")), "")
    makers = frozenset(str(gpu.get("vendor")) for gpu in facts.of(Gpu) if gpu.get("vendor"))
    return list(_fitting(kind, system, makers if kind in ("Gpu", "Driver", "CardCount") else frozenset()))


@functools.cache
def _fitting(kind: str, system: str, makers: frozenset[str]) -> tuple[str, ...]:
    inputs = [given for reader in READERS.values() if any(k.__name__ == kind for k in reader.makes) for given in reader.inputs]
    ordered = sorted(dict.fromkeys(inputs), key=_rank)
    fitting = [_as_typed(given) for given in ordered if _system_of(given) in ("", system or "linux") and _is_by(given, makers)]
    return tuple(dict.fromkeys(filter(None, fitting)))[:_MOST]


def _rank(given: Input) -> int:
    """Programs before files: their answers are what people paste."""
    return next(number for number, input_type in enumerate((Run, Ask, Listing, File)) if isinstance(given, input_type))


def _system_of(given: Input) -> str:
    """The system that an input is of; empty where it is of any."""
    if isinstance(given, Ask):
        return ""
    if isinstance(given, Run):
        name = given.argv[0]
        known = {"windows": _OF_WINDOWS, "macos": _OF_MACS}
        return next((system for system, names in known.items() if name in names), "" if name in _EVERYWHERE else "linux")
    return next((system for system, trees in _TREES.items() if given.path.startswith(trees)), "linux")


def _is_by(given: Input, makers: Iterable[str]) -> bool:
    """Whether it is nobody's own, or of a maker whose card is there."""
    words = given.argv[0] if isinstance(given, Run) else "" if isinstance(given, Ask) else given.path
    named = {maker for word, maker in _MAKERS.items() if word in words}
    return not makers or not named or bool(named & set(makers))


def _as_typed(given: Any) -> str:
    """Without our own programs; a field of a fact is written as what a person puts there."""
    text = shown(given)
    if isinstance(given, Run):
        return "" if given.argv[0].startswith("/") or len(text) > 100 else text
    for name, replacement in _WORDS.items():
        text = text.replace(name, replacement)
    return text


_WORDS = {
    "{PciDevice.address}": "*",
    "{HomeFolder.path}": "~",
    "{Platform.release}": "$(uname -r)",
    "{PythonEnv.prefix}": "ENVIRONMENT",
    "{Proof.env}": "ENVIRONMENT",
    "{SearchPath.path}": "FOLDER",
    "{LoaderEntry.path}": "LIBRARY",
    "{StateFolder.path}": "~/.local/state",
    "{UnitFile.path}": "UNIT",
    "{JupyterFolder.path}": "~/.local/share/jupyter",
}
