"""The cluster at hand, asked: few calls, each kept for half a minute, so that nobody loops on the controller."""

import hashlib
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from rigup.knowledge.gpu_words import gpu_in_words
from rigup.knowledge.speeds import data_sheet
from rigup.language import _
from rigup.machine.baseline import state_folder
from rigup.machine.host import LIMIT, Host
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Dump
from rigup.train.advise.inputs import Allocation, Cluster, Device, InputError, Question, Rate, Second, Work
from rigup.train.advise.never import usable
from rigup.train.advise.scenario import second
from rigup.train.advise.state import cluster

KEPT = 30.0
"""Seconds for which an answer of Slurm is used again."""
WITHIN = 30.0
_PAST_DAYS = 14
_NEEDED = (
    ("scontrol", "-o", "-d", "show", "node"),
    ("scontrol", "-o", "show", "partition"),
    ("scontrol", "-o", "-d", "show", "job"),
)
_MORE = (
    ("scontrol", "-o", "show", "reservation"),
    ("sacct", "-a", "-X", "-n", "-P", "-s", "CD", "-S", f"now-{_PAST_DAYS}days", "-o",
     "JobID,Partition,State,ElapsedRaw,TimelimitRaw,Submit,Start,End,User,Account,QOS,JobName,NNodes,NCPUS,AllocTRES"),
)  # fmt: skip
_PER_NODE = (1, 2, 4, 8, 16)
_NODES = (1, 2, 3, 4, 6, 8, 12, 16)
MOST_CANDIDATES = 64


def now(host: Host) -> Cluster:
    """The cluster at this moment. Raises InputError where there is no Slurm, or it does not answer."""
    dump, moment = Dump(), time.time()
    zone = datetime.now().astimezone().tzinfo
    for argv in (*_NEEDED, *_MORE):
        body, why = _asked(host, argv)
        if argv in _NEEDED and body is None:
            raise InputError(
                _("{command}: {why}. Is this a machine of the cluster?").format(command=" ".join(argv), why=why)
            )
        if body is not None:
            body = f"{argv[-1].replace(',', '|')}\n{body}" if argv[0] == "sacct" else body
            read_answer(body, dump, zone) if zone else read_answer(body, dump)
    dump.jobs = dump.jobs if dump.jobs is not None else []
    return cluster(dump, moment)


def _asked(host: Host, argv: tuple[str, ...]) -> tuple[str | None, str]:
    """What a command prints, or None and why not; an answer of the last half minute serves."""
    kept = _place(argv, host.variables().body or "")
    with suppress(OSError, UnicodeError):
        if 0 <= time.time() - kept.stat().st_mtime < KEPT:
            return kept.read_text(), ""
    answer = host.run(argv, seconds=WITHIN)
    if answer.body is None or answer.exit:
        return None, (answer.why or (answer.body or "").strip()[:200] or answer.state)
    if len(answer.body) >= LIMIT:
        return None, _("the answer is longer than {count} characters; use dumps, with --scenario").format(count=LIMIT)
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = kept.with_suffix(f".{os.getpid()}")
        fresh.touch(mode=0o600)
        fresh.write_text(answer.body)
        fresh.replace(kept)
    return answer.body, ""


def _place(argv: Sequence[str], variables: str) -> Path:
    """Where an answer is kept: by command and by cluster, as its variables tell."""
    named = [line for line in variables.splitlines() if line.startswith(("SLURM_CONF=", "SLURM_CLUSTERS="))]
    key = "\0".join([*argv, *named])
    return state_folder("slurm") / hashlib.sha256(key.encode(errors="replace")).hexdigest()[:24]


def devices(state: Cluster) -> dict[str, Device]:
    """Types of GPU of a cluster, with the memory that the catalogue knows."""
    found = {}
    for name in sorted({kind for node in state.nodes for kind in node.gpus}):
        known = gpu_in_words(name)
        found[name] = Device(name, known[0].memory_bytes if known else None)
    return found


def with_catalogue(rates: Iterable[Rate], names: Iterable[str]) -> list[Rate]:
    """Beside what was measured, a rate of each other type: the measured one of one GPU by bandwidths of the data sheets."""
    known = list(rates)
    measured = {rate.device for rate in known}
    base = next((rate for rate in known if (speed := _bandwidth(rate.device)) and speed > 0), None)
    if base is None:
        return known
    seconds = sum(base.seconds) / len(base.seconds) * base.nodes * base.gpus
    speeds = {name: speed for name in names if name not in measured and (speed := _bandwidth(name))}
    there = _bandwidth(base.device) or 0.0
    known += [Rate(name, 1, 1, (seconds * there / speed,), "catalogue") for name, speed in speeds.items()]
    return known


def _bandwidth(name: str) -> float | None:
    known = gpu_in_words(name)
    sheet = data_sheet(known[0].name, known[0].memory_bytes) if known else None
    return sheet.bandwidth if sheet else None


def candidates(state: Cluster, work: Work) -> list[Allocation]:
    """Allocations worth judging: of every partition and type some numbers of nodes and GPUs that nodes that are up have."""
    found = []
    kinds = sorted({(name, kind) for node in state.nodes for name in node.partitions for kind in node.gpus})
    for partition, device in kinds:
        if partition not in state.partitions:
            continue
        most = max((node.gpus.get(device, 0) for node in state.nodes if partition in node.partitions), default=0)
        for gpus in sorted({count for count in _PER_NODE if count < most} | ({most} if most else set())):
            there = len(usable(state, Allocation(partition, device, 1, gpus), work))
            limit = min(there, state.partitions[partition].max_nodes or there)
            found += [
                Allocation(partition, device, nodes, gpus)
                for nodes in _NODES
                if nodes <= limit and (nodes == 1 or gpus in {1, most})
            ]
    return found[:MOST_CANDIDATES]


def trial(host: Host, question: Question, asked: Allocation, limit: float) -> Second:
    """What `sbatch --test-only` says of one allocation; the call uses up a job id."""
    words = (
        "sbatch",
        "--test-only",
        "-p",
        asked.partition,
        "-N",
        str(asked.nodes),
        f"--gres=gpu:{asked.device}:{asked.gpus}",
    )
    cpus = str(question.work.cpus_per_gpu * asked.gpus)
    answer = host.run(
        (*words, "-n", str(asked.nodes), "-c", cpus, "-t", str(round(limit / 60)), "--wrap", "true"), WITHIN
    )
    zone = datetime.now().astimezone().tzinfo
    if zone is None:
        raise InputError(_("This machine has no time zone."))
    return second(asked, answer.exit if answer.body is not None else 1, answer.body or answer.why, zone)
