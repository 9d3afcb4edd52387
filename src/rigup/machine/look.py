"""How facts come to be: readers (text to facts) and derivations (facts to facts), in graph order.

Each reader runs in a thread of its own with a time limit, so programs run side by side and one that
fails, hangs or meets nonsense costs its own facts only.
"""

import graphlib
import queue
import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from rigup.machine import feed
from rigup.machine.facts import Fact, Look, Place
from rigup.machine.kinds import Gpu
from rigup.machine.matcher import match
from rigup.machine.reader import DERIVED, READERS, File, Reader, Run
from rigup.machine.sources import Source
from rigup.machine.store import Facts
from rigup.machine.texts import Text

_MOST_STATEMENTS = 20_000  # of one reader
_SLACK = 5.0  # seconds that a reader may take beyond its programs' limits
_HEARD = "what programs said"


class Result(NamedTuple):
    """What one reader came to."""

    name: str
    statements: list[Fact]
    symptoms: list[tuple[Fact, list[Fact]]]
    looks: list[Look]
    trouble: str = ""


def look(sources: list[Source], wake: bool = False) -> Facts:
    """Everything that the sources tell. `wake` lets readers touch cards that are asleep."""
    facts = Facts()
    _Runner(facts, sources, wake).run()
    facts.unite_gpus()
    return facts


def needs(reader: Reader) -> set[str]:
    """Kinds that its inputs are built on."""
    named = {kind for given in reader.inputs if isinstance(given, File) for kind in re.findall(r"\{(\w+)\.", given.path)}
    asleep = any(isinstance(given, File | Run) and given.wakes for given in reader.inputs)
    return named | ({"PciDevice"} if asleep else set())


def graph() -> dict[str, set[str]]:
    """Who waits for whom: a reader for the kinds named in its inputs, a derivation for its source's makers."""
    makers: dict[str, set[str]] = defaultdict(set)
    for reader in READERS.values():
        for kind in reader.about:
            makers[kind.__name__].add(reader.name)
    for made in DERIVED.values():
        if made.about is not made.source:
            makers[made.about.__name__].add(made.name)
    waits = {made.name: makers[made.source.__name__] - {made.name} for made in DERIVED.values()}
    for reader in READERS.values():
        first_hand = {maker for kind in needs(reader) for maker in makers[kind] if not needs_any(maker)}
        waits[reader.name] = first_hand - {reader.name}
    return {**waits, _HEARD: set()}


def needs_any(name: str) -> bool:
    """Whether a maker is of the second wave itself; waiting for it would close a circle."""
    return name in READERS and bool(needs(READERS[name]))


class _Runner:
    def __init__(self, facts: Facts, sources: list[Source], wake: bool) -> None:
        self.facts, self.sources, self.wake = facts, sources, wake
        self.done: queue.Queue[Result] = queue.Queue()
        self.waiting: dict[str, float] = {}  # deadlines of what runs

    def run(self) -> None:
        order = graphlib.TopologicalSorter(graph())
        order.prepare()
        while order.is_active():
            for name in order.get_ready():
                if name in DERIVED:
                    self.derive(name)
                    order.done(name)
                else:
                    self.start(name)
            if self.waiting:
                for name in self.collect():
                    order.done(name)

    def start(self, name: str) -> None:
        seconds = max((given.seconds for given in READERS[name].inputs if isinstance(given, Run)), default=0.0) if name in READERS else 5.0
        self.waiting[name] = time.monotonic() + seconds + _SLACK
        known = {fact: fact.values() for fact in self.facts.all()} if name in READERS and needs(READERS[name]) else {}
        threading.Thread(target=self.work, args=(name, list(known)), daemon=True, name="rigup " + name).start()

    def work(self, name: str, known: list[Fact]) -> None:
        try:
            self.done.put(self.heard() if name == _HEARD else self.read(READERS[name], known))
        except Exception as error:  # it costs its own facts only
            self.done.put(Result(name, [], [], [], type(error).__name__ + ": " + str(error)[:200]))

    def collect(self) -> Iterator[str]:
        """Take one result, or give up on who is late."""
        try:
            result = self.done.get(timeout=max(0.01, min(self.waiting.values()) - time.monotonic()))
        except queue.Empty:
            for name in [name for name, limit in self.waiting.items() if limit <= time.monotonic()]:
                self.facts.troubles.append(name + ": no answer in time")
                del self.waiting[name]
                yield name
            return
        if self.waiting.pop(result.name, None) is not None:  # one that came too late was given up
            self.take(result)
            yield result.name

    def take(self, result: Result) -> None:
        for fact in result.statements:
            self.facts.state(fact)
        for symptom, told in result.symptoms:
            stated = [self.facts.state(fact) for fact in told]
            symptom.about = stated[0] if stated else None  # type: ignore[attr-defined]
            self.facts.state(symptom)
        self.facts.looks += result.looks
        if result.trouble:
            self.facts.troubles.append(result.name + ": " + result.trouble)

    def derive(self, name: str) -> None:
        made = DERIVED[name]
        if made.source is Gpu:
            self.facts.unite_gpus()
        for fact in list(self.facts.of(made.source)):
            try:
                for new in made.derive(fact):
                    self.facts.state(new) if new is not fact else None
            except Exception as error:  # as for readers
                self.facts.troubles.append(name + ": " + type(error).__name__ + ": " + str(error)[:200])

    def read(self, reader: Reader, known: list[Fact]) -> Result:
        result = Result(reader.name, [], [], [])
        for source in self.sources:
            for told in feed.inputs(reader, source, known, self.wake):
                if isinstance(told, Look):
                    result.looks.append(told)
                else:
                    _read_text(reader, told, result)
        result.looks[:] = dict.fromkeys(result.looks)
        return result

    def heard(self) -> Result:
        """The messages in all pasted and recorded texts."""
        result = Result(_HEARD, [], [], [])
        for source in self.sources:
            for text in source.texts:
                result.symptoms.extend(match(text))
        return result


def _read_text(reader: Reader, text: Text, result: Result) -> None:
    """State what one text says, and that somebody looked."""
    if reader.matched and text.fresh:
        result.symptoms.extend(match(text))
    stated = []
    for fact in reader.read(text):
        stated.append(fact)
        if len(stated) >= _MOST_STATEMENTS:
            break
    result.statements.extend(stated)
    places = {fact.place for fact in stated} or {text.given}
    covered = "whole" if text.whole and not text.exit_status else "excerpt" if stated or not text.fresh else "refused"
    source = text.asked or text.source
    for kind in reader.about:
        result.looks.extend(Look(kind, place.at(kind.scope), source, covered) for place in places)

