"""Processes that are read sample after sample: by a file that stays open, each known as long as it runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.watch import files
from rigup.watch.files import LiveFiles
from rigup.watch.processes import Programs, parse_stat
from rigup.watch.tree_files import TreeFiles

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def stat(pid: int = 7, began: int = 500, used: int = 100, name: str = "python") -> str:
    """A file as proc_pid_stat(5) has it."""
    return f"{pid} ({name}) S 1 7 7 0 -1 4194304 1 0 0 0 {used} 0 0 0 20 0 1 0 {began} 1000 250 18446744073709551615 1\n"


def test_fields_stand_behind_a_name_that_holds_brackets() -> None:
    fields = parse_stat(stat(name="a) S 9 (b").encode())
    assert (fields.parent, fields.used, fields.began, fields.rss, fields.name) == (1, 100, 500, 250, b"a) S 9 (b")


@given(st.binary(max_size=400))
def test_any_other_text_is_refused(content: bytes) -> None:
    try:
        fields = parse_stat(content)
    except ValueError:
        return
    assert all(isinstance(field, int) for field in fields[:4])


def test_a_number_that_was_given_again_is_another_process(tmp_path: Path) -> None:
    folder = tmp_path / "proc/7"
    folder.mkdir(parents=True)
    programs = Programs(TreeFiles(str(tmp_path)))
    (folder / "stat").write_text(stat())
    (folder / "cmdline").write_bytes(b"python\0old.py\0")
    first = programs.now(7, 1.0)
    assert (first.words["command"], first.cpu) == ("python old.py", None)
    (folder / "stat").write_text(stat(used=100 + os.sysconf("SC_CLK_TCK")))
    assert programs.now(7, 3.0).cpu == pytest.approx(0.5)
    (folder / "stat").write_text(stat(began=900))
    (folder / "cmdline").write_bytes(b"python\0new.py\0")
    again = programs.now(7, 4.0)
    assert (again.words["command"], again.cpu) == ("python new.py", None)
    (folder / "stat").write_text("nonsense")
    assert programs.now(7, 5.0) is None


def open_files() -> set[str]:
    """What this process has open of processes' files."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except FileNotFoundError:
            continue  # the folder's own, that was read
        if target.startswith("/proc/") and target.endswith("/stat"):
            found.add(target)
    return found


@on_linux
@pytest.mark.parametrize("kept", [512, 0])
def test_a_process_that_ended_is_gone_and_its_file_closed(monkeypatch: pytest.MonkeyPatch, kept: int) -> None:
    monkeypatch.setattr(files, "_MOST_KEPT", kept)
    before, programs = open_files(), Programs(LiveFiles())
    with subprocess.Popen(["sleep", "600"]) as sleeper:
        try:
            assert programs.now(sleeper.pid, 1.0) is not None
            assert programs.now(sleeper.pid, 2.0).cpu is not None
            assert open_files() - before == ({f"/proc/{sleeper.pid}/stat"} if kept else set())
        finally:
            sleeper.kill()
    assert programs.now(sleeper.pid, 3.0) is None
    assert open_files() == before


@on_linux
def test_a_process_that_ends_between_opening_and_reading_leaves_no_file_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_words: object) -> bytes:
        raise ProcessLookupError

    before = open_files()
    monkeypatch.setattr(files._Kept, "read", gone)
    assert Programs(LiveFiles()).now(os.getpid(), 1.0) is None
    assert open_files() == before


@on_linux
def test_files_of_processes_that_are_no_more_asked_for_are_closed() -> None:
    before, programs = open_files(), Programs(LiveFiles())
    assert programs.now(os.getpid(), 1.0) is not None
    programs.next([os.getpid()])
    assert programs.now(os.getpid(), 2.0).cpu is not None
    programs.next(())
    assert open_files() == before
