"""Which processes take part in a training, and what they were given, as whoever started them says it.

Sources: https://slurm.schedmd.com/srun.html and sbatch.html (output environment variables),
https://docs.pytorch.org/docs/stable/elastic/run.html (torchrun). What Lightning makes of them:
lightning/fabric/plugins/environments/slurm.py and torchelastic.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple, Optional

_MOST = 9  # digits of a number that is believed


class AllocationError(RuntimeError):
    """Numbers of the job do not agree; the text says which, and what to change."""


class Allocation(NamedTuple):
    """One training job, as this process sees it.

    Attributes:
        launcher: torchrun, srun, batch (Slurm's batch shell, without srun), or "" for a program started by hand.
        nodes: how many take part.
        ranks_per_node: processes that the launcher starts on each; 0 where the program starts its own.
        rank: this process among all.
        local_rank: this process on its node.
        gpus: GPUs of this node that the job was given; None where nobody says.
        job: Slurm's id of the job, or "".
        restarts: how often Slurm has requeued it.

    """

    launcher: str = ""
    nodes: int = 1
    ranks_per_node: int = 0
    rank: int = 0
    local_rank: int = 0
    gpus: Optional[int] = None  # noqa: UP045  # evaluated by Python 3.9
    job: str = ""
    restarts: int = 0

    @property
    def world_size(self) -> int:
        """How many processes take part; 1 for a program that starts its own, or none."""
        return self.nodes * max(1, self.ranks_per_node)


def allocation(variables: Mapping[str, str] | None = None) -> Allocation:
    """What the launcher's variables say.

    Args:
        variables: by default this process's.

    Raises:
        AllocationError: they contradict each other, or the job cannot work as it was started.

    """
    given = os.environ if variables is None else variables
    job = _job(given)
    if "LOCAL_WORLD_SIZE" in given and "RANK" in given:
        found = _of_torchrun(given)
    elif not job:
        return Allocation()
    else:
        found = _of_srun(given) if "SLURM_STEP_TASKS_PER_NODE" in given else _of_batch_shell(given)
    return found._replace(job=job, restarts=_whole(given, "SLURM_RESTART_COUNT") or 0, gpus=_gpus(given))


def _of_torchrun(given: Mapping[str, str]) -> Allocation:
    local, world = _needed(given, "LOCAL_WORLD_SIZE"), _needed(given, "WORLD_SIZE")
    if world % local:
        template = "WORLD_SIZE={0} is no multiple of LOCAL_WORLD_SIZE={1}: the nodes start different numbers of processes. Give torchrun the same --nproc-per-node on every node."
        raise AllocationError(template.format(world, local))
    return Allocation("torchrun", world // local, local, _needed(given, "RANK", 0), _needed(given, "LOCAL_RANK", 0))


def _of_srun(given: Mapping[str, str]) -> Allocation:
    """A task of a step. Lightning reads SLURM_NTASKS_PER_NODE, which is set by the option of that name alone."""
    counts = tasks_per_node(given["SLURM_STEP_TASKS_PER_NODE"])
    if not counts or len(set(counts)) > 1:
        template = "Slurm starts {0} tasks on the nodes of this step, which have to be equally many. Write --ntasks-per-node in place of --ntasks, in the batch script."
        raise AllocationError(template.format(given["SLURM_STEP_TASKS_PER_NODE"]))
    asked = _whole(given, "SLURM_NTASKS_PER_NODE")
    if asked is not None and asked != counts[0]:
        template = "The job has --ntasks-per-node={0}, and this step runs {1} on each node. Start it by a bare srun, without -n or -N."
        raise AllocationError(template.format(asked, counts[0]))
    rank, local = _needed(given, "SLURM_PROCID", 0), _needed(given, "SLURM_LOCALID", 0)
    return Allocation("srun", len(counts), counts[0], rank, local)


def _of_batch_shell(given: Mapping[str, str]) -> Allocation:
    nodes = _whole(given, "SLURM_JOB_NUM_NODES") or _whole(given, "SLURM_NNODES") or 1
    tasks = _whole(given, "SLURM_NTASKS") or 1
    if nodes > 1 or tasks > 1:
        template = "The job has {0} nodes and {1} tasks, and this program was started once, by the batch shell: the others would be waited for until the time limit. Write srun before the command."
        raise AllocationError(template.format(nodes, max(tasks, nodes)))
    return Allocation("batch", ranks_per_node=1 if "SLURM_NTASKS" in given else 0)


def tasks_per_node(text: str) -> list[int]:
    """Tasks of each node: `2(x2),1` is [2, 2, 1]. Empty where it cannot be read."""
    counts: list[int] = []
    for part in text.strip().split(","):
        hit = re.fullmatch(r"(\d{1,6})(?:\(x(\d{1,5})\))?", part)
        if hit is None:
            return []
        counts += [int(hit[1])] * int(hit[2] or 1)
    return counts


def _gpus(given: Mapping[str, str]) -> int | None:
    """GPUs of this node that Slurm gave the job. The last may be a list: `gpu:a100:4,lustre:1`."""
    count = _whole(given, "SLURM_GPUS_ON_NODE")
    if count is not None:
        return count
    hit = re.search(r"(?:^|:)(\d{1,4})$", given.get("SLURM_GPUS_PER_NODE", "").strip())
    return int(hit[1]) if hit else None


def _job(given: Mapping[str, str]) -> str:
    number = given.get("SLURM_JOB_ID", given.get("SLURM_JOBID", "")).strip()
    return number if number.isdecimal() and len(number) <= 2 * _MOST else ""


def _whole(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MOST else None


def _needed(given: Mapping[str, str], name: str, least: int = 1) -> int:
    number = _whole(given, name)
    if number is None or number < least:
        raise AllocationError(
            f"{name}={given.get(name, '')!r} is no number of {least} or more. Start the program by torchrun or srun, which set it."
        )
    return number
