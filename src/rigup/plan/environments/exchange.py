"""What the kernel does at one moment: two names that change places, one file that two names hold."""

import ctypes
import errno
import os
import platform
import sys
from pathlib import Path
from typing import Any

_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS
_SHARE = 0x40049409  # FICLONE
_NUMBERS = {"x86_64": 316, "aarch64": 276, "riscv64": 276, "ppc64le": 357, "s390x": 347, "armv7l": 382}
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY, errno.EXDEV, errno.EPERM)


def exchange(first: Path, other: Path) -> bool:
    """Let two names change places, so that each is there at every moment.

    False where the system or the file system has no way to do it: then nothing has changed.

    Raises:
        OSError: one of them is not there, or its folder may not be written.

    """
    call = _exchanger()
    if call is None:
        return False
    if call(os.fsencode(first), os.fsencode(other)) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number), str(first), None, str(other))


def _exchanger() -> Any:
    """The system's call, or None."""
    if sys.platform == "linux":
        return _of_linux(ctypes.CDLL(None, use_errno=True))
    if sys.platform == "darwin":
        swap = getattr(ctypes.CDLL(None, use_errno=True), "renamex_np", None)
        return swap and (lambda first, other: swap(first, other, _EXCHANGE))
    return None


def _of_linux(library: Any) -> Any:
    """By its name where the C library has one, else by its number."""
    named = getattr(library, "renameat2", None)
    if named is not None:
        return lambda first, other: named(_HERE, first, _HERE, other, _EXCHANGE)
    number = _NUMBERS.get(platform.machine())
    return number and (lambda first, other: library.syscall(number, _HERE, first, _HERE, other, _EXCHANGE))


def share(source: Path, target: Path) -> bool:
    """Make `target` a file with the content of `source` that takes no room until one of them is written.

    False where the file system has no such copies; then there is no target.
    """
    if sys.platform != "linux":
        return False
    import fcntl

    try:
        with open(source, "rb") as old, open(target, "xb") as new:
            fcntl.ioctl(new.fileno(), _SHARE, old.fileno())
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
        target.unlink(missing_ok=True)
        return False
    return True


def settle(folder: Path) -> None:
    """Wait until what was written on the folder's file system is on the disk; a power cut leaves it there."""
    call = getattr(ctypes.CDLL(None), "syncfs", None) if sys.platform == "linux" else None
    if call is None:
        if hasattr(os, "sync"):
            os.sync()
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        call(handle)
    finally:
        os.close(handle)


def settle_names(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
