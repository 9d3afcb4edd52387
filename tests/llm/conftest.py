"""What tests of running models share: a model that the tests train, and a Python that has the engine."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock
from tiny_models import sentence_pieces_of

_SCRIPT = Path(__file__).parent / "tiny" / "train_tiny.py"
_SECONDS = 900


def interpreter_with(module: str, variable: str) -> str:
    """This interpreter, or the one that a variable names; skips where neither has the module."""
    if importlib.util.find_spec(module) is not None:
        return sys.executable
    if not os.environ.get(variable):
        pytest.skip(f"no {module} here, and {variable} names no interpreter that has it")
    return os.environ[variable]


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """A GGUF file of 0.7 MB that counts, repeats and calls a tool, trained once for each state of its script."""
    if named := os.environ.get("RIGUP_TINY_MODEL"):
        return Path(named)
    digest = hashlib.sha256(_SCRIPT.read_bytes()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"rigup-tests-{os.getuid() if hasattr(os, 'getuid') else 'all'}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"tiny-{digest}.gguf"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            unfinished = folder / f"unfinished-{digest}.gguf"
            python = interpreter_with("torch", "RIGUP_TORCH_PYTHON")
            done = subprocess.run(
                [python, str(_SCRIPT), str(unfinished)], check=False, capture_output=True, text=True, timeout=_SECONDS
            )
            assert done.returncode == 0, done.stderr[-3000:]
            Path(str(unfinished).replace(".gguf", ".spm.gguf")).replace(sentence_pieces_of(path))
            unfinished.replace(path)
    return path


@pytest.fixture(scope="session")
def engine_python() -> str:
    """An interpreter with llama.cpp's server inside."""
    return interpreter_with("xllamacpp", "RIGUP_FRAMEWORKS_PYTHON")
