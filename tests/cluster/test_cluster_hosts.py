"""`rigup cluster doctor --hosts`: hosts of a file through a real sshd; a dead one costs its own answer only."""

import json
import os

import pytest

from loopback_ssh import daemon
from rigup.cli import run
from rigup.machine.collect.tree import discard

pytestmark = pytest.mark.ssh
__all__ = ["daemon"]


@pytest.fixture
def sshd(daemon, monkeypatch):
    """The sshd, with a client that knows it."""
    daemon.renew()
    monkeypatch.setenv("PATH", str(daemon.folder / "client") + os.pathsep + os.environ["PATH"])
    monkeypatch.delenv("SSH_ASKPASS", raising=False)
    yield daemon
    discard()


def test_two_hosts_and_a_dead_one(sshd, tmp_path, capsys):
    sshd.add("node8")
    sshd.add("node9", port=9)
    hosts = tmp_path / "hosts"
    hosts.write_text("# two of a kind\nnode[7-8]\nnode9  # off\n")
    run(["cluster", "doctor", "--hosts", str(hosts), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "rigup.doctor/1"
    assert [group["nodes"] for group in answer["groups"]] == [["node[7-8]"]]  # one machine: nothing differs
    assert answer["groups"][0]["differs"] == []
    (silent,) = answer["not_asked"]
    assert silent["nodes"] == ["node9"]
    assert silent["because"]
    assert {finding["place"] for finding in answer["findings"]} <= {"node7", "node8"}
