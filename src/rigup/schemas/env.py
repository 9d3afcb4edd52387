"""`rigup env list|show|history|clean --json`: environments and what becomes of them."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class Listed(Struct, frozen=True, kw_only=True):
    """An environment in the list.

    Attributes:
        name: as commands take it.
        path: its folder.
        kind: what made it ("venv", "conda").
        python: the version of its Python; "" where nothing tells.
        made_by_rigup: whether a record of rigup's lies in it.
        active: whether it is active in this shell.
        fault: what is wrong with it, as a sentence; None for nothing.
        bytes: all that it takes on the disk; left out with `--no-size`.
        shared_bytes: the part of that which other environments share.

    """

    name: str
    path: str
    kind: str
    python: str
    made_by_rigup: bool
    active: bool
    fault: str | None
    bytes: int | UnsetType = UNSET
    shared_bytes: int | UnsetType = UNSET


class EnvironmentList(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.env/1"):
    """`rigup env list`.

    Attributes:
        environments: those that can be found.

    """

    environments: list[Listed]


class EnvironmentShown(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.env/1"):
    """`rigup env show`.

    Attributes:
        path: its folder.
        kind: what made it ("venv", "conda").
        python: the version of its Python; "" where nothing tells.
        base: the folder of the Python that it was made of; None where nothing tells.
        bytes: all that it takes on the disk.
        shared_bytes: the part of that which other environments share.
        made_by_rigup: whether a record of rigup's lies in it.
        fault: what is wrong with its record, as a sentence; None for nothing.
        wish: what it was made for.
        made_at: when, ISO 8601; None where there is no record.
        plan: the run of the journal that made it; None where there is no record.
        variables: that a program in it gets, by name.
        packages: versions by name.
        made_for: what it depends on, as it was when it was made: system, drivers, devices.
        differences: what is otherwise now, as sentences.

    """

    path: str
    kind: str
    python: str
    base: str | None
    bytes: int
    shared_bytes: int
    made_by_rigup: bool
    fault: str | None
    wish: list[str]
    made_at: str | None
    plan: str | None
    variables: dict[str, str]
    packages: dict[str, str]
    made_for: dict[str, Any]
    differences: list[str]


class Happened(Struct, frozen=True, kw_only=True):
    """Something that happened to an environment.

    Attributes:
        at: when, as it was written down: rigup's in UTC, conda's in the time of its machine.
        by: "rigup" or "conda".
        ident: the record of `rigup undo`, or the number of conda's revision.
        what: a title, or the command line.
        state: how it ended, of rigup's; else "".
        added: packages that came, of conda's.
        removed: packages that went, of conda's.

    """

    at: str
    by: str
    ident: str
    what: str
    state: str
    added: list[str]
    removed: list[str]


class EnvironmentHistory(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.env/1"):
    """`rigup env history`.

    Attributes:
        path: the environment's folder.
        history: the oldest first.

    """

    path: str
    history: list[Happened]


class Leftover(Struct, frozen=True, kw_only=True):
    """A folder that was left beside environments.

    Attributes:
        path: of the folder.
        bytes: that it takes.
        kept_for_undo: whether it is an environment that was replaced; else one that was never finished.

    """

    path: str
    bytes: int
    kept_for_undo: bool


class Leftovers(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.env/1"):
    """`rigup env clean`.

    Attributes:
        leftovers: what was found.
        bytes: of all of them.
        removed: whether they are gone.

    """

    leftovers: list[Leftover]
    bytes: int
    removed: bool
