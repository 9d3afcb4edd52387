"""What was kept of a machine's answers: files, links, nodes, commands, and whose eyes they were seen with.

It is written as a tree, which is what `--from` takes (see `tree.py`): so a machine that somebody asked is a
test case. Paths that were asked for and are not there stand in absent.json, for a folder of which a part was
copied shows no absence by itself.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rigup.machine.host import Answer


@dataclass
class Snapshot:
    """Answers of a machine, as they were given: private things are still in them.

    Attributes:
        files: text by path.
        there: paths that exist, read or not.
        absent: paths and patterns that were asked for and name nothing.
        links: where a link leads, by path.
        nodes: type, mode, owner and group of what plain copies cannot show, as nodes.json has them.
        who: user, uid, groups and environment, as who.json has them.
        commands: what a program printed, by its argument vector.

    """

    files: dict[str, str] = field(default_factory=dict)
    there: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    links: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    who: dict[str, Any] = field(default_factory=dict)
    commands: dict[tuple[str, ...], Answer] = field(default_factory=dict)

    def write(self, folder: str) -> None:
        """Write the tree. Raises OSError where the folder cannot be written."""
        os.makedirs(folder, exist_ok=True)
        for path in sorted(self.there - self.files.keys() - self.links.keys() - self.nodes.keys()):
            _place(folder, path, "")
        for path, body in self.files.items():
            _place(folder, path, body)
        for path, target in self.links.items():
            with suppress(OSError):
                os.makedirs(os.path.dirname(folder + path), exist_ok=True)
                if not os.path.lexists(folder + path):
                    os.symlink(target, folder + path)
        said = [{"argv": argv, "exit": answer.exit, "stdout": answer.body} for argv, answer in self.commands.items()]
        companions = {"commands": said, "nodes": self.nodes, "who": self.who, "absent": sorted(self.absent)}
        for name, content in companions.items():
            Path(folder, name + ".json").write_text(json.dumps(content, indent=1), encoding="utf-8")


def _place(folder: str, path: str, body: str) -> None:
    """A file, unless something else stands there already: a folder above a file is one by itself."""
    with suppress(OSError):
        os.makedirs(os.path.dirname(folder + path), exist_ok=True)
        if not os.path.lexists(folder + path):
            Path(folder + path).write_text(body, encoding="utf-8")
