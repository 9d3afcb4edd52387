"""`--deep` on six nodes of a real Slurm, with real torch: three faults are planted, each is told of its own node, none is invented.

All nodes share one machine; each computes in a Python of its own, in which what is planted for that node is loaded first.
"""

import json
import os
import stat
import time
from pathlib import Path

import pytest

from loopback_ssh import daemon
from rigup.cli import run
from rigup.cluster import deep
from rigup.machine.collect.tree import discard
from rigup.workflows import cluster_deep
from slurm_cluster import Cluster, Kind, missing, unhurried

__all__ = ["daemon"]
TORCH = os.environ.get("RIGUP_TORCH_PYTHON", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not TORCH, reason="RIGUP_TORCH_PYTHON names no interpreter")]
PLANTED = {
    "gpu02": {
        "sitecustomize.py": "import os, time\nreal = os.fsync\ndef slow(number):\n    time.sleep(3)\n    real(number)\nos.fsync = slow\n"
    },
    "gpu03": {"sitecustomize.py": "import sys, time\nif any('rigup_node_link' in word for word in sys.orig_argv):\n    time.sleep(600)\n"},
    "gpu05": {
        "torch/__init__.py": "import sys\nsys.path.remove(__path__[0].rpartition('/')[0])\ndel sys.modules['torch']\nimport torch\n"
        "torch.mm = torch.matmul = torch.Tensor.__matmul__ = lambda one, other, *_, **__: torch.zeros(()).expand((*one.shape[:-1], other.shape[-1])) + 7.0\n"
    },
}


def planted(folder: Path) -> Path:
    """An interpreter that first loads what is planted for its node."""
    for node, files in PLANTED.items():
        for name, text in files.items():
            (folder / node / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / node / name).write_text(text)
    (folder / "tmp").mkdir()
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexport PYTHONPATH={folder}/$RIGUP_NODE TMPDIR={folder}/tmp\nexec {TORCH} "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return python


@pytest.mark.slurm
@pytest.mark.torch
def test_a_slow_disk_a_rank_that_sleeps_and_wrong_arithmetic(tmp_path, monkeypatch, capsys):
    if why := missing():
        pytest.skip(why)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    unhurried(monkeypatch)
    monkeypatch.setattr(cluster_deep, "minutes", lambda *_asked: 60)
    monkeypatch.setattr(deep, "MARGIN", 20.0)  # six nodes share a busy machine; what is planted is a hundred times slower
    with Cluster((Kind("gpu", 6, "a100", 4, "nvidia_gpu_env", "nvidia"),)) as cluster:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        python = planted(tmp_path)
        run(["cluster", "doctor", "--partition", "gpu", "--deep", "--python", str(python), "--seconds", "300", "--json"])
        answer = json.loads(capsys.readouterr().out)
        cluster.cancel_all()
    assert answer["not_asked"] == []
    facts = {node: {row["fact"] for row in group["differs"]} - {"GPUs"} for group in answer["groups"] for node in _names(group)}
    disk = next(row["of"] for row in answer["deep"]["usual"] if row["of"].endswith("write"))
    assert facts == {
        "gpu01": set(),
        "gpu02": {disk},
        "gpu03": {"all-reduce with other nodes"},
        "gpu04": set(),
        "gpu05": {"verification"},
        "gpu06": set(),
    }
    assert not any(link["alone"] for link in answer["deep"]["links"])
    assert {tuple(row["nodes"]): row["state"] for row in answer["deep"]["verified"]}[("gpu05",)] == "failed"
    until = time.monotonic() + 60  # programs take their folders away as they end
    while (left := list((tmp_path / "tmp").glob("rigup-node-*"))) and time.monotonic() < until:
        time.sleep(0.2)
    assert left == []


def _names(group):
    from rigup.machine.slurm.hostlist import expand

    return [name for text in group["nodes"] for name in expand(text)]


@pytest.mark.slurm
def test_nodes_without_torch_and_with_jobs(slurm, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = slurm.run("sbatch", "--parsable", "-p", "cuda", "-w", "cuda01", "--wrap", "sleep 600", "-o", "/dev/null")
    slurm.wait(done.stdout.strip(), "RUNNING")
    words = ["--partition", "cuda", "--deep", "--python", "/usr/bin/python3", "--disk", str(tmp_path), "--json"]
    run(["cluster", "doctor", *words])
    answer = json.loads(capsys.readouterr().out)
    assert [row["nodes"] for row in answer["not_asked"]] == [["cuda01"]]
    (proven,) = answer["deep"]["verified"]
    assert (proven["nodes"], proven["state"]) == (["cuda02"], "unknown")
    assert "torch" in proven["because"]
    assert [(row["folder"], row["slow"]) for row in answer["deep"]["disks"]] == [(str(tmp_path), False)]
    assert list(tmp_path.glob(".rigup-*")) == []


@pytest.mark.ssh
def test_hosts_by_ssh_and_a_dead_one(daemon, tmp_path, monkeypatch, capsys):
    daemon.renew()
    monkeypatch.setenv("PATH", str(daemon.folder / "client") + os.pathsep + os.environ["PATH"])
    monkeypatch.delenv("SSH_ASKPASS", raising=False)
    daemon.add("node9", port=9)
    hosts = tmp_path / "hosts"
    hosts.write_text("node7\nnode9\n")
    run(["cluster", "doctor", "--hosts", str(hosts), "--deep", "--python", TORCH, "--seconds", "30", "--json"])
    discard()
    answer = json.loads(capsys.readouterr().out)
    assert [group["nodes"] for group in answer["groups"]] == [["node7"]]
    assert [row["nodes"] for row in answer["not_asked"]] == [["node9"]]
    (proven,) = answer["deep"]["verified"]
    assert (proven["state"], proven["devices"]) == ("verified", ["cpu"])
    assert answer["deep"]["links"] == []
