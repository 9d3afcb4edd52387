"""Nodes grouped by what is wrong with them, and by what differs between nodes that should be alike: pure.

Of every fact the usual value is the one that most of the alike nodes have; a fact whose value is each node's own (an
address, a serial number) is nobody's difference. Equal rows are taken apart once, so ten thousand nodes take seconds.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from rigup.cluster.differs import Differs
from rigup.cluster.links import NodeLinks
from rigup.machine.difference import subject_of
from rigup.machine.fingerprint import Fingerprint, Row
from rigup.schemas.shared import Finding

# What follows from a difference that is told by itself: files of a driver, lists that a card stands in, names and addresses.
_ECHOES = frozenset(
    (
        "DriverLibrary",
        "KernelLibrary",
        "LoaderEntry",
        "PathLibrary",
        "SearchPath",
        "DkmsBuild",
        "DkmsTree",
        "PciDevice",
        "KfdNode",
        "Gpu",
        "SystemPackage",
        "Folder",
        "NextBoot",
        "Kernel",
        "SlurmNode",
        "DeadLine",
        "UnitFile",
    )
)
_OWN = frozenset(
    ["uuid", "serial", "pci", "pci_id", "bus", "address", "hostname", "host", "node", "mac", "numbers", "uid", "gid", "minor", "cdi"]
)
_SIZES = frozenset(("total", "size"))
_CLOSE = 0.02  # share by which sizes of one thing may differ
Fact = tuple[str, str, str]  # kind, subject, field
Part = dict[Fact, str]  # facts of one kind, with their values as text


class Examined(NamedTuple):
    """A node that answered: what lasts of it, what is wrong (cause, title), its GPUs by name, how many Slurm expects of it, the findings whole.

    `measured` is what was measured there and is not as elsewhere; `links` by what others reach it.
    """

    fingerprint: Fingerprint
    findings: tuple[tuple[str, str], ...] = ()
    gpus: tuple[str, ...] = ()
    expected: int | None = None
    whole: tuple[Finding, ...] = ()
    measured: tuple[Differs, ...] = ()
    links: NodeLinks | None = None


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
        groups[node.findings, (*differs.get(name, ()), *node.measured)].append(name)
    answer = [Group(tuple(names), key[0], key[1]) for key, names in groups.items()]  # type: ignore[index]
    return sorted(answer, key=lambda group: (-len(group.nodes), group.nodes))


def _of_class(nodes: Mapping[str, Examined]) -> dict[str, tuple[Differs, ...]]:
    known: dict[bytes, Part] = {}
    parts = {name: _parts(node.fingerprint, known) for name, node in nodes.items()}
    usual = _usual(parts, len(nodes))
    seen: dict[int, list[Differs]] = {}  # by part: equal parts are judged once
    gpus = _usual_gpus(nodes)
    found: dict[str, tuple[Differs, ...]] = {}
    for name, node in nodes.items():
        rows = _gpus(node, *gpus)
        for kind, facts in usual.items():
            part = parts[name].get(kind)
            if part is None:
                rows += _lacking(set(facts), kind in node.fingerprint.whole)
                continue
            if id(part) not in seen:
                seen[id(part)] = _other(part, facts)
            rows += seen[id(part)]
        found[name] = tuple(sorted(rows, key=lambda row: (row.fact != "GPUs", row.fact))) if rows else ()
    return found


def _parts(fingerprint: Fingerprint, known: dict[bytes, Part]) -> dict[str, Part]:
    """Facts by kind; parts that several nodes have alike are one object."""
    parts = {}
    for kind, rows in fingerprint.facts.items():
        if kind not in _ECHOES:
            mark = kind.encode() + msgspec.json.encode(rows)
            if mark not in known:
                known[mark] = _flat(kind, rows)
            parts[kind] = known[mark]
    return parts


def _flat(kind: str, rows: list[Row]) -> Part:
    facts: Part = {}
    for place, fields in rows:
        subject = " ".join(filter(None, (subject_of(kind, fields), *place)))
        for field, value in fields.items():
            if field not in _OWN:
                facts[kind, subject, field] = _shown(value)
    return facts


def _shown(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _usual(nodes: Mapping[str, dict[str, Part]], count: int) -> dict[str, Part]:
    """By kind, of each fact the value that more than half of the nodes have."""
    times: Counter[int] = Counter()
    parts: dict[int, tuple[str, Part]] = {}
    for own in nodes.values():
        for kind, part in own.items():
            times[id(part)] += 1
            parts[id(part)] = kind, part
    values: dict[Fact, dict[str, int]] = {}
    for mark, (_kind, part) in parts.items():
        for fact, value in part.items():
            numbers = values.setdefault(fact, {})
            numbers[value] = numbers.get(value, 0) + times[mark]
    usual: dict[str, Part] = defaultdict(dict)
    for fact, numbers in values.items():
        value = max(numbers, key=numbers.__getitem__)
        if numbers[value] * 2 > count > 1:
            usual[fact[0]][fact] = value
    return usual


def _other(own: Part, usual: Part) -> list[Differs]:
    """What of a node is not usual, and what it lacks of a kind that it knows."""
    rows = [
        Differs(_name(fact), own[fact], value)
        for fact, value in usual.items()
        if fact in own and own[fact] != value and not _close(fact[2], own[fact], value)
    ]
    known_kinds = {fact[:2] for fact in own}
    return rows + _lacking({fact for fact in usual if fact[:2] not in known_kinds}, looked=True)


def _lacking(facts: set[Fact], looked: bool) -> list[Differs]:
    """Subjects that are not there, where somebody looked."""
    return [Differs(" ".join(filter(None, subject)), None, "there") for subject in sorted({fact[:2] for fact in facts})] if looked else []


def _close(field: str, mine: str, theirs: str) -> bool:
    """Whether two sizes of one thing are as good as equal."""
    if field not in _SIZES or not (mine.isdecimal() and theirs.isdecimal()):
        return False
    return abs(int(mine) - int(theirs)) <= _CLOSE * max(int(mine), int(theirs))


def _name(fact: Fact) -> str:
    return " ".join(part for part in fact if part)


def _usual_gpus(nodes: Mapping[str, Examined]) -> tuple[int | None, tuple[str, ...]]:
    """How many GPUs, and of which names, more than half of the nodes have; None and nothing where none does."""
    count, number = Counter(len(node.gpus) for node in nodes.values()).most_common(1)[0] if nodes else (0, 0)
    names, named = Counter(tuple(sorted(set(node.gpus))) for node in nodes.values()).most_common(1)[0] if nodes else ((), 0)
    most = len(nodes) > 1
    return (count if most and number * 2 > len(nodes) else None), (names if most and named * 2 > len(nodes) else ())


def _gpus(node: Examined, count: int | None, names: tuple[str, ...]) -> list[Differs]:
    """GPUs that are not there: against what Slurm expects, else against the sisters; and cards of another name."""
    usual = count if node.expected is None else node.expected
    rows = [Differs("GPUs", str(len(node.gpus)), str(usual))] if usual is not None and usual != len(node.gpus) else []
    own = tuple(sorted(set(node.gpus)))
    if own and names and own != names:
        rows.append(Differs("GPU name", ", ".join(own), ", ".join(names)))
    return rows
