"""A small world for steps: a folder with files, a service's file, links and an environment; and what it looks like."""

import contextlib
import functools
import importlib
import io
import json
import os
import pkgutil
import signal
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from answer_data import as_data
from rigup.cli import run
from rigup.steps import Step, make, make_as

HERE = Path(__file__).parent
_WRITE = '$PAUSE; mkdir -p "$(dirname "$1")"; printf "%s\\n" "$2" > "$1"; $PAUSE'
_ADD = '$PAUSE; mkdir -p "$1/lib/python3/site-packages/$2-1.dist-info"; printf "%s\\n" "$2" > "$1/lib/python3/$2"; $PAUSE'
_BEGIN = '$PAUSE; mkdir -p "$1/bin"; printf "home = /usr\\n" > "$1/pyvenv.cfg"; $PAUSE; printf "#!%s/bin/python\\n" "$1" > "$1/bin/tool"'


def writing(path: Path, text: str) -> dict[str, Any]:
    """A step that writes a file, with its folder."""
    params = {"program": str(path), "proxy": text}
    argv = (("sh", "-c", _WRITE, "sh", str(path), text),)
    return needed(make_as("tell-proxy", params, argv, (), writes=(str(path),)))


def linking(path: Path, target: Path) -> dict[str, Any]:
    """A step that makes a link."""
    return needed(make("link-folder", {"path": str(path), "target": str(target)}))


def beginning(environment: str) -> dict[str, Any]:
    """A step that makes an environment, in two acts."""
    params = {"environment": environment, "python": "3", "starter": "python3"}
    return needed(make_as("make-environment", params, (("sh", "-c", _BEGIN, "sh", environment),)))


def adding(environment: str, package: str) -> dict[str, Any]:
    """A step that puts a package into it."""
    params = {"python": environment + "/bin/python", "packages": package}
    argv = (("sh", "-c", _ADD, "sh", environment, package),)
    return needed(make_as("install-into-environment", params, argv))


def failing() -> dict[str, Any]:
    """A step whose command fails."""
    params = {"program": "nothing", "proxy": "none"}
    return needed(make_as("tell-proxy", params, (("sh", "-c", "echo No space left on device >&2; exit 3"),), ()))


def restarting() -> dict[str, Any]:
    """A restart in the middle."""
    return needed(make("restart-machine", {}))


def needed(step: Step) -> dict[str, Any]:
    """As a plan has it."""
    return {**as_data(step), "state": "needed"}


class World:
    """A folder of its own, with a journal of its own beside it."""

    def __init__(self, folder: Path) -> None:
        self.files = folder / "machine"
        self.state = folder / "state"
        self.files.mkdir()
        (self.files / "kept.conf").write_text("as it was\n")
        os.chmod(self.files / "kept.conf", 0o640)
        (self.files / "target").mkdir()
        (self.files / "old-link").symlink_to("kept.conf")
        self.environment = self.files / "env"

    def variables(self) -> dict[str, str]:
        """What programs of this world inherit."""
        source = str(HERE.parents[1] / "src")
        return {
            **{name: value for name, value in os.environ.items() if name != "RIGUP_NO_RESOLVE"},
            "XDG_STATE_HOME": str(self.state),
            "PYTHONPATH": source,
            "LANGUAGE": "en",
            "PYTHONUNBUFFERED": "1",
        }

    def start(self, steps: list[dict[str, Any]], how: str = "go", environment: bool = False) -> "subprocess.Popen[str]":
        """A run as a process of its own, slow enough to be killed anywhere."""
        path = self.told(steps, environment)
        return subprocess.Popen(
            [sys.executable, str(HERE / "drive.py"), str(path), how],
            env=self.variables() | {"PAUSE": "sleep 0.05"},
            cwd=self.files,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def told(self, steps: list[dict[str, Any]], environment: bool) -> Path:
        """Where a run's steps are written for who takes them."""
        told = {
            "title": "a test",
            "steps": steps,
            "asked": {"folder": str(self.files)},
            "environment": str(self.environment) if environment else "",
        }
        path = self.state.parent / "intent.json"
        path.write_text(json.dumps(told))
        return path

    def run(self, steps: list[dict[str, Any]], how: str = "go", environment: bool = False) -> tuple[int, str]:
        """A run to its end: exit status and what it said."""
        import drive

        path = str(self.told(steps, environment))
        return forked(self, lambda: drive.ended(path, how), self.variables())

    def rigup(self, *words: str, **more: str) -> tuple[int, str]:
        """A command line of rigup in this world."""
        return forked(self, lambda: run(list(words)), {**self.variables(), **more})

    def events(self) -> list[dict[str, Any]]:
        """All whole lines of the journal, in order."""
        found = []
        for path in sorted(self.state.glob("rigup/journal/*/events.jsonl")):
            found += [json.loads(line) for line in path.read_text().split("\n")[:-1] if line]
        return found

    def picture(self) -> dict[str, str]:
        """Every file, link and folder with its mode and content: what two states are compared by."""
        return dict(picture(self.files))


def forked(world: World, call: Callable[[], int | str | None], variables: Mapping[str, str] | None = None) -> tuple[int, str]:
    """What a call comes to in a process of its own: exit status (-9 for one that was killed) and what it said.

    A fork of this process, which has everything imported: to start Python anew takes longer than most runs.
    """
    said = world.state.parent / "said"
    import_what_runs_import()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1  # as where nobody catches what is raised
        try:
            _alone(said, world, variables)
            told = call()
            status = told if isinstance(told, int) else 0 if told is None else 1
        except SystemExit as error:
            status = error.code if isinstance(error.code, int) else 0 if error.code is None else 1
        except BaseException:
            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
            os._exit(status)
    _pid, how = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(how), said.read_text("utf-8", "replace")


@functools.cache
def import_what_runs_import() -> None:
    """Once, before the first fork: each run would import it anew."""
    for package in ("rigup.plan.applying", "rigup.workflows"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__, package + "."):
            importlib.import_module(module.name)
    commands = ("apply", "taking", "undo", "history", "failing", "loading", "stopping", "watching")
    for name in (*(f"rigup.cli.{name}" for name in commands), "rigup.stack.asked", "ahocorasick_rs", "filelock"):
        importlib.import_module(name)


def _alone(said: Path, world: World, variables: Mapping[str, str] | None) -> None:
    """As a process is that somebody starts: with nothing to read, its words in a file, in the world's folder."""
    with open(os.devnull, "rb") as nothing, open(said, "wb") as file:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    sys.stdout = sys.stderr = io.TextIOWrapper(io.FileIO(1, "wb", closefd=False), "utf-8", write_through=True)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    if variables is not None:
        os.environ.clear()
        os.environ.update(variables)
    os.environ["XDG_STATE_HOME"] = str(world.state)
    os.chdir(world.files)


def picture(folder: Path) -> list[tuple[str, str]]:
    """As above, of any folder; times are not counted."""
    found = []
    for above, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(above, name)
            mode = f"{path.lstat().st_mode:o}"
            body = os.readlink(path) if path.is_symlink() else path.read_bytes().hex() if path.is_file() else ""
            found.append((str(path.relative_to(folder)), f"{mode} {body}"))
    return sorted(found)
