"""The check before a launch: silent on launch's own text, and stops what would go wrong."""

import json
import os
from pathlib import Path

import pytest
from launching import OF_RIGUP_TRAIN, PROGRAMS, Folder

from rigup.train.launch.job import Image, Job, Program
from rigup.train.launch.record import Run
from rigup.train.launch.shape import JobShape, Rendezvous, Signal
from rigup.workflows.launch_checking import checked_run

SOUND = sorted([*PROGRAMS.glob("*.py"), *OF_RIGUP_TRAIN.glob("*.py")])
SHAPES = {
    "processors": JobShape(nodes=2, tasks_per_node=2, rendezvous=Rendezvous(address="n1")),
    "gpus": JobShape(nodes=2, tasks_per_node=8, gpus_per_node=8, gpu_type="mi50", cpus_per_task=8, time_limit=3600),
    "one": JobShape(signal=None, requeue=False),
}
WRONG = """\
import lightning
trainer = lightning.Trainer(accelerator="gpu", devices=4, num_nodes=1, strategy="ddp")
trainer.fit(model)
"""


def run_of(script: Path, folder: Path, shape: JobShape, **more: object) -> Run:
    program = Program(script=str(script), arguments=("out", "4"), folder=str(folder))
    return Run(job=Job(name="a", shape=shape, program=program, run_folder=str(folder / "run"), **more))


@pytest.mark.parametrize("script", SOUND, ids=lambda path: path.stem)
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_is_found_in_what_launch_writes(script, shape, tmp_path):
    image = Image(path="/a.sif", flag="--rocm", binds=(str(tmp_path),)) if shape == "gpus" else None
    rows = (("--lr", "0.1"), ("--lr", "$HOME")) if shape == "processors" else ()
    for launcher in ("slurm", "torchrun"):
        run = run_of(script, tmp_path, SHAPES[shape], image=image, rows=rows)
        now, _remark = checked_run(Run(job=run.job, launcher=launcher), keep_signal=False)
        assert (now.checked, now.findings) == (True, ())


@pytest.mark.parametrize("name", ["plain_training.py", "huggingface_training.py", "lightning_training.py", "resumable.py"])
def test_a_signal_is_kept_where_the_program_handles_it(name, tmp_path):
    script = next(path for path in SOUND if path.name == name)
    now, remark = checked_run(run_of(script, tmp_path, SHAPES["processors"]), keep_signal=False)
    assert (now.job.shape.signal, remark) == (Signal(), "")


def test_a_signal_that_would_end_the_program_is_left_out_unless_asked_for(tmp_path):
    run = run_of(PROGRAMS / "plain_ddp.py", tmp_path, SHAPES["processors"])
    now, remark = checked_run(run, keep_signal=False)
    assert now.job.shape.signal is None
    assert "plain_ddp.py is not seen to handle one" in remark
    kept, remark = checked_run(run, keep_signal=True)
    assert (kept.job.shape.signal, remark) == (Signal(), "")
    assert [(finding.cause, finding.severity) for finding in kept.findings] == [("signal-without-handler", "warning")]


def test_what_is_no_python_is_launched_unchecked_and_said_so(tmp_path):
    (tmp_path / "a.py").write_text("print 'of another age'\n")
    now, remark = checked_run(run_of(tmp_path / "a.py", tmp_path, SHAPES["one"]), keep_signal=False)
    assert (now.checked, now.findings) == (False, ())
    assert "a.py:1" in remark
    (tmp_path / "a.sh").write_text("exec true\n")
    assert checked_run(run_of(tmp_path / "a.sh", tmp_path, SHAPES["one"]), keep_signal=False)[1] == ""


@pytest.fixture
def folder(tmp_path) -> Folder:
    """With an sbatch that notes that it was called."""
    found = Folder(tmp_path / "a project", dict(os.environ))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "sbatch").write_text(f"#!/bin/sh\ntouch {tmp_path}/called\necho 7\n")
    (programs / "scontrol").write_text("#!/bin/sh\nexit 1\n")
    for name in ("sbatch", "scontrol"):
        (programs / name).chmod(0o755)
    found.environment["PATH"] = f"{programs}:/usr/bin:/bin"
    return found


@pytest.mark.long
def test_errors_stop_a_launch_and_nothing_is_written(folder, tmp_path):
    words = ("launch", folder.program("wrong.py", WRONG), "--nodes", "2", "--gpus", "2", "--python", "python3")
    done = folder.rigup(*words, "--no-follow")
    assert done.returncode == 2
    assert "Nothing was launched: the check found errors" in " ".join(done.stderr.split())
    assert "wrong.py:2: error:" in " ".join(done.stderr.split())
    assert os.listdir(folder.path) == ["wrong.py"]
    assert not (tmp_path / "called").exists()
    printed = folder.rigup(*words, "--print", "--json")
    answer = json.loads(printed.stdout)
    assert (printed.returncode, answer["checked"]) == (0, True)
    assert {finding["severity"] for finding in answer["findings"]} == {"error"}
    again = json.loads(folder.rigup(*words, "--no-follow", "--no-check", "--json").stdout)
    assert (again["job"], again["checked"], again["findings"]) == (7, False, [])
    assert (tmp_path / "called").exists()
