"""One package of a lock, checked: nothing of it becomes a word of a command before its form is known."""

import re
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec
from packaging.markers import InvalidMarker, Marker
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from rigup.language import _

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,198}[A-Za-z0-9])?")
_HASH = re.compile(r"[0-9a-f]{64}")
_MOST_WHEELS = 500
_MOST_WORDS = 5_000
_LONGEST = 4_000
_OTHER_SOURCES = ("vcs", "directory", "archive")


class LockError(Exception):
    """A lock or a bundle that is not used, with what is wrong with it."""


class CannotBeHadError(LockError):
    """What a lock needs is not to be had now: there is nothing wrong with how it was asked for."""


class Wheel(msgspec.Struct, frozen=True, kw_only=True):
    """One file.

    Attributes:
        name: "torch-2.9.1-cp311-cp311-manylinux_2_28_x86_64.whl".
        url: where it lies, "" where only `path` tells.
        path: where it lies beside the lock, with `/`.
        size: bytes, 0 if nobody said.

    """

    name: str
    sha256: str
    url: str = ""
    path: str = ""
    size: int = 0


def checked_package(told: Any) -> dict[str, Any]:
    """The fields of a `Locked`. Raises LockError, naming the package."""
    if not isinstance(told, dict):
        raise LockError(_("One of its packages is of another form."))
    name = told.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise LockError(_("{name} is no name of a package.").format(name=repr(name)[:100]))
    if other := [key for key in _OTHER_SOURCES if key in told]:
        named = _("{name} comes from a source of the kind {kind}: rigup installs wheels alone.")
        raise LockError(named.format(name=name, kind=other[0]))
    wheels = told.get("wheels")
    if not isinstance(wheels, list) or not 0 < len(wheels) <= _MOST_WHEELS:
        raise LockError(_("{name} has no wheel: rigup installs wheels alone.").format(name=name))
    version = _version(name, told.get("version"))
    return {
        "name": canonicalize_name(name), "version": version, "marker": _marker(name, told.get("marker", "")),
        "requires_python": _range(name, told.get("requires-python", "")), "dependencies": _names(told.get("dependencies", [])),
        "wheels": tuple(_wheel(name, version, one) for one in wheels),
    }  # fmt: skip


def words(told: Any, name: str) -> tuple[str, ...]:
    """A list of plain texts; an absent one is empty. Raises LockError."""
    told = [] if told is None else told
    sound = isinstance(told, list) and len(told) <= _MOST_WORDS
    if not sound or not all(isinstance(one, str) and len(one) <= _LONGEST and one.isprintable() for one in told):
        raise LockError(_("Its field {name} is no list of plain texts.").format(name=name))
    return tuple(told)


def _version(name: str, told: Any) -> str:
    try:
        if isinstance(told, str) and len(told) < 200:
            return str(Version(told))
    except InvalidVersion:
        pass
    raise LockError(_("{version} of {name} is no version.").format(version=repr(told)[:100], name=name))


def _marker(name: str, told: Any) -> str:
    try:
        if isinstance(told, str) and len(told) < _LONGEST and told.isprintable():
            return str(Marker(told)) if told else ""
    except (InvalidMarker, RecursionError):
        pass
    raise LockError(_("The marker of {name} cannot be understood.").format(name=name))


def _range(name: str, told: Any) -> str:
    try:
        if isinstance(told, str) and len(told) < 500:
            return str(SpecifierSet(told)) if told else ""
    except InvalidSpecifier:
        pass
    raise LockError(_("The Pythons that {name} asks for cannot be understood.").format(name=name))


def _names(told: Any) -> tuple[str, ...]:
    rows = told if isinstance(told, list) else []
    names = [row.get("name") for row in rows[:_MOST_WORDS] if isinstance(row, dict)]
    return tuple(
        dict.fromkeys(canonicalize_name(name) for name in names if isinstance(name, str) and _NAME.fullmatch(name))
    )


def _wheel(package: str, version: str, told: Any) -> Wheel:
    told = told if isinstance(told, dict) else {}
    hashes, size = told.get("hashes"), told.get("size", 0)
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        raise LockError(_("A wheel of {name} has no sha256.").format(name=package))
    url, path = _url(package, told.get("url", "")), _path(package, told.get("path", ""))
    last = told.get("name") or unquote(urlsplit(url).path.rpartition("/")[2]) or path.rpartition("/")[2]
    return Wheel(
        name=_file_name(package, version, last), sha256=digest, url=url, path=path,
        size=size if isinstance(size, int) and 0 < size < 1 << 50 else 0,
    )  # fmt: skip


def _file_name(package: str, version: str, told: Any) -> str:
    """A wheel's name, which tells package and version: they must be those of the row."""
    try:
        if isinstance(told, str) and len(told) < 255 and "/" not in told and "\\" not in told and told.isprintable():
            name, number, _build, _tags = parse_wheel_filename(told)
            if name == canonicalize_name(package) and number == Version(version):
                return told
    except (InvalidWheelFilename, InvalidVersion):
        pass
    named = _("{file} is no wheel of {name} {version}.")
    raise LockError(named.format(file=repr(told)[:120], name=package, version=version))


def _url(package: str, told: Any) -> str:
    plain = isinstance(told, str) and len(told) < _LONGEST
    if plain and (not told or re.fullmatch(r"(?:https?|file)://[^\s\x00-\x1f\x7f\"'`\\]{1,3900}", told)):
        return str(told)
    raise LockError(_("{url} of {name} is no address of a file.").format(url=repr(told)[:120], name=package))


def _path(package: str, told: Any) -> str:
    parts = told.split("/") if isinstance(told, str) else [".."]
    plain = (
        isinstance(told, str) and len(told) < _LONGEST and told.isprintable() and "\\" not in told and ":" not in told
    )
    if plain and (not told or (".." not in parts and parts[0] != "")):
        return str(told)
    raise LockError(_("{path} of {name} leads out of the lock's folder.").format(path=repr(told)[:120], name=package))
