"""Takes a record back: its steps in reverse order, each as exactly as can be, and says what cannot be.

What a step wrote is put back as it was, and so is what it left beside (`traces`): packages that came are removed, those
that went or changed are asked for at their versions. An environment that took another's place gives it back. For the
rest the step's own way back is gone. What a person changed or made since, in files and in environments, is put aside
before anything is written over or removed.
"""

import contextlib
import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from rigup.language import _
from rigup.machine.host import Host
from rigup.machine.local import Local
from rigup.plan.applying import edited, holdings, kept, put_aside, traces
from rigup.plan.applying.child import Child
from rigup.plan.applying.journal import Event, Record
from rigup.plan.applying.put_aside import Aside
from rigup.plan.applying.stage import Stage, is_made_by, what_it_held
from rigup.plan.applying.state import staged, state_of, swapped, touched
from rigup.plan.applying.system_packages import unattended, uses_manager
from rigup.plan.applying.taking import Failed, Run, gone_whole, in_own_words, settle
from rigup.plan.applying.traces import Traces
from rigup.plan.environments import staged_swap
from rigup.schemas.shared import Step

Argv = tuple[str, ...]


class Back(NamedTuple):
    """What is to be taken back.

    Attributes:
        step: its number; -1 for the environment as a whole.
        commands: what is run for it.
        because: why it cannot be taken back, "" where it can.
        aside: what a person changed since, and where it goes before.
        whole: folders that go as a whole, of which the same is found out when it is done.

    """

    step: int
    title: str
    root: bool
    commands: tuple[Argv, ...]
    because: str = ""
    aside: tuple[Aside, ...] = ()
    whole: tuple[str, ...] = ()


def ways_back(record: Record, distribution: str) -> list[Back]:
    """What `rigup undo` would do, in order. Raises JournalError, KnowledgeError."""
    intent = record.intent()
    beside_made = staged(record)
    backs = [
        _of_step(record, number, intent.steps[number], distribution)
        for number in sorted(touched(record) - beside_made, reverse=True)
        if number < len(intent.steps)
    ]
    swap = _to_put_back(record)
    if swap is None:
        return backs
    swapped_back = Back(-1, _environment(swap.told), False, ())
    place = next((at for at, back in enumerate(backs) if back.step < min(beside_made, default=0)), len(backs))
    return [*backs[:place], swapped_back, *backs[place:]]


def take_back(run: Run, distribution: str) -> list[Back]:
    """Take a record back; returns what could not be. Raises JournalError, KeyboardInterrupt, KnowledgeError."""
    stage = Stage(run.record, run.intent)
    settle(run.record, stage, run.host)
    run.record.write("undo-begin")
    if not stage.is_in_place():
        stage.drop()  # what a run that was killed had half made
    left = [back for number, back in enumerate(ways_back(run.record, distribution)) if not _shown_back(run, number, back)]
    if all(back.because for back in left):
        stage.drop()
        run.record.write("taken-back")
    return left


def left_in_order(record: Record, host: Host) -> None:
    """End what a run or an undo that was killed had half done with an environment; the rest stays as it was left.

    Raises:
        Failed: one of its commands still runs.
        JournalError: the journal cannot be written.

    """
    stage = Stage(record, record.intent())
    settle(record, stage, host)
    if not stage.is_in_place():
        stage.drop()
    record.write("settled")


def _to_put_back(record: Record) -> Event | None:
    """The swap that is to be taken back: also one of which only the newer environment is still to be removed."""
    if (swap := swapped(record)) is not None:
        return swap
    half = any(os.path.isdir(event.told.get("newer") or "\0") for event in record.of("swapped-back"))
    return next(iter(reversed(record.of("swapped"))), None) if half else None


def changed_after(record: Record, others: list[Record]) -> Record | None:
    """The last run that changed the same environment later and stands, or is half taken back.

    What it replaced is not this run's any more, and what it has made lies beside until its own undo is ended.
    """
    swap = swapped(record)
    if swap is None:
        return None
    here = os.path.realpath(swap.told["path"])
    later = (other for other in reversed(others) if other.number > record.number)
    return next((other for other in later if (at := _swap_of(other)) and os.path.realpath(at.told["path"]) == here), None)


def _swap_of(record: Record) -> Event | None:
    """The swap that holds, or the one that an undo has taken back without coming to its end."""
    half = state_of(record) == "being-taken-back"
    return swapped(record) or (next(iter(reversed(record.of("swapped"))), None) if half else None)


# -- one step ----------------------------------------------------------------------------------------


def _of_step(record: Record, number: int, step: Step, distribution: str) -> Back:
    folder, left = record.kept(number), _traces(record, number)
    if _goes_as_a_whole(record, left.python):
        left = left.but_python()
    files = tuple(kept.putting_back(folder))
    own = tuple(argv for argv in (step.undo or ()) if not _replaced(argv, left, folder))
    commands = (*files, *traces.ways_back(left, folder, distribution), *own)
    known = left.counted or bool(left) or bool(files)
    because = step.undo_because if step.undo is None and not known else ""
    aside = (
        *put_aside.of_files(record, (file.path for file in kept.kept(folder)), _written_files(record, number), folder),
        *put_aside.of_files(record, left.left, left.left, folder / traces.FILES),
        *put_aside.of_files(record, _edited(left), {}, folder),
    )
    return Back(number, step.title, bool(step.root), commands, because, aside, tuple(gone_whole(step)))


def _edited(left: Traces) -> list[str]:
    """Files of packages that a person edited, and that go or are written over with these."""
    host = Local()
    theirs = edited.of_python(left.python, {**left.theirs.came, **left.theirs.changed}, host) if left.python else []
    return [*theirs, *edited.of_system(left.packages.came, host)]


def _written_files(record: Record, number: int) -> dict[str, str]:
    """What the step left in the files that it names: nothing is known where it was cut off."""
    last = next(iter(reversed(record.of("wrote", number))), None)
    with contextlib.suppress(msgspec.DecodeError):
        return msgspec.json.decode(last.told.get("files", ""), type=dict[str, str]) if last is not None else {}
    return {}


def _goes_as_a_whole(record: Record, python: str) -> bool:
    """Whether a Python lies in an environment that this very run made, or is gone: its packages need no way back."""
    making = (step for step in record.intent().steps if step.kind.startswith("make-"))
    folders = (step.params.get("environment", "") for step in making if step.state != "satisfied")
    inside = any(folder and python.startswith(folder.rstrip("/") + "/") for folder in folders)
    return inside or (os.path.isabs(python) and not os.path.exists(python))


def _traces(record: Record, number: int) -> Traces:
    """What this step left on the system, over all of its tries."""
    left = Traces()
    for event in record.of("traces", number):
        with contextlib.suppress(msgspec.DecodeError):
            left = left.then(msgspec.json.decode(event.told.get("left", "{}"), type=Traces))
    return left


def _replaced(argv: Argv, left: Traces, folder: Path) -> bool:
    """A removal that is known more exactly: of files that were kept, of packages and holds that were counted."""
    if argv[0] in ("rm", "rmdir"):
        return any(path in argv for path in (*(file.path for file in kept.kept(folder)), *left.new))
    return (left.holds if argv[0] == "apt-mark" else left.counted) and uses_manager(argv)


def _environment(swap: dict[str, str]) -> str:
    if swap.get("old"):
        return _("put the environment {path} back as it was").format(path=swap["path"])
    return _("remove the environment {path}").format(path=swap["path"])


def _shown_back(run: Run, number: int, back: Back) -> bool:
    """Taken back, where somebody watches."""
    if back.because:
        return _taken_back(run, back)
    run.progress.begins(number, back.title)
    done = _taken_back(run, back)
    run.progress.ends(number, back.title, "done" if done else "failed")
    return done


def _taken_back(run: Run, back: Back) -> bool:
    if back.because:
        run.record.write("cannot-undo", back.step)
        return False
    try:
        _put_aside(run, back)
        if back.step < 0:
            _swap_back(run)
        for argv in back.commands:
            _command(run, back, argv)
    except (OSError, Failed) as error:
        run.record.write("undo-failed", back.step, because=str(error))
        return False
    run.record.write("undone", back.step)
    return True


def _put_aside(run: Run, back: Back) -> None:
    """What a person changed since is out of the way before anything of the step is taken back. Raises OSError, Failed."""
    for file in back.aside:
        Path(file.to).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        run.record.write("put-aside", back.step, path=file.path, to=file.to)
        _command(run, back, file.argv())
    for folder in filter(os.path.isdir, back.whole):
        names = holdings.theirs(Path(folder), run.record.held(back.step))
        if names is None:  # cut off, so that nobody knows whose it is; what conda has begun only conda takes away
            names = [] if os.path.isdir(os.path.join(folder, "conda-meta")) else os.listdir(folder)
        _moved_out(run, back.step, Path(folder), names, folder)


def _moved_out(run: Run, step: int, folder: Path, names: list[str], known_as: str) -> None:
    if names:
        to = str(put_aside.folder_of(run.record)) + os.path.abspath(known_as)
        run.record.write("put-aside", step, path=known_as, to=to, count=str(len(names)))
        put_aside.of_folder(run.record, folder, names, Path(known_as))


def _swap_back(run: Run) -> None:
    """The environment that was there lies in its place again; of the newer one stays what a person put into it."""
    record = run.record
    swap = swapped(record)
    if swap is not None:
        path, old = Path(swap.told["path"]), swap.told.get("old", "")
        staged_swap.recover(path)
        if is_made_by(path, record):
            newer = staged_swap.swap_back(path, Path(old) if old else None)
        else:  # an undo that was killed had come so far
            newer = next((folder for folder in staged_swap.leftovers(path.parent) if is_made_by(folder, record)), None)
            if newer is None and old:
                _though_replaced(path, Path(old))
        record.write("swapped-back", path=str(path), newer=str(newer or ""))
    _remove_leftovers(run)
    for number in sorted(staged(record)):
        record.write("undone", number)


def _though_replaced(path: Path, old: Path) -> None:
    """The environment was removed by somebody, or another was put there: that one is not ours to take away. Raises Failed."""
    if not os.path.lexists(path):
        os.rename(old, path)
    elif old.is_dir():
        template = _("{path} is not the environment that this run made, so it was left alone. What was there before lies in {old}.")
        raise Failed(template.format(path=path, old=old))


def _remove_leftovers(run: Run) -> None:
    """What was taken out of its place goes, but for what is a person's; also where that was cut off before."""
    for event in run.record.of("swapped-back"):
        newer = event.told.get("newer", "")
        if not newer or not Path(newer).is_dir():
            continue
        run.progress.empties(newer)
        names = holdings.theirs(Path(newer), what_it_held(run.record))
        if names is not None:  # else it is of an older rigup, which did not write down what it left: it stays
            _moved_out(run, -1, Path(newer), names, event.told.get("path", newer))
            staged_swap.discard(Path(newer))


def _command(run: Run, back: Back, argv: Argv) -> None:
    command = in_own_words(argv, run.variables)
    words = run.root.argv(unattended(command)) if back.root else command
    folder = str(run.intent.asked.get("folder", ""))
    child = Child(words, run.record.log(back.step), dict(run.variables), folder)
    status = child.wait(run.progress.says, gentle=back.root)
    if status != 0:
        template = _("`{command}` ended with status {status}.")
        raise Failed(template.format(command=" ".join(argv), status=status))


def set_aside(record: Record) -> list[str]:
    """Where lies what a person changed or made since, and undo did not write over; the environment itself, of an older rigup."""
    paths = [event.told["to"] for event in record.of("put-aside") if os.path.lexists(event.told.get("to", ""))]
    paths += [event.told["newer"] for event in record.of("swapped-back") if os.path.isdir(event.told.get("newer") or "\0")]
    return list(dict.fromkeys(paths))
