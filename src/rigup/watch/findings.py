"""What is wrong right now, as findings like the doctor's: rules are functions over what was sampled, causes rows of the same tables.

A rule is entered under the causes that it may name; `ways.py` has their texts and what mends them.
"""

import functools
from collections.abc import Iterator
from typing import Any

from msgspec import structs

from rigup.schemas.shared import Evidence, Finding
from rigup.watch.history import History
from rigup.watch.rule import RULES, Match, Rule
from rigup.watch.ways import ELSEWHERE, Surroundings, explanation

_ORDER = ("error", "warning", "note")


@functools.cache
def _rules() -> list[tuple[tuple[str, ...], Rule]]:
    from rigup.watch import rules_of_gpus, rules_of_processes  # noqa: F401  # they enter themselves

    return RULES


def causes_of_rules() -> frozenset[str]:
    """Ids of all causes that a watch may name."""
    return frozenset(cause for causes, _function in _rules() for cause in causes)


def findings(history: History, surroundings: Surroundings = ELSEWHERE) -> list[Finding]:
    """All that the rules find in the last sample and those before it; errors first.

    Args:
        history: the samples.
        surroundings: where what mends it is done.

    """
    sample = history.last
    if sample is None:
        return []
    found = [_finding(match, surroundings) for _causes, function in _rules() for match in function(sample, history)]
    found.sort(key=lambda finding: _ORDER.index(finding.severity))
    return list(_merged(found))


def _merged(found: list[Finding]) -> Iterator[Finding]:
    """Ways to know the same of one subject are one finding, as bad as the worst."""
    for finding in found:
        twins = [other for other in found if (other.cause, other.subject) == (finding.cause, finding.subject)]
        if twins[0] is finding:
            evidence = dict.fromkeys(line for twin in twins for line in twin.evidence)
            folded = dict.fromkeys(cause for twin in twins for cause in twin.explains)
            yield structs.replace(finding, evidence=list(evidence), explains=list(folded)) if twins[1:] else finding


def _finding(match: Match, surroundings: Surroundings) -> Finding:
    text = explanation(match.cause, tuple(match.words.items()), surroundings)
    parts: dict[str, Any] = {"make_sure": "", "place": "", "confidence": "certain", "guess": False}
    return Finding(
        cause=match.cause,
        severity=match.severity or text.severity,
        title=text.title,
        subject=match.subject,
        because=text.meaning,
        in_vain=text.in_vain,
        mends="" if text.ways else text.mends,
        explains=list(match.explains),
        fixes=list(text.ways),
        evidence=[Evidence(fact=path, value=value, source=source, line=None) for path, value, source in match.evidence],
        **parts,
    )
