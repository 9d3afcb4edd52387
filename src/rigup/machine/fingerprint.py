"""A machine as plain data that can be kept and compared: what lasts of its facts, and who looked where.

What changes by itself stands in no fingerprint: used memory, free disk, power states, what hangs on a terminal, a
job or the folder in which somebody works. Of variables those are kept that a judgement needs.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.secrets import is_secret, words
from rigup.machine.facts import Fact, Look, Place
from rigup.machine.kinds import HomeFolder, PythonEnv
from rigup.machine.store import Facts

# What programs said, what is counted from other facts, and what the kernel numbers anew at each start.
_ASIDE = frozenset(
    (
        "Symptom",
        "JobRequest",
        "Launch",
        "Mask",
        "CardCount",
        "UnlistedVendor",
        "UnloadedModule",
        "HomeFolder",
        "DrmCard",
        "NetInterface",
        "RdmaPort",
        "PeerMemory",
        "Proof",
        "ProvenPackage",
        "StateFolder",
        "JupyterFolder",
    )
)
_VOLATILE = frozenset(
    (
        "Gpu.memory_used",
        "Gpu.power",
        "Gpu.seen_by",
        "Gpu.ecc_errors",
        "Gpu.nvml_index",
        "Gpu.runtime_index",
        "Gpu.adapter",
        "PciDevice.power",
        "Memory.available",
        "Memory.commit_free",
        "SharedMemory.free",
        "DiskSpace.free",
        "Torch.executable",
        "PythonEnv.active",
        "JupyterKernel.shown",
        "Variable.file",
    )
)
_OF_A_MOMENT = frozenset(
    [
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "TERM",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "COLUMNS",
        "LINES",
        "COLORTERM",
        "NO_COLOR",
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "SSH_TTY",
        "HOSTNAME",
        "USER",
        "LOGNAME",
        "HOME",
        "TMPDIR",
        "TMP",
        "TEMP",
        "WSL_INTEROP",
        "CONDA_SHLVL",
        "CONDA_PROMPT_MODIFIER",
        "VIRTUAL_ENV_PROMPT",
        "MASTER_PORT",
        "RANK",
        "GLOBAL_RANK",
        "LOCAL_RANK",
        "NODE_RANK",
        "GROUP_RANK",
        "container",
    ]
)
_OF_A_JOB = ("LC_", "XDG_", "JPY_", "JUPYTER_", "PMI", "OMPI_", "SLURM")  # beginnings of such names
_BOOT_FILES = ("BOOT_IMAGE", "initrd", "root", "resume")  # they name files and disks, the kernel's version with them
_LOGIN = lazy_regex(r"(?<=://)[^\s/@]{1,300}@")
_WORDY = ("Variable", "FileVariable", "PackageSource")  # kinds whose values people write


Row = tuple[tuple[str, ...], dict[str, Any]]


class Fingerprint(msgspec.Struct, kw_only=True):
    """What lasts of a machine.

    Attributes:
        facts: by kind, its subjects: the place and the fields that are known (None: known absence).
        whole: by kind, places in which somebody looked at all of them: there an absence is known.
        refused: by kind, sources that could not be read, with why.
        work: folders in which somebody worked: what lies there is found only from there.

    """

    facts: dict[str, list[Row]] = {}
    whole: dict[str, list[tuple[str, ...]]] = {}
    refused: dict[str, list[str]] = {}
    work: list[str] = []


def fingerprint(facts: Facts) -> Fingerprint:
    """What lasts of the facts, in one order."""
    here = _Here(facts)
    result = Fingerprint(work=here.work)
    for fact in facts.all():
        name = type(fact).__name__
        if name not in _ASIDE and (fields := _fields(name, fact, here)) is not None:
            result.facts.setdefault(name, []).append((here.place(fact.place), fields))
    _note(result, facts.looks, here)
    for rows in result.facts.values():
        rows.sort(key=repr)
    return result


class _Here:
    """Names that differ between machines alike, made equal: the node, the world that was asked, home folders."""

    def __init__(self, facts: Facts) -> None:
        places = [fact.place for fact in facts.all()] + [look.place for look in facts.looks]
        nodes = {place.node for place in places} - {""}
        self._node = nodes.pop() if len(nodes) == 1 else ""
        worlds = [place.world for place in places if place.world]
        self._world = "host" if "host" in worlds else worlds[0] if worlds else ""
        folders = {fact.get("path"): fact.get("role") for fact in facts.of(HomeFolder)}
        homes = [str(path) for path, role in folders.items() if role == "home"]
        self._homes = tuple(sorted(homes, key=len, reverse=True)) if len(homes) < 3 else ()
        self.work = sorted(self.text(str(path)) for path, role in folders.items() if role == "work")

    def place(self, place: Place) -> tuple[str, ...]:
        """A place without the names of this node and of its first world."""
        node = "" if place.node == self._node else place.node
        return (node, "" if place.world == self._world else place.world, place.process, place.moment)

    def text(self, value: str) -> str:
        """A text with ~ for a person's own folder."""
        for home in self._homes:
            if home in value:
                value = re.sub(re.escape(home) + r"(?![\w.-])", "~", value)
        return value

    def plain(self, value: Any) -> Any:
        """A value that can be kept and compared: lists in one order."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple | set | frozenset):
            return sorted((self.plain(item) for item in value), key=repr)
        return {str(k): self.plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def _fields(name: str, fact: Fact, here: _Here) -> dict[str, Any] | None:
    """What is known of a subject and lasts; None where it is of a moment alone."""
    if not _lasts(name, fact):
        return None
    known = {field: value for field, value in fact.values().items() if name + "." + field not in _VOLATILE}
    if name in _WORDY:
        known = {field: _without_login(value) for field, value in known.items()}
    return {field: here.plain(value) for field, value in known.items()}


def _lasts(name: str, fact: Fact) -> bool:
    variable = fact.values().get("name")
    if name in ("Variable", "FileVariable"):
        return _is_kept(str(variable))
    return not (name == "KernelParameter" and variable in _BOOT_FILES)


@functools.cache
def _wanted_variables() -> tuple[frozenset[str], tuple[str, ...]]:
    """Names, and beginnings of names, of variables whose values are needed to judge a machine."""
    known = words("kept variable")
    return known, tuple(name.removesuffix("*") for name in known if name.endswith("*"))


def _is_kept(name: str) -> bool:
    names, beginnings = _wanted_variables()
    wanted = name in names or name.startswith(beginnings)
    return wanted and name not in _OF_A_MOMENT and not name.startswith(_OF_A_JOB) and not is_secret(name)


def _without_login(value: Any) -> Any:
    """An address without who logs in there."""
    if isinstance(value, list):
        return [_without_login(address) for address in value]
    return _LOGIN.sub("", value) if isinstance(value, str) and "@" in value else value


def _note(result: Fingerprint, looks: list[Look], here: _Here) -> None:
    """Who looked where, in one order."""
    whole: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    refused: dict[str, set[str]] = defaultdict(set)
    for look in looks:
        if look.coverage == "whole":
            whole[look.kind.__name__].add(look.place)
        elif look.coverage == "refused" and look.trouble:
            refused[look.kind.__name__].add(here.text(look.source))
    result.whole = {kind: sorted({here.place(Place(*at)) for at in whole[kind]}) for kind in whole.keys() - _ASIDE}
    result.refused = {kind: sorted(refused[kind]) for kind in refused.keys() - _ASIDE}


def environment(facts: Facts) -> str:
    """The Python environment that is active for who asks; "" where none is."""
    return next(_active(facts), "")


def _active(facts: Facts) -> Iterator[str]:
    yield from (str(env.get("prefix")) for env in facts.of(PythonEnv) if env.get("active"))
