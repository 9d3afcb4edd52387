"""`rigup cluster report`: sacct of several releases and histories of trainings; what nobody measured is not accused."""

import json
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as some
from msgspec import UNSET

from rigup.cli import run
from rigup.cluster.overview import You
from rigup.cluster.usage import Trained, report, trained
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump, Record, Request
from rigup.schemas.train_history import Ended, Started, Stepped

# 20.11: AllocGRES has gone, memory stands in ReqMem and in TRES; times of this machine's zone
OLD = """\
JobID|JobName|User|Account|Partition|State|Submit|Eligible|Start|End|Elapsed|ReqMem|MaxRSS|NTasks|ReqTRES|AllocTRES|TRESUsageInAve
7|bert|ada|lab|gpu|COMPLETED|1795200000|1795200000|1795203600|1795210800|02:00:00|64000Mn|||billing=8,cpu=8,gres/gpu=4,mem=64G,node=1|billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|
7.batch|batch||lab||COMPLETED|1795203600|1795203600|1795203600|1795210800|02:00:00|64000Mn|8G|1||cpu=8,gres/gpu:a100=4,mem=64G,node=1|cpu=01:00:00
8_3|sweep|bob|bio|gpu|FAILED|1795200000|1795200600|1795200900|1795201500|00:10:00|4000Mc|||cpu=1,gres/gpu=1,mem=4000M,node=1|cpu=1,gres/gpu=1,mem=4000M,node=1|
9|waits|bob|bio|cpu|PENDING|1795200000|Unknown|Unknown|Unknown|00:00:00|4000Mc|||cpu=1,mem=4000M,node=1||
"""
# 22.05 and later with AccountingStorageTRES=gres/gpuutil,gres/gpumem
NEW = """\
JobID|JobName|User|Account|Partition|State|Submit|Eligible|Start|End|Elapsed|MaxRSS|NTasks|ReqTRES|AllocTRES|TRESUsageInAve
21|llm|eve|lab|gpu|TIMEOUT|1795200000|1795200000|1795200010|1795203610|01:00:00|||cpu=8,gres/gpu=8,mem=100G,node=1|cpu=8,gres/gpu:h100=8,gres/gpu=8,mem=100G,node=1|
21.0|python||lab||TIMEOUT|1795200010|1795200010|1795200010|1795203610|01:00:00|20G|1||cpu=8,gres/gpu:h100=8,mem=100G,node=1|cpu=01:00:00,gres/gpumem=70G,gres/gpuutil=25
22|full|eve|lab|gpu|COMPLETED|1795200000|1795200000|1795200020|1795203620|01:00:00|||cpu=8,gres/gpu=2,mem=10G,node=1|cpu=8,gres/gpu:h100=2,gres/gpu=2,mem=10G,node=1|
22.0|python||lab||COMPLETED|1795200020|1795200020|1795200020|1795203620|01:00:00|12G|1||cpu=8,gres/gpu:h100=2,mem=10G,node=1|cpu=01:00:00,gres/gpuutil=100
"""
NOBODY = You()


def of(text, histories=None, you=NOBODY, accounts=False):
    return report(read_answer(text), [], histories or {}, you, accounts)


def test_an_old_sacct_accuses_nobody_of_gpus_that_nobody_measured():
    answer = of(OLD)
    assert (answer.sums.jobs, answer.sums.gpu_seconds, answer.sums.gpu_seconds_known) == (2, 4 * 7200 + 600, 0)
    (job,) = answer.jobs  # 8 of 64 GB used
    assert (job.job, job.gpu_seconds_unused, job.busy) == ("7", UNSET, UNSET)
    assert (job.memory, job.memory_used) == (64 << 30, 8 << 30)
    assert answer.sums.memory_seconds_unused == (56 << 30) * 7200


def test_a_newer_sacct_tells_what_stood_idle():
    answer = of(NEW)
    assert answer.sums.gpu_seconds_unused == 8 * 3600 * 3 // 4
    (job,) = answer.jobs  # the full one is nobody's: its memory is an upper bound above what it asked for
    assert (job.job, job.busy, job.measured_by) == ("21", 0.25, "accounting")


def test_a_history_tells_of_gpus_that_were_never_used():
    answer = of(OLD, {"7": Trained(1, 0.5)})
    job = answer.jobs[0]
    assert (job.gpus, job.gpus_used, job.measured_by) == (4, 1, "history")
    assert job.gpu_seconds_unused == 4 * 7200 - 3600


def test_histories_of_two_nodes_with_two_ranks_each():
    ranks = [
        [
            Started(schema="", at=0, rank=rank, world_size=4, nodes=2, job="7"),
            Stepped(at=1, steps=1, seconds=1, busy=0.0, gpus_used=1),
            Stepped(at=4, steps=1, seconds=3, busy=0.8, gpus_asked=4, gpus_used=2),
            Ended(at=5, reason="ended"),
        ]
        for rank in range(4)
    ]
    assert trained(ranks) == {"7": Trained(4, pytest.approx(0.6))}
    assert trained([[Started(schema="", at=0, rank=0, world_size=1)], [], [Ended(at=1, reason="x")]]) == {}


def test_names_and_accounts_are_told_to_whom_they_belong():
    assert (of(OLD).jobs[0].user, of(OLD).accounts) == (UNSET, UNSET)
    assert of(OLD, you=You("ada")).jobs[0].user == "ada"
    assert of(OLD, you=You("bob")).jobs[0].user is UNSET
    assert of(NEW + OLD.split("\n", 1)[1], accounts=True).accounts[0].account == "lab"
    assert of(OLD, you=You(names=True)).jobs[0].name == "bert"


def test_waits_are_from_when_a_job_could_have_started():
    (gpu,) = of(OLD).waits
    assert (gpu.partition, gpu.jobs, gpu.median, gpu.longest) == ("gpu", 2, 300, 3600)


@given(
    some.lists(
        some.builds(
            Record,
            id=some.integers(1, 5),
            account=some.text(max_size=3),
            start=some.none() | some.integers(0, 9),
            elapsed=some.none() | some.integers(0, 9),
            submit=some.none() | some.integers(0, 9),
            gpus=some.just(()) | some.builds(lambda n: (Request("", n),), some.integers(0, 99)),
            gpu_utilisation=some.none() | some.floats(-5, 500),
            memory=some.none() | some.integers(0, 99),
            memory_used=some.none() | some.integers(0, 99),
        ),
        max_size=8,
    )
)
def test_never_more_unused_than_there_was(records):
    answer = report(Dump(records=records), [], {"1": Trained(3, None)}, NOBODY, accounts=True)
    sums = answer.sums
    assert 0 <= sums.gpu_seconds_unused <= sums.gpu_seconds_known <= sums.gpu_seconds
    assert 0 <= sums.memory_seconds_unused <= sums.memory_seconds
    assert sum(row.sums.jobs for row in answer.accounts) == sums.jobs


def test_table_data_and_page(tmp_path, capsys):
    dump, page = tmp_path / "sacct.txt", tmp_path / "report.html"
    dump.write_text(NEW.replace("llm", "<script>x</script>"))
    assert not run(["cluster", "report", "--from", str(dump), "--accounts"])
    table = capsys.readouterr().out
    assert "6.0 GPU-hours (60%) were not used" in table
    assert "eve" not in table
    run(["cluster", "report", "--from", str(dump), "--names", "--html", str(page)])
    assert "eve" in page.read_text()
    assert "<script" not in page.read_text()
    capsys.readouterr()
    run(["cluster", "report", "--from", str(dump), "--json"])
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "rigup.cluster-report/1"
    assert "accounts" not in answer


def test_no_accounting(tmp_path, capsys):
    (tmp_path / "x.txt").write_text("Slurm accounting storage is disabled\n")
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(run(["cluster", "report", "--from", str(tmp_path)]))
    assert ended.value.code == 2
    assert "sacct" in capsys.readouterr().err


@pytest.mark.parametrize(("level", "status"), [("None", 2), ("", 2), ("Administrator", 0), ("Operator", 0)])
def test_sums_by_account_are_for_administrators(tmp_path, monkeypatch, capsys, level, status):
    (tmp_path / "answer").write_text(NEW)
    for name, body in (("sinfo", "echo slurm 23.02.1"), ("sacct", f"cat {tmp_path}/answer"), ("sacctmgr", f"echo {level}")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} >> {tmp_path}/calls\n{body}\n")
        (tmp_path / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("os.getuid", lambda: 1000)
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(run(["cluster", "report", "--accounts", "--json"]))
    assert (ended.value.code or 0) == status
    out = capsys.readouterr().out
    assert not status or not out
    assert bool(status) or json.loads(out)["accounts"][0]["account"] == "lab"
    calls = (tmp_path / "calls").read_text().split()
    assert len(calls) == len(set(calls))
