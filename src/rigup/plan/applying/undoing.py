"""Takes a record back: its steps in reverse order, each as exactly as can be, and says what cannot be.

What a step wrote is put back as it was, and so is what it left beside (`traces`): packages that came are removed, those
that went or changed are asked for at their versions. An environment that took another's place gives it back. For the
rest the step's own way back is gone.
"""

import contextlib
import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rigup.language import _
from rigup.plan.applying import kept, traces
from rigup.plan.applying.child import Child
from rigup.plan.applying.journal import Record
from rigup.plan.applying.stage import Stage, contents, made_by
from rigup.plan.applying.state import staged, swapped, touched
from rigup.plan.applying.system_packages import unattended, uses_manager
from rigup.plan.applying.taking import Failed, Run, in_own_words, settle
from rigup.plan.applying.traces import Traces
from rigup.plan.environments import beside

Answer = dict[str, Any]
Argv = tuple[str, ...]


class Back(NamedTuple):
    """What is to be taken back.

    Attributes:
        step: its number; -1 for the environment as a whole.
        commands: what is run for it.
        because: why it cannot be taken back, "" where it can.

    """

    step: int
    title: str
    root: bool
    commands: tuple[Argv, ...]
    because: str = ""


def ways_back(record: Record, distribution: str) -> list[Back]:
    """What `rigup undo` would do, in order. Raises JournalError, KnowledgeError."""
    intent = record.intent()
    beside_made = staged(record)
    found = [
        _of_step(record, number, intent.steps[number], distribution)
        for number in sorted(touched(record) - beside_made, reverse=True)
        if number < len(intent.steps)
    ]
    swap = swapped(record)
    if swap is None:
        return found
    one = Back(-1, _environment(swap.told), False, ())
    place = next((at for at, back in enumerate(found) if back.step < min(beside_made, default=0)), len(found))
    return [*found[:place], one, *found[place:]]


def take_back(run: Run, distribution: str) -> list[Back]:
    """Take a record back; returns what could not be. Raises JournalError, KeyboardInterrupt, KnowledgeError."""
    stage = Stage(run.record, run.intent)
    settle(run.record, stage, run.host)
    run.record.write("undo-begin")
    if not stage.is_in_place():
        stage.drop()  # what a run that was killed had half made
    _cleared(run.record)
    left = [
        back for number, back in enumerate(ways_back(run.record, distribution)) if not _shown_back(run, number, back)
    ]
    if all(back.because for back in left):
        run.record.write("taken-back")
    return left


# -- one step ----------------------------------------------------------------------------------------


def _of_step(record: Record, number: int, step: Answer, distribution: str) -> Back:
    folder, told = record.kept(number), _left(record, number)
    if _goes_as_a_whole(record, told.python):
        told = told.but_python()
    files = tuple(kept.putting_back(folder))
    own = tuple(argv for argv in map(tuple, step["undo"] or ()) if not _replaced(argv, told, folder))
    commands = (*files, *traces.ways_back(told, folder, distribution), *own)
    known = told.counted or bool(told) or bool(files)
    because = step.get("undo_because", "") if step["undo"] is None and not known else ""
    return Back(number, step["title"], bool(step["root"]), commands, because)


def _goes_as_a_whole(record: Record, python: str) -> bool:
    """Whether a Python lies in an environment that this very run made, or is gone: its packages need no way back."""
    making = (step for step in record.intent().steps if step["kind"].startswith("make-"))
    made = (step["params"].get("environment", "") for step in making if step.get("state") != "satisfied")
    inside = any(folder and python.startswith(folder.rstrip("/") + "/") for folder in made)
    return inside or (os.path.isabs(python) and not os.path.exists(python))


def _left(record: Record, number: int) -> Traces:
    """What this step left on the system, over all of its tries."""
    found = Traces()
    for event in record.of("traces", number):
        with contextlib.suppress(msgspec.DecodeError):
            found = found.then(msgspec.json.decode(event.told.get("left", "{}"), type=Traces))
    return found


def _replaced(argv: Argv, told: Traces, folder: Path) -> bool:
    """A removal that is known more exactly: of files that were kept, of packages and holds that were counted."""
    if argv[0] in ("rm", "rmdir"):
        return any(path in argv for path in (*(one.path for one in kept.kept(folder)), *told.new))
    return (told.holds if argv[0] == "apt-mark" else told.counted) and uses_manager(argv)


def _environment(told: dict[str, str]) -> str:
    if told.get("old"):
        return _("put the environment {path} back as it was").format(path=told["path"])
    return _("remove the environment {path}").format(path=told["path"])


def _shown_back(run: Run, number: int, back: Back) -> bool:
    """Taken back, where somebody watches."""
    if back.because:
        return _taken_back(run, back)
    step = {"title": back.title}
    run.told.begins(number, step)
    done = _taken_back(run, back)
    run.told.ends(number, step, "done" if done else "failed")
    return done


def _taken_back(run: Run, back: Back) -> bool:
    if back.because:
        run.record.write("cannot-undo", back.step)
        return False
    try:
        if back.step < 0:
            _swap_back(run)
        for argv in back.commands:
            _command(run, back, argv)
    except (OSError, Failed) as error:
        run.record.write("undo-failed", back.step, because=str(error))
        return False
    run.record.write("undone", back.step)
    return True


def _swap_back(run: Run) -> None:
    """The environment that was there lies in its place again; the newer one goes, unless somebody has used it since."""
    record = run.record
    swap = swapped(record)
    if swap is None:
        return
    path, old = Path(swap.told["path"]), swap.told.get("old", "")
    beside.recover(path)
    if made_by(path, record):
        newer = beside.swap_back(path, Path(old) if old else None)
    else:  # an undo that was killed had come so far
        newer = next((one for one in beside.leftovers(path.parent) if made_by(one, record)), None)
    ours = newer is None or contents(newer) == swap.told.get("holds", "")
    record.write("swapped-back", newer=str(newer or ""), kept="" if ours else "yes")
    run.told.empties(str(newer or ""))
    _cleared(record)
    for number in sorted(staged(record)):
        record.write("undone", number)


def _cleared(record: Record) -> None:
    """What was taken out of its place goes, unless somebody has installed into it; also where that was cut off before."""
    for event in record.of("swapped-back"):
        newer = event.told.get("newer", "")
        if newer and not event.told.get("kept") and Path(newer).is_dir():
            beside.discard(Path(newer))


def _command(run: Run, back: Back, argv: Argv) -> None:
    told = in_own_words(argv, run.variables)
    words = run.root.argv(unattended(told)) if back.root else told
    folder = str(run.intent.asked.get("folder", ""))
    child = Child(words, run.record.log(back.step), dict(run.variables), folder)
    status = child.wait(run.told.says, gentle=back.root)
    if status != 0:
        said = _("`{command}` ended with status {status}.")
        raise Failed(said.format(command=" ".join(argv), status=status))


def set_aside(record: Record) -> str:
    """Where an environment lies that undo did not remove, for somebody had installed into it since; "" for none."""
    last = next(iter(reversed(record.of("swapped-back"))), None)
    return last.told["newer"] if last is not None and last.told.get("kept") else ""
