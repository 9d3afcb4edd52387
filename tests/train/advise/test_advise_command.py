"""`rigup advise` as it is called: folders of dumps, their answer, and what is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.schemas.advise import Advise

SHARED = Path(__file__).parents[3].parent / "shared" / "advise"
NOW = 1_795_200_000


def node(name, partitions, kind, gpus, used=0, state="idle", **more):
    gres, taken = f"gpu:{kind}:{gpus}", f"gpu:{kind}:{used}(IDX:0)"
    base = {"name": name, "state": state, "state_flags": [], "gres": gres, "gres_used": taken, "cpus": 64, "real_memory": 256000}
    return base | {"partitions": partitions, "weight": 1} | more


def queued(number, partition, kind, gpus, minutes, **more):
    base = {"job_id": number, "name": f"job{number}", "partition": partition, "job_state": "PENDING", "state_reason": "Priority"}
    base |= {"node_count": 1, "cpus": 8, "tres_per_node": f"gres:gpu:{kind}:{gpus}", "time_limit": minutes, "priority": 1000}
    return base | more


def running(number, partition, kind, gpus, minutes, left, on):
    start = NOW - (minutes - left) * 60
    return queued(number, partition, kind, gpus, minutes, job_state="RUNNING", nodes=on, start_time=start, state_reason="None")


def partition(name, nodes, tier=10, mode="OFF", state="UP", time="2-00:00:00", most="UNLIMITED", grace=0):
    return (
        f"PartitionName={name} Nodes={nodes} MaxTime={time} MaxNodes={most} PriorityTier={tier} PreemptMode={mode} "
        f"GraceTime={grace} State={state}\n"
    )


RATES = """
[[rate]]
device = "l40"
nodes = 1
gpus = 1
seconds = [100]
[[rate]]
device = "mi50"
nodes = 1
gpus = 1
seconds = [300, 304]
[[rate]]
device = "mi50"
nodes = 2
gpus = 1
seconds = [152]
"""


@pytest.fixture
def folder(tmp_path):
    def written(candidates, nodes, jobs=(), partitions=None, job="epochs = 36\nstartup = 60", devices="", **files):
        parts = partitions or partition("cuda", "c[1-2]") + partition("rocm", "r[1-4]")
        named = ", ".join(json.dumps(text) for text in candidates)
        files |= {
            "scenario.toml": f'name = "x"\nnow = {NOW}\nslurm = "23.11"\ncandidates = [{named}]\n[job]\n{job}\n{devices}',
            "rates.toml": files.pop("rates", RATES),
            "nodes.json": json.dumps({"nodes": list(nodes)}),
            "squeue.json": json.dumps({"jobs": list(jobs)}),
            "scontrol_partitions.txt": parts,
        }
        for name, text in files.items():
            (tmp_path / name.replace("__", ".")).write_text(text)
        return tmp_path

    return written


def asked(folder, *words, status=0):
    result = CliRunner().invoke(main, ["advise", "--scenario", str(folder), "--json", *words], standalone_mode=False)
    assert result.return_value == status, result.output
    return msgspec.json.decode(result.output, type=Advise)


L40 = [node("c1", ["cuda"], "l40", 1, 1, "mixed")]
MI50 = [node(f"r{n}", ["rocm"], "mi50", 8) for n in range(1, 5)]


def test_the_queue_decides_between_one_fast_and_many_idle(folder):
    wanted = ["cuda/l40:1x1", "rocm/mi50:1x1", "rocm/mi50:2x1"]
    short = asked(folder(wanted, L40 + MI50, [running(1, "cuda", "l40", 1, 60, 5, "c1")]))
    assert short.best == ["cuda/l40:1x1"]
    long = asked(folder(wanted, L40 + MI50, [running(1, "cuda", "l40", 1, 600, 300, "c1")]))
    assert long.best == ["rocm/mi50:2x1"]
    assert long.allocations[0].wait.high == 0
    assert long.flip.other == "cuda/l40:1x1"
    by_name = {row.allocation: row for row in long.allocations}
    assert by_name["cuda/l40:1x1"].wait.likely == 300 * 60
    assert by_name["cuda/l40:1x1"].wait.bound
    assert long.flip.other_if_wait_under == pytest.approx(long.allocations[0].finish.likely - by_name["cuda/l40:1x1"].run.likely, abs=2)
    assert long.slurm == "23.11"
    assert long.job.epochs == 36


NEVERS = {
    "no-such-partition": (["x/mi50:1x1"], {}),
    "no-such-nodes": (["rocm/mi50:5x1", "rocm/mi50:1x9", "rocm/l40:1x1", "rocm/mi50:1x2"], {"job": "epochs=1\ncpus_per_gpu=33"}),
    "partition-down": (["rocm/mi50:1x1"], {"partitions": partition("rocm", "r[1-4]", state="INACTIVE")}),
    "partition-limit": (["rocm/mi50:3x1"], {"partitions": partition("rocm", "r[1-4]", most="2")}),
    "no-build": (["rocm/mi50:1x1"], {"devices": '[[device]]\nname = "mi50"\nworks = false'}),
    "gpu-memory": (
        ["rocm/mi50:1x1"],
        {"job": "epochs=1\ngpu_memory=20\ngpu_memory_sharded=100", "devices": '[[device]]\nname = "mi50"\nmemory = 100'},
    ),
    "host-memory": (["rocm/mi50:1x8"], {"job": "epochs=1\nhost_memory_per_gpu=40000000000"}),
    "time-limit": (["rocm/mi50:1x1"], {"partitions": partition("rocm", "r[1-4]", time="02:00:00")}),
    "no-rate": (["rocm/mi50:1x1"], {"rates": ""}),
}


@pytest.mark.parametrize("reason", NEVERS)
def test_what_can_never_run_says_why(folder, reason):
    wanted, more = NEVERS[reason]
    answer = asked(folder(wanted, MI50, **more), status=1)
    assert {row.allocation: row.reason for row in answer.never} == dict.fromkeys(wanted, reason)
    assert not answer.allocations
    assert answer.best == []
    assert all(row.because for row in answer.never)


def test_the_same_that_just_fits_runs(folder):
    for wanted, more in (
        ("rocm/mi50:4x8", {}),
        ("rocm/mi50:2x1", {"partitions": partition("rocm", "r[1-4]", most="2")}),
        ("rocm/mi50:2x1", {"job": "epochs=1\ngpu_memory=50\ngpu_memory_sharded=100", "devices": '[[device]]\nname = "mi50"\nmemory = 100'}),
        ("rocm/mi50:1x6", {"job": "epochs=1\nhost_memory_per_gpu=40000000000"}),
        ("rocm/mi50:1x1", {"partitions": partition("rocm", "r[1-4]", time="03:10:00")}),
        ("rocm/mi50:1x1", {"partitions": partition("rocm", "r[1-4]", time="02:00:00"), "job": "epochs=36\nrequeue=true"}),
    ):
        assert asked(folder([wanted], MI50, **more)).never == [], wanted


def test_nodes_that_are_down_and_nodes_that_are_reserved(folder):
    down = [MI50[0], *(row | {"state_flags": ["DRAIN"], "reason": "hot"} for row in MI50[1:])]
    answer = asked(folder(["rocm/mi50:1x1", "rocm/mi50:2x1"], down))
    assert [(row.allocation, row.reason) for row in answer.never] == [("rocm/mi50:2x1", "nodes-down")]
    assert "hot" in answer.never[0].because
    kept = "ReservationName=a StartTime=2026-01-01T00:00:00 EndTime=2027-06-01T00:00:00 Nodes=r[1-3] Flags=SPEC_NODES State=ACTIVE\n"
    answer = asked(folder(["rocm/mi50:1x1", "rocm/mi50:2x1"], MI50, reservations__txt=kept))
    assert [(row.allocation, row.reason) for row in answer.never] == [("rocm/mi50:2x1", "reserved")]


def test_preemptible_is_first_only_where_it_was_asked_for(folder):
    parts = partition("spare", "r[1-4]", tier=1, mode="REQUEUE") + partition("owners", "r[1-4]", tier=5) + partition("cuda", "c1")
    nodes = [node("c1", ["cuda"], "l40", 1), *(row | {"partitions": ["spare", "owners"]} for row in MI50)]
    wanted = ["spare/mi50:4x1", "cuda/l40:1x1"]
    rates = RATES + "[[rate]]\ndevice='mi50'\nnodes=4\ngpus=1\nseconds=[76]\n"
    answer = asked(folder(wanted, nodes, partitions=parts, rates=rates))
    assert answer.best == ["cuda/l40:1x1"]
    assert answer.allocations[1].preemptible
    assert answer.allocations[1].finish.high > 2 * answer.allocations[1].run.high
    answer = asked(folder(wanted, nodes, partitions=parts, rates=rates, job="epochs=36\naccept_preemption=true\ncheckpoint_every=60"))
    assert answer.best[0] == "spare/mi50:4x1"


def test_poison_is_named_and_a_second_opinion_is_judged(folder):
    trial = {"argv": ["sbatch", "--test-only", "-procm", "--nodes=2", "--gpus-per-node=mi50:1", "x"], "exit": 0, "stdout": ""}
    trial["stderr"] = "sbatch: Job 9 to start at 2026-11-21T01:53:20 using 2 processors on nodes r[1-2] in partition rocm\n"
    refused = trial | {
        "argv": ["sbatch", "--test-only", "-p", "rocm", "--gres", "gpu:mi50:9"],
        "exit": 1,
        "stderr": "allocation failure: no\n",
    }
    jobs = [queued(48, "rocm", "mi50", 8, 4320, state_reason="PartitionTimeLimit", name="secret")]
    answer = asked(folder(["rocm/mi50:2x1"], MI50, jobs, test_only__json=json.dumps([trial, refused])))
    assert [(job.job, job.reason) for job in answer.poison] == [(48, "PartitionTimeLimit")]
    first, other = answer.second_opinion
    assert (first.allocation, first.says, first.replay) == ("rocm/mi50:2x1", 26000, 0)
    assert "wrong" in first.because
    assert (other.says, other.replay) == (None, None)


def test_what_is_wrong_in_a_folder_is_named(folder, tmp_path):
    for name, text in (("scenario.toml", "now = 'x'"), ("rates.toml", "[[rate"), ("test_only.json", "{"), ("nodes.json", "no")):
        case = folder(["rocm/mi50:1x1"], MI50, test_only__json="[]")
        (case / name).write_text(text)
        result = CliRunner().invoke(main, ["advise", "--scenario", str(case)])
        assert result.exit_code == 2, (name, result.output)
        assert name in result.output or "not all of them" in result.output
    assert CliRunner().invoke(main, ["advise", "--scenario", str(tmp_path / "no")]).exit_code == 2
    assert CliRunner().invoke(main, ["advise"]).exit_code == 2
    assert CliRunner().invoke(main, ["advise", "--launch", "--scenario", "x"]).exit_code == 2


def test_the_table_and_the_picture(folder, tmp_path):
    case = folder(["cuda/l40:1x1", "rocm/mi50:2x1", "rocm/mi50:9x1"], L40 + MI50, [running(1, "cuda", "l40", 1, 600, 300, "c1")])
    picture = tmp_path / "advice.png"
    result = CliRunner().invoke(main, ["--lang", "en", "advise", "--scenario", str(case), "--picture", str(picture)])
    assert result.exit_code == 0, result.output
    assert "Soonest: rocm/mi50:2x1" in result.output
    assert "never rocm/mi50:9x1 (no-such-nodes)" in result.output
    assert "≤ 5.0 h" in result.output
    assert "├" in result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert CliRunner().invoke(main, ["advise", "--scenario", str(case), "--picture", str(tmp_path / "x.doc")]).exit_code == 2


@pytest.mark.cases
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the labelled scenarios of ../shared")
def test_the_labelled_scenarios(tmp_path):
    argv = [sys.executable, str(SHARED / "score.py"), str(SHARED / "dev"), "--", sys.executable, "-m", "rigup"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env=os.environ | {"XDG_STATE_HOME": str(tmp_path)}).stdout
    assert "15 scenarios: score 1.000; best right 15/15; never right 15/15" in done, done


def test_what_never_runs_for_one_reason_is_told_in_one_line():
    from rigup.cli.advise_report import shown
    from rigup.schemas.advise import AdvisedWork, NeverRuns

    work = AdvisedWork(epochs=1, startup=0, requeue=False, checkpoint=0, cpus_per_gpu=1, accept_preemption=False)
    gone = [NeverRuns(allocation=f"p/a:{shape}", reason="gpu-memory", because="Too small.") for shape in ("1x1", "2x1")]
    gone.append(NeverRuns(allocation="q/a:1x1", reason="gpu-memory", because="Too small."))
    answer = Advise(
        now=0,
        slurm="",
        job=work,
        allocations=[],
        best=[],
        ties=[],
        cheapest=None,
        never=gone,
        flip=None,
        second_opinion=[],
        poison=[],
        next_measurement=None,
        assumed=[],
    )
    lines = [line for line in shown(answer).splitlines() if line.startswith("never")]
    assert lines == ["never p/a:1x1, 2x1 (gpu-memory): Too small.", "never q/a:1x1 (gpu-memory): Too small."]


def test_the_cheapest_is_in_the_table_wherever_it_stands(folder, monkeypatch):
    from rigup.cli.advise_report import MOST, shown

    monkeypatch.setenv("COLUMNS", "80")
    wanted = [f"rocm/mi50:{count}x1" for count in range(1, MOST + 4)]
    answer = asked(folder(wanted, [node(f"r{at:02}", ["rocm"], "mi50", 1) for at in range(MOST + 3)]))
    assert [row.allocation for row in answer.allocations] == wanted[::-1]
    assert answer.cheapest == "rocm/mi50:1x1"
    text = shown(answer)
    assert sum(line.startswith("rocm/mi50:1x1 ") for line in text.splitlines()) == 2  # its row and its bar
    assert "rocm/mi50:2x1 " not in text
    assert max(map(len, text.splitlines())) <= 80
