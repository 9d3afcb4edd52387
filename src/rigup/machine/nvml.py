"""What NVML tells, in the form of `nvidia-smi --query-gpu=… --format=csv`. Run as a program of its own.

A vendor library is loaded in a child process only: one that hangs or crashes then costs its own facts.
Prints nothing and leaves with status 1 where there is no NVML or no driver; the message tells which.
"""

import sys
from collections.abc import Callable
from typing import Any

COLUMNS = (
    "index", "name", "uuid", "pci.bus_id", "driver_version", "memory.total [MiB]", "memory.used [MiB]", "compute_cap",
)  # fmt: skip


def rows(nvml: Any) -> list[list[str]]:
    """One row a device, in NVML's order; a value that the driver refuses is N/A as nvidia-smi prints it."""
    driver = _text(nvml.nvmlSystemGetDriverVersion())
    return [_row(nvml, index, driver) for index in range(nvml.nvmlDeviceGetCount())]


def _row(nvml: Any, index: int, driver: str) -> list[str]:
    device = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = _ask(nvml, lambda: nvml.nvmlDeviceGetMemoryInfo(device))
    capability = _ask(nvml, lambda: nvml.nvmlDeviceGetCudaComputeCapability(device))
    return [
        str(index),
        _text(_ask(nvml, lambda: nvml.nvmlDeviceGetName(device))),
        _text(_ask(nvml, lambda: nvml.nvmlDeviceGetUUID(device))),
        _text(_ask(nvml, lambda: nvml.nvmlDeviceGetPciInfo(device).busId)),
        driver,
        str(memory.total // 2**20) + " MiB" if memory else "[N/A]",
        str(memory.used // 2**20) + " MiB" if memory else "[N/A]",
        ".".join(map(str, capability)) if capability else "[N/A]",
    ]


def _ask(nvml: Any, ask: Callable[[], Any]) -> Any:
    """A value, or None where the driver does not offer it."""
    try:
        return ask()
    except nvml.NVMLError:
        return None


def _text(value: Any) -> str:
    """Older bindings give bytes."""
    plain = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return plain if value is not None else "[N/A]"


def main() -> int:
    """Print the table."""
    try:
        import pynvml
    except ImportError:
        sys.stderr.write("nvidia-ml-py is not installed\n")
        return 1
    try:
        pynvml.nvmlInit()
        table = rows(pynvml)
    except pynvml.NVMLError as error:
        sys.stderr.write("NVML: " + str(error) + "\n")
        return 1
    sys.stdout.write("\n".join(", ".join(row) for row in [list(COLUMNS), *table]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
