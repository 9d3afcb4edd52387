"""`rigup launch --here`: torchrun on this machine, from a good end to a bad one; and what no command line may do."""

import json
import os
import shlex
import signal

import pytest
from launching import BOUND, Folder, is_alive, torch_python

pytestmark = pytest.mark.torch
HERE = ("--here", "--tasks", "2")


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path / "a project", dict(os.environ))


def test_two_ranks_of_this_machine(folder):
    done, answer = folder.launch(folder.program("plain_ddp.py"), str(folder.path), "4", *HERE, "--python", torch_python())
    assert (done.returncode, answer["state"], answer["exit"], answer["job"]) == (0, "completed", 0, None), done.stderr
    assert sorted(number for rank in folder.ranks() for number in rank["seen"]) == list(range(64))
    assert {check["check"] for check in answer["preflight"] if check["passed"]} >= {"all-reduce", "port-answers"}


def test_a_failing_rank_of_this_machine_is_told_of(folder):
    program = folder.program("fails.py", "import os, time\nif os.environ['RANK'] == '1':\n    raise KeyError('label')\ntime.sleep(600)\n")
    done, answer = folder.launch(program, *HERE, "--python", torch_python())
    assert (done.returncode, answer["state"], answer["failing"]["rank"], answer["failing"]["exit"]) == (1, "failed", 1, 1)
    lines = answer["failing"]["error"].splitlines()
    assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", "KeyError: 'label'")
    assert len([line for line in lines if line.startswith("  File ")]) == 1, "none of the calls are rigup's own"


def test_a_stop_ends_every_rank(folder):
    program = folder.program("waits.py", "import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(600)\n")
    ranks = []
    with folder.following(program, *HERE, "--python", torch_python()) as running:
        while len(ranks) < 2:
            line = running.stdout.readline()
            assert line
            ranks += [int(line.split()[-1])] if "pid" in line.split(":")[-1].split()[:1] else []
        running.send_signal(signal.SIGTERM)
        _rest, errors = running.communicate(timeout=BOUND)
    assert running.returncode == 128 + signal.SIGTERM
    assert "all of its ranks have ended" in errors
    assert not any(is_alive(rank) for rank in ranks)


def test_nothing_is_written_where_it_is_only_printed(folder):
    done = folder.rigup("launch", folder.program("a.py", "1\n"), "--lr", "1", *HERE, "--print", "--", "--nodes", "7")
    assert done.returncode == 0
    assert shlex.split(done.stdout)[-5:] == [str(folder.path / "a.py"), "--lr", "1", "--nodes", "7"]
    assert os.listdir(folder.path) == ["a.py"]
    answer = json.loads(folder.rigup("launch", "a.py", *HERE, "--print", "--json").stdout)
    assert (answer["state"], answer["numbers"]["world_size"]) == ("written", 2)
