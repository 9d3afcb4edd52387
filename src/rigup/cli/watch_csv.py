"""`rigup watch --csv`: a row a GPU and sample, in base units; what is not available is empty."""

import csv
import io

from rigup.schemas.watch import Watch
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.visible import visible

COLUMNS = (
    "time",
    "index",
    "pci_address",
    "name",
    "state",
    "utilisation.gpu",
    "utilisation.memory",
    "memory.vram.used",
    "memory.vram.total",
    "memory.gtt.used",
    "memory.gtt.total",
    "memory.unified.used",
    "memory.unified.total",
    "temperature.edge",
    "temperature.junction",
    "temperature.memory",
    "power.draw",
    "power.limit",
    "energy",
    "clock.graphics",
    "clock.memory",
    "fan.rpm",
    "fan.speed",
    "pcie.width",
    "pcie.speed",
    "pcie.rx",
    "pcie.tx",
    "throttle",
)


def rows(sample: Watch, with_head: bool) -> str:
    """The sample's rows as CSV (RFC 4180)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if with_head:
        writer.writerow(COLUMNS)
    writer.writerows([f"{sample.time:.3f}", *(_cell(gpu, column) for column in COLUMNS[1:])] for gpu in sample.gpus)
    return text.getvalue()


def _cell(gpu: WatchedGpu, path: str) -> str:
    value: object = gpu
    for part in path.split("."):
        value = getattr(value, part, None)
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return visible(value) if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
