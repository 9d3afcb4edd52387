"""A recorder around any host: it passes every question on, and keeps what was answered as a tree.

What it writes is what `--from` takes (see `tree.py`): so a machine that somebody asked is a test case. Paths
that were asked for and are not there stand in absent.json, for a folder of which a part was copied shows no
absence by itself.
"""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from rigup.machine.host import LIMIT, Answer, Host, Recorded

_LINE = re.compile(
    r"^(?P<mode>[-bcdlps][-rwxsStT]{9})\S* \d+ (?P<owner>\S+) (?P<group>\S+) \d+ (?P<path>/.*?)(?: -> (?P<target>.*))?$"
)
_TYPES = {"c": "char", "b": "block", "d": "dir"}


class Recorder:
    """A host that remembers what another host answered. It holds private things as they are."""

    def __init__(self, inner: Host) -> None:
        self.inner = inner
        self.files: dict[str, str] = {}
        self.there: set[str] = set()
        self.absent: set[str] = set()
        self.links: dict[str, str] = {}
        self.nodes: dict[str, dict[str, Any]] = {}
        self.who: dict[str, Any] = {}
        self.commands: dict[tuple[str, ...], Answer] = {}

    def find(self, pattern: str) -> list[str]:
        """As the inner host; what it finds is there, whether or not anybody reads it."""
        found = self.inner.find(pattern)
        self.there.update(found)
        return found

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """As the inner host."""
        answer = self.inner.read(path, limit)
        if answer.body is not None:
            self.files[path] = answer.body
        elif answer.state == "absent":
            self.absent.add(path)
        return answer

    def link(self, path: str) -> Answer:
        """As the inner host."""
        answer = self.inner.link(path)
        if answer.body and answer.body != path:
            self.links[path] = answer.body
        return answer

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """As the inner host."""
        answer = self.inner.run(argv, seconds)
        if answer.body is not None:
            self.commands[argv] = answer
        return answer

    def listing(self, pattern: str) -> Answer:
        """As the inner host."""
        answer = self.inner.listing(pattern)
        for line in (answer.body or "").splitlines():
            if found := _LINE.match(line):
                self._listed(found)
        if answer.state == "absent":
            self.absent.add(pattern)
        return answer

    def _listed(self, found: re.Match[str]) -> None:
        self.there.add(found["path"])
        if found["target"]:
            self.links[found["path"]] = found["target"]
        elif found["mode"][0] in "cb" or found["owner"] != "root":
            bits = sum(1 << 8 - place for place, letter in enumerate(found["mode"][1:]) if letter != "-")
            kind = _TYPES.get(found["mode"][0], "file")
            self.nodes[found["path"]] = {
                "type": kind,
                "mode": f"{bits:04o}",
                "owner": found["owner"],
                "group": found["group"],
            }

    def variables(self) -> Answer:
        """As the inner host."""
        answer = self.inner.variables()
        if answer.body is not None:
            pairs = (line.partition("=") for line in answer.body.splitlines() if "=" in line)
            self.who["environment"] = {name: value for name, _equals, value in pairs}
        return answer

    def account(self) -> Answer:
        """As the inner host."""
        answer = self.inner.account()
        if found := re.search(r"uid=(\d+)\(([^)]*)\).*groups=(.*)", answer.body or ""):
            groups = re.findall(r"\(([^)]+)\)", found[3])
            self.who |= {"uid": int(found[1]), "user": found[2], "groups": groups}
        return answer

    def recorded(self) -> list[Recorded]:
        """As the inner host."""
        return self.inner.recorded()

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
