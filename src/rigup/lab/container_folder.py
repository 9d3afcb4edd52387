"""What Jupyter in a container is given: a folder for one run (token, kernel, program), and one that keeps what an image lacks."""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rigup.container.asked import Asked, Mount
from rigup.lab import pip_settings
from rigup.lab.jupyter import HERE

_PROGRAM = Path(__file__).with_name("in_container.py")
_RUN, _PACKAGES = "/rigup/run", "/rigup/lab"  # where the folders are inside
_EVERY = "0.0.0.0"  # noqa: S104  (of the container alone, whose port is published on loopback)
_MARK = re.compile(r"^rigup-lacks (\{.{1,4000}\})$", re.MULTILINE)


class Lacks(msgspec.Struct, frozen=True, kw_only=True):
    """What an image lacks, as its own Python says: `can` where that Python has pip, by which it may be installed."""

    lacking: list[str]
    python: str
    can: bool


def lacks(log: str) -> Lacks | None:
    """What the container said that it lacks; None where it said nothing of the kind."""
    for line in _MARK.findall(log):
        try:
            return msgspec.json.decode(line.encode("utf-8", "replace"), type=Lacks)
        except msgspec.DecodeError:
            continue
    return None


def packages_folder(variables: Mapping[str, str], image: str) -> Path:
    """Where packages lie that an image lacks: a folder of the person's cache for each image name."""
    cache = variables.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    word = re.sub(r"[^A-Za-z0-9.-]+", "-", image)[-60:].strip("-.")
    return Path(cache, "rigup", "lab", f"{word}-{hashlib.sha256(image.encode()).hexdigest()[:12]}")


def program(verb: str) -> tuple[str, ...]:
    """The command inside."""
    return ("python3", "-u", f"{_RUN}/{_PROGRAM.name}", verb)


def as_request(request: Asked, run: Path, packages: Path | None) -> Asked:
    """A request with the folders of a run.

    Args:
        request: with the image, the program, and the port.
        run: the folder of `ContainerFolder`.
        packages: that keeps what the image lacks; None where there is none yet.

    """
    mounts = [Mount(source=str(run), target=_RUN, read_only=True)]
    mounts += [Mount(source=str(packages), target=_PACKAGES)] if packages else []
    return msgspec.structs.replace(request, mounts=(*request.mounts, *mounts), terminal=False, own_program=True)


class ContainerFolder:
    """The folder of a run. Nobody else of this machine comes into it; inside, whoever the program runs as reads its files.

    Args:
        token: the server lets in whoever has it.
        wanted: packages that have to be there.
        folder: in which notebooks lie, as it is called inside.

    """

    def __init__(self, token: str, wanted: Sequence[str], folder: str) -> None:
        self._top = Path(tempfile.mkdtemp(prefix="rigup-lab-"))
        self.path = self._top / "run"
        self._asked: dict[str, Any] = {"wanted": list(wanted), "folder": folder, "packages": _PACKAGES}
        self.path.mkdir()
        self._write("token", token)
        self._write(_PROGRAM.name, _PROGRAM.read_text("utf-8"))
        for path in pip_settings.written(self.path, os.environ, _RUN):
            path.chmod(0o644)

    def fill(self, *, port: int, has_own_network: bool, variables: Mapping[str, str], title: str) -> None:
        """Write what holds for the container that is started.

        Args:
            port: at which the server listens.
            has_own_network: its loopback is not this machine's, so that it listens at all of its own addresses.
            variables: of its kernel, as the program finds them.
            title: of its kernel.

        """
        self._write("asked.json", json.dumps({**self._asked, "port": port, "ip": _EVERY if has_own_network else HERE}))
        # Jupyter puts its own Python in place of this name
        argv = ["python3", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        kernel = {"argv": argv, "display_name": title, "language": "python", "env": dict(variables)}
        (self.path / "kernels" / "python3").mkdir(parents=True, exist_ok=True)
        self._write("kernels/python3/kernel.json", json.dumps(kernel, ensure_ascii=False))
        for path in (self.path, *(part for part in self.path.rglob("*") if part.is_dir())):
            path.chmod(0o755)

    def _write(self, name: str, text: str) -> None:
        path = self.path / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)

    def remove(self) -> None:
        """Take it away."""
        shutil.rmtree(self._top, ignore_errors=True)
