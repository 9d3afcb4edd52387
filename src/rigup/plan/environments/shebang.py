"""The first lines of a script, which name its interpreter.

The kernel takes a path without spaces and of no more than some hundred letters; for others installers let a shell
start it, by lines that Python reads as a text and a shell as a command.
"""

import re
import sys

_LONGEST = 512 if sys.platform == "darwin" else 127
_PLAIN = re.compile(rb'#!(?P<path>"[^"\n]{1,4096}"|[^\s"]{1,4096})(?P<more>[^\n]{0,1000})\n')
_BY_SHELL = re.compile(
    rb"#!/bin/sh\n'''exec' (?:\"(?P<double>[^\"\n]{1,4096})\"|'(?P<single>[^'\n]{1,4096})'|(?P<bare>[^\s\"']{1,4096}))"
    rb"(?P<more>[^\n\"]{0,1000}?) \"\$0\" \"\$@\"\r?\n' '''\r?\n"
)


def scripted(data: bytes, old: bytes, new: bytes) -> bytes:
    """A script whose interpreter lies under the folder `old`, with the one under `new`; any other as it is."""
    by_shell = _BY_SHELL.match(data)
    hit = by_shell or _PLAIN.match(data)
    if hit is None:
        return data
    path = next(group for group in hit.groups() if group).strip(b'"')
    if by_shell is None:
        path = _whole(data, old) or path
    if not path.startswith((old + b"/", old + b"\\")):
        return data
    more = hit["more"] if by_shell or path in hit[0] else b""
    return head(new + path[len(old) :], more.strip()) + data[hit.end() :]


def _whole(data: bytes, old: bytes) -> bytes:
    """A path with spaces that some tool wrote plainly all the same: it ends where the program's name does."""
    line = data.partition(b"\n")[0]
    if b" " not in old or not line.startswith(b"#!" + old):
        return b""
    return old + re.split(rb"\s", line[2 + len(old) :], maxsplit=1)[0]


def head(interpreter: bytes, more: bytes = b"") -> bytes:
    """The lines that start an interpreter, with further words for it."""
    words = b" " + more if more else b""
    plain = b"#!" + interpreter + words + b"\n"
    if len(plain) <= _LONGEST + 1 and not re.search(rb"[\s\"'\\]", interpreter):
        return plain
    return b"#!/bin/sh\n'''exec' " + _quoted(interpreter) + words + b" \"$0\" \"$@\"\n' '''\n"


def _quoted(path: bytes) -> bytes:
    """For a shell, in letters that end no text of Python's in three quotes."""
    if b"'" not in path and b"\\" not in path:
        return b"'" + path + b"'"
    return b'"' + re.sub(rb'(["$`\\])', rb"\\\1", path) + b'"'
