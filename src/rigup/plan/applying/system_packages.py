"""The system's packages and what goes with them: holds, the manager's own files. What a step moved is taken back from here."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from rigup.knowledge.package_managers import PackageManager, package_manager
from rigup.machine.host import Host

Argv = tuple[str, ...]
Versions = dict[str, str]
MANAGERS = (
    "apt-get",
    "apt",
    "apt-mark",
    "dpkg",
    "dnf",
    "yum",
    "zypper",
    "pacman",
    "rpm",
    "amdgpu-install",
    "amdgpu-uninstall",
    "apk",
    "ubuntu-drivers",
    "add-apt-repository",
)
_ASKING = ("apt-get", "apt", "dpkg", "ubuntu-drivers", "add-apt-repository", "amdgpu-install", "amdgpu-uninstall")
_QUIET = (
    "DEBIAN_FRONTEND=noninteractive",
    "NEEDRESTART_SUSPEND=1",
    "UCF_FORCE_CONFFOLD=1",
    "DPKG_FORCE=confdef,confold,downgrade,security-mac",
)
_KEY = "gpg-pubkey"
_MOST = 5000  # packages in one command
_PATIENCE = 60.0  # seconds for a list of packages


class Moved(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Packages that came, went, or changed their version ([before, after])."""

    came: Versions = {}
    went: Versions = {}
    changed: dict[str, list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self.came or self.went or self.changed)

    def old(self) -> Versions:
        """What was there and is not, at the versions that it had."""
        return {**self.went, **{name: versions[0] for name, versions in self.changed.items()}}

    def then(self, later: "Moved") -> "Moved":
        """Both, where a step was tried twice."""
        return Moved(came={**self.came, **later.came}, went={**later.went, **self.went}, changed={**later.changed, **self.changed})


def moved(before: Versions, after: Versions) -> Moved:
    """What differs between two lists of packages."""
    changes = Moved(
        came={name: version for name, version in after.items() if name not in before},
        went={name: version for name, version in before.items() if name not in after},
    )
    for name in before:
        if before[name] != after.get(name, before[name]):
            _differs(name, before[name].split(), after[name].split(), changes)
    return changes


def _differs(name: str, old: list[str], new: list[str], changes: Moved) -> None:
    """One version became another; where several stand side by side (kernels), each came or went by itself."""
    if len(old) == len(new) == 1:
        changes.changed[name] = [old[0], new[0]]
        return
    changes.came.update({_one_of(name, version): version for version in new if version not in old})
    changes.went.update({_one_of(name, version): version for version in old if version not in new})


def _one_of(name: str, version: str) -> str:
    plain, _dot, machine = name.rpartition(".")
    return f"{plain}-{_plain(version)}.{machine}"


def _plain(version: str) -> str:
    """Without the epoch."""
    return version.partition(":")[2] or version


def distribution(host: Host) -> str:
    """The ID of a system's os-release; "" where there is none."""
    release = host.read("/etc/os-release").body or ""
    line_of_id = next((line for line in release.splitlines() if line.startswith("ID=")), "ID=")
    return line_of_id.removeprefix("ID=").strip("\"' ")


def uses_manager(argv: Argv) -> bool:
    """Whether a command speaks to a package manager; words before it (env NAME=VALUE) do not matter."""
    first = next((word for word in argv if word != "env" and "=" not in word), "")
    return first.rpartition("/")[2] in MANAGERS


def unattended(argv: Argv) -> Argv:
    """The same with nobody to ask: questions of packages have their defaults, and changed configuration stays.

    The variables stand in the command, for sudo hands none on.
    """
    return ("env", *_QUIET, *argv) if argv[0] in _ASKING else argv


# -- what is there -----------------------------------------------------------------------------------


def packages(host: Host) -> Versions | None:
    """The system's packages with their versions; None where no package manager answers."""
    for argv in _LISTS:
        answer = host.run(argv, _PATIENCE)
        if answer.state == "known" and answer.exit == 0 and answer.body:
            lines = answer.body.splitlines()
            return _versions(map(str.split, lines) if argv[0] != "pacman" else (["installed", *line.split()] for line in lines))
    return None


_LISTS = (
    ("dpkg-query", "-W", "-f", "${db:Status-Status} ${binary:Package} ${Version}\n"),
    ("rpm", "-qa", "--qf", "installed %{NAME}.%{ARCH} %{EPOCHNUM}:%{VERSION}-%{RELEASE}\n"),
    ("pacman", "-Q"),
)


def _versions(rows: Iterable[list[str]]) -> Versions:
    """Each package under the name that its manager takes, with the versions that are there, mostly one."""
    by_name: dict[str, list[str]] = {}
    for words in rows:
        if len(words) == 3 and words[0] == "installed":
            name = _key(words[2]) if words[1].startswith(_KEY + ".") else words[1]
            by_name.setdefault(name, []).append(words[2])
    return {name: " ".join(sorted(versions)) for name, versions in by_name.items()}


def _key(version: str) -> str:
    """rpm lists the keys that it trusts as versions of one package; each is one of its own."""
    return f"{_KEY}-{_plain(version)}"


def plain_names(versions: Versions) -> set[str]:
    """The same by names alone, without the processor that some managers add."""
    return {_MACHINE.sub("", name) for name in versions} | set(versions)


_MACHINE = re.compile(r"(?::[a-z0-9-]{2,20}|\.(?:noarch|x86_64|aarch64|i[3-6]86|ppc64le|s390x|src|\(none\)))\Z")


def held(host: Host) -> list[str] | None:
    """Names that are kept from updates; None where the manager keeps them in a file of its settings."""
    manager = package_manager(distribution(host))
    if manager is None or not manager.held:
        return None
    answer = host.run(tuple(manager.held), _PATIENCE)
    return sorted(answer.body.split()) if answer.state == "known" and answer.exit == 0 and answer.body is not None else None


# -- the way back ------------------------------------------------------------------------------------


def taking_back(changes: Moved, manager: PackageManager, refreshed: bool) -> Iterator[Argv]:
    """Remove what came, and ask for what went or changed at the version that it had.

    A version that no source offers any more makes its command fail, which is said. `refreshed`: the sources are
    others than a moment ago, so they are read anew first.
    """
    keys = sorted(name for name in changes.came if name.startswith(_KEY + "-"))
    if came := sorted(set(changes.came) - set(keys))[:_MOST]:
        yield (*(manager.alone or manager.remove), *came)
    if keys:
        yield ("rpm", "-e", *keys)
    old = changes.old()
    if old and refreshed and manager.refresh:
        yield tuple(manager.refresh)
    if old:
        yield (*(manager.older or manager.install), *(_at(manager, name, old[name]) for name in sorted(old)[:_MOST]))


def _at(manager: PackageManager, name: str, version: str) -> str:
    plain = _plain(version)
    if not manager.at or f"-{plain}." in name:  # the name of one of several kernels has its version already
        return name
    bare, dot, machine = name.rpartition(".")
    return manager.at.format(name=name, version=version, plain=plain, bare=bare if dot else name, machine=machine)
