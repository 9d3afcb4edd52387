"""A real training of Lightning whose GPUs are recorded; RIGUP_TRAIN_PYTHON names an interpreter that has it."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

import pytest

from rigup.watch.lightning import recorder
from rigup.watch.recording import Recording

PYTHON = os.environ.get("RIGUP_TRAIN_PYTHON", "")
SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = """
import sys, time
sys.path.insert(0, {source!r})
sys.path.append({libraries!r})
import torch, lightning.pytorch as pl
from rigup.watch.lightning import recorder

class Model(pl.LightningModule):
    def __init__(self, fails):
        super().__init__()
        self.layer, self.fails = torch.nn.Linear(4, 1), fails
    def training_step(self, batch, number):
        time.sleep(0.2)
        if number == self.fails:
            raise ValueError("a batch that is none")
        return self.layer(batch).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

for path, fails in {runs!r}:
    print({between!r}, file=sys.stderr, flush=True)
    try:
        callback = recorder(path, 0.05)
        trainer = pl.Trainer(max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[callback])
        trainer.fit(Model(fails), torch.utils.data.DataLoader(torch.ones(5, 4)))
    except ValueError as error:
        print("ValueError:", error, file=sys.stderr)
"""
BETWEEN = "== the next training =="


class Trainings(NamedTuple):
    """A whole one, one that fails, one that cannot be recorded; each with what was said of it."""

    whole: str
    failed: str
    unrecorded: str
    folder: Path


@pytest.fixture(scope="module")
def trainings(tmp_path_factory) -> Trainings:
    """One after another in one process, which imports Lightning once."""
    if not PYTHON:
        pytest.skip("RIGUP_TRAIN_PYTHON names no interpreter with Lightning")
    folder = tmp_path_factory.mktemp("trainings")
    (folder / "unrecorded.db").write_text("no recording, and long enough to be seen as none")
    runs = [(str(folder / f"{name}.db"), fails) for name, fails in (("whole", -1), ("failed", 2), ("unrecorded", -1))]
    words = {"source": str(SOURCE), "libraries": sysconfig.get_paths()["platlib"], "runs": runs, "between": BETWEEN}
    done = subprocess.run([PYTHON, "-c", PROGRAM.format(**words)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return Trainings(*done.stderr.split(BETWEEN)[1:], folder)


@pytest.mark.training
def test_a_training_is_recorded_while_it_lasts(trainings) -> None:
    assert "Error" not in trainings.whole
    recording = Recording(str(trainings.folder / "whole.db"))
    times = [sample.time for sample in recording.samples()]
    recording.close()
    assert len(times) >= 3
    assert times[-1] - times[0] >= 0.5  # five steps of 0.2 s


@pytest.mark.training
def test_one_that_fails_is_recorded_until_then(trainings) -> None:
    assert "a batch that is none" in trainings.failed
    recording = Recording(str(trainings.folder / "failed.db"))
    assert recording.count() >= 2
    recording.close()


@pytest.mark.training
def test_what_keeps_it_from_recording_stops_no_training(trainings) -> None:
    assert "Error" not in trainings.unrecorded
    assert "rigup: " in trainings.unrecorded
    assert (trainings.folder / "unrecorded.db").read_text().startswith("no recording")


def test_without_lightning_it_is_said_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    for name in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match="pip install lightning"):
        recorder()
