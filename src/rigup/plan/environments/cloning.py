"""A tree of files made again so that both share their room on the disk, and no edit in the one is seen in the other.

The file system's own copies do both. Where it has none, large libraries and what Python compiled are held by two names
(hard links): installers and Python put a new file in their place, nobody edits them, and they are most of an
environment's bytes. All else is copied, for editors, `patch` and scripts write in place.
"""

import errno
import os
import shutil
import stat
from collections.abc import Container
from pathlib import Path

from rigup.plan.environments.exchange import share

_LARGE = 1_000_000  # bytes; below them a link saves nothing that counts
_PROGRAMS = (b"\x7fELF", b"!<arch>\n", b"MZ", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\x50\xed\x55\xba")
_DRAFT = ".rigup-own"
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
            with os.scandir(self.source / inner) as entries:
                for entry in entries:
                    if inner or entry.name not in without:
                        self.copy_entry(entry, os.path.join(inner, entry.name), folders)
        for inner in reversed(folders):
            shutil.copystat(self.source / inner, self.target / inner)

    def copy_entry(self, entry: os.DirEntry[str], inner: str, folders: list[str]) -> None:
        """One name of a folder."""
        new = self.target / inner
        if entry.is_symlink():
            os.symlink(os.readlink(entry.path), new)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(new, 0o700)
            folders.append(inner)
        elif entry.is_file(follow_symlinks=False):
            self.copy_file(Path(entry.path), new, entry.stat(follow_symlinks=False).st_size)

    def copy_file(self, old: Path, new: Path, size: int) -> None:
        """Shared by the file system; else linked, if no edit is to be feared; else copied."""
        if self.shares and size:
            self.shares = share(old, new)
            if self.shares:
                shutil.copystat(old, new)
                return
        if self.links and _is_replaced_whole(old, size):
            self.links = _linked(old, new)
            if self.links:
                return
        shutil.copy2(old, new, follow_symlinks=False)


def _is_replaced_whole(path: Path, size: int) -> bool:
    """Whether a new file takes its place where it changes; what may not be read is no such thing."""
    if path.suffix == ".pyc" and path.parent.name == "__pycache__":
        return True
    if size < _LARGE:
        return False
    try:
        with open(path, "rb") as file:
            return file.read(8).startswith(_PROGRAMS)
    except PermissionError:
        return False


def unshare(folder: Path) -> None:
    """Give a tree its own copy of each file that another name holds too, but for those that are replaced whole.

    An installer that links from its cache (uv) would else let two environments share what people edit.

    Raises:
        OSError: one cannot be read or written. What is killed half-way leaves files whole.

    """
    for above, _folders, files in os.walk(folder):
        for name in files:
            path = Path(above, name)
            status = path.lstat()
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 and not _is_replaced_whole(path, status.st_size):
                _detach(path)


def _detach(path: Path) -> None:
    temporary = path.with_name(path.name + _DRAFT)
    temporary.unlink(missing_ok=True)
    if not share(path, temporary):
        shutil.copy2(path, temporary, follow_symlinks=False)
    else:
        shutil.copystat(path, temporary)
    os.replace(temporary, path)


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
