"""`rigup launch` on a real Slurm: ranks and gradients, requeue, cancel, and what keeps a job from beginning."""

import json
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from launching import BOUND, Folder, torch_python, train_python, wait_for

pytestmark = pytest.mark.slurm
SIZE = ("--nodes", "2", "--tasks", "2", "--partition", "rocm", "--time", "60")
PLAIN = (*SIZE, "--python", sys.executable, "--no-preflight")  # jobs that need no torch


@pytest.fixture
def folder(slurm, tmp_path) -> Folder:
    return Folder(tmp_path / "a project", dict(slurm.environment))


def same_as_one_process(folder: Folder, python: str, program: str, *words: str) -> None:
    """Ranks cover the data without overlap, and their gradients and weights are those of one process with the same global batch."""
    ranks = folder.ranks()
    assert [rank["rank"] for rank in ranks] == [0, 1, 2, 3]
    assert {rank["world"] for rank in ranks} == {4}
    assert [rank["node"] for rank in ranks] == ["rocm01", "rocm01", "rocm02", "rocm02"]
    assert sorted(number for rank in ranks for number in rank["seen"]) == list(range(64))
    alone = folder.path / "alone"
    alone.mkdir()
    subprocess.run([python, program, str(alone), *words], cwd=folder.path, check=True, capture_output=True)
    expected = json.loads((alone / "rank0.json").read_text())
    for rank in ranks:
        for name in ("gradient", "weights"):
            assert max(abs(a - b) for a, b in zip(rank[name], expected[name], strict=True)) < 1e-6


def test_plain_ddp_over_two_nodes_is_as_one_process(folder):
    python = torch_python()
    done, answer = folder.launch(folder.program("plain_ddp.py"), str(folder.path), "4", *SIZE, "--python", python)
    assert (done.returncode, answer["state"], answer["exit"]) == (0, "completed", 0), done.stderr
    assert all(check["passed"] for check in answer["preflight"])
    assert {"all-reduce", "name-resolves", "port-answers", "tasks-equal-world", "devices-equal", "visibility-not-doubled"} == {
        check["check"] for check in answer["preflight"]
    }
    same_as_one_process(folder, python, "plain_ddp.py", "4")


@pytest.mark.training
def test_lightning_over_two_nodes_is_as_one_process(folder):
    python = train_python()
    done, answer = folder.launch(folder.program("with_lightning.py"), str(folder.path), "4", "2", "2", *SIZE, "--python", python)
    assert (done.returncode, answer["state"]) == (0, "completed"), done.stderr
    assert {rank["environment"] for rank in folder.ranks()} == {"SLURMEnvironment"}, "it would not requeue"
    assert answer["trainer"] == {"devices": 2, "num_nodes": 2, "strategy": "ddp", "accelerator": "cpu"}
    same_as_one_process(folder, python, "with_lightning.py", "4", "1", "1")


def test_a_sampler_for_more_ranks_than_run_is_told_of(folder):
    program = folder.program(
        "half.py",
        "from torch.utils.data.distributed import DistributedSampler\n"
        "import os\n"
        "DistributedSampler(range(8), num_replicas=2 * int(os.environ['WORLD_SIZE']), rank=int(os.environ['RANK']))\n",
    )
    done, answer = folder.launch(program, *SIZE, "--python", torch_python())
    assert (done.returncode, answer["state"]) == (1, "failed")
    assert "sampler-replicas: a sampler splits the data among 8 ranks, and 4 run" in answer["failing"]["error"]


@pytest.mark.training
@pytest.mark.parametrize(
    ("program", "words"),
    [("plain_training.py", ("2", "0")), ("lightning_training.py", ("2",)), ("huggingface_training.py", ("8",))],
    ids=["plain", "lightning", "huggingface"],
)
def test_what_rigup_train_saved_goes_on_at_the_very_batch(folder, slurm, program, words):
    """A rank gets the signal at a step: all save, Slurm starts the job again, and its end is that of a job without a signal."""
    folder.program(program)
    python, read = train_python(), {}
    for name, step in (("whole", "1000"), ("cut", "5")):
        (folder.path / name).mkdir()
        asked = folder.rigup("launch", program, name, step, *words, *SIZE, "--python", python, "--name", name, "--no-follow", "--json")
        job = json.loads(asked.stdout)["job"]
        if name == "cut":
            wait_for_next_attempt(slurm, job)
            read["before"] = ranks_of(folder.path / name)
            begin_next_attempt(slurm, job)
        ended = slurm.wait(job, seconds=BOUND)
        said = (ended, *map(Path.read_text, folder.path.glob(f"rigup-runs/{name}-*/*.t[sx][vt]")))
        assert ended["JobState"] == "COMPLETED", said
        assert len(list((folder.path / name).glob("told-*.json"))) == 4, said
        read[name] = ranks_of(folder.path / name)
    for whole, before, after in zip(read["whole"], read["before"], read["cut"], strict=True):
        assert 0 < before["count"] < after["count"] == whole["count"]
        assert max(abs(a - b) for a, b in zip(after["weights"], whole["weights"], strict=True)) < 1e-6
        if "read" in whole:  # each batch once, in the order of a job without a signal; transformers reads batches again, and skips them
            assert before["read"] + after["read"] == whole["read"]
    now = json.loads(folder.rigup("launch", "status", "--json").stdout)
    assert (now["state"], len(now["attempts"]), now["checked"], now["findings"]) == ("completed", 2, True, [])
    assert now["numbers"]["signal"]["name"] == "USR1"


def wait_for_next_attempt(slurm, job: int) -> None:
    """Until the first attempt of a job has ended, and the second one waits."""
    wait_for(lambda: (facts := slurm.job(job)).get("Restarts") == "1" and facts["JobState"] == "PENDING")


def begin_next_attempt(slurm, job: int) -> None:
    """Start the second attempt, for which Slurm waits two minutes by itself.

    A node refuses it while the first still ends there, and in the same second ("Job credential revoked"): that job would
    then count as failed.
    """
    wait_for(lambda: not steps_of(job))
    time.sleep(2)
    done = slurm.run("scontrol", "update", f"JobId={job}", "StartTime=now")
    assert done.returncode == 0 or slurm.job(job).get("JobState") != "PENDING", done.stderr


def ranks_of(path) -> list[dict]:
    return [json.loads((path / f"told-{rank}.json").read_text()) for rank in range(4)]


@pytest.mark.slow
def test_a_job_is_requeued_and_goes_on_at_the_batch_where_it_was(folder, slurm):
    """Slurm sends the signal by the time limit, 45 to 75 s after the start: ranks are there then, and have 100 s to do."""
    program = folder.program("resumable.py")
    words = (program, str(folder.path), *PLAIN[:6], *PLAIN[8:], "--time", "2", "--lead", "45", "--no-follow", "--json")
    job = json.loads(folder.rigup("launch", *words).stdout)["job"]
    wait_for_next_attempt(slurm, job)
    begin_next_attempt(slurm, job)
    assert slurm.wait(job, seconds=BOUND)["JobState"] == "COMPLETED"
    answer = json.loads(folder.rigup("launch", "status", "--json").stdout)
    assert (answer["state"], [attempt["exit"] for attempt in answer["attempts"]]) == ("completed", [0, 0])
    seen = [json.loads((folder.path / f"seen{rank}.json").read_text()) for rank in range(4)]
    assert [len(numbers) for numbers in seen] == [100] * 4
    assert sorted(number for numbers in seen for number in numbers) == list(range(400)), "each number once, over all attempts"


def test_a_failing_rank_is_told_of_with_its_own_error(folder):
    program = folder.program(
        "fails.py",
        "import os, time\nif os.environ['RANK'] == '2':\n    raise ValueError('the label 12 is out of range')\ntime.sleep(600)\n",
    )
    done, answer = folder.launch(program, *PLAIN)
    assert (done.returncode, answer["state"]) == (1, "failed")
    failing = answer["failing"]
    assert (failing["rank"], failing["node"], failing["exit"]) == (2, "rocm02", 1)
    assert failing["error"].splitlines()[-1] == "ValueError: the label 12 is out of range"
    assert failing["error"].startswith("Traceback")
    shown = folder.rigup("launch", "status")
    assert shown.returncode == 1
    assert "Rank 2 on rocm02 failed of itself:" in shown.stdout
    assert "ValueError: the label 12 is out of range" in shown.stdout


def test_ranks_that_ignore_the_end_of_another_are_killed(folder):
    program = folder.program(
        "ignores.py",
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "if os.environ['RANK'] == '3':\n"
        "    sys.exit('the disk is full')\n"
        "time.sleep(600)\n",
    )
    done, answer = folder.launch(program, *PLAIN)
    assert (done.returncode, answer["state"]) == (1, "failed")
    assert (answer["failing"]["rank"], answer["failing"]["error"]) == (3, "the disk is full")


def test_a_job_is_cancelled_though_it_ignores_to_be_asked(folder):
    program = folder.program(
        "waits.py", "import signal, time\nsignal.signal(15, signal.SIG_IGN)\nprint('begun', flush=True)\ntime.sleep(600)\n"
    )
    begun = folder.rigup("launch", program, *PLAIN, "--no-follow", "--json")
    log = json.loads(begun.stdout)["log"]
    wait_for(lambda: "begun" in text_of(log))
    done = folder.rigup("launch", "cancel", "--json")
    assert (done.returncode, json.loads(done.stdout)["state"]) == (0, "cancelled")
    assert "is no run" not in done.stderr


def test_who_stops_following_leaves_the_job(folder, slurm):
    program = folder.program("waits.py", "import time\nprint('begun', flush=True)\ntime.sleep(600)\n")
    with folder.following(program, *PLAIN) as following:
        assert "begun" in following.stdout.readline()
        following.send_signal(signal.SIGINT)
        _rest, errors = following.communicate(timeout=BOUND)
    assert following.returncode == 130
    assert "The job goes on." in errors
    assert json.loads(folder.rigup("launch", "status", "--json").stdout)["state"] == "running"


def test_an_address_that_does_not_resolve(folder):
    done, answer = folder.launch(
        folder.program("never.py", "raise SystemExit('begun')\n"), *SIZE, "--python", torch_python(), "--address", "no-such-host.invalid"
    )
    assert (done.returncode, answer["state"]) == (78, "failed")
    assert answer["failing"]["error"].startswith("name-resolves: MASTER_ADDR=no-such-host.invalid does not resolve")
    assert "begun" not in text_of(answer["log"])


def test_a_mask_that_is_doubled(folder):
    program = folder.program("never.py", "raise SystemExit('begun')\n")
    words = ("--nodes", "2", "--gpus", "mi50:2", "--partition", "rocm", "--set", "HIP_VISIBLE_DEVICES=2,3")
    done, answer = folder.launch(program, *words, "--python", torch_python())
    assert (done.returncode, answer["state"]) == (78, "failed")
    assert answer["failing"]["error"].startswith("visibility-not-doubled: ROCR_VISIBLE_DEVICES=0,1 leaves 2 GPUs")


def test_a_rank_that_hangs(folder):
    python = folder.path / "python"
    python.write_text(f'#!/bin/sh\n[ "$SLURM_PROCID" = 3 ] && exec sleep 600\nexec "{torch_python()}" "$@"\n')
    python.chmod(0o755)
    done, answer = folder.launch(folder.program("never.py", "raise SystemExit('begun')\n"), *SIZE, "--python", str(python))
    assert (done.returncode, answer["state"]) == (78, "failed")
    assert answer["failing"]["rank"] == 3
    words = "tasks-equal-world: rank 3 did not come to the meeting within 20 s; the others, on rocm01, rocm02, did"
    assert answer["failing"]["error"] == words


def test_gpus_that_torch_does_not_see(folder):
    program = folder.program("never.py", "raise SystemExit('begun')\n")
    done, answer = folder.launch(program, "--gpus", "mi50:2", "--partition", "rocm", "--time", "60", "--python", torch_python())
    assert (done.returncode, answer["allocation"]) == (78, "rocm/mi50:1x2")
    assert answer["failing"]["error"].startswith(
        "devices-equal: torch sees 0 GPUs of 2 here: it was built for no GPU at all; ROCR_VISIBLE_DEVICES=0,1"
    )


def test_each_row_of_a_table_is_a_run(folder):
    program = folder.program(
        "row.py",
        "import os, sys\nopen(f\"{sys.argv[-1]}{os.environ['RANK']}\", 'w').write(' '.join(sys.argv[1:]))\nsys.exit(os.environ['RANK'] == '0' and 'out-b' in sys.argv)\n",
    )
    (folder.path / "table.csv").write_text("lr,note,out\n0.1,a 'b' $HOME,out-a\n,#SBATCH; rm -rf /,out-b\n")
    done, answer = folder.launch(program, "--batch", "8", "--array", "table.csv", "--tasks", "2", *PLAIN[:2], *PLAIN[4:])
    assert (done.returncode, answer["state"]) == (1, "failed"), done.stderr
    assert [(run["state"], run["exit"]) for run in answer["array"]] == [("completed", 0), ("failed", 1)]
    assert (folder.path / "out-a3").read_text() == "--batch 8 --lr 0.1 --note a 'b' $HOME --out out-a"
    assert (folder.path / "out-b0").read_text() == "--batch 8 --note #SBATCH; rm -rf / --out out-b"


def test_a_script_that_a_person_edited_is_submitted_as_it_stands(folder):
    program = folder.program("word.py", "import os\nprint('the word is', os.environ.get('WORD'), flush=True)\n")
    _done, answer = folder.launch(program, *PLAIN)
    script = folder.path / answer["script"]
    script.write_text(script.read_text().replace("\nsrun ", "\nexport WORD=edited\nsrun "))
    again = folder.rigup("launch", "resume", answer["id"], "--json")
    now = json.loads(again.stdout)
    assert (again.returncode, now["job"], len(now["attempts"])) == (0, answer["job"] + 1, 2)
    assert "3: the word is edited" in folder.rigup("launch", "logs", str(now["job"])).stdout


def test_what_slurm_refuses_is_said_in_its_words(folder):
    done = folder.rigup("launch", folder.program("never.py", "1\n"), *PLAIN[:4], "--partition", "nowhere", "--python", sys.executable)
    assert done.returncode in (1, 2)
    assert "invalid partition specified: nowhere" in done.stderr
    assert "Traceback" not in done.stderr


def text_of(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def steps_of(job: int) -> list[str]:
    """The processes by which Slurm's nodes, all on this machine, look after what a job runs."""
    titles = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            titles.append(path.read_bytes().decode("utf-8", "replace"))
    return [title for title in titles if title.startswith(f"slurmstepd: [{job}.")]
