"""Which rank failed of itself, and with which words: of the log of a job whose lines srun labelled."""

import re

from rigup.machine.ranks import failed_first, labelled
from rigup.schemas.launch import Failing, Preflight

PREFLIGHT_FAILED = 78  # the status of ranks that do not begin
_LINES, _LONGEST = 12, 400
# srun's own lines: "srun: error: node1: task 3: Exited with exit code 1", "… tasks 0-1: Killed", "… Segmentation fault (core dumped)".
_TASK = re.compile(
    r"^srun: error: (?P<node>[\w.-]{1,200}): tasks? (?P<first>\d{1,7})[\d,-]{0,200}: (?P<end>[^\n]{1,120})$", re.MULTILINE | re.ASCII
)
# torchrun's report: the root cause, with its rank and how it ended.
_CAUSE = re.compile(
    r"Root Cause \(first observed failure\):\s{1,4}\[\d{1,7}\]:\n[^=]{0,400}?host {1,8}: (?P<node>\S{1,200})\s{1,8}rank {1,8}: (?P<rank>\d{1,7}) "
    r"\(local_rank: (?P<local>\d{1,5})\)\s{1,8}exitcode {1,8}: (?P<exit>-?\d{1,4})"
)
# rigup's own, of several machines without a scheduler.
_HOST = re.compile(r"^rigup: host (?P<node>\S{1,300}) ended with status (?P<exit>\d{1,3})$", re.MULTILINE | re.ASCII)
_EXIT = re.compile(r"Exited with exit code (\d{1,3})")
_SIGNALS = {
    "Killed": 9,
    "Terminated": 15,
    "Segmentation fault": 11,
    "Aborted": 6,
    "Bus error": 7,
    "User defined signal 1": 10,
    "User defined signal 2": 12,
    "Floating point exception": 8,
    "Illegal instruction": 4,
    "Hangup": 1,
    "Interrupt": 2,
}
_BY_OTHERS = frozenset((9, 15))  # signals by which srun ends those that are left over
_MEMORY = re.compile(r"^(?:slurmstepd: )?error: (?:Detected \d+ oom.kill|[^\n]{0,80}[Oo]ut [Oo]f [Mm]emory)[^\n]{0,200}$", re.MULTILINE)


def failing(log: str, checks: list[Preflight]) -> Failing | None:
    """The rank that failed of itself; None where the log tells of none."""
    log = log.replace("\r\n", "\n")
    wrong = next((check for check in checks if not check.passed), None)
    if wrong is not None:
        return Failing(rank=wrong.rank, node=wrong.node or None, exit=PREFLIGHT_FAILED, error=f"{wrong.check}: {wrong.because}")
    if (cause := _CAUSE.search(log)) is not None:
        words = _words_of(log, int(cause["local"]))
        return Failing(rank=int(cause["rank"]), node=cause["node"], exit=int(cause["exit"]), error=words)
    ends = [(int(match["first"]), match["node"], _status(match["end"])) for match in _TASK.finditer(log)]
    own = [end for end in ends if end[2] is not None and -end[2] not in _BY_OTHERS] or ends
    first = failed_first(log)
    if first is not None:
        node, status = next(((node, status) for rank, node, status in ends if rank == first.rank), (None, None))
        return Failing(rank=first.rank, node=node, exit=status, error=_words_of(log, first.rank) or first.said)
    if not own:
        return _of_host(log)
    rank, node, status = own[0]
    memory = _MEMORY.search(log)
    return Failing(rank=rank, node=node, exit=status, error=_words_of(log, rank) or (memory[0] if memory else ""))


def _of_host(log: str) -> Failing | None:
    """The machine that ended first, with the last lines before that was said."""
    host = _HOST.search(log)
    if host is None:
        return None
    lines = [line[:_LONGEST] for line in log[: host.start()].splitlines() if line.strip()]
    return Failing(rank=None, node=host["node"], exit=int(host["exit"]), error="\n".join(lines[-_LINES:]))


def _status(end: str) -> int | None:
    """An exit status, or minus the signal; None for what srun says in other words."""
    if match := _EXIT.search(end):
        return int(match[1])
    return next((-number for words, number in _SIGNALS.items() if end.startswith(words)), None)


def _words_of(log: str, rank: int) -> str:
    """The last lines of a rank, without its label: of its last traceback where there is one."""
    own = [message[:_LONGEST] for line in log.splitlines() for label, message in [labelled(line)] if label == rank]
    start = next((at for at in range(len(own) - 1, -1, -1) if own[at].startswith("Traceback (most recent call last)")), None)
    chosen = own[start:] if start is not None else own
    end = (
        next((at for at, line in enumerate(chosen) if at and line[:1] not in ("", " ", "T")), len(chosen) - 1)
        if start is not None
        else len(chosen) - 1
    )
    return "\n".join(chosen[: end + 1][-_LINES:])
