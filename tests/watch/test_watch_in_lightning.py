"""A real training of Lightning whose GPUs are recorded; RIGUP_TRAIN_PYTHON names an interpreter that has it."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

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
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, number):
        time.sleep(0.2)
        if number == {fails}:
            raise ValueError("a batch that is none")
        return self.layer(batch).mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

callback = recorder({path!r}, 0.05)
trainer = pl.Trainer(max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, callbacks=[callback])
trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(5, 4)))
"""


def trained(path: str, fails: int = -1) -> subprocess.CompletedProcess[str]:
    if not PYTHON:
        pytest.skip("RIGUP_TRAIN_PYTHON names no interpreter with Lightning")
    words = {"source": str(SOURCE), "libraries": sysconfig.get_paths()["platlib"], "path": path, "fails": fails}
    return subprocess.run([PYTHON, "-c", PROGRAM.format(**words)], capture_output=True, text=True, timeout=300, check=False)  # fmt: skip


@pytest.mark.training
def test_a_training_is_recorded_while_it_lasts(tmp_path) -> None:
    path = str(tmp_path / "run.db")
    done = trained(path)
    assert done.returncode == 0, done.stderr
    recording = Recording(path)
    times = [sample.time for sample in recording.samples()]
    recording.close()
    assert len(times) >= 3
    assert times[-1] - times[0] >= 0.5  # five steps of 0.2 s


@pytest.mark.training
def test_one_that_fails_is_recorded_until_then(tmp_path) -> None:
    path = str(tmp_path / "run.db")
    done = trained(path, fails=2)
    assert "a batch that is none" in done.stderr
    recording = Recording(path)
    assert recording.count() >= 2
    recording.close()


@pytest.mark.training
def test_what_keeps_it_from_recording_stops_no_training(tmp_path) -> None:
    path = tmp_path / "run.db"
    path.write_text("no recording, and long enough to be seen as none")
    done = trained(str(path))
    assert done.returncode == 0, done.stderr
    assert "rigup: " in done.stderr
    assert path.read_text().startswith("no recording")


def test_without_lightning_it_is_said_what_to_install(monkeypatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    for name in ("lightning.pytorch", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match="pip install lightning"):
        recorder()
