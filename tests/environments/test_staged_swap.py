"""Environments are made beside and take their place at one moment, wherever a process is killed."""

import csv
import hashlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.environments import exchange, record, staged_swap
from rigup.plan.environments.cloning import unshare
from rigup.plan.environments.conda_prefix import in_library
from rigup.plan.environments.relocating import relocate
from rigup.plan.environments.shebang import head, scripted
from tiny_environments import digest, install, make_venv, says

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links and shebangs of POSIX")
NAMES = ["env", "my env", "umgebung-ä", "среда 环境", "it's", "100% $HOME`x`", "a" * 100]


def folder_of(path: Path, word: str) -> Path:
    path.mkdir()
    (path / "who").write_text(word)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_a_clone_works_at_its_own_path(made, tmp_path, name):
    target = tmp_path / name
    staged_swap.clone(made, target)
    assert says(target / "bin" / "stone") == "stone 1.0"
    assert says(target / "bin" / "python", "-c", "import sys; print(sys.prefix)") == str(target)
    assert says(target / "bin" / "pip", "--version").split(" from ")[1].startswith(str(target))
    shown = says(Path("/bin/sh"), "-c", '. "$1/bin/activate"; printf "%s" "$VIRTUAL_ENV"; command -v stone', "sh", str(target))
    assert shown == str(target) + str(target / "bin" / "stone")


UV = shutil.which("uv") or shutil.which("uv", path=os.path.dirname(sys.executable))
ACTIVATE = {
    "bash": ["bash", "-c", '. "$1/bin/activate"; command -v stone', "x"],
    "zsh": ["zsh", "-fc", '. "$1/bin/activate"; command -v stone', "x"],
    "fish": ["fish", "--no-config", "-c", "source $argv[1]/bin/activate.fish; command -v stone"],
    "csh": ["tcsh", "-f", "-c", 'source "$X/bin/activate.csh"; which stone'],
}


@pytest.mark.skipif(not UV, reason="uv is not installed")
@pytest.mark.parametrize("name", ["env", "my env", "среда 环境", "it's", "a" * 110])
def test_an_environment_of_uv_works_where_it_was_put(wheels, tmp_path, tmp_path_factory, name):
    path = tmp_path / name
    built = staged_swap.staging(path)
    subprocess.run([UV, "venv", "-q", str(built)], check=True, timeout=60)
    told = [UV, "pip", "install", "-q", "--offline", "--no-index", "--find-links", str(wheels), "--python", str(built / "bin" / "python")]
    subprocess.run([*told, "stone==1.0"], check=True, timeout=60)
    relocate(built, built, path)
    staged_swap.swap(built, path)
    assert says(path / "bin" / "stone") == "stone 1.0"
    env = {**os.environ, "X": str(path), "HOME": str(tmp_path_factory.mktemp("home"))}
    for words in ACTIVATE.values():
        if shutil.which(words[0]):
            assert says(shutil.which(words[0]), *words[1:], str(path), env=env) == str(path / "bin" / "stone"), words[0]


def test_a_clone_names_the_old_path_nowhere_that_programs_look(made, tmp_path):
    target = tmp_path / "other"
    staged_swap.clone(made, target)
    for path in [*target.glob("bin/*"), target / "pyvenv.cfg"]:
        if not path.is_symlink():
            assert os.fsencode(made) + b"/" not in path.read_bytes(), path


def test_a_clone_takes_no_room_for_large_libraries_and_leaves_the_first_alone(made, tmp_path):
    first = tmp_path / "first"  # `made` is of all workers: what one puts there, another sees come and go
    staged_swap.clone(made, first)
    library = first / "lib" / "big.so"
    library.write_bytes(b"\x7fELF" + bytes(2_000_000))
    target = tmp_path / "other"
    before = {path: path.read_bytes() for path in first.rglob("*") if path.is_file() and not path.is_symlink()}
    staged_swap.clone(first, target)
    assert os.path.samefile(target / "lib/big.so", library) or not exchange_shares(tmp_path)
    for path in target.rglob("*"):  # every file is written in place, as editors and `patch` do
        if path.is_file() and not path.is_symlink() and path.suffix not in (".pyc", ".so"):
            path.chmod(0o644)
            with open(path, "ab") as file:
                file.write(b"edited")
    assert all(path.read_bytes() == body for path, body in before.items())


def test_two_environments_of_one_installers_cache_share_nothing_that_people_edit(tmp_path):
    cache, env = tmp_path / "cache", tmp_path / "env"
    cache.mkdir()
    env.mkdir()
    for name, body in {"a.py": b"x = 1\n", "big.so": b"\x7fELF" + bytes(1_500_000), "big.txt": bytes(1_500_000)}.items():
        (cache / name).write_bytes(body)
        os.link(cache / name, env / name)
    (env / "link").symlink_to("a.py")
    unshare(env)
    assert {name: os.path.samefile(cache / name, env / name) for name in os.listdir(cache)} == {
        "a.py": False,
        "big.so": True,
        "big.txt": False,
    }
    assert (env / "a.py").read_bytes() == b"x = 1\n"
    assert sorted(os.listdir(env)) == ["a.py", "big.so", "big.txt", "link"]


def test_a_sweep_removes_what_was_half_made_and_keeps_what_undo_needs(tmp_path):
    names = [".env.rigup-new", ".env.rigup-old-gone-20260101T000000-abc", ".env.rigup-old-000002-ab", ".other.rigup-new"]
    for name in [*names, "..env.rigup-old-000002-ab.rigup-new", "env"]:
        (tmp_path / name).mkdir()
    staged_swap.sweep(tmp_path / "env")
    assert sorted(os.listdir(tmp_path)) == [".env.rigup-old-000002-ab", ".other.rigup-new", "env"]


def exchange_shares(folder: Path) -> bool:
    """Whether files are linked here: a file system with copies of its own makes them instead."""
    (folder / "one").write_text("x")
    return not exchange.share(folder / "one", folder / "two")


def test_a_package_that_is_replaced_in_a_clone_stays_in_the_first(made, wheels, tmp_path):
    target = tmp_path / "other"
    staged_swap.clone(made, target)
    install(target, wheels, "stone==1.1")
    assert says(target / "bin" / "stone") == "stone 1.1"
    assert says(made / "bin" / "stone") == "stone 1.0"


def test_records_of_packages_tell_the_hash_of_what_was_written(made, tmp_path):
    target = tmp_path / "a longer name than before"
    staged_swap.clone(made, target)
    checked = 0
    for file in target.glob("lib/python*/site-packages/*.dist-info/RECORD"):
        for name, told, size in csv.reader(file.read_text().splitlines()):
            path = file.parent.parent / name
            if told and "../bin/" in name:
                assert (told, int(size)) == (digest(path.read_bytes()), path.stat().st_size)
                checked += 1
    assert checked >= 3


def test_the_prompt_of_what_was_made_beside_is_the_environments(tmp_path):
    path = tmp_path / ".venv"
    built = staged_swap.staging(path)
    make_venv(built, pip=False)
    relocate(built, built, path)
    assert staged_swap.swap(built, path) is None
    shown = says(Path("/bin/sh"), "-c", 'PS1="> "; . "$1/bin/activate"; printf "%s" "$PS1"', "sh", str(path))
    assert ".venv)" in shown
    assert "rigup-new" not in "".join(file.read_text() for file in path.glob("bin/activate*")) + (path / "pyvenv.cfg").read_text()


def test_to_relocate_again_changes_nothing(made, tmp_path):
    target = tmp_path / "twice"
    staged_swap.clone(made, target)
    assert relocate(target, made, target) == []


def test_a_neighbour_whose_name_begins_alike_is_left_alone(tmp_path):
    env, near = tmp_path / "env", tmp_path / "env-2"
    (env / "bin").mkdir(parents=True)
    (env / "bin" / "tool").write_text(f"{near}/x {env}/y {tmp_path}/env.bak '{env}'\n")
    relocate(env, env, tmp_path / "new")
    assert (env / "bin" / "tool").read_text() == f"{near}/x {tmp_path}/new/y {tmp_path}/env.bak '{tmp_path}/new'\n"


def test_links_into_the_environment_follow_it_and_others_stay(tmp_path):
    env = tmp_path / "env"
    env.mkdir()
    (env / "inside").symlink_to(env / "lib")
    (env / "outside").symlink_to("/usr/bin/env")
    (env / "near").symlink_to(str(env) + "-2/lib")
    relocate(env, env, tmp_path / "new")
    led = {name: os.readlink(env / name) for name in ("inside", "outside", "near")}
    assert led == {"inside": str(tmp_path / "new" / "lib"), "outside": "/usr/bin/env", "near": str(env) + "-2/lib"}


def test_nothing_outside_is_written_wherever_links_and_lists_lead(tmp_path):
    env, outside = tmp_path / "env", tmp_path / "outside"
    (env / "conda-meta").mkdir(parents=True)
    outside.mkdir()
    (outside / "profile").write_text(f"PATH={env}/bin\n")
    (env / "bin").symlink_to(outside)
    (env / "etc").mkdir()
    (env / "etc" / "profile").symlink_to(outside / "profile")
    rows = [
        {"_path": name, "prefix_placeholder": "/x" * 50, "file_mode": "text"}
        for name in ("bin/profile", "../outside/profile", str(outside / "profile"))
    ]
    (env / "conda-meta" / "evil-1-0.json").write_text(json.dumps({"paths_data": {"paths": [*rows, 3, {"_path": 4}]}}))
    relocate(env, env, tmp_path / "new")
    assert (outside / "profile").read_text() == f"PATH={env}/bin\n"
    assert [one.name for one in outside.iterdir()] == ["profile"]


@given(
    st.binary(max_size=300),
    st.sampled_from(["activate", "activate.fish", "activate.csh", "activate.nu", "tool", "kernel.json", "pyvenv.cfg"]),
)
def test_no_file_makes_it_fail(tmp_path_factory, data, name):
    folder = tmp_path_factory.getbasetemp() / "any-environment"
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    (folder / "bin" / name).write_bytes(data + os.fsencode(folder) + data)
    relocate(folder, folder, tmp_path_factory.getbasetemp() / "other's")
    (folder / "bin" / name).unlink()


def test_a_kernel_of_jupyter_names_the_new_path_in_whatever_letters(tmp_path):
    env, new = tmp_path / "ümläut", tmp_path / "ещё"
    kernel = env / "share" / "jupyter" / "kernels" / "x" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps({"argv": [str(env / "bin" / "python"), "-m", "x"]}))
    relocate(env, env, new)
    assert json.loads(kernel.read_text())["argv"][0] == str(new / "bin" / "python")


def test_modes_and_times_are_kept(tmp_path):
    env = tmp_path / "env"
    (env / "lib").mkdir(parents=True)
    (env / "lib" / "module.py").write_text("x = 1\n")
    os.chmod(env / "lib" / "module.py", 0o640)
    os.utime(env / "lib" / "module.py", (1_000_000, 1_000_000))
    os.chmod(env / "lib", 0o750)
    staged_swap.clone(env, tmp_path / "two", copy=True)
    told = (tmp_path / "two" / "lib" / "module.py").stat()
    assert (stat.S_IMODE(told.st_mode), told.st_mtime, told.st_nlink) == (0o640, 1_000_000, 1)
    assert stat.S_IMODE((tmp_path / "two" / "lib").stat().st_mode) == 0o750


@pytest.mark.parametrize("inner", ["inside", "inside/deeper"])
def test_an_environment_is_not_cloned_into_itself(tmp_path, inner):
    env = folder_of(tmp_path / "env", "x")
    with pytest.raises(ValueError, match="inside one another"):
        staged_swap.clone(env, env / inner)
    assert [path.name for path in env.iterdir()] == ["who"]


# -- taking a place ----------------------------------------------------------------------------------


def test_a_swap_keeps_the_old_one_and_swapping_back_brings_it_again(tmp_path):
    path = folder_of(tmp_path / "env", "old")
    held = staged_swap.swap(folder_of(staged_swap.staging(path), "new"), path, "p1")
    assert held == tmp_path / ".env.rigup-old-p1"
    assert ((path / "who").read_text(), (held / "who").read_text()) == ("new", "old")
    assert not list(path.glob(".rigup*"))
    newer = staged_swap.swap_back(path, held)
    assert ((path / "who").read_text(), (newer / "who").read_text()) == ("old", "new")


def test_what_was_new_is_gone_when_a_first_swap_is_taken_back(tmp_path):
    path = tmp_path / "env"
    assert staged_swap.swap(folder_of(staged_swap.staging(path), "new"), path) is None
    newer = staged_swap.swap_back(path, None, "p1")
    assert not path.exists()
    assert (newer / "who").read_text() == "new"
    assert staged_swap.swap_back(path, None) is None


def test_a_swap_through_a_link_changes_the_folder_and_not_the_link(tmp_path):
    (tmp_path / "disk").mkdir()
    folder_of(tmp_path / "disk" / "real", "old")
    link = tmp_path / "env"
    link.symlink_to(tmp_path / "disk" / "real")
    held = staged_swap.swap(folder_of(staged_swap.staging(link), "new"), link)
    assert link.is_symlink()
    assert (link / "who").read_text() == "new"
    assert held.parent == tmp_path / "disk"


def test_a_place_that_is_taken_already_is_not_written_over(tmp_path):
    path = folder_of(tmp_path / "env", "old")
    folder_of(staged_swap.aside(path, "p1"), "older")
    built = folder_of(staged_swap.staging(path), "new")
    with pytest.raises(FileExistsError):
        staged_swap.swap(built, path, "p1")
    assert ((path / "who").read_text(), (built / "who").read_text()) == ("old", "new")


@pytest.mark.parametrize("ident", ["../x", "", "a/b", ".hidden", "x" * 81, "a b", "a\nb", "x.was"])
def test_an_id_that_is_no_part_of_a_name_is_refused(tmp_path, ident):
    with pytest.raises(ValueError, match="file's name"):
        staged_swap.aside(tmp_path / "env", ident)


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_swap_works_where_two_names_cannot_change_places(tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr(staged_swap, "exchange", lambda one, other: False)
    path = folder_of(tmp_path / "env", "old")
    held = staged_swap.swap(folder_of(staged_swap.staging(path), "new"), path)
    assert ((path / "who").read_text(), (held / "who").read_text()) == ("new", "old")
    assert sorted(one.name for one in tmp_path.iterdir()) == [held.name, "env"]


SWAPPER = """
import os, signal, sys
from pathlib import Path
from rigup.plan.environments import staged_swap, exchange

path, at, exchanges = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
calls = 0

def counted(name, module):
    real = getattr(module, name)
    def wrapped(*given, **more):
        global calls
        calls += 1
        if calls == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given, **more)
    setattr(module, name, wrapped)

counted("rename", os)
counted("exchange", staged_swap)
counted("settle_names", staged_swap)
counted("unlink", Path)
counted("write_text", Path)
counted("replace", os)
def of_an_image(one, other):
    if os.path.lexists(path / "layer"):
        raise OSError(18, "in a layer")
    return rename(one, other)

rename = os.rename
if exchanges == "no":
    staged_swap.exchange = lambda one, other: False
if exchanges == "image":
    (path / "layer").touch()
    staged_swap.exchange = of_an_image
staged_swap.swap(staged_swap.staging(path), path, "p1")
print("done")
"""


@pytest.mark.parametrize("exchanges", ["yes", "no", "image"])
def test_a_swap_killed_at_any_moment_leaves_one_whole_environment(tmp_path, exchanges):
    """Under the path lies the old one or the new one, whole; after `recover` everything has its place."""
    seen = set()
    for at in range(1, 18):
        place = tmp_path / str(at)
        place.mkdir()
        path = folder_of(place / "env", "old")
        folder_of(staged_swap.staging(path), "new")
        command = [sys.executable, "-c", SWAPPER, str(path), str(at), exchanges]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == -signal.SIGKILL or done.stdout == "done\n", done.stderr
        if exchanges == "yes":
            assert (path / "who").read_text() in ("old", "new")
        held = staged_swap.recover(path)
        now = (path / "who").read_text()
        seen.add(now)
        other = next(one for one in (staged_swap.aside(path, "p1"), staged_swap.staging(path)) if one.exists())
        assert held in (None, other)
        assert (other / "who").read_text() == ("new" if now == "old" else "old")
        assert sorted(one.name for one in place.iterdir()) == sorted((other.name, "env"))
        assert not list(place.rglob(".rigup-swapping"))
    assert seen == {"old", "new"}


def test_a_swap_killed_at_any_time_by_somebody_else(tmp_path):
    """The same from outside, at moments that nobody has chosen."""
    path = folder_of(tmp_path / "env", "old")
    forever = textwrap.dedent("""
        import sys
        from pathlib import Path
        from rigup.plan.environments import staged_swap
        path = Path(sys.argv[1])
        held = staged_swap.recover(path) or next(iter(staged_swap.leftovers(path.parent)))
        print("go", flush=True)
        while True:
            held = staged_swap.swap_back(path, held)
    """)
    folder_of(staged_swap.staging(path), "new")
    staged_swap.swap(staged_swap.staging(path), path, "p1")
    for number in range(12):
        child = subprocess.Popen([sys.executable, "-c", forever, str(path)], stdout=subprocess.PIPE, text=True)
        assert child.stdout.readline() == "go\n"
        try:
            child.wait(timeout=0.002 * number)
        except subprocess.TimeoutExpired:
            child.kill()
        child.wait()
        child.stdout.close()
        assert (path / "who").read_text() in ("old", "new")
        staged_swap.recover(path)
        there = sorted((one / "who").read_text() for one in tmp_path.iterdir())
        assert there == ["new", "old"]


@pytest.mark.parametrize("after", [0.0, 0.05, 0.15, 0.3])
def test_a_clone_that_is_killed_leaves_the_first_whole_and_nothing_in_its_place(made, tmp_path, after):
    # Byte code is written there by whoever runs this Python at the same time.
    before = {path: path.stat().st_ino for path in made.rglob("*") if path.is_file() and path.parent.name != "__pycache__"}
    code = (
        "import sys; from pathlib import Path; from rigup.plan.environments import staged_swap; print('go', flush=True); "
        "source, path = map(Path, sys.argv[1:]); staged_swap.clone(source, staged_swap.staging(path)); "
        "staged_swap.swap(staged_swap.staging(path), path)"
    )
    path = tmp_path / "env"
    child = subprocess.Popen([sys.executable, "-c", code, str(made), str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "go\n"
    try:
        child.wait(timeout=after)
    except subprocess.TimeoutExpired:
        child.kill()
    child.wait()
    child.stdout.close()
    assert {one: one.stat().st_ino for one in before} == before
    assert says(made / "bin" / "stone") == "stone 1.0"
    left = staged_swap.leftovers(tmp_path)
    assert path.exists() != bool(left) or not (path.exists() or left)
    for one in left:
        staged_swap.discard(one)
    assert [one.name for one in tmp_path.iterdir()] == (["env"] if path.exists() else [])


def test_to_recover_where_nothing_was_cut_off_does_nothing(tmp_path):
    path = folder_of(tmp_path / "env", "old")
    assert staged_swap.recover(path) is None
    assert staged_swap.recover(tmp_path / "nowhere") is None
    assert [one.name for one in tmp_path.iterdir()] == ["env"]


@pytest.mark.parametrize("mark", ["", "../../x\n../y\n", "\0\n", "x" * 5000, ".env.rigup-old-p1/../x\n"])
def test_a_mark_that_somebody_else_wrote_moves_nothing(tmp_path, mark):
    path = folder_of(tmp_path / "env", "old")
    (path / ".rigup-swapping").write_text(mark)
    assert staged_swap.recover(path) is None
    assert sorted(one.name for one in tmp_path.iterdir()) == ["env"]
    assert (path / "who").read_text() == "old"


def test_a_mark_that_was_cut_off_while_it_was_written_renames_nothing(tmp_path):
    """A kill between the opening of the file and its first byte, on the way back from a swap."""
    path = folder_of(tmp_path / "env", "old")
    held = staged_swap.swap(folder_of(staged_swap.staging(path), "new"), path, "p1")
    (held / ".rigup-swapping").touch()
    assert staged_swap.recover(path) is None
    assert (held / "who").read_text() == "old"
    newer = staged_swap.swap_back(path, held)
    assert ((path / "who").read_text(), (newer / "who").read_text()) == ("old", "new")
    assert not list(tmp_path.rglob(".rigup-swapping*"))


def test_what_is_removed_is_gone_at_one_moment_though_it_may_not_be_written(tmp_path):
    env = folder_of(tmp_path / "env", "x")
    (env / "lib").mkdir()
    (env / "lib" / "file").write_text("x")
    os.chmod(env / "lib", 0o500)
    staged_swap.discard(env)
    assert list(tmp_path.iterdir()) == []


def test_leftovers_are_folders_with_our_names_and_no_others(tmp_path):
    for name in (".env.rigup-new", ".env.rigup-old-p1", ".env.rigup-newer", "env.rigup-new", ".rigup-new", ".x.rigup-old-"):
        (tmp_path / name).mkdir()
    (tmp_path / ".file.rigup-new").write_text("")
    (tmp_path / ".link.rigup-new").symlink_to(tmp_path)
    assert [one.name for one in staged_swap.leftovers(tmp_path)] == [".env.rigup-new", ".env.rigup-old-p1"]
    assert staged_swap.leftovers(tmp_path / "nowhere") == []


# -- first lines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"#!/old/bin/python\n",
        b"#!/old/bin/python3.11 -E\n",
        b'#!"/old/bin/python"\n',
        b"#!/bin/sh\n'''exec' \"/old/bin/python\" \"$0\" \"$@\"\n' '''\n",
        b"#!/bin/sh\n'''exec' /old/bin/python \"$0\" \"$@\"\n' '''\n",
        b"#!/bin/sh\n'''exec' '/old/bin/python' \"$0\" \"$@\"\n' '''\n",
    ],
)
def test_an_interpreter_is_renamed_in_every_form(line):
    told = scripted(line + b"code\n", b"/old", b"/new")
    assert told.startswith(b"#!/new/bin/python")
    assert told.endswith(b"\ncode\n")


@pytest.mark.parametrize("line", [b"#!/usr/bin/env python\n", b"#!/older/bin/python\n", b"\x7fELF", b"", b"#!/old"])
def test_other_programs_stay_as_they_are(line):
    assert scripted(line, b"/old", b"/new") == line


@given(st.binary(max_size=300))
def test_no_script_makes_it_fail(data):
    scripted(b"#!" + data, b"/old", b"/new")
    scripted(b"#!/old/" + data, b"/old", b"/new")


def test_a_long_or_odd_path_is_started_by_a_shell():
    assert head(b"/x/" + b"a" * 200).startswith(b"#!/bin/sh\n")
    assert head(b"/x y/python").startswith(b"#!/bin/sh\n")
    assert head(b"/x/python", b"-E") == b"#!/x/python -E\n"


# -- conda's libraries -------------------------------------------------------------------------------


def test_a_library_keeps_its_length_and_what_stands_behind():
    room = 60
    data = b"head\0" + b"/old/env/lib:/old/env/x".ljust(2 * room + 7, b"\0") + b"\0tail /old/env\0" + b"\0" * room + b"end"
    told = in_library(data, b"/old/env", b"/a/much/longer/place/env", room)
    assert len(told) == len(data)
    assert told.count(b"/a/much/longer/place/env") == 3
    assert told.index(b"\0tail") == data.index(b"\0tail")
    assert told.endswith(b"end")


def test_a_path_longer_than_its_room_is_refused():
    with pytest.raises(ValueError, match="shorter path"):
        in_library(b"/old/env\0\0", b"/old/env", b"/" + b"n" * 100, 50)
    with pytest.raises(ValueError, match="shorter path"):
        in_library(b"/old/env\0x", b"/old/env", b"/longer/env", 50)


# -- the record --------------------------------------------------------------------------------------


def test_a_record_is_read_as_it_was_written(tmp_path):
    told = record.Record(wish=("torch",), packages={"torch": "2.9.1"}, variables={"HSA_OVERRIDE_GFX_VERSION_1": "10.3.0"}, plan="p1")
    record.write(tmp_path, told)
    read = record.read(tmp_path)
    assert (read.packages, read.variables, read.plan) == (told.packages, told.variables, "p1")
    assert read.made_at.endswith("Z")
    assert [one.name for one in tmp_path.iterdir()] == ["rigup.json"]
    assert record.read(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    "name", ["LD_PRELOAD", "ld_preload", "PYTHONPATH", "PYTHONSTARTUP", "PATH", "BASH_ENV", "A B", "", "X=Y", "DYLD_INSERT_LIBRARIES"]
)
def test_a_variable_of_too_much_power_is_neither_written_nor_read(tmp_path, name):
    with pytest.raises(ValueError, match="may not set"):
        record.write(tmp_path, record.Record(variables={name: "x"}))
    (tmp_path / "rigup.json").write_text(json.dumps({"schema": record.SCHEMA, "variables": {name: "x", "OMP_NUM_THREADS": "8"}}))
    os.chmod(tmp_path / "rigup.json", 0o644)
    told, fault = record.looked_at(tmp_path)
    assert told.variables == {"OMP_NUM_THREADS": "8"}
    assert "passed by" in fault


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}x",
        b"\xff",
        b"{" * 100_000,
        b'{"schema": "other/1"}',
        b'{"schema": "rigup.environment/1", "wish": 3}',
        b'{"schema": "rigup.environment/1", "python": "\\u001b[2J"}',
        b'{"schema": "rigup.environment/1", "wish": ["' + b"x" * 5000 + b'"]}',
    ],
)
def test_a_hostile_record_is_named_and_passed_by(tmp_path, body):
    (tmp_path / "rigup.json").write_bytes(body)
    os.chmod(tmp_path / "rigup.json", 0o644)
    told, fault = record.looked_at(tmp_path)
    assert told is None
    assert "rigup.json" in fault


def test_a_record_that_everybody_may_write_is_not_believed(tmp_path):
    record.write(tmp_path, record.Record())
    os.chmod(tmp_path / "rigup.json", 0o666)
    assert record.looked_at(tmp_path)[0] is None


def test_a_pipe_in_place_of_a_record_waits_for_nobody(tmp_path):
    os.mkfifo(tmp_path / "rigup.json", 0o644)
    assert record.looked_at(tmp_path)[0] is None


@given(st.binary(max_size=400))
def test_no_record_makes_it_fail(tmp_path_factory, data):
    folder = tmp_path_factory.getbasetemp() / "records" / hashlib.sha256(data).hexdigest()[:2]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rigup.json").write_bytes(data)
    record.looked_at(folder)
