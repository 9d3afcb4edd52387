"""`rigup launch` as a person starts it, in a folder of its own."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
BOUND = 900.0  # seconds: of what takes a minute, on a machine that does much else
OF_RIGUP_TRAIN = Path(__file__).parents[1] / "runtime" / "programs"


class Folder:
    """A person's folder with programs; its runs."""

    def __init__(self, path: Path, environment: dict[str, str]) -> None:
        self.path, self.environment = path, environment
        path.mkdir(parents=True, exist_ok=True)

    def program(self, name: str, text: str = "") -> str:
        """One of the programs that lie beside, or one of this text."""
        if text:
            (self.path / name).write_text(text)
        else:
            shutil.copy(next(at for at in (PROGRAMS / name, OF_RIGUP_TRAIN / name) if at.exists()), self.path)
        return name

    def rigup(self, *words: str, seconds: float = BOUND, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run rigup there."""
        argv = [sys.executable, "-m", "rigup", *words]
        environment = self.environment | {"PYTHONPATH": str(Path(__file__).parents[3] / "src")} | variables
        return subprocess.run(argv, cwd=self.path, env=environment, capture_output=True, text=True, timeout=seconds, check=False)

    def launch(self, *words: str, seconds: float = BOUND, **variables: str) -> tuple[subprocess.CompletedProcess[str], dict]:
        """Launch a job, follow it to its end, and read the answer."""
        done = self.rigup("launch", *words, "--json", seconds=seconds, **variables)
        assert done.stdout.startswith("{"), done.stdout + done.stderr
        return done, json.loads(done.stdout)

    @contextlib.contextmanager
    def following(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        """`rigup launch` while it runs; it is gone afterwards, also where a test fails."""
        argv = [sys.executable, "-m", "rigup", "launch", *words]
        pipe = subprocess.PIPE
        running = subprocess.Popen(argv, cwd=self.path, env=self.environment, stdout=pipe, stderr=pipe, text=True)
        try:
            yield running
        finally:
            running.kill()
            running.communicate()

    def ranks(self) -> list[dict]:
        """What programs wrote, by rank."""
        return [json.loads(path.read_text()) for path in sorted(self.path.glob("rank*.json"))]


def torch_python() -> str:
    """An interpreter with torch; the test is skipped where none is named."""
    python = os.environ.get("RIGUP_TORCH_PYTHON")
    if not python:
        pytest.skip("RIGUP_TORCH_PYTHON names no interpreter with torch")
    return python


def train_python() -> str:
    """An interpreter with torch, Lightning and transformers; the test is skipped where none is named."""
    python = os.environ.get("RIGUP_TRAIN_PYTHON")
    if not python:
        pytest.skip("RIGUP_TRAIN_PYTHON names no interpreter with torch, lightning and transformers")
    return python


def is_alive(process: int) -> bool:
    """Whether it runs; one that nobody has waited for yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(holds: Callable[[], object], seconds: float = BOUND) -> None:
    """Until something holds; fails where it does not within that time."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    assert holds()
