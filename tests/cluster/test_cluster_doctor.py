"""Nodes in groups: what is planted is told, nothing else is; and a real Slurm's nodes, asked by one srun."""

import json
import random
import time

import pytest

from rigup.cli import run
from rigup.cluster.grouping import Examined, grouped
from rigup.machine.collect import srun
from rigup.machine.fingerprint import Fingerprint
from rigup.machine.slurm.asking import Slurm
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump

HERE = ("", "", "", "")
WHOLE = ("Driver", "Torch", "Platform", "Account", "DeviceNode", "DiskSpace", "KernelParameter")


def node(name, *, gpus=8, expected=None, findings=(), **changed):
    """A healthy node, with what is changed; a name of its own, an address and a serial number."""
    facts = {
        "Platform": [(HERE, {"system": "linux", "release": "5.14.0-503"})],
        "Driver": [(HERE, {"name": "nvidia", "version": "535.183.01"})],
        "DriverLibrary": [(HERE, {"soname": "libcuda.so", "version": "535.183.01"})],
        "Torch": [(HERE, {"env": "/opt/env", "version": "2.6.0"})],
        "Account": [(HERE, {"user": "ada", "groups": ["ada", "video"], "uid": 1000})],
        "DiskSpace": [(HERE, {"path": "/scratch", "filesystem": "nvme", "total": 10**12 + hash(name) % 10**9})],
        "Gpu": [(HERE, {"uuid": f"{name}-{at}", "name": "H100"}) for at in range(gpus)],
        "Firmware": [(HERE, {"serial": name, "version": "1.2"})],
    }
    for kind, fields in changed.items():
        facts[kind] = [] if fields is None else [(HERE, facts[kind][0][1] | fields)]
    facts = {kind: rows for kind, rows in facts.items() if rows}
    return Examined(Fingerprint(facts=facts, whole={kind: [HERE] for kind in WHOLE}), findings, ("H100",) * gpus, expected)


PLANTED = {
    "driver": ({"Driver": {"version": "525.60.13"}, "DriverLibrary": {"version": "525.60.13"}}, "Driver", "525.60.13", "535.183.01"),
    "missing GPU": ({"gpus": 7}, "GPUs", "7", "8"),
    "kernel": ({"Platform": {"release": "5.14.0-427"}}, "Platform", "5.14.0-427", "5.14.0-503"),
    "torch": ({"Torch": {"version": "2.4.1"}}, "Torch", "2.4.1", "2.6.0"),
    "group": ({"Account": {"groups": ["ada"]}}, "Account", "ada", "ada, video"),
    "disk": ({"DiskSpace": {"filesystem": "nfs4"}}, "DiskSpace", "nfs4", "nvme"),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_one_planted_difference_among_twelve(planted):
    changed, kind, value, usual = PLANTED[planted]
    nodes = {f"n{at:02}": node(f"n{at:02}", **(changed if at == 5 else {})) for at in range(12)}
    groups = grouped(nodes, [nodes])
    assert [len(group.nodes) for group in groups] == [11, 1]
    assert groups[0].differs == ()
    assert groups[1].nodes == ("n05",)
    (row,) = groups[1].differs
    assert row.fact.startswith(kind)
    assert (row.value, row.usual) == (value, usual)


def test_all_planted_at_once_each_on_a_node_of_its_own():
    changes = [row[0] for row in PLANTED.values()]
    nodes = {f"n{at:02}": node(f"n{at:02}", **(changes[at] if at < len(changes) else {})) for at in range(12)}
    groups = grouped(nodes, [nodes])
    assert len(groups[0].nodes) == 6
    assert sorted(group.nodes[0] for group in groups[1:]) == [f"n{at:02}" for at in range(6)]
    assert all(len(group.differs) == 1 for group in groups[1:])


def test_what_is_each_node_s_own_is_nobody_s_difference():
    nodes = {f"n{at}": node(f"n{at}", Torch={"cache": f"/tmp/{at}"}) for at in range(12)}
    assert [group.differs for group in grouped(nodes, [nodes])] == [()]


def test_something_that_is_not_there():
    nodes = {f"n{at}": node(f"n{at}", **({"Torch": None} if at == 3 else {})) for at in range(5)}
    (row,) = grouped(nodes, [nodes])[1].differs
    assert (row.value, row.usual) == (None, "there")
    assert row.fact.startswith("Torch")


def test_what_nobody_looked_at_is_not_missing():
    nodes = {f"n{at}": node(f"n{at}", **({"Torch": None} if at == 3 else {})) for at in range(5)}
    nodes["n3"].fingerprint.whole.pop("Torch")
    assert len(grouped(nodes, [nodes])) == 1


def test_classes_are_not_compared_and_findings_part_groups():
    old = {f"a{at}": node(f"a{at}", Driver={"version": "470"}) for at in range(3)}
    new = {f"b{at}": node(f"b{at}", findings=(("gpu-lost", "A GPU fell off the bus"),) if at == 1 else ()) for at in range(3)}
    groups = grouped(old | new, [list(old), list(new)])
    assert [(group.nodes, group.findings) for group in groups] == [
        (("a0", "a1", "a2", "b0", "b2"), ()),
        (("b1",), (("gpu-lost", "A GPU fell off the bus"),)),
    ]


def test_slurm_s_count_of_gpus_counts_though_all_lack_one():
    nodes = {f"n{at}": node(f"n{at}", gpus=7, expected=8) for at in range(4)}
    ((_, _, (row,)),) = grouped(nodes, [nodes])
    assert (row.fact, row.value, row.usual) == ("GPUs", "7", "8")


def test_many_nodes_with_random_planting():
    drawn = random.Random(3)
    changes = [row[0] for row in PLANTED.values()]
    planted = {f"n{at:04}": drawn.choice(changes) for at in drawn.sample(range(600), 40)}
    nodes = {name: node(name, **planted.get(name, {})) for name in (f"n{at:04}" for at in range(600))}
    groups = grouped(nodes, [nodes])
    assert set(groups[0].nodes) == set(nodes) - set(planted)
    assert sum(len(group.nodes) for group in groups[1:]) == len(planted)


@pytest.mark.slurm
def test_one_srun_asks_every_node_and_a_hung_one_costs_itself(slurm, monkeypatch):
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    names = [f"rocm{at:02}" for at in range(1, 11)]
    script = 'echo "hello from $SLURMD_NODENAME"; [ "$SLURMD_NODENAME" = rocm04 ] && exec sleep 300; echo end'
    replies = srun.asked(names, "rocm", seconds=30, script=script)
    assert set(replies.answers) == set(names), replies.said
    assert replies.answers["rocm02"] == b"hello from rocm02\nend\n"
    assert replies.answers["rocm04"] == b"hello from rocm04\n"
    slurm.cancel_all()


@pytest.mark.slurm
def test_the_doctor_of_a_real_slurm(slurm, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    slurm.run("scontrol", "update", "nodename=cuda02", "state=drain", "reason=fan")
    try:
        run(["cluster", "doctor", "--partition", "cuda", "--json"])
        answer = json.loads(capsys.readouterr().out)
    finally:
        slurm.run("scontrol", "update", "nodename=cuda02", "state=resume")
    assert answer["schema"] == "rigup.doctor/1"
    assert answer["verdict"] == "degraded"
    (group,) = answer["groups"]
    assert {row["cause"] for row in answer["findings"] if row["place"] == "cuda01"} == set(group["findings"])
    assert group["nodes"] == ["cuda01"]
    assert {"fact": "GPUs", "value": "0", "usual": "4"} in group["differs"]  # make-believe GPUs are none
    assert [(row["nodes"], "fan" in row["because"]) for row in answer["not_asked"]] == [(["cuda02"], True)]


@pytest.mark.slurm
def test_what_is_asked_for_as_text_is_what_json_tells(slurm):
    job = slurm.run("sbatch", "--parsable", "-p", "rocm", "--gres=gpu:mi50:3", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
    slurm.wait(job, "RUNNING")
    for _again in range(30):  # a node that is slow to answer changes its state between two questions
        asked, texts, rows = _both(slurm)
        if {name: node.states for name, node in texts.items()} == {name: node.states for name, node in rows.items()}:
            break
        time.sleep(1)
    assert len(texts) == 12
    assert sum(gpus.allocated or 0 for node in texts.values() for gpus in node.gpus) == 3
    assert asked.asked[0].command[:1] == ("scontrol",)
    for name, node in texts.items():
        for field in ("states", "partitions", "cpus", "cpus_allocated", "memory", "memory_allocated", "gpus", "features", "weight"):
            assert getattr(node, field) == getattr(rows[name], field), (name, field)


def _both(slurm):
    """Who asked, and each node by its name: as text tells them, and as JSON does."""
    asked = Slurm()
    asked.nodes()
    data = Dump()
    assert read_answer(slurm.run("sinfo", "--json").stdout, data) is not None  # 22.05; from 23.02 on it has no nodes
    texts, rows = ({node.name: node for node in dump.nodes or []} for dump in (asked.dump, data))
    return asked, texts, rows


def test_no_slurm(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("rigup.machine.local.TOOL_PATHS", ())
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(run(["cluster", "doctor"]))
    assert ended.value.code == 2
