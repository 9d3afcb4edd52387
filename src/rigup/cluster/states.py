"""A node's state in one word, and what of it can be used."""

from collections.abc import Collection, Iterable

from rigup.machine.slurm.values import Node, Reservation
from rigup.schemas.cluster import NodeState

_DOWN = frozenset(
    ("DOWN", "FAIL", "FAILING", "ERROR", "NOT_RESPONDING", "INVALID_REG", "FUTURE", "REBOOT_ISSUED", "POWERING_DOWN", "DYNAMIC_FUTURE")
)
_ORDER: tuple[tuple[NodeState, frozenset[str]], ...] = (
    ("down", _DOWN),
    ("drained", frozenset(("DRAIN", "DRAINED", "DRAINING", "REBOOT_REQUESTED"))),
    ("maintenance", frozenset(("MAINTENANCE",))),
    ("reserved", frozenset(("RESERVED",))),
    ("planned", frozenset(("PLANNED",))),
    ("allocated", frozenset(("ALLOCATED", "COMPLETING"))),
    ("mixed", frozenset(("MIXED",))),
    ("idle", frozenset(("IDLE",))),
)
UP: frozenset[str] = frozenset(("idle", "mixed", "allocated", "planned", "reserved", "maintenance"))


def state_of(node: Node) -> NodeState:
    """The word: what keeps jobs away comes before what runs there."""
    states = set(node.states)
    return next((word for word, marks in _ORDER if states & marks), "unknown")


def reserved_nodes(reservations: Iterable[Reservation], now: int, user: str, accounts: Collection[str]) -> set[str]:
    """Nodes that a reservation in force keeps from this user."""
    closed: set[str] = set()
    for reservation in reservations:
        yours = user in reservation.users or bool(set(accounts) & set(reservation.accounts))
        if not yours and (reservation.start or 0) <= now < (reservation.end or 1 << 62):
            closed.update(reservation.nodes)
    return closed
