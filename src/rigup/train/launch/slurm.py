"""What Slurm says of a job, through the one seam to the outside."""

import re
from typing import NamedTuple

from rigup.machine.host import Host
from rigup.schemas.launch import State

_FIELD = re.compile(r"(?:^| )(?P<name>[A-Z][A-Za-z:/]{1,40})=(?P<value>.*?)(?= [A-Z][A-Za-z:/]{1,40}=|$)", re.MULTILINE)
_STATES: dict[str, State] = {
    "PENDING": "pending", "CONFIGURING": "running", "RUNNING": "running", "COMPLETING": "running", "STAGE_OUT": "running", "SUSPENDED": "running",
    "STOPPED": "running", "SIGNALING": "running", "RESIZING": "running", "REQUEUED": "requeued", "REQUEUE_HOLD": "requeued",
    "REQUEUE_FED": "requeued", "SPECIAL_EXIT": "requeued", "COMPLETED": "completed", "FAILED": "failed", "BOOT_FAIL": "failed", "LAUNCH_FAILED": "failed",
    "DEADLINE": "timeout", "TIMEOUT": "timeout", "CANCELLED": "cancelled", "REVOKED": "cancelled", "OUT_OF_MEMORY": "out-of-memory",
    "NODE_FAIL": "node-fail", "PREEMPTED": "preempted",
}  # fmt: skip
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
SECONDS = 30.0  # a controller under load answers late


class JobFacts(NamedTuple):
    """What Slurm knows of a job, or of one run of an array. `exit`: as a shell tells it; None before the end."""

    state: State
    reason: str = ""
    exit: int | None = None
    row: int = -1
    nodes: str = ""


def ask(host: Host, job: int) -> list[JobFacts]:
    """A job, or every run of an array; empty where Slurm knows it no more, or does not answer."""
    answer = host.run(("scontrol", "-o", "show", "job", str(job)), SECONDS)
    found = jobs_of(answer.body or "") if answer.state == "known" and answer.exit == 0 else []
    return found or _accounted(host, job)


def jobs_of(text: str) -> list[JobFacts]:
    """Of `scontrol -o show job`, a line a job."""
    found: list[JobFacts] = []
    for line in text.splitlines():
        fields = {match["name"]: match["value"].strip() for match in _FIELD.finditer(line)}
        if "JobState" in fields:
            found += _rows(fields)
    return found


def _rows(fields: dict[str, str]) -> list[JobFacts]:
    """A line is one job; of an array, runs that still wait share one."""
    restarts = int(fields.get("Restarts", "0")) if fields.get("Restarts", "0").isdigit() else 0
    state = _STATES.get(fields["JobState"].split("+")[0].split(",")[0], "unknown")
    if state == "pending" and restarts:
        state = "requeued"
    reason = fields.get("Reason", "")
    facts = JobFacts(
        state=state, reason="" if reason == "None" else reason.partition("_")[0] if reason.startswith("ReqNode") else reason,
        exit=status_of(fields.get("ExitCode", "")) if state in ENDED else None, nodes=fields.get("NodeList", ""),
    )  # fmt: skip
    return [facts._replace(row=row) for row in numbers_of(fields.get("ArrayTaskId", ""))] or [facts]


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


def status_of(text: str) -> int | None:
    """Slurm's STATUS:SIGNAL as a shell tells it."""
    match = re.fullmatch(r"(\d{1,5}):(\d{1,3})", text, re.ASCII)
    if match is None:
        return None
    return 128 + int(match[2]) if int(match[2]) else int(match[1])


def _accounted(host: Host, job: int) -> list[JobFacts]:
    """Of the accounting, where there is one."""
    answer = host.run(("sacct", "-n", "-P", "-X", "-j", str(job), "-o", "JobID,State,ExitCode,NodeList"), SECONDS)
    found = []
    for line in (answer.body or "").splitlines() if answer.exit == 0 else ():
        words = line.split("|")
        if len(words) == 4 and words[0].partition("_")[0] == str(job):
            row = numbers_of(words[0].partition("_")[2].strip("[]"))
            state = _STATES.get(words[1].split(" ")[0], "unknown")
            found.append(
                JobFacts(state, "", status_of(words[2]) if state in ENDED else None, row[0] if row else -1, words[3])
            )
    return found
