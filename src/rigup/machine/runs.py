"""Which programs a pasted session starts, and where what each printed begins and ends."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.texts import typed_part

_MOST = 2000  # commands of one text
_BEFORE = lazy_regex(r"(?:(?:sudo(?: -\w+)*|time|nohup|env|exec|[A-Z][A-Z0-9_]*=\S*) +)+")
_INSTALLS = lazy_regex(
    r"(?:python[\d.]* -m +)?(?:uv +)?(?:pip[\d.]*|conda|mamba|micromamba|uv|pixi|poetry|apt(?:-get)?|dnf|yum|pacman|zypper)\b[^\n]{0,60}?"
    r"\b(?:install|uninstall|remove|add|sync|update|upgrade|-S)\b"
)
_VALUE = lazy_regex(r"-{1,2}[\w-]+=?")
_PYTHON = lazy_regex(r"(?:\S*/)?python[\d.]*(?:\.exe)?\Z")


class Run(NamedTuple):
    """What somebody typed: what is started, and the lines from the typed one to before the next, counted from 0."""

    program: str
    first: int
    end: int
    installs: bool


def runs(lines: list[str]) -> list[Run]:
    """The commands of a session, in order; one of which nobody knows what it starts has no program."""
    typed = [(number, text) for number, line in enumerate(lines) if (text := typed_part(line)) is not None][:_MOST]
    ends = [*(number for number, _ in typed[1:]), *([len(lines)] if typed else ())]
    return [
        Run(_program(text), number, end, _INSTALLS.match(_bare(text)) is not None) for (number, text), end in zip(typed, ends, strict=True)
    ]


def without_stale(body: str) -> str:
    """The text without what a program printed before packages were changed and it was started again; lines keep their numbers."""
    lines = body.split("\n")
    session_runs = runs(lines)
    if not any(run.installs for run in session_runs):
        return body
    last_change = max(run.first for run in session_runs if run.installs)
    again = {run.program for run in session_runs if run.program and run.first > last_change}
    for run in session_runs:
        if run.program in again and run.first < last_change:
            lines[run.first : run.end] = [""] * (run.end - run.first)
    return "\n".join(lines)


def _bare(command: str) -> str:
    return _BEFORE.sub("", command.strip(), count=1) if _BEFORE.match(command.strip()) else command.strip()


def _program(command: str) -> str:
    """The program and what it runs: `python train.py`, `python -m x`, `python -c`, `docker run`."""
    words = _bare(command).split()
    if not words or not re.match(r"[\w./~\\:-]+\Z", words[0]):
        return ""
    if _PYTHON.match(words[0]):
        return "python " + next(_of_python(words[1:]), "")
    named = next((word for word in words[1:] if not _VALUE.match(word)), "")
    return f"{words[0].rpartition('/')[2]} {named}".strip()


def _of_python(words: list[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        if word in ("-m", "-c"):
            yield word + (" " + words[at + 1] if word == "-m" and at + 1 < len(words) else "")
        elif not word.startswith("-"):
            yield word
