"""What a difference may have broken: the causes whose rules ask for just that, and which difference comes first."""

import functools
from collections import defaultdict
from collections.abc import Iterable
from types import CodeType

from rigup.diagnosis.loading import load_all
from rigup.diagnosis.rule import RULES, Need, Rule
from rigup.diagnosis.rule_rows import fields_read, rules_of_rows
from rigup.machine.difference import Difference, leaders
from rigup.machine.facts import kinds
from rigup.schemas.shared import Evidence, Finding

_MOST = 8  # causes that are named


def causes_of(change: Difference, causes: Iterable[str] = ()) -> list[str]:
    """Causes that the difference may explain; those of `found` first."""
    named = [rule.cause for rule in _rules().get(change.kind, ()) if any(_asks(rule, name, change) for name in rule.needs)]
    known = [cause for cause in causes if cause in named]
    return list(dict.fromkeys([*known, *named]))[:_MOST]


@functools.cache
def _rules() -> dict[str, list[Rule]]:
    load_all()
    by_kind: dict[str, list[Rule]] = defaultdict(list)
    for rule in (*RULES, *rules_of_rows()):
        for kind in {need.kind.__name__ for need in rule.needs.values()}:
            by_kind[kind].append(rule)
    return by_kind


def _asks(rule: Rule, parameter: str, change: Difference) -> bool:
    """Whether a parameter is of this kind, may be this subject, and its rule reads this field."""
    need = rule.needs[parameter]
    if need.kind.__name__ != change.kind or not _may_be(need, change):
        return False
    read = _read(rule.judge.__code__) if hasattr(rule.judge, "__code__") else fields_read(rule.name)
    return not change.field or change.field in read or change.field in dict(need.fields)


def _may_be(need: Need, change: Difference) -> bool:
    keys = kinds()[change.kind].title
    wanted = [value for name, value in need.fields if name in keys]
    words = change.subject.split()
    return all(any(word in (value if isinstance(value, tuple) else (value,)) for word in words) for value in wanted)


def _read(code: CodeType) -> set[str]:
    """Names of fields that a function reads, also those that it gives as words."""
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return {*code.co_names, *(part for part in code.co_consts if isinstance(part, str))}.union(*map(_read, inner))


def ranked(changes: list[Difference], findings: list[Finding]) -> list[Difference]:
    """What the findings speak of first, the root's before the others'; echoes behind what they echo."""
    loud = [finding for finding in findings if finding.severity != "note"]
    first = sorted(leaders(changes), key=lambda change: min(_evidence_rank(change, loud), _echo_rank(change, changes, loud)))
    behind = [change for change in changes if change.echo_of]
    return [change for leader in first for change in (leader, *(echo for echo in behind if echo.echo_of == leader.name))]


def _echo_rank(change: Difference, changes: list[Difference], findings: list[Finding]) -> int:
    echoes = (echo for echo in changes if echo.echo_of == change.name)
    return min((_evidence_rank(echo, findings) for echo in echoes), default=2 * len(findings))


def _evidence_rank(change: Difference, findings: list[Finding]) -> int:
    """The place of the first finding whose evidence is what differs; its kind alone weighs less."""
    exact = (number for number, finding in enumerate(findings) if _in_evidence(change, finding))
    return next(exact, 2 * len(findings))


def _in_evidence(change: Difference, finding: Finding) -> bool:
    return any(_is_line_of(change, line) for line in finding.evidence)


def _is_line_of(change: Difference, line: Evidence) -> bool:
    """Whether a line of evidence reads this field of this subject, or misses it."""
    fact = line.fact
    if fact.startswith("no "):
        return change.change == "gone" and fact.removeprefix("no ").startswith(change.kind)
    kind, _, field = fact.partition(".")
    if kind != change.kind or (change.field and field != change.field):
        return False
    text = (line.value or "") + " " + line.source
    return not change.subject or any(word in text for word in change.subject.split()) or len(kinds()[kind].keys) == 0
