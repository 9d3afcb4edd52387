"""Environments of our own making: tiny wheels, a real venv, records of packages."""

import base64
import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import pytest
from filelock import FileLock

from rigup.plan.environments import staged_swap


class Parts(SimpleHTTPRequestHandler):
    """Serves files, and parts of them, as indexes do; it says nothing."""

    def do_GET(self) -> None:
        """A whole file, or the part that was asked for."""
        if "Range" not in self.headers:
            super().do_GET()
            return
        body = Path(self.translate_path(self.path)).read_bytes()
        first, _dash, last = self.headers["Range"].removeprefix("bytes=").partition("-")
        start, end = (int(first), min(int(last) + 1, len(body))) if first else (max(0, len(body) - int(last)), len(body))
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(body)}")
        self.send_header("Content-Length", str(end - start))
        self.end_headers()
        self.wfile.write(body[start:end])

    def log_message(self, *_said: object) -> None:
        """Nobody reads it."""


def digest(body: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()


def make_wheel(
    folder: Path, name: str, version: str, *, requires: tuple[str, ...] = (), script: str = "", tag: str = "py3-none-any", text: str = ""
) -> Path:
    """A wheel with one module, and a program where `script` names one."""
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-{version}.dist-info"
    told = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]
    files = {
        f"{module}.py": f"VERSION = {version!r}\n{text}\ndef main():\n    print({name!r}, VERSION)\n",
        f"{info}/METADATA": "\n".join(["Metadata-Version: 2.1", *told, ""]),
        f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: {tag}\n",
    }
    if script:
        files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{script} = {module}:main\n"
    rows = [f"{path},{digest(body.encode())},{len(body)}" for path, body in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""])
    path = folder / f"{module}-{version}-{tag}.whl"
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as packed:
        for inner, body in files.items():
            packed.writestr(zipfile.ZipInfo(inner, (2026, 1, 1, 0, 0, 0)), body)
    return path


@pytest.fixture(autouse=True, scope="module")
def no_indexes():
    """pip and uv ask only the folders that a test names."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("PIP_", "UV_", "CONDA_", "MAMBA_", "VIRTUAL_ENV"))]:
            patch.delenv(name)
        patch.setenv("PIP_CONFIG_FILE", os.devnull)
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        patch.setenv("UV_NO_CONFIG", "1")
        yield


@pytest.fixture(scope="session")
def wheels(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    make_wheel(folder, "stone", "1.0", script="stone")
    make_wheel(folder, "stone", "1.1", script="stone")
    make_wheel(folder, "bridge", "2.0", requires=("stone>=1.0",), script="bridge")
    return folder


@pytest.fixture(scope="session")
def bare(tmp_path_factory) -> Path:
    """A venv with pip alone; nobody may change it: who needs one of their own clones it, which is quicker."""
    return made_once(tmp_path_factory, "bare", make_venv)


@pytest.fixture(scope="session")
def made(tmp_path_factory, bare, wheels) -> Path:
    """A venv with pip and `bridge`; nobody may change it."""

    def make(path):
        staged_swap.clone(bare, path)
        install(path, wheels, "bridge", "stone==1.0")

    return made_once(tmp_path_factory, "made", make)


def made_once(tmp_path_factory, name: str, make: Callable[[Path], None]) -> Path:
    """A folder that all workers of a run share: the first that needs it makes it, the others wait."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    path, whole = shared / name / "env", shared / name / "whole"
    path.parent.mkdir(exist_ok=True)
    with FileLock(shared / f"{name}.lock"):
        if not whole.exists():
            make(path)
            whole.touch()
    return path


def make_venv(path: Path, pip: bool = True) -> None:
    words = [] if pip else ["--without-pip"]
    subprocess.run([sys.executable, "-m", "venv", *words, str(path)], check=True, timeout=120)


def install(path: Path, wheels: Path, *wanted: str) -> None:
    command = [str(path / "bin" / "python"), "-m", "pip", "install", "-q", "--no-index", "--find-links", str(wheels)]
    subprocess.run([*command, *wanted], check=True, timeout=120)


def says(program: Path, *words: str, **more) -> str:
    """What a program of an environment prints."""
    return subprocess.run([str(program), *words], check=True, capture_output=True, text=True, timeout=60, **more).stdout.strip()


class Index(NamedTuple):
    """An index that is served."""

    url: str


@contextmanager
def index_of(wheels: Path):
    """Serve a folder of wheels on the loopback as PEP 503 has it, with hashes; until the block ends."""

    class Asked(BaseHTTPRequestHandler):
        def do_GET(self):
            part = self.path.strip("/").split("/")
            body = (wheels / part[1]).read_bytes() if part[0] == "files" else page(wheels, part[-1]).encode()
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", "application/octet-stream" if part[0] == "files" else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_words):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Asked)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield Index(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def page(wheels: Path, name: str) -> str:
    """A project's page: its files with their hashes."""
    there = sorted(wheels.glob(name.replace("-", "_") + "-*.whl"))
    hashes = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in there}
    return "".join(f'<a href="/files/{file}#sha256={told}">{file}</a>\n' for file, told in hashes.items())
