"""What a collecting script printed, read back.

A line that begins with `@` tells what comes, one that begins with `|` is what was found, and all others are
noise: a greeting, a banner, an editor's. A body ends with a full stop of ours, so that one without a last
line end is known from one with it, and with `@end`: what is cut off in the middle is not believed. Nothing
in a stream is trusted: paths stay inside, and everything has a limit.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from rigup.machine.host import LIMIT, Answer
from rigup.machine.limits import MOST_PLACED, TOO_MUCH
from rigup.machine.snapshot import Snapshot

MARK = b"@rigup-stream/"
_HEAD = 200_000  # bytes in which the mark must stand; before it may be noise
_MOST_ENTRIES = 200_000
_MOST_OF_ID = 50_000
_LONGEST, _DEEPEST, _PART = 4000, 40, 255
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LISTED = re.compile(
    r"^(?P<kind>[-bcdlps])(?P<mode>[-rwxsStT]{9})(?P<acl>[+.@]?) +\d+ +(?P<owner>\S{1,100}) +(?P<group>\S{1,100}) "
    r"(?P<size>[^/]{0,200}?)(?P<path>/.{0,4000}?)(?: -> (?P<target>.{1,4000}))?$"
)
_KINDS = {"b": "block", "c": "char", "d": "dir", "p": "fifo", "s": "socket"}
_LATE = (124, 137)  # how timeout, and a program that was ended, leave
_ESCAPED = re.compile(r"\\([\\ntr])")
_ESCAPES = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}


@dataclass
class Collected:
    """What a stream held.

    Attributes:
        snapshot: the machine's answers.
        system: posix or windows, as the script says.
        whole: the script ran to its end.
        asleep: what was not asked, for it would have woken a card.
        unasked: patterns that the script did not know how to fill.
        placed: files, folders and links that the stream names.
        refused: those beyond the most that are taken.
        above: the folders in which they stand.

    """

    snapshot: Snapshot = field(default_factory=Snapshot)
    system: str = ""
    whole: bool = False
    asleep: set[str] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)
    placed: int = 0
    refused: int = 0
    above: set[str] = field(default_factory=set)

    def fits(self, path: str) -> bool:
        """Whether one more thing is taken that stands in a file system: the tree is written to a disk, with the folders above."""
        new, above = [], path.rpartition("/")[0]
        while above and above not in self.above:
            new.append(above)
            above = above.rpartition("/")[0]
        fits = self.placed < MOST_PLACED and len(self.above) + len(new) <= MOST_PLACED
        if fits:
            self.above.update(new)
        self.placed, self.refused = self.placed + fits, self.refused + (not fits)
        return fits

    def left_out(self) -> tuple[str, ...]:
        """The number of answered files and folders that were not kept, as a trouble."""
        return (f"{self.refused} files and folders that were answered: {TOO_MUCH}",) if self.refused else ()


def is_stream(head: bytes) -> bool:
    """Whether a text is what a collecting script printed; noise may stand before it."""
    return _start(_plain(head[:_HEAD])) is not None


def parse(body: bytes) -> Collected:
    """Everything that is whole in a stream. Never raises: what is damaged is left out."""
    plain = _plain(body)
    start = _start(plain)
    reader = _Reader()
    if start is not None:
        reader.made.system = plain[start : start + 200].split(b"\n")[0].decode("ascii", "replace").partition(" ")[2][:20].strip()
        for count, line in enumerate(_lines(plain, start)):
            if count and not reader.take(line):
                break
    return reader.made


def _plain(body: bytes) -> bytes:
    """One form of line ends; PowerShell of old writes UTF-16 where its output is sent to a file."""
    if body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        body = body.decode("utf-16", "replace").encode()
    return body.removeprefix(b"\xef\xbb\xbf")


def _start(plain: bytes) -> int | None:
    """Where the first line begins that says what this is."""
    at = plain.find(MARK, 0, _HEAD)
    while at > 0 and plain[at - 1 : at] not in (b"\n", b"\r"):
        at = plain.find(MARK, at + 1, _HEAD)
    return at if at >= 0 else None


def _lines(plain: bytes, start: int) -> Iterator[bytes]:
    """Lines, without what a terminal or a mail put at their ends."""
    end = plain.find(b"\n", start)
    returned = end > 0 and plain[end - 1 : end] == b"\r"
    while start < len(plain):
        end = plain.find(b"\n", start)
        if end < 0 and not plain.startswith(b"@done ", start):
            return  # it was cut off in this line
        end = len(plain) if end < 0 else end
        line = plain[start:end]
        yield line[:-1] if returned and line.endswith(b"\r") else line
        start = end + 1


class _Reader:
    """Entries one by one. An open one is believed when it is closed."""

    def __init__(self) -> None:
        self.made = Collected()
        self.verb, self.about = "", ""
        self.body: list[bytes] = []
        self.size, self.entries = 0, 0
        self.exit: int | None = None
        self.root = ""

    def take(self, line: bytes) -> bool:
        """One line; False when nothing more is to be read."""
        if line[:1] == b"|":
            if self.verb and self.exit is None and self.size <= LIMIT:
                self.body.append(line[1:])
                self.size += len(line)
        elif line[:1] == b"@":
            return self._take_line(*line[1:].decode("utf-8", "replace").partition(" ")[::2])
        return True

    def _take_line(self, verb: str, about: str) -> bool:
        self.entries += 1
        if verb == "exit" and self.verb:
            self.exit = _number(about)
        elif verb == "end" and self.verb:
            self._close(_number(about))
            self.verb = ""
        elif verb in _OPEN:
            self.verb, self.about, self.body, self.size, self.exit = verb, about, [], 0, None
        elif verb == "root":
            self.root = about.rstrip("/")
        elif verb == "done":
            self.made.whole = _number(about) == 0
            return False
        elif keep := _SHORT.get(verb):
            keep(self.made, about)
        return self.entries < _MOST_ENTRIES

    def _close(self, status: int) -> None:
        body = b"\n".join(self.body)
        whole = self.verb != "run" or self.exit is not None
        text = (body[:-1] if whole and body.endswith(b".") else body.rstrip(b"\n")).replace(b"\xff", b"\x00")
        _OPEN[self.verb](self, text.decode("utf-8", "replace")[:LIMIT], status)

    # -- what has a body -------------------------------------------------------------------------
    def file(self, text: str, status: int) -> None:
        """A file's content; one that could not be read and said nothing was refused."""
        if path := safe(self.about):
            if status and not text:
                _add_refused(self.made, path)
            elif self.made.fits(path):
                self.made.snapshot.files[path] = text
                self.made.snapshot.looked.add(path)

    def listing(self, text: str, _status: int) -> None:
        """Lines of `ls -ld`."""
        if pattern := safe(self.about):
            self.made.snapshot.looked.add(pattern)
        for line in text.splitlines()[:20_000]:
            if (match := _LISTED.match(line)) and self.made.fits(match["path"].partition(" -> ")[0]):
                _add_node(self.made.snapshot, match, self.root)

    def run(self, text: str, _status: int) -> None:
        """What a program printed. `id` tells whose eyes these are."""
        argv = unlabelled(self.about)
        if argv == ("id",):
            self.made.snapshot.who |= {"id": text[:_MOST_OF_ID], **account(text)}
        elif self.exit in _LATE:
            self.made.snapshot.commands[argv] = Answer(None, "refused", "no answer in time", 124)
        else:
            self.made.snapshot.commands[argv] = Answer(text, exit=141 if self.exit is None else self.exit)

    def variable(self, text: str, _status: int) -> None:
        """One variable of the person's shell."""
        if re.fullmatch(r"[A-Za-z_][\w()]{0,200}", self.about):
            self.made.snapshot.who.setdefault("environment", {})[self.about] = _CONTROL.sub(" ", text)


_OPEN: dict[str, Callable[[_Reader, str, int], None]] = {
    "file": _Reader.file,
    "list": _Reader.listing,
    "run": _Reader.run,
    "variable": _Reader.variable,
}


def _add_file(collected: Collected, about: str) -> None:
    if (path := safe(about)) and collected.fits(path):
        collected.snapshot.there.add(path)
        collected.snapshot.looked.add(path)


def _add_folder(collected: Collected, about: str) -> None:
    if (path := safe(about)) and collected.fits(path):
        collected.snapshot.folders.add(path)
        collected.snapshot.looked.add(path)


def _add_looked(collected: Collected, about: str) -> None:
    if path := safe(about):
        collected.snapshot.looked.add(path)


def _add_refused(collected: Collected, about: str) -> None:
    if path := safe(about):
        collected.snapshot.refused[path] = "it may not be read"


def _add_asleep(collected: Collected, about: str) -> None:
    collected.asleep.add(about[:_LONGEST])


def _add_unasked(collected: Collected, about: str) -> None:
    collected.unasked.add(about[:_LONGEST])


def _add_absent(collected: Collected, about: str) -> None:
    if path := safe(about):
        collected.snapshot.absent.add(path)


def _add_missing(collected: Collected, about: str) -> None:
    if about:
        collected.snapshot.commands[unlabelled(about)] = Answer(None, "absent", exit=127)


def _add_variables(collected: Collected, _about: str) -> None:
    collected.snapshot.who.setdefault("environment", {})


_SHORT: dict[str, Callable[[Collected, str], None]] = {
    "there": _add_file,
    "folder": _add_folder,
    "looked": _add_looked,
    "absent": _add_absent,
    "missing": _add_missing,
    "variables": _add_variables,
    "refused": _add_refused,
    "asleep": _add_asleep,
    "unasked": _add_unasked,
}


def _add_node(snapshot: Snapshot, match: re.Match[str], root: str) -> None:
    path = safe(match["path"].removeprefix(root) if root else match["path"])
    if path is None:
        return
    if match["target"]:
        if not _CONTROL.search(match["target"]):
            inside = root and match["target"].startswith(root + "/")
            snapshot.links[path] = match["target"][len(root) :] if inside else match["target"]
        return
    kind = _KINDS.get(match["kind"], "file")
    (snapshot.folders if kind == "dir" else snapshot.there).add(path)
    if kind not in ("file", "dir") or match["owner"] != "root" or match["group"] != "root" or match["acl"] == "+":
        snapshot.nodes[path] = _node(kind, match)


def _node(kind: str, match: re.Match[str]) -> dict[str, Any]:
    """An entry of nodes.json."""
    bits = sum(1 << 8 - place for place, letter in enumerate(match["mode"]) if letter not in "-ST")
    node: dict[str, Any] = {"type": kind, "mode": f"{bits:04o}", "owner": match["owner"], "group": match["group"]}
    if numbers := re.match(r" *(\d{1,9}), +(\d{1,9}) ", match["size"]):
        node |= {"major": int(numbers[1]), "minor": int(numbers[2])}
    return node | ({"acl": ["+"]} if match["acl"] == "+" else {})


def account(text: str) -> dict[str, Any]:
    """User, number and groups of what `id` printed; a group without a name is given by its number."""
    match = re.search(r"uid=(\d{1,10})(?:\(([^)\n]{0,200})\))?[^\n]{0,300}?groups=([^\n]{0,20000})", text)
    if not match:
        return {}
    groups = [name or number for number, name in re.findall(r"(\d{1,10})(?:\(([^)\n]{1,200})\))?", match[3])]
    return {"uid": int(match[1]), "user": match[2] or match[1], "groups": groups}


def safe(path: str) -> str | None:
    """A path of the machine as a tree has it, from its root on; None for one that is no such thing."""
    if re.match(r"[A-Za-z]:[\\/]", path):  # as a variable spells it: readers ask in the same words
        path = "/" + path
    parts = [part for part in path.split("/") if part]
    sound = path.startswith("/") and parts and len(path) <= _LONGEST and len(parts) <= _DEEPEST
    if not sound or _CONTROL.search(path) or any(part in (".", "..") or len(part.encode()) > _PART for part in parts):
        return None
    return "/" + "/".join(parts)


def unlabelled(label: str) -> tuple[str, ...]:
    """The argument vector that a label spells (`posix.label`)."""
    words = label[: 4 * _LONGEST].split("\t")
    return tuple(_ESCAPED.sub(lambda match: _ESCAPES[match[1]], word) for word in words)


def _number(digits: str) -> int:
    return int(digits) if re.fullmatch(r"\d{1,6}", digits) else 1
