"""Environments that a program's starter makes by itself: another one beside it is not looked at."""

import re

from rigup.diagnosis.rule import Params, one, seen
from rigup.knowledge.launchers import launcher_of
from rigup.machine.kinds import Gpu, Symptom, Torch

_LAST_PARTS = re.compile(r"[\\/](?:bin|Scripts)[\\/]python[\w.]*$", re.IGNORECASE)


def made_anew(starter: Symptom, tested: Symptom | None, fitting: str, windows: bool) -> Params:
    """What the starter is told, so that it makes its environment with a Python for which there are wheels; {} for an unknown program.

    Args:
        starter: its line that names the environment.
        tested: where the program names the Python that it was tested with.
        fitting: another one that has wheels.
        windows: whether it runs there.

    """
    named = str(starter.get("venv") or starter.get("exe") or "").strip()
    path = _LAST_PARTS.sub("", named)
    folders = [part for part in re.split(r"[\\/]+", path) if part]
    launcher = launcher_of(folders[-2], "windows" if windows else "linux") if len(folders) > 1 else None
    if launcher is None:
        return {}
    python = ".".join(str(tested.python).split(".")[:2]) if tested else launcher.python or fitting
    got = {"own_python": python, "own_python_elsewhere": None} if windows else {"own_python": None, "own_python_elsewhere": python}
    return {**got, "venv": path, "file": launcher.file, "line": launcher.line_for(python)}


def web_ui_has_its_own_way(
    _said: Symptom = seen("webui-torch-no-gpu"),
    own: Symptom = seen("embedded-python-typed"),
    torch: Torch | None = None,
    gpu: Gpu | None = one(isa=("sm_100", "sm_120")),
) -> Params:
    """Its release asks for one torch, which nobody shows; that one is from before the newest cards."""
    windows = str(own.python)[1:2] == ":"
    plain = torch is None and gpu is None
    return {"starter": "webui-user.bat" if windows else "webui-user.sh"} if plain else {}
