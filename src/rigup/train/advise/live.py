"""The cluster at hand, asked: few calls, each kept for half a minute, so that nobody loops on the controller."""

import re
import time
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from itertools import zip_longest

from rigup.cluster.worth import worths
from rigup.knowledge.gpus import gpu_by_name
from rigup.language import _
from rigup.machine.host import Host
from rigup.machine.slurm.asking import Slurm
from rigup.train.advise.inputs import Allocation, Cluster, Device, InputError, Question, Rate, Second, Work
from rigup.train.advise.never import usable
from rigup.train.advise.permitted import You, permitted
from rigup.train.advise.recorded import same_chip
from rigup.train.advise.scenario import second
from rigup.train.advise.state import cluster

WITHIN = 30.0
_PAST = "now-14days"
_EMPTY = "No jobs in the system"  # what scontrol says in place of none
_PER_NODE = (1, 2, 4, 8, 16)
_NODES = (1, 2, 3, 4, 6, 8, 12, 16)
MOST_CANDIDATES = 64


def now(host: Host, you: You, kept: str = "") -> Cluster:
    """The cluster at this moment, with what it allows you. `kept`: the folder in which answers wait half a minute.

    Raises InputError where there is no Slurm, or it does not answer.
    """
    slurm, moment = Slurm(host, kept), time.time()
    if not slurm.is_installed:
        raise InputError(_("Slurm's programs are not on this machine. Ask on a login node, or give --scenario DIR."))
    for ask in (slurm.nodes, slurm.partitions, slurm.jobs):
        ask()
        last = slurm.asked[-1]
        if not last.whole and not (ask == slurm.jobs and last.said.startswith(_EMPTY)):
            words = " ".join(last.command)
            raise InputError(_("{command}: {why}. Is this a machine of the cluster?").format(command=words, why=last.said))
    slurm.reservations()
    slurm.completed(_PAST)
    if you.user:
        slurm.limits(you.user)
    slurm.dump.jobs = slurm.dump.jobs or []
    return permitted(cluster(slurm.dump, moment), slurm.dump, you)


def you(host: Host) -> You:
    """The account that asks, as `id` tells it."""
    account = host.account().body or ""
    user = re.search(r"uid=\d+\(([^)]*)\)", account)
    return You(user[1] if user else "", frozenset(re.findall(r"\(([^()]*)\)", account.partition("groups=")[2])))


def devices(state: Cluster) -> dict[str, Device]:
    """Types of GPU of a cluster, with the memory that the catalogue knows: of several products of a name the most, so that none is called too small that may not be."""
    found = {}
    for name in sorted({kind for node in state.nodes for kind in node.gpus}):
        sizes = [product.memory_bytes for product in gpu_by_name(name)] if worths([name]) else []
        known = [size for size in sizes if size]
        found[name] = Device(name, max(known) if known and len(known) == len(sizes) else None)
    return found


def with_catalogue(rates: Iterable[Rate], names: Iterable[str], benched: Mapping[str, float] | None = None) -> list[Rate]:
    """Beside what was measured, a rate of each other type, carried over from one of one GPU.

    By the speeds that `rigup bench` measured on both (`benched`, by type), else by the bandwidths of their data sheets.
    """
    known, sheets = list(rates), {}
    measured = {rate.device for rate in known}
    for name in {*names, *measured}:
        if (speed := _bandwidth(name)) and speed > 0:
            sheets[name] = speed
    for source, speeds in (("bench", dict(benched or {})), ("catalogue", sheets)):
        base = next((rate for rate in known if rate.source == "measured" and rate.device in speeds), None)
        if base is not None:
            seconds = sum(base.seconds) / len(base.seconds) * base.nodes * base.gpus * speeds[base.device]
            known += [Rate(name, 1, 1, (seconds / speeds[name],), source) for name in names if name not in measured and name in speeds]
    return known


def benched(names: Iterable[str]) -> dict[str, float]:
    """By type how fast `rigup bench` found it: the root of its best product of matrices times its best copy, as training is bound by either.

    From the records of all machines that share this account's state.
    """
    from rigup.bench.records import nodes, of_node, run_of

    speeds: dict[str, float] = {}
    for device in (device for node in nodes() for document in of_node(node) for device in run_of(document).devices):
        products = [figure.median for figure in device.results if figure.name in ("matmul", "matmul-by-hand")]
        copies = [figure.median for figure in device.results if figure.name.startswith("memory-")]
        if device.name and products and copies:
            chip = same_chip(device.name)
            speeds[chip] = max(speeds.get(chip, 0.0), (max(products) * max(copies)) ** 0.5)
    return {name: speeds[chip] for name in names if (chip := same_chip(name)) in speeds}


def _bandwidth(name: str) -> float | None:
    """Bytes a second of its memory; of several products of a name the least."""
    worth = worths([name]).get(name)
    return worth.bandwidth or None if worth else None


def candidates(state: Cluster, work: Work, rated: Collection[str]) -> tuple[list[Allocation], int]:
    """Allocations worth judging, of types that have a rate, and how many more there are: of every partition and type some numbers of nodes and GPUs.

    Where they are too many, every partition and type keeps some: whole nodes first.
    """
    kinds = sorted({(name, kind) for node in state.nodes for name in node.partitions for kind in node.gpus})
    shapes = [
        _shapes(state, work, partition, device)
        for partition, device in kinds
        if device in rated and partition in state.partitions and not state.partitions[partition].barred
    ]
    found = [option for options in zip_longest(*shapes) for option in options if option]
    return found[:MOST_CANDIDATES], len(found[MOST_CANDIDATES:])


def _shapes(state: Cluster, work: Work, partition: str, device: str) -> list[Allocation]:
    """A single GPU, then whole nodes, then parts of nodes, as far as nodes are up that have them."""
    most = max((node.gpus.get(device, 0) for node in state.nodes if partition in node.partitions), default=0)
    found = []
    for gpus in sorted({count for count in _PER_NODE if count < most} | ({most} if most else set())):
        node_count = len(usable(state, Allocation(partition, device, 1, gpus), work))
        limit = min(node_count, state.partitions[partition].max_nodes or node_count)
        found += [Allocation(partition, device, nodes, gpus) for nodes in _NODES if nodes <= limit and (nodes == 1 or gpus in {1, most})]
    return sorted(found, key=lambda option: (option.total > 1, option.gpus < most, option.nodes))


def trial(host: Host, question: Question, asked: Allocation, limit: float) -> Second:
    """What `sbatch --test-only` says of one allocation; the call uses up a job id."""
    words = ("sbatch", "--test-only", "-p", asked.partition, "-N", str(asked.nodes), f"--gres=gpu:{asked.device}:{asked.gpus}")
    cpus = str(question.work.cpus_per_gpu * asked.gpus)
    answer = host.run((*words, "-n", str(asked.nodes), "-c", cpus, "-t", str(round(limit / 60)), "--wrap", "true"), WITHIN)
    zone = datetime.now().astimezone().tzinfo
    if zone is None:
        raise InputError(_("This machine has no time zone."))
    return second(asked, answer.exit if answer.body is not None else 1, answer.body or answer.why, zone)
