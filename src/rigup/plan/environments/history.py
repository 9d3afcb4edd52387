"""What happened to an environment: plans that rigup took, and revisions that conda has written down."""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from rigup.plan.applying import journal
from rigup.plan.applying.state import state_of
from rigup.plan.environments.folder import Environment
from rigup.schemas.env import Happened

_MOST_TEXT = 5_000_000
_MOST = 2_000
_HEAD = re.compile(r"==> (\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d)[^<\n]{0,30} <==")


def history(environment: Environment) -> list[Happened]:
    """All that is written down, oldest first. Never raises: a record that cannot be read is passed by."""
    return sorted((*_of_rigup(environment.path), *_of_conda(environment.path)), key=lambda event: event.at.replace(" ", "T"))


def _of_rigup(path: Path) -> Iterator[Happened]:
    real = os.path.realpath(path)
    for record in journal.records()[-_MOST:]:
        with suppress(journal.JournalError, OSError, ValueError):
            intent = record.intent()
            if intent.environment and os.path.realpath(intent.environment) == real:
                yield Happened(
                    at=_plain(intent.made_at),
                    by="rigup",
                    ident=record.folder.name,
                    what=_plain(intent.title),
                    state=state_of(record),
                    added=[],
                    removed=[],
                )


def _of_conda(path: Path) -> Iterator[Happened]:
    try:
        with open(path / "conda-meta" / "history", encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_TEXT)
    except OSError:
        return
    heads = list(_HEAD.finditer(text))[:_MOST]
    ends = [hit.start() for hit in heads[1:]] + [len(text)]
    for number, (hit, end) in enumerate(zip(heads, ends, strict=True)):
        yield _revision(number, hit[1], text[hit.end() : end].splitlines())


def _revision(number: int, at: str, lines: list[str]) -> Happened:
    command = next((line.partition(":")[2].strip() for line in lines if line.startswith("# cmd:")), "")
    added, removed = ([_plain(line[1:]) for line in lines if line.startswith(sign)] for sign in "+-")
    return Happened(at=at, by="conda", ident=str(number), what=_plain(command), state="", added=added, removed=removed)


def _plain(text: str) -> str:
    """A line for a terminal: what is written in files may hold anything."""
    return "".join(letter for letter in text[:500] if letter.isprintable())
