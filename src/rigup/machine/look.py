"""How facts come to be: readers (text to facts) and derivations (facts to facts), in graph order.

Programs run side by side, and a reader that fails, hangs or meets nonsense costs its own facts only.
"""

import functools
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple, TypeVar

from rigup import plugins
from rigup.knowledge.compile import KnowledgeError
from rigup.machine import feed
from rigup.machine.facts import Fact, Look, Place, Unanswered
from rigup.machine.kinds import CardCount, Gpu, Symptom
from rigup.machine.limits import TOO_LATE, Clock, named
from rigup.machine.matcher import match
from rigup.machine.order import HEARD, makers, needs, ordered
from rigup.machine.reader import DERIVED, READERS, Derivation, Reader, Run, shown
from rigup.machine.reader_index import waves_of
from rigup.machine.sources import Source
from rigup.machine.store import Facts
from rigup.machine.texts import Text
from rigup.machine.unanswered import hung, is_noise, spoilt
from rigup.machine.worker_pool import NO_ANSWER, Done, WorkerPool

_MOST_STATEMENTS = 20_000  # of one reader
_MOST_MARKS = 20  # of one literal, that tell where a text stands
_SLACK = 5.0  # seconds that a reader may take beyond its programs' limits
_OFTEN = 16  # statements after which the clock is looked at
T = TypeVar("T")


class Result(NamedTuple):
    """What one reader came to."""

    statements: list[Fact]
    symptoms: list[tuple[Symptom, list[Fact]]]
    looks: list[Look]
    unanswered: list[Unanswered]


def look(sources: list[Source], wake: bool = False, kinds: Iterable[type[Fact]] = ()) -> Facts:
    """Everything that the sources tell, or these `kinds` of facts and those from which they follow.

    `wake` lets readers touch cards that are asleep.
    """
    plugins.load(plugins.READERS)
    facts = Facts()
    facts.pasted = any(source.texts for source in sources)
    if facts.pasted:
        from rigup.machine.readers import of_texts  # noqa: F401  (registers them)

    _Runner(facts, sources, wake, tuple(kinds)).run()
    facts.unite_gpus()  # last, when the catalogue has named those that are known by their ids alone
    _count_again(facts)
    facts.omitted += [note for source in sources for note in source.left_out]
    facts.count_left_out()
    facts.troubles += facts.omitted
    return facts


def _count_again(facts: Facts) -> None:
    """Cards that two tools list were counted twice before they became one."""
    for count in facts.of(CardCount):
        left = sum(gpu.get("vendor") == count.get("vendor") for gpu in facts.of(Gpu) if gpu.place.meet(count.place))
        if 0 < left < count.get("count", 0):
            count.fields["count"] = count.fields["count"]._replace(value=left)


def waves(readers: tuple[Reader, ...], derived: tuple[Derivation, ...]) -> list[list[str]]:
    """Those who can be asked side by side, wave after wave, each wave in the fixed order in which it is merged."""
    names = (HEARD, *(reader.name for reader in readers), *(derivation.name for derivation in derived))
    return waves_of(frozenset(names)) or ordered(readers, derived)


class _Runner:
    def __init__(self, facts: Facts, sources: list[Source], wake: bool, kinds: tuple[type[Fact], ...]) -> None:
        self.facts, self.sources, self.wake, self.kinds = facts, sources, wake, kinds
        self.workers: WorkerPool[Result] = WorkerPool()
        self.clock, self.late = Clock(), set[str]()  # who could not read all before the time was up

    def run(self) -> None:
        """Run in waves: the results of a wave are merged in one fixed order, whichever reader was done first."""
        for ready in waves(*makers(self.kinds, self._readers(), tuple(DERIVED.values()))):
            asked = [name for name in ready if name in DERIVED or self.has_input(name)]
            for name in asked:
                if name not in DERIVED:
                    self.start(name)
            results: dict[str, Done[Result]] = {}
            while self.workers.busy:
                results |= {done.name: done for done in self.workers.finished()}
            for name in asked:
                self.derive(name) if name in DERIVED else self.take(results[name])
        self.workers.dismiss()
        self.facts.omitted += named((name.replace("_", " ") for name in self.late), TOO_LATE)

    def _readers(self) -> tuple[Reader, ...]:
        """All, or where nobody has pasted a text those that look for themselves: half of all."""
        pasted = any(source.texts for source in self.sources)
        return tuple(reader for reader in READERS.values() if reader.inputs or pasted)

    def has_input(self, name: str) -> bool:
        """Whether anything may be read: of a machine, or of a text that has one of the reader's marks, as most have not."""
        if name == HEARD:
            return any(source.texts for source in self.sources)
        asks = READERS[name].inputs and any(source.host is not None for source in self.sources)
        return bool(asks) or name in self.marked

    @functools.cached_property
    def marked(self) -> Set[str]:
        """Readers of whose marks one stands in a text; all where that cannot be told, so that each tells why."""
        try:
            marks = {mark for source in self.sources for text in source.texts for mark in text.index}
        except KnowledgeError:
            return READERS.keys()
        return {name for name, reader in READERS.items() if not marks.isdisjoint(reader.marks)}

    def start(self, name: str) -> None:
        if name == HEARD:
            self.workers.give(name, self.heard, _SLACK * 4, alone=False)
            return
        reader = READERS[name]
        known = list(self.facts.all()) if needs(reader) else []
        seconds = max((query.seconds for query in reader.inputs if isinstance(query, Run)), default=0.0)
        waits = any(feed.waits(reader, source.host) for source in self.sources)
        self.workers.give(name, lambda: self.read(reader, known), seconds + _SLACK, alone=waits)

    def take(self, done: Done[Result]) -> None:
        inputs = READERS[done.name].inputs if done.name in READERS else ()  # messages are looked for by nobody's reader
        if done.trouble == NO_ANSWER and (runs := [query for query in inputs if isinstance(query, Run)]):
            self.facts.unanswered += map(hung, runs)
        elif done.trouble:
            self.facts.troubles.append(done.name + ": " + done.trouble)
        if (result := done.value) is None:
            return
        for fact in self.in_time(result.statements, done.name):
            self.facts.state(fact)
        for symptom, facts in self.in_time(result.symptoms, done.name):
            stated = [self.facts.state(fact) for fact in facts]
            symptom.about = stated[0] if stated else None
            self.facts.state(symptom)
        self.facts.looks += result.looks
        self.facts.unanswered += result.unanswered

    def in_time(self, items: Iterable[T], name: str, every: int = _OFTEN) -> Iterator[T]:
        """Each of what was found, until the time is up; the clock is looked at after so many."""
        for number, item in enumerate(items):
            if number % every == 0 and self.clock.is_up():
                self.late.add(name)
                return
            yield item

    def derive(self, name: str) -> None:
        derivation = DERIVED[name]
        for fact in self.in_time(list(self.facts.of(derivation.source)), name):
            try:
                for new in derivation.derive(fact, self.facts) if derivation.beside else derivation.derive(fact):
                    self.facts.state(new) if new is not fact else None
            except Exception as error:  # as for readers
                self.facts.troubles.append(name + ": " + type(error).__name__ + ": " + str(error)[:200])

    def read(self, reader: Reader, known: list[Fact]) -> Result:
        result = Result([], [], [], [])
        for source in self.sources:
            for piece in self.in_time(feed.inputs(reader, source, known, self.wake), reader.name, 1):
                if isinstance(piece, Look):
                    result.looks.append(piece)
                elif isinstance(piece, Unanswered):
                    result.unanswered.append(piece)
                else:
                    _read_text(reader, piece, result, self.clock)
        result.looks[:] = dict.fromkeys(result.looks)
        return result

    def heard(self) -> Result:
        """The messages in all pasted and recorded texts."""
        result = Result([], [], [], [])
        for source in self.sources:
            for text in self.in_time(source.texts, HEARD, 1):
                speaker = "anybody" if source.host is None else "program"
                result.symptoms.extend(match(text, speaker, self.clock))
                self.late |= {"message " + regex for regex in text.given_up}
        return result


def _read_text(reader: Reader, text: Text, result: Result, clock: Clock) -> None:
    """State what one text says, and that somebody looked."""
    symptoms = list(match(text, reader.matched, clock)) if reader.matched and text.fresh else []
    if symptoms and is_noise(text.body):  # a short wording stands in bytes at random, too
        symptoms = []
    result.symptoms.extend(symptoms)
    stated = []
    for fact in reader.read(text):
        stated.append(fact)
        if len(stated) >= _MOST_STATEMENTS:
            break
    result.statements.extend(stated)
    if query := next((run for run in reader.inputs if isinstance(run, Run) and shown(run) == text.asked), None):
        unanswered = spoilt(query, text, bool(stated or symptoms))
        result.unanswered.extend([unanswered] if unanswered else [])
    covered = "whole" if text.whole and not text.exit_status else "excerpt" if stated or not text.fresh else "refused"
    source = text.asked or text.source
    for kind in reader.about:
        places = {fact.place for fact in stated if isinstance(fact, kind)} or _places(reader, text)
        result.looks.extend(Look(kind, place.at(kind.scope), source, covered) for place in places)


def _places(reader: Reader, text: Text) -> set[Place]:
    """Where a text of this kind stands that tells nothing of a fact: somebody looked there too."""
    marked = () if text.fresh else (at for mark in reader.marks for at in text.spots(mark)[:_MOST_MARKS])
    return {text.place(at) for at in marked} or {text.given}
