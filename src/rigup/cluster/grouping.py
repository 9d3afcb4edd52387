"""Nodes grouped by what is wrong with them, and by what differs between nodes that should be alike: pure.

Of every fact the usual value is the one that most of the alike nodes have; a fact whose value is each node's own (an
address, a serial number) is nobody's difference. Equal rows are taken apart once, so ten thousand nodes take seconds.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from rigup.machine.difference import subject_of
from rigup.machine.fingerprint import Fingerprint, Row

# What follows from a difference that is told by itself: files of a driver, lists that a card stands in, names and addresses.
_ECHOES = frozenset((
    "DriverLibrary", "KernelLibrary", "LoaderEntry", "PathLibrary", "SearchPath", "DkmsBuild", "DkmsTree", "PciDevice", "KfdNode", "Gpu", "SystemPackage",
    "Folder", "NextBoot", "Kernel", "SlurmNode", "DeadLine", "UnitFile",
))  # fmt: skip
_OWN = frozenset(
    (
        "uuid",
        "serial",
        "pci",
        "pci_id",
        "bus",
        "address",
        "hostname",
        "host",
        "node",
        "mac",
        "numbers",
        "uid",
        "gid",
        "minor",
        "cdi",
    )
)
_SIZES = frozenset(("total", "size"))
_CLOSE = 0.02  # share by which sizes of one thing may differ
Fact = tuple[str, str, str]  # kind, subject, field


class Examined(NamedTuple):
    """A node that answered: what lasts of it, what is wrong (cause, title), its GPUs by name, how many Slurm expects of it."""

    fingerprint: Fingerprint
    findings: tuple[tuple[str, str], ...] = ()
    gpus: tuple[str, ...] = ()
    expected: int | None = None


class Differs(NamedTuple):
    """A fact of a node that is not as on its sisters. None: it is not there."""

    fact: str
    value: str | None
    usual: str | None


class Group(NamedTuple):
    """Nodes of which the same is to be said."""

    nodes: tuple[str, ...]
    findings: tuple[tuple[str, str], ...]
    differs: tuple[Differs, ...]


def grouped(nodes: Mapping[str, Examined], alike: Iterable[Iterable[str]]) -> list[Group]:
    """Groups, the largest first. `alike`: classes of nodes that should not differ; each node in one of them."""
    differs: dict[str, tuple[Differs, ...]] = {}
    for names in alike:
        differs |= _of_class({name: nodes[name] for name in names if name in nodes})
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for name, node in nodes.items():
        groups[node.findings, differs.get(name, ())].append(name)
    answer = [Group(tuple(names), key[0], key[1]) for key, names in groups.items()]  # type: ignore[index]
    return sorted(answer, key=lambda group: (-len(group.nodes), group.nodes))


def _of_class(nodes: Mapping[str, Examined]) -> dict[str, tuple[Differs, ...]]:
    flat = _Flattened()
    facts = {name: flat.facts(node.fingerprint) for name, node in nodes.items()}
    usual = _usual(facts, len(nodes))
    found: dict[str, tuple[Differs, ...]] = {}
    for name, node in nodes.items():
        rows = [*_gpus(node, nodes), *_other(facts[name], usual, node.fingerprint)]
        found[name] = tuple(sorted(rows, key=lambda row: (row.fact != "GPUs", row)) if rows else ())
    return found


class _Flattened:
    """Facts as pairs of (kind, subject, field) and value; equal rows once."""

    def __init__(self) -> None:
        self._known: dict[bytes, dict[Fact, str]] = {}

    def facts(self, fingerprint: Fingerprint) -> list[dict[Fact, str]]:
        """One part a kind: parts that several nodes have alike are one object."""
        parts = []
        for kind, rows in fingerprint.facts.items():
            if kind in _ECHOES:
                continue
            mark = kind.encode() + msgspec.json.encode(rows)
            if mark not in self._known:
                self._known[mark] = _flat(kind, rows)
            parts.append(self._known[mark])
        return parts


def _flat(kind: str, rows: list[Row]) -> dict[Fact, str]:
    facts: dict[Fact, str] = {}
    for place, fields in rows:
        subject = " ".join(filter(None, (subject_of(kind, fields), *place)))
        for field, value in fields.items():
            if field not in _OWN:
                facts[kind, subject, field] = _shown(value)
    return facts


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _usual(facts: Mapping[str, list[dict[Fact, str]]], count: int) -> dict[Fact, str]:
    """Of each fact the value that more than half of the nodes have."""
    times: Counter[int] = Counter()
    parts: dict[int, dict[Fact, str]] = {}
    for node in facts.values():
        for part in node:
            times[id(part)] += 1
            parts[id(part)] = part
    values: dict[Fact, Counter[str]] = defaultdict(Counter)
    for mark, part in parts.items():
        for fact, value in part.items():
            values[fact][value] += times[mark]
    tops = ((fact, *found.most_common(1)[0]) for fact, found in values.items())
    return {fact: value for fact, value, number in tops if number * 2 > count and count > 1}


def _other(parts: list[dict[Fact, str]], usual: dict[Fact, str], fingerprint: Fingerprint) -> list[Differs]:
    """What of a node is not usual; what it lacks counts where it looked, or knows the kind."""
    own: dict[Fact, str] = {}
    for part in parts:
        own.update(part)
    rows = [
        Differs(_name(fact), own[fact], value)
        for fact, value in usual.items()
        if fact in own and own[fact] != value and not _close(fact[2], own[fact], value)
    ]
    told = {fact[:2] for fact in own}
    lacking = {
        fact[:2]
        for fact in usual
        if fact[:2] not in told and (fact[0] in fingerprint.whole or fact[0] in fingerprint.facts)
    }
    return rows + [Differs(" ".join(filter(None, subject)), None, "there") for subject in lacking]


def _close(field: str, mine: str, theirs: str) -> bool:
    """Whether two sizes of one thing are as good as equal."""
    if field not in _SIZES or not (mine.isdecimal() and theirs.isdecimal()):
        return False
    return abs(int(mine) - int(theirs)) <= _CLOSE * max(int(mine), int(theirs))


def _name(fact: Fact) -> str:
    return " ".join(part for part in fact if part)


def _gpus(node: Examined, nodes: Mapping[str, Examined]) -> list[Differs]:
    """GPUs that are not there: against what Slurm expects, else against the sisters."""
    counts = Counter(len(other.gpus) for other in nodes.values())
    value, number = counts.most_common(1)[0]
    usual = (
        node.expected if node.expected is not None else value if number * 2 > len(nodes) and len(nodes) > 1 else None
    )
    rows = [Differs("GPUs", str(len(node.gpus)), str(usual))] if usual is not None and usual != len(node.gpus) else []
    kinds = Counter(tuple(sorted(set(other.gpus))) for other in nodes.values())
    names, number = kinds.most_common(1)[0]
    own = tuple(sorted(set(node.gpus)))
    if own and names and own != names and number * 2 > len(nodes):
        rows.append(Differs("GPU name", ", ".join(own), ", ".join(names)))
    return rows
