"""A captured machine: a file system, the commands that were recorded, nodes, and whose eyes it was seen with.

A path that the tree does not hold is absent if its folder is there and not partial, and not looked at
otherwise. Links resolve inside the tree; nothing outside it is ever opened.
"""

import fnmatch
import json
import os
import posixpath
import stat
from pathlib import Path
from typing import Any

from rigup.machine.globbing import paths_like
from rigup.machine.host import LIMIT, Answer, Recorded
from rigup.machine.local import ls_line

MARKS = (
    "commands.json",
    "nodes.json",
    "who.json",
    "proc",
    "sys",
    "dev",
    "etc",
    "usr",
    "opt",
    "home",
    "lib",
    "var",
    "boot",
)
_HOPS = 40
_TYPES = {"char": stat.S_IFCHR, "block": stat.S_IFBLK, "dir": stat.S_IFDIR}


class Tree:
    """A host that was captured into a folder.

    `mount` is the machine's path that the folder stands for, where only a part of the machine was copied.
    """

    def __init__(self, folder: str, mount: str = "") -> None:
        self.root, self.mount = os.path.realpath(folder), mount
        nodes = _object(_load(self.root, "nodes.json"))
        self.nodes = {path: node for path, node in nodes.items() if isinstance(node, dict)}
        self.who: dict[str, Any] = _object(_load(self.root, "who.json"))
        partial = _load(self.root, "partial.json")
        absent = _load(self.root, "absent.json")
        self.absent = frozenset(str(path) for path in absent or () if isinstance(absent, list))
        self.partial = tuple("/" + str(path).strip("/") for path in partial or () if isinstance(partial, list))
        self._commands = [made for said in _load(self.root, "commands.json") or () if (made := _recorded(said))]

    # -- paths ---------------------------------------------------------------------------------------
    def _real(self, path: str) -> str | None:
        """Where a path of the machine lies on our disk, links followed inside the tree; None for a loop."""
        if self.mount and not (path + "/").startswith(self.mount + "/"):
            return None
        parts, done, hops = [part for part in path[len(self.mount) :].split("/") if part], "", 0
        while parts:
            part = parts.pop(0)
            if part == "..":
                done = posixpath.dirname(done)
                continue
            here = self.root + done + "/" + part
            if part != "." and os.path.islink(here):
                hops += 1
                if hops > _HOPS:
                    return None
                target = os.readlink(here)
                done = "" if target.startswith("/") else done
                parts = [step for step in target.split("/") if step] + parts
            elif part != ".":
                done += "/" + part
        return self.root + done

    def find(self, pattern: str) -> list[str]:
        """Paths that a glob pattern names, sorted; nodes that only nodes.json knows are among them."""
        parts = [part for part in pattern.split("/") if part]
        above = [part for part in self.mount.split("/") if part]
        if not all(map(fnmatch.fnmatchcase, above, parts)) or len(parts) < len(above):
            return []
        found = paths_like("/".join(parts[len(above) :]), self._names_in, self._there, self.mount)
        return sorted({*found, *(node for node in self.nodes if _path_match(node, pattern))})

    def _names_in(self, folder: str) -> list[str]:
        real = self._real(folder)
        try:
            return os.listdir(real) if real else []
        except OSError:
            return []

    def _there(self, path: str) -> bool:
        """The entry itself, whether or not it is a link that leads nowhere."""
        parent = self._real(posixpath.dirname(path))
        return parent is not None and os.path.lexists(parent + "/" + posixpath.basename(path))

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """A file's text as it was captured."""
        real = self._real(path)
        if real is None or not os.path.isfile(real):
            return self._nothing_at(path)
        try:
            with open(real, "rb") as file:
                return Answer(file.read(limit).decode("utf-8", "replace"))
        except OSError as error:
            return Answer(None, "refused", error.strerror or type(error).__name__)

    def _nothing_at(self, path: str) -> Answer:
        """Absent where somebody says so or the folder was copied whole; where it was not, nobody looked."""
        if path in self.absent:
            return Answer(None, "absent")
        folder = posixpath.dirname(path.rstrip("/")) or "/"
        while any(mark in folder for mark in "*?["):
            folder = posixpath.dirname(folder)
        real = self._real(folder)
        if real is None or not os.path.isdir(real) or self._copied_in_part(folder):
            return Answer(None, "unseen")
        return Answer(None, "absent")

    def _copied_in_part(self, folder: str) -> bool:
        return any(folder == part or folder.startswith(part + "/") for part in self.partial)

    def link(self, path: str) -> Answer:
        """Where a link leads, as a path of the machine."""
        parent = self._real(posixpath.dirname(path))
        if parent is None or not os.path.lexists(parent + "/" + posixpath.basename(path)):
            return self._nothing_at(path)
        real = self._real(path)
        return Answer(self.mount + real.removeprefix(self.root)) if real else Answer(None, "refused", "a loop of links")

    def listing(self, pattern: str) -> Answer:
        """As `ls -l` would have printed it; owners and modes from nodes.json."""
        lines = [self._line(path) for path in self.find(pattern)]
        return Answer("\n".join(lines)) if lines else self._nothing_at(pattern)

    def _line(self, path: str) -> str:
        node = self.nodes.get(path, {})
        default = "char" if path in self.nodes and path.startswith("/dev/") else ""
        kind = _TYPES.get(str(node.get("type", default)), 0)
        real = (self._real(posixpath.dirname(path)) or "") + "/" + posixpath.basename(path)
        if not kind:
            kind = stat.S_IFLNK if os.path.islink(real) else stat.S_IFDIR if os.path.isdir(real) else stat.S_IFREG
        arrow = " -> " + os.readlink(real) if os.path.islink(real) else ""
        acl = "+" if node.get("acl") else ""
        mode = 0o777 if kind == stat.S_IFLNK else _octal(node.get("mode"), 0o644)
        line = ls_line(kind | mode, str(node.get("owner", "root")), str(node.get("group", "root")), path + arrow)
        return line.replace(" ", acl + " ", 1)

    # -- programs and people -------------------------------------------------------------------------
    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:  # noqa: ARG002
        """What that very command printed when it was recorded; one that is not recorded was not run."""
        for said in self._commands:
            if said.argv and (posixpath.basename(said.argv[0]), *said.argv[1:]) == argv:
                return Answer(said.output, exit=said.exit)
        return Answer(None, "unseen")

    def recorded(self) -> list[Recorded]:
        """All recorded commands: one may answer a reader that would have asked in other words."""
        return self._commands

    def variables(self) -> Answer:
        """The captured environment."""
        known = self.who.get("environment")
        if not isinstance(known, dict):
            return Answer(None, "unseen")
        return Answer("\n".join(str(name) + "=" + str(value) for name, value in known.items()))

    def account(self) -> Answer:
        """Who captured it."""
        if not isinstance(self.who.get("groups"), list):
            return Answer(None, "unseen")
        user = "uid=" + str(self.who.get("uid", "")) + "(" + str(self.who.get("user", "")) + ")"
        groups = ",".join("0(" + str(group) + ")" for group in self.who["groups"])
        return Answer(user + " groups=" + groups)


def is_tree(folder: str) -> bool:
    """Whether a folder holds a machine's file system, or what stands beside one."""
    return any(os.path.exists(os.path.join(folder, mark)) for mark in MARKS)


def mount_of(folder: str) -> str | None:
    """The machine's path that a folder is a copy of, where it is one of a part that is known by its form."""
    if os.path.isdir(os.path.join(folder, "topology", "nodes")):
        return "/sys/class/kfd/kfd"
    if os.path.isdir(os.path.join(folder, "nodes")) and os.path.isfile(
        os.path.join(folder, "nodes", "0", "properties")
    ):
        return "/sys/class/kfd/kfd/topology"
    return None


def _path_match(path: str, pattern: str) -> bool:
    mine, theirs = path.strip("/").split("/"), pattern.strip("/").split("/")
    return len(mine) == len(theirs) and all(map(fnmatch.fnmatchcase, mine, theirs))


def _load(root: str, name: str) -> Any:
    try:
        text = Path(root, name).read_bytes()[: 10 * LIMIT].decode("utf-8", "replace")
        return json.loads(text)
    except (OSError, ValueError, RecursionError):
        return None


def _object(loaded: Any) -> dict[str, Any]:
    return loaded if isinstance(loaded, dict) else {}


def _recorded(said: Any) -> Recorded | None:
    """One row of commands.json; a malformed one costs itself only."""
    argv = said.get("argv") if isinstance(said, dict) else None
    if not isinstance(argv, list) or not argv:
        return None
    output = str(said.get("stdout") or "")[:LIMIT] + str(said.get("stderr") or "")[:LIMIT]
    code = said.get("exit")
    return Recorded(tuple(map(str, argv)), code if isinstance(code, int) else 0, output)


def _octal(mode: Any, default: int) -> int:
    try:
        return int(str(mode), 8) & 0o7777
    except ValueError:
        return default
