"""Against a real Slurm: waiting times predicted, and then seen."""

import ast
import subprocess
import sys
import time

import msgspec
import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.machine.slurm import asking
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.words import moment
from rigup.schemas.advise import Advise
from rigup.train.advise import live
from rigup.train.launch.record import SCRIPT

pytestmark = pytest.mark.slurm

RATES = "".join(
    f'[[rate]]\ndevice = "{device}"\nnodes = 1\ngpus = 1\nseconds = [{seconds}]\n' for device, seconds in (("l40", 10), ("mi50", 30))
)


@pytest.fixture
def asked(slurm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(asking, "FRESH", 0.0)
    (tmp_path / "rates.toml").write_text(RATES)

    def ask(*allocations, more=()):
        words = ["advise", "--rates", str(tmp_path / "rates.toml"), "--work", "2", "--startup", "5", "--json", *more]
        words += [word for text in allocations for word in ("--on", text)]
        result = CliRunner().invoke(main, words, standalone_mode=False, catch_exceptions=False)
        return msgspec.json.decode(result.output, type=Advise)

    return ask


def submit(slurm, *words, seconds):
    done = slurm.run("sbatch", "--parsable", "-o", "/dev/null", *words, "--wrap", f"sleep {seconds}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_wait_that_was_foretold_is_seen(slurm, asked):
    """Both L40 nodes are taken for their whole limit of a minute, a job waits before us; MI50 are idle."""
    full = [submit(slurm, "-p", "cuda", "-N1", "--gres=gpu:l40:4", "-t", "1", seconds=120) for _ in range(2)]
    zone = live.datetime.now().astimezone().tzinfo
    first, last = sorted(moment(slurm.wait(number, "RUNNING")["StartTime"], zone) + 60 for number in full)
    before = submit(slurm, "-p", "cuda", "-N1", "--gres=gpu:l40:4", "-t", "1", seconds=20)
    slurm.wait(before, "PENDING")
    answer = asked("cuda/l40:1x4", "cuda/l40:2x4", "rocm/mi50:1x1")
    foretold = {row.allocation: row for row in answer.allocations}
    assert foretold["rocm/mi50:1x1"].wait.high == 0
    assert foretold["cuda/l40:1x4"].wait.bound
    assert foretold["cuda/l40:1x4"].wait.high == pytest.approx(max(1, last - answer.now), abs=2)
    assert foretold["cuda/l40:2x4"].wait.high == pytest.approx(max(1, first - answer.now) + 60, abs=2)

    mine = submit(slurm, "-p", "cuda", "-N1", "--gres=gpu:l40:4", "-t", "1", seconds=1)
    facts = slurm.wait(mine, "RUNNING", "COMPLETED", seconds=300)
    start = moment(facts["StartTime"], zone)
    # Slurm ends a job at its limit within a minute of it, and looks for the next every two seconds
    assert foretold["cuda/l40:1x4"].wait.low - 5 <= start - answer.now <= foretold["cuda/l40:1x4"].wait.high + 120


def test_a_job_that_can_never_run_spoils_slurm_s_estimate_and_not_ours(slurm, asked):
    poison = submit(slurm, "-p", "rocm", "-N1", "--gres=gpu:mi50:1", "-t", "5-00:00:00", seconds=1)
    end = time.monotonic() + 120
    while slurm.job(poison).get("Reason") != "PartitionTimeLimit" and time.monotonic() < end:
        time.sleep(0.2)
    answer = asked("rocm/mi50:3x1", more=["--test-only"])
    assert [job.job for job in answer.poison] == [int(poison)]
    assert answer.allocations[0].wait.high == 0
    assert answer.second_opinion[0].says is not None
    mine = submit(slurm, "-p", "rocm", "-N3", "--gres=gpu:mi50:1", "-t", "1", seconds=1)
    facts = slurm.wait(mine, "RUNNING", "COMPLETED")
    assert facts["NumNodes"] == "3"


def test_what_the_cluster_has_is_judged_without_being_told(slurm, asked):
    answer = asked()
    assert {row.partition for row in answer.allocations} == {"cuda", "rocm", "scavenge"}
    assert all(row.preemptible == (row.partition == "scavenge") for row in answer.allocations)
    assert answer.slurm == "" or answer.slurm[0].isdigit()
    never = asked("rocm/mi50:11x1", "rocm/l40:1x1", "no/mi50:1x1").never
    assert [row.reason for row in never] == ["no-such-nodes", "no-such-nodes", "no-such-partition"]


def test_the_choice_is_launched(slurm, tmp_path, monkeypatch):
    """From rates to a job that ran where it was advised, with its time limit, and its exit status."""
    program, rates = tmp_path / "train.py", tmp_path / "rates.toml"
    rates.write_text(RATES)
    program.write_text(
        "import os, sys, time\n"
        "names = 'SLURM_JOB_PARTITION', 'SLURM_JOB_NUM_NODES', 'SLURM_CPUS_PER_TASK', 'SLURM_STEP_GPUS'\n"
        "rank = os.environ['SLURM_PROCID']\n"
        "open('part' + rank, 'w').write(repr([os.environ.get(name) for name in names]))\n"
        "os.replace('part' + rank, 'seen' + rank)\n"
        # srun ends every rank when one fails: the one that fails waits until all have written
        "until = time.monotonic() + 60\n"
        "while rank == '0' and not os.path.exists('seen1') and time.monotonic() < until: time.sleep(0.05)\n"
        "sys.exit(int(sys.argv[1]) if rank == '0' else 0)\n"
    )
    words = ["--rates", str(rates), "--work", "2", "--on", "rocm/mi50:2x1", "--launch", str(program)]
    done = subprocess.run(
        [sys.executable, "-m", "rigup", "advise", *words, "--", "--python", sys.executable, "--no-preflight", "7"],
        cwd=tmp_path,
        env={**slurm.environment, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=400,
    )
    assert done.returncode == 7, done.stdout + done.stderr
    assert "Soonest: rocm/mi50:2x1" in done.stdout, done.stdout + done.stderr
    seen = [ast.literal_eval((tmp_path / f"seen{rank}").read_text()) for rank in range(2)]
    assert [row[:3] for row in seen] == [["rocm", "2", "1"]] * 2, seen
    script = next(tmp_path.glob(f"rigup-runs/*/{SCRIPT}")).read_text()
    assert "--time=" in script
    assert "--no-requeue" in script


def test_a_limit_of_your_association_is_kept(slurm, asked, monkeypatch):
    """The real cluster has no accounting: its answer is read as sacctmgr writes it."""
    ask_limits = asking.Slurm.limits

    def limits(self, user):
        ask_limits(self, user)
        head = "Account|User|Partition|QOS|Def QOS|MaxJobs|MaxSubmit|MaxWall|MaxTRES|GrpTRES\n"
        read_answer(head + f"users|{user}||||||01:00:00|gres/gpu=4|\n", self.dump)

    monkeypatch.setattr(asking.Slurm, "limits", limits)
    answer = asked("rocm/mi50:1x4", "rocm/mi50:1x5")
    assert [(row.allocation, row.reason) for row in answer.never] == [("rocm/mi50:1x5", "partition-limit")]


def test_a_model_that_a_type_of_gpu_cannot_hold(slurm, asked):
    """An 8B model whole: eight bytes a weight fit into no 48 GB; adapters over four bits fit into both."""
    answer = asked(
        "cuda/l40:1x1",
        "rocm/mi50:1x1",
        more=("--model", "qwen3 8b", "--train", "full", "--optimizer", "adamw", "--context", "2048", "--batch", "4"),
    )
    assert {row.allocation: row.reason for row in answer.never} == {"cuda/l40:1x1": "gpu-memory", "rocm/mi50:1x1": "gpu-memory"}
    assert any("at least" in text and "precision" in text for text in answer.assumed)
    small = asked("cuda/l40:1x1", "rocm/mi50:1x1", more=("--model", "qwen3 8b", "--train", "qlora", "--context", "512", "--batch", "1"))
    assert small.never == []


def test_a_model_that_nobody_knows_rules_out_nothing(slurm, asked, tmp_path):
    answer = asked("cuda/l40:1x1", more=("--model", str(tmp_path / "nothing-there.gguf")))
    assert answer.never == []
    assert any("is not known" in text for text in answer.assumed)
