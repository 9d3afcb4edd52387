"""A job's request as its variables tell it: of every machine's variables some may be a job's."""

import re
from collections.abc import Callable
from typing import Any

from rigup.machine.facts import Place, Reading
from rigup.machine.kinds import JobRequest, Variable
from rigup.machine.reader import Statements, derives

_TERMINAL = "SLURM_PTY_"  # variables of a step that srun gave a terminal: somebody works in it


def number(value: str) -> int | None:
    """`4`, `2-4`, `a100:4`."""
    match = re.fullmatch(r"(?:[A-Za-z][\w.-]{0,40}:)?(\d{1,6})(?:-\d{1,6})?", value)
    return int(match[1]) if match else None


_SET: dict[str, tuple[str, Callable[[str], Any]]] = {
    "SLURM_NNODES": ("nodes", number),
    "SLURM_JOB_NUM_NODES": ("nodes", number),
    "SLURM_NTASKS": ("tasks", number),
    "SLURM_NTASKS_PER_NODE": ("tasks_per_node", number),
    "SLURM_GPUS": ("gpus", number),
    "SLURM_JOB_NAME": ("name", str),
    "SLURM_GPUS_PER_NODE": ("gpus_per_node", number),
    "SLURM_GPUS_PER_TASK": ("gpus_per_task", number),
    "SLURM_GPU_BIND": ("binding", str),
    "SLURM_JOB_PARTITION": ("partition", str),
    "SLURM_GPUS_ON_NODE": ("given", lambda value: [int(value)] if value.isdigit() and len(value) < 5 else None),
    "SLURM_JOB_GPUS": ("asked", lambda value: bool(value) or None),
    "SLURM_STEP_GPUS": ("asked", lambda value: bool(value) or None),
}


@derives(JobRequest)
def job_of_variables(variable: Variable) -> Statements:
    """Inside a job its request stands in SLURM_* variables."""
    name, value = variable.get("name", ""), variable.get("value")
    if name.startswith(_TERMINAL) and value:
        yield _job_request(variable.place, "interactive", variable.fields["value"]._replace(value=True))
    if name in _SET and value:
        field, convert = _SET[name]
        converted = convert(value)
        if converted is not None:
            yield _job_request(variable.place, field, variable.fields["value"]._replace(value=converted))


def _job_request(place: Place, field: str, reading: Reading) -> JobRequest:
    return JobRequest(place, {field: reading})
