"""What is planted: rows of planted.toml."""

import tomllib
from pathlib import Path
from typing import NamedTuple


class Planted(NamedTuple):
    """A line in which a thing stands that nobody else may see; `opens`: it opens a door, or nobody needs it."""

    kind: str
    opens: bool
    line: str
    thing: str


def planted() -> list[Planted]:
    """All rows."""
    kinds = tomllib.loads(Path(__file__).with_name("planted.toml").read_text("utf-8"))["kind"]
    return [Planted(one["name"], one["opens"], line % thing, thing) for one in kinds for line, thing in one["rows"]]
