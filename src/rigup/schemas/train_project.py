"""`rigup train new --json`: a project that was made."""

from typing import Literal

from msgspec import Struct


class TrainNew(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.train-new/1"):
    """A project that was made.

    Attributes:
        kind: minimal, complete or lora.
        folder: where it lies.
        files: paths within it.
        next: commands, in order, to be given in the folder.

    """

    kind: Literal["minimal", "complete", "lora"]
    folder: str
    files: list[str]
    next: list[str]
