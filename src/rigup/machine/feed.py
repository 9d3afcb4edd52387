"""What a reader is given: answers of a live or captured host, or pasted texts of its kind."""

import itertools
import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.escapes import without_escapes
from rigup.machine.facts import Fact, Look, Place, Unanswered
from rigup.machine.globbing import is_pattern
from rigup.machine.host import Answer, Host
from rigup.machine.kinds import DrmCard, Gpu, PciDevice
from rigup.machine.local import Local
from rigup.machine.reader import Ask, File, Input, Listing, Reader, Run, shown
from rigup.machine.sources import Source
from rigup.machine.texts import Text
from rigup.machine.unanswered import refused

_BRACES = lazy_regex(r"\{([^{}]*)\}")
_FILLED_IN = lazy_regex(r"\{(\w+)\.(\w+)\}")

_MOST_FILES = 4000  # of one glob
_SUSPENDED = ("suspended", "suspending")
_SLEEPS = Answer(None, "refused", "the device sleeps")


def inputs(reader: Reader, source: Source, known: list[Fact], wake: bool) -> Iterator[Text | Look | Unanswered]:
    """Texts for one reader from one source, and looks that found nothing or were refused."""
    if source.host is not None:
        for query in reader.inputs:
            asleep = frozenset[str]() if wake else _asleep(query, known)
            if asleep and isinstance(query, Run):
                yield from _looks(reader, source.place, shown(query), _SLEEPS)
                continue
            yield from _pieces(reader, source.host, source.place, query, known, asleep)
    for text in source.texts:
        if any(text.spots(mark) for mark in reader.marks):
            yield _as_kind(reader, text)


def _asleep(query: Input, known: list[Fact]) -> frozenset[str]:
    """Names, in paths, of cards that are suspended: a file is one card's, a vendor's tool wakes all of its own."""
    if not isinstance(query, File | Run) or not query.wakes:
        return frozenset()
    cards = {
        str(fact.get("address"))
        for fact in known
        if isinstance(fact, PciDevice)
        and fact.get("power") in _SUSPENDED
        and (isinstance(query, File) or fact.get("vendor_id") == query.wakes)
    }
    drawn = [fact for fact in known if isinstance(fact, DrmCard) and fact.get("pci_address") in cards]
    return frozenset(cards | {"card" + str(fact.get("card")) for fact in drawn})


def _pieces(
    reader: Reader, host: Host, base: Place, query: Input, known: list[Fact], asleep: frozenset[str]
) -> Iterator[Text | Look | Unanswered]:
    place = base if base.process or not reader.place.process else base._replace(process=reader.place.process)
    for path, answer in _answers(host, query, known, asleep):
        if answer.body is None:
            yield from _looks(reader, place, path, answer)
            if isinstance(query, Run) and (unanswered := refused(query, answer)):
                yield unanswered
            continue
        seen = place._replace(process=_owner(query, path)) if isinstance(query, File) and query.process else place
        body = without_escapes(answer.body) if isinstance(query, Run) else answer.body  # rocminfo colours its head
        text = Text(path, body, seen, whole=True, rank=reader.rank, exit_status=answer.exit, of_host=True)
        text.fresh, text.asked, text.who = True, shown(query), reader.matched
        yield text


def _answers(host: Host, query: Input, known: list[Fact], asleep: frozenset[str]) -> Iterator[tuple[str, Answer]]:
    """What it is told, path by path or as a whole; a file is read when it is asked for."""
    return _files(host, query, known, asleep) if isinstance(query, File) else _told(host, query, known)


def _told(host: Host, query: Input, known: list[Fact]) -> Iterator[tuple[str, Answer]]:
    if isinstance(query, Run):
        if _worth_running(query, host):
            yield shown(query), host.run(query.argv, query.seconds)
    elif isinstance(query, Listing):
        for path in _paths(query.path, known):
            yield "ls -l " + path, host.listing(path)
    elif isinstance(query, Ask):
        yield shown(query), host.variables() if query.about == "variables" else host.account()


def waits(reader: Reader, host: Host | None) -> bool:
    """Whether a program of a host may be waited for: not one that is not there."""
    programs = [query.argv[0] for query in reader.inputs if isinstance(query, Run)] if host is not None else []
    return any(map(host.program, programs)) if isinstance(host, Local) else bool(programs)


def _worth_running(query: Run, host: Host) -> bool:
    """A program whose answer the files already tell, or that has nothing to speak to, is not started."""
    if query.unless and any(host.find(path) for path in braced(query.unless)):
        return False
    if not query.given or any(host.find(path) for path in braced(query.given)):
        return True
    return any(kept.argv == query.argv for kept in host.recorded())  # it was worth it where it was kept


def _files(host: Host, query: File, known: list[Fact], asleep: frozenset[str]) -> Iterator[tuple[str, Answer]]:
    for pattern in _paths(query.path, known):
        paths = host.find(pattern)[:_MOST_FILES] if is_pattern(pattern) else [pattern]
        for path in paths:
            awake = not asleep or asleep.isdisjoint(path.split("/"))
            yield path, host.read(path, query.most) if awake else _SLEEPS
        if not paths:
            yield pattern, host.read(pattern, query.most)  # absent, or a folder that nobody copied


def _paths(pattern: str, known: list[Fact]) -> list[str]:
    return [path for template in filled(pattern, known) for path in braced(template)]


def _looks(reader: Reader, place: Place, source: str, answer: Answer) -> Iterator[Look]:
    """To find nothing is a whole look; to be refused is none; unseen means that nobody looked."""
    if answer.state != "unseen":
        coverage = "whole" if answer.state == "absent" else "refused"
        for kind in reader.about:
            yield Look(kind, place.at(kind.scope), source, coverage, answer.why)


def _owner(query: File, path: str) -> str:
    """Whose environment a file configures: `ollama.service.d/x.conf` speaks of ollama's unit."""
    if query.process != "unit":
        return query.process
    unit = next((part for part in PurePosixPath(path).parts if ".service" in part), posixpath.basename(path))
    return "unit:" + unit.partition(".service")[0]


def _as_kind(reader: Reader, text: Text) -> Text:
    """A pasted text as this reader sees it: with the reader's own place where the text tells none."""
    whole = bool(reader.whole) and text.first(reader.whole) is not None
    place = text.given
    if reader.place.process and not place.process:
        place = place._replace(process=reader.place.process)
    seen = text.seen_as(place, whole, reader.rank)
    if reader.rank < 0 and Gpu in reader.makes:  # of what people write, which tells of others' cards, too
        seen.body = text.own_words
    return seen


def braced(path: str) -> list[str]:
    """{a,b} names both."""
    if "{" not in path:
        return [path]
    parts = _BRACES.split(path)
    choices = [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


def named(host: Host, pattern: str) -> list[str]:
    """Paths of a host that a pattern with braces names, each once."""
    return list(dict.fromkeys(path for plain in braced(pattern) for path in host.find(plain)))


def filled(pattern: str, known: list[Fact]) -> list[str]:
    """A pattern with {Kind.field} filled in from each fact that knows the field."""
    wanted = _FILLED_IN.search(pattern) if "." in pattern and "{" in pattern else None
    if not wanted:
        return [pattern]
    held = (fact.fields.get(wanted[2]) for fact in known if type(fact).__name__ == wanted[1])
    values = {reading.value for reading in held if reading is not None and isinstance(reading.value, str | int)}
    return [path for value in sorted(values) for path in filled(pattern.replace(wanted[0], str(value)), known)]
