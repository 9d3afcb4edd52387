"""`rigup lock --json`: what was written."""

from typing import Any

from msgspec import UNSET, Struct, UnsetType


class Locked(Struct, frozen=True, kw_only=True):
    """What a lock holds.

    Attributes:
        python: the version of the Python that it is for.
        wish: what was asked for; empty for an environment as it was.
        variables: that the environment needs, by name.
        made_for: what it depends on: system, drivers, devices of the machine that it was made on.
        packages: exact versions by name.
        reasons: why, by what was chosen: a package's name, "python", a variable's name.

    """

    python: str
    wish: list[str]
    variables: dict[str, str]
    made_for: dict[str, Any]
    packages: dict[str, str]
    reasons: dict[str, str]


class Lock(Locked, frozen=True, kw_only=True, tag_field="schema", tag="rigup.lock/1"):
    """What was written, and where.

    Attributes:
        path: the file; None where the lock was printed.
        text: the lock itself, where it was printed.

    """

    path: str | None
    text: str | UnsetType = UNSET
