"""What apply, fix, undo and history answer of runs that were really taken, read by their schemas."""

import os

import msgspec
import pytest
from small_wheels import wheel
from small_world import World, adding, beginning, failing, restarting, writing

from answers import read
from rigup.schemas.apply import ApplyDryRun, ApplyEnded, ApplyNothing
from rigup.schemas.fix import FixDryRun, FixEnded
from rigup.schemas.history import OneRun, Runs
from rigup.schemas.undo import UndoDryRun, Undone


def asked(world: World, *words: str, **variables: str) -> msgspec.Struct:
    """What a command answers in a world, as its type."""
    return read(world.rigup(*words, "--json", **variables)[1])


@pytest.mark.long
def test_runs_and_what_is_taken_back(world: World) -> None:
    env = str(world.environment)
    world.run([beginning(env), adding(env, "alpha")], environment=True)
    world.run([writing(world.files / "a.conf", "a"), failing(), writing(world.files / "b.conf", "b")])
    runs = asked(world, "history")
    assert isinstance(runs, Runs)
    assert [one.state for one in runs.runs] == ["failed", "finished"]
    one = asked(world, "history", "2")
    assert isinstance(one, OneRun)
    assert [step.state for step in one.run.steps] == ["done", "failed", "not-begun"]
    foreseen = asked(world, "undo", "--dry-run")
    assert isinstance(foreseen, UndoDryRun)
    assert foreseen.steps
    (world.files / "a.conf").write_text("mine\n")
    done = asked(world, "undo", "--yes")
    assert isinstance(done, Undone)
    assert (done.verdict, bool(done.put_aside)) == ("taken-back", True)
    next(world.state.glob("rigup/journal/*1*/plan.json")).write_text("[]")
    assert isinstance(asked(world, "history"), Runs)
    assert isinstance(asked(world, "history", "1"), OneRun)


@pytest.mark.long
@pytest.mark.parametrize(("how", "verdict"), [("well", "finished"), ("ill", "failed"), ("later", "restart")])
def test_a_fix_that_is_taken(world: World, how: str, verdict: str) -> None:
    last = {"well": writing(world.files / "b.conf", "b"), "ill": failing(), "later": restarting()}[how]
    steps = [writing(world.files / "a.conf", "a"), last]
    assert isinstance(read(world.run(steps, "foreseen")[1]), FixDryRun)
    told = read(world.run(steps, "data")[1])
    assert isinstance(told, FixEnded)
    assert (told.verdict, told.number) == (verdict, 1)


@pytest.mark.packages
def test_a_wish_that_is_taken(world: World) -> None:
    folder = world.state.parent / "wheels"
    folder.mkdir()
    wheel(folder, "torch", "2.6.0+cpu")
    offline = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "HOME": str(world.state.parent / "home"),
        "VIRTUAL_ENV": "",
        "PIP_CONFIG_FILE": os.devnull,
    }
    assert isinstance(asked(world, "apply", "torch==2.6.0", "--dry-run", **offline), ApplyDryRun)
    done = asked(world, "apply", "torch==2.6.0", "--yes", **offline)
    assert isinstance(done, ApplyEnded)
    assert done.verdict == "finished"
    again = asked(world, "apply", "torch==2.6.0", "--yes", **offline)
    assert isinstance(again, ApplyNothing)
    assert again.plan.verdict == "ready"
    assert isinstance(asked(world, "apply", "torch==99.0", "--yes", **offline), ApplyNothing)
