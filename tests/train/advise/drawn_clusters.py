"""Clusters drawn at random, written as a scenario's folder, and judged by a simulator that shares nothing with the replay.

The simulator goes from one moment at which a job ends to the next and plans anew each time with limits, node by node. It is
run with every job using the part of its limit that history lets expect (10 %, median, limit), and once with what it really uses.
"""

import json
import math
import random
from pathlib import Path
from typing import Any, NamedTuple

NOW = 1_795_200_000
POISON = ("PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints", "DependencyNeverSatisfied", "InvalidAccount", "InvalidQOS")
KINDS = {"l40": 1.0, "mi50": 0.25, "a100": 1.5}
AGAIN = 121


class Node(NamedTuple):
    """A node with GPUs of one type."""

    name: str
    partitions: tuple[str, ...]
    kind: str
    gpus: int
    cpus: int
    memory: int
    up: bool


class Part(NamedTuple):
    """A partition."""

    name: str
    tier: int = 10
    mode: str = "OFF"
    grace: int = 0
    most: int = 172_800
    nodes: int = 0
    state: str = "UP"


class Job(NamedTuple):
    """A job; seconds, each node's share. `part`: how much of the limit it really uses."""

    number: int
    partition: str
    nodes: int
    kind: str
    gpus: int
    cpus: int
    memory: int
    limit: int
    priority: float
    part: float
    start: int = 0
    on: tuple[str, ...] = ()
    begin: int = 0
    reason: str = "Priority"
    tasks: int = 0
    throttle: int = 0


class Kept(NamedTuple):
    """A reservation."""

    start: int
    end: int
    nodes: tuple[str, ...]


class Drawn(NamedTuple):
    """A cluster, and the true law of each type of GPU."""

    nodes: list[Node]
    parts: dict[str, Part]
    jobs: list[Job]
    kept: list[Kept]
    past: dict[str, list[float]]
    laws: dict[str, tuple[float, float, float]]
    rows: list[tuple[str, int, int, list[float]]]
    work: dict[str, Any]
    candidates: list[tuple[str, str, int, int]]


def drawn(seed: int) -> Drawn:
    """A cluster of two or three types of GPU, and work for it."""
    dice = random.Random(seed)
    kinds = dice.sample(list(KINDS), dice.choice((2, 2, 3)))
    parts = {
        f"p-{kind}": Part(
            f"p-{kind}",
            most=dice.choice((14_400, 86_400, 172_800)),
            nodes=dice.choice((0, 0, 0, 3)),
            state=dice.choice(("UP",) * 9 + ("DOWN",)),
        )
        for kind in kinds
    }
    shared = {kind: [f"p-{kind}"] for kind in kinds}
    if dice.random() < 0.35:
        parts["spare"] = Part("spare", 1, dice.choice(("REQUEUE", "REQUEUE", "CANCEL")), dice.choice((0, 5, 60)))
        for kind in dice.sample(kinds, dice.randint(1, len(kinds))):
            shared[kind].append("spare")
    if dice.random() < 0.3:
        parts["short"] = Part("short", dice.choice((10, 20)), most=dice.choice((7200, 14_400)))
        shared[kinds[0]].append("short")
    nodes = [
        Node(f"{kind}-{n:02}", tuple(shared[kind]), kind, size, 32, 128_000, dice.random() > 0.12)
        for kind in kinds
        for size in [dice.choice((1, 2, 4, 8))]
        for n in range(dice.randint(1, 6))
    ]
    past = (
        {
            name: [round(min(1.0, max(0.02, dice.betavariate(*shape))), 3) for _ in range(dice.choice((2, 8, 30)))]
            for name in parts
            for shape in [dice.choice(((2, 5), (5, 2), (8, 8), (1, 1)))]
        }
        if dice.random() < 0.6
        else {}
    )
    jobs = _jobs(dice, nodes, parts, past)
    kept = []
    if dice.random() < 0.25:
        start = NOW + dice.choice((-3600, 3600, 20_000, 60_000))
        names = tuple(node.name for node in nodes if node.kind == kinds[0])[: dice.randint(1, 6)]
        kept.append(Kept(start, start + dice.choice((7200, 30_000, 40 * 86_400)), names))
    laws = {
        kind: (dice.uniform(100, 1500), dice.choice((0, 0, dice.uniform(0, 30))), dice.choice((0, dice.uniform(0, 5)))) for kind in kinds
    }
    rows, candidates = [], []
    for kind in kinds:
        size = next(node.gpus for node in nodes if node.kind == kind)
        wanted = sorted({(n, g) for n in (1, 2, 3, 4) for g in {1, size} if dice.random() < 0.6} or {(1, 1)})
        candidates += [(name, kind, n, g) for name in shared[kind] for n, g in dice.sample(wanted, min(3, len(wanted)))]
        for n, g in dice.sample(wanted, min(len(wanted), dice.randint(0 if dice.random() < 0.1 else 1, 3))):
            rows.append((kind, n, g, [round(seconds_of(laws[kind], n, g) * dice.gauss(1, 0.03), 2) for _ in range(dice.choice((1, 1, 2)))]))
    return Drawn(nodes, parts, jobs, kept, past, laws, rows, _work(dice), candidates)


def _work(dice: random.Random) -> dict[str, Any]:
    work = {
        "epochs": dice.choice((5, 20, 40, 80)),
        "startup": dice.choice((30, 60, 120)),
        "requeue": dice.random() < 0.3,
        "cpus_per_gpu": dice.choice((1, 4, 4, 8)),
    }
    work |= {"checkpoint": dice.choice((0, 20, 40)), "accept_preemption": dice.random() < 0.3}
    if dice.random() < 0.4:
        work |= {"gpu_memory": dice.choice((8, 14, 30)) << 30, "gpu_memory_sharded": dice.choice((0, 20, 40)) << 30}
    if dice.random() < 0.3:
        work |= {"host_memory_per_gpu": dice.choice((8, 16, 32)) << 30}
    if dice.random() < 0.4:
        work |= {"checkpoint_every": dice.choice((60, 600))}
    if dice.random() < 0.1:
        work |= {"time_limit": dice.choice((60, 600))}
    return work


def seconds_of(law: tuple[float, float, float], nodes: int, gpus: int) -> float:
    """An epoch by the true law."""
    return law[0] / (nodes * gpus) + law[1] + law[2] * (nodes - 1)


def _part(dice: random.Random, past: dict[str, list[float]], name: str, already: float) -> float:
    """The part of its limit that a job really uses: drawn from what the history was drawn from."""
    known = past.get(name, []) if len(past.get(name, [])) >= 5 else [used for row in past.values() for used in row]
    longer = [used for used in known if used > already]
    return dice.choice(longer) if longer else dice.uniform(max(already, 0.3), 1.0) if not known else 1.0


def _jobs(dice: random.Random, nodes: list[Node], parts: dict[str, Part], past: dict[str, list[float]]) -> list[Job]:
    jobs, number = [], 100
    for node in nodes:
        free = node.gpus
        while node.up and free and dice.random() < 0.8:
            name, gpus = dice.choice(node.partitions), dice.randint(1, free)
            limit = dice.choice((60, 240, 480, 720, 1440)) * 60
            ran = dice.randint(1, limit // 60 - 1) * 60
            part = _part(dice, past, name, ran / limit)
            jobs.append(Job(number, name, 1, node.kind, gpus, 2 * gpus, 8000 * gpus, limit, 1000, part, NOW - ran, (node.name,)))
            free, number = free - gpus, number + 1
    for _ in range(dice.choice((0, 0, 3, 8, 20))):
        like, number = dice.choice(nodes), number + 1
        name = dice.choice(like.partitions)
        size = sum(node.up and name in node.partitions and node.kind == like.kind for node in nodes)
        limit = min(dice.choice((60, 240, 480, 720)) * 60, parts[name].most)
        wide, gpus = dice.randint(1, max(1, min(3, size))), dice.randint(1, like.gpus)
        job = Job(
            number,
            name,
            wide,
            like.kind,
            gpus,
            2 * gpus,
            8000 * gpus,
            limit,
            dice.choice((1000, 1000, 1500, 3000)),
            _part(dice, past, name, 0.0),
        )
        draw = dice.random()
        if draw < 0.1:
            job = job._replace(reason=dice.choice(POISON), limit=432_000)
        elif draw < 0.2:
            job = job._replace(reason=dice.choice(("JobHeldUser", "JobHeldAdmin", "Dependency")))
        elif draw < 0.3:
            job = job._replace(reason="BeginTime", begin=NOW + dice.choice((600, 7200, 40_000)))
        elif draw < 0.4:
            job = job._replace(tasks=dice.randint(2, 5), throttle=dice.choice((0, 1, 2)), nodes=1)
        jobs.append(job)
    return jobs


def write(folder: Path, of: Drawn, new: bool) -> None:
    """The folder; `new`: as releases from 23.11 write their JSON."""

    def number(value: float) -> Any:
        return {"set": True, "infinite": False, "number": int(value)} if new else int(value)

    def listed(value: str) -> Any:
        return [value] if new else value

    taken = {node.name: sum(job.gpus for job in of.jobs if node.name in job.on) for node in of.nodes}
    nodes = []
    for node in of.nodes:
        states = ["IDLE" if not taken[node.name] else "MIXED"] + ([] if node.up else ["DRAIN"])
        state = {"state": states} if new else {"state": states[0].lower(), "state_flags": states[1:]}
        nodes.append(
            {
                "name": node.name,
                "gres": f"gpu:{node.kind}:{node.gpus}",
                "gres_used": f"gpu:{node.kind}:{taken[node.name]}(IDX:N/A)",
                "cpus": node.cpus,
                "real_memory": node.memory,
                "partitions": list(node.partitions),
                "weight": 1,
                "reason": "" if node.up else "hot",
            }
            | state
        )
    (folder / "nodes.json").write_text(json.dumps({"nodes": nodes}))
    rows = []
    for job in of.jobs:
        row = {
            "job_id": job.number,
            "name": f"job{job.number}",
            "partition": job.partition,
            "job_state": listed("RUNNING" if job.on else "PENDING"),
        }
        row |= {
            "state_reason": "None" if job.on else job.reason,
            "node_count": number(job.nodes),
            "cpus": number(job.cpus * job.nodes),
            "memory_per_node": number(job.memory),
            "tres_per_node": f"gres:gpu:{job.kind}:{job.gpus}",
            "time_limit": number(job.limit // 60),
            "priority": number(job.priority),
            "nodes": ",".join(job.on),
            "start_time": number(job.start),
            "eligible_time": number(job.begin),
        }
        if job.tasks:
            tasks = f"0-{job.tasks - 1}" + (f"%{job.throttle}" if job.throttle else "")
            row |= {"array_job_id": number(job.number), "array_task_string": tasks, "array_max_tasks": number(job.throttle)}
        rows.append(row)
    (folder / "squeue.json").write_text(json.dumps({"jobs": rows}))
    past = [
        {
            "job_id": 9000 + place,
            "partition": name,
            "state": {"current": listed("COMPLETED")},
            "time": {"elapsed": round(part * 36_000), "limit": number(600)},
        }
        for name, parts in of.past.items()
        for place, part in enumerate(parts)
    ]
    if past:
        (folder / "sacct.json").write_text(json.dumps({"jobs": past}))
    (folder / "scontrol_partitions.txt").write_text("".join(_partition(part) for part in of.parts.values()))
    if of.kept:
        lines = [
            f"ReservationName=r{n} StartTime={_iso(kept.start)} EndTime={_iso(kept.end)} Nodes={','.join(kept.nodes)} Flags=MAINT,SPEC_NODES Users=root State=INACTIVE\n"
            for n, kept in enumerate(of.kept)
        ]
        (folder / "reservations.txt").write_text("".join(lines))
    toml = "".join(f"{key} = {json.dumps(value)}\n" for key, value in of.work.items())
    devices = "".join(
        f'[[device]]\nname = "{kind}"\nmemory = {MEMORY[kind]}\nweight = {weight}\nworks = {"true" if works(of, kind) else "false"}\n'
        for kind, weight in KINDS.items()
    )
    candidates = json.dumps([text(candidate) for candidate in of.candidates])
    (folder / "scenario.toml").write_text(
        f'name = "x"\nnow = {NOW}\ntimezone = "UTC"\nslurm = "{"24.05" if new else "22.05"}"\ncandidates = {candidates}\n[job]\n{toml}{devices}'
    )
    (folder / "rates.toml").write_text(
        "".join(
            f'[[rate]]\ndevice = "{kind}"\nnodes = {n}\ngpus = {g}\nseconds = {seconds}\nsource = "measured"\n'
            for kind, n, g, seconds in of.rows
        )
    )


MEMORY = {"l40": 48 << 30, "mi50": 16 << 30, "a100": 40 << 30}


def works(of: Drawn, kind: str) -> bool:
    """One cluster in some has a type without a build."""
    return not (kind == "mi50" and len(of.jobs) % 7 == 3)


def text(candidate: tuple[str, str, int, int]) -> str:
    """As the contract writes an allocation."""
    return f"{candidate[0]}/{candidate[1]}:{candidate[2]}x{candidate[3]}"


def _iso(moment: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _partition(part: Part) -> str:
    days, rest = divmod(part.most, 86_400)
    most = f"{days}-{rest // 3600:02}:00:00" if days else f"{rest // 3600:02}:00:00"
    return f"PartitionName={part.name} MaxNodes={part.nodes or 'UNLIMITED'} MaxTime={most} PriorityTier={part.tier} PreemptMode={part.mode} GraceTime={part.grace} State={part.state}\n"


def used(of: Drawn, name: str, quantile: float, already: float) -> float:
    """The part of its limit that history lets expect."""
    own = of.past.get(name, [])
    known = own if len(own) >= 5 else [part for row in of.past.values() for part in row]
    longer = sorted(part for part in known if part > already)
    if not longer or quantile >= 1:
        return 1.0
    place = quantile * (len(longer) - 1)
    low = math.floor(place)
    high = min(low + 1, len(longer) - 1)
    return longer[low] + (place - low) * (longer[high] - longer[low])


def soft(of: Drawn, name: str, kind: str = "") -> bool:
    """Whether a higher tier on the same nodes may preempt jobs of a partition."""
    near = {other for node in of.nodes if name in node.partitions and kind in ("", node.kind) for other in node.partitions}
    return of.parts[name].mode != "OFF" and any(of.parts[other].tier > of.parts[name].tier for other in near)
