"""10,000 nodes, 80,000 GPUs and 20,000 jobs: how long `rigup cluster` and the doctor's grouping take, and in how much memory.

    python benchmarks/cluster.py

Bounds: 2 s for the answer, 10 s for the grouping, 1 GB of memory, in seconds of the processor. Exit status 1 where one is not kept.
"""

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from rigup.cli.cluster_report import table_text
from rigup.cluster.asking import from_files
from rigup.cluster.grouping import Examined, grouped
from rigup.cluster.overview import You, overview
from rigup.machine.fingerprint import Fingerprint
from rigup.machine.slurm.asking import QUEUE_HEAD

NODES, GPUS, JOBS = 10_000, 8, 20_000
ANSWER_SECONDS, GROUPING_SECONDS, MEMORY = 2.0, 10.0, 1 << 30


def written(folder: Path) -> None:
    """Dumps of such a cluster, as its commands print them."""
    drawn = random.Random(7)
    answers = Path(__file__).parents[1] / "tests/machine/slurm_answers"
    rest = (answers / "scontrol_nodes.txt").read_text().splitlines()[0].partition(" ")[2]
    for word in ("Gres=gpu:l40:4", "State=MIXED", "Partitions=cuda,scavenge"):
        rest = rest.replace(word, "")
    lines = []
    for at in range(NODES):
        used, drained = drawn.randint(0, GPUS), at % 97 == 0
        lines.append(
            f"NodeName=node{at:05} {rest} Gres=gpu:h100:{GPUS} GresUsed=gpu:h100:{used}(IDX:0-{used}) Partitions=gpu,scavenge "
            f"State={'MIXED' if used else 'IDLE'}{'+DRAIN Reason=GPU lost [root@1795200000]' if drained else ''}\n"
        )
    (folder / "nodes.txt").write_text("".join(lines))
    rows = [
        f"{at}|gpu|user{at % 300}|lab|normal|{'RUNNING' if at % 2 else 'PENDING'}|Priority|1000|1|8|gres:gpu:h100:4|1795200000|1795200100|1-00:00:00|{at}|N/A|node{at % NODES:05}|job {at}"
        for at in range(JOBS)
    ]
    (folder / "queue.txt").write_text("\n".join([QUEUE_HEAD, *rows]))
    ranges = f"node[00000-{NODES - 1:05}]"
    (folder / "partitions.txt").write_text(
        "".join(
            f"PartitionName={name} Nodes={ranges} MaxTime=2-00:00:00 PriorityTier={tier} PreemptMode=REQUEUE State=UP\n"
            for name, tier in (("gpu", 10), ("scavenge", 1))
        )
    )


def grouping_seconds() -> float:
    """How long the doctor's grouping of as many nodes takes, with some hundred facts each and a few that are each node's own."""
    here = ("", "", "", "")
    packages = [(here, {"env": "/opt", "name": f"package{at}", "version": "1.0"}) for at in range(150)]
    examined = {}
    for at in range(NODES):
        facts = {
            "Platform": [(here, {"release": "5.14" if at % 1000 else "5.13"})],
            "Package": packages,
            "Firmware": [(here, {"version": f"{at}"})],
            "Driver": [(here, {"name": "nvidia", "version": "535" if at % 500 else "525"})],
            "KernelModule": [(here, {"name": f"module{number}", "loaded": True, "size": at}) for number in range(30)],
        }
        examined[f"node{at:05}"] = Examined(
            Fingerprint(facts=facts, whole={kind: [here] for kind in facts}), (), ("H100",) * (GPUS - (at % 700 == 0)), GPUS
        )
    began = time.process_time()
    groups = grouped(examined, [examined])
    seconds = time.process_time() - began
    print(f"grouping of {NODES} nodes into {len(groups)} groups {seconds:.2f} s")
    return seconds


def main() -> int:
    """Measure; 1 where a bound is not kept."""
    grouping = grouping_seconds()
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder))
        began = time.process_time()
        dump, sources, now = from_files([folder])
        read = time.process_time() - began
        answer = overview(dump, sources, now, You())
        text, data = table_text(answer), msgspec.json.format(msgspec.json.encode(answer), indent=1)
        seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{len(answer.nodes)} nodes, {sum(gpus.total for node in answer.nodes for gpus in node.gpus)} GPUs, {len(dump.jobs or [])} jobs")
    print(
        f"read {read:.2f} s, whole answer as table and JSON {seconds:.2f} s ({len(text)} and {len(data)} characters), memory {memory / 1e6:.0f} MB"
    )
    return int(grouping > GROUPING_SECONDS or seconds > ANSWER_SECONDS or memory > MEMORY)


if __name__ == "__main__":
    sys.exit(main())
