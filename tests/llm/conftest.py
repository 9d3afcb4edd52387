"""What tests of running models share: a model that was trained for them, and a Python that has the engine."""

import hashlib
import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

_SCRIPT = Path(__file__).parent / "tiny" / "train_tiny.py"
_SECONDS = 900


def interpreter_with(module: str, variable: str) -> str:
    """This interpreter, or the one that a variable names; skips where neither has the module."""
    if importlib.util.find_spec(module) is not None:
        return sys.executable
    if not os.environ.get(variable):
        pytest.skip(f"no {module} here, and {variable} names no interpreter that has it")
    return os.environ[variable]


def _made(script: Path, *, beside: tuple[str, ...] = ()) -> Path:
    """What a script of `tiny` writes, made once for each state of the scripts it stands on; files `beside` it have other endings."""
    stands_on = sorted({_SCRIPT, script, script.with_suffix(".f16.xz")})
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in stands_on)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"rigup-tests-{os.getuid() if hasattr(os, 'getuid') else 'all'}"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / f"{script.stem.removeprefix('train_')}-{digest}.gguf"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            unfinished = folder / f"unfinished-{path.name}"
            python = interpreter_with("torch", "RIGUP_TORCH_PYTHON")
            words, variables = [python, str(script), str(unfinished)], {**os.environ, "OMP_NUM_THREADS": "1"}
            done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=_SECONDS, env=variables)
            assert done.returncode == 0, done.stderr[-3000:]
            for ending in beside:
                unfinished.with_suffix(ending).replace(path.with_suffix(ending))
            unfinished.replace(path)
    return path


@pytest.fixture(scope="session")
def tiny_model() -> Path:
    """A GGUF file of 0.7 MB that counts, repeats and calls a tool."""
    if named := os.environ.get("RIGUP_TINY_MODEL"):
        return Path(named)
    return _made(_SCRIPT, beside=(".spm.gguf",))


@pytest.fixture(scope="session")
def ranking_model() -> Path:
    """A GGUF file that says whether a text holds a word."""
    return _made(_SCRIPT.with_name("train_rank.py"))


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter with torch."""
    return interpreter_with("torch", "RIGUP_TORCH_PYTHON")


@pytest.fixture(scope="session")
def engine_python() -> str:
    """An interpreter with llama.cpp's server inside."""
    return interpreter_with("xllamacpp", "RIGUP_FRAMEWORKS_PYTHON")
