"""What is planted: rows of planted.toml and of the sets after it, and how one looks for it in an output."""

import contextlib
import io
import tomllib
from pathlib import Path
from typing import NamedTuple

from rigup.cli import run


class Planted(NamedTuple):
    """A line in which a thing stands that nobody else may see; `opens`: it opens a door, or nobody needs it."""

    kind: str
    opens: bool
    line: str
    thing: str


def planted() -> list[Planted]:
    """All rows of all sets."""
    here = Path(__file__)
    kinds = [
        one
        for name in ("planted.toml", "planted_second.toml", "planted_third.toml", "planted_fourth.toml", "planted_fifth.toml")
        for one in tomllib.loads(here.with_name(name).read_text("utf-8"))["kind"]
    ]
    return [Planted(one["name"], one["opens"], line % thing, thing) for one in kinds for line, thing in one["rows"]]


ALL = planted()
DOORS = [one for one in ALL if one.opens]


def left(told, things):
    """Which of the things a text still holds."""
    lower = told.lower()
    return [(one.kind, one.thing) for one in things if one.thing.lower() in lower]


def said(*argv):
    """What a command prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.suppress(SystemExit):
        run([str(word) for word in argv])
    return out.getvalue() + err.getvalue()
