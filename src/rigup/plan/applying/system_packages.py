"""What a step did to the system's packages, and the commands that take exactly that back."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rigup.knowledge.package_managers import package_manager
from rigup.machine.host import Host
from rigup.plan.applying.journal import put
from rigup.plan.applying.probe import packages

Argv = tuple[str, ...]
Versions = dict[str, str]
MANAGERS = (
    "apt-get",
    "apt",
    "dpkg",
    "dnf",
    "yum",
    "zypper",
    "pacman",
    "rpm",
    "amdgpu-install",
    "amdgpu-uninstall",
    "apk",
)
_ASKING = ("apt-get", "apt", "dpkg", "ubuntu-drivers", "amdgpu-install", "amdgpu-uninstall")
_QUIET = (
    "DEBIAN_FRONTEND=noninteractive", "NEEDRESTART_SUSPEND=1", "UCF_FORCE_CONFFOLD=1",
    "DPKG_FORCE=confdef,confold,downgrade,security-mac",
)  # fmt: skip
_BEFORE = "packages.json"
_MOST = 5000  # packages in one command


class Moved(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Packages that came, went, or changed their version ([before, after])."""

    came: Versions = {}
    went: Versions = {}
    changed: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self.came or self.went or self.changed)


def uses_manager(argv: Argv) -> bool:
    """Whether a command speaks to a package manager; words before it (env NAME=VALUE) do not matter."""
    first = next((word for word in argv if word != "env" and "=" not in word), "")
    return first.rpartition("/")[2] in MANAGERS


def unattended(argv: Argv) -> Argv:
    """The same with nobody to ask: questions of packages have their defaults, and changed configuration stays.

    The variables stand in the command, for sudo hands none on.
    """
    return ("env", *_QUIET, *argv) if argv[0] in _ASKING else argv


def counted(folder: Path, before: Versions | None) -> None:
    """Keep what was there before a step, for one that is killed in the middle. Raises OSError."""
    if before is not None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        put(folder / _BEFORE, msgspec.json.encode(before))


def remembered(folder: Path) -> Versions | None:
    """What was there before a step that was killed; None for any other."""
    with contextlib.suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _BEFORE).read_bytes(), type=Versions)
    return None


def forget(folder: Path) -> None:
    """The step has ended, and what became of the packages is in the journal."""
    (folder / _BEFORE).unlink(missing_ok=True)


def moved(before: Versions | None, host: Host) -> Moved:
    """What differs now from what was there before."""
    after = packages(host)
    if before is None or after is None:
        return Moved()
    return Moved(
        came={name: version for name, version in after.items() if name not in before},
        went={name: version for name, version in before.items() if name not in after},
        changed={
            name: [version, after[name]] for name, version in before.items() if after.get(name, version) != version
        },
    )


def taking_back(told: Moved, distribution: str) -> Iterator[Argv]:
    """Remove what came, and ask for what went or changed at the version that it had.

    A version that no source offers any more makes its command fail, which is said.

    Raises:
        KnowledgeError: the table is malformed.

    """
    system = package_manager(distribution)
    if system is None:
        return
    if told.came:
        yield (*system.remove, *sorted(told.came)[:_MOST])
    old = {**told.went, **{name: versions[0] for name, versions in told.changed.items()}}
    if old and system.family == "debian":
        yield (*system.install, "--allow-downgrades", *(f"{name}={version}" for name, version in sorted(old.items())))
    elif told.went:
        yield (*system.install, *sorted(told.went)[:_MOST])
