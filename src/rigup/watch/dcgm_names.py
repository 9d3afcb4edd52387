"""The ten series of DCGM's exporter that dashboards ask for, beside our own: its names, labels and units (dcgm-exporter, etc/default-counters.csv)."""

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import UNSET

from rigup.schemas.watch import Watch
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.watch.history import key_of
from rigup.watch.prometheus_labels import labelled

_MIB = 2**20


class Series(NamedTuple):
    """One series: gauge or counter, what it is, and how much of its unit is one of ours."""

    path: str
    kind: str
    help: str
    factor: float


NAMES = {
    "DCGM_FI_DEV_GPU_UTIL": Series("utilisation.gpu", "gauge", "GPU utilization (in %).", 100.0),
    "DCGM_FI_DEV_FB_USED": Series("memory.vram.used", "gauge", "Framebuffer memory used (in MiB).", 1 / _MIB),
    "DCGM_FI_DEV_FB_FREE": Series("memory.vram.free", "gauge", "Framebuffer memory free (in MiB).", 1 / _MIB),
    "DCGM_FI_DEV_GPU_TEMP": Series("temperature.edge", "gauge", "GPU temperature (in C).", 1.0),
    "DCGM_FI_DEV_MEMORY_TEMP": Series("temperature.memory", "gauge", "Memory temperature (in C).", 1.0),
    "DCGM_FI_DEV_POWER_USAGE": Series("power.draw", "gauge", "Power draw (in W).", 1.0),
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": Series("energy", "counter", "Total energy consumption since boot (in mJ).", 1e3),
    "DCGM_FI_DEV_SM_CLOCK": Series("clock.graphics", "gauge", "SM clock frequency (in MHz).", 1e-6),
    "DCGM_FI_DEV_MEM_CLOCK": Series("clock.memory", "gauge", "Memory clock frequency (in MHz).", 1e-6),
    "DCGM_FI_DEV_XID_ERRORS": Series("errors.xid", "gauge", "Value of the last XID error encountered.", 1.0),
}


def dcgm_rows(sample: Watch, host: str) -> Iterator[tuple[str, str, float]]:
    """Name, labels and value of each series that a GPU has; what it does not tell has none."""
    for gpu in sample.gpus:
        if gpu.state == "active":
            words = _labels(gpu, host)
            labels = labelled(tuple(words), *words.values())
            for name, series in NAMES.items():
                if (value := _value(gpu, series)) is not None:
                    yield name, labels, value


def _labels(gpu: WatchedGpu, host: str) -> dict[str, str]:
    words = {
        "gpu": str(gpu.index),
        "UUID": gpu.uuid if gpu.uuid is not UNSET else key_of(gpu),
        "pci_bus_id": gpu.pci_address,
        "device": f"{gpu.vendor}{gpu.index}" if gpu.vendor is not UNSET else UNSET,
        "modelName": gpu.name,
        "Hostname": host or UNSET,
    }
    return {label: word for label, word in words.items() if word is not UNSET}


def _value(gpu: WatchedGpu, series: Series) -> float | None:
    if series.path == "errors.xid":
        xids = gpu.errors.xid
        return None if xids is UNSET else max(xids, key=lambda xid: xid.time).code if xids else 0
    value: object = gpu
    for part in series.path.split("."):
        value = getattr(value, part, UNSET)
    if series.path == "memory.vram.free" and value is UNSET:
        value = _free(gpu)
    return value * series.factor if isinstance(value, int | float) else None


def _free(gpu: WatchedGpu) -> int | None:
    """Where no driver tells it: what is neither used nor reserved."""
    vram = gpu.memory.vram
    if vram is UNSET or vram.total is UNSET or vram.used is UNSET:
        return None
    return max(vram.total - vram.used - (vram.reserved if vram.reserved is not UNSET else 0), 0)
