"""A lock as steps: the same files again, each checked by its hash; and what is otherwise on this machine."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec import structs
from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

from rigup.language import _
from rigup.plan import environment, network
from rigup.plan.environments import made_for, rigup_torch
from rigup.plan.environments.lock_fields import LockError, Wheel
from rigup.plan.environments.lockfile import Lock, Locked
from rigup.plan.judge import blocked
from rigup.plan.packages import plain_address
from rigup.stack.candidate import Change
from rigup.stack.choice import Choice
from rigup.stack.site import Site
from rigup.stack.wish import Wish
from rigup.steps import Step, make_as

# The command stands before "--", requirements with their hashes behind it: pip takes hashes from a file alone. Modules
# that lie in the folder where a person stands are none of Python's or pip's.
INSTALL = """\
import sys
sys.path[:] = [place for place in sys.path if place]
import os, subprocess, tempfile
os.environ["PYTHONSAFEPATH"] = "1"
at = sys.argv.index("--")
handle, path = tempfile.mkstemp(suffix=".txt")
try:
    os.write(handle, "".join(row + "\\n" for row in sys.argv[at + 1 :]).encode())
    os.close(handle)
    status = subprocess.call(sys.argv[1:at] + ["-r", path])
finally:
    os.unlink(path)
sys.exit(status)
"""
_OLDEST_GLIBC = 5  # of wheels that name one
_LEGACY = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}


def locked_steps(lock: Lock, site: Site, folder: str = "") -> list[Step]:
    """The steps that make the environment of a lock, as `plan.steps.steps` gives them: satisfied, needed or blocked.

    Args:
        lock: what is to be there; packages that its markers leave out here are left out.
        site: this machine, looked at for the environment that the lock is to become (`look_at(None, path)`).
        folder: the wheels of a bundle; then nothing else is asked, and no network is needed.

    Raises:
        LockError: a package would be there twice.

    """
    choice = _choice(lock, site)
    wanted = here(lock, site)
    return [
        *(_judged(step, choice, wanted, folder) for step in environment.making(choice)),
        _judged(_install(choice, lock, wanted, folder), choice, wanted, folder),
        *(_judged(step, choice, wanted, folder) for step in _variables(choice, lock)),
    ]


def differences(lock: Lock, site: Site, folder: str = "") -> list[str]:
    """What is otherwise here than on the machine of the lock, as sentences; none where that machine was like this one."""
    return [*made_for.differences(lock.facts, site), *_python(lock, site), *_unfit(here(lock, site), site, lock.python, folder)]


def here(lock: Lock, site: Site) -> list[Locked]:
    """The packages that the lock puts on this machine. Raises LockError where one would be there twice."""
    from rigup.stack.wish import marker_environment

    marked = {**marker_environment(site), **({"python_version": lock.python.rstrip("t")} if lock.python else {})}
    wanted = [package for package in lock.packages if not package.marker or Marker(package.marker).evaluate(marked)]
    names = [package.name for package in wanted]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise LockError(_("The lock holds {name} twice for this machine.").format(name=twice[0]))
    return wanted


def requirement(package: Locked) -> str:
    """A line of a requirements file: version and hashes."""
    return " ".join((f"{package.name}=={package.version}", *(f"--hash=sha256:{wheel.sha256}" for wheel in package.wheels)))


# -- steps -------------------------------------------------------------------------------------------


def _choice(lock: Lock, site: Site) -> Choice:
    """What planning needs to make the environment: the Python is the lock's."""
    python = lock.python or site.python or ""
    known = {name for name in (site.python, *site.pythons) if name}
    because = _("The lock was made with Python {python}.").format(python=python)
    missing = Change(change="python", have=site.python, to=python, why=because, root=False)
    return Choice(
        wish=Wish(packages=lock.wish or tuple(package.name for package in lock.packages), manager=lock.manager),
        site=site,
        python=python,
        variables=lock.variables,
        changes=(missing,) if known and python not in known else (),
    )


def _install(choice: Choice, lock: Lock, wanted: list[Locked], folder: str) -> Step:
    python = environment.interpreter(choice)
    where = ["--no-index", "--find-links", folder] if folder else list(places(choice.site, lock, wanted))
    checks = ["--require-hashes", "--no-deps", "--only-binary", ":all:", *where]
    uv = getattr(choice.site, "uv", False) and lock.manager != "conda"
    many = ["--index-strategy", "unsafe-best-match"] if uv and not folder else []
    command = ["uv", "pip", "install", "--python", python] if uv else [python, "-m", "pip", "install"]
    argv = (python, "-c", INSTALL, *command, *checks, *many, "--", *map(requirement, wanted))
    params = {"python": python, "packages": " ".join(f"{package.name}=={package.version}" for package in wanted), "uv": "uv"}
    step = make_as("install-with-uv" if uv else "install-into-environment", params, (argv,))
    title = _("install what the lock holds, each file checked by its hash (packages: {count})").format(count=len(wanted))
    return structs.replace(step, title=title, network=not folder)


def places(site: Site, lock: Lock, wanted: list[Locked]) -> Iterator[str]:
    """Where an installer looks for the files: the person's own index first; whatever it gives, the hash decides."""
    if own := plain_address(site.sources.index):
        yield from ("--index-url", own)
    for url in dict.fromkeys((*lock.indexes, *map(plain_address, site.sources.extra_indexes))):
        if url and url != own:
            yield from ("--extra-index-url", url)
    folders = (_folder(wheel) for package in wanted for wheel in package.wheels)
    for place in dict.fromkeys((*lock.find_links, *site.sources.find_links, *folders)):
        if place:
            yield from ("--find-links", place)


def _folder(wheel: Wheel) -> str:
    """The folder of a file that lies on this machine, or is made here; "" for one that lies elsewhere."""
    if wheel.name == rigup_torch.wheel_name() and wheel.sha256 == rigup_torch.sha256():
        return str(rigup_torch.wheel_folder())
    address = urlsplit(wheel.url)
    path = Path(unquote(address.path)).parent
    return str(path) if address.scheme == "file" and not address.netloc and path.is_dir() else ""


def _variables(choice: Choice, lock: Lock) -> Iterator[Step]:
    because = _("The lock sets it.")
    for name, (value, why) in network.variables(choice).items():
        yield environment.setting(choice, name, value, lock.reasons.get(name, "") or why or because)


def _judged(step: Step, choice: Choice, wanted: list[Locked], folder: str) -> Step:
    site, installs = choice.site, step.kind.startswith("install-")
    if _satisfied(step, site, wanted, choice):
        return structs.replace(step, state="satisfied", because=_("It is there already."))
    unfit = _unfit(wanted, site, choice.python, folder) if installs else []
    because = blocked(site, step.root, step.network) or next(iter(unfit), "")
    return structs.replace(step, state="blocked" if because else "needed", because=because or step.because)


def _satisfied(step: Step, site: Site, wanted: list[Locked], choice: Choice) -> bool:
    """What is installed is what the lock names; a variable is set."""
    present = site.has_environment and site.python == choice.python
    if step.kind.startswith("make-"):
        return present
    if step.kind == "set-environment-variable":
        return site.variables.get(step.params["name"]) == step.params["value"]
    from packaging.utils import canonicalize_name

    have: dict[str, str] = {canonicalize_name(name): version for name, version in site.installed.items()}
    return present and all(have.get(package.name) == package.version for package in wanted)


# -- an unlike machine -------------------------------------------------------------------------------


def _python(lock: Lock, site: Site) -> Iterator[str]:
    known = [name for name in (site.python, *site.pythons) if name]
    if lock.python and known and lock.python not in known:
        template = _("The lock was made with Python {python}; here is {here}.")
        yield template.format(python=lock.python, here=", ".join(dict.fromkeys(known)))


def _unfit(wanted: list[Locked], site: Site, python: str, folder: str) -> list[str]:
    """Packages of which no file of the lock runs here, or lies anywhere that can be reached."""
    tags = frozenset(_tags(site, python))
    problems = []
    for package in wanted:
        fitting = [wheel for wheel in package.wheels if parse_wheel_filename(wheel.name)[3] & tags]
        if not fitting:
            template = _("{name} {version} of the lock has no build for this machine ({system}, {machine}, Python {python}).")
            system = {"name": package.name, "version": package.version, "system": site.system, "machine": site.machine}
            problems.append(template.format(python=python, **system))
        elif not folder and not any(_reachable(wheel, site) for wheel in fitting):
            template = _("{name} {version} of the lock came from a folder that is not here: {url}.")
            problems.append(template.format(name=package.name, version=package.version, url=fitting[0].url))
    return problems


def _reachable(wheel: Wheel, site: Site) -> bool:
    return not wheel.url.startswith("file:") or bool(_folder(wheel)) or bool(site.sources.find_links)


def _tags(site: Site, python: str) -> Iterator[Tag]:
    """What a Python of this machine installs, as wheels name it."""
    major, _dot, minor = python.rstrip("t").partition(".")
    number = (int(major), int(minor)) if minor.isdecimal() and major.isdecimal() else None
    platforms = list(_platforms(site.system, site.machine, site.glibc, site.macos))
    abis = [f"cp{number[0]}{number[1]}t"] if number and python.endswith("t") else None
    yield from cpython_tags(number, abis, platforms)
    yield from compatible_tags(number, f"cp{number[0]}{number[1]}" if number else None, platforms)


@cache
def _platforms(system: str, machine: str, glibc: str | None, macos: str) -> tuple[str, ...]:
    if system == "windows":
        return ({"x86_64": "win_amd64", "aarch64": "win_arm64", "arm64": "win_arm64"}.get(machine, "win32"),)
    if system == "macos":
        parts = [int(part) for part in macos.split(".")[:2] if part.isdecimal()]
        return tuple(mac_platforms((parts[0], parts[1] if len(parts) > 1 else 0) if parts else None, machine))
    if glibc == "":
        return (*(f"musllinux_1_{minor}_{machine}" for minor in range(9)), f"linux_{machine}")
    minor_release = (glibc or "").partition(".")[2]
    newest = int(minor_release) if minor_release.isdecimal() else 99  # nobody knows: the installer will say it
    new = [f"manylinux_2_{minor}_{machine}" for minor in range(_OLDEST_GLIBC, min(newest, 999) + 1)]
    return (*new, *(f"{name}_{machine}" for name, least in _LEGACY.items() if least <= newest), f"linux_{machine}")
