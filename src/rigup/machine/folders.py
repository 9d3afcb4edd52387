"""What folders hold, each listed once in a look; and what cannot be there, because a folder above it is not."""

import os
import sys
from collections.abc import Callable
from functools import cached_property

_UNLISTED = ("/proc", "/mnt", "/home", "/net")  # too long, of another system's names, or mounted when somebody goes there
_MOUNTS = "/proc/self/mounts"


class Folders:
    """Listings by path. Most of what is asked for is on other machines: a listing tells so for all that lies below.

    Args:
        listed: the names in a folder. Raises OSError.
        still: whether nothing comes or goes meanwhile; else listings serve patterns alone.

    """

    def __init__(self, listed: Callable[[str], list[str]], still: bool = False) -> None:
        self._listed = listed
        self._trusted = still and sys.platform == "linux"  # elsewhere names may be asked for in other letters than listed
        self._names: dict[str, list[str]] = {}
        self._whole: dict[str, set[str]] = {}  # of folders whose listings show all that can be reached
        self._gone: dict[str, bool] = {"": False}

    def names_in(self, folder: str) -> list[str]:
        """What a folder holds; nothing where it is not, or may not be read."""
        if folder not in self._names:
            self._names[folder] = [] if self._is_gone(folder) else self._list(folder)
        return self._names[folder]

    def lacks(self, path: str) -> bool:
        """Whether it is known, without asking for the path, that nothing is there."""
        folder, _slash, name = path.rpartition("/")
        gone = self._gone.get(folder)
        if gone or (gone is None and self._is_gone(folder)):
            return True
        whole = self._whole.get(folder)
        return whole is not None and name not in whole

    def holds(self, path: str) -> bool:
        """Whether a listing shows it."""
        folder, _slash, name = path.rpartition("/")
        return name in self._whole.get(folder, ())

    def _is_gone(self, folder: str) -> bool:
        known = self._gone.get(folder)
        if known is None:
            above, _slash, name = folder.rpartition("/")
            known = self._is_gone(above) or (self._tells_all(above) and name not in self._whole.get(above, (name,)))
            self._gone[folder] = known
        return known

    def _tells_all(self, folder: str) -> bool:
        """Whether what a folder's listing does not show cannot be reached by its name."""
        if not self._trusted or folder in _UNLISTED or any(folder.startswith(point) for point in self._triggers):
            return False
        self.names_in(folder)
        return True

    def _list(self, folder: str) -> list[str]:
        try:
            names = self._listed(folder)
        except (FileNotFoundError, NotADirectoryError):
            self._gone[folder] = self._trusted
            return []
        except OSError:
            return []
        if self._trusted:
            self._whole[folder] = set(names)
        return names

    @cached_property
    def _triggers(self) -> list[str]:
        """Where folders appear when somebody goes there (autofs)."""
        try:
            with open(_MOUNTS, "rb") as file:
                rows = [line.split() for line in file]
        except OSError:
            return []
        return [os.fsdecode(row[1]) for row in rows if len(row) > 2 and row[2] == b"autofs"]
