"""`rigup doctor --since-ok` and `rigup diff`: what has changed, in words and as data."""

import json
import shutil
import subprocess

import pytest

from packs import cases, machine_folder
from rigup.cli import run
from rigup.machine import sources

KERNEL = "kernel-module-not-built/break-nvidia-workstation"
TORCH = "cpu-only-torch/break-nvidia-workstation"
CHANGED = {"kind", "subject", "field", "before", "after", "text", "suspect_for"}


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def live(monkeypatch):
    """This machine is the one of a tree."""
    opened = sources.open_source

    def become(path):
        monkeypatch.setattr(sources, "open_source", lambda given: opened(str(path) if given is None else given))

    return become


def broken(name, tmp_path):
    return cases()[name].unpack(tmp_path)


def asked(capsys, *argv):
    status = run(list(argv))
    return status, capsys.readouterr()


def test_the_kernel_that_came_is_the_first_suspect(live, tmp_path, capsys):
    live(machine_folder("nvidia-workstation"))
    assert run(["doctor"]) == 0
    live(broken(KERNEL, tmp_path))
    status, told = asked(capsys, "doctor", "--since-ok")
    assert status == 1
    words = " ".join(told.out.split())
    assert "The running kernel: 6.8.0-49-generic → 6.8.0-51-generic; not built for it: nvidia" in words
    assert words.index("The running kernel:") < words.index("kernel-module-not-built")


def test_it_is_data_too(live, tmp_path, capsys):
    live(machine_folder("nvidia-workstation"))
    run(["doctor"])
    live(broken(TORCH, tmp_path))
    capsys.readouterr()
    _status, told = asked(capsys, "doctor", "--since-ok", "--json")
    since = json.loads(told.out)["since_ok"]
    assert since["recorded_at"].endswith("Z")
    assert since["differences"][0].keys() >= CHANGED
    first = since["differences"][0]
    assert (first["kind"], first["before"], first["after"]) == ("Torch", "2.5.1+cu124", "2.5.1+cpu")
    assert first["suspect_for"][0] == "cpu-only-torch"


def test_without_a_record_it_says_how_one_comes_about(live, capsys):
    live(machine_folder("nvidia-workstation"))
    status, told = asked(capsys, "doctor", "--since-ok")
    assert status == 0
    assert "no record of a healthy state" in told.out
    assert "leaves one" in " ".join(told.out.split())
    assert json.loads(asked(capsys, "doctor", "--since-ok", "--json")[1].out)["since_ok"]["recorded_at"] is None


def test_comparing_leaves_the_record_as_it_is(live, state, capsys):
    live(machine_folder("nvidia-workstation"))
    run(["doctor"])
    before = {path: path.read_bytes() for path in state.rglob("*.json")}
    live(machine_folder("hybrid-laptop"))
    assert asked(capsys, "doctor", "--since-ok")[0] == 0
    assert {path: path.read_bytes() for path in state.rglob("*.json")} == before


def test_a_broken_machine_leaves_no_record(live, state, tmp_path):
    live(broken(KERNEL, tmp_path))
    assert run(["doctor"]) == 1
    assert not list(state.rglob("*.json"))


def test_a_record_of_today_does_not_hide_what_was_before(live, tmp_path, capsys):
    """Somebody runs the plain doctor first, which finds all well because it cannot see the fault."""
    later = tmp_path / "later"
    shutil.copytree(machine_folder("nvidia-workstation"), later, symlinks=True)
    who = json.loads((later / "who.json").read_text())
    (later / "who.json").write_text(json.dumps(who | {"environment": who["environment"] | {"NCCL_DEBUG": "INFO"}}))
    for seen in (machine_folder("nvidia-workstation"), later):
        live(seen)
        assert run(["doctor"]) == 0
    capsys.readouterr()
    told = " ".join(asked(capsys, "doctor", "--since-ok")[1].out.split())
    assert "nothing that rigup sees has changed. What has changed since" in told
    assert "Variable NCCL_DEBUG: new (INFO)" in told
    since = json.loads(asked(capsys, "doctor", "--since-ok", "--json")[1].out)["since_ok"]
    assert [one["subject"] for one in since["differences"]] == ["NCCL_DEBUG"]
    assert since["unchanged_since"] >= since["recorded_at"]


def test_nothing_changed_is_said_calmly(live, capsys):
    live(machine_folder("nvidia-workstation"))
    run(["doctor"])
    capsys.readouterr()
    told = asked(capsys, "doctor", "--since-ok")[1].out
    assert "nothing that rigup sees has changed" in " ".join(told.split())


@pytest.mark.parametrize("more", [["--from", "x"], ["--host", "ada@node"]])
def test_it_is_about_this_machine(more, capsys):
    status, told = asked(capsys, "doctor", "--since-ok", *more)
    assert status == 2
    assert "rigup diff" in " ".join(told.err.split())


def test_a_state_folder_that_cannot_be_written_does_not_fail_the_doctor(live, state):
    state.write_text("in the way")
    live(machine_folder("nvidia-workstation"))
    assert run(["doctor"]) == 0


# -- rigup diff --------------------------------------------------------------------------------------


def test_two_machines_are_compared(tmp_path, capsys):
    healthy, changed = str(machine_folder("nvidia-workstation")), broken(TORCH, tmp_path)
    status, told = asked(capsys, "diff", healthy, changed)
    assert status == 1
    assert "torch in ~/venv: 2.5.1+cu124 → 2.5.1+cpu" in told.out
    status, told = asked(capsys, "diff", healthy, changed, "--json")
    answer = json.loads(told.out)
    assert (answer["schema"], answer["equal"], status) == ("rigup.diff/1", False, 1)
    assert answer["differences"][0].keys() >= CHANGED


def test_equal_machines_leave_status_zero(capsys):
    healthy = str(machine_folder("nvidia-workstation"))
    status, told = asked(capsys, "diff", healthy, healthy)
    assert (status, "equal" in told.out) == (0, True)
    assert json.loads(asked(capsys, "diff", healthy, healthy, "--json")[1].out)["differences"] == []


def test_this_machine_is_called_here(capsys):
    status, _told = asked(capsys, "diff", "here", "here")
    assert status == 0


@pytest.mark.parametrize("name", ["/no/such/thing", "nothing-of-the-kind"])
def test_what_is_not_there_is_status_two(name, capsys):
    status, told = asked(capsys, "diff", name, "here")
    assert status == 2
    assert name in told.err
    assert "USER@NODE" in told.err


def test_a_machine_that_cannot_be_asked_is_status_two(monkeypatch, capsys):
    from rigup.machine.collect import ssh

    def refuse(self, script):
        raise ssh.Failure("unreachable")

    monkeypatch.setattr(ssh.Connection, "trip", refuse)
    status, told = asked(capsys, "diff", "ada@nowhere.example", "here")
    assert status == 2
    assert "could not be reached" in told.err


def test_another_machine_is_asked_by_ssh(monkeypatch, capsys):

    from rigup.machine.collect import ssh

    def trip(self, script):
        return subprocess.run(["sh"], input=script.encode(), capture_output=True, check=False, timeout=100).stdout

    monkeypatch.setattr(ssh.Connection, "trip", trip)
    status, told = asked(capsys, "diff", "ada@here.example", "here", "--json")
    answer = json.loads(told.out)
    assert status in (0, 1)
    assert {"Platform", "Distribution"} <= set(answer["compared"])
    assert not [one for one in answer["differences"] if one["kind"] in ("Platform", "Distribution")]


def test_texts_that_tell_of_other_things_are_not_called_equal(tmp_path, capsys):
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("PATH=/usr/bin\nCUDA_VISIBLE_DEVICES=0\n")
    other.write_text("uid=1000(ada) gid=1000(ada) groups=1000(ada),44(video)\n")
    status, told = asked(capsys, "diff", str(one), str(other))
    assert status == 2
    assert "nothing in common" in " ".join(told.err.split())
