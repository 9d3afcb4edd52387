"""Your own jobs: why each waits as a sentence, nobody else's among them."""

import json
import re

import pytest
from msgspec import UNSET

from rigup.cli import run
from rigup.cli.cluster_report import table_text
from rigup.cluster.overview import NEVER, You, overview
from rigup.cluster.reasons import because
from rigup.machine.slurm.values import Dump, Job, Node, Request

NOW = 1_795_200_000
JOBS = [
    Job(
        id=7,
        name="bert",
        user="ada",
        partitions=("gpu",),
        state="RUNNING",
        nodes=("n1",),
        start=NOW - 3600,
        time_limit=7200,
        gpus=(Request("a100", 4),),
    ),
    Job(
        id=8,
        name="gpt",
        user="ada",
        partitions=("gpu", "spare"),
        state="PENDING",
        reason="Priority",
        submit=NOW - 600,
        start=NOW + 1800,
        gpus=(Request("", 8),),
    ),
    Job(
        id=9,
        array_job=9,
        array_tasks="0-4",
        array_count=5,
        name="sweep",
        user="ada",
        partitions=("gpu",),
        state="PENDING",
        reason="QOSMaxGRESPerUser",
    ),
    Job(id=10, name="secret", user="bob", partitions=("gpu",), state="PENDING", reason="Resources"),
]
DUMP = Dump(nodes=[Node(name="n1", states=("IDLE",), partitions=("gpu",))], jobs=JOBS)


def test_your_jobs_are_told_and_nobody_else_s():
    answer = overview(DUMP, [], NOW, You("ada"))
    running, waiting, array = answer.yours
    assert (running.job, running.running, running.gpus, running.until, running.reason) == (7, True, 4, NOW + 3600, UNSET)
    assert (waiting.partitions, waiting.since, waiting.until, waiting.reason) == (["gpu", "spare"], NOW - 600, NOW + 1800, "Priority")
    assert waiting.because == "Jobs of higher priority come first."
    assert (array.tasks, array.since, array.until) == (5, UNSET, UNSET)
    assert "QOS" in array.because
    text = " ".join(table_text(answer).split())
    assert "7 bert gpu 4 60 min runs, 60 min left at most" in text
    assert "Priority: Jobs of higher priority come first. Slurm expects its start in 30 min." in text
    assert "9 sweep (5)" in text
    assert "secret" not in text
    assert overview(DUMP, [], NOW, You()).yours == []


def test_many_jobs_are_counted():
    jobs = [Job(id=at, name="x", user="ada", state="PENDING", reason="Resources") for at in range(1, 31)]
    text = table_text(overview(Dump(nodes=DUMP.nodes, jobs=jobs), [], NOW, You("ada")))
    assert "… and 10 more" in text


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("ReqNodeNotAvail, UnavailableNodes:n[1-3]", "down, drained"),
        ("AssocGrpGRES", "your account"),
        ("QOSMaxJobsPerUserLimit", "its QOS"),
        ("PartitionDown", "partition"),
        ("PartitionTimeLimit", "time limit"),
        ("JobHeldAdmin", "administrator"),
    ],
)
def test_words_of_slurm_as_sentences(word, says):
    assert says in because(word)


def test_what_never_runs_says_so_and_what_nobody_knows_says_nothing():
    assert all("never runs" in because(word) for word in NEVER)
    assert because("Prolog") == ""
    assert because("") == ""


@pytest.mark.slurm
def test_a_waiting_job_of_a_real_slurm(slurm, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    done = slurm.run("sbatch", "--parsable", "-J", "mine", "-H", "-p", "rocm", "--gres=gpu:mi50:2", "-o", "/dev/null", "--wrap", "true")
    job = int(done.stdout)
    slurm.wait(job, "PENDING")
    run(["cluster", "--json"])
    (yours,) = json.loads(capsys.readouterr().out)["yours"]
    assert (yours["job"], yours["name"], yours["running"], yours["partitions"]) == (job, "mine", False, ["rocm"])
    assert yours["reason"] == "JobHeldUser"
    assert "scontrol release" in yours["because"]
    assert not re.search("[^ -~]", yours["because"])
