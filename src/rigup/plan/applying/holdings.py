"""What a folder held when a run left it, so that what a person changed or put into it since can be told from it.

A file is the run's where size and times are as they were, else where its digest is. Digests of packages' files are taken
from their own RECORDs; only the rest is read when the list is made. What Python compiles by itself counts for nobody.
"""

import base64
import contextlib
import hashlib
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from rigup.plan.applying.journal import put

_PASSED_BY = (".rigup-swapping", ".rigup-swapping-draft", ".rigup-loads")  # at the top: of rigup's own, for a moment
_SITES = ("lib/python*/site-packages", "lib64/python*/site-packages", "Lib/site-packages")
_MOST_BYTES = 200_000_000  # of a list that is read again
_CHUNK = 1 << 20


class Held(msgspec.Struct, frozen=True, array_like=True):
    """One file or link: bytes, times in ns (of its entry 0, where it does not count), and the digest of its content or ""."""

    size: int
    modified: int
    changed: int
    digest: str


def keep(folder: Path, where: Path, digests: bool = True) -> None:
    """Write down what a folder holds now; without digests size and time of a file have to do. Raises OSError."""
    recorded = _recorded(folder) if digests else {}
    held = {}
    for key, path, seen in _files(folder):
        digest = recorded.get(key, "") if stat.S_ISREG(seen.st_mode) else ""
        digest = digest or (_digest(path, seen) if digests else "")
        held[key] = Held(seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns if digests else 0, digest)
    put(where, zlib.compress(msgspec.msgpack.encode(held), 1))


def theirs(folder: Path, where: Path) -> list[str] | None:
    """Files and links of a folder that are not as they were left, named from it, sorted; None if nobody wrote that down."""
    left = _read(where)
    if left is None:
        return None
    entries = _files(folder)
    return sorted(os.path.relpath(path, folder) for key, path, seen in entries if not _is_so(path, seen, left.get(key)))


def is_as_left(folder: Path, where: Path, names: list[str]) -> dict[str, bool]:
    """Whether each of these names stands in a folder as it was left; of one that is not there, False."""
    left = _read(where) or {}
    same = {}
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            same[name] = _is_so(folder / name, (folder / name).lstat(), left.get(_plain(name)))
    return {name: same.get(name, False) for name in names}


def _read(where: Path) -> dict[str, Held] | None:
    try:
        with open(where, "rb") as file:
            body = zlib.decompressobj().decompress(file.read(_MOST_BYTES), _MOST_BYTES)
        return msgspec.msgpack.decode(body, type=dict[str, Held])
    except (OSError, zlib.error, msgspec.DecodeError):
        return None


def digest_of(path: str) -> str:
    """What stands at a path, in short: "absent", or a word that any other content changes. "?" if unknown."""
    try:
        seen = os.lstat(path)
        return _digest(Path(path), seen) or "?"
    except FileNotFoundError:
        return "absent"
    except OSError:
        return "?"


def _files(folder: Path) -> Iterator[tuple[str, Path, os.stat_result]]:
    """All files and links, not what lies behind these, each with a key that is text, which names need not be."""
    top = os.fspath(folder)
    for above, folders, files in os.walk(folder):
        inner = "" if above == top else os.path.relpath(above, top) + "/"
        links = [name for name in folders if os.path.islink(os.path.join(above, name))]
        if not inner:
            folders[:] = [name for name in folders if name not in _PASSED_BY]
        for name in (*files, *links):
            if not _compiled(above, name) and (inner or name not in _PASSED_BY):
                path = Path(above, name)
                with contextlib.suppress(FileNotFoundError):
                    yield _plain(inner + name), path, path.lstat()


def _plain(name: str) -> str:
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _compiled(above: str, name: str) -> bool:
    return name.endswith(".pyc") and os.path.basename(above) == "__pycache__"


def _is_so(path: Path, seen: os.stat_result, left: Held | None) -> bool:
    if left is None or seen.st_size != left.size:
        return False
    if seen.st_mtime_ns == left.modified and left.changed in (seen.st_ctime_ns, 0):
        return True
    return bool(left.digest) and _digest(path, seen) == left.digest


def _digest(path: Path, seen: os.stat_result) -> str:
    """Of a link its target; of a file its content; of one that may not be read, and of anything else, its entry."""
    if stat.S_ISLNK(seen.st_mode):
        return "->" + _plain(os.readlink(path))
    if stat.S_ISREG(seen.st_mode):
        with contextlib.suppress(PermissionError), open(path, "rb") as file:
            digest = hashlib.sha256()
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
            return _word(digest.digest())
    return f"{stat.S_IFMT(seen.st_mode):o} {seen.st_size} {seen.st_mtime_ns}"


def _word(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")


def _recorded(folder: Path) -> dict[str, str]:
    """Digests that packages tell of their files themselves."""
    digests: dict[str, str] = {}
    for site in (place for pattern in _SITES for place in folder.glob(pattern)):
        above = _plain(os.path.relpath(site, folder))
        for record in site.glob("*.dist-info/RECORD"):
            with contextlib.suppress(OSError):
                for line in record.read_text("utf-8", "replace").splitlines():
                    name, digest = _row(line)
                    if digest:
                        digests[os.path.normpath(f"{above}/{name}")] = digest
    return digests


def _row(line: str) -> tuple[str, str]:
    name, _comma, rest = line.rpartition(",")[0].rpartition(",")
    kind, _equals, digest = rest.partition("=")
    return name.strip('"').replace('""', '"'), digest if kind == "sha256" else ""
