"""Advice for a large cluster: 10,000 nodes with 80,000 GPUs and 20,000 queued jobs. `python benchmarks/advise.py`.

Prints the seconds of a processor for reading, replaying and answering, and the most memory that was held, from values of which the
cluster is drawn by a fixed seed. The dumps are written as Slurm's JSON and read again.
"""

import gc
import json
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from rigup.machine.local import Local
from rigup.train.advise.answer import advice
from rigup.train.advise.scenario import scenario

NODES, QUEUED = 10_000, 20_000
NOW = 1_795_200_000
KINDS = ("h100", "a100", "l40", "mi210", "mi50")


def main() -> None:
    """Write, read, answer."""
    drawn = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), drawn, int(sys.argv[1]) if len(sys.argv) > 1 else QUEUED)
        gc.disable()  # as the command does
        begun = time.process_time()
        question = scenario(Local(), folder)
        read = time.process_time()
        answer = advice(question)
        done = time.process_time()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"read {read - begun:.2f} s, advice {done - read:.2f} s, most memory {most:.0f} MiB")
    for row in answer.allocations:
        print(f"{row.allocation:16} waits {row.wait.low / 3600:7.2f} {row.wait.likely / 3600:7.2f} {row.wait.high / 3600:7.2f} h")


def written(folder: Path, drawn: random.Random, queued: int) -> None:
    """The dumps of a busy cluster."""
    nodes, jobs, number = [], [], 0
    for at in range(NODES):
        kind, free = KINDS[at * len(KINDS) // NODES], 8
        while free > 0 and drawn.random() < 0.97:
            gpus, number = min(free, drawn.choice((1, 2, 4, 8, 8))), number + 1
            limit = drawn.choice((240, 720, 1440, 2880))
            start = NOW - drawn.randint(1, limit * 60 - 60)
            jobs.append(job(number, kind, gpus, limit, 1) | {"job_state": "RUNNING", "start_time": start, "nodes": f"n{at:05}"})
            free -= gpus
        nodes.append(
            {
                "name": f"n{at:05}",
                "state": ["MIXED"],
                "gres": f"gpu:{kind}:8",
                "gres_used": f"gpu:{kind}:{8 - free}",
                "cpus": 128,
                "real_memory": 1_000_000,
                "partitions": [kind],
            }
        )
    for _ in range(queued):
        number += 1
        wide = drawn.choice((1, 1, 1, 1, 1, 1, 2, 4, 16))
        jobs.append(job(number, drawn.choice(KINDS), 8 if wide > 1 else drawn.choice((1, 2, 4, 8)), drawn.choice((240, 720, 1440)), wide))
    past = [
        {
            "job_id": n,
            "partition": drawn.choice(KINDS),
            "state": {"current": "COMPLETED"},
            "time": {"elapsed": drawn.randint(600, 36000), "limit": 720},
        }
        for n in range(5000)
    ]
    (folder / "nodes.json").write_text(json.dumps({"nodes": nodes}))
    (folder / "squeue.json").write_text(json.dumps({"jobs": jobs}))
    (folder / "sacct.json").write_text(json.dumps({"jobs": past}))
    lines = [
        f"PartitionName={kind} Nodes=n[00000-09999] MaxTime=2-00:00:00 MaxNodes=UNLIMITED PriorityTier=1 PreemptMode=OFF GraceTime=0 State=UP"
        for kind in KINDS
    ]
    (folder / "scontrol_partitions.txt").write_text("\n".join(lines))
    candidates = [f"{kind}/{kind}:{nodes}x8" for kind in KINDS for nodes in (1, 4)]
    (folder / "scenario.toml").write_text(f"now = {NOW}\ncandidates = {json.dumps(candidates)}\n[job]\nepochs = 30\n")
    rates = [f'[[rate]]\ndevice = "{kind}"\nnodes = 1\ngpus = 8\nseconds = [{300 + 100 * at}]' for at, kind in enumerate(KINDS)]
    (folder / "rates.toml").write_text("\n".join(rates))


def job(number: int, kind: str, gpus: int, limit: int, nodes: int) -> dict[str, object]:
    """A row of squeue's JSON."""
    return {
        "job_id": number,
        "name": "x",
        "partition": kind,
        "job_state": "PENDING",
        "state_reason": "Priority",
        "priority": 1000,
        "node_count": nodes,
        "cpus": 8 * gpus * nodes,
        "memory_per_node": 32_000 * gpus,
        "time_limit": limit,
        "tres_per_node": f"gres:gpu:{kind}:{gpus}",
    }


if __name__ == "__main__":
    main()
