"""A long queue replayed once, for clusters on which planning node by node would take too long.

A node is as many slots as it has GPUs; a job takes the slots on each of its nodes that are free first, in the order of the
queue. What waits idle before a job with several nodes is kept as a hole, into which shorter jobs may go. Processors and
memory are counted as the GPUs that their share of a node stands for. Each placement costs a few steps of a heap.
"""

import heapq
from collections.abc import Sequence

from rigup.train.advise.inputs import Job, Node, Reservation

SHORTEST = 300.0
"""Seconds from which on it is worth while to remember a hole."""
HOLES = 32
"""Holes of a partition and type that are looked through for each job."""


class Backlog:
    """When slots of alike nodes of a partition are free."""

    def __init__(self, nodes: Sequence[Node], now: float, reservations: Sequence[Reservation]) -> None:
        self.now = now
        self.nodes = [node for node in nodes if node.up]
        self.number = {node.name: place for place, node in enumerate(self.nodes)}
        self.size = [max(1, sum(node.gpus.values())) for node in self.nodes]
        self.free = [[now] * size for size in self.size]
        self.reserved: dict[int, list[Reservation]] = {}
        for kept in reservations:
            for name in kept.nodes:
                if (place := self.number.get(name)) is not None:
                    self.reserved.setdefault(place, []).append(kept)
        self.queues: dict[tuple[str, str, int], list[tuple[float, int]]] = {}
        self.sizes: dict[tuple[tuple[str, ...], str, int, int, int], tuple[list[tuple[float, int]], int]] = {}
        self.holes: dict[tuple[str, str], list[tuple[float, float, int, int]]] = {}

    def slots(self, job: Job, place: int) -> int:
        """Slots of a node that a job takes."""
        node, size = self.nodes[place], self.size[place]
        slots = max(job.gpus, 1)
        if job.cpus * size > slots * node.cpus:
            slots = -(-job.cpus * size // max(1, node.cpus))
        if job.memory * size > slots * node.memory:
            slots = -(-job.memory * size // max(1, node.memory))
        return min(size, slots)

    def hold(self, job: Job, end: float) -> None:
        """A running job has its slots until then."""
        for name in job.on:
            place = self.number.get(name)
            if place is not None:
                slots = self.slots(job, place)
                self.free[place][:slots] = [end] * slots
                self.free[place].sort()

    def _queue(self, job: Job) -> tuple[list[tuple[float, int]], int]:
        """A heap of nodes by the moment from which a request of that size fits (it may be too early), and the size in slots."""
        asked = (job.partitions, job.gpu, job.gpus, job.cpus, job.memory)
        if (known := self.sizes.get(asked)) is None:
            partition = job.partitions[0]
            fitting = [
                at
                for at, node in enumerate(self.nodes)
                if partition in node.partitions
                and (node.gpus.get(job.gpu, 0) if job.gpu else self.size[at]) >= job.gpus
            ]
            slots = self.slots(job, fitting[0]) if fitting else 1
            key = (partition, job.gpu, slots)
            if key not in self.queues:
                self.queues[key] = [(self.free[at][slots - 1], at) for at in fitting if self.size[at] >= slots]
                heapq.heapify(self.queues[key])
            known = self.sizes[asked] = (self.queues[key], slots)
        return known

    def earliest(self, job: Job, from_: float) -> tuple[float, list[int]] | None:
        """When a job starts, and on which nodes; None where it never can. Its nodes are taken off their heap."""
        (queue, slots), free = self._queue(job), self.free
        found: list[tuple[float, int]] = []
        if len(queue) < job.nodes:
            return None
        last = slots - 1
        while len(found) < job.nodes:
            moment, place = queue[0]
            true = free[place][last]
            if true > moment:  # something else was put there meanwhile
                heapq.heapreplace(queue, (true, place))
            else:
                found.append(heapq.heappop(queue))
        start = max(from_, job.begin, found[-1][0])
        places = [place for _, place in found]
        return (max(self._after(place, start, job) for place in places) if self.reserved else start), places

    def _after(self, place: int, start: float, job: Job) -> float:
        for kept in sorted(self.reserved.get(place, ()), key=lambda kept: kept.start):
            if kept.name != job.reservation and start < kept.end and start + job.limit > kept.start:
                start = kept.end
        return start

    def put_back(self, job: Job, places: Sequence[int]) -> None:
        """Nodes that were looked at and not taken."""
        queue, slots = self._queue(job)
        for place in places:
            heapq.heappush(queue, (self.free[place][slots - 1], place))

    def place(self, job: Job, length: float, start: float, places: Sequence[int]) -> None:
        """Take what a job needs, and note what waits idle before it."""
        queue, slots = self._queue(job)
        holes = self.holes.setdefault((job.partitions[0], job.gpu), [])
        for place in places:
            free = self.free[place]
            before = free[slots - 1]
            if start - before > SHORTEST and len(holes) < HOLES:
                holes.append((before, start, place, slots))
            free[:slots] = [start + length] * slots
            free.sort()
            heapq.heappush(queue, (free[slots - 1], place))

    def filled(self, job: Job, length: float, from_: float, keep: bool = False) -> float | None:
        """Put a job of one node into a hole; when it starts there, None where none is long and wide enough. `keep`: only look."""
        holes = self.holes.get((job.partitions[0], job.gpu))
        if job.nodes > 1 or not holes:
            return None
        earliest = max(job.begin, from_)
        found, best = -1, 0.0
        for number, (start, end, _place, slots) in enumerate(holes):
            begin = max(earliest, start)
            if job.gpus <= slots and begin + length <= end and (found < 0 or begin < best):
                found, best = number, begin
        if found < 0 or self.slots(job, holes[found][2]) > holes[found][3]:
            return None
        if not keep:
            _start, end, place, slots = holes.pop(found)
            if end - best - length > SHORTEST:
                holes.append((best + length, end, place, slots))
        return best
