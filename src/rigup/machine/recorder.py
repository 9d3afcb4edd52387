"""A recorder around any host: it passes every question on, and keeps what was answered."""

import posixpath
import re
from typing import Any, NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.host import LIMIT, Answer, Host, Recorded
from rigup.machine.snapshot import Snapshot

_LINE = lazy_regex(
    r"^(?P<mode>[-bcdlps][-rwxsStT]{9})(?P<acl>[+.@]?)\S* \d+ (?P<owner>\S+) (?P<group>\S+) \d+ "
    r"(?P<path>/.*?)(?: -> (?P<target>.*))?$"
)
_TYPES = {"c": "char", "b": "block", "d": "dir", "p": "fifo", "s": "socket"}
_PLAIN = {"-": "0644", "d": "0755", "l": "0777"}  # what a tree shows of itself; see Tree.listing
_BITS = "rwxrwxrwx"
_SPECIAL = {2: 0o4000, 5: 0o2000, 8: 0o1000}
_HOPS = 40
_ID = lazy_regex(r"uid=(?P<uid>\d+)\((?P<user>[^)]*)\)(?: gid=(?P<gid>\d+))?.*?groups=(?P<groups>.*)")


class Listed(NamedTuple):
    """One line of a listing."""

    letter: str  # d, l, - and so on
    mode: str
    owner: str
    group: str
    acl: bool
    target: str | None


class Recorder:
    """A host that remembers what another host answered. It holds private things as they are."""

    def __init__(self, inner: Host) -> None:
        self.inner = inner
        self.kept = Snapshot()
        self._seen: dict[str, Listed | None] = {}

    def find(self, pattern: str) -> list[str]:
        """As the inner host; what it finds is there, whether or not anybody reads it."""
        paths = self.inner.find(pattern)
        for path in paths:
            self._note(path)
        if paths:
            self.kept.looked.add(pattern)
        return paths

    def read(self, path: str, limit: int = LIMIT) -> Answer:
        """As the inner host; of several reads of one file the longest is kept."""
        answer = self.inner.read(path, limit)
        if answer.body is not None:
            self._follow(path)
            if len(answer.body) >= len(self.kept.files.get(path, "")):
                self.kept.files[path] = answer.body
        self._judged(path, answer)
        return answer

    def link(self, path: str) -> Answer:
        """As the inner host."""
        answer = self.inner.link(path)
        if answer.body is not None:
            self._follow(path)
        self._judged(path, answer)
        return answer

    def run(self, argv: tuple[str, ...], seconds: float = 5.0) -> Answer:
        """As the inner host."""
        answer = self.inner.run(argv, seconds)
        if answer.state != "unseen":
            self.kept.commands[argv] = answer
        return answer

    def listing(self, pattern: str) -> Answer:
        """As the inner host."""
        answer = self.inner.listing(pattern)
        for line in (answer.body or "").splitlines():
            if match := _LINE.match(line):
                self._keep_node(match)
        self._judged(pattern, answer)
        return answer

    def variables(self) -> Answer:
        """As the inner host."""
        answer = self.inner.variables()
        if answer.body is not None:
            self.kept.who["environment"] = pairs(answer.body)
        return answer

    def account(self) -> Answer:
        """As the inner host."""
        answer = self.inner.account()
        if answer.body is not None:
            self.kept.who["id"] = answer.body
        if match := _ID.search(answer.body or ""):
            groups = re.findall(r"\(([^)]+)\)", match["groups"])
            self.kept.who |= {"uid": int(match["uid"]), "user": match["user"], "groups": groups}
            self.kept.who |= {"gid": int(match["gid"])} if match["gid"] else {}
        return answer

    def recorded(self) -> list[Recorded]:
        """As the inner host."""
        return self.inner.recorded()

    # -- what is kept --------------------------------------------------------------------------------
    def _judged(self, question: str, answer: Answer) -> None:
        """Keep that something is there, is not, or may not be read; of what nobody saw nothing is known."""
        if answer.state == "known":
            self.kept.looked.add(question)
        elif answer.state == "absent":
            self.kept.absent.add(question)
        elif answer.state == "refused":
            self.kept.refused[question] = answer.why

    def _keep_node(self, match: re.Match[str]) -> None:
        path, line = match["path"], _listed_line(match)
        self._seen[path] = line
        self._note(path)
        plain = (line.owner, line.group) == ("root", "root") and _PLAIN.get(line.letter) == line.mode
        if (not plain or line.acl) and line.letter != "l":
            self.kept.nodes.setdefault(path, _node(line))
        elif line.letter == "l" and (line.owner, line.group) != ("root", "root"):
            self.kept.nodes.setdefault(path, {"owner": line.owner, "group": line.group})

    def _note(self, path: str) -> None:
        """Something is there: the links on the way to it are kept, and what it is."""
        real = self._follow(posixpath.dirname(path)) + "/" + posixpath.basename(path)
        line = self._line(real)
        if line and line.letter == "l":
            self.kept.links[real] = line.target or ""
        elif line and line.letter == "d":
            self.kept.folders.add(real)
        else:
            self.kept.there.add(real)

    def _follow(self, path: str) -> str:
        """Where a path leads; every link on the way is kept as it is."""
        parts, done, hops = [part for part in path.split("/") if part], "", 0
        while parts:
            part = parts.pop(0)
            line = self._line(done + "/" + part) if part not in (".", "..") else None
            if part == "..":
                done = posixpath.dirname(done).rstrip("/")
            elif line and line.target and hops < _HOPS:
                self.kept.links[done + "/" + part] = line.target
                hops, done = hops + 1, "" if line.target.startswith("/") else done
                parts = [step for step in line.target.split("/") if step] + parts
            else:
                done += "" if part == "." else "/" + part
        return done

    def _line(self, path: str) -> Listed | None:
        """What is at a path, asked for once."""
        if path not in self._seen:
            body = self.inner.listing(path).body if not set("*?[") & set(path) else None
            match = _LINE.match(body or "")
            self._seen[path] = _listed_line(match) if match else None
        return self._seen[path]


def _listed_line(match: re.Match[str]) -> Listed:
    letters = match["mode"][1:]
    mode = sum(1 << 8 - place for place, bit in enumerate(_BITS) if letters[place] in (bit, "s", "t"))
    mode |= sum(bit for place, bit in _SPECIAL.items() if letters[place] in "sStT")
    return Listed(match["mode"][0], f"{mode:04o}", match["owner"], match["group"], match["acl"] == "+", match["target"])


def _node(line: Listed) -> dict[str, Any]:
    """A row of nodes.json."""
    node = {"type": _TYPES.get(line.letter, "file"), "mode": line.mode, "owner": line.owner, "group": line.group}
    return {**node, "acl": ["+"]} if line.acl else node


def pairs(body: str) -> dict[str, str]:
    """Variables as `env` prints them. A value may have lines; what looks like a name said twice is such a line."""
    variables: dict[str, str] = {}
    last = ""
    for line in body.split("\n"):
        name, equals, value = line.partition("=")
        if equals and name and name not in variables:
            variables[name], last = value, name
        elif last:
            variables[last] += "\n" + line
    return variables
