"""What was kept of a machine's answers: files, links, nodes, commands, and whose eyes they were seen with.

It is written as a tree, which is what `--from` takes (see `tree.py`): so a machine that somebody asked is a
test case. What plain copies cannot show stands beside them: absent.json (asked for, and not there),
looked.json (asked for, and there), refused.json (there, and not to be read, with why). Only what was asked
for is kept, so every folder counts as copied in part (partial.json), and shows no absence by itself.
"""

import json
import os
import posixpath
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rigup.machine.host import Answer, Recorded

_HOPS = 40  # links on the way to a file


class Entry(NamedTuple):
    """One thing of a tree: a folder (neither body nor target), a file or a link."""

    path: str
    body: bytes | None = None
    target: str | None = None


@dataclass
class Snapshot:
    """Answers of a machine, as they were given: private things are still in them.

    Attributes:
        files: text by path.
        there: paths that exist, read or not.
        absent: paths and patterns that were asked for and name nothing.
        links: where a link leads, by path.
        nodes: type, mode, owner and group of what plain copies cannot show, as nodes.json has them.
        who: user, uid, groups and environment, as who.json has them; `id` is what id(1) printed.
        commands: what a program answered, by its argument vector; also that it is not there or was late.
        folders: paths that are folders.
        looked: paths and patterns that were asked for and name something.
        refused: why something could not be read, by path or pattern.
        recorded: commands that somebody else had recorded: they are read as texts too.
        partial: folders that were copied in part only.

    """

    files: dict[str, str] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    who: dict[str, Any] = field(default_factory=dict)
    commands: dict[tuple[str, ...], Answer] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    looked: set[str] = field(default_factory=set)
    refused: dict[str, str] = field(default_factory=dict)
    recorded: list[Recorded] = field(default_factory=list)
    partial: list[str] = field(default_factory=lambda: ["/"])

    def write(self, folder: str) -> None:
        """Write the tree. Raises OSError where the folder cannot be written."""
        os.makedirs(folder, exist_ok=True)
        created = {folder}
        for entry in self.entries():
            with suppress(OSError):  # what cannot stand here costs itself only
                _place(folder + entry.path, entry, created)
        for name, content in self.companions().items():
            Path(folder, name).write_bytes(content)

    def entries(self) -> Iterator[Entry]:
        """The tree's folders, files and links: each at its real place, links as they are, folders first."""
        links = {self.real(posixpath.dirname(path)) + "/" + posixpath.basename(path): path for path in self.links}
        bodies = {self.real(path): body for path, body in self.files.items()}
        folders = {self.real(path) for path in self.folders}
        files = {self.real(path) for path in self.there | self.nodes.keys()} | bodies.keys()
        above = {folder for path in (*files, *links, *folders) for folder in _above(path)} | folders
        yield from (Entry(path) for path in sorted(above - links.keys()) if path)
        for path in sorted(files - above - links.keys()):
            yield Entry(path, bodies.get(path, "").encode("utf-8", "surrogatepass"))
        yield from (Entry(path, target=self.links[links[path]]) for path in sorted(links))

    def real(self, path: str) -> str:
        """Where a path leads, as far as the links are known."""
        parts, done, hops = [part for part in path.split("/") if part], "", 0
        while parts:
            part = parts.pop(0)
            target = self.links.get(done + "/" + part) if hops < _HOPS else None
            if part == "..":
                done = posixpath.dirname(done).rstrip("/")
            elif target is None:
                done += "" if part == "." else "/" + part
            else:
                hops, done = hops + 1, "" if target.startswith("/") else done
                parts = [step for step in target.split("/") if step] + parts
        return done

    def companions(self) -> dict[str, bytes]:
        """What stands beside the file system, by file name."""
        contents = {
            "commands": self._command_rows(),
            "nodes": self.nodes,
            "who": self.who,
            "absent": sorted(self.absent),
            "looked": sorted(self.looked),
            "refused": self.refused,
            "partial": self.partial,
        }
        return {name + ".json": json.dumps(content, indent=1).encode() for name, content in contents.items()}

    def _command_rows(self) -> list[dict[str, Any]]:
        """Rows of commands.json: what others recorded, then what readers asked for and got."""
        rows = [{"argv": run.argv, "exit": run.exit, "stdout": run.output} for run in self.recorded]
        known = {(run.argv, run.output, run.exit) for run in self.recorded}
        for argv, answer in self.commands.items():
            if (argv, answer.body, answer.exit) in known:
                continue
            row: dict[str, Any] = {"argv": argv, "exit": answer.exit, "stdout": answer.body or "", "asked": True}
            rows.append(row if answer.body is not None else {**row, "state": answer.state, "why": answer.why})
        return rows


def _above(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path).rstrip("/"):
        yield path


def _place(target: str, entry: Entry, created: set[str]) -> None:
    """Something new; where something stands already it stays. `made` are folders that need not be asked for again."""
    above = target if entry.body is None and entry.target is None else os.path.dirname(target)
    if above not in created:
        os.makedirs(above, exist_ok=True)
        created.add(above)
    if above != target and not os.path.lexists(target):
        if entry.target is not None:
            os.symlink(entry.target, target)
        else:
            Path(target).write_bytes(entry.body or b"")
