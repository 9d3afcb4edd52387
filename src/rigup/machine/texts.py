"""A piece of text with its place, and hits in it that know their line."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from operator import itemgetter
from time import thread_time
from typing import Any, TypeVar

from rigup.knowledge.doctor_tables import Speaker, speakers
from rigup.knowledge.needs import Need
from rigup.knowledge.patterns import compiled, lazy_regex
from rigup.machine.facts import Fact, Place, Reading, Where
from rigup.machine.limits import MOST_ROW_SECONDS, MOST_SEARCHED
from rigup.machine.literals import literals_in, places_of
from rigup.machine.readable import readable

T = TypeVar("T", bound=Fact)
_BARE = 8  # characters of an answer that tells nothing without its question
_EXCERPT = 300  # characters of a line that evidence keeps
_NEAR = 1500  # characters on either side of a literal in which a message of one line may stand
_NEAR_LINES = 4000  # the same for a message of several lines
_FAR = 8  # times as far where stretches overlap
_SHOWN = 60  # letters of a pattern without a name
_SHORT = 30_000  # characters of a text in which a few hundred words are looked for at once
_MOST_SPOTS = 5000  # of one literal in one text
_MOST_RETURNS = 500  # of one prompt in one text
_CACHE: dict[str, re.Pattern[str]] = {}
_STOP = lazy_regex(r"[.!?…]+(?=[ \t])|[。！？]")  # where a sentence ends within a line
_BACK = Speaker(literal="", regex="", kind="")  # where the text itself stands
_WHO = r"(?:\([\w. -]{1,40}\) ?)?\[?(?P<who>[a-z_][\w.-]{0,31}@[\w.-]{1,63})"
_AT_HOST = r"^(?:\([\w. -]{1,40}\) ?)?\[?[a-z_][\w.-]{0,31}@(?P<host>[\w-]{1,63})(?:\.[\w.-]{1,60})?(?::[^\s$#]{0,200}[$#%]|[ :][^\]\n]{0,200}\][$#%])(?: |$)"
_MOST_PROMPTS = 2000  # of one text
_SIGN = r"(?P<who>[#❯➜%])[ \t]"
_STAYS = r" -(?:[a-z]{0,3}t[a-z]{0,3}|-tty|-interactive)(?: |$)"  # a shell inside may have the same bare sign


def pattern(regex: str) -> re.Pattern[str]:
    """A compiled pattern: ^ and $ are a line's. Compiled once, when first needed."""
    if regex not in _CACHE:
        _CACHE[regex] = compiled(regex, re.MULTILINE)
    return _CACHE[regex]


class Text:
    """What one source says.

    `whole` tells that it was read whole, so that what is not in it is absent. `rank` is how far it is
    to be believed against another source. `lines` maps its lines to the source's, where it was cut out. What comes `of_host`
    is readable.
    """

    def __init__(
        self,
        source: str,
        body: str,
        place: Place = Place(),
        whole: bool = False,
        rank: int = 0,
        lines: list[int] | None = None,
        exit_status: int = 0,
        of_host: bool = False,
    ) -> None:
        self.source, self.given, self.whole = source, place, whole
        self.body = body if of_host or body.isascii() else readable(body)
        self.rank, self.lines, self.exit_status = rank, lines, exit_status
        self.fresh = False  # read for one reader alone; a pasted text is seen by several
        self.asked = ""  # the input that asked for it
        self.who = "anybody"  # whose messages may stand in it: "program", "kernel", "" for none
        self.given_up: set[str] = set()  # messages whose search took too long

    def seen_as(self, place: Place, whole: bool, rank: int) -> "Text":
        """The same text for one reader, sharing what was found out about it."""
        twin = Text(self.source, self.body, place, whole, rank, self.lines, self.exit_status)
        twin.__dict__["index"], twin.__dict__["starts"] = self.index, self.starts
        return twin

    def each(self, regex: str) -> Iterator["Hit"]:
        """Every place where the pattern matches."""
        return (Hit(self, match) for match in pattern(regex).finditer(self.body))

    def first(self, regex: str) -> "Hit | None":
        """The first place where it matches."""
        return next(self.each(regex), None)

    def near(
        self,
        regex: str,
        spots: list[int],
        lines: int = 1,
        most: int = 200,
        beside: list[str] | None = None,
        needs: Need = None,
        name: str = "",
    ) -> Iterator["Hit"]:
        """Matches on the lines around each spot only, so that a long log costs what its finds cost.

        Of a line without end only what is near counts, and a stretch that was searched in vain is not
        searched again for the next spot on it. `beside` are words of which one must stand there too: looking for
        them costs little, where a number alone stands on every line of a long log. Where `needs` (see `needs.needed`) do not stand
        there the pattern is not tried, nor compiled: that takes longer than all else that is done with it. Where one pattern was looked for
        in too many characters, or for too long, no more searches are made; `name` is then among what was given up.
        """
        done, count, vain, searched, spent = 0, 0, (0, -1), 0, 0.0
        reach = _NEAR if lines == 1 else _NEAR_LINES
        beside_words = [word for word in beside or () if self.spots(word)]
        if beside and not beside_words:
            return
        for at in spots[:_MOST_SPOTS]:
            if at < done or count >= most:
                continue
            here = bisect_right(self.starts, at) - 1
            start = max(self.starts[max(here - lines + 1, 0)], at - reach, done)
            end = self._edge(here + lines, at + reach)
            if vain[0] <= start and end <= vain[1]:
                continue
            if start < vain[1]:  # spots side by side: further, so that few stretches cover them all
                end = self._edge(here + (lines * _FAR if lines > 1 else 1), at + reach * _FAR)
            if (beside_words and not self._one_of(beside_words, start, end)) or not self._may_hold(needs, start, end):
                vain = (start, end)
                continue
            if spent > MOST_ROW_SECONDS or searched > MOST_SEARCHED:
                self.given_up.add(name or regex[:_SHOWN])
                return
            began = thread_time()
            match = pattern(regex).search(self.body, start, end)
            spent += thread_time() - began
            searched += min(match.end() if match else end, len(self.body)) - start
            if match:
                done, count = max(match.end(), done + 1), count + 1
                yield Hit(self, match)
            else:
                vain = (start, end)

    def _one_of(self, words: list[str], start: int, end: int) -> bool:
        return any(self.body.find(word, start, end) >= 0 for word in words)

    def _may_hold(self, needs: Need, start: int, end: int) -> bool:
        return needs is None or _holds(self.body[start:end].casefold(), needs)

    def _edge(self, line: int, most: int) -> int:
        """Where a stretch ends: with a line, or before it where lines are long."""
        return min(self.starts[min(line, len(self.starts) - 1)], most)

    def where(self, at: int) -> Where:
        """The line that an offset lies on."""
        line = bisect_right(self.starts, at)
        start, end = self.starts[line - 1], self.starts[min(line, len(self.starts) - 1)]
        if at - start > _EXCERPT // 2:  # of a long line the part that tells
            start = at - _EXCERPT // 4
        text = self.body[start : min(end, start + _EXCERPT)].strip()
        return Where(self.source, self.lines[line - 1] if self.lines else line, text)

    def sentence(self, at: int) -> Where:
        """The same of somebody's words: of a paragraph the sentence that an offset lies in."""
        line = bisect_right(self.starts, at)
        start, end = self.starts[line - 1], self.starts[min(line, len(self.starts) - 1)]
        begin = max((stop.end() for stop in _STOP.finditer(self.body, start, at)), default=start)
        stop = _STOP.search(self.body, at, end)
        said = self.body[begin : stop.end() if stop else end].strip()
        return self.where(at)._replace(text=said) if len(said) <= _EXCERPT else self.where(at)

    @cached_property
    def own_words(self) -> str:
        """The body with blanks in the place of cards that are said to be somebody else's, or only wished for."""
        from rigup.knowledge.others_cards import without_others

        return without_others(self.body)

    @cached_property
    def starts(self) -> list[int]:
        """Where lines begin, and where the text ends."""
        return [0, *(match.end() for match in re.finditer("\n", self.body)), len(self.body) + 1]

    @cached_property
    def turns(self) -> list[tuple[int, Place]]:
        """Where the speaker changes: a session that enters a container, a service's log.

        What was read for us has one speaker: the place that it was read at.
        """
        if self.fresh:
            return []
        found = sorted(
            (hit.start, number, hit)
            for number, row in enumerate(speakers())
            if (spots := self.spots(row.literal)) and self.may_hold(row.needs)
            for hit in self.near(row.regex, spots, most=2000, needs=row.needs)
        )
        found = sorted(found + self._returns(found), key=lambda turn: turn[:2])
        place, turns = self.given, []
        for start, number, hit in found:
            place = _place_after(place, speakers()[number] if number >= 0 else _BACK, hit, self.given)
            turns.append((start, place))
        return turns

    def _returns(self, turns: list[tuple[int, int, "Hit"]]) -> list[tuple[int, int, "Hit"]]:
        """The prompt at which somebody typed a command that leads elsewhere is, when it comes again, outside."""
        typed = [hit for _, number, hit in turns if speakers()[number].kind == "container"]
        prompts = {form: hit.start for hit in reversed(typed) if (form := _own_prompt(self._line(hit.start)))}
        hits = (hit for form, start in prompts.items() for hit in self._later(form, start))
        return [(hit.start, -1, hit) for hit in hits]

    def _later(self, form: str, start: int) -> Iterator["Hit"]:
        """Where a form comes again below a line."""
        after = self.starts[min(bisect_right(self.starts, start), len(self.starts) - 1)]
        places = re.compile(form, re.MULTILINE).finditer(self.body, after)  # of somebody's words: kept nowhere
        return (Hit(self, match) for match in islice(places, _MOST_RETURNS))

    def _line(self, at: int) -> str:
        line = bisect_right(self.starts, at) - 1
        return self.body[self.starts[line] : self.starts[line + 1]][:_NEAR]

    @cached_property
    def hosts(self) -> list[tuple[int, str]]:
        """Where the prompts of several hosts stand, and whose each is; empty where all are of one."""
        if self.fresh or "@" not in self.body:
            return []
        prompts = [(hit.start, hit["host"]) for hit in islice(self.each(_AT_HOST), _MOST_PROMPTS)]
        return prompts if len({host for _start, host in prompts}) > 1 else []

    def host(self, at: int) -> str:
        """At whose prompt an offset stands, where a text has those of several hosts; else empty."""
        place = bisect_right(self.hosts, at, key=itemgetter(0)) - 1
        return self.hosts[place][1] if place >= 0 else ""

    @cached_property
    def _turned_at(self) -> list[int]:
        return [start for start, _place in self.turns]

    def spots(self, literal: str) -> list[int]:
        """Where a literal that somebody declared occurs; in what was read for one reader, any that it asks for."""
        offsets = self.index.get(literal)
        if offsets is None and self.fresh:
            offsets = self.index[literal] = places_of(literal, self.body)
        return offsets or []

    @cached_property
    def index(self) -> dict[str, list[int]]:
        """Where all known literals occur, found in one pass."""
        return literals_in(self.body, self.who)

    def may_hold(self, needs: Need) -> bool:
        """Whether the words stand in it that a pattern needs; looking for them in a long text takes longer than to compile."""
        return needs is None or len(self.body) > _SHORT or _holds(self._casefolded_body, needs)

    @cached_property
    def _casefolded_body(self) -> str:
        return self.body.casefold()

    def place(self, at: int) -> Place:
        """Who speaks at an offset."""
        where = bisect_right(self._turned_at, at) - 1
        return self.turns[where][1] if where >= 0 else self.given


def _holds(folded: str, needs: str | list[Any]) -> bool:
    """A word, or ["all", …] or ["any", …] of such."""
    if isinstance(needs, str):
        return needs in folded
    kind, *parts = needs
    return (all if kind == "all" else any)(_holds(folded, part) for part in parts)


def _own_prompt(line: str) -> str:
    """The form of the prompt that a typed line begins with; empty where it has none that can be recognised again."""
    command = re.search(r"\b(?:docker|podman|nerdctl|kubectl|apptainer|singularity)\b", line)
    if command and (prompt := re.match(_WHO, line)) and prompt.end() <= command.start():
        return r"^(?:\([\w. -]{1,40}\) ?)?\[?" + re.escape(prompt["who"]) + r"(?:[: ~\]][^\n]{0,200}?)?[$#%>❯➜](?: |$)"
    if command and (prompt := re.match(_SIGN, line)) and not re.search(_STAYS, line):
        return "^" + re.escape(prompt["who"]) + r"[ \t]{1,3}(?=[a-z./~])"
    return ""


def _place_after(place: Place, row: Speaker, hit: "Hit", given: Place) -> Place:
    """The place after a turn. The name may come from the text: (?P<name>…).

    Node and moment stay until another is named; a plain prompt is back where the text itself stands. An
    unnamed container inside a named one is that one: its own prompt does not know what it was called.
    """
    name = hit.found().get("name", row.name)
    full = row.kind + (":" + name if name else "")
    back = place._replace(world=given.world, process=given.process)
    if row.kind == "node":
        return back._replace(node=name)
    if row.kind in ("host", "container", "windows"):
        return place._replace(world=place.world if place.world.startswith(full + ":") else full, process="")
    if row.kind in ("before", "after"):
        return back._replace(moment=row.kind)
    return place._replace(process=full) if row.kind else back


class Hit:
    """A match in a text."""

    def __init__(self, text: Text, match: re.Match[str]) -> None:
        self.text, self.match, self.start = text, match, match.start()

    def __getitem__(self, group: str) -> str:
        return self.match[group] or ""

    @property
    def place(self) -> Place:
        """Who speaks there."""
        return self.text.place(self.start)

    def found(self) -> dict[str, str]:
        """The named groups that matched; the others stay unknown."""
        return {name: value for name, value in self.match.groupdict().items() if value is not None}

    def states(self, kind: type[T], /, **fields: object) -> T:
        """A statement made here: each field's evidence is the group of its name, else the match."""
        readings = {name: Reading(value, self.where(name), self.text.rank) for name, value in fields.items()}
        return kind(self.place, readings)

    def where(self, group: str = "") -> Where:
        """Where a group, or the whole match, stands: of what somebody typed and its answer, and of a traceback, the last line."""
        if group in self.match.groupdict() and self.match[group] is not None:
            return self.text.where(self.match.start(group))
        where = self.text.where(self.start)
        leads_up = is_asked(where.text) or where.text.startswith('File "')
        return self._answer() if "\n" in self.match[0].strip() and leads_up else where

    def _answer(self) -> Where:
        """The last line of a match that begins with what somebody typed; a bare word stands behind its question."""
        told = self.match[0].rstrip()
        where = self.text.where(self.start + told.rfind("\n") + 1)
        before = told.splitlines()[-2]
        if before.startswith("  "):  # the line of its own source that Python shows below a warning
            return where
        prompt = _TYPED.match(before)
        asked = before[prompt.end() if prompt else 0 :].lstrip(" >$")
        both = f"{asked}\n{where.text}"
        return where._replace(text=both) if len(where.text) <= _BARE and both in told else where


# A prompt of a shell, of Windows or of Python, and what follows it.
_TYPED = lazy_regex(
    r"\s*(?:\([\w. -]{1,40}\) ?)?(?:[$#%❯➜] |>>> |In \[\d{1,4}\]: |(?:PS )?[A-Z]:\\[^>\n]{0,120}> ?|\[?[\w.-]{1,40}@[\w.-]{1,60}[^$#%>\n]{0,60}[$#%>] |[\w.-]{1,60}:[~/][^$#%>\s]{0,60}[$#%] )"
)


def is_typed(line: str) -> bool:
    """Whether somebody typed a line: what it says is a question, and no answer."""
    return _TYPED.match(line) is not None


def is_asked(line: str) -> bool:
    """The same, also of a line of a notebook's cell."""
    return is_typed(line) or line.startswith(("print(", "import ")) or line.lstrip().startswith("...:")


_PROSE = lazy_regex(r"[^\[\]{}=<>|$#\t]{90,}")
_OF_A_PROGRAM = lazy_regex(r"(?i)(?:error|warning|fatal|failed|exception)\b:?|^\d{4}-\d\d|\w::\w|0x[0-9a-f]{4}")


def is_prose(line: str) -> bool:
    """Whether a line is of somebody's own letter: long, of words alone, and no message of a program."""
    return _PROSE.fullmatch(line) is not None and line.count(" ") > 12 and _OF_A_PROGRAM.search(line) is None


def typed_part(line: str) -> str | None:
    """What somebody typed behind a prompt of a shell; None for any other line."""
    prompt = _TYPED.match(line)
    return None if prompt is None or prompt[0].lstrip().startswith((">>>", "In [")) else line[prompt.end() :]
