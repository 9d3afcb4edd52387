"""How a run of apply or fix ended, in words: what is there now, how it is used and proven, or what failed and what to do."""

import os
import shlex
from typing import TYPE_CHECKING

import click

from rigup.cli.layout import wrapped
from rigup.language import _, sentences

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Record
    from rigup.plan.applying.taking import Outcome

_TAIL = 12  # lines of a log that are shown
_MOST = 60  # among which they are


def well(record: "Record", outcome: "Outcome") -> list[str]:
    """The lines where all went well, or where a restart is waited for."""
    if outcome.end == "restart":
        return _before_restart() or wrapped(outcome.because)
    from rigup.plan.applying.state import left_to_others
    from rigup.plan.applying.undoing import set_aside
    from rigup.workflows.applying import restarts

    intent = record.intent()
    lines = wrapped(_("Done. `rigup undo` takes it back."))
    if restarts(intent):
        lines += _before_restart() or wrapped(_("It counts from the next start of the machine on."))
    if intent.environment:
        path = os.path.relpath(intent.environment)
        path = intent.environment if path.startswith("..") else path
        lines += _ways_in(path, intent.environment)
    if aside := set_aside(record):
        lines += ["", *wrapped(_("You changed what the run changed too. Yours is kept here:")), *("  " + path for path in aside)]
    for step in left_to_others(record):
        lines += wrapped(_("Left to you: {title}.").format(title=step.title))
    return lines


def _ways_in(shown: str, environment: str) -> list[str]:
    """How the environment is used, and how it is proven to work."""
    path = shlex.quote(shown)
    enter = f"{shown}\\Scripts\\activate" if os.name == "nt" else f". {shlex.quote(shown + '/bin/activate')}"
    ways = [
        (enter, _("enters it, in this shell")),
        (f"rigup run --env {path} -- COMMAND", _("runs a program in it")),
        (f"rigup verify {path}", _("proves that it computes right, on every device")),
    ]
    if os.path.isdir(os.path.join(environment, "conda-meta")):
        ways[0] = (f"conda activate {path}", ways[0][1])
    wide = max(len(command) for command, _what in ways)
    return ["", *(f"  {command:<{wide}}  {purpose}" for command, purpose in ways)]


def _before_restart() -> list[str]:
    """What would keep the machine from coming back with its GPU; it is read now, and can still be mended."""
    from rigup.machine import readers  # noqa: F401  (registers them)
    from rigup.machine.look import look
    from rigup.machine.sources import close_sources, open_source
    from rigup.plan.applying.next_boot import next_boot

    try:
        problems = next_boot(look(open_source(None)))
    finally:
        close_sources()
    if not problems:
        return []
    lines = wrapped(_("Do not restart yet: the next start would fail. After mending this, `rigup apply --resume` goes on."))
    return [*lines, *(line for problem in problems for line in wrapped(problem, "  - ", "    "))]


def failure(record: "Record", outcome: "Outcome") -> None:
    """What failed, its last words, what the doctor makes of them, and what to do next."""
    from rigup.machine.outward import outward_text
    from rigup.plan.applying.taking import tail
    from rigup.workflows.applying import what_now

    step = record.intent().steps[outcome.step] if outcome.step >= 0 else None
    heading = _("Step {number} failed: {title}.").format(number=outcome.step + 1, title=step.title) if step else ""
    last = [line for line in tail(record, outcome.step, _MOST) if "Retrying (Retry(" not in line][-_TAIL:]
    lines = [*wrapped(sentences(heading, outcome.because)), *("    " + line for line in last)]
    sentence = _("All of its output is in {log}.").format(log=record.log(outcome.step))
    lines += ["", *wrapped(sentences(sentence, what_now(record), _not_reached(record)))]
    click.echo("\n" + outward_text("\n".join(lines)), err=True)
    if diagnosis := _diagnosis(record, outcome.step):
        click.echo("\n" + diagnosis, err=True)


def _not_reached(record: "Record") -> str:
    """Places that were left out, for what could not be found may lie there alone; "" without any."""
    places = record.intent().asked.get("not_reached")
    if not isinstance(places, list) or not places:
        return ""
    sentence = _("{places} could not be reached, and what is missing may lie there alone; when it can be, run `rigup apply` anew.")
    return sentence.format(places=", ".join(map(str, places)))


def _diagnosis(record: "Record", step: int) -> str:
    """What the doctor says of a log; "" where it knows nothing of it."""
    from rigup.cli.report import text
    from rigup.diagnosis.answer import answer, examined
    from rigup.knowledge.tables import KnowledgeError
    from rigup.machine.sources import SourceError, close_sources, open_source

    if step < 0 or not record.log(step).is_file():
        return ""
    try:
        doctor = answer(examined(open_source(str(record.log(step)))))
        sure = any(finding.confidence != "possible" for finding in doctor.findings)  # a guess would lead astray here
        return text(doctor, 0, False, False) if sure else ""
    except (SourceError, KnowledgeError):
        return ""
    finally:
        close_sources()
