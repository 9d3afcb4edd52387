"""Findings: what rules came to, merged, folded and ordered."""

import functools
from typing import Any

from rigup.diagnosis.rule import STRENGTHS, wordings
from rigup.knowledge.doctor_tables import Cause, Signature, causes, layers
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Place, Subject
from rigup.machine.kinds import Symptom
from rigup.machine.store import Facts
from rigup.schemas.shared import Confidence, Evidence, Severity

SEVERITIES = ("error", "warning", "note")
OWN_FAILURE = "rigup-rule-failed"
_DEATH = lazy_regex(
    r"^(?:[\w.]{1,60}\.)?[A-Z]\w{1,40}(?:Error|Exception): |\bExited with exit code [1-9]|\(core dumped\)|\bSIG(?:SEGV|ABRT|BUS|ILL)\b|^GGML_ASSERT"
)


class Finding:
    """One cause, of one subject, in one place, with why we think so."""

    def __init__(
        self, cause: str, subject: Subject, place: Place, confidence: Confidence, evidence: list[Evidence], params: dict[str, Any]
    ) -> None:
        self.cause, self.subject, self.place, self.confidence = cause, subject, place, confidence
        self.evidence, self.params = evidence, params
        self.folds: set[str] = set()
        self.past = False  # what is shown later refutes it
        self.failed: tuple[tuple[str, ...], ...] = ()  # commands that failed of it, as they were typed
        self.row = row_of(cause)
        self.severity: Severity = params.get("severity", self.row.severity)

    def rank(self) -> tuple[int, bool, int, bool, int]:
        """Loud before quiet, grounded before guessed, the later state first, then the deeper layer."""
        return (
            SEVERITIES.index(self.severity),
            self.confidence == "possible",
            layers().index(self.row.layer),
            self.place.moment == "before",
            STRENGTHS.index(self.confidence),
        )

    def accounts_for(self, other: "Finding") -> bool:
        """Whether this one is why the other is there. A guess never hides what is grounded."""
        same_machine = self.place.at("machine").meet(other.place.at("machine")) is not None
        reached = other.cause in explained(self.cause) and same_machine and self.subject.touches(other.subject)
        return reached and not (self.confidence == "possible" and other.confidence != "possible")


def ends_the_work(finding: Finding) -> bool:
    """Whether what it rests on shows that a program died of it, which was to run on if slower."""
    shown = (line.value or "" for line in finding.evidence if line.fact.startswith("symptom "))
    return finding.severity == "warning" and finding.confidence != "possible" and any(map(_DEATH.search, shown))


def row_of(cause: str) -> Cause:
    """The cause's row; a cause that has none yet is an error of the program."""
    return causes().get(cause) or Cause(id=cause, layer="program")


def is_idle(row: Signature, facts: Facts) -> bool:
    """Whether a message is without consequence, by itself or beside what else was heard."""
    return row.harmless or not set(row.idle_beside).isdisjoint(facts.ids)


@functools.cache
def explained(cause: str) -> frozenset[str]:
    """Symptoms and causes that a cause accounts for, also those of the causes explained."""
    reached: set[str] = set()
    ahead = [cause]
    while ahead:  # a table of a person's own may lead in a circle
        row = causes().get(ahead.pop())
        new = {each for name in row.explains for each in _meant(name)} - reached if row else set()
        reached |= new
        ahead += new
    return frozenset(reached)


def _meant(name: str) -> tuple[str, ...]:
    """A symptom or cause by its id, or all wordings of a concept: `#tag`."""
    return wordings(tag=name[1:]) if name.startswith("#") else (name,)


def heard_in(facts: Facts) -> set[str]:
    """Ids of all known messages."""
    return {symptom.id for symptom in facts.of(Symptom)}


def is_guess(finding: Finding) -> bool:
    """Whether words alone speak for it."""
    return "likeness" in finding.params


def merged(findings: list[Finding]) -> list[Finding]:
    """Ways to know the same of one subject are one finding, as sure as the surest."""
    unlike: list[Finding] = []
    for finding in sorted(findings, key=lambda f: (not f.subject.name, STRENGTHS.index(f.confidence))):
        twin = next((k for k in unlike if _twins(k, finding)), None)
        if twin is None:
            unlike.append(finding)
        else:
            _merge(twin, finding)
    return unlike


def _twins(first: Finding, second: Finding) -> bool:
    same = first.cause == second.cause and (first.subject == second.subject or not second.subject.name)
    return same and first.place.at("machine").meet(second.place.at("machine")) is not None


def _merge(twin: Finding, new: Finding) -> None:
    twin.evidence += [line for line in new.evidence if line not in twin.evidence]
    twin.params = {**new.params, **twin.params}
    twin.confidence = min(twin.confidence, new.confidence, key=STRENGTHS.index)
    twin.severity = min(twin.severity, new.severity, key=SEVERITIES.index)
    twin.place = twin.place.meet(new.place) or twin.place


def folded(findings: list[Finding]) -> list[Finding]:
    """Root causes in order, each with the ids of what it accounts for."""
    roots = [f for f in findings if not any(other.accounts_for(f) for other in findings)]
    for root in roots:
        root.folds = {f.cause for f in findings if root.accounts_for(f)}
    return _without_echoes(sorted(roots, key=Finding.rank))


def _without_echoes(roots: list[Finding]) -> list[Finding]:
    """What only says that something failed elsewhere goes under the first that did; behind what is no more than possible."""
    sounds = [f for f in roots if not f.row.echo and f.severity == "error"]
    grounded = [f for f in sounds if f.confidence != "possible"]
    if grounded:
        grounded[0].folds |= {name for f in roots if f.row.echo for name in (f.cause, *explained(f.cause))}
        return [f for f in roots if not f.row.echo]
    return sorted(roots, key=lambda f: f.row.echo) if sounds else roots
