"""Another machine, asked in at most two round trips: all that is declared, then what the answers name."""

import threading
from collections.abc import Callable

from rigup.language import _
from rigup.machine.collect import posix, tree
from rigup.machine.collect.questions import Path_, paths
from rigup.machine.collect.ssh import Failure
from rigup.machine.collect.stream import Collected, parse, safe
from rigup.machine.facts import Place
from rigup.machine.host import LIMIT, Answer
from rigup.machine.look import look
from rigup.machine.sources import Source, world_of
from rigup.machine.store import Facts
from rigup.machine.tree import Tree

_LOOKING = threading.Lock()  # several machines are asked at once, and looked at one by one
Trip = Callable[[str], bytes]  # a script's text in, what it printed out
_MOST_ASKED = 5000  # paths of the second trip


def collected(trip: Trip, wake: bool = False) -> Collected:
    """What a machine answers. `trip` runs a script there; what it raises on the first trip goes through."""
    opening = "RIGUP_WAKE=1\n" if wake else ""
    first = parse(trip(opening + posix.script()))
    if first.whole and (missed := _unasked_paths(first, wake)):
        try:
            _merge(first, parse(trip(opening + posix.second(missed))))
        except Failure:  # what the first trip brought is worth a report
            first.whole = False
    return first


def seen(answer: Collected, node: str, wake: bool = False) -> Facts:
    """The facts of what was collected, at the place of a node. Raises OSError."""
    host = Tree(tree.kept(answer))
    facts = _read_facts(Source(Place(node=node, world=world_of(host)), host, left_out=answer.left_out()), wake)
    if not answer.whole:
        facts.troubles.append(_("The machine did not answer to the end; what is missing counts as not looked at."))
    return facts


def _read_facts(source: Source, wake: bool) -> Facts:
    with _LOOKING:
        return look([source], wake)


def _unasked_paths(answer: Collected, wake: bool) -> list[Path_]:
    """Paths that the readers would ask for and the first script did not: facts have named them."""
    folder = tree.kept(answer)
    try:
        host = _Listener(folder)
        _read_facts(Source(Place(world=world_of(host)), host), wake)
    finally:
        tree.drop(folder)
    known = answer.snapshot.absent | answer.snapshot.refused.keys() | answer.asleep
    asked = [path for path in host.asked.values() if safe(path.before) and path.before not in known]
    return [path._replace(wakes=_wakes(path.before)) for path in asked[:_MOST_ASKED]]


class _Listener(Tree):
    """A captured machine that remembers what it could not answer."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder)
        self.asked: dict[tuple[bool, str], Path_] = {}

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """As a tree does."""
        answer = super().read(path, limit)
        if answer.state == "unseen":
            self.asked[False, path] = Path_(False, path, most=limit)
        return answer

    def listing(self, pattern: str) -> Answer:
        """As a tree does."""
        answer = super().listing(pattern)
        if answer.state == "unseen":
            self.asked[True, pattern] = Path_(True, pattern)
        return answer


def _wakes(path: str) -> str:
    """The vendor whose sleeping cards a path would wake, by the inputs that name one."""
    import fnmatch

    careful = (pattern for pattern in paths() if pattern.wakes)
    return next((pattern.wakes for pattern in careful if fnmatch.fnmatchcase(path, pattern.at("*"))), "")


def _merge(first: Collected, again: Collected) -> None:
    """The second trip's answers stand beside the first's."""
    mine, theirs = first.snapshot, again.snapshot
    for name in ("files", "there", "absent", "links", "nodes", "folders", "looked", "refused"):
        getattr(mine, name).update(getattr(theirs, name))
    first.asleep |= again.asleep
