"""Jupyter Lab as words and files: the command, the folder of one run, addresses. Nothing is started here."""

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rigup.plan.environments.folder import Environment

PACKAGES = ("jupyterlab", "ipykernel")
HERE = "127.0.0.1"
_TOKEN_FILE = "token"  # noqa: S105  (the name of a file)


def program(environment: Environment) -> list[str]:
    """What starts Jupyter Lab there. Python is handed its script: `-m` would import modules of the folder of the notebooks first."""
    script = [] if os.name == "nt" else [str(environment.programs / "jupyter-lab")]
    return [str(environment.interpreter), *(script or ("-m", "jupyterlab"))]


def words(program: Sequence[str], folder: str, port: int) -> list[str]:
    """The command that starts the server: on loopback, at exactly that port, without a browser of its own.

    Every value is joined to its option, so that no name becomes an option. The token stands in no word.
    """
    settings = {
        "ip": HERE,
        "port": port,
        "port_retries": 0,
        "open_browser": False,
        "root_dir": folder,
        "base_url": "/",
        "allow_remote_access": False,
        **({"allow_root": True} if is_root() else {}),
    }
    return [*program, *(f"--ServerApp.{name}={value}" for name, value in settings.items())]


def is_root() -> bool:
    """Whether root starts it, as in many containers, which Jupyter insists on being told."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(32)


def lab_url(port: int, token: str) -> str:
    """The address for a browser."""
    return f"http://{HERE}:{port}/lab?token={token}"


def server_url(port: int, token: str) -> str:
    """The address for VS Code and others that speak to the server itself."""
    return f"http://{HERE}:{port}/?token={token}"


class RunFolder:
    """What one run of the server needs, readable by the person alone: the token, and the kernel of its environment.

    Jupyter looks for kernels here first, so that `python3` is the environment's own Python also where another kernel
    of that name is registered for the person.

    Args:
        token: the server lets in whoever has it.
        kernel: of the environment, as its kernel.json says it.

    """

    def __init__(self, token: str, kernel: Mapping[str, Any]) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="rigup-lab-"))
        (self.path / _TOKEN_FILE).write_text(token, encoding="utf-8")
        folder = self.path / "kernels" / "python3"
        folder.mkdir(parents=True)
        (folder / "kernel.json").write_text(json.dumps(kernel, ensure_ascii=False), encoding="utf-8")

    def variables(self, before: Mapping[str, str]) -> dict[str, str]:
        """Variables of the server, those that it would have had with what the run adds. A token of another server is taken out."""
        kept = {name: value for name, value in before.items() if name not in ("JUPYTER_TOKEN", "JUPYTER_TOKEN_FILE")}
        former = kept.get("JUPYTER_PATH", "")
        path = os.pathsep.join(part for part in (str(self.path), former) if part)
        return {**kept, "JUPYTER_PATH": path, "JUPYTER_TOKEN_FILE": str(self.path / _TOKEN_FILE)}

    def remove(self) -> None:
        """Take it away."""
        shutil.rmtree(self.path, ignore_errors=True)
