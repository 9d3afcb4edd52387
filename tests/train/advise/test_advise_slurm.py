"""Against a real Slurm: waiting times predicted, and then seen."""

import time

import msgspec
import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.machine.slurm.words import moment
from rigup.schemas.advise import Advise
from rigup.train.advise import live

pytestmark = pytest.mark.slurm

RATES = "".join(
    f'[[rate]]\ndevice = "{device}"\nnodes = 1\ngpus = 1\nseconds = [{seconds}]\n'
    for device, seconds in (("l40", 10), ("mi50", 30))
)


@pytest.fixture
def asked(slurm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(live, "KEPT", 0.0)
    (tmp_path / "rates.toml").write_text(RATES)

    def ask(*allocations, more=()):
        words = ["advise", "--rates", str(tmp_path / "rates.toml"), "--work", "2", "--startup", "5", "--json", *more]
        words += [word for text in allocations for word in ("--on", text)]
        result = CliRunner().invoke(main, words, standalone_mode=False, catch_exceptions=False)
        return msgspec.json.decode(result.output, type=Advise)

    return ask


def submit(slurm, *words, seconds):
    told = slurm.run("sbatch", "--parsable", "-o", "/dev/null", *words, "--wrap", f"sleep {seconds}")
    assert told.returncode == 0, told.stderr
    return told.stdout.strip()


def test_a_wait_that_was_foretold_is_seen(slurm, asked):
    """Both L40 nodes are taken for their whole limit of a minute, a job waits before us; MI50 are idle."""
    full = [submit(slurm, "-p", "cuda", "-N1", "--gres=gpu:l40:4", "-t", "1", seconds=120) for _ in range(2)]
    for number in full:
        slurm.wait(number, "RUNNING")
    before = submit(slurm, "-p", "cuda", "-N1", "--gres=gpu:l40:4", "-t", "1", seconds=20)
    slurm.wait(before, "PENDING")
    answer = asked("cuda/l40:1x4", "cuda/l40:2x4", "rocm/mi50:1x1")
    foretold = {one.allocation: one for one in answer.allocations}
    assert foretold["rocm/mi50:1x1"].wait.high == 0
    assert foretold["cuda/l40:1x4"].wait.bound
    assert 30 <= foretold["cuda/l40:1x4"].wait.high <= 62
    assert foretold["cuda/l40:2x4"].wait.high >= foretold["cuda/l40:1x4"].wait.high + 55

    mine = submit(slurm, "-p", "cuda", "-N1", "--gres=gpu:l40:4", "-t", "1", seconds=1)
    facts = slurm.wait(mine, "RUNNING", "COMPLETED", seconds=200)
    zone = live.datetime.now().astimezone().tzinfo
    start = moment(facts["StartTime"], zone)
    # Slurm ends a job at its limit within a minute of it, and looks for the next every two seconds
    assert foretold["cuda/l40:1x4"].wait.low - 5 <= start - answer.now <= foretold["cuda/l40:1x4"].wait.high + 65


def test_a_job_that_can_never_run_spoils_slurm_s_estimate_and_not_ours(slurm, asked):
    poison = submit(slurm, "-p", "rocm", "-N1", "--gres=gpu:mi50:1", "-t", "5-00:00:00", seconds=1)
    end = time.monotonic() + 60
    while slurm.job(poison).get("Reason") != "PartitionTimeLimit" and time.monotonic() < end:
        time.sleep(0.2)
    answer = asked("rocm/mi50:3x1", more=["--test-only"])
    assert [one.job for one in answer.poison] == [int(poison)]
    assert answer.allocations[0].wait.high == 0
    assert answer.second_opinion[0].says is not None
    mine = submit(slurm, "-p", "rocm", "-N3", "--gres=gpu:mi50:1", "-t", "1", seconds=1)
    facts = slurm.wait(mine, "RUNNING", "COMPLETED", seconds=30)
    assert facts["NumNodes"] == "3"


def test_what_the_cluster_has_is_judged_without_being_told(slurm, asked):
    answer = asked()
    assert {one.partition for one in answer.allocations} == {"cuda", "rocm", "scavenge"}
    assert all(one.preemptible == (one.partition == "scavenge") for one in answer.allocations)
    assert answer.slurm == "" or answer.slurm[0].isdigit()
    never = asked("rocm/mi50:11x1", "rocm/l40:1x1", "no/mi50:1x1").never
    assert [one.reason for one in never] == ["no-such-nodes", "no-such-nodes", "no-such-partition"]
