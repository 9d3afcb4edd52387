"""`rigup cluster doctor --deep`: devices verified on every node, disks and links measured, each step with an end of its own."""

import ipaddress
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from rigup.cluster.deep import (
    ROUNDS,
    Disk,
    Folder,
    Hello,
    Link,
    Measured,
    Pair,
    Proof,
    Verified,
    links_to_repeat,
    pairs,
    proof,
    rounds,
    slow_disks,
)
from rigup.language import _
from rigup.workflows.cluster_talk import Talk

MOST_NODES = 1024
_FACTS = 180.0  # seconds for the collecting script
_HELLO = 90.0
_START = 270.0  # beyond the seconds of verification: what a node takes at most to import torch and to end children
_DISK, _DISK_MORE = 4.0, 40.0  # seconds of a folder, and what it may take beyond
_LINK, _LINK_LIMIT, _LINK_MOST, _LINK_MORE = 1.0, 45.0, 120.0, 45.0
_AGAIN = 3  # rounds at most in which bad links are measured once more
_IMPORTS = 4.0  # a link may take that many times the slowest import of torch beyond its limit, up to the most
_BYTES = {"gloo": 8 << 20, "nccl": 64 << 20, "rccl": 64 << 20}
Progress = Callable[[str], None]


def minutes(seconds: float, folders: int) -> int:
    """The longest that all of it takes, as a job's limit."""
    whole = _FACTS + _HELLO + seconds + _START + 2 * max(1, folders) * (_DISK + _DISK_MORE) + (ROUNDS + _AGAIN) * (_LINK_MOST + _LINK_MORE)
    return round(whole / 60) + 1


def measured(talk: Talk, names: list[str], seconds: float, folders: list[str], tell: Progress) -> Measured:
    """Speak with nodes that have said what they are.

    Args:
        talk: with them.
        names: of the nodes.
        seconds: that verification of a node's devices may take.
        folders: whose disks are measured; none: that of temporary files.
        tell: is told what comes next.

    """
    found = Measured()
    talk.say(do="hello")
    hello = talk.hear(Hello, names, _HELLO)
    for name in names:
        if name in talk.no_python:
            found.proofs[name] = Proof("unknown", because=_("There is no such Python there."))
        elif name not in hello:
            found.silent[name] = "the measuring program"
        elif not hello[name].torch:
            found.proofs[name] = Proof("unknown", because=_("There is no torch in {python}.").format(python=hello[name].executable))
    _verify(talk, found, [name for name in hello if hello[name].torch], seconds, tell)
    _disks(talk, found, [name for name in hello if name not in found.silent], folders, tell)
    _links(talk, found, hello, tell)
    return found


def _verify(talk: Talk, found: Measured, names: list[str], seconds: float, tell: Progress) -> None:
    if not names:
        return
    tell(_("Devices are verified …"))
    talk.say(do="verify", only=names, seconds=seconds)
    answers = talk.hear(Verified, names, seconds + _START)
    for name in names:
        if name in answers:
            found.proofs[name] = proof(answers[name])
        else:
            found.silent[name] = "verification"


def _disks(talk: Talk, found: Measured, names: list[str], folders: list[str], tell: Progress) -> None:
    """Slow ones are measured once more while the others rest: what counts is the better of both."""
    tell(_("Disks are measured …"))
    found.disks = _asked_disks(talk, found, names, folders)
    again = slow_disks(found.disks)
    if again:
        second = _asked_disks(talk, found, list(again), folders)
        for name, rows in second.items():
            first = {row.folder: row for row in found.disks[name]}
            found.disks[name] = [_better(first.get(row.folder, row), row) for row in rows]


def _better(folder: Folder, other: Folder) -> Folder:
    return Folder(folder.folder, max(folder.write, other.write), max(folder.read, other.read), folder.error and other.error)


def _asked_disks(talk: Talk, found: Measured, names: list[str], folders: list[str]) -> dict[str, list[Folder]]:
    talk.say(do="disk", only=names, folders=folders, seconds=_DISK)
    answers = talk.hear(Disk, names, max(1, len(folders)) * (_DISK + _DISK_MORE))
    for name in names:
        if name not in answers:
            found.silent[name] = "its disk"
    return {name: answer.folders for name, answer in answers.items()}


def _links(talk: Talk, found: Measured, hello: dict[str, Hello], tell: Progress) -> None:
    families: dict[str, list[str]] = defaultdict(list)
    for name, result in found.proofs.items():
        if result.family and name not in found.silent:
            families[result.family].append(name)
    most = max((rounds(len(names)) for names in families.values()), default=0)
    for round_ in range(most):
        tell(_("Links are measured, round {number} of {count} …").format(number=round_ + 1, count=most))
        asked = {family: pairs(_answering(names, found), round_) for family, names in families.items() if round_ < rounds(len(names))}
        _round(talk, found, hello, asked, round_)
    for number, chosen in enumerate(_disjoint(links_to_repeat(found))):
        of_family: dict[str, list[Pair]] = defaultdict(list)
        for pair in chosen:
            of_family[found.proofs[pair[0]].family].append(pair)
        _round(talk, found, hello, of_family, most + number)


def _answering(names: Iterable[str], found: Measured) -> list[str]:
    """Those that can still tell something: not who is silent, nor who met nobody in two all-reduces."""
    links = {name: [link for pair, link in found.links.items() if name in pair] for name in names}
    return [name for name, own in links.items() if name not in found.silent and not (len(own) > 1 and all(link.error for link in own))]


def _disjoint(again: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Pairs in groups in which no node is twice."""
    left = sorted(again)
    for _number in range(_AGAIN):
        chosen, taken = list[Pair](), set[str]()
        for pair in left:
            if not taken.intersection(pair):
                chosen.append(pair)
                taken.update(pair)
        if not chosen:
            return
        left = [pair for pair in left if pair not in chosen]
        yield chosen


def _round(talk: Talk, found: Measured, hello: dict[str, Hello], asked: dict[str, list[Pair]], round_: int) -> None:
    """Every pair at once; a pair of which one answers and one does not is told by the one that did."""
    word = secrets.token_hex(8)
    everybody = [name for chosen in asked.values() for pair in chosen for name in pair]
    slowest = max((found.proofs[name].imported for name in everybody), default=0.0)
    limit = min(_LINK_MOST, _LINK_LIMIT + _IMPORTS * slowest)
    for family, chosen in asked.items():
        peers = {first: {"addresses": _sound(hello[first].addresses), "port": hello[first].port} for first, _second in chosen}
        talk.say(
            do="link",
            only=[name for pair in chosen for name in pair],
            pairs=chosen,
            peers=peers,
            word=word,
            round=round_,
            seconds=_LINK,
            limit=limit,
            backend="gloo" if family == "gloo" else "nccl",
            bytes=_BYTES[family],
        )
    answers = talk.hear(Link, everybody, limit + _LINK_MORE)
    for pair in (pair for chosen in asked.values() for pair in chosen):
        links = [answers[name] for name in pair if name in answers and answers[name].peer in ("", *pair)]
        sound = [link for link in links if link.rate > 0 and not link.error]
        if sound and (pair not in found.links or found.links[pair].rate < sound[0].rate):
            found.links[pair] = Link(sound[0].peer, round_, min(link.rate for link in sound), all(link.right for link in sound))
        elif pair not in found.links:
            why = next((link.error for link in links if link.error), "neither answered")
            found.links[pair] = Link(pair[1], round_, error=why)
        for name in pair:
            if name not in answers:
                found.silent[name] = "a link"


def _sound(addresses: list[str]) -> list[str]:
    """Addresses alone, of what a node called its own."""
    found = []
    for address in addresses[:16]:
        try:
            found.append(str(ipaddress.IPv4Address(address)))
        except ValueError:
            continue
    return found
