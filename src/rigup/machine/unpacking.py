"""What an archive claims to hold, entry by entry, in bounded time and memory.

A tar is read as a stream through a meter; its headers may not be long, and sparse files are refused, for
their maps may be of any size. A zip's directory is measured before it is read.
"""

import bz2
import gzip
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from tarfile import ReadError
from typing import IO, Any, NamedTuple, NoReturn

MOST_MEMBERS = 10_000  # more take longer to put on a disk than anybody waits; a capture has some hundreds
MOST_BYTES = 400_000_000  # of all files together
MOST_OF_ONE = 16_000_000
_LONGEST_HEADER = 100_000  # bytes of a name or of attributes
_LONGEST_TARGET = 4096
_MOST_DICTIONARY = 200_000_000  # bytes that unpacking xz may take
_MOST_DIRECTORY = 16_000_000  # bytes of a zip's directory
_CHUNK = 1 << 18
_MOST_READ = 2 * MOST_BYTES  # of a tar without its packing: what is passed by costs time too
_END = b"PK\x05\x06"
_NOT_A_HEADER: Any = (vars(tarfile)["InvalidHeaderError"], vars(tarfile)["TruncatedHeaderError"])
DAMAGED = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    OverflowError,
    TypeError,
    AttributeError,
    MemoryError,
)
"""What the readers of archives raise for one that is damaged, or that was made to be (a chain of headers)."""


class TooMuch(Exception):
    """More than a capture of a machine holds."""


class Member(NamedTuple):
    """One entry: a folder (neither body nor link), a file to copy, or a link's target."""

    name: str
    link: str | None
    body: IO[bytes] | None


def members(path: str, most_read: int = _MOST_READ) -> Iterator[Member]:
    """Folders, files and links of an archive; of a tar no more than `most_read` bytes are read.

    Raises TooMuch, and what tarfile and zipfile raise.
    """
    entries = _of_tar(path, most_read) if is_tar(path) else _of_zip(path)
    for count, member in enumerate(entries):
        if count >= MOST_MEMBERS:
            raise TooMuch
        yield member


def is_tar(path: str) -> bool:
    """Whether a file begins as a tar does, packed or not."""
    try:
        with _plain(path) as file, _open_metered(file):
            return True
    except TooMuch:  # whoever unpacks it will say so
        return True
    except RecursionError:  # a chain of headers: whoever unpacks it will say so
        return True
    except DAMAGED:
        return False


def _of_tar(path: str, most_read: int) -> Iterator[Member]:
    with _plain(path) as file, _open_metered(file, most_read) as archive:
        for entry in archive:
            archive.__dict__["members"] = []  # it would keep every entry that it has seen
            if entry.isreg():
                yield Member(entry.name, None, archive.extractfile(entry))
            elif entry.isdir() or entry.issym():
                yield Member(entry.name, entry.linkname[:_LONGEST_TARGET] if entry.issym() else None, None)
        _to_the_end(archive)


def _to_the_end(archive: tarfile.TarFile) -> None:
    """What a packing says of its content stands at its end; raises what it raises for one that is damaged."""
    while archive.fileobj is not None and archive.fileobj.read(_CHUNK):
        pass


def _open_metered(file: Any, most_read: int = _MOST_READ) -> tarfile.TarFile:
    meter: Any = _Meter(file, most_read)
    return tarfile.open(fileobj=meter, mode="r|", tarinfo=_Info)


class _Info(tarfile.TarInfo):
    """A header that is not long and describes no holes; one that cannot be read is no end, but damage."""

    @classmethod
    def fromtarfile(cls, tarfile: Any) -> Any:
        """The next header."""
        try:
            return super().fromtarfile(tarfile)
        except _NOT_A_HEADER as error:
            raise ReadError(str(error)) from error

    def _proc_pax(self, archive: tarfile.TarFile) -> Any:
        return self._check_bounds()._then("_proc_pax", archive)

    def _proc_gnulong(self, archive: tarfile.TarFile) -> Any:
        return self._check_bounds()._then("_proc_gnulong", archive)

    def _check_bounds(self) -> "_Info":
        if self.size > _LONGEST_HEADER:
            raise TooMuch
        return self

    def _then(self, name: str, archive: tarfile.TarFile) -> Any:
        return getattr(super(), name)(archive)

    def _refuse(self, *_given: object) -> NoReturn:
        raise TooMuch

    _proc_sparse = _proc_gnusparse_00 = _proc_gnusparse_01 = _proc_gnusparse_10 = _refuse


class _Meter:
    """A file that ends in an error when more was read from it than a capture holds."""

    def __init__(self, file: Any, most_read: int) -> None:
        self.file, self.left = file, most_read

    def read(self, size: int) -> bytes:
        got: bytes = self.file.read(size)
        self.left -= len(got)
        if self.left < 0:
            raise TooMuch
        return got


class _Xz:
    """An xz file that may not take all memory for its dictionary."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "rb")  # noqa: SIM115  (closed by __exit__)
        self.inner = lzma.LZMADecompressor(memlimit=_MOST_DICTIONARY)

    def __enter__(self) -> "_Xz":
        return self

    def __exit__(self, *_raised: object) -> None:
        self.file.close()

    def read(self, size: int) -> bytes:
        got = b""
        while not got and not self.inner.eof:
            packed = self.file.read(_CHUNK) if self.inner.needs_input else b""
            if self.inner.needs_input and not packed:
                raise EOFError("it ends too early")
            got = self.inner.decompress(packed, size)
        return got


def _plain(path: str) -> Any:
    """The file without its packing, which its first bytes show."""
    with open(path, "rb") as file:
        head = file.read(6)
    if head.startswith(b"\x1f\x8b"):
        return gzip.open(path)
    if head.startswith(b"BZh"):
        return bz2.open(path)
    return _Xz(path) if head.startswith(b"\xfd7zXZ") else open(path, "rb")


def _of_zip(path: str) -> Iterator[Member]:
    _check_directory(path)
    with zipfile.ZipFile(path) as packed:
        for info in packed.infolist():
            name = info.filename.replace("\\", "/")
            if info.is_dir():
                yield Member(name, None, None)
            elif not info.flag_bits & 1:  # not encrypted
                with packed.open(info) as body:
                    linked = stat.S_ISLNK(info.external_attr >> 16)
                    link = body.read(_LONGEST_TARGET).decode("utf-8", "replace") if linked else None
                    yield Member(name, link, None if linked else body)


def _check_directory(path: str) -> None:
    """Refuse a directory that would fill the memory before its first entry is seen."""
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 66_000))
        tail = file.read()
    at = tail.rfind(_END)
    if at >= 0 and at + 16 <= len(tail):
        count, size = struct.unpack_from("<HI", tail, at + 10)
        if count == 0xFFFF or count > MOST_MEMBERS or size > _MOST_DIRECTORY:
            raise TooMuch
