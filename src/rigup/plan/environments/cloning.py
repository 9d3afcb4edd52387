"""A tree of files made again so that both share their room on the disk, as far as the file system lets them."""

import errno
import os
import shutil
from collections.abc import Container
from pathlib import Path

from rigup.plan.environments.exchange import share

# Programs write these in place: a hard link would change the other environment too.
_WRITTEN_IN_PLACE = ("bin", "Scripts", "etc", "conda-meta", "share")
_SMALL = 1_000_000  # bytes
_NO_LINK = (errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EACCES)


def copied_tree(source: Path, target: Path, *, copy: bool = False, without: Container[str] = ()) -> None:
    """Make `target`, which must not be there, like `source`: modes, times and links kept; sockets and pipes left out.

    Args:
        source: the folder.
        target: where the new one is made.
        copy: share nothing.
        without: names that are left out at the top.

    Raises:
        OSError: something cannot be read or written; then a part of `target` may be there.

    """
    _Tree(source, target, copy).take(without)


class _Tree:
    """One copy in the making; what the file system cannot do is tried once."""

    def __init__(self, source: Path, target: Path, copy: bool) -> None:
        self.source, self.target = source, target
        self.shares, self.links = not copy, not copy

    def take(self, without: Container[str]) -> None:
        """Folders from above; their modes and times last, from below."""
        os.mkdir(self.target, 0o700)
        folders = [""]
        for inner in folders:
            with os.scandir(self.source / inner) as there:
                for entry in there:
                    if inner or entry.name not in without:
                        self.one(entry, os.path.join(inner, entry.name), folders)
        for inner in reversed(folders):
            shutil.copystat(self.source / inner, self.target / inner)

    def one(self, entry: os.DirEntry[str], inner: str, folders: list[str]) -> None:
        """One name of a folder."""
        new = self.target / inner
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), new)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(new, 0o700)
            folders.append(inner)
        elif entry.is_file(follow_symlinks=False):
            self.file(Path(entry.path), new, entry.stat(follow_symlinks=False).st_size, inner)

    def file(self, old: Path, new: Path, size: int, inner: str) -> None:
        """Shared by the file system; else linked, if nobody writes it in place; else copied."""
        if self.shares and size:
            self.shares = share(old, new)
            if self.shares:
                shutil.copystat(old, new)
                return
        if self.links and not _written_in_place(inner, size):
            self.links = _linked(old, new)
            if self.links:
                return
        shutil.copy2(old, new, follow_symlinks=False)


def _written_in_place(inner: str, size: int) -> bool:
    parts = Path(inner).parts
    return size <= _SMALL and (len(parts) == 1 or parts[0] in _WRITTEN_IN_PLACE)


def _linked(old: Path, new: Path) -> bool:
    """Whether a hard link could be made. One file may have too many: that says nothing of the next."""
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError as error:
        if error.errno == errno.EMLINK:
            shutil.copy2(old, new, follow_symlinks=False)
            return True
        if error.errno not in _NO_LINK:
            raise
        return False
    return True
