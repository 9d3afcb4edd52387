"""What messages about a card's memory say in figures, in bytes."""

from rigup.diagnosis.causes.memory_sizes import GIB, size
from rigup.diagnosis.rule import wordings
from rigup.machine.kinds import Symptom

_ASYNC = "torch-async-out-of-memory"  # CUDA's own pool: it reserves nothing beside what it gave
OUT = wordings(tag="torch-out-of-memory")
_OVERHEAD = 1.5 * GIB  # what a context and its libraries hold beside the allocator
_REST = 0.03  # share of a card below which what is reserved and not used is a mere rest
WRAPPED = 1 << 60  # bytes; a count below nought, written without its sign, is beyond any memory


class Figures:
    """What one message says of a card's memory, in bytes; None where it does not tell."""

    def __init__(self, symptom: Symptom) -> None:
        self.wanted, self.total, self.free = (size(symptom.get(name)) for name in ("wanted", "total", "free"))
        self.over = self.free is not None and self.free >= WRAPPED  # more is in use than there is
        self.free = 0.0 if self.over else self.free
        self.allocated, self.slack, self.mine = (size(symptom.get(name)) for name in ("allocated", "slack", "mine"))
        reserved = size(symptom.get("reserved"))
        if self.slack is None and reserved is not None and self.allocated is not None:
            differs = reserved < self.allocated  # up to 1.3 "cached" was what is held beside the allocated
            self.slack = reserved if differs else reserved - self.allocated
        if symptom.get("id") == _ASYNC:
            self.slack = 0.0

    @property
    def told(self) -> bool:
        """Whether the message has figures at all."""
        return None not in (self.wanted, self.total, self.free, self.allocated, self.slack)

    @property
    def others(self) -> float:
        """What neither is free nor belongs to the process that failed.

        In a container the driver may not know what that process holds, and tells less than torch has allocated.
        """
        allocated = self.allocated or 0
        known = self.mine is not None and self.mine >= allocated
        own = (self.mine or 0) if known else allocated + (self.slack or 0) + _OVERHEAD
        return max((self.total or 0) - (self.free or 0) - own, 0.0)

    def includes(self, held: float) -> bool:
        """Whether a process that holds so much is the one that failed.

        In a container it does not know its own number: there is then no room on the card for both.
        """
        if None in (self.total, self.free, self.allocated, self.slack):
            return False
        own, used = (self.allocated or 0) + (self.slack or 0), (self.total or 0) - (self.free or 0)
        return held >= own * 0.98 and held + own > used * 1.05

    @property
    def taken(self) -> bool:
        """Others hold more than was asked for, and a good part of the card."""
        return self.told and self.others > (self.wanted or 0) and self.others > 0.2 * (self.total or 0)

    @property
    def roomy(self) -> bool:
        """Far more is free than was asked for, and a good part of the card."""
        free = self.free or 0
        return self.told and free > 2 * (self.wanted or 0) and free > 0.25 * (self.total or 0)

    @property
    def beyond(self) -> bool:
        """More than the whole card, were it all in one piece: Windows lends a program main memory, and counts it as reserved."""
        return self.told and (self.over or (self.allocated or 0) + (self.wanted or 0) > (self.total or 0))

    @property
    def in_pieces(self) -> bool:
        """What is reserved and not used would do, and is not a mere rest."""
        slack = self.slack or 0
        return self.told and not self.beyond and slack >= (self.wanted or 0) and slack >= 0.12 * (self.total or 0)

    @property
    def would_do(self) -> bool:
        """What is reserved and not used would do: it is more than a rest, or what is free makes up for the difference."""
        wanted, slack, total = self.wanted or 0, self.slack or 0, self.total or 0
        alone = slack >= max(wanted, _REST * total)
        joined = slack + (self.free or 0) >= wanted and slack >= 0.12 * total
        return self.told and not self.beyond and not self.in_pieces and (alone or joined)

    @property
    def own(self) -> bool:
        """The work itself fills the card, and no order of its pieces would give what it asked for."""
        wanted, slack, total = self.wanted or 0, self.slack or 0, self.total or 0
        rest = slack < _REST * total or slack + (self.free or 0) < wanted
        return self.beyond or (rest and (self.allocated or 0) + slack > 0.75 * total)
