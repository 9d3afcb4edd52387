"""Steps inside the person's own reach: the environment, its packages, its variables."""

import shlex
from collections.abc import Iterator

from msgspec import structs

from rigup.knowledge.surroundings import loader
from rigup.knowledge.system_pythons import Installer, bringing, making_environments, takes_uv, uv_installer
from rigup.language import _
from rigup.plan import network, place, programs, toolkit
from rigup.plan.environments.resolver import as_uv
from rigup.plan.packages import ALONE, Group, groups, name_of
from rigup.plan.term_files import hashed_path, is_hashed
from rigup.stack.choice import Choice
from rigup.stack.pythons import is_there, repository_pythons
from rigup.stack.site import Site
from rigup.steps import Step, make, make_as

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
    all_groups = groups(choice)
    if in_conda := [group for group in all_groups if group.conda]:
        yield toolkit.conda_packages(choice, folder(choice), in_conda)
    for group in all_groups:
        if not group.conda:
            yield _install(choice, group)
    yield from programs.steps(choice, interpreter(choice))
    for name, (value, because) in network.variables(choice).items():
        yield setting(choice, name, value, because)


def _loader(site: Site) -> Iterator[Step]:
    """What lets wheels, and the Pythons that uv brings along, start at all on a system of another kind."""
    row = loader(site.distribution)
    if row is None or row.variable in site.variables or site.container:
        return
    because = _("Wheels look for the loader and the libraries of C in places that this system does not have.")
    commands = tuple(map(tuple, row.commands))
    step = make_as("write-configuration", {"lines": " ".join(row.lines)}, commands, because=because)
    yield structs.replace(step, restart=False)


def kept(site: Site, python: str) -> bool:
    """The environment that is there can be kept: another Python needs another environment."""
    return bool(site.environment) and (not site.has_environment or site.python == python)


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
    """Make the environment; nothing is installed into it. Where no Python of the machine fits, a step brings one."""
    site, where = choice.site, folder(choice)
    params = {"environment": where, "python": choice.python}
    if choice.wish.manager == "conda":
        yield _undoable(make("make-conda-environment", params), choice)
    elif _uv(site) and not site.system_state.uv_program:
        yield from _with_uv(choice, params)
    elif choice.python in repository_pythons(site):
        yield from _packaged(choice)
        yield _environment_step(choice, ("python" + choice.python,))
    elif choice.python and not is_there(site, choice.python):
        yield from _with_uv(choice, params)
    else:
        yield from _able(site, choice.python)
        yield _environment_step(choice, _starter(site, choice.python))


def _environment_step(choice: Choice, starter: tuple[str, ...]) -> Step:
    """The environment, by the interpreter's own module."""
    where = folder(choice)
    kind = "make-environment-windows" if choice.site.system == "windows" else "make-environment"
    params = {"environment": where, "python": choice.python, "starter": starter[0]}
    return _undoable(make_as(kind, params, ((*starter, "-m", "venv", where),)), choice)


def _packaged(choice: Choice) -> Iterator[Step]:
    """A Python of the distribution's packages, beside its own one, which stays what it is."""
    packages = bringing(choice.site.distribution, choice.python)
    yield place.system_packages(packages, choice.site, _why_python(choice))


def _able(site: Site, python: str) -> Iterator[Step]:
    """Debian and its family keep what makes environments in a package of its own."""
    unknown = site.own_python and site.in_words and site.root is not False and is_there(site, python) and not site.has_environment
    packages = making_environments(site.distribution, python) if python in site.bare or unknown else ()
    if packages and site.system == "linux":
        because = _("Without it {python} cannot make environments.").format(python="python" + python)
        yield place.system_packages(packages, site, because)


def _undoable(step: Step, choice: Choice) -> Step:
    """Nobody takes back an environment that was there before."""
    return structs.replace(step, undo=()) if choice.site.has_environment and kept(choice.site, choice.python) else step


def _starter(site: Site, python: str) -> tuple[str, ...]:
    if site.system == "windows":
        return ("py", "-" + python) if python else ("py",)
    return (site.interpreters.get(python, "python" + python),) if python else ("python3",)


def _uv(site: Site) -> str:
    """The uv that is there; "" where nobody has seen one."""
    return (site.system_state.uv_program or "uv") if site.uv else ""


def _why_python(choice: Choice) -> str:
    return next((change.why for change in choice.changes if change.change == "python"), "")


def _with_uv(choice: Choice, params: dict[str, str]) -> Iterator[Step]:
    """uv brings a Python along that the system has not; it needs no root."""
    site, uv, because = choice.site, _uv(choice.site), _why_python(choice)
    if not uv:
        installer = None if _pip_brings_uv(site) else uv_installer(site.system)
        separator = "\\" if site.system == "windows" else "/"
        uv = f"{_UV_FOLDER}{separator}{installer.program}" if installer else _program(choice, _UV_FOLDER, "uv")
        yield from _installed_uv(installer, site, because) if installer else _uv_by_pip(choice, because)
    step = make("make-environment-with-uv", {**params, "uv": uv}, because=because)
    yield _undoable(structs.replace(step, undo=(_remover(site, params["environment"]),)), choice)


def _pip_brings_uv(site: Site) -> bool:
    """A Python is there that can install it. Distributions have one, also where nobody told which it is."""
    return takes_uv(site.python) if site.python else site.system == "linux"


def _uv_by_pip(choice: Choice, because: str) -> Iterator[Step]:
    site = choice.site
    yield from _able(site, site.python or "")
    starter = _starter(site, site.python or "")
    pip = (_program(choice, _UV_FOLDER, "python"), "-m", "pip", "install", "uv")
    argv = ((*starter, "-m", "venv", _UV_FOLDER), pip)
    params = {"starter": starter[0], "folder": _UV_FOLDER}
    yield make_as("get-uv", params, argv, (_remover(site, _UV_FOLDER),), because=because)


def _installed_uv(installer: Installer, site: Site, because: str) -> Iterator[Step]:
    argv = ((*installer.command, _UV_FOLDER),)
    yield make_as("get-uv-alone", {"folder": _UV_FOLDER}, argv, (_remover(site, _UV_FOLDER),), because=because)


def _remover(site: Site, where: str) -> tuple[str, ...]:
    return ("cmd", "/c", "rmdir", "/s", "/q", where) if site.system == "windows" else ("rm", "-rf", where)


# -- packages ----------------------------------------------------------------------------------------


def _install(choice: Choice, group: Group) -> Step:
    python, uv = interpreter(choice), _uv(choice.site)
    params = {"python": python, "packages": " ".join(group.wanted)}
    wanted = group.wanted
    if is_hashed(group, choice.wish.terms):
        wanted = ("--require-hashes", "-r", str(hashed_path(group.wanted, choice.wish.terms)))
    if not uv or choice.wish.manager == "conda":
        argv = (python, "-m", "pip", "install", *wanted, *group.options)
        step = make_as("install-into-environment", params, (*_pip(choice), argv), because=_reason(group))
        return _with_title(step, group, choice)
    strategy = ("--index-strategy", "unsafe-best-match") if group.extra_indexes and not group.offline else ()
    plain = ("env", "-u", _BACKEND) if _BACKEND in choice.site.variables and choice.site.system != "windows" else ()
    options = (*group._replace(terms=()).options, *as_uv(group.terms), *strategy)
    argv = (*plain, uv, "pip", "install", "--python", python, *wanted, *options)
    step = make_as("install-with-uv", {**params, "uv": uv}, (argv,), because=_reason(group))
    return _with_title(step, group, choice)


def _pip(choice: Choice) -> tuple[tuple[str, ...], ...]:
    """What puts pip into an environment that was made without it, as uv makes them."""
    site = choice.site
    lacks = site.stands and kept(site, choice.python) and choice.wish.manager != "conda" and "pip" not in site.installed
    return ((interpreter(choice), "-m", "ensurepip"),) if lacks else ()


def _with_title(step: Step, group: Group, choice: Choice) -> Step:
    """Where what was asked for brings much along, the title names that alone, as far as it is not there, and how much it is."""
    have = {name_of(name): version for name, version in _kept_packages(choice).items()}
    coming = [want for want in group.wanted if have.get(name_of(want)) != want.partition("==")[2]]
    named = [want for want in group.wanted[: group.named] if want in coming]
    if not group.named or len(coming) == len(named) or not coming:
        return step
    if not named:
        return structs.replace(step, title=_("install what is needed beside ({count} packages)").format(count=len(coming)))
    template = _("install {packages} with dependencies ({count} packages in all)")
    return structs.replace(step, title=template.format(packages=", ".join(named), count=len(coming)))


def _kept_packages(choice: Choice) -> dict[str, str]:
    return choice.site.installed if choice.site.python == choice.python else {}


def _reason(group: Group) -> str:
    """Why this build; a CPU build on a machine with a GPU says so first."""
    judged = group.build
    if judged is None and ALONE in group.flags:
        return _("It was asked for beside; these are the releases that fit the rest.")
    if judged is None:
        return _("It was asked for beside; any release that fits is taken.")
    if judged.build.kind == "cpu" and judged.served:
        return _("This build runs on the CPU alone: the GPU here is not served.")
    because = next((served.because for served in judged.served if served.served), "")
    return because or _("It runs on the CPU.")


# -- variables ---------------------------------------------------------------------------------------


def setting(choice: Choice, name: str, value: str, because: str) -> Step:
    """Set a variable in the environment."""
    where = folder(choice)
    commands, undo = _setting(choice, where, name, value)
    params = {"name": name, "value": value, "environment": where}
    return make_as("set-environment-variable", params, commands, undo, because=because)


def _setting(choice: Choice, where: str, name: str, value: str) -> tuple[tuple[tuple[str, ...], ...], ...]:
    if choice.wish.manager == "conda":
        vary = ("conda", "env", "config", "vars")
        return ((*vary, "set", "-p", where, f"{name}={value}"),), ((*vary, "unset", "-p", where, name),)
    if choice.site.system == "windows":
        return ((interpreter(choice), "-c", _SET_ON_WINDOWS, where + "\\Scripts", name, value),), ()
    activate = where + "/bin/activate"
    undo = (interpreter(choice), "-c", _UNSET_IN_SHELL, activate, name)
    return (("sh", "-c", _SET_IN_SHELL, "sh", activate, name, shlex.quote(value)),), (undo,)
