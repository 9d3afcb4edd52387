"""Runs of rigup that die by SIGKILL at a chosen moment, with a person at work before and after: forks of one process.

A moment is a line of the journal (just before or just after it is written) or a change of the file system.
"""

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from small_world import World, forked, needed, picture

from rigup.cli import run
from rigup.schemas.shared import Step
from rigup.steps import make, make_as

Steps = list[dict[str, Any]]
_CHANGES = ("os.rename", "os.link", "os.mkdir", "os.remove", "os.rmdir", "os.symlink", "os.chmod", "shutil.move")
BEFORE = {"notes.txt": "from before", "lib/python3/alpha": "alpha, patched by hand"}
SINCE = {"since.txt": "from after", "bin/mine": "#!/bin/sh", "lib/python3/mine.pth": "/home/me"}


def quick(path: Path, text: str) -> dict[str, Any]:
    """A step that writes a file, at once."""
    command = ("sh", "-c", 'mkdir -p "$(dirname "$1")" && printf "%s\n" "$2" > "$1"', "sh", str(path), text)
    params = {"program": str(path), "proxy": text}
    return needed(make_as("tell-proxy", params, (command,), (), writes=(str(path),)))


def package(environment: Path, name: str) -> dict[str, Any]:
    """A step that puts a package into an environment, at once."""
    script = 'mkdir -p "$1/lib/python3/site-packages/$2-1.dist-info" && printf "%s\n" "$2" > "$1/lib/python3/$2"'
    params = {"python": f"{environment}/bin/python", "packages": name}
    return needed(make_as("install-into-environment", params, (("sh", "-c", script, "sh", str(environment), name),)))


def new_environment(environment: Path) -> dict[str, Any]:
    """A step that makes an environment."""
    script = 'mkdir -p "$1/bin" && printf "home = /usr\n" > "$1/pyvenv.cfg" && printf "#!%s/bin/python\n" "$1" > "$1/bin/tool"'
    params = {"environment": str(environment), "python": "3", "starter": "python3"}
    return needed(make_as("make-environment", params, (("sh", "-c", script, "sh", str(environment)),)))


def first_run(world: World) -> Steps:
    """The good environment of the run before."""
    return [new_environment(world.environment), package(world.environment, "alpha")]


def second_run(world: World) -> Steps:
    """The run that dies: files before and after an environment that is changed."""
    env, files = world.environment, world.files
    satisfied = {**new_environment(env), "state": "satisfied"}
    link = needed(make("link-folder", {"path": str(files / "old-link"), "target": str(files / "target")}))
    written = [quick(files / "new/a.conf", "one"), quick(files / "kept.conf", "two"), link]
    return [*written, satisfied, package(env, "beta"), package(env, "gamma"), quick(files / "new/b.conf", "three")]


# -- processes -----------------------------------------------------------------------------------------


def taking(world: World, steps: Steps, dies: Callable[[], None] | None = None) -> tuple[int, str]:
    """Take steps."""
    from rigup.cli.taking import RunOptions, go
    from rigup.plan.applying.journal import Intent

    options = RunOptions(yes=True, dry_run=False, quiet=True, as_json=False, schema="test/1")
    intent = Intent(
        title="a wish", steps=msgspec.convert(steps, list[Step]), asked={"folder": str(world.files)}, environment=str(world.environment)
    )

    def call() -> int:
        if dies:
            dies()
        return go(intent, options)

    return forked(world, call)


def rigup(world: World, *words: str, dies: Callable[[], None] | None = None) -> tuple[int, str]:
    """A command line of rigup."""

    def call() -> int:
        if dies:
            dies()
        return run(list(words))

    return forked(world, call)


def at_line(number: int, after: bool) -> Callable[[], None]:
    """To die at that line of the journal."""

    def prepare() -> None:
        from rigup.plan.applying.journal import Record

        write, count = Record.write, [0]

        def counted(self: Record, what: str, step: int = -1, status: int | None = None, **told: str) -> None:
            count[0] += 1
            if count[0] == number and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            write(self, what, step, status, **told)
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

        Record.write = counted  # type: ignore[method-assign]

    return prepare


def at_change(number: int, begun: bool = False) -> Callable[[], None]:
    """To die before that change of the file system; `begun`: from the beginning, else from when the run is on record."""
    count = [0]

    def change() -> None:
        count[0] += 1
        if count[0] == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return lambda: at_each_change(change, begun)


def at_each_change(change: Callable[[], object], begun: bool = False) -> None:
    """Call it before each change of the file system that follows the one by which the run is on record, or each at all."""
    told = [True] if begun else []

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CHANGES and told:
            change()
        elif event == "os.mkdir" and os.fsdecode(arguments[0]).endswith("journal/000002"):
            told.append(True)

    sys.addaudithook(hook)


# -- the person, and what has to hold ------------------------------------------------------------------


def prepared(folder: Path) -> World:
    """A good environment, and a person at work in it."""
    folder.mkdir()
    world = World(folder)
    world.state.mkdir()
    assert taking(world, first_run(world))[0] == 0
    for name, text in BEFORE.items():
        (world.environment / name).write_text(text)
    return world


def goes_on_working(world: World) -> None:
    """After the kill, before anybody calls rigup again."""
    for name, text in SINCE.items():
        (world.environment / name).write_text(text)


def put_aside(world: World) -> set[str]:
    """What undo has kept of the person's, by content."""
    return {path.read_text() for path in world.state.glob("rigup/put-aside/**/*") if path.is_file()}


def lost(world: World, before: set[str]) -> list[str]:
    """The person's texts that are neither where they were nor put aside."""
    there = {path.read_text() for path in world.environment.rglob("*") if path.is_file()} if world.environment.is_dir() else set()
    return sorted({*BEFORE.values(), *SINCE.values()} - there - put_aside(world) - before)


def beside(world: World) -> list[str]:
    """What lies beside the environment."""
    return sorted(name for name in os.listdir(world.files) if "rigup" in name)


def is_whole(world: World) -> bool:
    """The environment is the one before or the one after."""
    names = {path.name for path in (world.environment / "lib/python3").iterdir() if path.is_file()} - {"mine.pth"}
    return (world.environment / "bin/tool").is_file() and names in ({"alpha"}, {"alpha", "beta", "gamma"})


def wrong(world: World, how: str, before: dict[str, str]) -> list[str]:
    """Go on in one of the ways; what does not hold then."""
    goes_on_working(world)
    found = []
    if how == "resume":
        status, said = rigup(world, "apply", "--resume", "--yes", "--quiet")
        planless = "before it had a plan" in said  # a run is on record before it has looked at anything
        if status and "no run to go on with" not in said and not planless:
            found.append(f"resume: {status} {said}")
        if not is_whole(world) or not (planless or (world.environment / "lib/python3/gamma").is_file()):
            found.append(f"not whole: {picture(world.environment)}")
        found += [f"beside: {one}" for one in beside(world) if "rigup-old-000002" not in one]
        found += lost(world, set())
        how = "undo"
    if how == "undo 1":
        status, said = rigup(world, "undo", "1", "--yes")
        if status and "changed the same environment after" not in said:
            found.append(f"undo 1: {status} {said}")
        kept = [one for one in beside(world) if not (status and "rigup-old-000002" in one)]
        return [*found, *(f"beside: {one}" for one in kept), *lost(world, set())]
    status, said = rigup(world, *how.split(), "--yes")
    if status or "run 2" not in said:
        found.append(f"{how}: {status} {said}")
    now = {name: told for name, told in world.picture().items() if name.removeprefix("env/") not in SINCE}
    if now != before:
        found.append(f"not as before: {sorted(set(now.items()) ^ set(before.items()))}")
    return [*found, *(f"beside: {one}" for one in beside(world)), *lost(world, set())]


# -- what is killed ------------------------------------------------------------------------------------


def dying_run(world: World, dies: Callable[[], None]) -> tuple[int, str]:
    """The second run."""
    return taking(world, second_run(world), dies)


def dying_undo(world: World, dies: Callable[[], None]) -> tuple[int, str]:
    """The undo of the second run, which came to its end, and after which the person went on."""
    assert taking(world, second_run(world))[0] == 0
    goes_on_working(world)
    return rigup(world, "undo", "2", "--yes", dies=dies)


def wrong_after_undo(world: World, how: str, before: dict[str, str]) -> list[str]:
    """Go on after an undo that was killed; what does not hold then."""
    changed = {name: told for name, told in world.picture().items() if name.removeprefix("env/") not in SINCE} != before
    found = []
    if how == "undo 1":
        return wrong(world, how, before)
    if how == "resume":
        status, said = rigup(world, "apply", "--resume", "--yes", "--quiet")
        if (status and "no run to go on with" not in said) or "Traceback" in said:
            found.append(f"resume: {status} {said}")
        if not is_whole(world):
            found.append(f"not whole: {picture(world.environment)}")
        how = "undo 2"
    status, said = rigup(world, *how.split(), "--yes")
    ended = "nothing to take back" in said or "taken back already" in said
    if (status and not ended) or "Traceback" in said:
        found.append(f"{how}: {status} {said}")
    if "run 1" in said and changed:
        found.append(f"{how} took the run before: {said}")
    if "run 1" not in said:
        now = {name: told for name, told in world.picture().items() if name.removeprefix("env/") not in SINCE}
        found += [f"not as before: {sorted(set(now.items()) ^ set(before.items()))}"] if now != before else []
    return [*found, *(f"beside: {one}" for one in beside(world)), *lost(world, set())]


def moments_of(top: Path, what: str, kind: str) -> list[tuple[int, bool]]:
    """Every moment of that kind in the run, or in the undo, that is to die."""
    if what == "undo":
        lines, changes = counted_undo(top / "whole")
    else:
        lines, changes = counted(top / "whole")
    if kind.endswith("line"):
        return [(number, after) for number in range(1, lines + 1) for after in (False, True)]
    return [(number, False) for number in range(1, changes + 1)]


def counted(folder: Path) -> tuple[int, int]:
    """How many lines of the journal, and how many changes of the file system, a whole run makes."""
    world = prepared(folder)
    lines = len(world.events())
    seen = world.state.parent / "changes"

    handle = os.open(seen, os.O_WRONLY | os.O_CREAT)
    assert taking(world, second_run(world), lambda: at_each_change(lambda: os.write(handle, b".")))[0] == 0
    os.close(handle)
    return len(world.events()) - lines, seen.stat().st_size


def counted_undo(folder: Path) -> tuple[int, int]:
    """The same of the undo of a whole run."""
    world = prepared(folder)
    assert taking(world, second_run(world))[0] == 0
    goes_on_working(world)
    lines, seen = len(world.events()), world.state.parent / "changes"
    handle = os.open(seen, os.O_WRONLY | os.O_CREAT)
    assert rigup(world, "undo", "2", "--yes", dies=lambda: at_each_change(lambda: os.write(handle, b"."), True))[0] == 0
    os.close(handle)
    return len(world.events()) - lines, seen.stat().st_size


def main(folder: str, how: str, kind: str, first: int, stride: int) -> None:
    """Every `stride`-th moment of a kind, gone on with in one way; prints how many were tried, and what was wrong.

    Args:
        folder: where the worlds are made.
        how: "resume", "undo", "undo 1" or "undo 2".
        kind: "line" of the journal or "change" of the file system in a run; "undo line" or "undo change" in its undo.
        first, stride: which of them.

    """
    top, began = Path(folder), time.monotonic()
    what, kind = ("undo", kind.removeprefix("undo ")) if kind.startswith("undo ") else ("run", kind)
    moments = moments_of(top, what, kind)
    found = {}
    world = prepared(top / "world")
    before = world.picture()
    shutil.copytree(top / "world", top / "kept", symlinks=True)
    for number, after in moments[first::stride]:
        shutil.rmtree(top / "world")
        shutil.copytree(top / "kept", top / "world", symlinks=True)
        assert world.picture() == before
        dies = at_line(number, after) if kind == "line" else at_change(number, what == "undo")
        status, said = (dying_undo if what == "undo" else dying_run)(world, dies)
        assert status == -signal.SIGKILL, (number, after, status, said)
        told = [] if is_whole(world) else ["torn"]
        if problems := told + (wrong_after_undo if what == "undo" else wrong)(world, how, before):
            found[f"{kind} {number} {'after' if after else 'before'}"] = problems
    print(json.dumps({"tried": len(moments[first::stride]), "seconds": time.monotonic() - began, "wrong": found}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
