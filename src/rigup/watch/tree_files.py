"""Files of a captured tree, for samplers."""

import os
import stat

from rigup.machine.layout import Layout
from rigup.machine.tree import Tree
from rigup.watch.files import MOST, READS, Opened, Reopened

_MOST_LINK = 512


class TreeFiles:
    """The files of a captured tree; nothing outside of it is opened."""

    def __init__(self, folder: str) -> None:
        tree = Tree(folder)
        self._layout = _FlatLinks(tree.layout)

    def _at(self, path: str) -> str:
        inner = self._layout.real(path)
        if inner is None:
            raise FileNotFoundError(path)
        return self._layout.on_disk(inner)

    def read(self, path: str, most: int = MOST) -> bytes:
        """The first bytes of a regular file. Raises OSError."""
        handle = os.open(self._at(path), READS)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FileNotFoundError(path)
            return os.read(handle, most)
        finally:
            os.close(handle)

    def names(self, folder: str) -> list[str]:
        """What a folder holds. Raises OSError."""
        if not os.path.isdir(self._at(folder)):
            raise FileNotFoundError(folder)
        return sorted(self._layout.names_in(folder))

    def link(self, path: str) -> str:
        """What a link says. Raises OSError."""
        inner = self._layout.entry(path)
        target = None if inner is None else self._layout.target(inner)
        if target is None:
            raise FileNotFoundError(path)
        return target

    def real(self, path: str) -> str:
        """Where a path leads, inside the tree. Raises OSError."""
        inner = self._layout.real(path)
        if inner is None or not os.path.lexists(self._layout.on_disk(inner)):
            raise FileNotFoundError(path)
        return self._layout.mount + inner

    def opened(self, path: str) -> Opened:
        """A file that will be read again."""
        return Reopened(self, path)


class _FlatLinks(Layout):
    """A tree whose links may have been copied as files that hold where they lead, as on disks without links."""

    def __init__(self, layout: Layout) -> None:
        vars(self).update(vars(layout))

    def target(self, inner: str) -> str | None:
        """What a link says; None where there is none."""
        if (target := super().target(inner)) is not None:
            return target
        here = self.on_disk(inner)
        try:
            status = os.lstat(here)
            if not stat.S_ISREG(status.st_mode) or not 3 < status.st_size < _MOST_LINK:
                return None
            handle = os.open(here, READS)
        except (OSError, ValueError):
            return None
        try:
            content = os.read(handle, _MOST_LINK)
        finally:
            os.close(handle)
        flat = content.startswith(b"../") and not content.strip().count(b"\n")
        return content.decode("utf-8", "replace").strip() if flat else None
