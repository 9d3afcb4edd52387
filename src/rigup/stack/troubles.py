"""What the doctor finds on the machine that is planned for: a plan names what its steps mend."""

import msgspec

from rigup.machine.store import Facts


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A step that a finding's fix names: its kind and parameters."""

    kind: str
    params: dict[str, str] = {}


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """A finding, as far as a plan has to know it. asks: the steps of its first fix."""

    cause: str
    title: str
    severity: str
    asks: tuple[Asked, ...] = ()


_RENEWALS = (
    "install-torch",
    "install-torch-with-audio",
    "choose-build",
    "install-in-two-steps",
    "get-jetson-torch",
    "get-jetson-file",
    "get-build-for-this-gpu",
)


def asks_for_another(troubles: tuple[Trouble, ...]) -> bool:
    """What is installed is at fault: another build of it is asked for."""
    return any(trouble.severity == "error" and step.kind in _RENEWALS for trouble in troubles for step in trouble.asks)


def troubles_of(facts: Facts) -> tuple[Trouble, ...]:
    """What is wrong there, the root causes first. Raises KnowledgeError for a malformed table."""
    from rigup.diagnosis.answer import Diagnosis, answer
    from rigup.diagnosis.judge import judged

    findings = answer(Diagnosis(facts, *judged(facts))).findings
    return tuple(
        Trouble(
            cause=finding.cause,
            title=finding.title,
            severity=finding.severity,
            asks=tuple(Asked(kind=step.kind, params=step.params) for fix in finding.fixes[:1] for step in fix.steps),
        )
        for finding in findings
    )
