"""What of a cluster one may use: who a partition is for, and what associations and QOS allow a job.

Of several associations (accounts) and QOS the one that allows most counts, for a job can name it; what a partition's own
QOS allows holds for everybody. A QOS goes before the association (slurm.conf, AccountingStorageEnforce).
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

from rigup.cluster.access import barred
from rigup.machine.slurm import values
from rigup.machine.slurm.words import tres, tres_gpus, whole
from rigup.train.advise.inputs import Cluster, Partition


class You(NamedTuple):
    """Who asks: the account of this machine, and its groups."""

    user: str = ""
    groups: frozenset[str] = frozenset()


class _Bounds(NamedTuple):
    """What a job may have at most: seconds, nodes, GPUs."""

    time: float = math.inf
    nodes: float = math.inf
    gpus: float = math.inf

    def over(self, other: "_Bounds") -> "_Bounds":
        """These, and where they bound nothing the other's."""
        return _Bounds(*(mine if mine < math.inf else its for mine, its in zip(self, other, strict=True)))

    def widest(self, other: "_Bounds") -> "_Bounds":
        """The larger of each."""
        return _Bounds(*map(max, self, other))

    def narrowest(self, other: "_Bounds") -> "_Bounds":
        """The smaller of each."""
        return _Bounds(*map(min, self, other))


def permitted(cluster: Cluster, dump: values.Dump, you: You) -> Cluster:
    """The cluster with partitions as narrow as they are for you."""
    limits = [limit for limit in dump.limits or () if limit.kind != "association" or limit.user in ("", you.user)]
    found = {partition.name: _narrowed(cluster.partitions[partition.name], partition, limits, you) for partition in dump.partitions or ()}
    return cluster._replace(partitions={**cluster.partitions, **found})


def _narrowed(known: Partition, partition: values.Partition, limits: list[values.Limit], you: You) -> Partition:
    mine = [limit for limit in limits if limit.kind == "association" and limit.partition in ("", partition.name)]
    accounts = {limit.name for limit in mine}
    if refusal := barred(partition, you.groups, accounts):
        return known._replace(barred=refusal)
    qos = {limit.name: limit for limit in limits if limit.kind == "qos"}
    open_to = [limit for limit in mine if _account_fits(partition, limit.name)] or mine
    bounds = _Bounds()
    if open_to:
        bounds = _Bounds(0, 0, 0)
        for limit in open_to:
            for name in _qos_of(partition, limit):
                bounds = bounds.widest(_bounds(qos.get(name)).over(_bounds(limit)))
    bounds = bounds.narrowest(_bounds(qos.get(partition.qos)))
    return known._replace(
        max_time=_smaller(known.max_time, bounds.time),
        max_nodes=_smaller(known.max_nodes, bounds.nodes),
        max_gpus=_smaller(known.max_gpus, bounds.gpus),
    )


def _smaller(known: float | None, bound: float) -> "int | None":
    least = min(math.inf if known is None else known, bound)
    return None if math.isinf(least) else int(least)


def _account_fits(partition: values.Partition, account: str) -> bool:
    return account not in partition.deny_accounts and (not partition.allow_accounts or account in partition.allow_accounts)


def _qos_of(partition: values.Partition, limit: values.Limit) -> Iterable[str]:
    """QOS that a job under this association may name in the partition; "" where none is known."""
    names = [name for name in limit.qos or (limit.default_qos,) if name not in partition.deny_qos]
    return [name for name in names if not partition.allow_qos or name in partition.allow_qos] or [""]


def _bounds(limit: values.Limit | None) -> _Bounds:
    if limit is None:
        return _Bounds()
    texts = (limit.max_tres_per_job, limit.max_tres_per_user, limit.group_tres)
    nodes = [count for text in texts if (count := whole(tres(text).get("node"))) is not None]
    gpus = [sum(request.count for request in tres_gpus(text)) for text in texts if "gres/gpu" in text]
    wall = math.inf if limit.max_wall is None else float(limit.max_wall)
    return _Bounds(wall, min(nodes, default=math.inf), min(gpus, default=math.inf))
