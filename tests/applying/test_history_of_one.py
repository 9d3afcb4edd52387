"""One run in full, and an undo where there is nothing to take back."""

import json

from hypothesis import given
from hypothesis import strategies as st
from small_world import World, adding, beginning, failing, writing

from rigup.cli.history_report import run_lines, whole_run
from rigup.plan.applying.journal import Record
from rigup.schemas.history import Run


def test_a_run_is_shown_with_its_commands_and_how_each_step_ended(world: World) -> None:
    said = writing(world.files / "a.conf", "a")
    said["commands"].append(["sh", "-c", "for n in 1 2 3 4 5 6 7; do echo line $n; done"])
    after = writing(world.files / "b.conf", "b")
    world.run([said, failing(), after])
    status, told = world.rigup("history", "1")
    assert status == 0
    assert "1. tell" in told
    assert "$ sh -c for n in" in told
    assert "line 4" in told
    assert "line 5" not in told
    assert "and 3 lines more" in told
    assert "No space left on device" in told
    lines = told.splitlines()
    assert lines[-1].startswith("All of it is kept") or "journal" in lines[-1]
    assert "not begun" in told


def test_the_same_is_data(world: World) -> None:
    env = str(world.environment)
    world.run([beginning(env), adding(env, "alpha")], environment=True)
    told = json.loads(world.rigup("history", "1", "--json")[1])
    assert told["schema"] == "rigup.history/1"
    assert [step["state"] for step in told["run"]["steps"]] == ["done", "done"]
    assert told["run"]["steps"][0]["ran"][0]["command"].startswith("sh -c")
    world.rigup("undo", "--yes")
    told = json.loads(world.rigup("history", "1", "--json")[1])
    assert {step["state"] for step in told["run"]["steps"]} == {"undone"}
    assert told["run"]["state"] == "taken-back"


def test_a_run_that_there_is_not_is_wrong_usage(world: World) -> None:
    status, told = world.rigup("history", "7")
    assert status == 2
    assert "There is no run 7" in told
    assert world.rigup("undo", "7", "--yes")[0] == 2


def test_a_record_of_nonsense_is_shown_as_such(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    next(world.state.glob("rigup/journal/*/plan.json")).write_text("[]")
    status, told = world.rigup("history", "1")
    assert status == 0
    assert "unreadable" in told


def test_of_nothing_nobody_is_asked(world: World) -> None:
    broken = {**adding(str(world.environment), "beta"), "commands": [["sh", "-c", "exit 3"]]}
    world.run([beginning(str(world.environment)), broken], environment=True)
    status, told = world.rigup("undo", "1")  # neither a terminal nor --yes
    assert status == 0, told
    assert "has changed nothing" in told


def test_what_is_taken_back_is_not_taken_back_again(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    assert world.rigup("undo", "1", "--yes")[0] == 0
    status, told = world.rigup("undo", "1", "--yes")
    assert status == 1
    assert "taken back already" in told


@given(log=st.binary(max_size=400), events=st.binary(max_size=200))
def test_no_journal_makes_it_fail(tmp_path_factory, log, events):
    folder = tmp_path_factory.getbasetemp() / "000001"
    folder.mkdir(exist_ok=True)
    (folder / "plan.json").write_text('{"title": "t", "steps": [{"title": "a"}]}')
    (folder / "step-1.log").write_bytes(b"$ x\n" + log)
    (folder / "events.jsonl").write_bytes(events)
    lines = run_lines(whole_run(Record(folder), Run(number=1, state="failed", made_at="", title="t")))
    assert all(letter.isprintable() for line in lines for letter in line.replace("\x1b", ""))
