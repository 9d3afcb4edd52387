"""Find the interpreter of an environment: by folder, by name, or the active one."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from rigup.language import _

_INSIDE = ("bin/python", "bin/python3", "Scripts/python.exe", "python.exe")
_USUAL = (".venv", "venv", "env")  # names of an environment inside a project
_ROOTS = ("miniconda3", "miniforge3", "mambaforge", "anaconda3", "micromamba", ".conda")


class VerifyError(Exception):
    """There is nothing to verify; the message says what to name instead."""


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
        template = _(
            "There is no Python environment at {path}. Give the folder of an environment, its interpreter, or the name "
            "of a conda environment."
        )
        raise VerifyError(template.format(path=wish))
    return found


def of_another(wish: str, python: str, prefix: str, variables: Mapping[str, str]) -> str:
    """Why the interpreter's packages are not those of the environment asked for; "" if they are.

    Args:
        wish: as `interpreter` took it.
        python: what it gave.
        prefix: where that interpreter says that its packages lie.
        variables: of the process that asks.

    """
    asked = wish or next((variables[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if variables.get(name)), "")
    if not asked or Path(asked).expanduser().is_file():
        return ""
    folder = Path(python).parent
    folder = folder.parent if folder.name in ("bin", "Scripts") else folder
    if os.path.realpath(folder) == os.path.realpath(prefix):
        return ""
    template = _(
        "The interpreter in {path} computes with the packages of {prefix}, and not with those that lie beside it. Make the environment anew, or name that one."
    )
    return template.format(path=folder, prefix=prefix)


def _active(variables: Mapping[str, str]) -> str:
    """The interpreter of the active environment, else the one on PATH."""
    folder = next((variables[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if variables.get(name)), "")
    inside = _inside(Path(folder)) if folder else None
    if folder and inside is None:  # another Python would be near, and not the one that is asked about
        template = _("The active environment {path} has no interpreter: it was moved or removed. Make it anew, or name another one.")
        raise VerifyError(template.format(path=folder))
    found = inside or shutil.which("python3") or shutil.which("python")
    if found is None:
        raise VerifyError(_("No environment is active and there is no Python on the path. Name an environment."))
    return found


def _inside(folder: Path) -> str | None:
    """The interpreter in an environment's folder, by the path through which Python finds that environment."""
    found = next((folder / name for name in _INSIDE if (folder / name).is_file()), None)
    return os.path.abspath(found) if found else None


def _named(name: str, variables: Mapping[str, str]) -> Iterator[Path]:
    """Folders in which conda keeps named environments."""
    if "/" in name or "\\" in name:
        return
    known = [Path(variables["MAMBA_ROOT_PREFIX"])] if variables.get("MAMBA_ROOT_PREFIX") else []
    known += [Path(variables["CONDA_EXE"]).parents[1]] if variables.get("CONDA_EXE") else []
    for root in [*known, *(Path.home() / usual for usual in _ROOTS)]:
        yield root if name == "base" else root / "envs" / name
