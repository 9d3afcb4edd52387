"""Apple's GPUs by `ioreg -r -d 1 -w 0 -c IOAccelerator -a`, a property list that any user may read.

Power and temperature need private interfaces of the system, or root: they are not available.
"""

import plistlib
import xml.parsers.expat
from typing import Any

from rigup.machine.host import Host
from rigup.watch.values import Identity, Values

ARGV = ("ioreg", "-r", "-d", "1", "-w", "0", "-c", "IOAccelerator", "-a")
_SOURCE = "ioreg"


def accelerators(content: str) -> list[dict[str, Any]]:
    """The accelerators of a property list; none where it is none."""
    try:
        loaded = plistlib.loads(content.encode())
    except (
        plistlib.InvalidFileException,
        xml.parsers.expat.ExpatError,
        ValueError,
        AttributeError,
        TypeError,
        IndexError,
        KeyError,
        RecursionError,
        OverflowError,
    ):
        return []
    rows = loaded if isinstance(loaded, list) else [loaded]
    return [row for row in rows if isinstance(row, dict) and isinstance(row.get("PerformanceStatistics"), dict)]


def identity(row: dict[str, Any], index: int) -> Identity:
    """Who an accelerator is."""
    model = row.get("model")
    name = model.decode("utf-8", "replace").rstrip("\0") if isinstance(model, bytes) else str(model or "")
    driver = str(row.get("IOClass") or "")
    vendor = "apple" if name.startswith("Apple") or driver.startswith("AGX") else ""
    return Identity(key=str(index), vendor=vendor, name=name[:80], integrated=vendor == "apple" or None, driver=driver[:40])


def put(values: Values, row: dict[str, Any], memory: int | None) -> None:
    """What an accelerator tells; `memory` is the main memory in bytes, which it shares."""
    statistics = row["PerformanceStatistics"]
    values.put_share("utilisation.gpu", _number(statistics, "Device Utilization %"), _SOURCE)
    used = _number(statistics, "In use system memory")
    values.put("memory.unified.used", used, _SOURCE)
    values.put("memory.unified.total", memory, "sysctl")
    if memory is not None and used is not None and used <= memory:
        values.put("memory.unified.free", memory - used, _SOURCE)


def _number(statistics: dict[str, Any], name: str) -> int | None:
    number = statistics.get(name)
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**62 else None


class AppleGpu:
    """One accelerator of a Mac."""

    def __init__(self, host: Host, index: int, memory: int | None) -> None:
        self.host, self.index, self.memory = host, index, memory

    def read(self, values: Values, now: float) -> None:  # noqa: ARG002
        """Ask the registry again."""
        rows = accelerators(self.host.run(ARGV).body or "")
        if self.index < len(rows):
            put(values, rows[self.index], self.memory)
        else:
            values.state, values.because = "lost", "ioreg lists it no more"


def main_memory(host: Host) -> int | None:
    """Bytes of main memory, as sysctl tells them."""
    content = (host.run(("sysctl", "-n", "hw.memsize")).body or "").strip()
    return int(content) if content.isdecimal() and len(content) < 20 else None
