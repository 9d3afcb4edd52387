"""A plain torch program's place among the processes that train together: `ranks = join()`."""

from __future__ import annotations

import atexit
import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from .allocation import Allocation, AllocationError, allocation
from .anywhere import Anywhere, Nothing

_LETTING_GO = 0.2  # seconds
_PORTS = (20_000, 10_000)  # the first for a rendezvous, and how many
_OWN = ("module", "device_ids")


class Ranks(Anywhere):
    """What a program asks of the processes that it is one of; alone it is the first of one.

    Attributes:
        device: of this process.
        rank: its number among all.
        world_size: how many there are.

    """

    def __init__(self, device: torch.device, rank: int = 0, world_size: int = 1) -> None:
        super().__init__(device)
        self.rank, self.world_size = rank, world_size

    @property
    def first(self) -> bool:
        """Whether this is the process that writes files and prints."""
        return self.rank == 0

    def share(self, batch_size: int) -> int:
        """The batch of each process, so that all together take as many samples in a step as one would.

        Raises:
            AllocationError: they cannot be equally large.

        """
        if batch_size % self.world_size:
            template = "A batch of {0} samples cannot be shared evenly by {1} processes. Choose a multiple of {1}."
            raise AllocationError(template.format(batch_size, self.world_size))
        return batch_size // self.world_size

    def parallel(self, model: torch.nn.Module) -> torch.nn.Module:
        """The model, whose gradients are averaged over all processes at each backward; alone the model itself."""
        inner = self.bare(model)
        if self.world_size == 1 or not any(weight.requires_grad for weight in inner.parameters()):
            return inner
        on_gpu = self.device.type in ("cuda", "xpu") and all(weight.device == self.device for weight in inner.parameters())
        return _Parallel(inner, device_ids=[self.device] if on_gpu else None)

    def bare(self, model: Any) -> Any:
        """The model as it was written."""
        wrapped = (DistributedDataParallel, torch.nn.DataParallel)
        return model.module if isinstance(model, wrapped) else model

    def mean(self, value: torch.Tensor) -> torch.Tensor:
        """The mean of all processes' values; every process has to ask."""
        if self.world_size == 1:
            return value
        total = value.detach().clone()
        torch.distributed.all_reduce(total)
        return total / self.world_size

    def print(self, *values: Any, **options: Any) -> None:
        """Print on the first process alone."""
        if self.first:
            print(*values, **options)

    def on_first(self, make: Any) -> Any:
        """What makes something on the first process; elsewhere what takes all calls and does nothing."""
        return make if self.first else Nothing()

    def save(self, state: Any, path: Any, *, wait: bool = True, **options: Any) -> None:
        """torch.save by the first process, for which the others wait; a file of before stays whole until the new one is.

        Args:
            state: what is saved; a model is saved as it was written.
            path: or a file.
            wait: False where not every process comes here: then a failure is told by the first alone.
            options: of torch.save.

        Raises:
            OSError: it could not be written, on all that wait.

        """
        if not wait:
            if self.first:
                _saved(self.bare(state), path, options)
            return
        failed = ""
        if self.first:
            try:
                _saved(self.bare(state), path, options)
            except OSError as error:
                failed = str(error)
        if self._broadcast_text(failed):
            raise OSError(f"{path} could not be written by the first process: {failed or 'see its own message'}")

    def _broadcast_text(self, text: str) -> str:
        if self.world_size == 1:
            return text
        texts = [text]
        torch.distributed.broadcast_object_list(texts, 0, device=self.device)
        return str(texts[0])


class _Parallel(DistributedDataParallel):  # type: ignore[misc,unused-ignore]
    """A model that looks as it did before: its own attributes, and a state that fits one process."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name in _OWN:
                raise
            return getattr(super().__getattr__("module"), name)

    def __getitem__(self, place: Any) -> Any:
        return self.module[place]

    def named_parameters(self, *given: Any, **options: Any) -> Any:
        return self.module.named_parameters(*given, **options)

    def named_buffers(self, *given: Any, **options: Any) -> Any:
        return self.module.named_buffers(*given, **options)

    def state_dict(self, *given: Any, **options: Any) -> Any:
        return self.module.state_dict(*given, **options)

    def load_state_dict(self, *given: Any, **options: Any) -> Any:
        return self.module.load_state_dict(*given, **options)


def join(device: str | None = None, *, variables: Mapping[str, str] | None = None) -> Ranks:
    """Join the processes that torchrun or srun started with this one; alone where nobody started others.

    Args:
        device: cpu, or what `rigup.torch.device` takes; by default this process's own.
        variables: of the launcher; by default this process's environment, which then gets torch's own variables.

    Raises:
        AllocationError: the numbers of the job do not agree; the text says which.

    """
    from rigup.torch import device as chosen

    found = chosen(device) if device is not None else chosen()
    if multiprocessing.parent_process() is not None:  # a worker that reads data, and imports the program anew
        return Ranks(found)
    given = os.environ if variables is None else variables
    job = allocation(given)
    if job.world_size == 1:
        return Ranks(found)
    if found.type in ("cuda", "xpu"):
        getattr(torch, found.type).set_device(found)  # where a program names the kind alone, it means this one
    if not torch.distributed.is_initialized():
        for name, value in _rendezvous(job, given).items():
            os.environ.setdefault(name, value)
        torch.distributed.init_process_group(_backend(found), timeout=timedelta(minutes=30))
        atexit.register(_leave)
    return Ranks(found, torch.distributed.get_rank(), torch.distributed.get_world_size())


def _rendezvous(job: Allocation, given: Mapping[str, str]) -> dict[str, str]:
    """torch's variables for a task of srun; torchrun sets them itself."""
    places = {"RANK": job.rank, "WORLD_SIZE": job.world_size, "LOCAL_RANK": job.local_rank, "LOCAL_WORLD_SIZE": job.ranks_per_node}
    found = {name: str(value) for name, value in places.items()}
    found["MASTER_ADDR"] = (
        "127.0.0.1" if job.nodes == 1 else first_node(given.get("SLURM_STEP_NODELIST", given.get("SLURM_JOB_NODELIST", "")))
    )
    found["MASTER_PORT"] = str(_PORTS[0] + int(job.job or 0) % _PORTS[1])
    return found


def first_node(names: str) -> str:
    """The first of Slurm's list of nodes: `gpu[03-05,9],x` is gpu03. Raises AllocationError."""
    hit = re.match(r"\s*([\w.-]{1,200})(?:\[(\d{1,20})[\d,-]{0,9000}\]([\w.-]{0,200}))?(?:,|\s*$)", names, re.ASCII)
    if hit is None:
        raise AllocationError(f"Slurm's list of nodes cannot be read: {names[:80]!r}. Set MASTER_ADDR to the first node's address.")
    return hit[1] + (hit[2] or "") + (hit[3] or "")


def _backend(device: torch.device) -> str:
    fast = {"cuda": "cpu:gloo,cuda:nccl", "xpu": "cpu:gloo,xpu:xccl"}
    return fast.get(device.type, "gloo")


def _leave() -> None:
    """Leave the others before Python ends.

    A worker thread of gloo may still let go of the last tensors; one that does so while Python ends takes the process down
    by SIGABRT, after all was done (https://github.com/pytorch/pytorch/pull/179291). It needs a moment, and nothing waits for it.
    """
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()
        time.sleep(_LETTING_GO)


def _saved(state: Any, path: Any, options: dict[str, Any]) -> None:
    if not isinstance(path, (str, os.PathLike)):
        torch.save(state, path, **options)
        return
    handle, part = tempfile.mkstemp(suffix=".part", dir=os.path.dirname(os.fspath(path)) or ".")
    os.close(handle)
    try:
        torch.save(state, part, **options)
        os.chmod(part, 0o666 & ~_mask())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
