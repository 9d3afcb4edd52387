"""Cards that the tests make: trees of files whose values move, and a library that stands in for NVIDIA's."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from watched_cards import Card

HERE = Path(__file__).parent


@pytest.fixture
def amd(tmp_path: Path) -> Card:
    """AMD's card without any sensor."""
    return Card(tmp_path, "0000:03:00.0", "0x1002", "0x744c", "amdgpu")


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the library that stands in for NVIDIA's."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("nvml")
    subprocess.run([compiler, "-O1", "-fPIC", "-shared", "-o", str(folder / "libnvidia-ml.so.1"), str(HERE / "fake_nvml.c")], check=True)
    return folder


@pytest.fixture
def nvidia(library: Path, tmp_path: Path):
    """Runs Python with that library: asked is a script that prints JSON, values are the lines of its file."""

    def run(script: str, values: dict[str, object], *, argv: tuple[str, ...] = ()) -> object:
        scene = tmp_path / "scene"
        scene.write_text("".join(f"{name} {value}\n" for name, value in values.items()))
        environ = {**os.environ, "LD_LIBRARY_PATH": str(library), "RIGUP_FAKE_NVML": str(scene)}
        words = [sys.executable, *(argv or ("-c", script))]
        done = subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
