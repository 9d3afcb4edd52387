"""Steps are taken in order, kept on record, and taken back as exactly as they can be."""

import os
import shutil
from pathlib import Path

from small_world import World, adding, beginning, failing, linking, restarting, writing


def steps_of(world: World) -> list[dict[str, object]]:
    """New files in new folders, a file that was there, a link in another's place, an environment."""
    env = str(world.environment)
    return [
        writing(world.files / "new/folder/a.conf", "one"),
        writing(world.files / "kept.conf", "two"),
        linking(world.files / "old-link", world.files / "target"),
        beginning(env),
        adding(env, "alpha"),
        adding(env, "beta"),
        writing(world.files / "last.conf", "three"),
    ]


def test_all_steps_are_taken_and_on_record(world: World) -> None:
    status, said = world.run(steps_of(world), environment=True)
    assert status == 0, said
    assert (world.files / "new/folder/a.conf").read_text() == "one\n"
    assert (world.files / "kept.conf").read_text() == "two\n"
    assert os.readlink(world.files / "old-link") == str(world.files / "target")
    assert (world.environment / "lib/python3/beta").read_text() == "beta\n"
    assert world.events()[-1]["what"] == "finished"


def test_an_environment_made_beside_names_its_own_place(world: World) -> None:
    world.run(steps_of(world), environment=True)
    assert (world.environment / "bin/tool").read_text() == f"#!{world.environment}/bin/python\n"
    assert not list(world.files.glob("*.rigup-*"))
    assert not list(world.files.glob(".*.rigup-*"))


def test_undo_leaves_every_file_as_it_was(world: World) -> None:
    before = world.picture()
    world.run(steps_of(world), environment=True)
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert world.picture() == before


def test_an_environment_that_was_there_is_changed_as_a_copy_and_comes_back(world: World) -> None:
    env = str(world.environment)
    world.run([beginning(env), adding(env, "alpha")], environment=True)
    before = world.picture()
    made = {**beginning(env), "state": "satisfied"}
    status, said = world.run([made, adding(env, "beta")], environment=True)
    assert status == 0, said
    assert (world.environment / "lib/python3/alpha").exists()
    assert (world.environment / "lib/python3/beta").exists()
    world.rigup("undo", "--yes")
    assert world.picture() == before


def test_a_step_that_fails_stops_the_run_and_leaves_the_environment_as_it_was(world: World) -> None:
    env = str(world.environment)
    world.run([beginning(env), adding(env, "alpha")], environment=True)
    before = world.picture()
    made = {**beginning(env), "state": "satisfied"}
    bad = {**adding(env, "beta"), "commands": [["sh", "-c", "echo no room >&2; exit 28"]]}
    status, said = world.run([made, adding(env, "gamma"), bad], environment=True)
    assert status == 1
    assert "Step 3 failed" in said
    assert "ended with status 28" in said
    assert "no room" in said
    assert world.picture() == before


def test_a_failed_run_goes_on_from_the_failed_step(world: World) -> None:
    flag = world.files / "flag"
    bad = writing(world.files / "b.conf", "b")
    bad["commands"] = [["sh", "-c", f'test -e "{flag}" && echo b > "{world.files}/b.conf"']]
    world.run([writing(world.files / "a.conf", "a"), bad, writing(world.files / "c.conf", "c")])
    assert not (world.files / "c.conf").exists()
    flag.touch()
    before = (world.files / "a.conf").stat().st_mtime_ns
    status, said = world.run([], "resume")
    assert status == 0, said
    assert (world.files / "a.conf").stat().st_mtime_ns == before  # done once
    assert (world.files / "c.conf").read_text() == "c\n"


def test_what_was_done_before_a_failure_is_taken_back_too(world: World) -> None:
    before = world.picture()
    world.run([writing(world.files / "kept.conf", "new"), failing()])
    assert world.picture() != before
    world.rigup("undo", "--yes")
    assert world.picture() == before


def test_a_restart_is_a_barrier(world: World) -> None:
    steps = [writing(world.files / "a.conf", "a"), restarting(), writing(world.files / "b.conf", "b")]
    status, said = world.run(steps)
    assert status == 1
    assert not (world.files / "b.conf").exists()
    status, said = world.run([], "resume")  # it was not restarted: it waits on
    assert status == 1
    assert not (world.files / "b.conf").exists()
    record = next(world.state.glob("rigup/journal/*/events.jsonl"))
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    record.write_text(record.read_text().replace(boot, "of-the-start-before"))  # as it is after a restart
    status, said = world.run([], "resume")
    assert status == 0, said
    assert (world.files / "b.conf").read_text() == "b\n"


def test_a_satisfied_step_is_not_taken_and_not_taken_back(world: World) -> None:
    (world.files / "link").symlink_to(world.files / "target")
    before = world.picture()
    world.run([linking(world.files / "link", world.files / "target")])
    world.rigup("undo", "--yes")
    assert world.picture() == before


def test_two_at_once_refuse_each_other(world: World) -> None:
    slow = writing(world.files / "a.conf", "a")
    slow["commands"] = [["sleep", "3"], *slow["commands"]]
    first = world.start([slow])
    while not world.events():
        assert first.poll() is None
    status, said = world.run([writing(world.files / "b.conf", "b")])
    assert status == 1
    assert "Another rigup" in said
    assert not (world.files / "b.conf").exists()
    assert first.wait(30) == 0
    first.communicate()


def test_history_tells_what_was_done(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    world.run([failing()])
    world.rigup("undo", "1", "--yes")
    _status, said = world.rigup("history")
    assert [line.split()[0] for line in said.splitlines()] == ["2", "1"]
    assert "failed" in said.splitlines()[0]
    assert "taken back" in said.splitlines()[1]


def test_nothing_to_take_back_is_said(world: World) -> None:
    status, said = world.rigup("undo", "--yes")
    assert status == 1
    assert "nothing to take back" in said


def test_without_a_terminal_nothing_is_taken_back_unasked(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    status, said = world.rigup("undo")
    assert status == 2
    assert "--yes" in said
    assert (world.files / "a.conf").exists()


def test_a_way_back_that_there_is_not_is_said(world: World) -> None:
    step = writing(world.files / "a.conf", "a") | {"writes": [], "undo": None, "undo_because": "nobody knows what was there"}
    world.run([step])
    _status, said = world.rigup("undo", "--yes")
    assert "nobody knows what was there" in said
    assert "but for what is named above" in said


def test_paths_with_blanks_and_other_scripts_are_themselves(tmp_path: Path) -> None:
    folder = tmp_path / "мой диск $(touch x) 'a'"
    folder.mkdir()
    world = World(folder)
    before = world.picture()
    status, said = world.run(steps_of(world), environment=True)
    assert status == 0, said
    world.rigup("undo", "--yes")
    assert world.picture() == before
    assert not (tmp_path / "x").exists()
    assert not (world.files / "x").exists()


def test_a_journal_that_cannot_be_written_stops_everything(world: World) -> None:
    world.state.mkdir()
    (world.state / "rigup").write_text("a file where a folder should be")
    before = world.picture()
    status, said = world.run([writing(world.files / "a.conf", "a")])
    assert status == 1
    assert "journal" in said
    assert world.picture() == before


def test_a_record_of_nonsense_is_named_and_nothing_is_done(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    plan = next(world.state.glob("rigup/journal/*/plan.json"))
    plan.write_text('{"title": 3, "steps": "rm -rf /"}')
    status, said = world.rigup("undo", "--yes")
    assert status == 2
    assert "cannot be understood" in said
    assert (world.files / "a.conf").exists()
    assert "unreadable" in world.rigup("history")[1]


def test_the_log_keeps_what_a_command_said(world: World) -> None:
    world.run([failing()])
    log = next(world.state.glob("rigup/journal/*/step-1.log")).read_text()
    assert "No space left on device" in log
    assert log.startswith("$ sh -c")


def test_a_command_that_is_not_there_is_named(world: World) -> None:
    step = writing(world.files / "a.conf", "a") | {"commands": [["no-such-program-here", "x"]]}
    status, said = world.run([step])
    assert status == 1
    assert "no-such-program-here could not be started" in " ".join(said.split())


def test_leftovers_of_an_earlier_staging_do_not_get_in(world: World) -> None:
    env = str(world.environment)
    beside = world.files / ".env.rigup-new"
    shutil.copytree(world.files / "target", beside)
    (beside / "stale").write_text("half")
    status, said = world.run([beginning(env), adding(env, "alpha")], environment=True)
    assert status == 0, said
    assert not (world.environment / "stale").exists()
    assert not beside.exists()


def test_undo_passes_a_run_by_that_failed_before_it_changed_anything(world: World) -> None:
    env = str(world.environment)
    world.run([beginning(env), adding(env, "alpha")], environment=True)
    broken = {**adding(env, "beta"), "commands": [["sh", "-c", "exit 3"]]}
    status, _said = world.run([{**beginning(env), "state": "satisfied"}, broken], environment=True)
    assert status == 1
    assert "run 1" in world.rigup("undo", "--dry-run")[1]
    assert "has changed nothing" in world.rigup("undo", "2", "--dry-run")[1]


def test_a_guess_of_the_doctor_is_not_shown_for_a_step_that_failed(world: World) -> None:
    """The words of an installer that finds no package make the doctor guess; the installer has said it already."""
    said = "echo ERROR: No matching distribution found for nosuch '(from versions: none)' wheels; exit 1"
    _status, told = world.run([{**failing(), "commands": [["sh", "-c", said]]}])
    assert "No matching distribution" in told
    assert "possible" not in told
    assert "Mend:" not in told
    sure = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver"
    _status, told = world.run([{**failing(), "commands": [["sh", "-c", 'echo "$1"; exit 1', "sh", sure]]}])
    assert "Mend:" in told


def test_a_dry_run_is_shown_however_quiet(world: World) -> None:
    world.run([writing(world.files / "a.conf", "a")])
    for words in (("undo", "--dry-run", "--quiet"), ("undo", "--dry-run")):
        status, told = world.rigup(*words)
        assert status == 0
        assert f"rm -f -- {world.files / 'a.conf'}" in told
    assert (world.files / "a.conf").exists()
    assert world.rigup("undo", "--yes", "--quiet") == (0, "")
