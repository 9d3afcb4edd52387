"""One run of the journal in full: its steps, what was run, what that said, how each ended."""

import contextlib
from typing import TYPE_CHECKING

from rigup.cli.guard import style
from rigup.cli.layout import wrapped
from rigup.language import _

if TYPE_CHECKING:
    from rigup.plan.applying.journal import Record
    from rigup.schemas.history import Ran, Run, RunStep, WholeRun
    from rigup.schemas.shared import Step

_MOST_BYTES = 200_000  # of a log that are looked at
_MOST_LINES = 400  # of a log in data
_HEAD = 4  # lines of what a command said that a person is shown
_TAIL = 12  # of one that failed
_WIDEST = 300  # characters of one line


def whole_run(record: "Record", run: "Run") -> "WholeRun":
    """A run with its steps and what they said; of one whose intent cannot be read without."""
    import msgspec

    from rigup.plan.applying.journal import JournalError
    from rigup.schemas.history import WholeRun

    head = {name: value for name, value in msgspec.structs.asdict(run).items() if name != "steps"}
    try:
        steps = record.intent().steps
    except JournalError:
        return WholeRun(**head, steps=[])
    events = record.events()
    return WholeRun(**head, ended_at=events[-1].at if events else None, steps=_steps(record, steps))


def _steps(record: "Record", steps: "list[Step]") -> "list[RunStep]":
    from rigup.plan.applying.state import ends
    from rigup.schemas.history import RunStep

    ended = ends(record)
    return [
        RunStep(
            number=number + 1,
            title=step.title,
            state=ended.get(number, "not-begun"),
            root=step.root,
            log=str(record.log(number)) if record.log(number).is_file() else None,
            ran=_ran(record, number),
        )
        for number, step in enumerate(steps)
    ]


def _ran(record: "Record", number: int) -> "list[Ran]":
    """The commands of a step as they were started, each with what it said."""
    from rigup.schemas.history import Ran

    commands: list[Ran] = []
    for line in _text(record, number).splitlines()[:_MOST_LINES]:
        if line.startswith("$ "):
            commands.append(Ran(command=line[2:], said=[]))
        elif commands:
            commands[-1].said.append(line)
    return commands


def _text(record: "Record", number: int) -> str:
    """What can be shown of a log: no sign in it moves the terminal."""
    with contextlib.suppress(OSError), open(record.log(number), "rb") as file:
        from rigup.machine.outward import outward_text

        log = outward_text(file.read(_MOST_BYTES).decode("utf-8", "replace"))  # whole: a key stands in many lines
        return "\n".join(_plain(line) for line in log.split("\n"))
    return ""


def _plain(line: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in line.expandtabs())[:_WIDEST]


def run_states() -> dict[str, str]:
    """How a run ended, as a person reads it."""
    return {
        "finished": _("done"),
        "failed": _("failed"),
        "waiting": _("waits for a restart"),
        "broken-off": _("broken off"),
        "taken-back": _("taken back"),
        "being-taken-back": _("half taken back"),
        "unreadable": _("unreadable"),
    }


def local_time(moment: str) -> str:
    """A moment as records keep it, to the minute and in the time of this machine, which is what its user's clock shows."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return moment[:16]


def run_lines(run: "WholeRun") -> list[str]:
    """The run for a person."""
    head = _("Run {number}: {title}").format(number=run.number, title=run.title or run.because or "")
    how = _("{state}, {moment}").format(state=run_states()[run.state], moment=local_time(run.made_at or ""))
    lines = [*wrapped(style(head, bold=True)), *wrapped(how)]
    if run.environment:
        lines += wrapped(_("Environment: {path}").format(path=run.environment))
    for step in run.steps:
        lines += ["", *_step_lines(step)]
    return lines + (["", *wrapped(_("All of it is kept in {folder}.").format(folder=run.folder))] if run.folder else [])


def _step_lines(step: "RunStep") -> list[str]:
    head = _("{step}: {how}").format(step=step.title, how=_state_names()[step.state])
    lines = wrapped(head, f"{step.number:>3}. ", "     ")
    for ran in step.ran:
        lines += ["     $ " + ran.command, *("       " + line for line in _some(ran.said, step.state))]
    return lines


def _some(output: list[str], state: str) -> list[str]:
    """The first lines; of what failed the last ones, which tell why."""
    lines = [line for line in output if line.strip()]
    shown = lines[-_TAIL:] if state in ("failed", "begun", "undo-failed") else lines[:_HEAD]
    return [*shown, *([_("… and {count} lines more").format(count=len(lines) - len(shown))] if len(lines) > len(shown) else [])]


def _state_names() -> dict[str, str]:
    """How a step stands, as a person reads it."""
    return {
        "done": _("done"),
        "failed": _("failed"),
        "skipped": _("is there"),
        "left": _("left to you"),
        "begun": _("broken off"),
        "undone": _("taken back"),
        "cannot-undo": _("could not be taken back"),
        "undo-failed": _("could not be taken back"),
        "not-begun": _("not begun"),
    }
