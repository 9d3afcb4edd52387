"""Undo keeps what a person changed or made since, and says where; what nobody touched goes as it came."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dying import at_line, new_environment, package, prepared, quick, rigup, taking
from hypothesis import given
from hypothesis import strategies as st
from small_world import World, needed

from rigup.machine.host import Answer
from rigup.machine.local import Local
from rigup.plan.applying import edited, holdings
from rigup.steps import make, make_as
from tiny_environments import make_venv, make_wheel

pytestmark = pytest.mark.skipif(os.name == "nt", reason="files of POSIX")


def aside(world: World) -> dict[str, str]:
    """What lies in the folders for it, each under the path that it had."""
    top = next(iter(world.state.glob("rigup/put-aside/*")), world.state / "none")
    return {"/" + str(path.relative_to(top)): path.read_text() for path in top.rglob("*") if path.is_file() and top.is_dir()}


def with_environment(world: World) -> None:
    env = str(world.environment)
    world.run([new_environment(world.environment), package(world.environment, "alpha")], environment=True)
    assert Path(env, "lib/python3/alpha").is_file()


# -- files ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kept.conf", "new/a.conf"])
def test_a_file_that_a_person_edited_since_is_kept_and_said(world: World, name: str) -> None:
    before, path = world.picture(), world.files / name
    world.run([quick(path, "rigup's")])
    path.write_text("the person's\n")
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert aside(world) == {str(path): "the person's\n"}
    assert "put-aside" in said
    assert world.picture() == before


def test_files_that_nobody_touched_are_not_kept(world: World) -> None:
    before = world.picture()
    link = needed(make("link-folder", {"path": str(world.files / "l"), "target": str(world.files / "target")}))
    world.run([quick(world.files / "kept.conf", "rigup's"), quick(world.files / "new/a.conf", "new"), link])
    os.utime(world.files / "kept.conf")
    _status, said = world.rigup("undo", "--yes")
    assert aside(world) == {}
    assert "put-aside" not in said
    assert world.picture() == before


def test_a_link_that_a_person_replaced_by_a_file_is_kept(world: World) -> None:
    path = world.files / "l"
    world.run([needed(make("link-folder", {"path": str(path), "target": str(world.files / "target")}))])
    path.unlink()
    path.write_text("mine")
    world.rigup("undo", "--yes")
    assert aside(world) == {str(path): "mine"}
    assert not path.exists()


def test_a_folder_in_the_place_of_a_file_is_kept_whole(world: World) -> None:
    path = world.files / "a.conf"
    world.run([quick(path, "one")])
    path.unlink()
    path.mkdir()
    (path / "mine").write_text("inside")
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert aside(world) == {str(path / "mine"): "inside"}
    assert not path.exists()


def test_nothing_is_lost_behind_a_link_in_the_place_of_a_folder(world: World) -> None:
    world.run([quick(world.files / "new/a.conf", "one")])
    moved = world.files.parent / "moved"
    (world.files / "new").rename(moved)
    (moved / "a.conf").write_text("the person's\n")
    (moved / "b.conf").write_text("more of it\n")
    (world.files / "new").symlink_to(moved)
    world.rigup("undo", "--yes")
    left = {**aside(world), **{str(path): path.read_text() for path in moved.rglob("*") if path.is_file()}}
    assert {"the person's\n", "more of it\n"} <= set(left.values())


def test_a_link_in_the_place_of_a_file_is_not_written_through(world: World) -> None:
    path, other = world.files / "kept.conf", world.files.parent / "other"
    world.run([quick(path, "rigup's")])
    other.write_text("of something else\n")
    path.unlink()
    path.symlink_to(other)
    world.rigup("undo", "--yes")
    assert other.read_text() == "of something else\n"
    assert path.read_text() == "as it was\n"
    assert not path.is_symlink()


def test_what_was_put_back_by_hand_is_no_work_to_keep(world: World) -> None:
    path = world.files / "kept.conf"
    world.run([quick(path, "rigup's")])
    path.write_text("as it was\n")
    world.rigup("undo", "--yes")
    assert aside(world) == {}


def test_the_dry_run_says_what_would_be_kept_and_keeps_nothing(world: World) -> None:
    path = world.files / "a.conf"
    world.run([quick(path, "one")])
    path.write_text("mine")
    _status, said = world.rigup("undo", "--dry-run")
    assert "was changed since" in said.replace("\n     ", " ")
    assert path.read_text() == "mine"
    assert aside(world) == {}


def test_a_second_undo_does_not_write_over_what_the_first_kept(world: World) -> None:
    path = world.files / "a.conf"
    for text in ("first", "second"):
        world.run([quick(path, "rigup's")])
        path.write_text(text)
        world.rigup("undo", "--yes")
    kept = {one.read_text() for one in world.state.glob("rigup/put-aside/**/*") if one.is_file()}
    assert kept == {"first", "second"}


def test_notes_in_a_folder_that_a_step_fetched_are_kept(world: World) -> None:
    folder = world.files / "program"
    fetch = ("sh", "-c", 'mkdir "$1" && echo theirs > "$1/main.py" && echo read > "$1/README"', "sh", str(folder))
    params = {"url": "https://example.org/x", "folder": str(folder)}
    world.run([needed(make_as("clone-program", params, (fetch,)))])
    (folder / "main.py").write_text("patched")
    (folder / "notes").write_text("mine")
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert not folder.exists()
    assert aside(world) == {str(folder / "main.py"): "patched", str(folder / "notes"): "mine"}


# -- environments --------------------------------------------------------------------------------------

WORK = {
    "notes.txt": "what I found",
    "bin/mytool": "#!/bin/sh",
    "lib/python3/site-packages/mine.pth": "/home/me/src",
    "lib/python3/alpha": "patched by hand",
    "lib/python3/site-packages/extra/__init__.py": "x = 1",
    "lib/python3/site-packages/extra-1.dist-info/METADATA": "Name: extra",
}


@pytest.mark.parametrize("changed", [False, True], ids=["made", "changed"])
def test_what_a_person_put_into_an_environment_is_kept_and_said(world: World, changed: bool) -> None:
    if changed:
        with_environment(world)
    before = world.picture()
    steps = [package(world.environment, "alpha" if not changed else "beta")]
    world.run([{**new_environment(world.environment), "state": "satisfied" if changed else "needed"}, *steps], environment=True)
    for name, text in WORK.items():
        (world.environment / name).parent.mkdir(parents=True, exist_ok=True)
        (world.environment / name).write_text(text)
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert aside(world) == {str(world.environment / name): text for name, text in WORK.items()}
    assert "put-aside" in said
    assert world.picture() == before


def test_what_programs_leave_by_running_is_no_persons_work(world: World) -> None:
    with_environment(world)
    compiled = world.environment / "lib/python3/__pycache__"
    compiled.mkdir()
    (compiled / "alpha.cpython-312.pyc").write_bytes(b"compiled")
    os.utime(world.environment / "lib/python3/alpha")
    os.chmod(world.environment / "bin/tool", 0o755)
    _status, said = world.rigup("undo", "--yes")
    assert aside(world) == {}
    assert "put-aside" not in said
    assert not world.environment.exists()


def test_data_names_what_was_kept(world: World) -> None:
    with_environment(world)
    (world.environment / "notes").write_text("mine")
    _status, said = world.rigup("undo", "--yes", "--json")
    told = json.loads(said)
    assert told["verdict"] == "taken-back"
    assert all(Path(one).exists() for one in told["put_aside"])
    assert len(told["put_aside"]) == 1


def test_an_environment_that_somebody_made_anew_in_its_place_is_left_alone(world: World) -> None:
    with_environment(world)
    world.run([{**new_environment(world.environment), "state": "satisfied"}, package(world.environment, "beta")], environment=True)
    shutil.rmtree(world.environment)
    world.environment.mkdir()
    (world.environment / "pyvenv.cfg").write_text("theirs")
    status, _said = world.rigup("undo", "--yes")
    assert status == 1
    assert (world.environment / "pyvenv.cfg").read_text() == "theirs"
    assert list(world.files.glob(".env.rigup-old-*"))


def test_runs_that_changed_one_environment_go_back_in_their_order(world: World) -> None:
    with_environment(world)
    one = world.picture()
    world.run([{**new_environment(world.environment), "state": "satisfied"}, package(world.environment, "beta")], environment=True)
    two = world.picture()
    status, said = world.rigup("undo", "1", "--yes")
    assert status == 1
    assert "`rigup undo 2`" in said
    assert world.picture() == two
    assert world.rigup("undo", "2", "--yes")[0] == 0
    assert world.picture() == one
    assert world.rigup("undo", "1", "--yes")[0] == 0
    assert not world.environment.exists()


@pytest.mark.slow
@pytest.mark.parametrize("line", range(1, 13))
def test_an_undo_that_is_killed_loses_nothing_of_a_person(tmp_path: Path, line: int) -> None:
    """By a process that this test starts: a fork of a test with threads is warned of."""
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path / "w"), str(line)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def killed_undo(folder: Path, line: int) -> None:
    world = prepared(folder)
    satisfied = {**new_environment(world.environment), "state": "satisfied"}
    before = world.picture()
    steps = [quick(world.files / "kept.conf", "two"), satisfied, package(world.environment, "beta")]
    assert taking(world, steps)[0] == 0
    (world.files / "kept.conf").write_text("edited")
    (world.environment / "since.txt").write_text("since")
    status, said = rigup(world, "undo", "--yes", dies=at_line(line, after=True))
    assert status in (-signal.SIGKILL, 0), said
    status, said = rigup(world, "undo", "2", "--yes")
    assert status == 0 or "is taken back already" in said, said
    assert {"edited", "since"} <= set(aside(world).values())
    assert world.picture() == before


def test_what_a_person_does_while_a_run_is_under_way_is_in_what_it_makes(world: World) -> None:
    """The environment is changed beside; a note that is written meanwhile lies in the old one."""
    with_environment(world)
    (world.environment / "both").write_text("at first")
    text = f"echo meanwhile > {world.environment}/note; echo person > {world.environment}/both; sleep 0.02"
    params = {"python": f"{world.environment}/bin/python", "packages": "beta"}
    person = ("sh", "-c", text)
    step = needed(make_as("install-into-environment", params, (("env", "sh", "-c", 'echo run > "$1/both"', "sh", str(world.environment)),)))
    other = world.files / "go.sh"
    other.write_text(" ".join(person[2:]))
    step["commands"].append(["sh", str(other)])
    satisfied = {**new_environment(world.environment), "state": "satisfied"}
    status, said = world.run([satisfied, step], environment=True)
    assert status == 0, said
    assert (world.environment / "note").read_text() == "meanwhile\n"
    assert (world.environment / "both").read_text() == "run\n"
    assert aside(world) == {str(world.environment / "both"): "person\n"}


@pytest.fixture(scope="module")
def own_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python of its own with a package in it."""
    folder = tmp_path_factory.mktemp("python")
    wheel = make_wheel(folder, "stone", "1.0")
    make_venv(folder / "env")
    subprocess.run([folder / "env/bin/python", "-m", "pip", "install", "-q", "--no-index", wheel], check=True, timeout=100)
    return folder / "env"


@pytest.mark.slow
def test_a_package_that_was_patched_by_hand_is_known_by_its_own_record(own_python: Path) -> None:
    python = str(own_python / "bin/python")
    assert edited.of_python(python, ["stone", "pip", "nothing"], Local()) == []
    module = next(own_python.glob("lib/python*/site-packages/stone.py"))
    before = module.read_text()
    module.write_text(before + "# patched\n")
    assert edited.of_python(python, ["stone", "pip"], Local()) == [str(module)]
    module.write_text(before)


class Told:
    """A package manager's answer."""

    def __init__(self, program: str, body: str) -> None:
        self.program, self.body = program, body

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """To its own program alone."""
        return Answer(self.body) if argv[0] == self.program else Answer(None, "absent", exit=127)


def test_settings_of_packages_that_were_edited_are_known(tmp_path: Path) -> None:
    same, other, gone = tmp_path / "same", tmp_path / "other", tmp_path / "gone"
    same.write_text("x")
    other.write_text("edited")
    sums = hashlib.md5(b"x").hexdigest()
    dpkg = f"\n {same} {sums}\n {other} {sums}\n {gone} {sums} obsolete\n"
    assert edited.of_system(["a"], Told("dpkg-query", dpkg)) == [str(other)]
    pacman = f"Name : a\nBackup Files : {same}\n               {other} [modified]\n"
    assert edited.of_system(["a"], Told("pacman", pacman)) == [str(other)]
    assert edited.of_system([], Told("dpkg-query", dpkg)) == []


@given(st.text(max_size=200))
def test_any_answer_of_a_manager_is_read(body: str) -> None:
    for program in ("dpkg-query", "pacman"):
        assert isinstance(edited.of_system(["a"], Told(program, body)), list)


# -- the last run ---------------------------------------------------------------------------------------


def test_a_run_that_is_killed_while_it_is_planned_is_the_last_one(world: World) -> None:
    with_environment(world)
    before = world.picture()
    process = subprocess.Popen(
        [sys.executable, "-m", "rigup", "apply", "--yes", "nosuchpackage"],
        env=world.variables(),
        cwd=world.files,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    while not (world.state / "rigup/journal/000002").exists() and process.poll() is None:
        time.sleep(0.002)
    process.kill()
    process.communicate()
    status, said = world.rigup("undo", "--yes")
    assert status == 0, said
    assert "run 2" in said
    assert world.picture() == before
    assert world.rigup("apply", "--resume", "--yes")[0] == 1
    assert world.rigup("undo", "--yes")[0] == 0  # asked for again, it is the run before
    assert not world.environment.exists()


def test_to_go_on_with_a_run_that_had_no_plan_says_so(world: World) -> None:
    with_environment(world)
    (world.state / "rigup/journal/000002").mkdir()  # killed at the first moment
    status, said = world.rigup("apply", "--resume", "--yes")
    assert status == 1
    assert "before it had a plan" in said.replace("\n", " ")
    assert "broken off" in world.rigup("history")[1]


def test_a_run_that_had_nothing_to_do_leaves_no_record(world: World) -> None:
    with_environment(world)
    world.rigup("apply", "--yes", "not a name!")
    assert [path.name for path in (world.state / "rigup/journal").glob("*") if path.is_dir()] == ["000001"]


def test_runs_of_one_wish_are_told_apart(world: World) -> None:
    with_environment(world)
    shutil.rmtree(world.state / "rigup/journal")  # a journal that was emptied begins with 1 again
    other = world.files / "other"
    world.run([quick(other, "x"), {**new_environment(world.environment), "state": "satisfied"}])
    kept = json.loads((world.environment / "rigup.json").read_text())["plan"]
    plan = json.loads(next(world.state.glob("rigup/journal/000001/plan.json")).read_text())
    assert plan["token"] not in kept
    assert world.rigup("undo", "1", "--yes")[0] == 0
    assert (world.environment / "lib/python3/alpha").is_file()


# -- what a folder held ---------------------------------------------------------------------------------

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..") and len(name.encode()) < 200
)


@given(
    left=st.dictionaries(NAMES, st.binary(max_size=20), max_size=6),
    new=st.dictionaries(NAMES, st.binary(max_size=20), max_size=4),
    touched=st.booleans(),
)
def test_exactly_what_differs_is_a_persons(
    tmp_path_factory: pytest.TempPathFactory, left: dict[str, bytes], new: dict[str, bytes], touched: bool
) -> None:
    folder = tmp_path_factory.mktemp("held")
    inner = folder / "tree/inner"
    inner.mkdir(parents=True)
    for name, body in left.items():
        (inner / name).write_bytes(body)
    holdings.keep(folder / "tree", folder / "list")
    for name, body in new.items():
        (inner / name).write_bytes(body)
    if touched:
        for name in left:
            os.utime(inner / name, (1, 1))
    told = holdings.theirs(folder / "tree", folder / "list")
    assert told == sorted(f"inner/{name}" for name, body in new.items() if left.get(name) != body)


@given(st.binary(max_size=60))
def test_a_list_of_nonsense_is_no_list(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    folder = tmp_path_factory.mktemp("nonsense")
    (folder / "list").write_bytes(body)
    assert holdings.theirs(folder, folder / "list") is None


def test_names_that_are_no_text_are_told_too(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    holdings.keep(tree, tmp_path / "list")
    (tree / os.fsdecode(b"caf\xe9")).write_text("x")
    assert holdings.theirs(tree, tmp_path / "list") == [os.fsdecode(b"caf\xe9")]


if __name__ == "__main__":
    killed_undo(Path(sys.argv[1]), int(sys.argv[2]))
