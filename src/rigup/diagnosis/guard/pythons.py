"""Which Python the commands of a way start: that of the environment that it makes, the project's, or the one that failed."""

import re

from rigup.diagnosis.guard.setting import Setting
from rigup.knowledge.own_pythons import own_python as whose
from rigup.steps import Commands, Step

NATIVE = "make-native-conda-environment"
_PIP = ("python", "-m", "pip")
_STARTED = "$(python "  # within a line of a shell's
_UVS_PYTHON = ("uv", "python")  # a subcommand, and no interpreter


def made_by(steps: list[Step], setting: Setting) -> tuple[str, ...]:
    """What starts the Python of an environment that the way makes; nothing where it makes none."""
    if any(step.kind == NATIVE for step in steps):
        return ("conda", "run", "-n", "native", "python")
    if any(step.kind == "install-native-python" for step in steps):
        return ("native/bin/python",)
    if any(step.kind == "install-in-wsl" for step in steps):
        return ("~/env-wsl/bin/python",)
    made = next((step.params for step in steps if step.kind == "new-environment"), None)
    if made is None or not made["python"].replace(".", "").isdigit():
        return ()
    name = f"env-{made['python']}"
    if setting.owner == "conda" and not made.get("starter"):
        return ("conda", "run", "-n", name, "python")
    return (f".\\{name}\\Scripts\\python.exe" if setting.system == "windows" else f"{name}/bin/python",)


def own_python(commands: Commands, setting: Setting) -> Commands:
    """The commands with the finding's own interpreter in the place of any; by uv where it keeps the packages."""
    owner = whose(setting.python)
    if setting.uv_pip or (owner and owner.packages in ("uv", "uv-tool")):
        commands = tuple(_by_uv(argv, setting) if argv[:3] == _PIP else argv for argv in commands)
    return tuple(argv if argv[:2] == _UVS_PYTHON else tuple(_own(word, setting) for word in argv) for argv in commands)


def _own(word: str, setting: Setting) -> str:
    """A word of a command with the finding's own interpreter in it."""
    return setting.python if word == "python" else _in_a_script(word, setting)


def _in_a_script(word: str, setting: Setting) -> str:
    """A shell's own lines start it, too; a path with spaces would need quotes of its own there."""
    if _STARTED not in word or not re.fullmatch(r"[\w./~+-]+", setting.python):
        return word
    return word.replace(_STARTED, f"$({setting.python} ")


def _by_uv(argv: tuple[str, ...], setting: Setting) -> tuple[str, ...]:
    """`python -m pip install …` as `uv pip install …`; uv asks nothing before it removes."""
    own = ("--python", setting.python) if re.search(r"[\\/]", setting.python) else ()
    return ("uv", "pip", argv[3], *own, *(word for word in argv[4:] if word != "-y"))


def asked_in_the_project(commands: Commands, setting: Setting) -> Commands:
    """Python of the project's environment, which its tool starts, where no path of it is known."""
    if not setting.project or setting.python not in ("python", "python3"):
        return commands
    return tuple((setting.project, "run", *argv) if argv[:1] == ("python",) else argv for argv in commands)


def as_in_a_cell(commands: Commands, setting: Setting) -> Commands:
    """What the kernel's own Python is asked, as a cell of the notebook takes it; not where a shell is at work beside it."""
    if not setting.cells or setting.shell or setting.inside or setting.project:
        return commands
    own = {setting.python, "python", "nvidia-smi", "rocm-smi"}
    return tuple(
        argv if argv[0] not in own else ("%pip", *argv[3:]) if argv[1:3] == _PIP[1:] else (f"!{argv[0]}", *argv[1:]) for argv in commands
    )
