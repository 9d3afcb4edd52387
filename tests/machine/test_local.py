"""This machine: what hangs, chatters or is missing is an answer."""

import os
import platform
import sys
import threading

import pytest

from rigup.machine import folders
from rigup.machine.local import Local

PYTHON = sys.executable
HOST = Local()


def test_on_windows_paths_lie_on_the_systems_drive(monkeypatch):
    monkeypatch.setenv("SYSTEMDRIVE", "D:")
    assert Local().root == ("D:" if os.name == "nt" else "")
    monkeypatch.setattr("rigup.machine.local.os.name", "nt")
    assert (Local().root, Local("E:").root) == ("D:", "E:")


def test_a_missing_program_is_an_answer():
    assert HOST.run(("no-such-program-anywhere",)).state == "absent"


def test_an_odd_exit_status_keeps_the_output():
    answer = HOST.run((PYTHON, "-c", "print('table'); raise SystemExit(14)"))
    assert (answer.body, answer.exit) == ("table\n", 14)


def test_a_hanging_program_is_ended():
    answer = HOST.run((PYTHON, "-c", "import time; time.sleep(60)"), seconds=0.3)
    assert (answer.body, answer.state, answer.exit) == (None, "refused", 124)


def test_a_hanging_programs_child_is_ended_with_it():
    child = "import subprocess, time; subprocess.Popen(['sleep', '60']); time.sleep(60)"
    before = threading.active_count()
    assert HOST.run((PYTHON, "-c", child), seconds=0.5).state == "refused"
    assert threading.active_count() <= before


def test_a_chattering_program_is_cut():
    answer = HOST.run((PYTHON, "-c", "import sys\nwhile True: sys.stdout.write('y' * 65536)"), seconds=20)
    assert answer.body is not None
    assert len(answer.body) == 5_000_000


def test_programs_speak_english_and_ask_nothing():
    script = "import os, sys; print(os.environ['LC_ALL'], sys.stdin.read() == '')"
    assert HOST.run((PYTHON, "-c", script)).body == "C True\n"


def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert HOST.read(str(tmp_path / "pipe")).state == "refused"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_refused(tmp_path):
    (tmp_path / "secret").write_text("x")
    (tmp_path / "secret").chmod(0)
    assert HOST.read(str(tmp_path / "secret")).state == "refused"


def test_undecodable_bytes_do_no_harm(tmp_path):
    (tmp_path / "odd").write_bytes(b"a\xff\xfeb")
    assert HOST.read(str(tmp_path / "odd")).body == "a\ufffd\ufffdb"


def test_what_is_not_there_is_absent():
    assert HOST.read("/no/such/path").state == "absent"
    assert HOST.listing("/no/such/*").state == "absent"


def test_a_setting_of_the_kernel_is_read():
    """The kernel refuses to hand one out to who asks for megabytes at once."""
    if not os.path.exists("/proc/sys/kernel/osrelease"):
        pytest.skip("only Linux has settings as files")
    assert Local().read("/proc/sys/kernel/osrelease").body.strip() == platform.release()


def test_what_a_listing_lacks_is_not_asked_for_where_nothing_changes(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("said")
    still, moving = Local(str(tmp_path), still=True), Local(str(tmp_path))
    for host in (still, moving):
        assert host.find("/there/*") == ["/there/file"]
        assert host.read("/there/file").body == "said"
        assert host.read("/there/other").state == "absent"
        assert host.find("/nowhere/*/deeper") == []
        assert host.read("/nowhere/at/all").state == "absent"
    (tmp_path / "there" / "other").write_text("came later")
    (tmp_path / "nowhere" / "at").mkdir(parents=True)
    (tmp_path / "nowhere" / "at" / "all").write_text("came later")
    assert [moving.read(path).body for path in ("/there/other", "/nowhere/at/all")] == ["came later"] * 2
    if sys.platform == "linux":
        assert [still.read(path).state for path in ("/there/other", "/nowhere/at/all")] == ["absent"] * 2


def test_where_folders_appear_when_somebody_goes_there_their_names_are_asked_for(tmp_path, monkeypatch):
    mounts = tmp_path / "mounts"
    mounts.write_text("auto.sw /software autofs rw 0 0\nproc /proc proc rw 0 0\n")
    monkeypatch.setattr(folders, "_MOUNTS", str(mounts))
    listed = []
    shown = folders.Folders(lambda folder: listed.append(folder) or ["software", "opt"], still=True)
    assert not shown.lacks("/software/cuda/bin")
    assert shown.lacks("/opt/cuda/bin")
    assert listed == ["", "/opt"]
