"""`rigup watch cluster --json`: rigup.watch-cluster/1."""

from msgspec import UNSET, Struct, UnsetType

from rigup.schemas.watch import Watch


class WatchedNode(Struct, frozen=True, kw_only=True):
    """A node.

    Attributes:
        name: as it was named on the command line.
        sample: what its exporter tells; left out where it does not answer.
        because: why it does not; left out where it does.

    """

    name: str
    sample: Watch | UnsetType = UNSET
    because: str | UnsetType = UNSET


class WatchCluster(Struct, frozen=True, kw_only=True, tag_field="schema", tag="rigup.watch-cluster/1"):
    """Nodes at one moment.

    Attributes:
        time: when they were asked, in seconds of Unix time.
        nodes: in the order of the command line.

    """

    time: float
    nodes: list[WatchedNode]
