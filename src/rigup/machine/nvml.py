"""What NVML tells, in the form of `nvidia-smi --query-gpu=… --format=csv`. Run as a program of its own.

A vendor library is loaded in a child process only: one that hangs or crashes then costs its own facts.
Prints nothing and leaves with status 1 where there is no NVML or no driver; the message tells which.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

COLUMNS = (
    "index",
    "name",
    "uuid",
    "pci.bus_id",
    "driver_version",
    "memory.total [MiB]",
    "memory.used [MiB]",
    "compute_cap",
    "pcie.link.width.current",
    "pcie.link.width.max",
    "pcie.link.gen.current",
    "pcie.link.gen.max",
    "utilization.gpu [%]",
    "clocks_event_reasons.active",
)
PROCESS_COLUMNS = ("pid", "process_name", "used_gpu_memory [MiB]", "gpu_index", "type", "uid", "stopped")


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
        *_state(nvml, device),
    ]


def _state(nvml: Any, device: Any) -> list[str]:
    """How it runs now: lanes and generation of its link, in use and at most, how busy it is, and what lowers its clock."""

    def number(name: str) -> str:
        return _text(_ask(nvml, lambda: getattr(nvml, "nvmlDeviceGet" + name)(device)))

    rates = _ask(nvml, lambda: nvml.nvmlDeviceGetUtilizationRates(device))
    bits = _ask(nvml, lambda: nvml.nvmlDeviceGetCurrentClocksEventReasons(device))
    if bits is None:  # as older drivers and bindings call it
        bits = _ask(nvml, lambda: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(device))
    return [
        *map(number, ("CurrPcieLinkWidth", "MaxPcieLinkWidth", "CurrPcieLinkGeneration", "MaxPcieLinkGeneration")),
        f"{rates.gpu} %" if rates is not None else "[N/A]",
        f"0x{bits:016x}" if bits is not None else "[N/A]",
    ]


def process_rows(nvml: Any) -> list[list[str]]:
    """One row a process that computes or draws on a device, of whichever account; without memory where the driver does not tell it.

    NVML counts processes as the machine does: in a container's own numbers nobody can say whose they are.
    """
    found: dict[tuple[int, int], list[str]] = {}
    outside = _is_the_machines()
    for index in range(nvml.nvmlDeviceGetCount()):
        device = nvml.nvmlDeviceGetHandleByIndex(index)
        computing, drawing = (_running(nvml, device, process_type) for process_type in ("Compute", "Graphics"))
        for kind, process in [*(("C", process) for process in computing), *(("G", process) for process in drawing)]:
            memory = str(process.usedGpuMemory // 2**20) + " MiB" if process.usedGpuMemory else "[N/A]"
            name, owner = _whose(process.pid) if outside else ("", "")
            halted = "+".join(map(str, _stopped(process.pid))) if outside else ""
            row = [str(process.pid), name or "[N/A]", memory, str(index), kind, owner or "[N/A]", halted or "[N/A]"]
            found.setdefault((process.pid, index), row)
    return list(found.values())


def _running(nvml: Any, device: Any, process_type: str) -> list[Any]:
    """Processes of a device, by the newest form of the question that its driver knows; none where it answers none."""
    unknown = (nvml.NVMLError, getattr(nvml, "NVMLLibraryMismatchError", nvml.NVMLError))
    for form in ("", "_v2"):
        try:
            return list(getattr(nvml, f"nvmlDeviceGet{process_type}RunningProcesses{form}")(device))
        except (AttributeError, *unknown):
            continue
    return []


def _is_the_machines() -> bool:
    """Whether processes are counted here as the kernel counts them (PROC_PID_INIT_INO of linux/proc_ns.h)."""
    try:
        return os.readlink("/proc/self/ns/pid") == "pid:[4026531836]"
    except OSError:
        return False


def _whose(pid: int) -> tuple[str, str]:
    """The program's name and its account's number; both empty where the process is gone."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().strip().replace(",", " "), str(os.stat(f"/proc/{pid}").st_uid)
    except OSError:
        return "", ""


def _stopped(pid: int) -> list[int]:
    """A process that Ctrl+Z or SIGSTOP has halted (state T of proc_pid_stat), behind those above it that were halted with it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            state, parent = file.read().rpartition(b")")[2].split()[:2]
    except (OSError, ValueError):
        return []
    return [*_stopped(int(parent)), pid] if state == b"T" else []


def _ask(nvml: Any, ask: Callable[[], Any]) -> Any:
    """A value, or None where the driver, or bindings that are older, do not offer it."""
    try:
        return ask()
    except (AttributeError, nvml.NVMLError):
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
        table, processes = rows(pynvml), process_rows(pynvml)
    except pynvml.NVMLError as error:
        sys.stderr.write("NVML: " + str(error) + "\n")
        return 1
    sys.stdout.write("\n".join(", ".join(row) for row in [list(COLUMNS), *table]) + "\n")
    if processes:
        sys.stdout.write("\n" + "\n".join(", ".join(row) for row in [list(PROCESS_COLUMNS), *processes]) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
