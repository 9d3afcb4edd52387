"""The runner: calls every rule for every way of choosing, and keeps evidence, confidence and unknowns."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from rigup import plugins
from rigup.diagnosis.findings import OWN_FAILURE, Finding, ends_the_work, folded, merged, row_of
from rigup.diagnosis.join import bindings
from rigup.diagnosis.loading import fixes_for, rules_for
from rigup.diagnosis.rule import KNEW, MAYBE, Every, Rule, rules_of_table, rules_of_what_is_usual
from rigup.machine.facts import Fact, Look, Place, Reading, Subject, Unknown
from rigup.machine.kinds import Distribution, Package, Platform, Symptom, Torch
from rigup.machine.store import Facts
from rigup.schemas.shared import Confidence, Evidence

Log = list[tuple[str, Reading]]
_OF_ANY_TEXT = (Symptom, Platform, Distribution, Package, Torch)  # they tell where, and not in which state things are
_NO_CARD = ("no-gpu-present", "nvidia-driver-missing", "vm-without-gpu-passthrough")
Skipped = dict[str, set[str]]


def judged(facts: Facts) -> tuple[list[Finding], Skipped]:
    """All findings, root causes first, and what could not be judged: unknown field → causes."""
    plugins.load(plugins.RULES)
    symptom_ids = {str(symptom.get("id")) for symptom in facts.of(Symptom)}
    rows: tuple[Rule, ...] = ()
    if facts.pasted:
        from rigup.diagnosis.rule_rows import rules_that_may_hold

        rows = rules_that_may_hold(facts.of, symptom_ids)
    skipped: Skipped = defaultdict(set)
    rules = (*rules_for(facts.of, symptom_ids, facts.pasted), *rows, *rules_of_table(symptom_ids))
    findings = [finding for rule in rules for finding in _findings(rule, facts, skipped)]
    if facts.pasted:
        from rigup.diagnosis.ruled_out import gainsaid, is_hearsay, is_of_another_backend

        against = gainsaid(facts)
        doubted = [found for found in findings if found.cause in against or is_hearsay(found, facts)]
        findings = [finding for finding in findings if finding.confidence == "certain" or finding not in doubted]
        findings = [finding for finding in findings if not is_of_another_backend(finding, facts)]
    roots = folded(merged(findings))
    for finding in roots:
        finding.severity = "error" if ends_the_work(finding) else finding.severity
    if facts.pasted and facts.heard("machine-only-builds"):
        _need_no_card(roots)
    return roots, skipped


def _need_no_card(findings: list[Finding]) -> None:
    """A machine that only builds lacks nothing where it has no card, and no more is wrong."""
    loud = [finding for finding in findings if finding.severity != "note"]
    if all(finding.cause in _NO_CARD for finding in loud):
        for finding in loud:
            finding.severity = "note"


def usual(facts: Facts, but: Collection[str]) -> list[Finding]:
    """What is most often behind the known messages of a text that tells nothing else; `but` cannot be.

    Where more is told the rules have seen it, and keep silent with reason.
    """
    if any(not isinstance(fact, _OF_ANY_TEXT) for fact in facts.all()):
        return []
    symptom_ids = {str(symptom.get("id")) for symptom in facts.of(Symptom)}
    rules = (rule for rule in rules_of_what_is_usual(symptom_ids) if rule.cause not in but)
    return folded(merged([finding for rule in rules for finding in _findings(rule, facts, defaultdict(set))]))[:1]


def _findings(rule: Rule, facts: Facts, skipped: Skipped) -> Iterator[Finding]:
    for given in bindings(rule, facts):
        log: Log = []
        try:
            holds = rule.judge(*(part if part is None else part.watched(log) for part in given.values()))
        except Unknown as missing:
            skipped[str(missing)].add(rule.cause)
        except Exception as error:  # a finding about rigup itself; the doctor goes on
            params = {"rule": rule.name, "cause": rule.cause, "error": type(error).__name__ + ": " + str(error)[:200]}
            yield Finding(OWN_FAILURE, Subject("Rule", rule.name), Place(), "certain", [], params)
        else:
            if holds:
                worked_out = holds if isinstance(holds, dict) else {}
                yield _finding(rule, given, {**given, **worked_out}, log)


def _finding(rule: Rule, given: dict[str, Any], params: dict[str, Any], log: Log) -> Finding:
    return Finding(rule.cause, _subject(rule.cause, given), _place(given), _confidence(rule, given), evidence(rule, given, log), params)


def _place(given: dict[str, Any]) -> Place:
    """Where the first part was seen, narrowed by what the others tell."""
    parts = [part.place for part in given.values() if part is not None]
    place: Place = parts[0]
    for other in parts[1:]:
        place = place.meet(other) or place
    return place


def _subject(cause: str, given: dict[str, Any]) -> Subject:
    """The cause says what kind of thing it is about, so that all ways to know it agree."""
    about = row_of(cause).about
    subjects = (part.subject for part in given.values() if part is not None)
    return next((subject for subject in subjects if about and subject.kind == about), Subject())


def _confidence(rule: Rule, given: dict[str, Any]) -> Confidence:
    """What is missing from an excerpt is only possibly missing."""
    groups = [part for part in given.values() if isinstance(part, Every)]
    excerpt = any(part.look.coverage != "whole" for part in groups)
    return "possible" if excerpt else rule.strength


def evidence(rule: Rule, given: dict[str, Any], log: Log) -> list[Evidence]:
    """What it asked to be there and what it read; and where something was looked for in vain."""
    asked: Log = [
        (type(part).__name__ + "." + name, part.fields[name])
        for parameter, part in given.items()
        if isinstance(part, Fact)
        for name, _wanted in rule.needs[parameter].fields
    ]
    lines = [_line(name, reading) for name, reading in (*asked, *log) if _tells(name)]
    lines += [_lack(part) for part in given.values() if isinstance(part, Every) and not part]
    return list(dict.fromkeys(lines))


def _tells(name: str) -> bool:
    """A symptom's groups stand in the line that its id already quotes."""
    return not name.startswith("Symptom.") or name == "Symptom.id"


def _line(name: str, reading: Reading) -> Evidence:
    fact = "symptom " + str(reading.value) if name == "Symptom.id" else name
    where = reading.where
    return Evidence(fact=fact, value=where.text or None, source=where.source, line=where.line)


def _lack(part: Every[Any]) -> Evidence:
    look: Look = part.look
    return Evidence(fact="no " + part.wanted, value=None, source=look.source, line=None)


def remedy(finding: Finding, facts: Facts) -> dict[str, Any]:
    """What the fixes of a finding need beyond what its rule knew."""
    params: dict[str, Any] = {}
    for rule in fixes_for(finding.cause):
        params |= _worked_out(rule, {**finding.params, **params}, finding.subject, facts)
    return params


def _worked_out(rule: Rule, known: dict[str, Any], subject: Subject, facts: Facts) -> dict[str, Any]:
    """What one function works out, by the first facts about the finding's subject of which it makes anything.

    One that needs no fact is asked without those of other subjects, where there are no others.
    """
    knew = {KNEW: known} if KNEW in rule.judge.__code__.co_varnames else {}
    given_all = list(bindings(rule, facts))
    near = [given for given in given_all if _is_about(given, subject)]
    if not near and given_all and all(need.mode == MAYBE for need in rule.needs.values()):
        near = [{name: part if part and part.subject.touches(subject) else None for name, part in given_all[0].items()}]
    for given in near:
        try:
            if params := rule.judge(**given, **knew):
                return dict(params)
        except Unknown:
            continue
    return {}


def _is_about(given: dict[str, Any], subject: Subject) -> bool:
    """Whether the first fact of a choice is about a subject, or there is none."""
    first = next((part for part in given.values() if part is not None), None)
    return first is None or first.subject.touches(subject)
