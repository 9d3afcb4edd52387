"""Takes the steps of a record one after another; what is there already is left, what fails stops the run.

Every step: read the machine; intent on the disk; keep the files that it writes; act; read the machine again; result.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec

from rigup.language import _, sentences
from rigup.machine.escapes import without_escapes
from rigup.machine.host import Host
from rigup.plan.applying import holdings, kept, traces
from rigup.plan.applying.as_planned import differences
from rigup.plan.applying.child import Child, of_run, started_at, tagged, wait_for_other
from rigup.plan.applying.elevation import Elevation
from rigup.plan.applying.journal import Intent, Record
from rigup.plan.applying.probe import is_so
from rigup.plan.applying.stage import Stage
from rigup.plan.applying.state import done
from rigup.plan.applying.system_packages import unattended
from rigup.plan.applying.traces import Sight
from rigup.plan.environments.resolver import SYSTEM_CERTIFICATES
from rigup.schemas.shared import Step

Argv = tuple[str, ...]
End = Literal["finished", "failed", "restart", "left"]
_BARRIER = "restart-machine"
_LEFT_BEHIND = 1800.0  # seconds that a command of a killed run may still take
_MISLEADING = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV", "LANGUAGE")


class Progress(Protocol):
    """Observes a run. Nothing of it is needed for the work."""

    def begins(self, number: int, title: str) -> None:
        """A step is taken now."""

    def says(self, line: str) -> None:
        """A line of the command that runs."""

    def watches(self, folder: str) -> None:
        """Where the command that runs puts what it downloads, until it is whole."""

    def empties(self, folder: str) -> None:
        """A folder that is being removed, with all that is in it."""

    def ends(self, number: int, title: str, how: str) -> None:
        """It is done, skipped, left to somebody, or failed."""


class Outcome(NamedTuple):
    """How a run ended.

    Attributes:
        step: the number of the step that failed or that the run waits at; -1 for none.
        because: what happened, as a sentence; "" where all is well.

    """

    end: End
    step: int = -1
    because: str = ""


class Failed(Exception):
    """A step did not do what it should."""


class Run(NamedTuple):
    """What taking steps needs of its surroundings."""

    record: Record
    intent: Intent
    host: Host
    root: Elevation
    variables: Mapping[str, str]
    progress: Progress


def take(run: Run) -> Outcome:
    """Take all steps that are not taken yet.

    Raises:
        JournalError: the journal cannot be written; nothing is done without it.
        KeyboardInterrupt: it was stopped by hand. What was begun is whole or gone.

    """
    stage = Stage(run.record, run.intent)
    try:
        settle(run.record, stage, run.host)
        return _all(run, stage)
    except Failed as error:
        stage.drop()
        return Outcome("failed", _current(run.record), str(error))
    except KeyboardInterrupt:
        stage.drop()
        run.record.write("broken-off")
        raise


def settle(record: Record, stage: Stage, host: Host) -> None:
    """After a run that was killed: let its last command end, and tell how far it came with packages and the swap.

    Raises:
        Failed: the command goes on for longer than anybody waits.

    """
    child = next(iter(reversed(record.of("child"))), None)
    known = [(int(child.told.get("pid", "0")), child.told.get("began", ""))] if child is not None else []
    staged_processes = of_run(record.ident) if stage.numbers and not stage.is_in_place() else []
    for pid, began in [*known, *staged_processes]:
        if not wait_for_other(pid, began, _LEFT_BEHIND):
            template = _("A command of the run that was broken off still runs (process {pid}). End it, or wait for it.")
            raise Failed(template.format(pid=pid))
    for number, step in enumerate(record.intent().steps):
        _record_traces(record, number, step, traces.remembered(record.kept(number)), host)
    stage.settle()


def _all(run: Run, stage: Stage) -> Outcome:
    earlier = done(run.record)
    last = stage.numbers[-1] if stage.numbers else -1
    for number, step in enumerate(run.intent.steps):
        if stage.holds(number) and not stage.is_in_place():
            _in_stage(run, stage, number, step, last)
        elif (how := _needless(run, number, step, earlier)) is not None:
            run.progress.ends(number, step.title, how)
        elif step.kind == _BARRIER:
            if not _passed(run, number):
                return Outcome("restart", number, _restart_now())
        else:
            _taken(run, number, step, str(run.intent.asked.get("folder", "")))
    stage.tell_of_conda()
    run.record.write("finished")
    return Outcome("finished")


def _needless(run: Run, number: int, step: Step, earlier: set[int]) -> str | None:
    """Why a step is not taken: "satisfied", "done" before, "left" to somebody else; None if it is to be taken."""
    if step.state == "satisfied":
        return "satisfied"
    if step.where != "here" or (not step.commands and step.kind != _BARRIER):
        run.record.write("left", number)
        return "left"
    is_met = is_so(step.kind, step.params, run.host)
    if number in earlier and is_met is not False:
        return "done"
    if is_met:
        run.record.write("skipped", number)
        return "satisfied"
    return None


# -- one step ----------------------------------------------------------------------------------------


def _taken(run: Run, number: int, step: Step, folder: str) -> None:
    run.progress.begins(number, step.title)
    before = traces.sight(step, run.host) if traces.leaves(step) else None
    try:
        if before is not None:
            traces.counted(run.record.kept(number), before)
        kept.keep(step.writes, run.record.kept(number))  # before its intent: what is begun can be taken back
        run.record.write("begin", number)
        for argv in step.commands:
            _command(run, number, step.root, argv, folder)
    except OSError as error:
        _failed(run, number, step, error.strerror or type(error).__name__)
    except Failed as error:
        _record_traces(run.record, number, step, before, run.host)
        _record_files(run.record, number, step)
        _failed(run, number, step, str(error))
    _record_traces(run.record, number, step, before, run.host)
    _record_files(run.record, number, step)
    if is_so(step.kind, step.params, run.host) is False:
        _failed(run, number, step, _("Its commands ended well, and yet the machine does not show it."))
    run.record.write("done", number)
    run.progress.ends(number, step.title, "done")


def _record_traces(record: Record, number: int, step: Step, before: Sight | None, host: Host) -> None:
    """What a step left on the system is on record, also where it failed or was killed."""
    if before is not None:
        left = traces.between(before, traces.sight(step, host))
        record.write("traces", number, left=msgspec.json.encode(left).decode())
        traces.forget(record.kept(number))


def _record_files(record: Record, number: int, step: Step) -> None:
    """What it left in files and folders is on record, so that what a person changes later can be told from it."""
    with contextlib.suppress(OSError):
        for folder in filter(os.path.isdir, gone_whole(step)):
            holdings.keep(Path(folder), record.held(number))
    if paths := step.writes:
        digests = {path: holdings.digest_of(path) for path in paths}
        record.write("wrote", number, files=msgspec.json.encode(digests).decode())


def gone_whole(step: Step) -> list[str]:
    """Folders that the step's own way back removes with all that is in them."""
    folders = []
    for argv in map(list, step.undo or ()):
        if argv[:2] == ["rm", "-rf"] or argv[:3] == ["conda", "env", "remove"]:
            folders += [word for word in argv[2:] if os.path.isabs(word)]
    return folders


def _failed(run: Run, number: int, step: Step, because: str) -> None:
    with contextlib.suppress(OSError):
        run.record.write("failed", number)
    run.progress.ends(number, step.title, "failed")
    raise Failed(because)


def _command(run: Run, number: int, root: bool, argv: Argv, folder: str) -> None:
    command = in_own_words(argv, run.variables)
    words = run.root.argv(unattended(command)) if root else command
    child = Child(words, run.record.log(number), _clean(run.variables), folder)

    def noted(pid: int) -> None:
        run.record.write("child", number, pid=str(pid), began=started_at(pid))

    status = child.wait(run.progress.says, gentle=root, started=noted)
    if status != 0:
        raise Failed(_how_it_ended(argv[0], status, child.why))


def in_own_words(argv: Argv, variables: Mapping[str, str]) -> Argv:
    """A command line of conda in the words of the program that is here; any other as it is. Raises Failed."""
    head = before_program(argv)
    if argv[head:][:1] != ("conda",):
        return argv
    from rigup.plan.environments.condas import found_conda, spoken_by

    conda = found_conda(variables)
    if conda is None:
        raise Failed(_("There is no conda, mamba or micromamba here. Install one, or rigup with its extra `conda`."))
    return (*argv[:head], *spoken_by(argv[head:], conda))


def before_program(argv: Argv) -> int:
    """How many words stand before the program: `env NAME=VALUE …`."""
    if argv[:1] != ("env",):
        return 0
    return next((place for place, word in enumerate(argv) if place and "=" not in word and not word.startswith("-")), 0)


def _how_it_ended(program: str, status: int, why: str) -> str:
    if why:
        return _("{program} could not be started: {why}.").format(program=program, why=why)
    if status < 0:
        return _("{program} was ended by signal {number}.").format(program=program, number=-status)
    return _("{program} ended with status {status}.").format(program=program, status=status)


def _clean(variables: Mapping[str, str]) -> dict[str, str]:
    """What a command inherits: nothing that would send packages elsewhere, and messages that can be understood."""
    kept_on = {name: value for name, value in variables.items() if name not in _MISLEADING}
    return {
        **SYSTEM_CERTIFICATES,
        **kept_on,
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "PYTHONSAFEPATH": "1",
        "PIP_NO_INPUT": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


# -- the environment ---------------------------------------------------------------------------------


def _in_stage(run: Run, stage: Stage, number: int, step: Step, last: int) -> None:
    """A step in the environment beside; after the last of them that takes its place."""
    try:
        if number == stage.numbers[0]:
            stage.open()
        run.progress.begins(number, step.title)
        run.record.write("begin", number, staging="yes")
        loads = stage.loads()
        run.progress.watches(loads)
        more = tagged(run.variables, run.record.ident) | ({"TMPDIR": loads} if loads else {})
        for argv in step.commands:
            _command(run._replace(variables=more), number, False, stage.argv(argv), str(run.intent.asked.get("folder", "")))
        if number == last:
            _as_planned(stage.folder, run.intent)
            stage.close()
    except OSError as error:
        _failed(run, number, step, error.strerror or type(error).__name__)
    except Failed as error:
        _failed(run, number, step, str(error))
    run.progress.ends(number, step.title, "done")


def _as_planned(folder: Path, intent: Intent) -> None:
    """Raise Failed where the environment holds something else than the plan showed."""
    if problems := differences(folder, intent.told):
        template = _("The environment would not be what the plan showed, so it was not put in its place.")
        raise Failed(sentences(template, *problems))


# -- restarts ----------------------------------------------------------------------------------------


def boot_id() -> str:
    """Which start of the machine this is; "" where the system does not tell."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return ""


def _passed(run: Run, number: int) -> bool:
    """Whether the machine was started anew since the run came here; else it stops here, and says so in the journal."""
    waited = run.record.of("barrier", number)
    if waited and waited[-1].told.get("boot", "") != boot_id():
        run.record.write("done", number)
        return True
    if not waited:
        run.record.write("barrier", number, boot=boot_id())
    return False


def _restart_now() -> str:
    return _("The machine has to be restarted now; `rigup apply --resume` goes on after it.")


def _current(record: Record) -> int:
    failed = record.of("failed")
    return failed[-1].step if failed else -1


def tail(record: Record, step: int, lines: int = 15) -> list[str]:
    """The last lines of a step's log."""
    with contextlib.suppress(OSError), open(record.log(step), "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - 20_000))
        return without_escapes(file.read().decode("utf-8", "replace")).splitlines()[-lines:]
    return []
