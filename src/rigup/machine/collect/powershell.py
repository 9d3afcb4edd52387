"""The collecting script for Windows: `collect.ps1` with the readers' questions filled in.

A path that begins with a slash lies on the system's drive there, as it does for `Local`.
"""

import re
from collections.abc import Iterable
from importlib import resources

from rigup.machine.collect import private
from rigup.machine.collect.posix import MOST_FILES, SECONDS, label
from rigup.machine.collect.questions import Path_, Program, makers, paths, programs
from rigup.machine.host import LIMIT

_LISTS = {
    "HomeFolder.path": "$Homes",
    "StateFolder.path": "$States",
    "JupyterFolder.path": "$Jupyters",
    "PythonEnv.prefix": "$Environments",
}
# What helps a person who reads the stream, and what readers know as pasted texts.
_BESIDES = (("py", "-0p"), ("wsl", "--version"), ("wsl", "--status"), ("wsl", "-l", "-v"))
_SECONDS = 10.0
_ENDS = ("/pyvenv.cfg", "/conda-meta", "-packages")  # what tells a Python environment
# Of another system's files none is there; to ask for each would only take time.
_ELSEWHERE = ("/proc/", "/sys/", "/dev/", "/boot/", "/run/", "/var/lib/", "/lib/", "/System/")


def script() -> str:
    """The script that asks all that the readers declare, as far as Windows can have it."""
    asked = [path for path in paths() if not path.at("").startswith(_ELSEWHERE)]
    found = [path for path in paths(makers("PythonEnv")) if path.at("").endswith(_ENDS)]
    spots = {
        "LIMIT": str(LIMIT),
        "FILES": str(MOST_FILES),
        "SECONDS": str(SECONDS),
        "SECRET": _quoted_list(filter(str.isascii, private.secret_globs())),
        "WANTED": _quoted_list(private.wanted()),
        "BLANKINGS": _rows(private.blankings()),
        "ENDS": _quoted_list(map(_escape_regex, private.ends())),
        "BELOWFORM": _pair(private.below()),
        "BLOCKFORM": _pair(private.in_block()),
        "BLOCKS": _rows(private.blocks()),
        "KEYS": _rows(private.KEYS),
        "BLANK": private.BLANK,
        "BELOW": _quoted_list(path.after for path in found if path.hole == "HomeFolder.path"),
        "ANYWHERE": _quoted_list(path.before for path in found if not path.hole),
        "QUESTIONS": "\n".join([*_questions(asked), *map(_program, _programs())]),
    }
    text = resources.files(__package__).joinpath("collect.ps1").read_text("utf-8")
    for name, value in spots.items():
        text = text.replace("@" + name + "@", value)
    return text.replace("\n", "\r\n")


def quoted(word: str) -> str:
    """A literal string: nothing in it is expanded, quotation marks are doubled."""
    return "'" + word.replace("'", "''").replace("\u2018", "\u2018\u2018").replace("\u2019", "\u2019\u2019") + "'"


def _quoted_list(words: Iterable[str]) -> str:
    return ", ".join(map(quoted, words))


def _rows(pairs: Iterable[tuple[str, str]]) -> str:
    rows = ["@(" + _pair(pair) + ")" for pair in pairs]
    return "    " + (",\n    ".join(rows) if len(rows) > 1 else "," + rows[0])  # a list of one list would be that list


def _pair(pair: tuple[str, str]) -> str:
    r"""Expressions as .NET writes them: groups are $1, and letters beyond ASCII, which Windows PowerShell reads wrongly, \u0431."""
    form, to = pair
    return quoted(_escape_regex(form)) + ", " + quoted(re.sub(r"\\(\d)", r"${\1}", _escape_regex(to)))


def _escape_regex(form: str) -> str:
    return "".join(letter if letter.isascii() else f"\\u{ord(letter):04x}" for letter in form)


def _questions(asked: list[Path_]) -> list[str]:
    lines = [_line(path, "$Drive", "''") for path in asked if not path.hole]
    for hole, values in _LISTS.items():
        inner = ["    " + _line(path, "$Base", "$Base") for path in asked if path.hole == hole and not path.before]
        lines += ["foreach ($Base in " + values + ") {", *inner, "}"] if inner else []
    return lines


def _line(path: Path_, base: str, shown: str) -> str:
    pattern = quoted(path.after if path.hole else path.before)
    if path.listed:
        return f"Get-List {base} {shown} {pattern}"
    return f"Get-File {base} {shown} {pattern} " + ("$Most" if path.most == LIMIT else str(path.most))


def _programs() -> list[Program]:
    return [*programs(), *(Program(argv, _SECONDS, "", (), ()) for argv in _BESIDES)]


def _program(program: Program) -> str:
    line = f"Get-Said {quoted(label(program.argv))} {program.seconds:g} @({_quoted_list(program.argv)})"
    for patterns, sign in ((program.given, ""), (program.unless, "-not ")):
        if patterns:
            line = "if (" + sign + "(Test-There @(" + _quoted_list(patterns) + "))) { " + line + " }"
    return line
