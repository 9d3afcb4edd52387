"""Which program makes environments of conda here: the person's own, else py-rattler, which needs no conda."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

Name = Literal["conda", "mamba", "micromamba", "rattler"]
Argv = tuple[str, ...]
_OURS = ("-P", "-m", "rigup.plan.environments.without_conda")
_BY_FILES = (("env", "config", "vars"), ("env", "remove"))  # what needs no solver, and not every kin of conda knows


class Conda(NamedTuple):
    """A program, and the words that start it."""

    name: Name
    argv: Argv


def found_conda(variables: Mapping[str, str], which: Callable[..., str | None] = shutil.which) -> Conda | None:
    """The person's conda, mamba or micromamba, activated or only installed; else py-rattler; None if none is here.

    Args:
        variables: of the shell.
        which: finds a program on a path.

    """
    path = variables.get("PATH", os.defpath)
    for name in ("conda", "mamba", "micromamba"):
        executable = variables.get("CONDA_EXE" if name == "conda" else "MAMBA_EXE", "")
        by_variable = executable if Path(executable).stem == name and os.access(executable, os.X_OK) else ""
        program = by_variable or which(name, path=path)
        if program:
            return Conda(_name(name), (program,))
    return Conda("rattler", (sys.executable, *_OURS)) if importlib.util.find_spec("rattler") else None


def _name(program: str) -> Name:
    return "mamba" if program == "mamba" else "micromamba" if program == "micromamba" else "conda"


def spoken_by(argv: Sequence[str], conda: Conda) -> Argv:
    """A command line of conda in the words of the program that is here; any other stays as it is.

    What only writes and removes files of an environment is done without any of them: mamba and micromamba do not know
    all of it.
    """
    if not argv or argv[0] != "conda":
        return tuple(argv)
    rest = tuple(argv[1:])
    if conda.name != "conda" and any(rest[: len(words)] == words for words in _BY_FILES):
        return (sys.executable, *_OURS, *rest)
    return (*conda.argv, *rest)
