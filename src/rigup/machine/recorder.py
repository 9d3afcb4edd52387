"""A recorder around any host: it passes every question on, and keeps what was answered."""

import re

from rigup.machine.host import LIMIT, Answer, Host, Recorded
from rigup.machine.snapshot import Snapshot

_LINE = re.compile(
    r"^(?P<mode>[-bcdlps][-rwxsStT]{9})\S* \d+ (?P<owner>\S+) (?P<group>\S+) \d+ (?P<path>/.*?)(?: -> (?P<target>.*))?$"
)
_TYPES = {"c": "char", "b": "block", "d": "dir"}


class Recorder:
    """A host that remembers what another host answered. It holds private things as they are."""

    def __init__(self, inner: Host) -> None:
        self.inner = inner
        self.kept = Snapshot()

    def find(self, pattern: str) -> list[str]:
        """As the inner host; what it finds is there, whether or not anybody reads it."""
        found = self.inner.find(pattern)
        self.kept.there.update(found)
        return found

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """As the inner host."""
        answer = self.inner.read(path, limit)
        if answer.body is not None:
            self.kept.files[path] = answer.body
        elif answer.state == "absent":
            self.kept.absent.add(path)
        return answer

    def link(self, path: str) -> Answer:
        """As the inner host."""
        answer = self.inner.link(path)
        if answer.body and answer.body != path:
            self.kept.links[path] = answer.body
        return answer

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """As the inner host."""
        answer = self.inner.run(argv, seconds)
        if answer.body is not None:
            self.kept.commands[argv] = answer
        return answer

    def listing(self, pattern: str) -> Answer:
        """As the inner host."""
        answer = self.inner.listing(pattern)
        for line in (answer.body or "").splitlines():
            if found := _LINE.match(line):
                self._listed(found)
        if answer.state == "absent":
            self.kept.absent.add(pattern)
        return answer

    def _listed(self, found: re.Match[str]) -> None:
        self.kept.there.add(found["path"])
        if found["target"]:
            self.kept.links[found["path"]] = found["target"]
        elif found["mode"][0] in "cb" or found["owner"] != "root":
            bits = sum(1 << 8 - place for place, letter in enumerate(found["mode"][1:]) if letter != "-")
            kind = _TYPES.get(found["mode"][0], "file")
            self.kept.nodes[found["path"]] = {
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
            self.kept.who["environment"] = {name: value for name, _equals, value in pairs}
        return answer

    def account(self) -> Answer:
        """As the inner host."""
        answer = self.inner.account()
        if found := re.search(r"uid=(\d+)\(([^)]*)\).*groups=(.*)", answer.body or ""):
            groups = re.findall(r"\(([^)]+)\)", found[3])
            self.kept.who |= {"uid": int(found[1]), "user": found[2], "groups": groups}
        return answer

    def recorded(self) -> list[Recorded]:
        """As the inner host."""
        return self.inner.recorded()
