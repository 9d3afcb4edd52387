"""`rigup lab --partition` on a real Slurm: the server in a job, its end told in time, and neither job nor process left behind."""

import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loopback_ssh import daemon
from processes import gone
from rigup.cli import lab_remote, run
from rigup.cli.failing import WrongRequest
from rigup.lab.errors import LabError

__all__ = ["daemon"]
pytestmark = pytest.mark.slurm
WHO = "import os, sys; print(sys.prefix, os.environ.get('SLURMD_NODENAME'), os.environ.get('ROCR_VISIBLE_DEVICES'), os.environ.get('JUPYTER_TOKEN'))"
TRIES, PAUSE = 600, 0.1


def prefix(python):
    return str(Path(python).parent.parent)


def until(true):
    for _ in range(TRIES):
        if true():
            return True
        time.sleep(PAUSE)
    return False


def jobs(slurm):
    return slurm.run("squeue", "-h", "-o", "%A %j").stdout.split("\n")[:-1]


def left_of(account):
    """Processes that have this account's folders, beside rigup itself; and folders of runs."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and f"HOME={account}".encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().decode("utf-8", "replace").replace("\0", " ")
                found += [int(folder.name)] if "rigup-lab-" in words or "on_node" in words else []
        except OSError:
            continue
    return found


@pytest.fixture
def here(slurm, account):
    return account


@pytest.fixture
def elsewhere(slurm, daemon, account, monkeypatch):
    """The login node of the cluster, by ssh."""
    daemon.renew()
    names = ("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR", "SLURM_CONF", "PATH")
    kept = " ".join(f"{name}={os.environ[name]}" for name in names)
    daemon.entry(f'export {kept}; exec /bin/sh -c "$SSH_ORIGINAL_COMMAND"')
    monkeypatch.setenv("PATH", str(daemon.folder / "client") + os.pathsep + os.environ["PATH"])
    return account


@pytest.mark.parametrize(("place", "words"), [("here", ()), ("elsewhere", ("--host", "node7"))])
def test_cells_run_in_a_job_that_ends_with_ctrl_c(request, slurm, jupyter_python, lab_process, place, words):
    account = request.getfixturevalue(place)
    asked = ("--partition", "rocm", "--time", "30", "--gpus", "2", "--env", prefix(jupyter_python), *words)
    with lab_process(*asked) as lab:
        assert lab.answer, lab.end(0)[1]
        (cell,) = lab.execute(jupyter_python, WHO, keep=True)
        where, node, devices, token = cell["printed"].split()
        assert (where, node, token) == (prefix(jupyter_python), lab.answer["host"], "None")
        assert node.startswith("rocm")
        assert devices == "0,1"
        left = datetime.fromisoformat(lab.answer["ends_at"]) - datetime.now().astimezone()
        assert timedelta(minutes=25) < left <= timedelta(minutes=31)
        (job,) = jobs(slurm)
        everything = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        assert lab.token not in everything + str(slurm.job(job.split()[0]))
        assert left_of(account)
        status, errors = lab.end(signal.SIGINT)
    assert (status, "ended with its kernels" in errors) == (0, True), errors
    assert until(lambda: not jobs(slurm))
    assert all(gone(pid) for pid in left_of(account))
    assert not list((account / "TMPDIR").iterdir())


def test_without_the_token_nobody_gets_in(here, slurm, jupyter_python, lab_process):
    (here / "HOME" / ".jupyter").mkdir()
    (here / "HOME" / ".jupyter" / "jupyter_server_config.py").write_text("c.IdentityProvider.token = ''\n")
    with lab_process("--partition", "cuda", "--env", prefix(jupyter_python)) as lab:
        status, errors = lab.end(0)
    assert (status, lab.answer) == (1, None)
    assert "lets in everybody" in errors
    assert until(lambda: not jobs(slurm))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_job_that_waits_is_told_and_taken_back(here, slurm, lab_process, jupyter_python, number):
    slurm.run("sbatch", "-p", "cuda", "-N", "2", "--exclusive", "--wrap", "sleep 600", cwd=slurm.folder)
    assert until(lambda: "R" in slurm.run("squeue", "-h", "-o", "%t").stdout)
    words = ["lab", "--partition", "cuda", "--gpus", "4", "--time", "2:00:00", "--env", prefix(jupyter_python), "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "rigup", *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert "queued and waiting" in process.stderr.readline()
    assert len(jobs(slurm)) == 2
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    if number == signal.SIGINT:
        assert (process.returncode, "nothing is left there" in errors) == (130, True)
    assert until(lambda: len(jobs(slurm)) == 1)


def test_the_end_of_the_job_is_told(here, slurm, lab_process, jupyter_python):
    with lab_process("--partition", "cuda", "--time", "1", "--env", prefix(jupyter_python)) as lab:
        (job,) = jobs(slurm)
        slurm.run("scancel", job.split()[0])  # as the end of its time does
        _, errors = lab.process.communicate(timeout=120)
    assert lab.process.returncode == 1
    assert "time on cuda" in errors
    assert "--time" in errors


def test_a_job_that_is_taken_away_early_is_not_said_to_be_over_in_time(here, slurm, lab_process, jupyter_python):
    with lab_process("--partition", "cuda", "--time", "60", "--env", prefix(jupyter_python)) as lab:
        (job,) = jobs(slurm)
        slurm.run("scancel", job.split()[0])
        _, errors = lab.process.communicate(timeout=120)
    assert "ended by itself on cuda" in errors
    # Of what srun and Jupyter wrote last: srun's own words, or what Jupyter says as it is ended, which may be longer than what is shown.
    assert any(word in errors for word in ("CANCELLED", "Job step aborted", "hutting down", 'File "'))


def test_what_the_cluster_refuses_is_told(here, slurm, capsys, jupyter_python):
    env = ["--env", prefix(jupyter_python)]
    assert run(["lab", "--partition", "nowhere", *env]) == 1
    assert "invalid partition" in capsys.readouterr().err
    for words in (["--gpus", "0"], ["--gpus", "2 --x"], ["--time", "-1"], ["--partition", "-a"], ["--partition", "a b"]):
        assert run(["lab", *words, *env]) == 2
    assert jobs(slurm) == []


def test_a_machine_without_slurm_is_told(account, capsys, jupyter_python, monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert run(["lab", "--partition", "gpu", "--env", prefix(jupyter_python)]) == 1
    assert "There is no srun" in capsys.readouterr().err


class Held:
    """A connection whose job has so many seconds left at each look."""

    def __init__(self, monkeypatch, *left):
        self.left, self.ends_at = list(left), 1e6
        monkeypatch.setattr(lab_remote.time, "time", lambda: 1e6 - self.left[0])

    def hold(self):
        self.left.pop(0)
        if len(self.left) == 1:
            raise LabError("over")
        return True


@pytest.mark.parametrize(
    ("left", "told"), [([3600, 700, 599, 590, 119, 100, 0], ["10 min", "2 min"]), ([400, 300, 119, 0], ["2 min"]), ([60, 50, 40, 0], [])]
)
def test_the_end_is_announced_some_minutes_before(monkeypatch, capsys, left, told):
    with pytest.raises(LabError):
        lab_remote._hold(Held(monkeypatch, *left))
    errors = capsys.readouterr().err
    assert errors.count("The job ends in") == len(told)
    assert all(word in errors for word in told)


@given(st.dictionaries(st.sampled_from(["partition", "limit", "gpus", "account"]), st.text(max_size=30)))
def test_no_value_becomes_another_option_of_srun(values):
    wish = dict.fromkeys(["partition", "limit", "gpus", "account"], "") | values
    try:
        words = lab_remote._srun(wish)
    except WrongRequest:
        return
    assert len(words) == sum(map(bool, wish.values()))
    assert all(word.startswith("--") and not set(word) & set(" \n\t;$'\"") for word in words)
