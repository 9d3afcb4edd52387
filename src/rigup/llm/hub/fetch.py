"""Bytes of files come: on from where they broke off, checked before they count, several at once, and stopped at once.

The library's own download gives each attempt a new temporary name and removes it when it fails, so it cannot go on after a
break. Its HTTP client, its cache's layout and its locks are used here; the rest is this file.
"""

import errno
import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from rigup.language import _
from rigup.llm.hub.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_ONCE = 4
WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # seconds before each further attempt that follows one without a byte
_PIECE = 1 << 20
_SECONDS = 30.0  # without a byte, after which a connection counts as broken
_GRACE = 2.0  # seconds that connections have to end in, where somebody asks for the end
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


class Stopped(Exception):
    """Somebody asked for the end."""


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A file to load.

    Attributes:
        name: as a person reads it.
        url: where it lies.
        headers: what is shown there, and to no other host.
        bytes: how many.
        digest: SHA-256 (64 digits), or git's name of the blob (40).
        target: where it is put when it is checked.
        partial: where it lies before.
        lock: who holds it loads it.

    """

    name: str
    url: str
    bytes: int
    digest: str
    target: Path
    partial: Path
    lock: Path
    headers: dict[str, str] = {}

    @property
    def present_bytes(self) -> int:
        """Bytes that have come already."""
        for path in (self.target, self.partial):
            with suppress(OSError):
                return min(path.stat().st_size, self.bytes)
        return 0


class Progress:
    """How far all files together are; told from several threads, read by whoever shows it.

    Args:
        pieces: the files.
        limit: bytes a second of all together; 0 is none.

    """

    def __init__(self, pieces: Sequence[Piece], limit: int = 0) -> None:
        self.total = sum(piece.bytes for piece in pieces)
        self.done = self.start = sum(piece.present_bytes for piece in pieces)
        self.said: list[str] = []
        """Sentences for a person, which nobody has shown yet."""
        self.resumed: dict[str, int] = {}
        """Bytes of each file that were there before."""
        self._limit, self._began = limit, time.monotonic()
        self._lock = threading.Lock()

    def ahead(self) -> float:
        """Seconds by which more has come than a limit allows."""
        return (self.done - self.start) / self._limit - (time.monotonic() - self._began) if self._limit else 0.0

    def more(self, count: int) -> None:
        """So many bytes have come; fewer than none where some must come again."""
        with self._lock:
            self.done += count

    def says(self, sentence: str) -> None:
        """Something happened that a person wants to know."""
        with self._lock:
            self.said.append(sentence)


def fetched(pieces: Sequence[Piece], progress: Progress, watch: Callable[[], None]) -> None:
    """Load all files, some at once; `watch` is called some times a second meanwhile.

    Raises:
        ModelError: one cannot be had; what came of it stays, and the next attempt goes on from there.
        KeyboardInterrupt: somebody asked for the end; the same holds.

    """
    stop = threading.Event()
    waiting, faults = list(pieces), list[BaseException]()

    def work() -> None:
        while waiting and not stop.is_set():
            with suppress(IndexError):
                piece = waiting.pop(0)
                try:
                    _load(piece, progress, stop)
                except Stopped:
                    return
                except BaseException as error:
                    faults.append(error)
                    stop.set()

    workers = [threading.Thread(target=work, daemon=True) for _number in range(min(AT_ONCE, len(pieces)))]
    for thread in workers:
        thread.start()
    try:
        while any(thread.is_alive() for thread in workers):
            workers[0].join(0.1) if workers[0].is_alive() else stop.wait(0.1)
            watch()
            if faults:
                break
    finally:
        stop.set()
        end = time.monotonic() + _GRACE
        for thread in workers:
            thread.join(max(0.0, end - time.monotonic()))
    if faults:
        raise faults[0]


def _load(piece: Piece, progress: Progress, stop: threading.Event) -> None:
    with _locked(piece, progress, stop):
        if piece.target.is_file() and piece.target.stat().st_size == piece.bytes:
            progress.more(piece.bytes - piece.present_bytes)
            return
        try:
            _download(piece, progress, stop)
        except OSError as error:
            raise ModelError(_of_system(piece, error)) from error


def _of_system(piece: Piece, error: OSError) -> str:
    if error.errno in _FULL:
        template = _(
            "The disk below {folder} is full: {count} of {all} bytes of {name} have come. They stay: make room, and the next `rigup pull` goes on from there."
        )
        return template.format(folder=piece.target.parent, count=piece.present_bytes, all=piece.bytes, name=piece.name)
    return _("{path} cannot be written: {why}.").format(path=piece.partial, why=error.strerror or type(error).__name__)


@contextmanager
def _locked(piece: Piece, progress: Progress, stop: threading.Event) -> "Iterator[None]":
    """Hold the file's lock, which the library takes too; wait for whoever has it."""
    from filelock import FileLock, Timeout

    try:
        piece.lock.parent.mkdir(parents=True, exist_ok=True)
        piece.target.parent.mkdir(parents=True, exist_ok=True)
        lock, is_announced = FileLock(piece.lock), False
        while True:
            try:
                lock.acquire(timeout=0.5)
                break
            except Timeout:
                if stop.is_set():
                    raise Stopped from None
                if not is_announced:
                    progress.says(_("{name} is being loaded by another program: waiting for it.").format(name=piece.name))
                is_announced = True
    except OSError as error:
        raise ModelError(_of_system(piece, error)) from error
    try:
        yield
    finally:
        lock.release()


def _download(piece: Piece, progress: Progress, stop: threading.Event) -> None:
    """Fill the partial file, check it, and put it in its place; one that was resumed and is wrong comes anew, once."""
    for attempt in range(2):
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(piece.partial, flags, 0o666), "r+b", buffering=0) as file:
            before = _size(file)
            if before > piece.bytes:
                file.truncate(0)
                progress.more(-piece.bytes)
                before = 0
            progress.resumed[piece.name] = before if not attempt else 0
            digest = _Digest(piece)
            for part in iter(lambda: file.read(_PIECE), b""):
                digest.add(part)
                if stop.is_set():
                    raise Stopped
            _fill(piece, file, digest, progress, stop)
            if digest.right():
                os.fsync(file.fileno())
                break
        piece.partial.unlink()
        progress.more(-piece.bytes)
        if not before or attempt:
            template = _("{name} is not what its checksum says: the host or somebody on the way gave other bytes. It was thrown away.")
            raise ModelError(template.format(name=piece.name))
        progress.says(_("{name} did not go with what had come before, and comes anew.").format(name=piece.name))
    os.replace(piece.partial, piece.target)


def _size(file: BinaryIO | Any) -> int:
    return os.fstat(file.fileno()).st_size


class _Digest:
    """The checksum of a file as its bytes come."""

    def __init__(self, piece: Piece) -> None:
        self._piece, self.count = piece, 0
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        git = len(self._piece.digest) == 40
        self._sum = hashlib.sha1(usedforsecurity=False) if git else hashlib.sha256()
        if git:
            self._sum.update(b"blob %d\0" % self._piece.bytes)
        self.count = 0

    def add(self, part: bytes) -> None:
        """Some more bytes."""
        self._sum.update(part)
        self.count += len(part)

    def right(self) -> bool:
        """What came is what was announced."""
        return self.count == self._piece.bytes and self._sum.hexdigest() == self._piece.digest


def _fill(piece: Piece, file: BinaryIO | Any, digest: _Digest, progress: Progress, stop: threading.Event) -> None:
    """Have all bytes of a file, by as many attempts as bring some. Raises ModelError where none do."""
    import httpx2

    idle = 0
    while digest.count < piece.bytes:
        before = digest.count
        why, wait = "", 0.0
        try:
            why, wait = _streamed(piece, file, digest, progress, stop)
        except (httpx2.TransportError, httpx2.TooManyRedirects, httpx2.DecodingError, httpx2.InvalidURL) as error:
            why = str(error) or type(error).__name__
        if digest.count >= piece.bytes:
            return
        idle = 0 if digest.count > before else idle + 1
        if idle > len(WAITS):
            template = _("{name} broke off after {count} of {all} bytes: {why}. They stay, and the next `rigup pull` goes on from there.")
            raise ModelError(template.format(name=piece.name, count=digest.count, all=piece.bytes, why=why or _("the connection ended")))
        if stop.wait(max(wait, WAITS[max(0, idle - 1)])):
            raise Stopped


def _streamed(piece: Piece, file: BinaryIO | Any, digest: _Digest, progress: Progress, stop: threading.Event) -> tuple[str, float]:
    """One attempt from where the file ends; why it brought nothing, and how long the host wants us to wait."""
    from huggingface_hub import get_session

    headers = {**piece.headers, "Accept-Encoding": "identity", "User-Agent": "rigup"}
    if digest.count:
        headers["Range"] = f"bytes={digest.count}-"
    with get_session().stream("GET", piece.url, headers=headers, timeout=_SECONDS, follow_redirects=True) as answer:
        if answer.status_code in _AGAIN:
            wait = answer.headers.get("Retry-After", "")
            sentence = _("status {status}").format(status=answer.status_code)
            return sentence, min(float(wait) if wait.isdecimal() else 0.0, WAITS[-1])
        if answer.status_code not in (200, 206):
            raise ModelError(_refusal(piece, answer.status_code))
        if digest.count and not _continues(answer, digest.count):
            progress.more(-digest.count)
            file.seek(0)
            file.truncate(0)
            digest.forget()
            if answer.status_code != 200:
                return _("the host gave another part than was asked for"), 0.0
        _write(piece, answer.iter_bytes(), file, digest, progress, stop)
    return "", 0.0


def _write(piece: Piece, parts: Iterable[bytes], file: BinaryIO | Any, digest: _Digest, progress: Progress, stop: threading.Event) -> None:
    """Write what comes, a mebibyte at a time; what waits for the rest of one is written in a break too."""
    held: list[bytes] = []

    def put() -> None:
        part = b"".join(held)[: piece.bytes - digest.count + 1]
        held.clear()
        _written(file, part)
        digest.add(part)
        progress.more(len(part))

    try:
        for part in parts:
            held.append(part)
            if sum(map(len, held)) < _PIECE:
                continue
            put()
            if stop.wait(max(0.0, progress.ahead())):
                raise Stopped
            if digest.count > piece.bytes:
                return
    finally:
        put()


def _written(file: BinaryIO | Any, part: bytes) -> None:
    """All of it, or OSError: a disk that fills up takes a part first."""
    left = memoryview(part)
    while left:
        left = left[file.write(left) :]


def _continues(answer: Any, start: int) -> bool:
    """The host gives what was asked for: the rest from a place on."""
    part = answer.headers.get("Content-Range", "").replace(" ", "")
    return bool(answer.status_code == 206 and part.startswith(f"bytes{start}-"))


def _refusal(piece: Piece, status: int) -> str:
    from rigup.llm.hub.hf_api import refused

    if status in (404, 410):
        return _("{name} is not there any more: its page may have changed meanwhile. Try again.").format(name=piece.name)
    return refused(piece.url.partition("://")[2].partition("/")[0], status)
