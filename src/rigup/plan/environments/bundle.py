"""A bundle: a lock with all its files and a script, in one archive, for machines without a network.

It is a plain tar, so that a shell alone can use it:

    pylock.toml          the lock; every file of it lies beside
    wheels/*.whl         the files
    requirements.txt     the same for pip, with the hashes
    install.sh           makes an environment of it: sh install.sh [FOLDER [PYTHON]]

One that is opened may come from anybody: only these names are taken out of it, only files whose hash the lock tells
are kept, and nothing of it is run.
"""

import hashlib
import io
import os
import shutil
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from rigup.language import _
from rigup.machine import private_file, unpacking
from rigup.plan.environments import lockfile
from rigup.plan.environments.bundle_script import install_script
from rigup.plan.environments.lock_fields import LockError, Wheel
from rigup.plan.environments.locked import requirement
from rigup.plan.environments.lockfile import Lock

WHEELS = "wheels"
_MOST_LOCK = 20_000_000
_MOST_FILE = 20_000_000_000
_PIECE = 1 << 20
_DAMAGED = (*unpacking.DAMAGED, unpacking.TooMuch)


class Opened(NamedTuple):
    """A bundle on the disk: its lock, and the folder of its files, for pip's `--find-links`."""

    lock: Lock
    folder: str


# -- writing -----------------------------------------------------------------------------------------


def write(lock: Lock, folder: Path, path: Path) -> int:
    """Write a bundle, whole or not at all; how many bytes it has.

    Args:
        lock: what goes in.
        folder: where all its files lie.
        path: the archive.

    Raises:
        LockError: a file is not there, or has another hash.
        OSError: the archive cannot be written.

    """
    chosen = _packed(lock, folder)
    if private_file.takes_a_stream(path):
        with open(path, "wb") as file:
            _fill(file, chosen, folder)
        return path.stat().st_size
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".rigup-draft-")
    try:
        with os.fdopen(handle, "wb") as file:
            _fill(file, chosen, folder)
        os.chmod(draft, 0o644)
        os.replace(draft, path)
    finally:
        Path(draft).unlink(missing_ok=True)
    return path.stat().st_size


def _fill(file: IO[bytes], lock: Lock, folder: Path) -> None:
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, body, mode in _texts(lock):
            archive.addfile(_entry(name, len(body), mode), io.BytesIO(body))
        for wheel in lock.wheels():
            with open(folder / wheel.name, "rb") as source:
                archive.addfile(_entry(wheel.path, os.fstat(source.fileno()).st_size, 0o644), source)


def _packed(lock: Lock, folder: Path) -> Lock:
    """The lock as the bundle has it: of each package the files that are there, by their path."""
    packages = []
    for package in lock.packages:
        present = [wheel for wheel in package.wheels if (folder / wheel.name).is_file()]
        if not present:
            raise LockError(_("No file of {name} is in {folder}.").format(name=package.name, folder=folder))
        wheels = tuple(_checked(wheel, folder) for wheel in present)
        packages.append(msgspec.structs.replace(package, wheels=wheels))
    return msgspec.structs.replace(lock, packages=tuple(packages), find_links=())


def _checked(wheel: Wheel, folder: Path) -> Wheel:
    with open(folder / wheel.name, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != wheel.sha256:
        raise LockError(_("{file} is not the file of the lock: its hash is another.").format(file=wheel.name))
    return Wheel(name=wheel.name, sha256=wheel.sha256, path=f"{WHEELS}/{wheel.name}", size=(folder / wheel.name).stat().st_size)


def _texts(lock: Lock) -> Iterator[tuple[str, bytes, int]]:
    yield lockfile.NAME, lockfile.text(lock).encode(), 0o644
    yield "requirements.txt", "".join(requirement(package) + "\n" for package in lock.packages).encode(), 0o644
    yield "install.sh", install_script(lock).encode(), 0o755


def _entry(name: str, size: int, mode: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode, entry.mtime = size, mode, int(time.time())
    return entry


# -- opening -----------------------------------------------------------------------------------------


def is_bundle(path: str) -> bool:
    """Whether a file begins as a bundle does: a tar whose first entry is a lock. Never raises."""
    try:
        with tarfile.open(path, mode="r:") as archive:
            first = archive.next()
        return first is not None and first.isreg() and first.name == lockfile.NAME
    except _DAMAGED:
        return False


def opened(path: str, into: str | None = None) -> Opened:
    """Unpack a bundle and check every file of it.

    Args:
        path: the archive.
        into: an empty or new folder that keeps the files; by default a temporary one, which whoever calls removes
            (`shutil.rmtree(opened.folder)`).

    Raises:
        LockError: it is no bundle, or holds what a bundle may not hold; nothing of it is kept then.

    """
    if not is_bundle(path):
        raise LockError(_("{path} is no bundle of `rigup bundle`.").format(path=path))
    folder = Path(into or tempfile.mkdtemp(prefix="rigup-bundle-"))
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise LockError(_("{path} is not empty. Name a new folder.").format(path=folder))
    try:
        return _unpacked(path, folder)
    except _DAMAGED as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise LockError(_("{path} cannot be unpacked: {error}").format(path=path, error=str(error)[:200])) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _unpacked(path: str, folder: Path) -> Opened:
    """The lock comes first, so that every file behind it is known before it is written."""
    entries = unpacking.members(path, most_read=os.path.getsize(path) + _PIECE)
    lock = _lock(next(entries, unpacking.Member("", None, None)))
    wanted = {file.path: file for file in lock.wheels()}
    for entry in entries:
        if entry.name in ("requirements.txt", "install.sh"):
            continue
        wheel = wanted.pop(entry.name, None)
        if wheel is None or entry.body is None:
            template = _("{name} in the bundle is nothing that its lock names.")
            raise LockError(template.format(name=repr(entry.name)[:120]))
        _keep(wheel, entry.body, folder)
    if wanted:
        raise LockError(_("The bundle lacks {name}.").format(name=min(wanted)))
    return Opened(lock, str(folder))


def _lock(entry: unpacking.Member) -> Lock:
    if entry.name != lockfile.NAME or entry.body is None:
        raise LockError(_("The first file of the bundle is not its lock."))
    body = entry.body.read(_MOST_LOCK + 1)
    if len(body) > _MOST_LOCK:
        raise LockError(_("The lock in the bundle is larger than a lock is."))
    lock = lockfile.parsed(body.decode("utf-8"))
    _all_inside(lock.wheels())
    return lock


def _all_inside(wheels: Iterable[Wheel]) -> None:
    """Each file lies in the bundle under its own name, and no two are one."""
    seen: set[str] = set()
    for wheel in wheels:
        if wheel.path != f"{WHEELS}/{wheel.name}" or wheel.path in seen:
            raise LockError(_("The lock in the bundle does not tell where {name} lies.").format(name=wheel.name))
        seen.add(wheel.path)


def _keep(wheel: Wheel, body: IO[bytes], folder: Path) -> None:
    """Write one file under its own name, and check it."""
    digest, left = hashlib.sha256(), wheel.size or _MOST_FILE
    with open(folder / wheel.name, "xb") as file:
        while piece := body.read(_PIECE):
            left -= len(piece)
            if left < 0:
                break
            digest.update(piece)
            file.write(piece)
    if left < 0 or digest.hexdigest() != wheel.sha256:
        raise LockError(_("{file} is not the file of the lock: its hash is another.").format(file=wheel.name))
