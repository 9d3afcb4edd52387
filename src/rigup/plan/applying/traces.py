"""What a step leaves on the system beside the files that it names, counted before and after it.

Packages and their holds; the package manager's own files (sources, keys, preferences, locks); modules that DKMS built;
packages of a Python that is changed in its place.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from rigup.knowledge.package_managers import package_manager
from rigup.machine.host import Host
from rigup.plan.applying import kept
from rigup.plan.applying.holdings import digest_of
from rigup.plan.applying.journal import put
from rigup.plan.applying.system_packages import Argv, Moved, Versions, distribution, held, moved, packages, taking_back
from rigup.plan.applying.system_packages import uses_manager as speaks_to_manager
from rigup.schemas.shared import Step

_BEFORE = "before-all.json"
FILES = "settings"
_DKMS = Path("/var/lib/dkms")
_MOSTFILES = 2000  # of a manager's own
_MOST_BYTES = 8_000_000  # of one of them
_PATIENCE = 60.0  # seconds until a Python has listed its packages
# Of this Python alone: neither the folder where it is started nor the person's own packages count.
_LIST = (
    "import importlib.metadata as m, sys\n"
    "for one in m.distributions(path=[p for p in sys.path if p]):\n"
    "    print(one.metadata['Name'], one.version)"
)
_UNBUILD = 'dkms unbuild "$@" || { dkms remove "$@" && { [ -e "/var/lib/dkms/$2/$4" ] || dkms add -m "$2" -v "$4"; }; }'


class Sight(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What was counted at one moment.

    Attributes:
        packages, held: None where no manager lists them.
        files: digests of the manager's own files.
        built: what DKMS has built: [module, version, kernel, processor].
        source: modules that DKMS knows, as "module/version".
        python: the Python whose packages were counted, "" for none. theirs: its packages.

    """

    packages: Versions | None = None
    held: list[str] | None = None
    files: dict[str, str] = {}
    built: list[list[str]] = []
    source: list[str] = []
    python: str = ""
    theirs: Versions = {}


class Traces(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What differs between before and after.

    Attributes:
        counted: packages were counted, so that nobody else's way to take them back is needed.
        holds: holds were counted too.
        new, old: the manager's files that came; those that changed or went.
        left: what the step left in these, by `holdings.digest_of`.

    """

    packages: Moved = msgspec.field(default_factory=Moved)
    counted: bool = False
    holds: bool = False
    held: list[str] = []
    freed: list[str] = []
    new: list[str] = []
    old: list[str] = []
    left: dict[str, str] = {}
    built: list[list[str]] = []
    python: str = ""
    theirs: Moved = msgspec.field(default_factory=Moved)

    def __bool__(self) -> bool:
        return bool(self.packages or self.held or self.freed or self.new or self.old or self.built or self.theirs)

    def but_python(self) -> "Traces":
        """The same without packages of a Python."""
        return msgspec.structs.replace(self, python="", theirs=Moved())

    def then(self, later: "Traces") -> "Traces":
        """Both, where a step was tried twice."""
        return Traces(
            packages=self.packages.then(later.packages),
            counted=self.counted or later.counted,
            holds=self.holds or later.holds,
            held=_union(self.held, later.held),
            freed=_union(self.freed, later.freed),
            new=_union(self.new, later.new),
            old=_union(self.old, later.old),
            left=self.left | later.left,
            built=_union(self.built, later.built),
            python=self.python or later.python,
            theirs=self.theirs.then(later.theirs),
        )


def _union(first: list[Any], second: list[Any]) -> list[Any]:
    return [*first, *(item for item in second if item not in first)]


# -- looking -----------------------------------------------------------------------------------------


def leaves(step: Step) -> bool:
    """Whether a step may leave more than the files that it names."""
    return bool(_python_of(step)) or (step.root and (step.network or _speaks(step)))


def _speaks(step: Step) -> bool:
    return any(speaks_to_manager(argv) or argv[:1] == ("dkms",) for argv in step.commands)


def _python_of(step: Step) -> str:
    """The Python whose packages a command changes where they are; "" for none."""
    for argv in step.commands:
        for place in range(1, len(argv) - 2):
            if argv[place : place + 2] == ("-m", "pip") and argv[place + 2] in ("install", "uninstall"):
                return argv[place - 1]
    return ""


def sight(step: Step, host: Host) -> Sight:
    """What is there now, of what the step could change."""
    python = _python_of(step)
    theirs = _of_python(python, host) if python else {}
    if not step.root:
        return Sight(python=python, theirs=theirs)
    return Sight(
        packages=packages(host),
        held=held(host),
        files={path: _digest(path) for path in _files(host)},
        built=_built(),
        source=_sources(),
        python=python,
        theirs=theirs,
    )


def _of_python(python: str, host: Host) -> Versions:
    answer = host.run((python, "-c", _LIST), _PATIENCE)
    lines = (answer.body or "").splitlines() if answer.state == "known" and answer.exit == 0 else []
    return {words[0]: words[1] for words in map(str.split, lines) if len(words) == 2}


def _files(host: Host) -> list[str]:
    """The files of the package manager, as far as they can be read."""
    manager = package_manager(distribution(host))
    paths: list[str] = []
    for place in manager.settings if manager else ():
        below = sorted(Path(place).rglob("*")) if os.path.isdir(place) else [Path(place)]
        paths += [str(path) for path in below if path.is_file() and os.access(path, os.R_OK)]
    return paths[:_MOSTFILES]


def _digest(path: str) -> str:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        return hashlib.sha256(file.read(_MOST_BYTES)).hexdigest()
    return ""


def _built() -> list[list[str]]:
    return [list(path.parts[-5:-1]) for path in sorted(_DKMS.glob("*/*/*/*/module"))]


def _sources() -> list[str]:
    return ["/".join(path.parts[-3:-1]) for path in sorted(_DKMS.glob("*/*/source"))]


# -- keeping -----------------------------------------------------------------------------------------


def counted(folder: Path, before: Sight) -> None:
    """Keep what was there before a step, also for one that is killed in the middle. Raises OSError."""
    kept.keep(before.files, folder / FILES)
    put(folder / _BEFORE, msgspec.json.encode(before))


def remembered(folder: Path) -> Sight | None:
    """What was there before a step that was killed; None for any other."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _BEFORE).read_bytes(), type=Sight)
    return None


def forget(folder: Path) -> None:
    """The step has ended, and what it left is in the journal."""
    (folder / _BEFORE).unlink(missing_ok=True)


def between(before: Sight, after: Sight) -> Traces:
    """What a step left."""
    both = before.packages is not None and after.packages is not None
    holds = before.held is not None and after.held is not None
    new = [path for path in after.files if path not in before.files]
    old = [path for path, digest in before.files.items() if after.files.get(path, "") != digest]
    return Traces(
        packages=moved(before.packages or {}, after.packages or {}) if both else Moved(),
        counted=both,
        holds=holds,
        held=sorted(set(after.held or ()) - set(before.held or ())) if holds else [],
        freed=sorted(set(before.held or ()) - set(after.held or ())) if holds else [],
        new=new,
        old=old,
        left={path: digest_of(path) for path in (*new, *old)},
        built=[build for build in after.built if build not in before.built and "/".join(build[:2]) in before.source],
        python=before.python,
        theirs=moved(before.theirs, after.theirs) if before.python else Moved(),
    )


# -- the way back ------------------------------------------------------------------------------------


def ways_back(left: Traces, folder: Path, system: str) -> Iterator[Argv]:
    """Commands that take it back: sources first, for packages may have to come from them again.

    Raises:
        KnowledgeError: the table is malformed.

    """
    yield from kept.putting_back(folder / FILES, left.old)
    yield from (("rm", "-f", "--", path) for path in left.new)
    manager = package_manager(system)
    if manager is not None:
        if left.held:
            yield (*manager.unhold, *left.held)
        yield from taking_back(left.packages, manager, bool(left.old or left.new))
        if left.freed:
            yield (*manager.hold, *left.freed)
    for module, version, kernel, processor in left.built:
        yield ("sh", "-c", _UNBUILD, "sh", "-m", module, "-v", version, "-k", kernel, "-a", processor)
    yield from _python_back(left)


def _python_back(left: Traces) -> Iterator[Argv]:
    pip = (left.python, "-m", "pip")
    if left.theirs.came:
        yield (*pip, "uninstall", "-y", *sorted(left.theirs.came))
    if old := left.theirs.old():
        yield (*pip, "install", "--no-deps", *(f"{name}=={version}" for name, version in sorted(old.items())))
