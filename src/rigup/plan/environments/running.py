"""What a program needs so that it runs in an environment, on this machine's devices: variables, and their reasons."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from rigup.language import _
from rigup.plan.environments import record
from rigup.plan.environments.folder import Environment
from rigup.plan.environments.record import too_powerful
from rigup.stack.variables import OVERRIDE

LIBRARIES = "LD_LIBRARY_PATH"
_NOT_FOUND, _NOT_RUN = 127, 126  # as every shell tells them
_SEEN_BY = "_VISIBLE_DEVICES"  # who set one means it: a scheduler, or the person for this very run
_MOST_STATE = 1_000_000


class Setting(NamedTuple):
    """A variable, and why."""

    name: str
    value: str
    because: str


class Surroundings(NamedTuple):
    """What is changed for a program.

    Attributes:
        variables: to be set.
        unset: to be taken away.
        path: folders that go before all others on PATH.
        libraries: folders that go before all others on the loader's path.

    """

    variables: tuple[Setting, ...] = ()
    unset: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    libraries: tuple[Setting, ...] = ()


def activated(
    environment: Environment | None, needed: Sequence[Setting] = (), libraries: Sequence[Setting] = (), *, alien: bool = False
) -> Surroundings:
    """What its activation sets, without a shell.

    Args:
        environment: None for none: then only what the devices need.
        needed: what the devices need; the environment's own record goes over it.
        libraries: folders of libraries that programs would not find.
        alien: it may have been made on another machine: what it keeps for that one's devices is passed by.

    """
    if environment is None:
        return Surroundings(variables=tuple(needed), libraries=tuple(libraries))
    own = [setting for setting in of_environment(environment) if not (alien and _for_devices(setting.name))]
    settings = {setting.name: setting for setting in (*needed, *own)}
    because = _("It names the environment.")
    name = "CONDA_PREFIX" if environment.kind == "conda" else "VIRTUAL_ENV"
    named = [Setting(name, str(environment.path), because)]
    if environment.kind == "conda":
        named.append(Setting("CONDA_DEFAULT_ENV", environment.path.name, because))
    other = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT") if environment.kind == "conda" else ("CONDA_PREFIX", "CONDA_DEFAULT_ENV")
    return Surroundings((*named, *settings.values()), ("PYTHONHOME", *other), _folders(environment), tuple(libraries))


def _for_devices(name: str) -> bool:
    return name.startswith(OVERRIDE) or name.endswith(_SEEN_BY)


def _folders(environment: Environment) -> tuple[str, ...]:
    path = environment.path
    if environment.kind == "conda" and os.name == "nt":
        return tuple(map(str, (path, path / "Library" / "bin", path / "Scripts")))
    return (str(environment.programs),)


def of_environment(environment: Environment) -> list[Setting]:
    """What the environment keeps: rigup's record, and the variables that conda holds for it."""
    own_record = record.read(environment.path)
    because = _("The environment keeps it.")
    by_name = {name: Setting(name, value, because) for name, value in _of_conda(environment.path).items()}
    by_name |= {name: Setting(name, value, because) for name, value in (own_record.variables if own_record else {}).items()}
    return [by_name[name] for name in sorted(by_name)]


def _of_conda(path: Path) -> dict[str, str]:
    with suppress(OSError, msgspec.DecodeError, RecursionError, AttributeError), open(path / "conda-meta" / "state", "rb") as file:
        variables = msgspec.json.decode(file.read(_MOST_STATE)).get("env_vars", {})
        plain = {str(name): value for name, value in variables.items() if isinstance(value, str)}
        return {name: value for name, value in plain.items() if name not in too_powerful(plain)}
    return {}


# -- the variables of a program ----------------------------------------------------------------------


def merged(surroundings: Surroundings, before: Mapping[str, str], extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """All variables of a program.

    What tells a program which devices it may see stays as it was set before; so does all else that nothing is told of.
    `extra` goes over everything.
    """
    inherited = {name: value for name, value in before.items() if name not in surroundings.unset}
    new = {
        setting.name: setting.value
        for setting in surroundings.variables
        if not (setting.name.endswith(_SEEN_BY) and setting.name in before)
    }
    variables = {**inherited, **new}
    variables["PATH"] = os.pathsep.join((*surroundings.path, *_parts(before.get("PATH", os.defpath), surroundings.path)))
    if surroundings.libraries:
        own = [setting.value for setting in surroundings.libraries]
        variables[LIBRARIES] = os.pathsep.join((*own, *_parts(before.get(LIBRARIES, ""), own)))
    return {**variables, **(extra or {})}


def _parts(path: str, without: Sequence[str]) -> list[str]:
    """An empty part would mean the folder where one stands: it is kept on PATH as it was, and never made."""
    return [part for part in path.split(os.pathsep) if part not in without] if path else []


# -- running -----------------------------------------------------------------------------------------


def program(command: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """The file that a command's first word names, on the PATH of the variables; None if there is none."""
    return shutil.which(command[0], path=variables.get("PATH", os.defpath))


def run(command: Sequence[str], variables: Mapping[str, str]) -> int:
    """Become the program: its exit status and the signals that it gets are its own. Windows starts a child instead.

    Returns:
        A child's exit status; 127 where there is no such program, 126 where it cannot be started.

    """
    executable = program(command, variables)
    if executable is None:
        exists = os.path.exists(command[0]) and os.sep in command[0]
        template = _("{program} may not be run.") if exists else _("{program} is not found.")
        sys.stderr.write(template.format(program=command[0]) + "\n")
        return _NOT_RUN if exists else _NOT_FOUND
    if os.name == "nt":
        return subprocess.call([executable, *command[1:]], env=dict(variables))
    return _become(executable, command, variables)


def _become(executable: str, command: Sequence[str], variables: Mapping[str, str]) -> int:
    sys.stdout.flush()
    sys.stderr.flush()
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python leaves them out of its own way; the program means them
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_DFL)
    try:
        os.execve(executable, list(command), dict(variables))  # noqa: S606
    except OSError as error:
        sys.stderr.write(_("{program} cannot be started: {why}.").format(program=executable, why=error.strerror) + "\n")
        return _NOT_RUN
