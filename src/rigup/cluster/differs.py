"""How a node is not as its sisters."""

from typing import NamedTuple


class Differs(NamedTuple):
    """A fact of a node that is not as on its sisters. None: it is not there."""

    fact: str
    value: str | None
    usual: str | None
