"""Samples that the tests make."""

from typing import Any

import msgspec

from rigup.schemas.watch import Watch

PROCESS = {"pid": 7, "start": 5.0, "name": "python", "command": "python train.py", "user": "ada", "slurm_job": "77"}


def gpu(index: int = 0, **parts: Any) -> dict[str, Any]:
    """A GPU that works."""
    whole = {
        "index": index,
        "name": "Card",
        "vendor": "amd",
        "pci_address": f"0000:0{index}:00.0",
        "state": "active",
        "source": {},
        "not_available": [],
        "utilisation": {"gpu": 0.5},
        "memory": {"vram": {"total": 8 * 2**30, "used": 2**30}},
        "power": {"draw": 100.0},
        "temperature": {"edge": 50.5},
        "throttle": [],
    }
    return whole | parts


def process(memory: int = 2**30, index: int = 0, busy: float | None = 0.5, **parts: Any) -> dict[str, Any]:
    """A process on one GPU."""
    use = {} if busy is None else {"utilisation": {"gpu": busy}}
    return PROCESS | {"gpus": [{"index": index, "type": "compute", "memory": {"vram": memory}, **use}]} | parts


def sample(time: float = 1000.0, interval: float | None = 1.0, gpus: Any = None, processes: Any = (), **parts: Any) -> Watch:
    """A sample."""
    plain = {
        "schema": "rigup.watch/1",
        "time": time,
        "took": {"wall": 0.01, "cpu": 0.01},
        "gpus": gpus if gpus is not None else [gpu()],
        "processes": list(processes),
        "findings": [],
        "errors": [],
    }
    return msgspec.convert(plain | ({} if interval is None else {"interval": interval}) | parts, Watch)
