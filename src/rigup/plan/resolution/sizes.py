"""What wheels become on the disk: the list of files at a wheel's end has it, and that alone is fetched."""

import io
import json
import os
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from rigup.stack.resolution import Resolved

_BLOCK = 4096  # bytes in which a disk is given out
_TAIL = 1 << 18  # bytes of a wheel's end that are fetched at once
_MOST = 1 << 26  # bytes of one list of files
_SMALL = 400_000  # bytes of a wheel whose list is not worth a request
_GROWTH, _SOURCES = (4.4, 2.8)  # what a small wheel becomes on the disk, and the Python files of it; of 111 such, measured
_SECONDS, _PATIENCE = 12.0, 5.0  # for all, and for one request
_AT_ONCE = 8
_MOST_KEPT = 5_000  # sizes in the file of those that are known


class _Size(NamedTuple):
    disk: int
    sources: int
    file: int = 0


def weighed(packages: Iterable[Resolved], seconds: float = _SECONDS) -> tuple[Resolved, ...]:
    """The packages with what each becomes on the disk; those that could not be looked at in time stay without."""
    listed = tuple(packages)
    known = _known()
    missing = [
        package for package in listed if package.url and not package.built and not _is_small(package) and package.sha256 not in known
    ]
    fresh = _looked_at(missing, seconds)
    if fresh:
        _keep({**known, **{digest: size for digest, size in fresh.items() if digest}})
    return tuple(_with(package, fresh.get(package.sha256) or known.get(package.sha256)) for package in listed)


def _is_small(package: Resolved) -> bool:
    return 0 < package.size < _SMALL and not package.built


def _with(package: Resolved, size: _Size | None) -> Resolved:
    if size is None and _is_small(package):
        size = _Size(int(package.size * _GROWTH), int(package.size * _SOURCES))
    if size is None:
        return package
    return msgspec.structs.replace(package, disk=size.disk, sources=size.sources, size=package.size or size.file)


def _looked_at(packages: list[Resolved], seconds: float) -> dict[str, _Size]:
    """Sizes by the hash of the file, as many as come in time."""
    sizes: dict[str, _Size] = {}
    if not packages:
        return sizes
    end = time.monotonic() + seconds

    def look(package: Resolved) -> None:
        if time.monotonic() < end and (size := size_of(package.url)) is not None:
            sizes[package.sha256] = size

    pool = ThreadPoolExecutor(_AT_ONCE)
    for package in packages:
        pool.submit(look, package)
    waiter = threading.Thread(target=pool.shutdown, daemon=True)
    waiter.start()
    waiter.join(max(0.0, end - time.monotonic()))
    pool.shutdown(wait=False, cancel_futures=True)
    return dict(sizes)


def size_of(url: str) -> _Size | None:
    """What a wheel becomes; None where its list of files cannot be had."""
    address = urlsplit(url)
    try:
        remote = _Remote(url) if address.scheme != "file" else None
        with zipfile.ZipFile(remote or unquote(address.path)) as file:
            entries = file.infolist()
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return None
    disk = sum(_on_disk(entry.file_size) for entry in entries if not entry.is_dir())
    sources = sum(_on_disk(entry.file_size) for entry in entries if entry.filename.endswith(".py"))
    return _Size(disk, sources, remote.size if remote else 0)


def _on_disk(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


class _Remote(io.RawIOBase):
    """A file at an address, of which the end is fetched once and the rest as it is asked for."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url, self._at = url, 0
        self._tail, self._size = _fetched(url, f"bytes=-{_TAIL}")

    @property
    def size(self) -> int:
        """Bytes of the whole file."""
        return self._size

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence] + offset
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._size, self._at + size)
        if end - self._at > _MOST:
            raise OSError("the list of files is too long")
        start, self._at = self._at, end
        begin = self._size - len(self._tail)
        if start >= begin:
            return self._tail[start - begin : end - begin]
        return _fetched(self._url, f"bytes={start}-{end - 1}")[0]


def _fetched(url: str, part: str) -> tuple[bytes, int]:
    """A part of a file, and the size of the whole. Raises OSError where a server gives no parts."""
    request = urllib.request.Request(url, headers={"Range": part, "Accept-Encoding": "identity"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:  # noqa: S310
        _unit, _slash, whole = answer.headers.get("Content-Range", "").rpartition("/")
        if answer.status != 206 or not whole.isdigit():
            raise OSError("no parts")
        return answer.read(_MOST), int(whole)


# -- sizes that are known ----------------------------------------------------------------------------


def _file() -> Path:
    import platformdirs

    return platformdirs.user_cache_path("rigup", appauthor=False) / "wheel-sizes.json"


def _known() -> dict[str, _Size]:
    try:
        data = json.loads(_file().read_bytes())
        return {digest: _Size(*map(int, size)) for digest, size in data.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _keep(sizes: dict[str, _Size]) -> None:
    """For the next time; where it cannot be written it is asked anew."""
    path = _file()
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(json.dumps(dict(list(sizes.items())[-_MOST_KEPT:])), encoding="utf-8")
        os.replace(temporary, path)
    except OSError:
        return
