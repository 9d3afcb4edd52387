"""What a job holds, worked out of the many ways in which it can be asked for."""

from functools import lru_cache
from typing import NamedTuple

from rigup.machine.slurm.values import Request
from rigup.machine.slurm.words import gres, requests, size, tres, tres_gpus

MOST_TASKS = 10_000_000


def share(count: int | None, nodes: int) -> int | None:
    """The part of one node, rounded up."""
    return None if count is None else -(-count // max(nodes, 1))


def per_node(whole: tuple[Request, ...], nodes: int) -> tuple[Request, ...]:
    """Each node's part of a job's GPUs."""
    return tuple(Request(request.type, share(request.count, nodes) or 0) for request in whole)


@lru_cache(8192)
def worked_out(asked: "Asked") -> "tuple[tuple[Request, ...], tuple[Request, ...], int | None]":
    """GPUs of the whole job and of each node, and bytes of each node; many jobs ask for the same."""
    return (*asked.gpus(), asked.memory())


class Asked(NamedTuple):
    """What Slurm tells of a job's resources. `detail`: GPUs that it holds, a text per node; the others are TRES texts."""

    detail: tuple[str, ...]
    per_node: str | None
    per_job: str | None
    per_task: str | None
    required: str | None
    allocated: str | None
    node_count: int
    tasks: int | None
    cpus: int | None
    memory_per_node: int | None
    memory_per_cpu: int | None

    def gpus(self) -> tuple[tuple[Request, ...], tuple[Request, ...]]:
        """GPUs of the whole job and of each node. What it holds comes first, then what it asked for, each as exactly as it is told."""
        if held := self._held():
            return held
        if each := requests(gres(self.per_node)):
            return tuple(Request(request.type, request.count * self.node_count) for request in each), each
        whole = tres_gpus(self.allocated) or tres_gpus(self.required) or requests(gres(self.per_job)) or self._by_task()
        return whole, per_node(whole, self.node_count)

    def _held(self) -> tuple[tuple[Request, ...], tuple[Request, ...]] | None:
        if not self.detail:
            return None
        rows = [gres(row) for row in self.detail]
        names = list(dict.fromkeys(name for row in rows for name in row))
        whole = requests({name: sum(row.get(name, 0) for row in rows) for name in names})
        each = requests({name: max(row.get(name, 0) for row in rows) for name in names})
        return (whole, each) if whole else None

    def _by_task(self) -> tuple[Request, ...]:
        tasks = min(self.tasks or 1, MOST_TASKS)
        return requests({name: count * tasks for name, count in gres(self.per_task).items()})

    def memory(self) -> int | None:
        """Bytes of each node."""
        if whole := size(tres(self.allocated).get("mem")) or size(tres(self.required).get("mem")):
            return share(whole, self.node_count)
        if self.memory_per_node:
            return self.memory_per_node
        if self.memory_per_cpu and self.cpus:
            return self.memory_per_cpu * (share(self.cpus, self.node_count) or 1)
        return None
