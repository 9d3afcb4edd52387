"""Projects of `rigup train new` under a real Slurm: two nodes with two processes each, by their own batch script."""

import json
import os
import re
from pathlib import Path

import pytest

from rigup.train.project.files import KINDS
from rigup.workflows.train_projects import new_project

pytestmark = [pytest.mark.slurm, pytest.mark.training, pytest.mark.slow]
SOURCES = Path(__file__).parents[3] / "src"
ACTIVATE = """\
export PATH={bin}:"$PATH" PYTHONPATH={sources} PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 XDG_STATE_HOME={state}
export MASTER_ADDR=127.0.0.1  # nodes of the tests' cluster have names that Slurm alone knows
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_project_trains_on_two_nodes_of_two(slurm, tmp_path, kind):
    """Four ranks train to the stated accuracy and record their steps; the batch script is the project's own."""
    python = os.environ.get("RIGUP_TRAIN_PYTHON")
    if not python:
        pytest.skip("RIGUP_TRAIN_PYTHON names no interpreter with torch, lightning, transformers and peft")
    project = tmp_path / "project"
    new_project(kind, str(project), nodes=2, gpus=2, cpus=2, time="01:00:00", partition="rocm")
    (project / ".venv" / "bin").mkdir(parents=True)
    words = {"bin": os.path.dirname(python), "sources": SOURCES, "state": tmp_path / "state"}
    (project / ".venv" / "bin" / "activate").write_text(ACTIVATE.format(**words))
    done = slurm.run("sbatch", "--parsable", f"--chdir={project}", str(project / "job.sbatch"), "--accelerator", "cpu")
    assert done.returncode == 0, done.stderr
    job = int(done.stdout.strip())
    state = slurm.wait(job, seconds=900)["JobState"]
    log = (project / f"slurm-{job}.out").read_text(errors="replace")
    assert state == "COMPLETED", log[-3000:]
    found = re.findall(r"^accuracy ([\d.]+)$", log, re.MULTILINE)
    assert len(set(found)) == 1, log[-6000:]  # Lightning prints on the first rank of each node
    accuracy = found[0]
    assert float(accuracy) >= 0.85
    ranks = sorted((tmp_path / "state" / "rigup" / "training" / f"slurm-{job}").glob("rank-*.jsonl"))
    starts = [json.loads(path.read_text().splitlines()[0]) for path in ranks]
    assert [(start["rank"], start["world_size"], start["nodes"]) for start in starts] == [(rank, 4, 2) for rank in range(4)]
