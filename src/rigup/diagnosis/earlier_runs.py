"""The programs that are started in one paste: what one that was started several times failed of last is the question; what failed is done again."""

import shlex
from bisect import bisect_right

from rigup.diagnosis.findings import Finding
from rigup.diagnosis.wording import answered
from rigup.knowledge.checks import is_repeatable
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Torch
from rigup.machine.outward import outward_text
from rigup.machine.runs import Run, runs
from rigup.machine.store import Facts
from rigup.machine.texts import Text, typed_part

Lines = list[tuple[str, int]]
Session = tuple[list[int], list[Run]]
_LONGEST = 240  # characters of a command that is told again
_OF_A_SHELL = lazy_regex(r"[|<>&;$`*?!(){}#]|\\\Z")  # what a shell reads outside of quotes
_QUOTED = lazy_regex(r"\"[^\"]*\"|'[^']*'")
_OF_WINDOWS = lazy_regex(r"(?:\([^)\n]{1,40}\) ?)?(?:PS )?[A-Z]:\\")
_NOT_THERE = ("available", "xpu_available", "mps_available")


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


def name_what_failed(findings: list[Finding], texts: tuple[Text, ...], facts: Facts) -> None:
    """Give each error the commands that failed of it, and what asked torch in vain: done again, they show best that it is mended."""
    sessions = {text.source: (_session(text), text.body.split("\n")) for text in texts}
    answers = [torch.fields[name].where for torch in facts.of(Torch) for name in _NOT_THERE if torch.get(name) is False]
    asked = [(where.source, where.line) for where in answers]
    for finding in findings:
        if finding.severity == "error" and not finding.past:
            told = answered(finding.evidence, finding.cause)
            own = [(line.source, line.line) for line in told if line.fact.startswith("symptom ")]
            typed = (_typed(number, *sessions[source]) for source, number in (*own, *asked) if number and source in sessions)
            finding.failed = tuple(dict.fromkeys(filter(None, typed)))[:2]


def _typed(line: int, session: Session, lines: list[str]) -> tuple[str, ...]:
    """The words of the command that printed a line; none where a shell would read more in it, or doing it again is no proof."""
    run = _run_at(line, session)
    text = (typed_part(lines[run.first]) or "").strip() if run and line not in session[0] else ""
    if run is None or not text or len(text) > _LONGEST or _OF_A_SHELL.search(_QUOTED.sub("", text)):
        return ()
    words = shlex.shlex(text, posix=True)
    words.whitespace_split, words.commenters = True, ""
    words.escape = "" if _OF_WINDOWS.match(lines[run.first]) else "\\"
    try:
        argv = tuple(words)
    except ValueError:
        return ()
    return argv if is_repeatable(argv) and outward_text(text) == text else ()  # nobody types again what was taken out


def _is_past(run: Run | None, last: dict[str, Run], failed: set[Run | None]) -> bool:
    if run is None or not run.program:
        return False
    latest = last[run.program]
    return latest != run and latest.first > run.first and latest in failed


def _session(text: Text) -> Session:
    """The lines of the source at which runs begin, and the runs."""
    session_runs = runs(text.body.split("\n"))
    numbers = text.lines or range(1, len(text.body.split("\n")) + 1)
    return [numbers[run.first] for run in session_runs], session_runs


def _runs_of(finding: Finding, sessions: dict[str, Session]) -> set[Run | None]:
    """The runs in which the lines stand that a finding rests on; None for one that is in no run."""
    lines = ((line.source, line.line) for line in finding.evidence if line.line)
    return {_run_at(number, sessions[source]) for source, number in lines if source in sessions}


def _run_at(line: int, session: Session) -> Run | None:
    place = bisect_right(session[0], line) - 1
    return session[1][place] if place >= 0 else None
