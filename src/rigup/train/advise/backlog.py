"""A long queue replayed once, for clusters on which planning node by node would take too long.

A node is as many slots as it has GPUs; a job takes the slots on each of its nodes that are free first, in the order of the
queue. What waits idle before a job with several nodes is kept as a hole, into which shorter jobs may go. Processors and
memory are counted as the GPUs that their share of a node stands for. Each placement costs a few steps of a heap.

What nodes and requests are is worked out once for a queue (`Layout`); each replay of it is a `Backlog`.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from rigup.train.advise.inputs import Job, Node, Reservation
from rigup.train.advise.waiting import REQUEUE_WAIT, Key, Mine, Queue, Run, Throttles

SHORTEST = 300.0
"""Seconds from which on it is worth while to remember a hole."""
HOLES = 32
"""Holes of a partition and type that are looked through for each job."""
_ROUNDING = 1e-3  # seconds by which differences of moments are off at most
_Heap = list[tuple[float, int]]
_Hole = tuple[float, float, int, int]  # from, to, node, slots


class _Ask(NamedTuple):
    """A request as the backlog sees it: which nodes could give it, its slots on each, and which holes are of its kind."""

    fitting: int
    slots: int
    holes: tuple[str, str]


class Layout:
    """Nodes that are up as slots, and requests as numbers of slots; the same for every replay of a queue."""

    def __init__(self, nodes: Sequence[Node], reservations: Sequence[Reservation], running: Sequence[Job] = ()) -> None:
        self.nodes = [node for node in nodes if node.up]
        self.number = {node.name: place for place, node in enumerate(self.nodes)}
        self.size = [max(1, sum(node.gpus.values())) for node in self.nodes]
        self.reserved: dict[int, list[Reservation]] = {}
        for kept in sorted(reservations, key=lambda kept: kept.start):
            for name in kept.nodes:
                if (place := self.number.get(name)) is not None:
                    self.reserved.setdefault(place, []).append(kept)
        self.fitting: list[tuple[int, ...]] = []  # nodes of each heap
        self._heaps: dict[tuple[int, tuple[int, ...]], int] = {}  # by slots and nodes
        self._asks: dict[tuple[str, str, int, int, int], _Ask] = {}
        self.held = [self._held(job) for job in running]

    def _held(self, job: Job) -> list[tuple[int, int]]:
        """Places and slots of a running job."""
        places = [self.number[name] for name in job.on if name in self.number]
        return [(place, self.slots(job, place)) for place in places]

    def slots(self, job: Job, place: int) -> int:
        """Slots of a node that a job takes."""
        node, size = self.nodes[place], self.size[place]
        slots = max(job.gpus, 1)
        if job.cpus * size > slots * node.cpus:
            slots = -(-job.cpus * size // max(1, node.cpus))
        if job.memory * size > slots * node.memory:
            slots = -(-job.memory * size // max(1, node.memory))
        return min(size, slots)

    def ask(self, job: Job) -> _Ask:
        """A job's request; equal ones are worked out once."""
        key = (job.partitions[0], job.gpu, job.gpus, job.cpus, job.memory)
        if (known := self._asks.get(key)) is None:
            known = self._asks[key] = self._new(job)
        return known

    def _new(self, job: Job) -> _Ask:
        partition = job.partitions[0]
        fitting = [
            place
            for place, node in enumerate(self.nodes)
            if partition in node.partitions and (node.gpus.get(job.gpu, 0) if job.gpu else self.size[place]) >= job.gpus
        ]
        slots = self.slots(job, fitting[0]) if fitting else 1
        wide = tuple(place for place in fitting if self.size[place] >= slots)
        if (number := self._heaps.get((slots, wide))) is None:
            number = self._heaps[slots, wide] = len(self.fitting)
            self.fitting.append(wide)
        return _Ask(number, slots, (partition, job.gpu))


class Backlog:
    """When slots are free, as the queue is placed job by job."""

    def __init__(self, layout: Layout, now: float) -> None:
        self.layout, self.now = layout, now
        self.free = [[now] * size for size in layout.size]
        self._heaps: dict[int, _Heap] = {}
        self._holes: dict[tuple[str, str], list[_Hole]] = {}
        self._longest: dict[tuple[str, str], float] = {}  # no hole of a kind is longer

    def hold(self, ends: Sequence[float]) -> None:
        """Running jobs have their slots until these moments, in the order in which the layout knows them."""
        free, size = self.free, self.layout.size
        own: dict[int, list[tuple[int, float]]] = {}
        for end, held in zip(ends, self.layout.held, strict=True):
            for place, slots in held:
                own.setdefault(place, []).append((slots, end))
        for place, rows in own.items():
            moments = free[place]
            if sum(slots for slots, _end in rows) <= size[place]:
                taken = [end for slots, end in rows for _slot in range(slots)]
                moments[: len(taken)] = taken
                moments.sort()
            else:  # more than there is: what ends first makes room
                for slots, end in rows:
                    moments[:slots] = [end] * slots
                    moments.sort()

    def put(self, job: Job, ask: _Ask, length: float, from_: float) -> float | None:
        """Place a job that waits: into a hole, or where it can begin first; when it starts, None where it never can."""
        begin = max(job.begin, from_)
        if job.nodes == 1:
            if length <= self._longest.get(ask.holes, 0.0) and (start := self._filled(job, ask, length, begin)) is not None:
                return start
            return self._put_on_one(job, ask, length, begin)
        if (found := self._earliest(job, ask, begin)) is None:
            return None
        start, places = found
        taken = [start + length] * ask.slots
        slots, free, heap, holes = ask.slots, self.free, self._heap(ask), self._holes.setdefault(ask.holes, [])
        for place in places:
            moments = free[place]
            before = moments[slots - 1]
            if start - before > SHORTEST and len(holes) < HOLES:
                self._keep(ask.holes, (before, start, place, slots))
            moments[:slots] = taken
            if slots < len(moments):
                moments.sort()
            heapq.heappush(heap, (moments[slots - 1], place))
        return start

    def start(self, job: Job, ask: _Ask) -> float | None:
        """When a job would start behind all that was placed; nothing changes."""
        begin = max(job.begin, self.now)
        if job.nodes == 1 and (start := self._filled(job, ask, job.limit, begin, keep=True)) is not None:
            return start
        if (found := self._earliest(job, ask, begin)) is None:
            return None
        for place in found[1]:
            heapq.heappush(self._heap(ask), (self.free[place][ask.slots - 1], place))
        return found[0]

    def _heap(self, ask: _Ask) -> _Heap:
        """Nodes by the moment from which the request fits; one may be too early, where something was put there since."""
        if (heap := self._heaps.get(ask.fitting)) is None:
            last = ask.slots - 1
            heap = self._heaps[ask.fitting] = [(self.free[place][last], place) for place in self.layout.fitting[ask.fitting]]
            heapq.heapify(heap)
        return heap

    def _put_on_one(self, job: Job, ask: _Ask, length: float, begin: float) -> float | None:
        """The common case, in as few steps as there are."""
        heap, free, slots = self._heap(ask), self.free, ask.slots
        last = slots - 1
        if not heap:
            return None
        moment, place = heap[0]
        moments = free[place]
        while moments[last] > moment:
            heapq.heapreplace(heap, (moments[last], place))
            moment, place = heap[0]
            moments = free[place]
        start = max(begin, moment)
        if self.layout.reserved:
            start = self._after(place, start, job)
        if start - moment > SHORTEST and len(self._holes.setdefault(ask.holes, [])) < HOLES:
            self._keep(ask.holes, (moment, start, place, slots))
        moments[:slots] = [start + length] * slots
        moments.sort()
        heapq.heapreplace(heap, (moments[last], place))
        return start

    def _earliest(self, job: Job, ask: _Ask, begin: float) -> tuple[float, list[int]] | None:
        """When a job starts, and on which nodes, which are taken off their heap; None where it never can."""
        heap, free, last = self._heap(ask), self.free, ask.slots - 1
        if len(heap) < job.nodes:
            return None
        places: list[int] = []
        latest = begin
        while len(places) < job.nodes:
            moment, place = heap[0]
            true = free[place][last]
            if true > moment:
                heapq.heapreplace(heap, (true, place))
            else:
                heapq.heappop(heap)
                places.append(place)
                latest = max(latest, moment)
        if self.layout.reserved:
            latest = max(self._after(place, latest, job) for place in places)
        return latest, places

    def _after(self, place: int, start: float, job: Job) -> float:
        for kept in self.layout.reserved.get(place, ()):
            if kept.name != job.reservation and start < kept.end and start + job.limit > kept.start:
                start = kept.end
        return start

    def _keep(self, kind: tuple[str, str], hole: _Hole) -> None:
        self._holes.setdefault(kind, []).append(hole)
        self._longest[kind] = max(self._longest.get(kind, 0.0), hole[1] - hole[0] + _ROUNDING)

    def _filled(self, job: Job, ask: _Ask, length: float, earliest: float, keep: bool = False) -> float | None:
        """Put a job of one node into a hole; when it starts there, None where none is long and wide enough. `keep`: only look."""
        holes = self._holes.get(ask.holes, [])
        found, best = -1, 0.0
        for number, (start, end, _place, slots) in enumerate(holes):
            begin = max(earliest, start)
            if job.gpus <= slots and begin + length <= end and (found < 0 or begin < best):
                found, best = number, begin
        if found < 0 or self.layout.slots(job, holes[found][2]) > holes[found][3]:
            return None
        if not keep:
            _start, end, place, slots = holes.pop(found)
            if end - best - length > SHORTEST:
                holes.append((best + length, end, place, slots))
            self._longest[ask.holes] = max((hole[1] - hole[0] + _ROUNDING for hole in holes), default=0.0)
        return best


def backlogged(queue: Queue, quantile: float, mine: Sequence[Mine], keys: Sequence[Key]) -> list[list[float] | None]:
    """When each piece of each request starts behind a long queue, in one pass for each place in it."""
    found: list[list[float] | None] = [None] * len(mine)
    layout = _layout(queue)
    line = _line(queue, layout)
    for key in sorted(set(keys)):
        backlog = Backlog(layout, queue.now)
        runs = queue.runs(quantile)
        backlog.hold([_end(queue, run, key) for run in runs] if queue.soft else [run.ends for run in runs])
        before = takewhile(lambda row, key=key: row[0] < key, line)  # type: ignore[misc]
        _put_all(backlog, before, partial(queue.history.used, quantile=quantile), Throttles(runs))
        for number, request in enumerate(mine):
            if keys[number] == key:
                found[number] = _pieces(backlog, request, layout.ask(request.job))
    return found


def _end(queue: Queue, run: Run, key: Key) -> float:
    """When a running job gives back what it has, to who stands there."""
    early = queue.is_soft(run.job) and queue.tier(run.job) < -key[0]
    return min(run.ends, queue.now + queue.grace(run.job)) if early else run.ends


def _layout(queue: Queue) -> Layout:
    if queue.layout is None:
        queue.layout = Layout(queue.nodes, queue.reservations, queue.running)
    if not isinstance(queue.layout, Layout):
        raise TypeError(queue.layout)
    return queue.layout


def _line(queue: Queue, layout: Layout) -> list[tuple[Key, Job, _Ask]]:
    return [(key, job, layout.ask(job)) for key, job in queue.waiting]


def _put_all(backlog: Backlog, line: Iterable[tuple[Key, Job, _Ask]], used: Callable[[str], float], throttles: Throttles) -> None:
    """Place the queue in its order, each job as long as jobs of its partition are expected to run."""
    part: dict[str, float] = {}
    now, put = backlog.now, backlog.put
    for _key, job, ask in line:
        name = ask.holes[0]
        if (share := part.get(name)) is None:
            share = part[name] = used(name)
        length = job.limit * share if job.limit > 1 else 1.0
        if not job.throttle:
            put(job, ask, length, now)
        elif (start := put(job, ask, length, throttles.free(job, now))) is not None:
            throttles.add(job, start + length)


def _pieces(backlog: Backlog, request: Mine, ask: _Ask) -> list[float] | None:
    """The start of the first piece; later ones are taken to wait for their turn alone."""
    if (start := backlog.start(request.job, ask)) is None:
        return None
    starts = [start]
    for length in request.pieces[:-1]:
        starts.append(starts[-1] + length + REQUEUE_WAIT)
    return starts
