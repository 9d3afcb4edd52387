"""Why an allocation can never run, in the order in which the reasons are asked; the first that holds is told."""

from collections.abc import Callable
from typing import NamedTuple

from rigup.language import _
from rigup.train.advise.inputs import DAY, Allocation, Cluster, Device, Node, Question, Work

LONG = 30 * DAY
"""Nodes that are reserved for longer than that are not waited for."""


class Never(NamedTuple):
    """An allocation that can never run: the reason's id, and a sentence."""

    allocation: Allocation
    reason: str
    because: str


def never(question: Question, asked: Allocation) -> Never | None:
    """The first reason why an allocation can never run; None where none of those stands that need no rate."""
    for reason, check in _CHECKS:
        if because := check(question, asked):
            return Never(asked, reason, because)
    return None


def large_enough(cluster: Cluster, asked: Allocation, work: Work) -> list[Node]:
    """Nodes of the partition with that many GPUs of the type and as many processors, up or not."""
    cpus = work.cpus_per_gpu * asked.gpus
    return [
        node
        for node in cluster.nodes
        if asked.partition in node.partitions and node.gpus.get(asked.device, 0) >= asked.gpus and node.cpus >= cpus
    ]


def memory_of(work: Work, asked: Allocation) -> int:
    """MiB of a node's memory that the work asks for."""
    return -(-(work.host_memory_per_gpu or 0) * asked.gpus >> 20) if work.host_memory_per_gpu else 0


def usable(cluster: Cluster, asked: Allocation, work: Work) -> list[Node]:
    """Nodes that are large enough, in memory too, and up."""
    memory = memory_of(work, asked)
    return [node for node in large_enough(cluster, asked, work) if node.memory >= memory and node.up]


def _partition(question: Question, asked: Allocation) -> str:
    if asked.partition in question.cluster.partitions:
        return ""
    return _("There is no partition {name}.").format(name=asked.partition)


def _nodes(question: Question, asked: Allocation) -> str:
    count = len(large_enough(question.cluster, asked, question.work))
    if count >= asked.nodes:
        return ""
    return _("{count} of the {nodes} nodes exist that have {gpus} GPUs of type {device} in {partition}.").format(
        count=count, nodes=asked.nodes, gpus=asked.gpus, device=asked.device, partition=asked.partition
    )


def _state(question: Question, asked: Allocation) -> str:
    partition = question.cluster.partitions[asked.partition]
    if partition.up:
        return ""
    return _("The partition {name} is in state {state}: it starts no job.").format(name=partition.name, state=partition.state)


def _limit(question: Question, asked: Allocation) -> str:
    partition = question.cluster.partitions[asked.partition]
    if partition.barred:
        return partition.barred
    if partition.max_nodes is not None and asked.nodes > partition.max_nodes:
        text = _("A job of {partition} may have at most {most} nodes.")
        return text.format(partition=asked.partition, most=partition.max_nodes)
    if partition.max_gpus is not None and asked.total > partition.max_gpus:
        text = _("A job of yours may have at most {most} GPUs in {partition}.")
        return text.format(partition=asked.partition, most=partition.max_gpus)
    return ""


def _device(question: Question, asked: Allocation) -> Device:
    return question.devices.get(asked.device, Device(asked.device))


def _build(question: Question, asked: Allocation) -> str:
    device = _device(question, asked)
    if device.works:
        return ""
    return device.because or _("No build of the framework runs on {device}.").format(device=asked.device)


def _gpu_memory(question: Question, asked: Allocation) -> str:
    work, memory = question.work, _device(question, asked).memory
    need = (work.gpu_memory or 0) + (work.gpu_memory_sharded or 0) / asked.total
    if memory is None or need <= memory:
        return ""
    return _("A GPU needs {need} GiB and {device} has {there}.").format(
        need=f"{need / 2**30:.1f}", device=asked.device, there=f"{memory / 2**30:.1f}"
    )


def _host_memory(question: Question, asked: Allocation) -> str:
    need, nodes = memory_of(question.work, asked), large_enough(question.cluster, asked, question.work)
    count = sum(node.memory >= need for node in nodes)
    if count >= asked.nodes:
        return ""
    return _("{gpus} GPUs on a node need {need} GiB of its memory, and {count} of {nodes} nodes have as much.").format(
        gpus=asked.gpus, need=f"{need / 1024:.0f}", count=count, nodes=asked.nodes
    )


def _down(question: Question, asked: Allocation) -> str:
    up, cluster = len(usable(question.cluster, asked, question.work)), question.cluster
    if up >= asked.nodes:
        return ""
    why = sorted({node.reason for node in large_enough(cluster, asked, question.work) if not node.up and node.reason})
    text = _("{up} such nodes of {partition} are up, {nodes} are asked for.").format(up=up, partition=asked.partition, nodes=asked.nodes)
    return text + (" " + "; ".join(why[:3]) if why else "")


def _reserved(question: Question, asked: Allocation) -> str:
    cluster = question.cluster
    kept = {
        name
        for reservation in cluster.reservations
        if reservation.start <= cluster.now and reservation.end > cluster.now + LONG
        for name in reservation.nodes
    }
    free = sum(node.name not in kept for node in usable(cluster, asked, question.work))
    if free >= asked.nodes:
        return ""
    return _("All but {free} nodes are reserved for more than 30 days.").format(free=free)


_CHECKS: tuple[tuple[str, Callable[[Question, Allocation], str]], ...] = (
    ("no-such-partition", _partition),
    ("no-such-nodes", _nodes),
    ("partition-down", _state),
    ("partition-limit", _limit),
    ("no-build", _build),
    ("gpu-memory", _gpu_memory),
    ("host-memory", _host_memory),
    ("nodes-down", _down),
    ("reserved", _reserved),
)
