"""A folder that is an environment: of which kind, with which Python and packages, and how large."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from email.message import Message

Kind = Literal["venv", "conda"]
_MOST_TEXT = 100_000
_MOST_PACKAGES = 20_000
_PYTHON_OF_CONDA = re.compile(r"python-(\d{1,2}\.\d{1,3}(?:\.\d{1,3})?)[^-]{0,20}-.{1,80}\.json")


class Environment(msgspec.Struct, frozen=True, kw_only=True):
    """One environment on the disk.

    Attributes:
        path: its folder, links followed in none of its parts but as it was given.
        python: version of its Python, "" for a conda environment without one.
        interpreter: its program.
        base: the folder of the Python that a venv was made with.

    """

    path: Path
    kind: Kind
    python: str = ""
    interpreter: Path
    base: str = ""

    @property
    def programs(self) -> Path:
        """Where its programs lie."""
        return self.path / "Scripts" if os.name == "nt" else self.path / "bin"


class Installed(NamedTuple):
    """A package of an environment.

    `origin`: where it came from if not from an index: an address of a repository, a folder, a file. `by` is its installer: "pip".
    """

    name: str
    version: str
    origin: str = ""
    by: str = ""


class Size(NamedTuple):
    """Bytes on the disk: of all files, and of those that other environments hold too and that so stay if it goes."""

    all: int
    shared: int


def environment_at(path: Path) -> Environment | None:
    """The environment of a folder; None if it is none. A folder is one where its own files and its Python say so."""
    folder = Path(os.path.abspath(path))
    with suppress(OSError):
        if (folder / "pyvenv.cfg").is_file():
            return _venv(folder)
        if (folder / "conda-meta" / "history").is_file():
            return _conda(folder)
    return None


def _venv(folder: Path) -> Environment | None:
    python = _first(folder / "bin" / "python", folder / "Scripts" / "python.exe")
    settings = _settings(folder / "pyvenv.cfg")
    if python is None or "home" not in settings:
        return None
    version = settings.get("version") or settings.get("version_info") or ""
    number = re.match(r"\d{1,2}\.\d{1,3}(?:\.\d{1,3})?", version)
    return Environment(path=folder, kind="venv", python=number[0] if number else "", interpreter=python, base=settings["home"])


def _conda(folder: Path) -> Environment:
    python = _first(folder / "bin" / "python", folder / "python.exe") or folder / "bin" / "python"
    hits = (_PYTHON_OF_CONDA.fullmatch(path.name) for path in folder.glob("conda-meta/python-*.json"))
    return Environment(path=folder, kind="conda", python=next((hit[1] for hit in hits if hit), ""), interpreter=python)


def _first(*paths: Path) -> Path | None:
    return next((path for path in paths if os.path.lexists(path)), None)


def _settings(path: Path) -> dict[str, str]:
    rows = (line.partition("=") for line in _text(path).splitlines())
    return {name.strip().lower(): value.strip() for name, equals, value in rows if equals}


def _text(path: Path) -> str:
    """The head of a regular file; "" for what cannot be read."""
    with suppress(OSError):
        if path.is_file():
            with open(path, encoding="utf-8", errors="replace") as file:
                return file.read(_MOST_TEXT)
    return ""


# -- packages ----------------------------------------------------------------------------------------


def packages(environment: Environment) -> list[Installed]:
    """What is installed, by name. Nothing is run: the packages' own folders are read."""
    by_name = {}
    for info in _infos(environment):
        package = _installed(info)
        if package is not None:
            by_name[package.name] = package
    return [by_name[name] for name in sorted(by_name)]


def _infos(environment: Environment) -> Iterator[Path]:
    count = 0
    for place in ("lib/python3*/site-packages", "Lib/site-packages"):
        for info in environment.path.glob(place + "/*.dist-info"):
            count += 1
            if count <= _MOST_PACKAGES and info.is_dir():
                yield info


def _installed(info: Path) -> Installed | None:
    """A name of metadata where there are some: a folder's name has lost what its sign was."""
    from packaging.utils import canonicalize_name

    metadata = _metadata(info)
    name, version = metadata.get("Name", ""), metadata.get("Version", "")
    if not name or not version:
        name, _dash, version = info.name.removesuffix(".dist-info").rpartition("-")
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,200}", name) or not re.fullmatch(r"[A-Za-z0-9.+!_-]{1,200}", version):
        return None
    return Installed(canonicalize_name(name), version, _origin(info), _text(info / "INSTALLER").strip()[:40])


def needs(environment: Environment) -> dict[str, tuple[str, ...]]:
    """What each package wants of others, by its canonical name: requirements as they stand in its metadata."""
    from packaging.utils import canonicalize_name

    all_metadata = map(_metadata, _infos(environment))
    return {
        canonicalize_name(metadata.get("Name", "")): tuple(map(str, metadata.get_all("Requires-Dist", ()))) for metadata in all_metadata
    }


def _metadata(info: Path) -> "Message":
    from email.parser import HeaderParser

    return HeaderParser().parsestr(_text(info / "METADATA").partition("\n\n")[0])


# A name and a password in an address; that a service is asked as git tells nothing.
_LOGIN = re.compile(r"(?P<before>://)(?!git@)[^/@\s]{1,300}@")


def _origin(info: Path) -> str:
    body = _text(info / "direct_url.json")
    try:
        direct_url = msgspec.json.decode(body) if body else {}
    except (msgspec.DecodeError, RecursionError):
        return ""
    url = direct_url.get("url") if isinstance(direct_url, dict) else ""
    return _LOGIN.sub(r"\g<before>", url[:1000]) if isinstance(url, str) and url.isprintable() else ""


# -- size --------------------------------------------------------------------------------------------


def size_of(folder: Path) -> Size:
    """What a folder takes on the disk; a file that two of its names hold counts once. Links are not followed."""
    seen: dict[tuple[int, int], list[int]] = {}
    for status in _files(folder):
        blocks = getattr(status, "st_blocks", None)
        size = blocks * 512 if blocks is not None else status.st_size
        entry = seen.setdefault((status.st_dev, status.st_ino or len(seen)), [size, status.st_nlink, 0])
        entry[2] += 1
    every = sum(size for size, _links, _here in seen.values())
    return Size(every, sum(size for size, links, here in seen.values() if links > here))


def _files(folder: Path) -> Iterator[os.stat_result]:
    folders = [os.fspath(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    else:
                        yield entry.stat(follow_symlinks=False)
        except OSError:
            continue
