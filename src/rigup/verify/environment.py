"""Which Python to ask: that of a folder, of a name, or the one that is active."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from rigup.language import _

_INSIDE = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
_USUAL = (".venv", "venv", "env")  # names of an environment inside a project
_ROOTS = ("miniconda3", "miniforge3", "mambaforge", "anaconda3", "micromamba", ".conda")


class VerifyError(Exception):
    """There is nothing that could be verified; the text says what to give instead."""


def interpreter(wish: str, variables: Mapping[str, str]) -> str:
    """The path of the interpreter.

    Args:
        wish: an environment's folder, a project's folder that holds one, an interpreter, or a conda environment's name;
            "" takes the active environment, and without one the Python on the path.
        variables: of the process that asks.

    Raises:
        VerifyError: there is none.

    """
    if not wish:
        return _active(variables)
    path = Path(wish).expanduser()
    if path.is_file() and os.access(path, os.X_OK):
        return os.path.abspath(path)
    places = [path, *(path / name for name in _USUAL)] if path.is_dir() else list(_named(wish, variables))
    found = next(filter(None, map(_inside, places)), None)
    if found is None:
        told = _(
            "There is no Python environment at {path}. Give the folder of an environment, its interpreter, or the name "
            "of a conda environment."
        )
        raise VerifyError(told.format(path=wish))
    return found


def _active(variables: Mapping[str, str]) -> str:
    """Of an environment that is active, else the one on the path."""
    folders = [variables[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if variables.get(name)]
    inside = next(filter(None, map(_inside, map(Path, folders))), None)
    found = inside or shutil.which("python3") or shutil.which("python")
    if found is None:
        raise VerifyError(_("No environment is active and there is no Python on the path. Name an environment."))
    return found


def _inside(folder: Path) -> str | None:
    """The interpreter of an environment's folder, by the path that makes it that environment's."""
    found = next((folder / name for name in _INSIDE if (folder / name).is_file()), None)
    return os.path.abspath(found) if found else None


def _named(name: str, variables: Mapping[str, str]) -> Iterator[Path]:
    """Where conda keeps environments by name."""
    if "/" in name or "\\" in name:
        return
    known = [Path(variables["MAMBA_ROOT_PREFIX"])] if variables.get("MAMBA_ROOT_PREFIX") else []
    known += [Path(variables["CONDA_EXE"]).parents[1]] if variables.get("CONDA_EXE") else []
    for root in [*known, *(Path.home() / usual for usual in _ROOTS)]:
        yield root if name == "base" else root / "envs" / name
