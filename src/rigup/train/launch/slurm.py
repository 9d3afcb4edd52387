"""What Slurm says of a job, through the one seam to the outside."""

import re
from typing import NamedTuple

from rigup.machine.host import Host
from rigup.machine.slurm.reading import read_answer
from rigup.machine.slurm.values import Job
from rigup.schemas.launch import State

_STATES: dict[str, State] = {
    "PENDING": "pending",
    "CONFIGURING": "running",
    "RUNNING": "running",
    "COMPLETING": "running",
    "STAGE_OUT": "running",
    "SUSPENDED": "running",
    "STOPPED": "running",
    "SIGNALING": "running",
    "RESIZING": "running",
    "REQUEUED": "requeued",
    "REQUEUE_HOLD": "requeued",
    "REQUEUE_FED": "requeued",
    "SPECIAL_EXIT": "requeued",
    "COMPLETED": "completed",
    "FAILED": "failed",
    "BOOT_FAIL": "failed",
    "LAUNCH_FAILED": "failed",
    "DEADLINE": "timeout",
    "TIMEOUT": "timeout",
    "CANCELLED": "cancelled",
    "REVOKED": "cancelled",
    "OUT_OF_MEMORY": "out-of-memory",
    "NODE_FAIL": "node-fail",
    "PREEMPTED": "preempted",
}
ENDED = frozenset(("completed", "failed", "cancelled", "timeout", "out-of-memory", "node-fail", "preempted"))
NEVER = frozenset(
    [
        "PartitionTimeLimit",
        "PartitionNodeLimit",
        "BadConstraints",
        "DependencyNeverSatisfied",
        "InvalidAccount",
        "InvalidQOS",
        "AssocMaxJobsLimit",
    ][:-1]
)
_FORGOTTEN = "Invalid job id specified"
SECONDS = 30.0  # a controller under load answers late


class JobFacts(NamedTuple):
    """What Slurm knows of a job, or of one run of an array. `exit`: as a shell tells it; None before the end."""

    state: State
    reason: str = ""
    exit: int | None = None
    row: int = -1


def ask(host: Host, job: int) -> list[JobFacts] | None:
    """A job, or every run of an array; empty where Slurm knows it no more, None where it does not answer."""
    answer = host.run(("scontrol", "-o", "show", "job", str(job)), SECONDS)
    text = answer.body or ""
    found = jobs_of(text) if answer.state == "known" and answer.exit == 0 else []
    found = found or _accounted(host, job)
    return found if found or _FORGOTTEN in text else None


def jobs_of(text: str) -> list[JobFacts]:
    """Of what `scontrol show job` or `sacct` prints: a job is one; of an array, runs that still wait share one."""
    dump = read_answer(text)
    if dump is None:
        return []
    found = [facts for job in dump.jobs or () if job.state for facts in _rows(job)]
    return found or [
        JobFacts(state, "", record.exit if state in ENDED else None, -1 if record.array_task is None else record.array_task)
        for record in dump.records or ()
        for state in [_STATES.get(record.state, "unknown")]
    ]


def _rows(job: Job) -> list[JobFacts]:
    state = _STATES.get(job.state, "unknown")
    if state == "pending" and job.restarts:
        state = "requeued"
    reason = job.reason.partition("_")[0] if job.reason.startswith("ReqNode") else job.reason
    facts = JobFacts(state, "" if reason == "None" else reason, job.exit if state in ENDED else None)
    rows = numbers_of(job.array_tasks) if job.array_task is None else [job.array_task]
    return [facts._replace(row=row) for row in rows] or [facts]


def numbers_of(text: str, most: int = 10_000) -> list[int]:
    """Numbers of Slurm's lists: "3", "0-2,7", "0-9:3", "0-9%2"; at most so many, none for what is no such list."""
    numbers: list[int] = []
    for part in text.split("%", maxsplit=1)[0].split(","):
        match = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7})(?::(\d{1,7}))?)?", part, re.ASCII)
        if match is None:
            return []
        first, step = int(match[1]), max(1, int(match[3] or 1))
        numbers += range(first, min(int(match[2] or first), first + step * most) + 1, step)
        if len(numbers) > most:
            return numbers[:most]
    return numbers


def _accounted(host: Host, job: int) -> list[JobFacts]:
    """Of the accounting, where there is one."""
    answer = host.run(("sacct", "-P", "-X", "-j", str(job), "-o", "JobID,State,ExitCode,NodeList"), SECONDS)
    return jobs_of(answer.body or "") if answer.exit == 0 else []
