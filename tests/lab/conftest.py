"""Environments for notebooks, and `rigup lab` in a process of its own."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

HERE = Path(__file__).parent
WAIT = 180


@pytest.fixture
def made_with_ipykernel(tmp_path):
    """A venv that seems to have ipykernel: its record lies there, nothing else of it."""
    path = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", path], check=True)
    (info,) = [folder / "ipykernel-7.0.dist-info" for folder in path.glob("lib/python3*/site-packages")]
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ipykernel\nVersion: 7.0\n\n")
    return path


@pytest.fixture(scope="session")
def jupyter_python(tmp_path_factory):
    """The interpreter of an environment with Jupyter Lab: the one that RIGUP_JUPYTER_PYTHON names, else one that is made here."""
    if named := os.environ.get("RIGUP_JUPYTER_PYTHON"):
        return Path(named)
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "jupyter"
    with FileLock(f"{shared}.lock"):
        python = shared / "bin" / "python"
        if not (shared / "ready").exists():
            subprocess.run([sys.executable, "-m", "venv", shared], check=True)
            words = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "jupyterlab", "ipykernel"]
            done = subprocess.run(words, capture_output=True, text=True, timeout=900, check=False)
            if done.returncode:
                pytest.skip("Jupyter Lab cannot be installed here: " + done.stderr[-300:])
            (shared / "ready").touch()
    return python


@pytest.fixture
def account(tmp_path, monkeypatch):
    """Folders of a person who has none of Jupyter's settings."""
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "TMPDIR"):
        (tmp_path / name).mkdir(mode=0o700)
        monkeypatch.setenv(name, str(tmp_path / name))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_EXE", "MAMBA_ROOT_PREFIX", "JUPYTER_DATA_DIR", "JUPYTER_PATH", "JUPYTER_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


class LabProcess:
    """`rigup lab` with what it answered once it served; `answer` is None where it ended before."""

    def __init__(self, *words):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "rigup", "lab", *map(str, words), "--json"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        text = ""
        while line := self.process.stdout.readline():
            text += line
            if line == "}\n":
                break
        self.answer = json.loads(text) if text else None
        if self.answer:
            self.base, _slash, self.token = self.answer["vscode_url"].partition("/?token=")

    def execute(self, python, *cells, kernel="python3", keep=False):
        """What cells give that a kernel of the server executes."""
        done = subprocess.run(
            [python, HERE / "execute.py", self.base, self.token, kernel, *(["keep"] if keep else [])],
            input=json.dumps(cells),
            capture_output=True,
            text=True,
            timeout=WAIT,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        return json.loads(done.stdout)

    def end(self, number):
        """Its exit status and what it said."""
        self.process.send_signal(number)
        _out, errors = self.process.communicate(timeout=WAIT)
        return self.process.returncode, errors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


@pytest.fixture
def lab_process(account):
    """Starts `rigup lab`."""
    return LabProcess


@pytest.fixture(scope="session")
def torch_python():
    """An interpreter with torch: this one, or the one that RIGUP_TORCH_PYTHON names."""
    if importlib.util.find_spec("torch") is not None:
        return sys.executable
    if not os.environ.get("RIGUP_TORCH_PYTHON"):
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return os.environ["RIGUP_TORCH_PYTHON"]
