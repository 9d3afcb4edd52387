"""Which files a wish comes to: asked of the environment's own pip, or of uv. Nothing is installed."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from rigup.language import _, sentences
from rigup.plan.environments.folder import environment_at
from rigup.plan.environments.lock_fields import CannotBeHadError, LockError
from rigup.plan.environments.lockfile import Locked, parsed
from rigup.plan.environments.places import silent
from rigup.plan.packages import Group

Argv = tuple[str, ...]
_MOST_REPORT = 200_000_000  # bytes
_LINES = 8  # of an installer's last words
_QUICK = 60.0  # seconds that a program may take to tell its version


# uv trusts certificates of its own unless it is told otherwise; pip, browsers and a company's proxy go by the system's.
SYSTEM_CERTIFICATES = {"UV_NATIVE_TLS": "1", "UV_SYSTEM_CERTS": "1"}


class Resolver(NamedTuple):
    """An installer for one Python: `argv` starts pip or uv, `python` is what it resolves for."""

    kind: str  # "pip" or "uv"
    argv: Argv
    python: str


class Tries(NamedTuple):
    """How often an installer tries again. `silent`: the places that nobody answers at, so that waiting is in vain."""

    silent: tuple[str, ...] = ()
    times: int = 1  # who waits for an answer does not want five tries for every package

    @classmethod
    def at(cls, urls: Iterable[str]) -> "Tries":
        """For these places, each of which is asked for once."""
        dead = tuple(silent(list(urls), os.environ))
        return cls(dead, 0 if dead else 1)

    def variables(self) -> dict[str, str]:
        """Variables for the installer; those of the person take precedence."""
        defaults = {"PIP_RETRIES": str(self.times), "UV_HTTP_RETRIES": str(self.times), **SYSTEM_CERTIFICATES}
        return {name: os.environ.get(name, value) for name, value in defaults.items()}


# -- which one ---------------------------------------------------------------------------------------


def resolver_for(version: str, environment: Path | None = None, interpreter: str = "") -> Resolver:
    """The installer that resolves for a Python.

    Args:
        version: "3.11"; "" for whichever is there.
        environment: one whose own Python and pip are asked, if its version is the one.
        interpreter: the program that the environment will be made with; "" where none was found.

    Raises:
        LockError: there is no such Python, or nothing that resolves for it.

    """
    python = _python(version, environment, interpreter)
    if python is None:
        template = _("There is no Python {version} here to resolve for. Make the environment first, and lock that.")
        raise LockError(template.format(version=version))
    if _works(python, "-m", "pip", "--version"):
        return Resolver("pip", (python, "-m", "pip"), python)
    if uv := found_uv():
        return Resolver("uv", (uv,), python)
    if _works(sys.executable, "-m", "pip", "--python", python, "--version"):
        return Resolver("pip", (sys.executable, "-m", "pip", "--python", python), python)
    raise LockError(_("{python} has no pip, and there is no uv: install one of them.").format(python=python))


def _python(version: str, environment: Path | None, interpreter: str) -> str | None:
    existing = environment_at(environment) if environment else None
    if existing is not None and _minor(existing.python) in (version, ""):
        return str(existing.interpreter)
    if not version or version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return sys.executable
    named = interpreter if os.path.isfile(interpreter) else shutil.which("python" + version)
    return named if named and _works(named, "-c", "") else None  # pyenv's stand-in for one that is not switched on does not


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def found_uv() -> str:
    """The program uv: on the path, or beside the Python that runs this; "" where there is none."""
    sibling = Path(sys.executable).with_name("uv.exe" if os.name == "nt" else "uv")
    return shutil.which("uv") or (str(sibling) if sibling.is_file() else "")


def _works(*argv: str) -> bool:
    try:
        return subprocess.run(argv, capture_output=True, timeout=_QUICK, check=False, env=surroundings()).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def version_of(*argv: str) -> str:
    """The first line of a program's output; "" where it cannot be run."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=_QUICK, check=False, env=surroundings())
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.splitlines() if done.returncode == 0 else []
    return lines[0].partition(" (")[0].strip()[:80] if lines else ""


def surroundings() -> dict[str, str]:
    """Variables of a child: the person's own, without those that would send packages elsewhere."""
    left = ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REPORT", "PIP_REQUIRE_VIRTUALENV", "VIRTUAL_ENV")
    inherited = {name: value for name, value in os.environ.items() if name not in left}
    return {**inherited, "LC_ALL": "C.UTF-8", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PYTHONSAFEPATH": "1"}


_OF_UV = {"--prefer-binary": (), "--pre": ("--prerelease", "allow"), "--trusted-host": ("--allow-insecure-host",)}


def as_uv(options: Iterable[tuple[str, str]]) -> list[str]:
    """Options of pip with their values, "" for none, in uv's words."""
    return [word for name, value in options for word in (*_OF_UV.get(name, (name,)), value) if word]


# -- resolving ---------------------------------------------------------------------------------------


def resolved(resolver: Resolver, groups: Sequence[Group], *, whole: bool = False) -> list[Locked]:
    """The files of all groups, each with its hash; a later group takes what an earlier one has chosen.

    Args:
        resolver: who is asked.
        groups: what comes from the same places, in order.
        whole: they name everything that is to be there: nothing is added.

    Raises:
        LockError: something cannot be resolved; with the installer's last lines.

    """
    _all_plain(word for group in groups for word in group.wanted)
    tries = Tries.at(url for group in groups for _option, url in group.places)
    by_name: dict[str, Locked] = {}
    places: list[tuple[str, str]] = []
    for group in groups:
        further = [pair for pair in places if pair[1] not in {place for _option, place in group.places}]
        plain = group._replace(terms=())
        terms = as_uv(group.terms) if resolver.kind == "uv" else [word for pair in group.terms for word in pair if word]
        options = [*plain.options, *terms, *(word for pair in further for word in pair)]
        pins = [f"{package.name}=={package.version}" for package in by_name.values()]
        ask = _by_pip if resolver.kind == "pip" else _by_uv
        for package in ask(resolver, [*group.wanted, *pins], options, whole, tries):
            by_name.setdefault(package.name, package)
        places += [(option.replace("--index-url", "--extra-index-url"), place) for option, place in group.places]
    return [by_name[name] for name in sorted(by_name)]


def _all_plain(wanted: Iterable[str]) -> None:
    """Raise LockError for a word that an installer would not take for a package: it reads options among them."""
    for word in wanted:
        try:
            Requirement(word)
        except InvalidRequirement as error:
            raise LockError(_("{word} is no package.").format(word=repr(word)[:200])) from error


def _by_pip(resolver: Resolver, wanted: list[str], options: list[str], whole: bool, tries: "Tries") -> list[Locked]:
    with tempfile.TemporaryDirectory(prefix="rigup-") as folder:
        report = Path(folder, "report.json")
        fixed = ("install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary", ":all:", "--report", str(report))
        alone = ("--no-deps",) if whole else ()
        ran((*resolver.argv, *fixed, *alone, *options, "--", *wanted), tries=tries)
        with open(report, "rb") as file:
            result = msgspec.json.decode(file.read(_MOST_REPORT))
    rows = [_of_report(row, result["environment"]) for row in result["install"]]
    names = {name for name, _requires, _locked in rows}
    return [msgspec.structs.replace(locked, dependencies=tuple(sorted(requires & names))) for _name, requires, locked in rows]


def _hashes(archive: dict[str, Any]) -> dict[str, str]:
    """By the name of the function. Of a file on a disk, pip before 23.1 has the older `hash` alone: `sha256=…`."""
    name, _, digest = str(archive.get("hash") or "").partition("=")
    return archive.get("hashes") or ({name: digest} if digest else {})


def _of_report(entry: dict[str, Any], marked: dict[str, str]) -> tuple[str, set[str], Locked]:
    """A row of pip's report, checked as a lock's own would be."""
    from rigup.plan.environments.lock_fields import checked_package

    metadata, source = entry["metadata"], entry["download_info"]
    wheel = {"url": source.get("url", ""), "hashes": _hashes(source.get("archive_info", {}))}
    row = {
        "name": metadata["name"],
        "version": metadata["version"],
        "requires-python": metadata.get("requires_python", ""),
        "wheels": [wheel],
    }
    locked = Locked(**checked_package(row))
    return locked.name, {_needed(word, marked) for word in metadata.get("requires_dist", [])}, locked


def _needed(requirement: str, marked: dict[str, str]) -> str:
    """The package that a line of metadata asks for on this machine, without extras; "" for none."""
    try:
        wanted = Requirement(requirement)
    except InvalidRequirement:
        return ""
    here = wanted.marker is None or wanted.marker.evaluate({**marked, "extra": ""})
    return canonicalize_name(wanted.name) if here else ""


def _by_uv(resolver: Resolver, wanted: list[str], options: list[str], whole: bool, tries: "Tries") -> list[Locked]:
    fixed = ("pip", "compile", "--quiet", "--format", "pylock.toml", "--generate-hashes", "--only-binary", ":all:", "--no-header")
    more = (*(("--no-deps",) if whole else ()), "--index-strategy", "unsafe-best-match", "--python", resolver.python)
    lock_text = ran((*resolver.argv, *fixed, *more, *options, "-"), "\n".join(wanted) + "\n", tries)
    return list(parsed(lock_text).packages)


def ran(argv: Argv, stdin: str = "", tries: Tries | None = None) -> str:
    """What the installer prints. Raises CannotBeHadError with its last words, and with the places that were not reached."""
    more = tries.variables() if tries else {}
    try:
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, errors="replace", check=False, env=surroundings() | more)
    except OSError as error:
        raise LockError(_("{program} could not be started: {why}.").format(program=argv[0], why=error.strerror)) from error
    if done.returncode:
        raise CannotBeHadError(_why_not(done.stderr, tries.silent if tries else ()))
    return done.stdout


def _why_not(output: str, dead: Sequence[str]) -> str:
    """What failed, why, and what to do: first the network, for what an installer says without one is beside the point."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip() and not _REPEATED.match(line)]
    last = "\n".join(line[:300] for line in lines[-_LINES:])
    words = _("What was asked for cannot be had. The installer said:\n{words}").format(words=last)
    if dead:
        problem = _("Nobody answers at {places}.").format(places=", ".join(dead))
    elif _UNREACHED.search(output):
        problem = _("The installer does not reach the places of packages that it is set up to ask.")
    else:
        return words
    ways = _("Check the network and the proxy, name a mirror with --mirror, or a folder of wheels in PIP_FIND_LINKS.")
    return sentences(problem, ways) + "\n" + words


_REPEATED = re.compile(r"WARNING: (?:Retrying|Location|Connection timed out|Cache entry)|\s*(?:hint|caused by):", re.IGNORECASE)
_UNREACHED = re.compile(
    r"NewConnectionError|ConnectTimeoutError|NameResolutionError|ProxyError|Max retries exceeded|Failed to fetch"
    r"|error sending request|dns error|Connection (?:refused|reset)"
)
