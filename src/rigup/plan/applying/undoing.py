"""Takes a record back: its steps in reverse order, each as exactly as can be, and says what cannot be.

What a step wrote is put back as it was; packages of the system that came are removed, and those that went or changed
are asked for at their versions; an environment that took another's place gives it back. For the rest the step's own
way back is gone.
"""

import contextlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from rigup.language import _
from rigup.plan.applying import kept
from rigup.plan.applying.child import Child
from rigup.plan.applying.journal import Record
from rigup.plan.applying.stage import Stage, contents, made_by
from rigup.plan.applying.state import staged, swapped, touched
from rigup.plan.applying.system_packages import Moved, taking_back, unattended, uses_manager
from rigup.plan.applying.taking import Failed, Run, in_own_words, settle
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
    settle(run.record, Stage(run.record, run.intent), run.host)
    run.record.write("undo-begin")
    _cleared(run.record)
    left = [back for back in ways_back(run.record, distribution) if not _taken_back(run, back)]
    if all(back.because for back in left):
        run.record.write("taken-back")
    return left


# -- one step ----------------------------------------------------------------------------------------


def _of_step(record: Record, number: int, step: Answer, distribution: str) -> Back:
    told = _packages(record, number)
    files = tuple(kept.putting_back(record.kept(number)))
    own = tuple(argv for argv in map(tuple, step["undo"] or ()) if not _replaced(argv, told, record.kept(number)))
    commands = (*files, *taking_back(told, distribution), *own)
    because = step.get("undo_because", "") if step["undo"] is None and not (told or files) else ""
    return Back(number, step["title"], bool(step["root"]), commands, because)


def _packages(record: Record, number: int) -> Moved:
    """What became of the system's packages by this step, over all of its tries."""
    found = Moved()
    for event in record.of("packages", number):
        with contextlib.suppress(msgspec.DecodeError):
            told = msgspec.json.decode(event.told.get("moved", "{}"), type=Moved)
            found = Moved(
                came={**found.came, **told.came},
                went={**told.went, **found.went},
                changed={**told.changed, **found.changed},
            )
    return found


def _replaced(argv: Argv, told: Moved, folder: Path) -> bool:
    """A removal that is known more exactly: of files that were kept, of packages that were counted."""
    if argv[0] in ("rm", "rmdir"):
        return any(one.path in argv for one in kept.kept(folder))
    return bool(told) and uses_manager(argv)


def _environment(told: dict[str, str]) -> str:
    if told.get("old"):
        return _("put the environment {path} back as it was").format(path=told["path"])
    return _("remove the environment {path}").format(path=told["path"])


def _taken_back(run: Run, back: Back) -> bool:
    if back.because:
        run.record.write("cannot-undo", back.step)
        return False
    try:
        if back.step < 0:
            _swap_back(run.record)
        for argv in back.commands:
            _command(run, back, argv)
    except (OSError, Failed) as error:
        run.record.write("undo-failed", back.step, because=str(error))
        return False
    run.record.write("undone", back.step)
    return True


def _swap_back(record: Record) -> None:
    """The environment that was there lies in its place again; the newer one goes, unless somebody has used it since."""
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
