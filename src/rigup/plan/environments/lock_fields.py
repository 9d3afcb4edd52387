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
        size: bytes, 0 if unknown.

    """

    name: str
    sha256: str
    url: str = ""
    path: str = ""
    size: int = 0


def checked_package(row: Any) -> dict[str, Any]:
    """The fields of a `Locked`. Raises LockError, naming the package."""
    if not isinstance(row, dict):
        raise LockError(_("One of its packages is of another form."))
    name = row.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise LockError(_("{name} is no name of a package.").format(name=repr(name)[:100]))
    if other := [key for key in _OTHER_SOURCES if key in row]:
        named = _("{name} comes from a source of the kind {kind}: rigup installs wheels alone.")
        raise LockError(named.format(name=name, kind=other[0]))
    wheels = row.get("wheels")
    if not isinstance(wheels, list) or not 0 < len(wheels) <= _MOST_WHEELS:
        raise LockError(_("{name} has no wheel: rigup installs wheels alone.").format(name=name))
    version = _version(name, row.get("version"))
    return {
        "name": canonicalize_name(name),
        "version": version,
        "marker": _marker(name, row.get("marker", "")),
        "requires_python": _range(name, row.get("requires-python", "")),
        "dependencies": _names(row.get("dependencies", [])),
        "wheels": tuple(_wheel(name, version, wheel) for wheel in wheels),
    }


def words(value: Any, name: str) -> tuple[str, ...]:
    """A list of plain texts; an absent one is empty. Raises LockError."""
    value = [] if value is None else value
    sound = isinstance(value, list) and len(value) <= _MOST_WORDS
    if not sound or not all(isinstance(word, str) and len(word) <= _LONGEST and word.isprintable() for word in value):
        raise LockError(_("Its field {name} is no list of plain texts.").format(name=name))
    return tuple(value)


def _version(name: str, value: Any) -> str:
    try:
        if isinstance(value, str) and len(value) < 200:
            return str(Version(value))
    except InvalidVersion:
        pass
    raise LockError(_("{version} of {name} is no version.").format(version=repr(value)[:100], name=name))


def _marker(name: str, value: Any) -> str:
    try:
        if isinstance(value, str) and len(value) < _LONGEST and value.isprintable():
            return str(Marker(value)) if value else ""
    except (InvalidMarker, RecursionError):
        pass
    raise LockError(_("The marker of {name} cannot be understood.").format(name=name))


def _range(name: str, value: Any) -> str:
    try:
        if isinstance(value, str) and len(value) < 500:
            return str(SpecifierSet(value)) if value else ""
    except InvalidSpecifier:
        pass
    raise LockError(_("The Pythons that {name} asks for cannot be understood.").format(name=name))


def _names(value: Any) -> tuple[str, ...]:
    rows = value if isinstance(value, list) else []
    names = [row.get("name") for row in rows[:_MOST_WORDS] if isinstance(row, dict)]
    return tuple(dict.fromkeys(canonicalize_name(name) for name in names if isinstance(name, str) and _NAME.fullmatch(name)))


def _wheel(package: str, version: str, row: Any) -> Wheel:
    row = row if isinstance(row, dict) else {}
    hashes, size = row.get("hashes"), row.get("size", 0)
    digest = hashes.get("sha256") if isinstance(hashes, dict) else None
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        raise LockError(_("A wheel of {name} has no sha256.").format(name=package))
    url, path = _url(package, row.get("url", "")), _path(package, row.get("path", ""))
    last = row.get("name") or unquote(urlsplit(url).path.rpartition("/")[2]) or path.rpartition("/")[2]
    return Wheel(
        name=_file_name(package, version, last),
        sha256=digest,
        url=url,
        path=path,
        size=size if isinstance(size, int) and 0 < size < 1 << 50 else 0,
    )


def _file_name(package: str, version: str, value: Any) -> str:
    """A wheel's name, which tells package and version: they must be those of the row."""
    try:
        if isinstance(value, str) and len(value) < 255 and "/" not in value and "\\" not in value and value.isprintable():
            name, number, _build, _tags = parse_wheel_filename(value)
            if name == canonicalize_name(package) and number == Version(version):
                return value
    except (InvalidWheelFilename, InvalidVersion):
        pass
    named = _("{file} is no wheel of {name} {version}.")
    raise LockError(named.format(file=repr(value)[:120], name=package, version=version))


def _url(package: str, value: Any) -> str:
    plain = isinstance(value, str) and len(value) < _LONGEST
    if plain and (not value or re.fullmatch(r"(?:https?|file)://[^\s\x00-\x1f\x7f\"'`\\]{1,3900}", value)):
        return str(value)
    raise LockError(_("{url} of {name} is no address of a file.").format(url=repr(value)[:120], name=package))


def _path(package: str, value: Any) -> str:
    parts = value.split("/") if isinstance(value, str) else [".."]
    plain = isinstance(value, str) and len(value) < _LONGEST and value.isprintable() and "\\" not in value and ":" not in value
    if plain and (not value or (".." not in parts and parts[0] != "")):
        return str(value)
    raise LockError(_("{path} of {name} leads out of the lock's folder.").format(path=repr(value)[:120], name=package))
