"""What is told of the nodes of a cluster when all are asked: who differs, who is slow, who computes wrong."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType


class NodeDiffers(Struct, frozen=True, kw_only=True):
    """A fact of nodes that is not as on their sisters.

    Attributes:
        fact: what it is.
        value: on these nodes; None: it is not there.
        usual: on most nodes that should be alike.

    """

    fact: str
    value: str | None
    usual: str | None


class NodeGroup(Struct, frozen=True, kw_only=True):
    """Nodes of a cluster of which the same is to be said.

    Attributes:
        nodes: ranges of names.
        count: how many they are.
        findings: ids of what is wrong with each; the doctor's `findings` tell more, with the node as `place`.
        differs: what is not as on their sisters.

    """

    nodes: list[str]
    count: int
    findings: list[str]
    differs: list[NodeDiffers]


class NodeNotAsked(Struct, frozen=True, kw_only=True):
    """Nodes of a cluster that gave no answer.

    Attributes:
        nodes: ranges of names.
        because: why.

    """

    nodes: list[str]
    because: str


class NodesVerified(Struct, frozen=True, kw_only=True):
    """Nodes of a cluster on which the same was proven.

    Attributes:
        nodes: ranges of names.
        count: how many they are.
        state: unknown: nothing could be proven.
        framework: which torch computed.
        devices: as torch calls them.
        failed: checks that were not passed, each after its device.
        because: why it failed, or why nothing was proven.

    """

    nodes: list[str]
    count: int
    state: Literal["verified", "failed", "unknown"]
    framework: str | UnsetType = UNSET
    devices: list[str]
    failed: list[str]
    because: str | UnsetType = UNSET


class DiskSpeed(Struct, frozen=True, kw_only=True):
    """The disk of a folder on a node.

    Attributes:
        node: its name.
        folder: its path there.
        write: bytes a second, each block forced to the disk.
        read: bytes a second, without the kernel's copy where it could be dropped.
        slow: whether either is far below the median.
        because: why there is no rate.

    """

    node: str
    folder: str
    write: int | UnsetType = UNSET
    read: int | UnsetType = UNSET
    slow: bool
    because: str | UnsetType = UNSET


class LinkSpeed(Struct, frozen=True, kw_only=True):
    """An all-reduce between two nodes.

    Attributes:
        nodes: both names.
        backend: gloo, nccl or rccl.
        rate: bytes reduced a second, of the quickest of several.
        bad: slow, wrong, or not come about.
        alone: whether it is bad although both nodes are well with others.
        because: why there is no rate.

    """

    nodes: list[str]
    backend: str
    rate: int | UnsetType = UNSET
    bad: bool
    alone: bool
    because: str | UnsetType = UNSET


class UsualSpeed(Struct, frozen=True, kw_only=True):
    """A median over nodes or links.

    Attributes:
        of: what was measured.
        rate: bytes a second.

    """

    of: str
    rate: int


class SharedLink(Struct, frozen=True, kw_only=True):
    """An interface, or a port of an RDMA adapter, that is up under this name on every one of several nodes.

    Attributes:
        name: `ib0`, or `mlx5_0:1` for port 1 of an adapter.
        link: ethernet or infiniband; an Ethernet port of an RDMA adapter is RoCE.
        rate: as the kernel writes it; of a rate that differs the lowest.

    """

    name: str
    link: str
    rate: str | UnsetType = UNSET


class SharedLinks(Struct, frozen=True, kw_only=True):
    """By what nodes of a cluster that should be alike reach each other.

    Attributes:
        nodes: ranges of names.
        count: how many they are.
        interfaces: that are up on all of them; bridges and the like are left out.
        ports: of RDMA adapters, that are up on all of them.
        memory_of: whose memory those adapters read without the processor, on all of them (nvidia-peermem, amdkfd).
        socket: a value of NCCL_SOCKET_IFNAME that leads to the quickest of the interfaces on each node.
        hca: a value of NCCL_IB_HCA that leads to the quickest ports of one kind on each node.

    """

    nodes: list[str]
    count: int
    interfaces: list[SharedLink]
    ports: list[SharedLink]
    memory_of: list[str]
    socket: str | UnsetType = UNSET
    hca: str | UnsetType = UNSET


class Deep(Struct, frozen=True, kw_only=True):
    """What was measured on nodes and between them.

    Attributes:
        margin: how many times below the median a rate is called slow.
        verified: nodes by what was proven on them.
        disks: of every node and folder.
        links: of every pair that was measured.
        usual: medians; of fewer than three rates there is none.

    """

    margin: float
    verified: list[NodesVerified]
    disks: list[DiskSpeed]
    links: list[LinkSpeed]
    usual: list[UsualSpeed]
