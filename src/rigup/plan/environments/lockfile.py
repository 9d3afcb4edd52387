"""A lock: what was resolved, each file with its hash, in the form of PEP 751, with the machine and the reasons beside.

A lock that is read may come from anybody. It is bounded; names, versions, file names and addresses are checked before
anything is made of them; what rigup cannot install from (sources, repositories, folders) is refused by name.
"""

import datetime as dt
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from packaging.utils import canonicalize_name

from rigup.language import _
from rigup.plan.environments.lock_fields import LockError, Wheel, checked_package, words
from rigup.plan.environments.record import refused_variables
from rigup.version import __version__

VERSION = "1.0"
TOOL = "rigup.lock/1"
NAME = "pylock.toml"
_MOST_BYTES = 20_000_000
_MOST_PACKAGES = 5_000


class Locked(msgspec.Struct, frozen=True, kw_only=True):
    """One package.

    Attributes:
        wheels: the files that it may be installed from; as a rule the one that fits the machine where it was locked.
        marker: where it is installed, as PEP 508 has it; "" everywhere.
        dependencies: names of the lock's packages that it needs.

    """

    name: str
    version: str
    wheels: tuple[Wheel, ...]
    marker: str = ""
    requires_python: str = ""
    dependencies: tuple[str, ...] = ()


class Lock(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of a lock.

    Attributes:
        wish: what was asked for.
        python: "3.11".
        indexes, find_links: places that were asked, beside each wheel's own address.
        variables: what programs of the environment need.
        facts: the machine, as `made_for` gives it.
        reasons: why, by what was chosen: a package's name, "python", a variable's name.

    """

    packages: tuple[Locked, ...]
    requires_python: str = ""
    environments: tuple[str, ...] = ()
    created_by: str = "rigup"
    wish: tuple[str, ...] = ()
    python: str = ""
    manager: str = "venv"
    indexes: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    facts: dict[str, Any] = {}
    reasons: dict[str, str] = {}
    made_at: str = ""

    def wheels(self) -> Iterator[Wheel]:
        """All files."""
        for package in self.packages:
            yield from package.wheels


# -- writing -----------------------------------------------------------------------------------------


def text(lock: Lock) -> str:
    """The lock as a file; the same lock gives the same text."""
    packages = sorted(lock.packages, key=lambda package: (package.name, package.version))
    return as_toml(
        _filled(
            lock_version=VERSION,
            created_by=lock.created_by,
            requires_python=lock.requires_python,
            environments=lock.environments,
            packages=list(map(_package, packages)),
            tool={"rigup": _tool(lock)},
        )
    )


def _package(package: Locked) -> dict[str, Any]:
    return _filled(
        name=package.name,
        version=package.version,
        marker=package.marker,
        requires_python=package.requires_python,
        dependencies=[{"name": name} for name in package.dependencies],
        wheels=list(map(_wheel, package.wheels)),
    )


def _wheel(wheel: Wheel) -> dict[str, Any]:
    return _filled(name=wheel.name, url=wheel.url, path=wheel.path, size=wheel.size, hashes={"sha256": wheel.sha256})


def _tool(lock: Lock) -> dict[str, Any]:
    return _filled(
        schema=TOOL,
        rigup=__version__,
        made_at=lock.made_at or _now(),
        wish=lock.wish,
        python=lock.python,
        manager=lock.manager,
        indexes=lock.indexes,
        find_links=lock.find_links,
        variables=dict(sorted(lock.variables.items())),
        reasons=dict(sorted(lock.reasons.items())),
        facts=dict(sorted(_plain(lock.facts).items())),
    )


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in facts.items() if value is not None}


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_toml(table: dict[str, Any]) -> str:
    """A table as a file of TOML. No half of a character stands in a file."""
    import tomli_w

    return tomli_w.dumps(_whole(table), indent=2)


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def _filled(**fields: Any) -> dict[str, Any]:
    """The fields that are not empty, by their names in the file."""
    return {key.replace("_", "-"): value for key, value in fields.items() if value}


# -- reading -----------------------------------------------------------------------------------------


def read(path: str) -> Lock:
    """The lock of a file. Raises LockError, which names what is wrong and where."""
    try:
        with open(path, "rb") as file:
            body = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise LockError(_("{path} cannot be read: {error}.").format(path=path, error=error.strerror)) from error
    if len(body) > _MOST_BYTES:
        raise LockError(_("{path} is larger than a lock is.").format(path=path))
    try:
        return parsed(body.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise LockError(_("{path} is no lock: it is not UTF-8.").format(path=path)) from error
    except LockError as error:
        raise LockError(_("{path} is not used: {because}").format(path=path, because=error)) from error


def parsed(body: str) -> Lock:
    """The lock of a text; one that another tool wrote too. Raises LockError."""
    try:
        document = tomllib.loads(body)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise LockError(_("It is no TOML: {error}.").format(error=str(error)[:200])) from error
    version = document.get("lock-version")
    if not isinstance(version, str) or version.partition(".")[0] != VERSION.partition(".")[0]:
        raise LockError(_("Its lock-version is not {version}.").format(version=VERSION))
    packages = document.get("packages")
    if not isinstance(packages, list) or not 0 < len(packages) <= _MOST_PACKAGES:
        raise LockError(_("It holds no packages, or more than one lock may hold."))
    locked = tuple(Locked(**checked_package(row)) for row in packages)
    return Lock(
        packages=locked,
        requires_python=_text(document, "requires-python"),
        environments=words(document.get("environments"), "environments"),
        created_by=_text(document, "created-by"),
        **_of_tool(document),
    )


def _of_tool(document: dict[str, Any]) -> dict[str, Any]:
    tool = document.get("tool", {})
    tool = tool.get("rigup", {}) if isinstance(tool, dict) else {}
    if not isinstance(tool, dict):
        raise LockError(_("Its table {name} is of another form.").format(name="tool.rigup"))
    variables = _table(tool, "variables")
    if refused := refused_variables(variables):
        named = _("It sets the variable {name}, which a lock may not set, or not to this value.")
        raise LockError(named.format(name=refused[0][:60]))
    facts = tool.get("facts", {})
    return {
        "wish": words(tool.get("wish"), "wish"),
        "python": _python(_text(tool, "python")),
        "manager": _manager(tool),
        "indexes": _addresses(tool, "indexes"),
        "find_links": _addresses(tool, "find-links"),
        "variables": variables,
        "reasons": _table(tool, "reasons"),
        "facts": facts if isinstance(facts, dict) else {},
        "made_at": _text(tool, "made-at"),
    }


def _text(table: dict[str, Any], name: str) -> str:
    value = table.get(name, "")
    if not isinstance(value, str) or len(value) > 1_000 or not value.isprintable():
        raise LockError(_("Its field {name} is no plain text.").format(name=name))
    return value


def _table(document: dict[str, Any], name: str) -> dict[str, str]:
    table = document.get(name, {})
    sound = isinstance(table, dict) and all(isinstance(value, str) and value.isprintable() for value in table.values())
    if not sound or len(table) > _MOST_PACKAGES:
        raise LockError(_("Its table {name} is of another form.").format(name="tool.rigup." + name))
    return dict(table)


def _python(version: str) -> str:
    if version and not re.fullmatch(r"\d\.\d{1,2}t?", version):
        raise LockError(_("Its field {name} is no plain text.").format(name="python"))
    return version


def _manager(tool: dict[str, Any]) -> str:
    manager = _text(tool, "manager") or "venv"
    return manager if manager in ("venv", "conda") else "venv"


def _addresses(tool: dict[str, Any], name: str) -> tuple[str, ...]:
    """Addresses and folders passed to an installer: none may look like an option of it."""
    addresses = words(tool.get(name), name)
    for address in addresses:
        if address.startswith("-") or not re.fullmatch(r"(?:https?|file)://\S{1,2000}|/[^\n]{1,2000}|[A-Za-z]:[\\/][^\n]{1,2000}", address):
            raise LockError(_("Its {name} hold {value}, which is no address.").format(name=name, value=address[:100]))
    return addresses


def needed_by(packages: Iterable[Locked]) -> dict[str, list[str]]:
    """Which packages of a lock need each one, by name."""
    by_name: dict[str, list[str]] = {}
    for package in packages:
        for name in package.dependencies:
            by_name.setdefault(canonicalize_name(name), []).append(package.name)
    return by_name
