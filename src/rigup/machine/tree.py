"""A captured machine: a file system, the commands that were recorded, nodes, and whose eyes it was seen with.

A path that the tree does not hold is absent if its folder is there and not partial, and not looked at
otherwise. Links resolve inside the tree; nothing outside it is ever opened.
"""

import fnmatch
import functools
import json
import os
import posixpath
import re
import stat
from pathlib import Path
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine import file_names
from rigup.machine.globbing import paths_like
from rigup.machine.host import LIMIT, Answer, Recorded
from rigup.machine.layout import Layout
from rigup.machine.local import ls_line
from rigup.machine.readable import all_readable

MARKS = ("commands.json", "nodes.json", "who.json", "proc", "sys", "dev", "etc", "usr", "opt", "home", "lib", "var", "boot")
_TYPES = {"char": stat.S_IFCHR, "block": stat.S_IFBLK, "dir": stat.S_IFDIR, "fifo": stat.S_IFIFO, "socket": stat.S_IFSOCK}
_DEFAULTS = {stat.S_IFLNK: 0o777}  # modes that are always the same
_STATES = ("known", "absent", "refused")
_PYTHON = lazy_regex(r"(?:\A|[/\\])(?:python|pypy)[\d.]*(?:\.exe)?\Z")


class Tree:
    """A host that was captured into a folder.

    `mount` is the machine's path that the folder stands for, where only a part of the machine was copied.
    """

    def __init__(self, folder: str, mount: str = "") -> None:
        self.root, self.mount = os.path.realpath(folder), mount
        self.layout = Layout(self.root, mount, _load(self.root, "links.json"), _load(self.root, file_names.MARK))
        nodes = _object(_load(self.root, "nodes.json"))
        self.nodes = {path: _node(node) for path, node in nodes.items() if isinstance(node, dict)}
        self.who: dict[str, Any] = _object(_load(self.root, "who.json"))
        self.absent = frozenset(_strings(_load(self.root, "absent.json")))
        self.looked = frozenset(_strings(_load(self.root, "looked.json")))
        self.refused = {path: str(why) for path, why in _object(_load(self.root, "refused.json")).items()}
        self.partial = tuple("/" + path.strip("/") for path in _strings(_load(self.root, "partial.json")))
        self._commands = [recording for row in _rows(_load(self.root, "commands.json")) if (recording := _recording(row))]

    # -- paths ---------------------------------------------------------------------------------------
    def find(self, pattern: str) -> list[str]:
        """Paths that a glob pattern names, sorted; nodes that only nodes.json knows are among them."""
        parts = [part for part in pattern.split("/") if part]
        above = [part for part in self.mount.split("/") if part]
        if not all(map(fnmatch.fnmatchcase, above, parts)) or len(parts) < len(above):
            return []
        paths = paths_like("/".join(parts[len(above) :]), self.layout.names_in, self.layout.exists, self.mount)
        return sorted({*paths, *(node for node in self._nodes_alone if _path_match(node, pattern))})

    @functools.cached_property
    def _nodes_alone(self) -> list[str]:
        return [node for node in self.nodes if not self.layout.exists(node)]

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """A file's text as it was captured."""
        inner = self.layout.real(path)
        real = self.layout.on_disk(inner) if inner is not None else ""
        if path in self.refused and not (os.path.isfile(real) and os.path.getsize(real)):
            return Answer(None, "refused", self.refused[path])
        if inner is None or not os.path.isfile(real):
            return self._nothing_at(path)
        try:
            with open(real, "rb") as file:
                return Answer(file.read(4 * limit).decode("utf-8", "replace")[:limit])
        except OSError as error:
            return Answer(None, "refused", error.strerror or type(error).__name__)

    def _nothing_at(self, path: str) -> Answer:
        """Absent where somebody says so or the folder was copied whole; where it was not, nobody looked."""
        if path in self.absent or path in self.looked:
            return Answer(None, "absent")
        folder = posixpath.dirname(path.rstrip("/")) or "/"
        while any(mark in folder for mark in "*?["):
            folder = posixpath.dirname(folder)
        inner = self.layout.real(folder)
        if inner is None or not os.path.isdir(self.layout.on_disk(inner)) or self._copied_in_part(folder):
            return Answer(None, "unseen")
        return Answer(None, "absent")

    def _copied_in_part(self, folder: str) -> bool:
        return any(folder == part or folder.startswith(part.rstrip("/") + "/") for part in self.partial)

    def link(self, path: str) -> Answer:
        """Where a link leads, as a path of the machine."""
        if not self.layout.exists(path):
            return self._nothing_at(path)
        inner = self.layout.real(path)
        return Answer(self.mount + inner) if inner is not None else Answer(None, "refused", "a loop of links")

    def listing(self, pattern: str) -> Answer:
        """As `ls -l` would have printed it; owners and modes from nodes.json."""
        lines = [self._line(path) for path in self.find(pattern)]
        return Answer("\n".join(lines)) if lines else self._nothing_at(pattern)

    def _line(self, path: str) -> str:
        node = self.nodes.get(path, {})
        default = "char" if path in self.nodes and path.startswith("/dev/") else ""
        inner = self.layout.entry(path) or ""
        target = self.layout.target(inner) if inner else None
        kind = stat.S_IFLNK if target is not None else _TYPES.get(str(node.get("type", default)), 0)
        if not kind:
            kind = stat.S_IFDIR if inner and os.path.isdir(self.layout.on_disk(inner)) else stat.S_IFREG
        arrow = " -> " + target if target is not None else ""
        acl = "+" if node.get("acl") else ""
        mode = _DEFAULTS.get(kind) or _octal(node.get("mode"), 0o755 if kind == stat.S_IFDIR else 0o644)
        line = ls_line(kind | mode, str(node.get("owner", "root")), str(node.get("group", "root")), path + arrow)
        return line.replace(" ", acl + " ", 1)

    # -- programs and people -------------------------------------------------------------------------
    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:  # noqa: ARG002
        """What that very command printed when it was recorded; one that is not recorded was not run."""
        wanted = question(argv)
        for recording in self._commands:
            if question(recording.argv) == wanted:
                known = recording.state == "known"
                return Answer(recording.output if known else None, recording.state, recording.why, recording.exit)
        return Answer(None, "unseen")

    def recorded(self) -> list[Recorded]:
        """All recorded commands that answered: one may answer a reader that would have asked in other words."""
        return [recording for recording in self._commands if recording.state == "known"]

    def variables(self) -> Answer:
        """The captured environment."""
        known = self.who.get("environment")
        if not isinstance(known, dict):
            return Answer(None, "unseen")
        return Answer("\n".join(str(name) + "=" + str(value) for name, value in known.items()))

    def account(self) -> Answer:
        """Who captured it."""
        if isinstance(self.who.get("id"), str):
            return Answer(self.who["id"])
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
    if os.path.isdir(os.path.join(folder, "nodes")) and os.path.isfile(os.path.join(folder, "nodes", "0", "properties")):
        return "/sys/class/kfd/kfd/topology"
    return None


def _path_match(path: str, pattern: str) -> bool:
    mine, theirs = path.strip("/").split("/"), pattern.strip("/").split("/")
    return len(mine) == len(theirs) and all(map(fnmatch.fnmatchcase, mine, theirs))


def _load(root: str, name: str) -> Any:
    """What stands beside the file system; a link is not followed, for it may lead out of the tree."""
    try:
        if os.path.islink(os.path.join(root, name)):
            return None
        text = Path(root, name).read_bytes()[: 10 * LIMIT].decode("utf-8", "replace")
        return all_readable(json.loads(text))
    except (OSError, ValueError, RecursionError):
        return None


def _object(loaded: Any) -> dict[str, Any]:
    return loaded if isinstance(loaded, dict) else {}


def _rows(loaded: Any) -> list[Any]:
    return loaded if isinstance(loaded, list) else []


def _strings(loaded: Any) -> list[str]:
    return [path for path in _rows(loaded) if isinstance(path, str)]


def _recording(row: Any) -> Recorded | None:
    """One row of commands.json; a malformed one costs itself only."""
    argv = row.get("argv") if isinstance(row, dict) else None
    if not isinstance(argv, list) or not argv:
        return None
    output = str(row.get("stdout") or "")[:LIMIT] + str(row.get("stderr") or "")[:LIMIT]
    code, state = row.get("exit"), row.get("state", "known")
    return Recorded(
        tuple(map(str, argv)),
        code if isinstance(code, int) else 0,
        output,
        state if state in _STATES else "known",
        str(row.get("why") or "")[:1000],
        row.get("asked") is True,
    )


def question(argv: tuple[str, ...]) -> tuple[str, ...]:
    """What a command asks, wherever its program lies: another machine's Python is Python."""
    program, *rest = argv or ("",)
    if not _PYTHON.search(program):
        return _last(program), *rest
    return "python", *map(_last, rest[:1]), *rest[1:]


def _last(path: str) -> str:
    return re.split(r"[/\\]", path)[-1]


def _node(node: dict[str, Any]) -> dict[str, Any]:
    """One node of nodes.json; its list of grants is a list, whatever somebody wrote."""
    return node if isinstance(node.get("acl", []), list) else {**node, "acl": ["+"] if node["acl"] else []}


def _octal(mode: Any, default: int) -> int:
    try:
        return int(str(mode), 8) & 0o7777
    except ValueError:
        return default
