"""What advice on a drawn cluster has to be, in the form of the labelled scenarios' expected.json: from the simulator alone."""

import math
import random
from collections.abc import Callable
from typing import Any

from drawn_clusters import AGAIN, KINDS, MEMORY, NOW, POISON, Drawn, Job, seconds_of, soft, text, used, works
from simulated_queue import Simulated

from rigup.train.advise.inputs import Allocation, Rate
from rigup.train.advise.speed import law

LEVELS = (0.1, 0.5, 1.0)
Asked = tuple[str, str, int, int]


def never(of: Drawn, request: Asked) -> str:
    """Why an allocation can never run, rates and time apart."""
    name, kind, count, gpus = request
    work, part = of.work, of.parts[name]
    have = [
        node
        for node in of.nodes
        if name in node.partitions and node.kind == kind and node.gpus >= gpus and node.cpus >= gpus * work["cpus_per_gpu"]
    ]
    need = work.get("gpu_memory", 0) + work.get("gpu_memory_sharded", 0) / (count * gpus)
    ram = work.get("host_memory_per_gpu", 0) * gpus
    roomy = [node for node in have if node.memory * 2**20 >= ram]
    up = [node for node in roomy if node.up]
    away = {node for kept in of.kept if kept.start <= NOW and kept.end > NOW + 30 * 86_400 for node in kept.nodes}
    reasons = {
        "no-such-nodes": len(have) < count,
        "partition-down": part.state != "UP",
        "partition-limit": 0 < part.nodes < count,
        "no-build": not works(of, kind),
        "gpu-memory": need > MEMORY[kind],
        "host-memory": len(roomy) < count,
        "nodes-down": len(up) < count,
        "reserved": sum(node.name not in away for node in up) < count,
        "no-rate": all(row[0] != kind for row in of.rows),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def expected(of: Drawn, seed: int) -> dict[str, Any]:
    """The labels."""
    dice, found, gone = random.Random(seed), {}, {}
    for request in of.candidates:
        if not (reason := never(of, request)):
            judged = _timed(of, request, dice)
            reason = judged if isinstance(judged, str) else ""
            found |= {} if reason else {text(request): judged}
        gone |= {text(request): reason} if reason else {}
    accept = of.work["accept_preemption"]
    pushed = [name for name, row in found.items() if row["soft"]]
    order = sorted((name for name in found if accept or name not in pushed), key=lambda name: found[name]["finish"][1])
    labels: dict[str, Any] = {
        "never": gone,
        "preemptible": sorted(pushed),
        "poison": sorted(job.number for job in of.jobs if job.reason in POISON),
    }
    labels |= {key: {name: row[key] for name, row in found.items()} for key in ("finish", "actual", "wait")}
    labels["bound"] = [] if of.past else [name for name, row in found.items() if row["wait"][2] > 60]
    spans = {name: found[name]["finish"] for name in order}
    labels["ties"] = {"must": _near(spans, order, 0.98), "may": _near(spans, order, 1.02)}
    labels["best"] = labels["ties"]["must"] or sorted(pushed) or [None]
    costs = {name: found[name]["cost"] for name in order or found}
    labels["cheapest"] = [name for name, cost in costs.items() if cost <= 1.02 * min(costs.values())] or [None]
    labels["flip"] = _flip(found, order)
    return labels


def _near(spans: dict[str, Any], order: list[str], slack: float) -> list[str]:
    if not order:
        return []
    low, _likely, high = spans[order[0]]
    return [name for name in order if name == order[0] or (spans[name][0] <= high * slack and low <= spans[name][2] * slack)]


def _flip(found: dict[str, Any], order: list[str]) -> dict[str, Any] | None:
    if not order:
        return None
    first = order[0]
    other = next((name for name in order if name.split(":")[0] != first.split(":")[0]), None)
    if other is None:
        return None
    mine, its = found[first], found[other]
    under = mine["finish"][1] - (its["finish"][1] - its["wait"][1])
    return {
        "first": first,
        "other": other,
        "first_until_wait": its["finish"][1] - mine["finish"][1] + mine["wait"][1],
        "other_if_wait_under": under if under > 0 else None,
    }


def _timed(of: Drawn, request: Asked, dice: random.Random) -> dict[str, Any] | str:
    name, kind, count, gpus = request
    work = of.work
    speed = law([Rate(row[0], row[1], row[2], tuple(row[3])) for row in of.rows if row[0] == kind])
    if speed is None:
        raise ValueError(kind)
    epoch = speed.epoch(Allocation(name, kind, count, gpus)).seconds
    if "time_limit" in work:
        limit = work["time_limit"] * 60
    else:
        limit = math.ceil(1.2 * (work["startup"] + work["epochs"] * epoch.high) / 60 - 1e-9) * 60
    limit = min(limit, of.parts[name].most)
    pieces = [_pieces(work, work["epochs"] * seconds, limit) for seconds in epoch]
    if not all(pieces) or (not work["requeue"] and pieces[1][0] > limit):
        return "time-limit"
    mine = Job(
        -1, name, count, kind, gpus, work["cpus_per_gpu"] * gpus, -(-work.get("host_memory_per_gpu", 0) * gpus >> 20), limit, -math.inf, 1.0
    )
    ends = [Simulated(of, _by(of, level)).ends(mine, tuple(piece)) for level, piece in zip(LEVELS, pieces, strict=True)]
    if None in ends:
        return "reserved"
    seconds = work["epochs"] * seconds_of(of.laws[kind], count, gpus) * dice.gauss(1, 0.03)
    real = _pieces(work, seconds, limit) if work["requeue"] else [work["startup"] + seconds]
    actual = Simulated(of, lambda job: job.limit * job.part).ends(mine, tuple(real))
    waits, finish = ([end[place] for end in ends if end] for place in (0, 1))
    finish[0], finish[2] = min(finish[:2]), max(finish[1:])
    if pushed := soft(of, name, kind):
        piece = max(pieces[2])
        every = work.get("checkpoint_every")
        finish[2] += AGAIN + (piece if every is None else min(piece, work["startup"] + every))
    return {
        "finish": finish,
        "wait": waits,
        "soft": pushed,
        "cost": sum(pieces[1]) * count * gpus * KINDS[kind],
        "actual": actual[1] if actual else math.inf,
    }


def _by(of: Drawn, level: float) -> Callable[[Job], float]:
    def length(job: Job) -> float:
        already = (NOW - job.start) / job.limit if job.on and job.start else 0.0
        return max(1.0, job.limit * used(of, job.partition, level, already))

    return length


def _pieces(work: dict[str, Any], seconds: float, limit: int) -> list[float]:
    if work["startup"] + seconds <= limit or not work["requeue"]:
        return [work["startup"] + seconds]
    held = limit - 60 - work["checkpoint"]
    done, pieces = 0.0, []
    if held <= work["startup"]:
        return []
    while done < seconds - 1e-9:
        step = min(seconds - done, held - work["startup"])
        pieces.append(work["startup"] + step)
        done += step
    return pieces
