"""Killed at every moment: a run resumes or rolls back, an environment is whole, and nothing is lost."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from small_world import World, adding, beginning, linking, needed, picture, writing

from rigup.plan.applying.child import of_run, started_at, tagged
from rigup.steps import make_as

Steps = list[dict[str, Any]]
pytestmark = pytest.mark.slow


def long_plan(world: World) -> Steps:
    """Steps of all sorts, with an environment that is changed in the middle."""
    env = str(world.environment)
    return [
        writing(world.files / "new/folder/a.conf", "one"),
        writing(world.files / "kept.conf", "two"),
        linking(world.files / "old-link", world.files / "target"),
        {**beginning(env), "state": "satisfied"},
        adding(env, "beta"),
        adding(env, "gamma"),
        writing(world.files / "new/b.conf", "three"),
        linking(world.files / "new/link", world.files / "target"),
    ]


def prepared(world: World) -> Steps:
    """An environment that people use already."""
    env = str(world.environment)
    world.run([beginning(env), adding(env, "alpha")], environment=True)
    return long_plan(world)


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many lines a whole run writes into its journal."""
    world = World(tmp_path_factory.mktemp("whole"))
    steps = prepared(world)
    before = len(world.events())
    assert world.run(steps, environment=True)[0] == 0
    return len(world.events()) - before


def killed(process: "subprocess.Popen[str]", group: bool) -> None:
    """The run alone, as a killer of memory hogs does, or all of its processes, as a power cut does."""
    with contextlib.suppress(ProcessLookupError):
        if group:
            for pid in children(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
        os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)


def children(pid: int) -> list[int]:
    """The commands that a run has started."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(one) for one in file.read().split()]
    return []


def whole(world: World) -> bool:
    """The environment is the one before or the one after, never anything between."""
    names = {name for name, _body in picture(world.environment) if name.startswith("lib/python3/") and "site-packages" not in name}
    tool = (world.environment / "bin/tool").read_text()
    return tool == f"#!{world.environment}/bin/python\n" and names in (
        {"lib/python3/alpha"},
        {"lib/python3/alpha", "lib/python3/beta", "lib/python3/gamma"},
    )


@pytest.mark.parametrize(
    ("how", "kind", "first", "stride"),
    [
        *((how, "line", first, 2) for how in ("resume", "undo") for first in (0, 1)),
        ("undo 2", "line", 1, 5),
        ("undo 1", "line", 0, 3),
        ("undo 1", "line", 2, 3),
        ("resume", "change", 1, 6),
        ("undo", "change", 0, 5),
        ("undo 1", "change", 3, 6),
        ("undo", "undo line", 0, 3),
        ("undo 1", "undo line", 1, 3),
        ("resume", "undo line", 2, 4),
        ("undo 2", "undo change", 0, 8),
    ],
)
def test_after_a_kill_one_environment_is_left_and_nothing_of_a_person_is_lost(how: str, kind: str, first: int, stride: int) -> None:
    """At every line of the journal (and between), with a person at work before and after it."""
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    try:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("dying.py")), folder, how, kind, str(first), str(stride)],
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
        )
    finally:
        shutil.rmtree(folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["wrong"] == {}
    assert told["tried"] >= 5


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_who_asks_a_run_to_end_finds_things_as_they_were(tmp_path: Path, number: int) -> None:
    """A system that shuts down and a terminal that is closed ask as Ctrl-C does; it is the last run then."""
    world = World(tmp_path)
    steps = prepared(world)
    env, earlier = str(world.environment), len(world.events())
    slow = needed(make_as("install-into-environment", steps[4]["params"], (("sleep", "30"),)))
    process = world.start([*steps[3:4], slow, adding(env, "gamma")], environment=True)
    while not any(event["what"] == "child" for event in world.events()[earlier:]) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    said, _nothing = process.communicate(timeout=60)
    assert process.returncode == 128 + number, said
    assert "`rigup apply --resume` tries again from there." in " ".join(said.split())
    assert not list(world.files.glob(".*rigup*"))
    child = next(event["told"] for event in world.events()[earlier:] if event["what"] == "child")
    assert started_at(int(child["pid"])) != child["began"]
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert "run 2" in said


MOMENTS = [(line, delay) for line in range(2, 41, 4) for delay in (0.0, 0.07)]


@pytest.mark.parametrize("group", [False, True], ids=["alone", "with its commands"])
@pytest.mark.parametrize("part", range(2))
def test_a_run_that_is_killed_anywhere_goes_on_or_is_taken_back(
    tmp_path_factory: pytest.TempPathFactory, lines: int, part: int, group: bool
) -> None:
    tried = 0
    for line, delay in MOMENTS[part::2]:
        if line > lines:
            continue
        world = World(tmp_path_factory.mktemp("killed"))
        steps = prepared(world)
        before, earlier = world.picture(), len(world.events())
        process = world.start(steps, environment=True)
        while len(world.events()) < earlier + line and process.poll() is None:
            time.sleep(0.002)
        time.sleep(delay)
        killed(process, group)
        assert whole(world), (line, delay)
        resumes = (line + int(delay * 100)) % 2 == 0
        check_resumed(world) if resumes else check_taken_back(world, before)
        tried += 1
    assert tried >= 5


def check_resumed(world: World) -> None:
    """It goes on to its end, or it had come there."""
    status, said = world.run([], "resume")
    assert status == 0 or "no run to go on with" in said, said
    assert (world.files / "new/folder/a.conf").read_text() == "one\n"
    assert (world.files / "kept.conf").read_text() == "two\n"
    assert os.readlink(world.files / "new/link") == str(world.files / "target")
    assert (world.environment / "lib/python3/gamma").exists()
    assert whole(world)
    assert not (world.files / ".env.rigup-new").exists()


def check_taken_back(world: World, before: dict[str, str]) -> None:
    """Nothing of it is left, file by file."""
    status, said = world.rigup("undo", "2", "--yes")
    assert status == 0 or "nothing to take back" in said, said
    assert world.picture() == before


@pytest.mark.parametrize("line", range(1, 9))
def test_an_undo_that_is_killed_is_ended_by_the_next(tmp_path_factory: pytest.TempPathFactory, line: int) -> None:
    world = World(tmp_path_factory.mktemp("undone"))
    steps = prepared(world)
    before = world.picture()
    assert world.run(steps, environment=True)[0] == 0
    count = len(world.events())
    process = subprocess.Popen(
        [sys.executable, "-m", "rigup", "undo", "--yes"],
        env=world.variables(),
        cwd=world.files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    while len(world.events()) < count + line and process.poll() is None:
        time.sleep(0.002)
    killed(process, group=True)
    assert whole(world)
    status, said = world.rigup("undo", "2", "--yes")
    assert status == 0 or "nothing to take back" in said, said
    assert world.picture() == before


def test_a_line_that_a_power_cut_left_half_does_no_harm(world: World) -> None:
    steps = prepared(world)
    before = world.picture()
    assert world.run(steps, environment=True)[0] == 0
    record = max(world.state.glob("rigup/journal/*/events.jsonl"))
    body = record.read_bytes()
    record.write_bytes(body[: body.rindex(b'{"what"') + 20])  # the last line, cut in the middle
    status, said = world.run([], "resume")
    assert status == 0, said
    assert world.rigup("undo", "2", "--yes")[0] == 0
    assert world.picture() == before


def test_a_clock_that_jumps_back_does_not_change_the_order(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    plan = next(world.state.glob("rigup/journal/*/plan.json"))
    plan.write_text(plan.read_text().replace('"made_at": "20', '"made_at": "29'))
    world.run([writing(world.files / "b.conf", "b")])
    world.rigup("undo", "--yes")
    assert (world.files / "a.conf").exists()
    assert not (world.files / "b.conf").exists()


def test_commands_of_a_killed_run_are_known_by_what_they_carry() -> None:
    """Also those that it had no time to note, and what these have started; they would go on writing where it was made."""
    process = subprocess.Popen(["sh", "-c", "sleep 30; true"], env=tagged(os.environ, "000009-abcd"), process_group=0)
    try:
        deadline = time.monotonic() + 20
        while len(found := of_run("000009-abcd")) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(found) == 2
        assert (process.pid, started_at(process.pid)) in found
        assert of_run("000009-abc") == []
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert (process.pid, "") not in of_run("000009-abcd")
