"""What may be removed, and what an environment leaves behind."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rigup.language import _
from rigup.plan.environments import record, registry, staged_swap
from rigup.plan.environments.folder import Environment, size_of


class Leftover(NamedTuple):
    """A folder that a swap or a run that was cut off has left, with the bytes that its end would free."""

    path: Path
    bytes: int
    kept_for_undo: bool


def forbidden(environment: Environment) -> str:
    """Why an environment is never removed, as a sentence; "" if it may be."""
    path = Path(os.path.realpath(environment.path))
    if path == Path(os.path.realpath(sys.prefix)):
        return _("{path} is the environment that rigup itself runs in.").format(path=path)
    if environment.kind == "conda" and ((path / "condabin").is_dir() or any(path.glob("conda-meta/conda-[0-9]*.json"))):
        return _("{path} is conda itself, with which other environments are made.").format(path=path)
    if path in (Path.home(), *Path.home().parents, Path.cwd(), *Path.cwd().parents):
        return _("{path} holds more than an environment: you, or your home folder, are inside it.").format(path=path)
    return ""


def made_by_rigup(environment: Environment) -> bool:
    """Whether its own record says so."""
    return record.read(environment.path) is not None


def remove(environment: Environment) -> None:
    """Remove it, whole; a link that led to it goes too. Raises OSError."""
    named, path = environment.path, Path(os.path.realpath(environment.path))
    staged_swap.discard(path)
    if named.is_symlink():
        named.unlink()
    registry.forget(path)


def leftovers(folders: Iterable[Path]) -> list[Leftover]:
    """What lies about in folders of environments; what one frees is what no other file name holds."""
    paths = {path for folder in folders for path in staged_swap.leftovers(folder)}
    sizes = {path: size_of(path) for path in paths}
    return [Leftover(path, sizes[path].all - sizes[path].shared, staged_swap.OLD in path.name) for path in sorted(paths)]
