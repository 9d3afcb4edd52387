"""A notebook's kernel for an environment: its Python, and the variables that its devices need."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rigup.language import _
from rigup.plan.environments.folder import Environment, packages

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class KernelError(Exception):
    """A kernel that is not registered, with what to do."""


def register(environment: Environment, name: str, title: str, variables: Mapping[str, str], folder: Path) -> Path:
    """Write a kernel's description; what stood there under that name is replaced.

    Args:
        environment: one in which ipykernel is installed.
        name: by which Jupyter knows it; its folder's name.
        title: as the notebook shows it.
        variables: what the kernel is started with.
        folder: where kernels lie, as `kernels_folder()` gives it.

    Returns:
        The file that was written.

    Raises:
        KernelError: the name cannot be one, or the environment has no ipykernel.
        OSError: the folder cannot be written.

    """
    if not _NAME.fullmatch(name):
        raise KernelError(_("{name} is no name of a kernel: letters, digits, dots and dashes make one.").format(name=repr(name)[:80]))
    if not any(package.name == "ipykernel" for package in packages(environment)):
        template = _("ipykernel is not in {path}. Install it there first: {python} -m pip install ipykernel")
        raise KernelError(template.format(path=environment.path, python=environment.interpreter))
    path = folder / name.lower() / "kernel.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps(described(environment, title, variables), ensure_ascii=False, indent=1) + "\n")
    return path


def described(environment: Environment, title: str, variables: Mapping[str, str]) -> dict[str, object]:
    """What a kernel.json says of an environment."""
    argv = [str(environment.interpreter), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    return {
        "argv": argv,
        "display_name": title,
        "language": "python",
        "env": dict(variables),
        "metadata": {"debugger": True, "rigup": {"environment": str(environment.path)}},
    }


def kernels_folder(variables: Mapping[str, str]) -> Path:
    """Where the person's own kernels lie."""
    if folder := variables.get("JUPYTER_DATA_DIR"):
        return Path(folder, "kernels")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Jupyter" / "kernels"
    if os.name == "nt":
        return Path(variables.get("APPDATA", str(Path.home())), "jupyter", "kernels")
    return Path(variables.get("XDG_DATA_HOME") or Path.home() / ".local" / "share", "jupyter", "kernels")


def _write(path: Path, text: str) -> None:
    """The whole file or none of it."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".rigup-draft-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
