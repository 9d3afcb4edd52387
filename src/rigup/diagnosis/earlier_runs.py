"""A program that was started several times in one paste: what it failed of last is the question."""

from bisect import bisect_right

from rigup.diagnosis.findings import Finding
from rigup.machine.runs import Run, runs
from rigup.machine.texts import Text

Lines = list[tuple[str, int]]


def of_the_last_run(findings: list[Finding], texts: tuple[Text, ...]) -> list[Finding]:
    """The findings without those that rest on an earlier run alone, where the last run of the same program failed of something else."""
    loud = [finding for finding in findings if finding.severity != "note"]
    if len(loud) < 2:
        return findings
    sessions = {text.source: _session(text) for text in texts}
    seen = {id(finding): _runs_of(finding, sessions) for finding in findings}
    failed = {run for finding in loud for run in seen[id(finding)]}
    last = {run.program: run for session in sessions.values() for run in session[1] if run.program}
    past = [finding for finding in loud if seen[id(finding)] and all(_is_past(run, last, failed) for run in seen[id(finding)])]
    left = [finding for finding in findings if finding not in past]
    for finding in left:
        if finding.severity != "note":
            finding.folds |= {cause for earlier in past for cause in (earlier.cause, *earlier.folds)}
            break
    return left


def _is_past(run: Run | None, last: dict[str, Run], failed: set[Run | None]) -> bool:
    if run is None or not run.program:
        return False
    latest = last[run.program]
    return latest != run and latest.first > run.first and latest in failed


def _session(text: Text) -> tuple[list[int], list[Run]]:
    """The lines of the source at which runs begin, and the runs."""
    session_runs = runs(text.body.split("\n"))
    numbers = text.lines or range(1, len(text.body.split("\n")) + 1)
    return [numbers[run.first] for run in session_runs], session_runs


def _runs_of(finding: Finding, sessions: dict[str, tuple[list[int], list[Run]]]) -> set[Run | None]:
    """The runs in which the lines stand that a finding rests on; None for one that is in no run."""
    lines = ((line.source, line.line) for line in finding.evidence if line.line)
    return {_run_at(number, sessions[source]) for source, number in lines if source in sessions}


def _run_at(line: int, session: tuple[list[int], list[Run]]) -> Run | None:
    place = bisect_right(session[0], line) - 1
    return session[1][place] if place >= 0 else None
