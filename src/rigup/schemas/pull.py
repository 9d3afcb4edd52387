"""`rigup pull --json`: what was loaded, or why not."""

from typing import Literal

from msgspec import Struct


class Loaded(Struct, frozen=True, kw_only=True):
    """A file of a model.

    Attributes:
        name: in its repository.
        bytes: of all of it.
        checksum: SHA-256, or git's name of the blob (40 digits) for small files.
        came_before: bytes of it that were there already.

    """

    name: str
    bytes: int
    checksum: str
    came_before: int


class OtherType(Struct, frozen=True, kw_only=True):
    """Another type of the same model.

    Attributes:
        file: its first file.
        type: as its name tells.
        bytes: of all its files.
        fits: it runs here; None where nobody can tell.
        runs_on: where its layers would lie.

    """

    file: str
    type: str
    bytes: int
    fits: bool | None
    runs_on: Literal["gpu", "both", "cpu"]


class Pull(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.pull/1"):
    """What became of a model that was asked for.

    Attributes:
        verdict: "there" is on this machine already, "possible" would be loaded (`--dry-run`), "does-not-fit" was not loaded.
        name: by which other commands find it.
        source: whose store it lies in, or would.
        path: what an engine is given; None where nothing was loaded.
        commit: of the repository.
        files: all of them.
        bytes: of all files.
        to_come: bytes that would have to come, or had to.
        free: bytes where they go, before anything came.
        fits: it runs here; None where nobody can tell.
        because: why nobody can.
        quantisation: the type of the file.
        runs_on: where its layers would lie.
        context: tokens with which that was reckoned.
        tokens_per_second: that it probably writes here.
        others: other types of the same repository, where this one does not fit.
        notes: what was taken for granted.

    """

    verdict: Literal["pulled", "there", "possible", "does-not-fit"]
    name: str
    source: str
    path: str | None
    commit: str | None
    files: list[Loaded]
    bytes: int
    to_come: int
    free: int
    fits: bool | None
    because: str | None
    quantisation: str | None
    runs_on: Literal["gpu", "both", "cpu"] | None
    context: int | None
    tokens_per_second: float | None
    others: list[OtherType]
    notes: list[str]
