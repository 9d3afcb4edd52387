"""`rigup launch --hosts` over a real sshd: ranks of two hosts meet, and what fails on one ends the other."""

import os
import signal
import subprocess

import pytest
from launching import BOUND, Folder, is_alive, torch_python, wait_for

from free_ports import free_port
from loopback_ssh import daemon  # noqa: F401

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
    done, answer = folder.launch(folder.program("plain_ddp.py"), str(folder.path), "4", *words())
    assert (done.returncode, answer["state"], answer["numbers"]["world_size"]) == (0, "completed", 2), done.stderr
    assert sorted(number for rank in folder.ranks() for number in rank["seen"]) == list(range(64))


def test_a_rank_that_fails_on_one_host_ends_the_other(folder):
    program = folder.program(
        "fails.py",
        "import os, time\n"
        "part = f'part{os.environ[\"RANK\"]}'\nopen(part, 'w').write(str(os.getpid()))\nos.replace(part, part.replace('part', 'pid'))\n"
        "while not os.path.exists('pid0'):\n    time.sleep(0.1)\n"
        "if os.environ['RANK'] == '1':\n    raise KeyError('label')\n"
        "time.sleep(600)\n",
    )
    done, answer = folder.launch(program, *words())
    assert (done.returncode, answer["state"]) == (1, "failed"), done.stderr
    assert (answer["failing"]["rank"], answer["failing"]["error"].splitlines()[-1]) == (1, "KeyError: 'label'")
    waiting = int((folder.path / "pid0").read_text())
    assert not is_alive(waiting), "it waits for a rank that is gone"


def test_a_host_that_is_not_reached_is_named(folder, daemon):  # noqa: F811
    daemon.add("node9", port=free_port())
    asked = [word if word != "node7,node8" else "node7,node9" for word in words()]
    done, answer = folder.launch(folder.program("never.py", "import time\ntime.sleep(600)\n"), *asked)
    assert (done.returncode, answer["state"]) == (255, "failed"), done.stderr
    assert "127.0.0.1" in done.stderr
    assert "Connection refused" in done.stderr
    assert (answer["failing"]["rank"], answer["failing"]["node"], answer["failing"]["exit"]) == (None, "node9", 255)
    assert "Connection refused" in answer["failing"]["error"]
    assert "It failed on node9:" in folder.rigup("launch", "status").stdout


def test_a_stop_ends_ranks_on_other_machines_that_do_not_listen(folder):
    """Ranks that pass over hang-ups and terminations are gone when it says so; another run's are not touched."""
    program = folder.program(
        "deaf.py",
        "import os, signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):\n    signal.signal(number, signal.SIG_IGN)\n"
        "part = f'part{os.environ[\"RANK\"]}'\nopen(part, 'w').write(str(os.getpid()))\nos.replace(part, part.replace('part', 'pid'))\n"
        "time.sleep(600)\n",
    )
    other = subprocess.Popen(["sleep", "600"], env=folder.environment | {"RIGUP_RUN_FOLDER": str(folder.path / "other")})
    try:
        with folder.following(program, *words(), "--no-preflight") as running:
            wait_for(lambda: running.poll() is not None or all((folder.path / f"pid{rank}").exists() for rank in (0, 1)))
            assert running.poll() is None, running.stderr.read()
            ranks = [int((folder.path / f"pid{rank}").read_text()) for rank in (0, 1)]
            running.send_signal(signal.SIGINT)
            _out, errors = running.communicate(timeout=BOUND)
        assert running.returncode == 128 + signal.SIGINT, errors
        assert "all of its ranks have ended" in errors
        assert not any(is_alive(rank) for rank in ranks)
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()
