"""`rigup launch --hosts` over a real sshd: ranks of two hosts meet, and what fails on one ends the other."""

import os

import pytest
from launching import Folder, torch_python

from loopback_ssh import daemon, free_port  # noqa: F401

pytestmark = pytest.mark.torch


@pytest.fixture
def folder(daemon, tmp_path) -> Folder:  # noqa: F811
    """Two hosts, both of which are this machine."""
    daemon.renew()
    daemon.add("node8")
    environment = dict(os.environ) | {"PATH": f"{daemon.folder}/client:{os.environ['PATH']}"}
    return Folder(tmp_path / "a project", environment)


def words() -> tuple[str, ...]:
    return ("--hosts", "node7,node8", "--address", "127.0.0.1", "--port", str(free_port()), "--python", torch_python())


def test_ranks_of_two_hosts_train_together(folder):
    done, told = folder.launch(folder.program("plain_ddp.py"), str(folder.path), "4", *words())
    assert (done.returncode, told["state"], told["numbers"]["world_size"]) == (0, "completed", 2), done.stderr
    assert sorted(number for one in folder.ranks() for number in one["seen"]) == list(range(64))


def test_a_rank_that_fails_on_one_host_ends_the_other(folder):
    program = folder.program(
        "fails.py",
        "import os, time\n"
        "open(f'pid{os.environ[\"RANK\"]}', 'w').write(str(os.getpid()))\n"
        "while not os.path.exists('pid0'):\n    time.sleep(0.1)\n"
        "if os.environ['RANK'] == '1':\n    raise KeyError('label')\n"
        "time.sleep(600)\n",
    )
    done, told = folder.launch(program, *words())
    assert (done.returncode, told["state"]) == (1, "failed"), done.stderr
    assert (told["failing"]["rank"], told["failing"]["error"].splitlines()[-1]) == (1, "KeyError: 'label'")
    waiting = int((folder.path / "pid0").read_text())
    assert not os.path.exists(f"/proc/{waiting}"), "it waits for a rank that is gone"


def test_a_host_that_is_not_reached_is_named(folder, daemon):  # noqa: F811
    daemon.add("node9", port=free_port())
    asked = [word if word != "node7,node8" else "node7,node9" for word in words()]
    done, told = folder.launch(folder.program("never.py", "import time\ntime.sleep(600)\n"), *asked)
    assert (done.returncode, told["state"]) == (255, "failed"), done.stderr
    assert "127.0.0.1" in done.stderr
    assert "Connection refused" in done.stderr
