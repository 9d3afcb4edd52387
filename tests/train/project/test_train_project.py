"""`rigup train new`: projects that train as they are, by their own tests, and that the check has nothing to say of."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from free_ports import free_port
from rigup.cli import run
from rigup.train.project.files import KINDS
from rigup.workflows.errors import RequestError
from rigup.workflows.train_checking import checked
from rigup.workflows.train_projects import new_project

ROOT = Path(__file__).parents[3]


def within(folder, state, *command):
    """Run in a project's folder, as its user would; no network is looked for."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    environment |= {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "XDG_STATE_HOME": str(state),
        "MASTER_PORT": str(free_port()),  # else Lightning takes one that an outgoing connection may take too
    }
    return subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.training
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_project_passes_its_own_tests_of_which_one_is_a_whole_training(python, tmp_path, kind):
    new_project(kind, str(tmp_path / "project"))
    done = within(tmp_path / "project", tmp_path / "state", python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout[-3000:]
    stated = {"minimal": "0.95", "complete": "0.95", "lora": "0.85"}[kind]
    assert f">= {stated}" in (tmp_path / "project" / "tests" / "test_project.py").read_text()
    assert stated in (tmp_path / "project" / "README.md").read_text()


@pytest.mark.training
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_notebook_trains(newest_python, tmp_path, kind):
    new_project(kind, str(tmp_path / "project"))
    cells = json.loads((tmp_path / "project" / "notebook.ipynb").read_text())["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    done = within(tmp_path / "project", tmp_path / "state", newest_python, "-c", code + "\nassert accuracy >= 0.85, accuracy")
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.training
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_train_to_the_stated_accuracy(newest_python, tmp_path, kind):
    new_project(kind, str(tmp_path / "project"))
    by = () if kind != "lora" else ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
    devices = ("--devices", "2") if kind != "lora" else ()
    words = ("train.py", "--accelerator", "cpu", *devices, "--folder", tmp_path / "run")
    done = within(tmp_path / "project", tmp_path / "state", newest_python, *by, *words)
    assert done.returncode == 0, done.stderr[-3000:]
    (accuracy,) = [float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("accuracy ")]
    assert accuracy >= 0.85


@pytest.mark.training
def test_pictures_of_a_folder_are_read(newest_python, tmp_path):
    """A folder with a folder for each class; one that has too little is told of."""
    new_project("minimal", str(tmp_path / "project"))
    code = """
from pathlib import Path
from PIL import Image
from data import pictures
for name, bright in (("dark", 0), ("light", 255)):
    Path("own", name).mkdir(parents=True)
    for number in range(10):
        Image.new("RGB", (40, 30), (bright,) * 3).save(f"own/{name}/{number}.png")
training, judged, names = pictures("own")
assert (len(training), len(judged), names) == (16, 4, ["dark", "light"])
assert all(float(image.mean()) == kind for image, kind in training)
Path("few", "a").mkdir(parents=True)
pictures("few")
"""
    done = within(tmp_path / "project", tmp_path / "state", newest_python, "-c", code)
    if "No module named 'PIL'" in done.stderr:
        pytest.skip(f"Pillow is not installed for {newest_python}")
    assert done.stderr.strip().startswith("few has 0 pictures in 1 folders"), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("numbers", [{}, {"nodes": 2, "gpus": 4, "cpus": 8, "time": "2-00:00:00", "partition": "gpu"}])
def test_the_check_has_nothing_to_say(tmp_path, kind, numbers):
    new_project(kind, str(tmp_path / "p"), **numbers)
    answer = checked(str(tmp_path / "p" / "train.py"), str(tmp_path / "p" / "job.sbatch"), None).answer
    assert [finding.cause for finding in answer.findings] == []
    assert answer.starts


def test_the_job_has_the_numbers_that_were_asked_for(tmp_path, capsys):
    words = ["--nodes", "2", "--gpus", "8", "--cpus", "6", "--time", "1-00:00:00", "--partition", "rocm", "--json"]
    assert run(["train", "new", "complete", str(tmp_path / "my project"), *words]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "rigup.train-new/1"
    assert sorted(answer["files"]) == sorted(
        str(path.relative_to(tmp_path / "my project")) for path in (tmp_path / "my project").rglob("*") if path.is_file()
    )
    job = (tmp_path / "my project" / "job.sbatch").read_text().splitlines()
    assert {
        "#SBATCH --job-name=my-project",
        "#SBATCH --nodes=2",
        "#SBATCH --ntasks-per-node=8",
        "#SBATCH --gpus-per-node=8",
        "#SBATCH --cpus-per-task=6",
        "#SBATCH --time=1-00:00:00",
        "#SBATCH --partition=rocm",
    } <= set(job)
    texts = [path.read_text() for path in (tmp_path / "my project").rglob("*") if path.is_file()]
    assert not [text for text in texts if "@NAME@" in text or "@PARTITION@" in text]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"nodes": 0}, "--nodes: 0"),
        ({"gpus": 65}, "--gpus: 65"),
        ({"cpus": -1}, "--cpus: -1"),
        ({"time": "soon"}, "no time"),
        ({"time": "1:00\n#SBATCH --wrap=x"}, "no time"),
        ({"partition": "a b"}, "no name"),
        ({"partition": "a\n#SBATCH -x"}, "no name"),
    ],
)
def test_numbers_that_no_job_can_have(tmp_path, numbers, said):
    with pytest.raises(RequestError, match=said):
        new_project("minimal", str(tmp_path / "p"), **numbers)
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_stays(tmp_path, capsys):
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "a.txt").write_text("mine")
    for folder in ("held", "held/a.txt"):
        assert run(["train", "new", "minimal", str(tmp_path / folder)]) == 2
        assert "not empty" in " ".join(capsys.readouterr().err.split())
    assert run(["train", "new", "other", str(tmp_path / "x")]) == 2
    assert "minimal, complete, lora" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
    assert (tmp_path / "held" / "a.txt").read_text() == "mine"


def test_an_empty_folder_is_filled_and_a_failure_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    new_project("minimal", ".")
    assert (tmp_path / "empty" / "train.py").is_file()
    monkeypatch.setattr(Path, "write_text", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        new_project("lora", str(tmp_path / "other"))
    assert [path.name for path in tmp_path.iterdir()] == ["empty"]


def _interrupted(*_given, **_options):
    raise KeyboardInterrupt


def test_files_are_python_that_a_linter_accepts(tmp_path):
    for kind in KINDS:
        new_project(kind, str(tmp_path / kind))
    (tmp_path / "ruff.toml").write_text('line-length = 140\n[lint]\nselect = ["E", "F", "B", "UP"]\nignore = ["B905"]\n')
    done = within(tmp_path, tmp_path, sys.executable, "-m", "ruff", "check", "--no-cache", ".")
    if "No module named ruff" in done.stderr:
        pytest.skip("ruff is not installed here")
    assert done.returncode == 0, done.stdout
