"""`rigup capture --json`: what went into an archive, and what was taken out."""

from msgspec import Struct


class Content(Struct, frozen=True, kw_only=True):
    """One text of a capture.

    Attributes:
        name: the path or the command.
        size: in bytes.
        taken_out: how many private things were taken out of it, by kind.

    """

    name: str
    size: int
    taken_out: dict[str, int]


class Doubtful(Struct, frozen=True, kw_only=True):
    """Something of which nobody can tell whether it is private; it is left out unless a person says otherwise.

    Attributes:
        what: "string" or "variable".
        source: the text in which it stands.

    """

    what: str
    source: str


class Capture(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.capture/1"):
    """What went into an archive.

    Attributes:
        archive: its path; None where nothing was written (`--list`).
        bytes: its size; 0 where nothing was written.
        taken_out: how many private things were taken out, by kind.
        contents: its texts, by name.
        doubtful: what nobody could decide.

    """

    archive: str | None
    bytes: int
    taken_out: dict[str, int]
    contents: list[Content]
    doubtful: list[Doubtful]
