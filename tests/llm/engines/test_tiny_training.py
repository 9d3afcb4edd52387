"""What the models of these tests have learned can be learned again by the scripts that lie beside it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.llm, pytest.mark.torch]
FOLDER = Path(__file__).parents[1] / "tiny"


@pytest.mark.parametrize("script", ["train_tiny.py", "train_rank.py"])
def test_a_training_learns_and_keeps_numbers_as_those_that_lie_here(tmp_path, torch_python, script):
    words = [torch_python, str(FOLDER / script), str(tmp_path / "new.gguf"), "30"]
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False, env=one_thread)
    assert done.returncode == 0, done.stderr[-2000:]
    errors = [float(error) for error in re.findall(r"^\d+ ([\d.]+)$", done.stdout, re.MULTILINE)]
    assert len(errors) == 2
    assert errors[1] < 0.9 * errors[0]
    made, kept = (path.with_suffix(".f16.xz") for path in (tmp_path / "new.gguf", FOLDER / script))
    assert 0.5 < made.stat().st_size / kept.stat().st_size < 2
    assert (tmp_path / "new.gguf").read_bytes()[:4] == b"GGUF"
