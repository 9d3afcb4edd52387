"""What `--deep` measured on nodes and between them, judged: pure. A rate that is MARGIN times below the median is slow.

Nodes are paired by the circle method, so that each meets others in turn and no node is in two pairs at once. A node all of
whose links are bad is told by itself; a link between two nodes that are well otherwise is told as a link.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import msgspec
from msgspec import UNSET

from rigup.cluster.differs import Differs
from rigup.machine.slurm.hostlist import fold
from rigup.schemas.nodes import Deep, DiskSpeed, LinkSpeed, NodesVerified, UsualSpeed
from rigup.sizes import size
from rigup.verify.child import Ended
from rigup.verify.judge import judge
from rigup.verify.observe import Seen

MARGIN = 3.0
"""How many times below the median a rate is called slow: neighbours that use the same disk or network make it vary by less."""
ENOUGH = 3
"""Rates from which on there is a median to speak of."""
ROUNDS = 3
Pair = tuple[str, str]


class Hello(msgspec.Struct, tag="hello", tag_field="say"):
    """A node's measuring program has begun: whether its Python has torch, and where others reach it."""

    torch: bool = False
    addresses: list[str] = []
    port: int = 0
    executable: str = ""
    error: str = ""


class Verified(msgspec.Struct, tag="verified", tag_field="say"):
    """All that the probe of verify said, and its last words."""

    events: list[dict[str, Any]] = []
    said: str = ""
    error: str = ""


class Folder(msgspec.Struct):
    """A folder's disk, in bytes a second, or why there is no rate."""

    folder: str
    write: float = 0.0
    read: float = 0.0
    error: str = ""


class Disk(msgspec.Struct, tag="disk", tag_field="say"):
    """The folders of a node."""

    folders: list[Folder] = []
    error: str = ""


class Link(msgspec.Struct, tag="link", tag_field="say"):
    """One node's word on an all-reduce with a peer: bytes a second, and whether the sum was right."""

    peer: str = ""
    round: int = -1
    rate: float = 0.0
    right: bool = True
    error: str = ""


class Proof(msgspec.Struct):
    """What of one node was proven: "verified", "failed" or "unknown"; torch's version, devices, failed checks; why."""

    state: str
    framework: str = ""
    devices: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    because: str = ""
    family: str = ""  # which nodes can meet in an all-reduce: gloo, nccl, rccl
    imported: float = 0.0  # seconds in which torch was imported


class Measured(msgspec.Struct):
    """What all nodes came to, before it is judged. `silent`: what a node did not answer to."""

    proofs: dict[str, Proof] = {}
    disks: dict[str, list[Folder]] = {}
    links: dict[Pair, Link] = {}
    silent: dict[str, str] = {}


def pairs(names: Sequence[str], round_: int) -> list[Pair]:
    """Who meets whom in a round; of an odd number one sits out."""
    ring: list[str | None] = list(names)
    if len(ring) % 2:
        ring.append(None)
    turned = ring[:1] + ring[len(ring) - round_ :] + ring[1 : len(ring) - round_] if round_ else ring
    half = len(turned) // 2
    found = zip(turned[:half], reversed(turned[half:]), strict=True)
    return [(first, second) for first, second in found if first is not None and second is not None]


def rounds(count: int) -> int:
    """How many rounds there are for so many nodes."""
    return min(ROUNDS, count - 1 + count % 2) if count > 1 else 0


def proof(answer: Verified) -> Proof:
    """Judge what the probe recorded on a node."""
    seen = Seen("torch")
    for event in answer.events:
        try:
            _take_event(seen, event)
        except (msgspec.ValidationError, TypeError, KeyError, ValueError):
            return Proof("failed", because="the probe's answer cannot be read")
    if seen.about is None:
        late = any(event.get("why") in ("over", "hung") for event in answer.events)
        words = "torch was not imported in time" if late else "torch could not be imported"
        return Proof("failed", because=(answer.said.strip().splitlines() or [words])[-1][:300])
    checks = [(device, judge(name, record)) for (device, name), record in seen.records.items()]
    failed = tuple(f"{device}: {check.name}" for device, check in checks if check.passed is False)
    because = next((str(check.because) for _device, check in checks if check.passed is False and check.because), "")
    devices = tuple(dict.fromkeys(device for device, _check in checks))
    build = seen.about.build if isinstance(seen.about.build, dict) else {}
    on_gpu = any(device.id.startswith("cuda") for device in seen.devices)
    state = "failed" if failed else "verified" if any(check.passed is True for _device, check in checks) else "unknown"
    return Proof(
        state,
        f"torch {seen.about.version}",
        devices,
        failed,
        because,
        ("rccl" if build.get("hip") else "nccl") if on_gpu else "gloo",
        seen.about.seconds,
    )


def _take_event(seen: Seen, event: dict[str, Any]) -> None:
    if event.get("say") != "ended":
        seen.hear(event)
        return
    if not seen.done:
        why = str(event.get("why", ""))
        if why == "over":
            seen.ended_by_time()
        else:
            seen.died(Ended(why, int(event.get("status", 0)), b"", float(event.get("seconds", 0.0))))
    seen.done = False


def slow(rates: Mapping[Any, float]) -> tuple[float | None, set[Any]]:
    """The median of rates, and those that are far below it; None and nobody where they are too few. 0 is no rate."""
    known = [rate for rate in rates.values() if rate > 0]
    if len(known) < ENOUGH:
        return None, set()
    usual = median(known)
    return usual, {name for name, rate in rates.items() if 0 < rate * MARGIN < usual}


def slow_disks(disks: Mapping[str, Iterable[Folder]]) -> dict[str, set[tuple[str, str]]]:
    """By node the folder and the way ("write", "read") that are slow."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for folder, way, _usual, names in _disk_rates(disks):
        for name in names:
            found[name].add((folder, way))
    return found


def _disk_rates(disks: Mapping[str, Iterable[Folder]]) -> list[tuple[str, str, float | None, set[str]]]:
    rates: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for name, folders in disks.items():
        for row in folders:
            rates[row.folder, "write"][name] = row.write
            rates[row.folder, "read"][name] = row.read
    return [(*key, *slow(of_nodes)) for key, of_nodes in rates.items()]


def failed_links(measured: Measured) -> set[Pair]:
    """Pairs whose all-reduce is wrong or did not come about."""
    return {pair for pair, link in measured.links.items() if link.error or not link.right}


def slow_links(measured: Measured) -> tuple[dict[str, float], set[Pair]]:
    """The usual rate of each family of nodes, and pairs whose all-reduce is slow."""
    of_family: dict[str, dict[Pair, float]] = defaultdict(dict)
    for pair, link in measured.links.items():
        of_family[measured.proofs[pair[0]].family][pair] = link.rate
    usual, found = {}, set[Pair]()
    for family, rates in of_family.items():
        common, slow_pairs = slow(rates)
        found |= slow_pairs
        if common is not None:
            usual[family] = common
    return usual, found


def judged_links(measured: Measured) -> tuple[dict[str, float], list[str], set[Pair], set[Pair]]:
    """The usual rates, the nodes that are to blame, all bad links, and those for which no node is.

    What did not come about weighs more than what was slow: a node that answers nobody is told before its partners, whose other
    links a busy network has slowed.
    """
    usual, slow_pairs = slow_links(measured)
    failed = failed_links(measured)
    silent, left = blamed(measured.links, failed)
    others = {pair for pair in measured.links if not set(pair).intersection(silent)}
    sluggish, left = blamed(others, left | slow_pairs & others)
    return usual, silent + sluggish, failed | slow_pairs, left


def links_to_repeat(measured: Measured) -> set[Pair]:
    """Bad links between nodes that have met others, or could have: once more they may be better, as a port was taken or the network busy."""
    failed = failed_links(measured)
    silent, _left = blamed(measured.links, failed)
    return {pair for pair in failed | slow_links(measured)[1] if not set(pair).intersection(silent)}


def blamed(links: Iterable[Pair], bad: Iterable[Pair]) -> tuple[list[str], set[Pair]]:
    """Nodes of whose links all are bad, at least two, the worst first; and the bad links that are left."""
    links, left, nodes = set(links), set(bad), list[str]()
    while left:
        total = Counter(name for pair in links for name in pair)
        wrong = Counter(name for pair in left for name in pair)
        name, count = max(wrong.items(), key=lambda row: (row[1] == total[row[0]], row[1], row[0]))
        if count != total[name] or count < 2:
            break
        nodes.append(name)
        links, left = {pair for pair in links if name not in pair}, {pair for pair in left if name not in pair}
    return nodes, left


def differences(measured: Measured) -> tuple[dict[str, list[Differs]], Deep]:
    """What is to be said of each node, and the answer with all figures."""
    found: dict[str, list[Differs]] = defaultdict(list)
    proven = any(proof.state == "verified" for proof in measured.proofs.values())
    for name, result in measured.proofs.items():
        if result.state == "failed" or (proven and not result.framework):
            value = "failed: " + ", ".join(result.failed) if result.failed else result.because
            found[name].append(Differs("verification", value, "verified"))
    disks = _disks(measured, found)
    usual, nodes, bad, left = judged_links(measured)
    for name in nodes:
        found[name].append(Differs("all-reduce with other nodes", *_of_links(name, measured, usual)))
    for name, request in measured.silent.items():
        found[name].append(Differs("answer of " + request, None, "there"))
    links = [
        LinkSpeed(
            nodes=list(pair),
            backend=measured.proofs[pair[0]].family,
            rate=round(link.rate) if link.rate else UNSET,
            bad=pair in bad,
            alone=pair in left,
            because=(link.error or "the sum is wrong") if link.error or not link.right else UNSET,
        )
        for pair, link in measured.links.items()
    ]
    speeds = [UsualSpeed(of=f"all-reduce {family}", rate=round(rate)) for family, rate in usual.items()]
    speeds += [UsualSpeed(of=f"disk {folder} {way}", rate=round(rate)) for folder, way, rate, _slow in _disk_rates(measured.disks) if rate]
    return found, Deep(margin=MARGIN, verified=_proofs(measured.proofs), disks=disks, links=links, usual=speeds)


def _of_links(name: str, measured: Measured, usual: Mapping[str, float]) -> tuple[str, str]:
    own = [link for pair, link in measured.links.items() if name in pair]
    rates = [link.rate for link in own if link.rate]
    common = usual.get(measured.proofs[name].family)
    value = "wrong sums" if not all(link.right for link in own) else f"{size(int(max(rates)))}/s" if rates else "no answer"
    return value, f"{size(int(common))}/s" if common else "there"


def _disks(measured: Measured, found: dict[str, list[Differs]]) -> list[DiskSpeed]:
    common = {(folder, way): usual for folder, way, usual, _slow in _disk_rates(measured.disks)}
    behind, rows = slow_disks(measured.disks), []
    sound = {row.folder for folders in measured.disks.values() for row in folders if not row.error}
    for name, folders in measured.disks.items():
        for row in folders:
            for way in ("write", "read"):
                if (row.folder, way) in behind.get(name, ()):
                    usual = common[row.folder, way] or 0.0
                    found[name].append(Differs(f"disk {row.folder} {way}", f"{size(int(getattr(row, way)))}/s", f"{size(int(usual))}/s"))
            if row.error and row.folder in sound:
                found[name].append(Differs(f"disk {row.folder}", row.error, "there"))
            rows.append(
                DiskSpeed(
                    node=name,
                    folder=row.folder,
                    write=round(row.write) if row.write else UNSET,
                    read=round(row.read) if row.read else UNSET,
                    slow=bool(behind.get(name)) and any(folder == row.folder for folder, _way in behind[name]),
                    because=row.error or UNSET,
                )
            )
    return rows


def _proofs(proofs: Mapping[str, Proof]) -> list[NodesVerified]:
    alike: dict[tuple[Any, ...], list[str]] = defaultdict(list)
    for name, result in proofs.items():
        alike[result.state, result.framework, result.devices, result.failed, result.because].append(name)
    return [
        NodesVerified(
            nodes=fold(names),
            count=len(names),
            state=state,
            framework=framework or UNSET,
            devices=list(devices),
            failed=list(failed),
            because=because or UNSET,
        )
        for (state, framework, devices, failed, because), names in alike.items()
    ]
