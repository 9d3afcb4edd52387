"""Headers that came before, by the address and the mark (etag) of their files: they do not come again while the file is the same.

What lies in the cache is read like anything a stranger wrote: bounded, by type, and checked as a header is.
"""

import contextlib
import os
from math import prod
from pathlib import Path
from typing import Any

import msgspec

from rigup.fit.gguf import Header, Listed, Tensor
from rigup.fit.quants import block

_FORMAT = 1
_MOST_FILES, _MOST_BYTES = 200, 8 << 20
_MOST_SIZE, _MOST_DIMENSIONS = 1 << 62, 4
_LISTED = 1  # the extension that stands for a list that was too long to keep


class _Kept(msgspec.Struct, array_like=True):
    format: int
    mark: str
    version: int
    size: int
    start: int
    keys: dict[str, Any]
    tensors: list[tuple[str, tuple[int, ...], int, int]]


def _path(folder: Path, url: str) -> Path:
    import hashlib

    return folder / hashlib.sha256(url.partition("?")[0].encode("utf-8", "surrogatepass")).hexdigest()


def kept(folder: Path | None, url: str, mark: str, size: int) -> Header | None:
    """The header that came from an address while its file had this mark and size; None where there is none. Never raises."""
    if not mark or folder is None:
        return None
    try:
        with os.fdopen(os.open(_path(folder, url), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            return None
        record = msgspec.msgpack.decode(raw, type=_Kept, ext_hook=_extension)
    except (OSError, ValueError, RecursionError, NotImplementedError, TypeError):
        return None
    if record.format != _FORMAT or record.mark != mark or record.size != size or not 0 <= record.start <= size:
        return None
    tensors = tuple(tensor for row in record.tensors if (tensor := _tensor(*row)) is not None)
    if len(tensors) != len(record.tensors) or len({tensor.name for tensor in tensors}) != len(tensors):
        return None
    end = record.start + max((tensor.offset + tensor.bytes for tensor in tensors), default=0)
    return Header(record.version, record.keys, tensors, record.start, size, max(0, end - size))


def _tensor(name: str, sizes: tuple[int, ...], kind: int, offset: int) -> Tensor | None:
    row = block(kind)
    if row is None or not 1 <= len(sizes) <= _MOST_DIMENSIONS or min(sizes) < 1 or not 0 <= offset < _MOST_SIZE:
        return None
    count = prod(sizes)
    if count >= _MOST_SIZE or sizes[0] % row.weights:
        return None
    return Tensor(name, tuple(sizes), kind, offset, count // row.weights * row.bytes)


def _extension(code: int, data: memoryview) -> Listed:
    if code != _LISTED or len(data) != 8:
        raise NotImplementedError
    return Listed(int.from_bytes(data, "little"))


def _plain(value: Any) -> Any:
    return msgspec.msgpack.Ext(_LISTED, value.length.to_bytes(8, "little")) if isinstance(value, Listed) else value


def keep(folder: Path | None, url: str, mark: str, header: Header) -> None:
    """Keep a header for the next time, in a folder of one's own. Never raises: a cache is no reason to fail."""
    if not mark or folder is None:
        return
    record = _Kept(
        _FORMAT,
        mark,
        header.version,
        header.size,
        header.start,
        {name: _plain(value) for name, value in header.keys.items()},
        [(tensor.name, tensor.sizes, tensor.kind, tensor.offset) for tensor in header.tensors],
    )
    with contextlib.suppress(OSError, ValueError, TypeError):
        raw = msgspec.msgpack.encode(record)
        path = _path(folder, url)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(raw) > _MOST_BYTES:
            return
        new = path.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(raw)
        new.replace(path)
        _prune(path.parent)


def _prune(where: Path) -> None:
    """The oldest go where there are too many."""
    files = sorted(where.iterdir(), key=lambda path: path.lstat().st_mtime)
    for path in files[: max(0, len(files) - _MOST_FILES)]:
        path.unlink()
