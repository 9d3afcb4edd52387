"""By what nodes reach each other: pure. Interfaces, ports of RDMA adapters, and what the variables of NCCL select of them.

NCCL and RCCL read the same variables. A list names beginnings; after `^` what is not to be used, after `=` whole names
(NCCL's src/misc/socket.cc and src/transport/net_ib.cc). Ports may stand behind a colon: `mlx5_0:1`.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from msgspec import UNSET, UnsetType

from rigup.cluster.differs import Differs
from rigup.machine.kinds import FileVariable, NetInterface, PeerMemory, RdmaPort, Variable
from rigup.machine.slurm.hostlist import fold
from rigup.machine.store import Facts
from rigup.schemas.nodes import SharedLink, SharedLinks

SOCKET, HCA = "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA"
_READ = (SOCKET, HCA, "GLOO_SOCKET_IFNAME", "NCCL_IB_DISABLE")
_TOLD_AS_MODULE = "nvidia-peermem"  # a difference in modules is told by itself


class Way(NamedTuple):
    """An interface or a port: whether it is up, "ethernet" or "infiniband", Mbit/s (0: not known), and its rate as it is written."""

    up: bool
    link: str
    speed: int = 0
    rate: str = ""

    def __str__(self) -> str:
        """As people read it."""
        return ", ".join(filter(None, ("up" if self.up else "down", self.link, self.rate)))


class NodeLinks(NamedTuple):
    """The interfaces and ports of a node by name, whose memory adapters read, and variables that are set."""

    interfaces: Mapping[str, Way]
    ports: Mapping[str, Way]
    memory_of: tuple[str, ...] = ()
    variables: Mapping[str, str] = {}


def links_of(facts: Facts) -> NodeLinks:
    """What a node's facts tell. Interfaces that programs made (bridges, containers) are left out."""
    interfaces = {
        str(fact.get("name")): Way(
            bool(fact.get("up")), str(fact.get("link") or "ethernet"), speed := int(fact.get("speed") or 0), _rate(speed)
        )
        for fact in facts.of(NetInterface)
        if fact.get("hardware") or fact.get("link") == "infiniband"
    }
    ports = {
        f"{fact.get('device')}:{fact.get('port')}": Way(
            fact.get("state") == "ACTIVE", str(fact.get("link") or "").lower(), _speed(rate := str(fact.get("rate") or "")), rate
        )
        for fact in facts.of(RdmaPort)
    }
    memory_of = tuple(sorted(str(fact.get("client")) for fact in facts.of(PeerMemory)))
    return NodeLinks(interfaces, ports, memory_of, _variables(facts))


def _variables(facts: Facts) -> dict[str, str]:
    """What holds of each: the environment's, else that of the person's nccl.conf, else that of the machine's."""
    files = sorted(facts.of(FileVariable), key=lambda fact: not str(fact.get("path")).startswith("/etc/"))
    of_files = [fact for fact in files if str(fact.get("path")).endswith("nccl.conf")]
    return {
        str(fact.get("name")): str(fact.get("value"))
        for fact in [*of_files, *facts.of(Variable)]
        if fact.get("name") in _READ and fact.get("value")
    }


def _rate(speed: int) -> str:
    return "" if not speed else f"{speed / 1000:g} Gb/s"


def _speed(rate: str) -> int:
    number = rate.partition(" ")[0]
    try:
        return round(float(number) * 1000) if len(number) < 8 else 0
    except (ValueError, OverflowError):
        return 0


def selected(value: str, names: Iterable[str]) -> list[str]:
    """The interfaces or ports that the value of a variable of NCCL selects."""
    unwanted = value.startswith("^")
    value = value.removeprefix("^")
    whole = value.startswith("=")
    parts = [part.partition(":") for part in value.removeprefix("=").split(",") if part]
    return [name for name in names if any(_is_meant(name, part, port, whole) for part, _colon, port in parts) != unwanted]


def _is_meant(name: str, part: str, port: str, whole: bool) -> bool:
    own, _colon, own_port = name.partition(":")
    return (own == part if whole else own.startswith(part)) and (not port or not own_port or own_port == port)


def differences(nodes: Mapping[str, NodeLinks], alike: Iterable[Iterable[str]]) -> dict[str, tuple[Differs, ...]]:
    """What of a node's links is worse than on its sisters, and variables that select nothing that is up there."""
    found: dict[str, tuple[Differs, ...]] = {}
    for names in alike:
        members = {name: nodes[name] for name in names if name in nodes}
        rows: dict[str, list[Differs]] = {name: [] for name in members}
        _compare("network", {name: node.interfaces for name, node in members.items()}, rows)
        _compare("RDMA port", {name: node.ports for name, node in members.items()}, rows)
        _compare_memory(members, rows)
        for variable, kind in ((SOCKET, _interfaces), (HCA, _ports)):
            _judge_variable(variable, kind, members, rows)
        found |= {name: tuple(own) for name, own in rows.items() if own}
    return found


def _usual(values: Iterable[Way | None], count: int) -> Way | None:
    """What more than half have; None where they do not agree, or there is one node alone."""
    value, number = Counter(values).most_common(1)[0]
    return value if number * 2 > count > 1 else None


def _compare(kind: str, nodes: Mapping[str, Mapping[str, Way]], rows: Mapping[str, list[Differs]]) -> None:
    for subject in dict.fromkeys(subject for own in nodes.values() for subject in own):
        usual = _usual((own.get(subject) for own in nodes.values()), len(nodes))
        if usual is None or not usual.up:
            continue  # what most have not connected is nobody's fault
        for name, own in nodes.items():
            if own.get(subject) != usual:
                way = own.get(subject)
                rows[name].append(Differs(f"{kind} {subject}", str(way) if way else None, str(usual)))


def _compare_memory(nodes: Mapping[str, NodeLinks], rows: Mapping[str, list[Differs]]) -> None:
    times = Counter(client for node in nodes.values() for client in node.memory_of if client != _TOLD_AS_MODULE)
    for client, number in times.items():
        for name, node in nodes.items():
            if number * 2 > len(nodes) and client not in node.memory_of:
                rows[name].append(Differs(f"GPU memory for RDMA {client}", None, "there"))


def _interfaces(node: NodeLinks) -> Mapping[str, Way]:
    return node.interfaces


def _ports(node: NodeLinks) -> Mapping[str, Way]:
    return node.ports


def _judge_variable(
    variable: str, kind: Callable[[NodeLinks], Mapping[str, Way]], nodes: Mapping[str, NodeLinks], rows: Mapping[str, list[Differs]]
) -> None:
    """A variable that selects hardware somewhere is judged everywhere; one that names what a program made is not known here."""
    chosen: dict[str, list[str]] = {}
    for name, node in nodes.items():
        if (value := node.variables.get(variable)) and node.variables.get("NCCL_IB_DISABLE", "0") == "0":
            chosen[name] = selected(value, kind(node))
    working = {name: [way for way in ways if kind(nodes[name])[way].up] for name, ways in chosen.items()}
    usual = Counter(", ".join(ways) for ways in working.values() if ways).most_common(1)
    for name, ways in working.items():
        if not ways and (usual or chosen[name]):
            fact = f"{variable}={nodes[name].variables[variable]}"
            rows[name].append(Differs(fact, "selects nothing that is up", usual[0][0] if usual else None))


def shared(nodes: Mapping[str, NodeLinks], alike: Iterable[Iterable[str]]) -> list[SharedLinks]:
    """By what all nodes of a class reach each other: what is up under one name on every one."""
    found = []
    for names in alike:
        members = {name: nodes[name] for name in names if name in nodes}
        if len(members) < 2:
            continue
        interfaces = _on_all([node.interfaces for node in members.values()])
        ports = _on_all([node.ports for node in members.values()])
        if not interfaces and not ports and not any(node.interfaces or node.ports for node in members.values()):
            continue
        memory_of = set.intersection(*(set(node.memory_of) for node in members.values()))
        found.append(
            SharedLinks(
                nodes=fold(members),
                count=len(members),
                interfaces=_rows(interfaces),
                ports=_rows(ports),
                memory_of=sorted(memory_of),
                socket=_value(_best(interfaces)[:1]),
                hca=_value(_best(ports)),
            )
        )
    return found


def _on_all(nodes: list[Mapping[str, Way]]) -> dict[str, Way]:
    """What is up on all; of a rate that differs the lowest counts."""
    names = [name for name in nodes[0] if all(name in own and own[name].up for own in nodes)]
    return {name: min((own[name] for own in nodes), key=lambda way: way.speed) for name in names}


def _best(ways: Mapping[str, Way]) -> list[str]:
    """Those of the quickest kind, InfiniBand before others of the same speed: several kinds at once would run as the slowest."""
    ranks = {name: (way.speed, way.link == "infiniband") for name, way in ways.items()}
    return [name for name, rank in ranks.items() if rank == max(ranks.values())]


def _value(names: list[str]) -> str | UnsetType:
    return "=" + ",".join(names) if names else UNSET


def _rows(ways: Mapping[str, Way]) -> list[SharedLink]:
    return [SharedLink(name=name, link=way.link, rate=way.rate or UNSET) for name, way in ways.items()]
