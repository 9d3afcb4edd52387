"""Twelve nodes of a real Slurm, eight with a difference planted: every one is grouped right, and none is invented.

All nodes share one machine, so each reads a root folder and programs of its own, by the name that slurmd gives it.
"""

import json

import pytest

from rigup.cli import run
from rigup.machine.collect import srun
from slurm_cluster import Cluster, Kind, missing, unhurried

pytestmark = [pytest.mark.slurm, pytest.mark.slow]
USUAL = {
    "driver": "535.183.01",
    "kernel": "5.14.0-503.el9.x86_64",
    "torch": "2.6.0",
    "groups": "1000(ada),44(video)",
    "gpus": 8,
    "disk": "/dev/nvme0n1p1",
    "rate": "400 Gb/sec (4X NDR)",
    "ib0": "up",
}
PLANTED = {  # by node: what is changed, and the facts that tell it
    "gpu02": ({"driver": "525.60.13"}, {"Driver nvidia version", "KernelModule nvidia version"}),
    "gpu03": ({"rate": "100 Gb/sec (4X EDR)"}, {"RDMA port mlx5_1:1"}),
    "gpu04": ({"kernel": "5.14.0-427.el9.x86_64"}, {"Platform release"}),
    "gpu05": ({"torch": "2.4.1"}, {"Torch /opt/env version", "Package torch version"}),
    "gpu07": ({"groups": "1000(ada)"}, {"Account shell groups"}),
    "gpu09": ({"gpus": 7}, {"GPUs"}),
    "gpu11": ({"ib0": "down"}, {"network ib0"}),
    "gpu12": ({"disk": "/dev/sda1"}, {"DiskSpace / filesystem"}),
}
SURROUNDINGS = """\
RIGUP_ROOT={folder}/$SLURMD_NODENAME RIGUP_PATH={folder}/$SLURMD_NODENAME/bin:/usr/bin:/bin VIRTUAL_ENV=/opt/env
export RIGUP_ROOT RIGUP_PATH VIRTUAL_ENV
"""


def plant(root, **changed):
    """The system of a node: files, and programs that answer."""
    own = USUAL | changed
    torch = "opt/env/lib/python3.11/site-packages/torch"
    files = {
        "proc/sys/kernel/osrelease": own["kernel"],
        "proc/sys/kernel/arch": "x86_64",
        "etc/os-release": 'ID=rocky\nVERSION_ID="9.5"\n',
        "proc/driver/nvidia/version": f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {own['driver']}  Sun Jun  2 00:00:00 UTC 2024\n",
        "opt/env/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.9\n",
        "opt/env/bin/python": "",
        f"{torch}-{own['torch']}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: torch\nVersion: {own['torch']}\n",
        f"{torch}/version.py": f"__version__ = '{own['torch']}'\ncuda = '12.4'\nhip = None\n",
        "sys/class/net/ib0/operstate": own["ib0"],
        "sys/class/net/ib0/type": "32\n",
    }
    for device, rate in (("mlx5_0", USUAL["rate"]), ("mlx5_1", own["rate"])):
        port = {"state": "4: ACTIVE\n", "rate": rate + "\n", "link_layer": "InfiniBand\n"}
        files |= {f"sys/class/infiniband/{device}/ports/1/{name}": text for name, text in port.items()}
    serial = int(root.name[-2:])  # cards of each node have numbers of their own
    cards = "".join(f"GPU {at}: NVIDIA A100-SXM4-80GB (UUID: GPU-{at:08x}-0000-0000-0000-{serial:012d})\n" for at in range(own["gpus"]))
    size = 10**9 + serial * 1000  # disks are never of quite one size
    programs = {
        "nvidia-smi": f"if [ \"$1\" = -L ]; then cat <<'END'\n{cards}END\nfi",
        "id": f"echo 'uid=1000(ada) gid=1000(ada) groups={own['groups']}'",
        "df": f"echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'; echo '{own['disk']} {size} 500000 {size - 500000} 1% /'",
    }
    for name, body in [*files.items(), *((f"bin/{name}", f"#!/bin/sh\n{body}\n") for name, body in programs.items())]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(body)
    for name in programs:
        (root / "bin" / name).chmod(0o755)


def test_eight_planted_differences_among_twelve_nodes(tmp_path, monkeypatch, capsys):
    if why := missing():
        pytest.skip(why)
    names = [f"gpu{at:02}" for at in range(1, 13)]
    for name in names:
        plant(tmp_path / name, **PLANTED.get(name, ({}, ()))[0])
    unhurried(monkeypatch)
    script = SURROUNDINGS.format(folder=tmp_path) + srun.posix.script()
    monkeypatch.setattr(srun.posix, "script", lambda: script)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Cluster((Kind("gpu", 12, "a100", 8, "nvidia_gpu_env", "nvidia"),)) as cluster:
        for name, value in cluster.environment.items():
            monkeypatch.setenv(name, value)
        run(["cluster", "doctor", "--partition", "gpu", "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["not_asked"] == []
    well, *others = answer["groups"]
    assert (well["count"], well["differs"], well["findings"]) == (4, [], [])
    assert {group["nodes"][0]: {row["fact"] for row in group["differs"]} for group in others} == {
        name: facts for name, (_changed, facts) in PLANTED.items()
    }
    (links,) = answer["links"]
    assert [(row["name"], row["rate"]) for row in links["ports"]] == [("mlx5_0:1", USUAL["rate"]), ("mlx5_1:1", "100 Gb/sec (4X EDR)")]
    assert (links["count"], links["interfaces"], links["hca"]) == (12, [], "=mlx5_0:1")
    assert all(group["count"] == 1 and not group["findings"] for group in others)
