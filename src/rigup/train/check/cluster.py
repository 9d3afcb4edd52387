"""What the partitions of a cluster give, from a file or from the Slurm of this machine."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from rigup.train.check import numbers

MOST_LETTERS = 20_000_000


class ClusterError(Exception):
    """A description of a cluster that cannot be understood."""


class Partition(msgspec.Struct, frozen=True, kw_only=True):
    """What one partition has at most; None for what nobody says.

    Attributes:
        gpu: the type of its GPUs as Slurm names it; "" for none or unsaid.
        minutes: the longest time limit.

    """

    name: str
    nodes: int | None = None
    gpus_per_node: int | None = None
    gpu: str = ""
    cpus_per_node: int | None = None
    memory_gb: float | None = None
    minutes: float | None = None


Partitions = Mapping[str, Partition]


def partitions_of(text: str) -> Partitions:
    """The partitions of a text: rigup's own short form, `sinfo --json`, `scontrol show partition` with `show node`.

    Raises:
        ClusterError: it is none of these.

    """
    if text.lstrip().startswith("{"):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ClusterError(str(error)) from error
        found = dict(_short(data)) if isinstance(data.get("partitions"), dict) else _sinfo(data)
    else:
        found = _scontrol(text)
    if not found:
        raise ClusterError("no partitions")
    return found


def _short(data: Mapping[str, Any]) -> Iterator[tuple[str, Partition]]:
    for name, row in data["partitions"].items():
        if not isinstance(row, dict):
            raise ClusterError(f"partition {name}")
        try:
            yield (
                str(name),
                Partition(
                    name=str(name),
                    nodes=_number(row.get("nodes")),
                    gpus_per_node=_number(row.get("gpus_per_node")),
                    gpu=str(row.get("gpu") or ""),
                    cpus_per_node=_number(row.get("cpus_per_node")),
                    memory_gb=_number(row.get("memory_gb")),
                    minutes=numbers.minutes(str(row["max_time"])) if row.get("max_time") else None,
                ),
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise ClusterError(f"partition {name}") from error


def _number(value: Any) -> int | None:
    """A count; newer releases of Slurm wrap it in `{"set": true, "number": 4}`."""
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") else None
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e12 else None


def _sinfo(data: Mapping[str, Any]) -> dict[str, Partition]:
    """`sinfo --json`: rows of nodes (22.05) or of groups of nodes (from 23.02)."""
    found: dict[str, Partition] = {}
    for row in data.get("sinfo") or data.get("nodes") or ():
        if not isinstance(row, dict):
            continue
        partition = row.get("partition") or {}
        names = [partition["name"]] if isinstance(partition, dict) and partition.get("name") else row.get("partitions") or []
        gres = row.get("gres") or ""
        gpus = numbers.gres(gres.get("total", "") if isinstance(gres, dict) else str(gres))
        limit = _number(((partition.get("maximums") or {}).get("time")) if isinstance(partition, dict) else None)
        counted = row.get("nodes")
        for name in names:
            _widen(
                found,
                Partition(
                    name=str(name),
                    nodes=_number(counted.get("total")) if isinstance(counted, dict) else 1,
                    gpus_per_node=gpus[0] if gpus else 0,
                    gpu=gpus[1] if gpus else "",
                    cpus_per_node=_most(row.get("cpus")),
                    memory_gb=(_most(row.get("memory") or row.get("real_memory")) or 0) / 1024 or None,
                    minutes=float(limit) if limit else None,
                ),
            )
    return found


def _most(value: Any) -> int | None:
    return _number(value["maximum"]) if isinstance(value, dict) and "maximum" in value else _number(value)


def _widen(found: dict[str, Partition], row: Partition) -> None:
    """A partition is as large as the largest of its nodes, and has all of them."""
    old = found.get(row.name)
    if old is None:
        found[row.name] = row
        return
    larger = {
        name: max(value for value in (getattr(old, name), getattr(row, name), 0) if value is not None)
        for name in ("gpus_per_node", "cpus_per_node", "memory_gb")
    }
    found[row.name] = msgspec.structs.replace(
        old,
        nodes=(old.nodes or 0) + (row.nodes or 0),
        gpu=old.gpu if old.gpu == row.gpu or not row.gpu else row.gpu if not old.gpu else "",
        minutes=old.minutes or row.minutes,
        **larger,
    )


def _scontrol(text: str) -> dict[str, Partition]:
    found: dict[str, Partition] = {}
    limits: dict[str, float | None] = {}
    records = re.split(r"\n(?=\s*(?:PartitionName|NodeName)=)", "\n" + text[:MOST_LETTERS])
    for record in records:
        fields = dict(re.findall(r"(?<!\S)([A-Za-z][A-Za-z:/]*)=(\S*)", record))
        if "PartitionName" in fields:
            limits[fields["PartitionName"]] = numbers.minutes(fields.get("MaxTime"))
        elif "NodeName" in fields:
            gpus = numbers.gres(re.sub(r"\(.*?\)", "", fields.get("Gres", "")))
            memory = fields.get("RealMemory", "")
            for name in fields.get("Partitions", "").split(","):
                if name:
                    _widen(
                        found,
                        Partition(
                            name=name,
                            nodes=1,
                            gpus_per_node=gpus[0] if gpus else 0,
                            gpu=gpus[1] if gpus else "",
                            cpus_per_node=numbers.whole(fields.get("CPUTot")),
                            memory_gb=int(memory) / 1024 if memory.isdigit() else None,
                        ),
                    )
    return {name: msgspec.structs.replace(row, minutes=limits.get(name, row.minutes)) for name, row in found.items()} or {
        name: Partition(name=name, minutes=limit) for name, limit in limits.items()
    }
