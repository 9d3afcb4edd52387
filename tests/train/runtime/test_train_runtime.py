"""`rigup.train` in programs, with a real torch, Lightning and transformers: today's and the oldest."""

import ast
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from free_ports import free_port
from rigup.machine.local import Local
from rigup.machine.training import history_of, run_history
from rigup.schemas.train_history import Ended, Started, Stepped

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RUNTIME = sorted((ROOT / "src" / "rigup" / "train" / "runtime").glob("*.py"))
CHECKS = sorted((HERE / "checks").glob("*.py"))


def run(python, *words, torchrun=0):
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={torchrun}"] if torchrun else []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    environment |= {
        "PYTHONPATH": str(ROOT / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "HF_HUB_OFFLINE": "1",
        "MASTER_PORT": str(free_port()),  # else Lightning takes one that an outgoing connection may take too
    }
    return subprocess.run([python, *launcher, *map(str, words)], env=environment, capture_output=True, text=True, timeout=900, check=False)


def names(path):
    return [node.name for node in ast.parse(path.read_text()).body if getattr(node, "name", "").startswith("test_")]


@pytest.mark.training
def test_checks_in_torch(python):
    done = run(python, ROOT / "tests" / "rigup_torch" / "run_checks.py", "--apart", *CHECKS)
    outcomes = {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert len(outcomes) == sum(len(names(path)) for path in CHECKS), done.stderr[-2000:]
    assert [row["failed"] for row in outcomes.values() if not row.get("passed")] == []


def told(folder, rank):
    return json.loads((folder / f"told-{rank}.json").read_text())


@pytest.mark.training
@pytest.mark.slow
@pytest.mark.parametrize(
    ("python", "program", "at", "rest", "ranks"),
    [
        ("newest", "plain_training.py", 20, (0, 0), 1),
        ("newest", "plain_training.py", 20, (0, 2), 1),
        ("newest", "plain_training.py", 9, (1, 0), 2),
        ("newest", "lightning_training.py", 20, (1,), 1),
        ("newest", "lightning_training.py", 20, (2,), 2),
        ("newest", "huggingface_training.py", 6, (2,), 1),
        ("oldest", "plain_training.py", 20, (0, 0), 1),
        ("oldest", "lightning_training.py", 20, (1,), 1),
        ("oldest", "huggingface_training.py", 6, (2,), 1),
    ],
    indirect=["python"],
    ids=[
        "plain",
        "plain-with-workers",
        "plain-on-two-ranks",
        "lightning",
        "lightning-on-two-ranks",
        "huggingface",
        "oldest-plain",
        "oldest-lightning",
        "oldest-huggingface",
    ],
)
def test_a_resume_after_a_signal_ends_with_the_weights_of_a_run_without_one(python, tmp_path, program, at, rest, ranks):
    """The signal reaches one rank, the last; every batch is read once, in the order of the run that had none."""
    by_torchrun = ranks if ranks > 1 and program.startswith("plain") else 0
    whole, halved = tmp_path / "whole", tmp_path / "halved"
    for folder in (whole, halved):
        folder.mkdir()
    done = run(python, HERE / "programs" / program, whole, -1, *rest, torchrun=by_torchrun)
    assert done.returncode == 0, done.stderr[-3000:]
    stopped = run(python, HERE / "programs" / program, halved, at, *rest, torchrun=by_torchrun)
    assert stopped.returncode == (1 if by_torchrun else 128 + signal.SIGUSR1), stopped.stderr[-3000:]
    first = [told(halved, rank) for rank in range(ranks)]
    resumed = run(python, HERE / "programs" / program, halved, -1, *rest, torchrun=by_torchrun)
    assert resumed.returncode == 0, resumed.stderr[-3000:]
    for rank in range(ranks):
        wanted, got = told(whole, rank), told(halved, rank)
        assert got["weights"] == wanted["weights"]
        assert 0 < first[rank]["count"] < got["count"] == wanted["count"]
        if "read" in wanted:
            assert first[rank]["read"] + got["read"] == wanted["read"]
    _histories(halved / "history", ranks)


def _histories(folder, ranks):
    """Each rank's file holds two attempts, as the typed reader reads it."""
    found = run_history(Local(), str(folder))
    assert len(found) == ranks
    for lines in found.values():
        assert [type(line) for line in lines if not isinstance(line, Stepped)] == [Started, Ended, Started, Ended]
        stepped = [line for line in lines if isinstance(line, Stepped)]
        assert all(0 <= line.wait <= line.seconds and line.steps for line in stepped)
        assert sum(line.samples for line in stepped) > 0


@pytest.mark.training
def test_two_joined_processes_train_as_one_does(python, tmp_path):
    """Losses and weights to 1e-6; the first process alone prints and writes, and a failure to write reaches all."""
    answers = []
    for count in (0, 2):
        done = run(python, HERE / "programs" / "joined_training.py", tmp_path, torchrun=count)
        assert done.returncode == 0, done.stderr[-3000:]
        answers.append(json.loads(done.stdout))
    alone, joined = answers
    assert alone["losses"] == pytest.approx(joined["losses"], abs=1e-6)
    assert alone["losses"][-1] < alone["losses"][0] / 2
    assert alone["weights"].keys() == joined["weights"].keys()
    for name, weight in alone["weights"].items():
        assert weight == pytest.approx(joined["weights"][name], abs=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["model.pt"]


def test_nothing_but_torch_is_imported_at_the_top():
    """Lightning and transformers are imported where they are used, and rigup.torch is the only part of rigup."""
    for path in RUNTIME:
        tops = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        found = {name.name.split(".")[0] for node in tops if isinstance(node, ast.Import) for name in node.names}
        found |= {node.module.split(".")[0] for node in tops if isinstance(node, ast.ImportFrom) and not node.level}
        assert found <= {"torch", *sys.stdlib_module_names}, path


def test_the_package_imports_no_torch_until_a_name_is_asked_for():
    done = run(sys.executable, "-c", "import sys, rigup.train; print([m for m in sys.modules if 'torch' in m or '.runtime' in m])")
    assert done.stdout.strip() == "[]", done.stderr


@given(
    st.text()
    | st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)).map(json.dumps)
)
def test_any_text_is_read_without_an_error(text):
    assert history_of(text) == []


def test_a_line_that_was_cut_short_costs_only_itself():
    row = '{"kind": "steps", "at": 1.0, "steps": 2, "seconds": 0.5, "later": 1}'
    assert history_of(row + "\n" + row[:30] + "\n\n" + row) == [Stepped(at=1.0, steps=2, seconds=0.5)] * 2
    assert msgspec.structs.asdict(history_of(row)[0])["idle"] is None
