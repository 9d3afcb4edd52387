"""`rigup bundle --json`: what was packed."""

from rigup.schemas.lock import Locked


class Bundle(Locked, frozen=True, kw_only=True, tag_field="schema", tag="rigup.bundle/1"):
    """A lock that was packed with all its files.

    Attributes:
        path: the archive.
        bytes: its size.

    """

    path: str
    bytes: int
