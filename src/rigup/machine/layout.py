"""The file system of a captured machine, as it lies on our disk. Nothing outside its folder is ever opened.

Links are followed inside the folder. Where the disk cannot hold links or names as they were, links.json
has the links, and names.json says that names are escaped (see `file_names.py`).
"""

import os
import posixpath
from typing import Any

from rigup.machine import file_names
from rigup.machine.readable import OddNames

_HOPS = 40


class Layout:
    """Paths of the machine, and where they lie. `mount` is the machine's path that the folder stands for."""

    def __init__(self, root: str, mount: str, links: Any, names: Any) -> None:
        self.root, self.mount = root, mount
        self._escaped = names == file_names.ESCAPED
        targets = links if isinstance(links, dict) else {}
        self._links = {path: target for path, target in targets.items() if isinstance(target, str)}
        self._linked: dict[str, list[str]] = {}
        self._odd = OddNames()
        for path in self._links:
            self._linked.setdefault(posixpath.dirname(path).rstrip("/"), []).append(posixpath.basename(path))

    def real(self, path: str) -> str | None:
        """Where a path leads, links followed, as a path below the mount; None for a loop or what lies outside."""
        if self.mount and not (path + "/").startswith(self.mount + "/"):
            return None
        parts, done, hops = [part for part in path[len(self.mount) :].split("/") if part], "", 0
        while parts:
            part = parts.pop(0)
            target = None if part in (".", "..") else self.target(done + "/" + part)
            if part == "..":
                done = posixpath.dirname(done).rstrip("/")
            elif target is not None:
                hops += 1
                if hops > _HOPS:
                    return None
                done = "" if target.startswith("/") else done
                parts = [step for step in target.split("/") if step] + parts
            elif part != ".":
                done += "/" + part
        return done

    def on_disk(self, inner: str) -> str:
        """The file of ours that holds a path without links."""
        return self.root + ("/".join(map(file_names.escaped, inner.split("/"))) if self._escaped else self._odd.real(inner))

    def target(self, inner: str) -> str | None:
        """What a link says, None where there is none."""
        if inner in self._links:
            return self._links[inner]
        here = self.on_disk(inner)
        try:
            return self._odd.readable(os.readlink(here)) if os.path.islink(here) else None
        except (OSError, ValueError):  # it went meanwhile; a name with a zero in it is no name
            return None

    def entry(self, path: str) -> str | None:
        """Where the entry itself lies: the folders above it are followed, it is not. None outside of the tree."""
        above = self.real(posixpath.dirname(path)) if path.strip("/") else None
        return None if above is None else above + "/" + posixpath.basename(path)

    def exists(self, path: str) -> bool:
        """Whether there is an entry, be it a link that leads nowhere."""
        inner = self.entry(path)
        return inner is not None and (inner in self._links or os.path.lexists(self.on_disk(inner)))

    def names_in(self, folder: str) -> list[str]:
        """What a folder holds."""
        inner = self.real(folder)
        if inner is None:
            return []
        try:
            found = os.listdir(self.on_disk(inner))
        except OSError:
            found = []
        names = [*map(file_names.plain, found)] if self._escaped else self._odd.shown(inner, found)
        return [*names, *self._linked.get(inner, ())]
