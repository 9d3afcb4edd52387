"""Steps inside the person's own reach: the environment, its packages, its variables."""

import shlex
from collections.abc import Iterator

from rigup.knowledge.package_managers import package_manager
from rigup.knowledge.surroundings import loader
from rigup.language import _
from rigup.plan import network, place, toolkit
from rigup.plan.packages import Group, groups
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.steps import KINDS, Step, make, make_as

DEFAULT = ".venv"
_UV_FOLDER = ".uv"
_BACKEND = "UV_TORCH_BACKEND"  # set to auto by some: it would overrule the index that was chosen

# Constant texts; what varies comes as arguments.
_SET_IN_SHELL = 'printf "export %s=%s\\n" "$2" "$3" >> "$1"'
_UNSET_IN_SHELL = (
    'import sys; path, start = sys.argv[1], "export " + sys.argv[2] + "="; '
    "lines = [line for line in open(path) if not line.startswith(start)]; "
    'open(path, "w").writelines(lines)'
)
_SET_ON_WINDOWS = (
    "import sys; f, n, v = sys.argv[1:]; "
    "open(f + '/activate.bat', 'a').write('\\n@set \"' + n + '=' + v.replace('%', '%%') + '\"\\n'); "
    "open(f + '/Activate.ps1', 'a').write('\\n$env:' + n + \" = '\" + v.replace(\"'\", \"''\") + \"'\\n\")"
)


def steps(choice: Choice) -> Iterator[Step]:
    """Make the environment, install into it, set its variables."""
    yield from network.proxy_steps(choice, network.programs_of_work(choice))
    yield from _loader(choice.site)
    yield from making(choice)
    yield from toolkit.conda_steps(choice, folder(choice))
    told = groups(choice)
    if in_conda := [group for group in told if group.conda]:
        yield toolkit.conda_packages(choice, folder(choice), in_conda)
    for group in told:
        if not group.conda:
            yield _install(choice, group)
    for name, (value, because) in network.variables(choice).items():
        yield setting(choice, name, value, because)


def _loader(site: Site) -> Iterator[Step]:
    """What lets wheels, and the Pythons that uv brings along, start at all on a system of another kind."""
    row = loader(site.distribution)
    if row is None or row.variable in site.variables or site.container:
        return
    because = _("Wheels look for the loader and the libraries of C in places that this system does not have.")
    commands = tuple(map(tuple, row.commands))
    step = make_as("write-configuration", {"lines": " ".join(row.lines)}, KINDS, commands, because=because)
    yield step._replace(restart=False)


def kept(site: Site, python: str) -> bool:
    """The environment that is there can be kept: another Python needs another environment."""
    return bool(site.environment) and (not site.installed or site.python == python)


def folder(choice: Choice) -> str:
    """Where the environment lies: beside one of another Python, which is left as it is."""
    site = choice.site
    if site.environment and not kept(site, choice.python):
        return site.environment.rstrip("/\\") + "-" + choice.python
    return site.environment or DEFAULT


def interpreter(choice: Choice) -> str:
    """The environment's own Python."""
    return _program(choice, folder(choice), "python")


def _program(choice: Choice, environment: str, name: str) -> str:
    if choice.site.system != "windows":
        return f"{environment}/bin/{name}"
    inside = "" if choice.wish.manager == "conda" and name == "python" else "\\Scripts"
    return f"{environment}{inside}\\{name}.exe"


# -- the environment itself --------------------------------------------------------------------------


def making(choice: Choice) -> Iterator[Step]:
    """Make the environment; nothing is installed into it."""
    site, where = choice.site, folder(choice)
    params = {"environment": where, "python": choice.python}
    if choice.wish.manager == "conda":
        yield _undoable(make("make-conda-environment", params, KINDS), choice)
    elif _uv(site) or _python_is_missing(choice):
        yield from _with_uv(choice, params)
    else:
        starter = _starter(site, choice.python)
        yield from _able(site, choice.python)
        kind = "make-environment-windows" if site.system == "windows" else "make-environment"
        params["starter"] = starter[0]
        made = make_as(kind, params, KINDS, ((*starter, "-m", "venv", where),))
        yield _undoable(made, choice)


def _able(site: Site, python: str) -> Iterator[Step]:
    """Debian and its family keep what makes environments in a package of its own."""
    manager = package_manager(site.distribution) if python in site.bare else None
    if manager is not None and manager.family == "debian":
        because = _("Without it {python} cannot make environments.").format(python="python" + python)
        params = {"packages": f"python{python}-venv"}
        yield make("install-system-packages", params, KINDS, **place.inside(site), because=because)


def _undoable(step: Step, choice: Choice) -> Step:
    """Nobody takes back an environment that was there before."""
    return step._replace(undo=()) if choice.site.installed and kept(choice.site, choice.python) else step


def _starter(site: Site, python: str) -> tuple[str, ...]:
    if site.system == "windows":
        return ("py", "-" + python) if python else ("py",)
    return (site.interpreters.get(python, "python" + python),) if python else ("python3",)


def _uv(site: Site) -> str:
    """The uv that is there; "" where nobody has seen one."""
    return "uv" if site.uv else ""


def _python_is_missing(choice: Choice) -> bool:
    return any(change.change == "python" for change in choice.changes)


def _with_uv(choice: Choice, params: dict[str, str]) -> Iterator[Step]:
    """uv brings a Python along that the system has not; it needs no root."""
    uv = _uv(choice.site)
    because = next((change.why for change in choice.changes if change.change == "python"), "")
    if not uv:
        uv = _program(choice, _UV_FOLDER, "uv")
        starter = _starter(choice.site, choice.site.python or "")
        argv = (
            (*starter, "-m", "venv", _UV_FOLDER),
            (_program(choice, _UV_FOLDER, "python"), "-m", "pip", "install", "uv"),
        )
        undo = (_remover(choice.site, _UV_FOLDER),)
        yield make_as("get-uv", {"starter": starter[0], "folder": _UV_FOLDER}, KINDS, argv, undo, because=because)
    step = make("make-environment-with-uv", {**params, "uv": uv}, KINDS, because=because)
    yield _undoable(step._replace(undo=(_remover(choice.site, params["environment"]),)), choice)


def _remover(site: Site, where: str) -> tuple[str, ...]:
    return ("cmd", "/c", "rmdir", "/s", "/q", where) if site.system == "windows" else ("rm", "-rf", where)


# -- packages ----------------------------------------------------------------------------------------


def _install(choice: Choice, group: Group) -> Step:
    python, uv = interpreter(choice), _uv(choice.site)
    params = {"python": python, "packages": " ".join(group.wanted)}
    if not uv or choice.wish.manager == "conda":
        argv = (python, "-m", "pip", "install", *group.wanted, *group.options)
        return make_as("install-into-environment", params, KINDS, (argv,), because=_because(group))
    strategy = ("--index-strategy", "unsafe-best-match") if group.extra_indexes and not group.offline else ()
    plain = ("env", "-u", _BACKEND) if _BACKEND in choice.site.variables and choice.site.system != "windows" else ()
    argv = (*plain, uv, "pip", "install", "--python", python, *group.wanted, *group.options, *strategy)
    return make_as("install-with-uv", {**params, "uv": uv}, KINDS, (argv,), because=_because(group))


def _because(group: Group) -> str:
    """Why this build; a CPU build on a machine with a GPU says so first."""
    one = group.build
    if one is None:
        return _("It was asked for beside; any release that fits is taken.")
    if one.build.kind == "cpu" and one.served:
        return _("This build runs on the CPU alone: the GPU here is not served.")
    told = next((told.because for told in one.served if told.served), "")
    return told or _("It runs on the CPU.")


# -- variables ---------------------------------------------------------------------------------------


def setting(choice: Choice, name: str, value: str, because: str) -> Step:
    """Set a variable in the environment."""
    where = folder(choice)
    commands, undo = _setting(choice, where, name, value)
    params = {"name": name, "value": value, "environment": where}
    return make_as("set-environment-variable", params, KINDS, commands, undo, because=because)


def _setting(choice: Choice, where: str, name: str, value: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    if choice.wish.manager == "conda":
        vary = ("conda", "env", "config", "vars")
        return ((*vary, "set", "-p", where, f"{name}={value}"),), ((*vary, "unset", "-p", where, name),)
    if choice.site.system == "windows":
        return ((interpreter(choice), "-c", _SET_ON_WINDOWS, where + "\\Scripts", name, value),), ()
    activate = where + "/bin/activate"
    undo = (interpreter(choice), "-c", _UNSET_IN_SHELL, activate, name)
    return (("sh", "-c", _SET_IN_SHELL, "sh", activate, name, shlex.quote(value)),), (undo,)
