"""`rigup cluster`: dumps of several releases, and a real Slurm."""

import json
import re
from pathlib import Path

import pytest
from msgspec import UNSET

from rigup.cli import run
from rigup.cluster.asking import from_files
from rigup.cluster.overview import You, overview
from rigup.cluster.worth import worths
from rigup.machine.host import Answer
from rigup.machine.slurm.asking import Slurm
from rigup.machine.slurm.values import Dump, Gpus, Limit, Node, Partition, Reservation

FOLDER = Path(__file__).parents[1] / "machine" / "slurm_answers"
BUSY = ["sinfo.json", "squeue.json", "scontrol_partitions.txt"]


@pytest.fixture
def asked(capsys):
    """Exit status and output of `rigup cluster`."""

    def ask(*words):
        status = 0
        try:
            status = run(["cluster", *words])
        except SystemExit as ended:
            status = ended.code
        return status or 0, capsys.readouterr().out

    return ask


def options(names):
    """Files as options."""
    return [word for name in names for word in ("--from", str(FOLDER / name))]


def test_a_busy_cluster_as_data(asked):
    status, out = asked(*options(BUSY), "--json")
    answer = json.loads(out)
    assert status == 0
    partitions = {row["name"]: row for row in answer["partitions"]}
    assert partitions["rocm"]["gpus"]["mi50"] == {"total": 80, "allocated": 20, "idle": 44, "usable": 44}
    assert partitions["cuda"]["gpus"]["l40"] == {"total": 8, "allocated": 8, "idle": 0, "usable": 0}
    assert [partitions[name]["preemptible"] for name in ("cuda", "rocm", "scavenge")] == [False, False, True]
    assert {row["partition"]: row["nodes"] for row in answer["idle"]} == {"rocm": {"8": 5, "4": 1}, "scavenge": {"8": 5, "4": 1}}
    assert answer["queue"]["by_reason"]["Priority"] == 11  # ten tasks of an array among them
    assert [row["reason"] for row in answer["poison"]] == ["PartitionTimeLimit"]
    assert {row["cause"]: row["place"] for row in answer["findings"]} == {"slurm-node-drained": "rocm07", "slurm-node-down": "rocm09"}
    assert {row["worth"] for row in answer["idle"]} == {row["card"]["rate"] for row in answer["idle"]}
    assert not re.search(r"rigtest\b(?!\")|\"user\"", json.dumps(answer["poison"]))


def test_text_dumps_tell_the_same(asked):
    from_json = json.loads(asked(*options(BUSY), "--json")[1])
    from_text = json.loads(asked(*options(["scontrol_nodes.txt", "scontrol_jobs.txt", "scontrol_partitions.txt"]), "--json")[1])
    for part in ("partitions", "idle", "queue", "poison", "findings"):
        assert from_json[part] == from_text[part], part


def test_names_of_others_come_when_asked_for(asked):
    assert "user" not in json.loads(asked(*options(BUSY), "--json")[1])["poison"][0]
    assert json.loads(asked(*options(BUSY), "--json", "--names")[1])["poison"][0]["user"]


def test_table_map_and_page(asked, tmp_path):
    _, table = asked(*options(BUSY))
    assert "44 stand idle" in table
    assert "rocm07: Drained: GPU 3 hang" in table
    _, drawn = asked(*options(BUSY), "--map")
    assert "....ood.xo" in drawn
    page = tmp_path / "cluster.html"
    assert asked(*options(BUSY), "--html", str(page))[0] == 0
    text = page.read_text()
    assert text.count("<li class=") == 12
    assert "<script" not in text


def test_a_page_takes_no_foreign_mark(tmp_path, asked):
    dump = tmp_path / "nodes.json"
    dump.write_text(
        json.dumps({"nodes": [{"name": "<script>x</script>", "state": "idle", "reason": '"><img src=x>', "partitions": ["<b>"]}]})
    )
    page = tmp_path / "page.html"
    asked("--from", str(dump), "--html", str(page))
    assert not re.search(r"<script|<img|<b>", page.read_text())


def test_no_slurm_and_no_dump(asked, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("rigup.machine.local.TOOL_PATHS", ())
    assert asked()[0] == 2
    (tmp_path / "x.txt").write_text("nothing of Slurm")
    assert asked("--from", str(tmp_path))[0] == 2


def test_limits_and_reservations_that_hold_for_you():
    nodes = [
        Node(name=f"n{at}", states=("IDLE",), cpus=8, cpus_allocated=at // 3 * 8, gpus=(Gpus("l40", 4, 0),), partitions=("gpu",))
        for at in range(4)
    ]
    dump = Dump(
        nodes=nodes,
        partitions=[Partition(name="gpu", nodes=("n0", "n1", "n2", "n3"), allow_accounts=("physics",), preempt_mode="OFF")],
        reservations=[Reservation(name="r", start=0, end=100, nodes=("n0",), users=("ada",))],
        limits=[
            Limit(kind="association", name="bio", user="bob", qos=("normal",), max_jobs=3),
            Limit(kind="qos", name="normal", max_wall=3600),
            Limit(kind="qos", name="other", max_wall=1),
        ],
    )
    others = overview(dump, [], 50, You("bob"))
    gpus = others.partitions[0].gpus["l40"]
    assert (gpus.idle, gpus.usable) == (16, 8)  # one node is reserved, one has no processor left
    assert "physics" in str(others.partitions[0].barred)
    assert [(limit.kind, limit.name) for limit in others.limits] == [("association", "bio"), ("qos", "normal")]
    assert overview(dump, [], 50, You("ada")).partitions[0].gpus["l40"].usable == 12
    assert overview(dump, [], 150, You("bob")).partitions[0].gpus["l40"].usable == 12


def test_gpus_of_which_nobody_tells_who_has_them_are_neither_idle_nor_taken(asked, tmp_path):
    nodes = [Node(name="n0", states=("IDLE",), gpus=(Gpus("l40", 4),), partitions=("gpu",))]
    gpus = overview(Dump(nodes=nodes), [], 0, You()).partitions[0].gpus["l40"]
    assert (gpus.total, gpus.allocated, gpus.idle, gpus.usable) == (4, UNSET, UNSET, UNSET)
    (tmp_path / "nodes.txt").write_text("NodeName=n0 State=IDLE Gres=gpu:l40:4 CfgTRES=cpu=8 Partitions=gpu\n")
    assert "l40 ?/4" in asked("--from", str(tmp_path))[1]


def test_a_login_in_an_administrators_words_is_not_shown(asked, tmp_path):
    reason = "see https://ops:opensesame99@bmc.example/ [root@2026-11-20T21:27:46]"
    (tmp_path / "nodes.txt").write_text(f"NodeName=n0 State=IDLE+DRAIN CfgTRES=cpu=8 Partitions=gpu Reason={reason}\n")
    for words in ((), ("--json",), ("--html", str(tmp_path / "page.html"))):
        output = asked("--from", str(tmp_path / "nodes.txt"), *words)[1]
        assert "opensesame99" not in output
    assert "opensesame99" not in (tmp_path / "page.html").read_text()
    assert "bmc.example" in (tmp_path / "page.html").read_text()


def test_worth_is_of_the_best_known_kind():
    found = worths(["l40", "mi50", "", "a100_1g.5gb", "no-such-card"])
    assert set(found) == {"l40", "mi50"}
    assert found["l40"].rate == 1.0
    assert isinstance(found["mi50"].rate, float)
    assert 0 < found["mi50"].rate < 1
    assert (found["l40"].stack, found["mi50"].stack) == ("cuda", "rocm")


class Recording:
    """A host that knows one release, and counts what it is asked."""

    def __init__(self, version):
        self.version, self.commands = version, []

    def run(self, argv, seconds=5.0):
        self.commands.append(argv)
        if "--version" in argv:
            return Answer(f"slurm-wlm {self.version}")
        return Answer((FOLDER / "scontrol_nodes.txt").read_text()) if "nodes" in argv else Answer("", exit=1)

    def variables(self):
        return Answer("")


@pytest.mark.parametrize("version", ["20.11.9", "22.05.8", "23.02.1", "25.11.0"])
def test_every_release_is_asked_for_text_once_and_then_kept(version, tmp_path):
    host = Recording(version)
    for _time in range(2):
        slurm = Slurm(host, str(tmp_path / "kept"))
        slurm.nodes()
        assert len(slurm.dump.nodes or []) == 12
    asked_nodes = [argv for argv in host.commands if "--version" not in argv]
    assert len(asked_nodes) == 1
    assert "--json" not in asked_nodes[0]
    assert (tmp_path / "kept").stat().st_mode & 0o77 == 0


def test_dumps_of_newer_releases():
    dump, sources, _now = from_files([str(FOLDER / "slurmrestd-25.11-nodes.json"), str(FOLDER / "slurmrestd-25.11-partitions.json")])
    answer = overview(dump, sources, 0, You())
    assert answer.slurm.version == "25.11.0"
    assert sum(gpus.total for node in answer.nodes for gpus in node.gpus) == 16


@pytest.mark.slurm
def test_a_real_slurm(slurm, asked, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    holding = slurm.run("sbatch", "--parsable", "-p", "rocm", "--gres=gpu:mi50:8", "-w", "rocm03", "--wrap", "sleep 120").stdout.strip()
    slurm.run("sbatch", "-p", "cuda", "--gres=gpu:l40:9", "--wrap", "true")
    slurm.run("scontrol", "update", "nodename=rocm07", "state=drain", "reason=GPU 3 hangs")
    try:
        slurm.wait(holding, "RUNNING")
        _, out = asked("--json")
        answer = json.loads(out)
        gpus = {row["name"]: row["gpus"] for row in answer["partitions"]}
        assert gpus["rocm"]["mi50"] == {"total": 80, "allocated": 8, "idle": 64, "usable": 64}
        assert gpus["cuda"]["l40"]["usable"] == 8
        assert answer["queue"]["running"] == 1
        assert {row["name"]: row["state"] for row in answer["nodes"]}["rocm07"] == "drained"
        assert [(row["title"], row["place"]) for row in answer["findings"]] == [("Drained: GPU 3 hangs.", "rocm07")]
        assert {row["name"]: row["preemptible"] for row in answer["partitions"]}["scavenge"] is True
        assert len(answer["sources"]) == len({row["command"] for row in answer["sources"]})
    finally:
        slurm.run("scontrol", "update", "nodename=rocm07", "state=resume")
        slurm.cancel_all()
