"""What is, of a text that tells how something failed and how it works now: the last state shown of a thing is the present one.

A fault is past where all that tells of it stands before words of a change (`turning_points.toml`), or before the same command
typed once more, and where what follows shows that it works: a maker's tool that lists the card, a program that computes on it.
The text is then read anew without what refuted lines it holds.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from rigup.diagnosis.at_work import is_at_work
from rigup.diagnosis.findings import Finding
from rigup.diagnosis.judge import Skipped, judged
from rigup.diagnosis.other_pythons import of_other_pythons
from rigup.diagnosis.rule import wordings
from rigup.knowledge.doctor_tables import layers, signatures_of
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.turns import turn_of, without_trials
from rigup.machine.facts import Place, Subject
from rigup.machine.kinds import Gpu, Symptom, Torch
from rigup.machine.look import look
from rigup.machine.runs import Run, runs
from rigup.machine.sources import Source
from rigup.machine.store import Facts
from rigup.machine.texts import Text, typed_part
from rigup.schemas.shared import Evidence

_OTHER = "other-python-asked"
_MOST_ROUNDS = 4  # what was hidden behind a past fault is past too, or comes to light
_MOST_TAILS = 6  # of one text that are read
_LONGEST = 200_000  # characters: people write of what they solved in short texts, and a log is none
_SENTENCES = lazy_regex(r"(?<=[.!?\"”»]) +|(?<=[。！？])")
_COLUMNS, _COLUMNS_OF_A_ROW = lazy_regex(r" {3,}|\t+"), 4
_COMPUTES = ("tensor-on-its-device", "tensor-on-a-device")
_SILENT = wordings(tag="nvidia-driver-silent nvidia-finds-none")
_OF_DRIVERS = ("kernel", "NVML", "NVIDIA", "nvidia-smi", "modprobe", "dkms")  # in the name of who speaks of the driver alone


_OF_PROGRAMS = ("library", "framework", "program")  # layers in which one program fails while another computes
_NAMED = ("program", "package", "library", "framework")  # parameters that name what fails


class Judged(NamedTuple):
    """What was seen and found; `past` are faults that what is shown later refutes."""

    facts: Facts
    findings: list[Finding]
    skipped: Skipped
    texts: tuple[Text, ...]
    past: list[Finding]


def present(facts: Facts, findings: list[Finding], skipped: Skipped, sources: list[Source], wake: bool) -> Judged:
    """The findings of the state that is shown last, and those of states before it."""
    past: list[Finding] = []
    others = {spot: note for text in _by_source(sources).values() for spot, note in _Session(text).of_other_pythons()}
    if (kept := _without_trials(sources)) or others:
        sources = _left_of(kept or sources, set(others))
        facts = look(sources, wake)
        findings, skipped = judged(facts)
    tails: dict[tuple[str, int], _Shown] = {}
    for _round in range(_MOST_ROUNDS):
        stale = _stale([one for one in findings if _may_be_past(one, facts)], sources, tails, wake)
        if not stale:
            break
        past += [finding for finding, _lines in stale]
        sources = _left_of(sources, {spot for _finding, lines in stale for spot in lines})
        facts = look(sources, wake)
        findings, skipped = judged(facts)
    if gone := {spot for text in _by_source(sources).values() for spot in _Session(text).of_another_time()}:
        before, sources = findings, _left_of(sources, gone)
        facts = look(sources, wake)
        findings, skipped = judged(facts)
        past += [finding for finding in before if finding.severity == "error" and gone.issuperset(_told_at(finding))]
    causes = {finding.cause for finding in findings}
    told = [finding for finding in past if finding.cause not in causes]
    texts = tuple(text for source in sources for text in source.texts)
    return Judged(facts, findings, skipped, texts, [*_as_notes(told), *_once(others.values())])


def _without_trials(sources: list[Source]) -> list[Source]:
    """The sources without what was tried in environments that are removed; none where nobody tells of such."""
    plain = {text: without_trials(text.body) for source in sources for text in source.texts if len(text.body) <= _LONGEST}
    if all(text.body == body for text, body in plain.items()):
        return []
    return [source._replace(texts=tuple(_of_body(text, plain.get(text, text.body)) for text in source.texts)) for source in sources]


def _once(notes: Iterable[Finding]) -> list[Finding]:
    return list({note.subject: note for note in notes}.values())


def _left_of(sources: list[Source], gone: "set[Spot]") -> list[Source]:
    """The sources without some of their lines."""
    return [source._replace(texts=tuple(_without(text, gone) for text in source.texts)) for source in sources]


def _as_notes(past: list[Finding]) -> list[Finding]:
    """Each cause once, as something worth knowing."""
    once = {finding.cause: finding for finding in reversed(past)}
    for finding in once.values():
        finding.past, finding.severity = True, "note"
    return list(reversed(once.values()))


Spot = tuple[str, int]
Stale = list[tuple[Finding, set[Spot]]]


def _stale(findings: list[Finding], sources: list[Source], tails: "dict[tuple[str, int], _Shown]", wake: bool) -> Stale:
    """Faults that a later state refutes, and the lines that told of them."""
    texts = _by_source(sources)
    found: Stale = []
    for finding in findings:
        spots = _told_at(finding)
        text = texts.get(spots[0][0]) if spots else None
        if text is None or {source for source, _line in spots} != {text.source}:
            continue
        session = _Session(text)
        last = max(line for _source, line in spots)
        turns = [turn for turn in session.turns(last) if (text.source, turn) in tails or len(tails) < _MOST_TAILS]
        for turn in turns[:1]:
            shown = tails.setdefault((text.source, turn), _Shown(session, turn, wake))
            if shown.refutes(finding, last):
                found.append((finding, session.told_before(turn, [line for _source, line in spots])))
    return found


def _may_be_past(finding: Finding, facts: Facts) -> bool:
    """An error that does not come and go, of no card beside which another model may be the one that works."""
    if finding.severity != "error" or finding.row.recurs:
        return False
    models = {(card.get("isa"), card.get("vendor")) for card in facts.of(Gpu) if card.get("isa")}
    return finding.row.about != "Gpu" or len(models) < 2


def _by_source(sources: list[Source]) -> dict[str, Text]:
    """The text of each source that is one text, of one node and not too long."""
    texts: dict[str, list[Text]] = {}
    for text in (text for source in sources for text in source.texts):
        texts.setdefault(text.source, []).append(text)
    return {name: parts[0] for name, parts in texts.items() if len({part.given for part in parts}) == 1 and len(parts[0].body) <= _LONGEST}


def _told_at(finding: Finding) -> list[Spot]:
    """Where the messages stand that a finding rests on; of one that rests on none the lines of its facts."""
    lines = [line for line in finding.evidence if line.line]
    said = [line for line in lines if line.fact.startswith("symptom ")]
    return [(line.source, line.line) for line in said or lines if line.line]


class _Session:
    """A text by the numbers of its source's lines."""

    def __init__(self, text: Text) -> None:
        self.text, self.lines = text, text.body.split("\n")
        self.numbers = (text.lines or list(range(1, len(self.lines) + 1)))[: len(self.lines)]
        self.runs = runs(self.lines)
        self._told: dict[int, str | None] = {}

    def _index(self, number: int) -> int:
        return next((at for at, line in enumerate(self.numbers) if line >= number), len(self.numbers) - 1)

    def place(self, number: int) -> Place:
        """Who speaks on a line."""
        return self.text.place(self.text.starts[self._index(number)])

    def host(self, number: int) -> str:
        """At whose prompt a line stands, where there are several."""
        return self.text.host(self.text.starts[self._index(number)])

    def is_elevated(self, number: int) -> bool:
        """Whether a line is of the output of a command that was typed behind sudo."""
        at = self._index(number)
        own = next((run for run in self.runs if run.first <= at < run.end), None)
        return own is not None and (typed_part(self.lines[own.first]) or "").lstrip().startswith("sudo ")

    def turns(self, number: int) -> list[int]:
        """Lines below another with which a later state may begin: words of a change, and the command whose output it stands in, once more."""
        at = self._index(number)
        first = at + 1
        if first < len(self.lines) and self._ends_in_a_change(at):
            return [self.numbers[first]]
        cues = (self.numbers[below] for below in range(first, len(self.lines)) if self._tells(below) == "now")
        own = next((run for run in self.runs if run.first <= at < run.end), None)
        again = [self.numbers[run.first] for run in self.runs if own and run.first > at and self._repeats(own, run)]
        return sorted({*islice(cues, 1), *again[:1]})

    def _ends_in_a_change(self, at: int) -> bool:
        """Whether a line tells of a fault, and in its last sentence what was done: `Last week it said "…". After a reboot:`."""
        parts = _SENTENCES.split(self.lines[at].strip())
        return len(parts) > 1 and parts[-1].endswith((":", "：")) and turn_of(parts[-1]) == "now"

    def _tells(self, at: int) -> str | None:
        """Of which time what follows a line is; what somebody typed, and the rows of tables, tell nothing of it."""
        if at not in self._told:
            self._told[at] = self._kind_of(self.lines[at])
        return self._told[at]

    def _kind_of(self, line: str) -> str | None:
        is_row = line.lstrip().startswith(("|", "+", ">>>")) or len(_COLUMNS.split(line.strip())) >= _COLUMNS_OF_A_ROW
        return None if is_row or typed_part(line) is not None else turn_of(line)

    def _repeats(self, own: Run, other: Run) -> bool:
        """The same words behind the same prompt, and nothing between that leads elsewhere."""
        between = [self.lines[run.first] for run in self.runs if own.first < run.first < other.first]
        return self.lines[own.first].split() == self.lines[other.first].split() and not any(map(_leads_away, between))

    def is_then(self, number: int, since: int) -> bool:
        """Whether a line below another is said to be of an earlier time or of another machine: the nearest words above it count."""
        first, at = self._index(since), self._index(number)
        told = (kind for above in range(at, first, -1) if (kind := self._tells(above)))
        return next(told, "now") == "then"

    def of_another_time(self) -> set[Spot]:
        """Outputs that are said to be of an earlier time or another machine, where the same command is typed once more for the present."""
        typed = Counter(map(self._typed, self.runs))
        several = [run for run in self.runs if run.program and typed[self._typed(run)] > 1]
        told = {run: self._kind_above(run.first) for run in several}
        here = {self._typed(run): shown for run in several if told[run] == "now" and (shown := self._printed(run))}
        other = [run for run in several if told[run] == "then" and self._typed(run) in here]
        unlike = [run for run in other if here[self._typed(run)] != self._printed(run)]
        return {(self.text.source, self.numbers[at]) for run in unlike for at in range(run.first, self._end_of(run))}

    def of_other_pythons(self) -> Iterable[tuple[Spot, Finding]]:
        """Lines that another Python than the one that failed has printed, each with the finding that tells of it."""
        for asked in of_other_pythons(self.lines, self.runs):
            line = self.lines[asked.at].strip()
            seen = Evidence(fact="", value=line, source=self.text.source, line=self.numbers[asked.at])
            told = {"typed": asked.typed, "failed": asked.failed}
            note = Finding(_OTHER, Subject("PythonEnv", asked.typed), Place(), "likely", [seen], told)
            yield from (((self.text.source, self.numbers[line]), note) for line in asked.lines)

    def _kind_above(self, at: int) -> str | None:
        return next((kind for above in range(at - 1, -1, -1) if (kind := self._tells(above))), None)

    def _typed(self, run: Run) -> str:
        return " ".join(self.lines[run.first].split())

    def _printed(self, run: Run) -> list[str]:
        return [line.rstrip() for line in self.lines[run.first + 1 : self._end_of(run)]]

    def _end_of(self, run: Run) -> int:
        """Where an output ends: before the next command, or before words of another time."""
        return next((at for at in range(run.first + 1, run.end) if self._tells(at)), run.end)

    def below(self, turn: int) -> Text:
        """The text from a line on."""
        at = self._index(turn)
        lines = [*self.numbers[at:], 0]
        return Text(self.text.source, "\n".join(self.lines[at:]), self.place(turn), lines=lines)

    def told_before(self, turn: int, numbers: list[int]) -> set[Spot]:
        """The lines that tell of a past state: outputs and paragraphs in which messages stand, and outputs of programs that are started again."""
        first = self._index(turn)
        again = {run.program for run in self.runs if run.program and run.first >= first}
        gone = {at for run in self.runs if run.program in again for at in range(run.first, min(run.end, first))}
        for at in map(self._index, numbers):
            gone |= set(self._paragraph(at, first))
        return {(self.text.source, self.numbers[at]) for at in gone}

    def _paragraph(self, at: int, end: int) -> Iterable[int]:
        start = at
        while start > 0 and self.lines[start - 1].strip() and typed_part(self.lines[start]) is None:
            start -= 1
        stop = at
        while stop + 1 < end and self.lines[stop + 1].strip() and typed_part(self.lines[stop + 1]) is None:
            stop += 1
        return range(start, stop + 1)


_AWAY = (
    "ssh ",
    "docker ",
    "podman ",
    "kubectl ",
    "apptainer ",
    "singularity ",
    "srun ",
    "salloc ",
    "wsl",
    "conda ",
    "mamba ",
    "micromamba ",
    "source ",
    ". ",
    "deactivate",
    "chroot ",
    "su ",
    "sudo -i",
    "sudo -s",
    "sudo su",
    "exit",
    "nix-shell",
    "toolbox ",
    "distrobox ",
)


def _leads_away(line: str) -> bool:
    """Whether a typed line leads into another environment, container or machine."""
    return (typed_part(line) or "").strip().startswith(_AWAY)


class _Shown:
    """What a text shows from a line on."""

    def __init__(self, session: _Session, turn: int, wake: bool) -> None:
        self.session, self.turn = session, turn
        self.facts = look([Source(Place(), None, (session.below(turn),))], wake)
        self.findings = judged(self.facts)[0]
        self.failed = {f.cause for f in self.findings if f.severity == "error" and f.confidence != "possible"}

    def refutes(self, finding: Finding, last: int) -> bool:
        """Whether what is shown there, in the same place, cannot be while the fault is, of which a line tells last."""
        if finding.cause in {found.cause for found in self.findings}:
            return False
        deep = layers().index(finding.row.layer) <= layers().index("driver")
        proofs = self._computing(finding) + (self._listing() if deep and _is_of_the_driver(finding) else [])
        return any(self._is_there(number, last) for number in proofs)

    def _is_there(self, number: int, last: int) -> bool:
        session = self.session
        seen, told = session.place(number), session.place(last)
        same = (seen.node, seen.world) == (told.node, told.world) and session.host(number) == session.host(last)
        lent = session.is_elevated(number) and not session.is_elevated(last)  # another's rights
        return same and not lent and not session.is_then(number, last)

    def _computing(self, finding: Finding) -> list[int]:
        """Lines on which a program computes on a GPU; a program's own fault is refuted by that program alone."""
        broken = {f.row.layer for f in self.findings if f.cause in self.failed}
        if broken - {"program", "scheduler"}:
            return []
        at_work, torches = self._at_work(), [torch for torch in self.facts.of(Torch) if torch.get("available")]
        if finding.row.layer in _OF_PROGRAMS:
            own = _programs(finding)
            if not _is_of_torch(finding, own):
                return _lines([symptom for symptom in at_work if _program_of(symptom) in own])
        return _lines(at_work) + [torch.fields["available"].where.line or 0 for torch in torches]

    def _at_work(self) -> list[Symptom]:
        if not (is_at_work(self.facts) or self.facts.heard(*_COMPUTES)):
            return []
        return self.facts.heard(*_COMPUTES, *wordings(tag="gpu-at-work"))

    def _listing(self) -> list[int]:
        """Lines on which a maker's tool lists a card, with the driver that answers."""
        if self.facts.heard(*_SILENT) or not self.facts.of(Gpu):
            return []
        listed = (card.fields.get("seen_by") for card in self.facts.of(Gpu))
        return [reading.where.line or 0 for reading in listed if reading and reading.value != "torch"]


def _is_of_the_driver(finding: Finding) -> bool:
    """Whether the maker's tool or the kernel tells of it: what lists the cards then speaks against it."""
    said = [line.fact.removeprefix("symptom ") for line in finding.evidence if line.fact.startswith("symptom ")]
    rows = {row.id: row for row in signatures_of(set(said))}
    spoke = [rows[id_].program for id_ in said if id_ in rows]
    return not said or any(id_ in _SILENT for id_ in said) or any(word in who for who in spoke for word in _OF_DRIVERS)


def _programs(finding: Finding) -> set[str]:
    said = {line.fact.removeprefix("symptom ") for line in finding.evidence if line.fact.startswith("symptom ")}
    return {row.program for row in signatures_of(said)}


def _is_of_torch(finding: Finding, programs: set[str]) -> bool:
    """Whether torch itself fails, and no program or package beside it."""
    beside = {str(finding.params[name]).lower() for name in _NAMED if isinstance(finding.params.get(name), str)}
    told = any(line.fact.startswith("Torch.") for line in finding.evidence) or any("torch" in who for who in programs)
    return told and all("torch" in name for name in beside)


def _program_of(symptom: Symptom) -> str:
    return next((row.program for row in signatures_of({str(symptom.id)})), "")


def _lines(symptoms: list[Symptom]) -> list[int]:
    return [symptom.fields["id"].where.line or 0 for symptom in symptoms]


def _without(text: Text, gone: set[Spot]) -> Text:
    """The text without some lines, whose numbers the others keep."""
    if not any(source == text.source for source, _line in gone):
        return text
    lines = text.body.split("\n")
    numbers = text.lines or list(range(1, len(lines) + 1))
    kept = ["" if (text.source, number) in gone else line for number, line in zip(numbers, lines, strict=False)]
    return _of_body(text, "\n".join(kept))


def _of_body(text: Text, body: str) -> Text:
    """The text with another body of as many lines."""
    return Text(text.source, body, text.given, text.whole, text.rank, text.lines, text.exit_status)
