"""Which of a node's processes this one is, as whoever started them all says it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import NamedTuple


class Rank(NamedTuple):
    """One process of several on a node.

    Attributes:
        number: counted from 0 on its node.
        variable: where that was read.
        bound: whether the starter showed it devices of its own, which its number does not count.

    """

    number: int
    variable: str
    bound: bool = False


# Rank on the node and how many there are, by starter; one that starts another stands behind it, for torchrun and mpirun
# run under Slurm too. Sources: https://docs.pytorch.org/docs/stable/elastic/run.html (torchrun),
# https://docs.open-mpi.org/en/main/tuning-apps/environment-var.html (OpenMPI), https://mvapich.cse.ohio-state.edu
# (MVAPICH 2 and 3), Intel MPI's and MPICH's process manager hydra (MPI_LOCALRANKID), Cray's PALS, Flux, jsrun,
# https://slurm.schedmd.com/srun.html (Slurm).
_STARTERS = (
    ("LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("MVP_COMM_WORLD_LOCAL_RANK", "MVP_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("PMI_LOCAL_RANK", "PMI_LOCAL_SIZE"),
    ("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("JSM_NAMESPACE_LOCAL_RANK", "JSM_NAMESPACE_LOCAL_SIZE"),
    ("FLUX_TASK_LOCAL_ID", ""),
    ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"),
)


def local_rank(variables: Mapping[str, str] | None = None) -> Rank | None:
    """This process's rank on its node; None where it is alone there, or nobody says.

    Args:
        variables: by default this process's.

    """
    environ = os.environ if variables is None else variables
    for name, size in _STARTERS:
        number = environ.get(name, "").strip()
        if not number.isdecimal():
            continue  # unset, or -1, by which some starters say that there is only one
        alone = _alone(environ, name, environ.get(size, "").strip())
        return None if alone else Rank(int(number), name, name == "SLURM_LOCALID" and _bound_by_slurm(environ))
    return None


def _alone(environ: Mapping[str, str], name: str, size: str) -> bool:
    """Whether it is the only process of the node: then it takes the best device like any other program."""
    if name == "SLURM_LOCALID" and "SLURM_STEP_TASKS_PER_NODE" not in environ:
        size = environ.get("SLURM_NTASKS", "")  # a batch script is one process, with no step of its own
    return re.fullmatch(r"1(?:\(x\d{1,9}\))?", size) is not None


def _bound_by_slurm(environ: Mapping[str, str]) -> bool:
    """Whether srun gave each task devices that the others do not see."""
    asked = (environ.get("SLURM_GPUS_PER_TASK"), "gpu" in environ.get("SLURM_TRES_PER_TASK", ""))
    bind = environ.get("SLURM_GPU_BIND", "") + environ.get("SLURM_GPUS_BIND", "")
    return any(asked) or re.search(r"per_task|single|map_gpu|mask_gpu", bind) is not None
