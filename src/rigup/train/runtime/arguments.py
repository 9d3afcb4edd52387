"""Arguments of Lightning's Trainer and Fabric that agree with the job and with the chips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict

from .allocation import Allocation, AllocationError, allocation
from .precision import has_bf16

if TYPE_CHECKING:
    from rigup.torch import DeviceFacts

# Lightning's accelerator for each kind of device; of the others it has none in itself.
_ACCELERATORS = {"cuda": "gpu", "rocm": "gpu", "mps": "mps"}


class TrainerArguments(TypedDict):
    """What `Trainer` takes, and `Fabric` too.

    Attributes:
        accelerator: gpu (NVIDIA's and AMD's), mps or cpu.
        devices: processes on each node, each with a device of its own.
        num_nodes: nodes of the job.
        strategy: ddp for several processes, else auto.
        precision: bf16-mixed where the chips have it, 16-mixed on other GPUs of NVIDIA and AMD, else 32-true.

    """

    accelerator: str
    devices: int
    num_nodes: int
    strategy: str
    precision: str


def trainer_args(
    *,
    accelerator: str = "auto",
    devices: int | None = None,
    precision: str = "auto",
    strategy: str = "auto",
    variables: Mapping[str, str] | None = None,
    chips: Sequence[DeviceFacts] | None = None,
) -> TrainerArguments:
    """Choose arguments that agree with the allocation; what is given here is kept, or refused with the reason.

    Args:
        accelerator: auto, gpu, mps or cpu.
        devices: processes on each node; by default as many as the launcher starts, or all GPUs.
        precision: as Trainer takes it, or auto.
        strategy: as Trainer takes it, or auto.
        variables: of the launcher; by default this process's environment.
        chips: GPUs that this process sees; by default `rigup.torch.devices()`.

    Raises:
        AllocationError: the numbers do not agree, or a chip lacks the precision; the text says what to change.

    """
    job = allocation(variables)
    usable = _usable(accelerator, chips)
    kind = _accelerator(accelerator, usable)
    on_gpus = usable if kind == "gpu" else []
    count = _devices(job, devices, on_gpus, kind)
    ranks = count * job.nodes
    return {
        "accelerator": kind,
        "devices": count,
        "num_nodes": job.nodes,
        "strategy": "ddp" if strategy == "auto" and ranks > 1 else strategy,
        "precision": _precision(precision, on_gpus[:count]),
    }


def _usable(accelerator: str, chips: Sequence[DeviceFacts] | None) -> list[DeviceFacts]:
    """GPUs that this torch has code for."""
    if accelerator == "cpu":
        return []
    if chips is None:
        from rigup.torch import devices

        chips = devices()
    found = [chip for chip in chips if chip.is_gpu and chip.has_code is not False]
    return [chip for chip in found if chip.kind == found[0].kind]


def _accelerator(wish: str, usable: list[DeviceFacts]) -> str:
    have = _ACCELERATORS.get(usable[0].kind, "") if usable else "cpu"
    if not have:
        template = "Lightning has no accelerator of its own for {0}. Use plain torch on it, or accelerator='cpu'."
        raise AllocationError(template.format(usable[0]))
    if wish in ("auto", have):
        return have
    if wish in ("cuda", "gpu", "mps"):
        template = "accelerator={0!r} was asked for, and this process sees {1}. {2}"
        seen = ", ".join(map(str, usable)) or "no GPU that this torch has code for"
        raise AllocationError(template.format(wish, seen, "`rigup doctor` says why; accelerator='auto' takes what is there."))
    return "cpu"


def _devices(job: Allocation, wish: int | None, gpus: list[DeviceFacts], kind: str) -> int:
    """Processes on each node."""
    if wish is not None and (isinstance(wish, bool) or wish < 1):
        raise AllocationError(f"devices={wish!r} is no number of processes. Leave it out, or give 1 or more.")
    if not job.ranks_per_node:
        return _own_processes(job, wish, gpus)
    if wish not in (None, job.ranks_per_node):
        template = "devices={0} was asked for, and {1} starts {2} on each node. Leave devices out, or start {0} by {3}={0}."
        raise AllocationError(template.format(wish, _name(job), job.ranks_per_node, _option(job)))
    if kind == "gpu":
        _each_has_a_gpu(job, wish, gpus)
    return job.ranks_per_node


def _own_processes(job: Allocation, wish: int | None, gpus: list[DeviceFacts]) -> int:
    """A program that no launcher started: Lightning starts the others."""
    if gpus and (wish or 0) > len(gpus):
        template = "devices={0} was asked for, and this process sees {1} GPUs. Ask for {0} ({2}), or leave devices out."
        raise AllocationError(template.format(wish, len(gpus), "--gpus-per-node" if job.job else "CUDA_VISIBLE_DEVICES"))
    return wish or len(gpus) or 1


def _each_has_a_gpu(job: Allocation, wish: int | None, gpus: list[DeviceFacts]) -> None:
    """Lightning numbers a node's GPUs by the local rank, and needs each process to see all of them."""
    ranks, given = job.ranks_per_node, max(job.gpus or 0, len(gpus))
    if len(gpus) < ranks <= (job.gpus or 0):
        template = "Each of the {0} processes of a node sees {1} of its {2} GPUs, and Lightning needs to see {0}. Ask by --gpus-per-node={0} in place of --gpus-per-task, without --gpu-bind."
        raise AllocationError(template.format(ranks, len(gpus), job.gpus))
    if ranks > given:
        template = (
            "{0} starts {1} processes on each node, which has {2} GPUs for them. Ask for --gpus-per-node={1}, or start {2} by {3}={2}."
        )
        raise AllocationError(template.format(_name(job), ranks, given, _option(job)))
    if ranks == 1 < given and wish is None and job.job:
        template = "The job has {0} GPUs on each node, and {1} starts one process there, which uses one. Start {0} by {2}={0}, or pass devices=1 to leave the others idle."
        raise AllocationError(template.format(given, _name(job), _option(job)))


def _name(job: Allocation) -> str:
    return "torchrun" if job.launcher == "torchrun" else "Slurm"


def _option(job: Allocation) -> str:
    return "--nproc-per-node" if job.launcher == "torchrun" else "--ntasks-per-node"


def _precision(wish: str, chips: list[DeviceFacts]) -> str:
    """By what all chips have in hardware; a chip of which that is not known is not refused."""
    if wish == "auto":
        if not chips:
            return "32-true"
        return "bf16-mixed" if all(has_bf16(chip) for chip in chips) else "16-mixed"
    lacking = [chip for chip in chips if has_bf16(chip) is False]
    if lacking and "bf16" in str(wish):
        template = "precision={0!r} was asked for, and {1} has no bfloat16: it would be emulated, slower than float32. Use '16-mixed', or precision='auto'."
        raise AllocationError(template.format(wish, lacking[0]))
    return str(wish)
