"""NVML is asked in a process of its own, and answers in the form that people paste."""

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from rigup.machine import nvml, readers  # noqa: F401
from rigup.machine.kinds import CardState, Driver, Gpu, GpuProcess
from rigup.machine.reader import READERS
from rigup.machine.texts import Text

LIBRARY = r"""
#include <string.h>
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; } pci_t;
static int device;
int nvmlInit_v2(void) { return 0; }
int nvmlInitWithFlags(unsigned flags) { return 0; }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { strcpy(text, "550.90.07"); return 0; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **handle) { *handle = &device; return 0; }
int nvmlDeviceGetName(void *handle, char *text, unsigned size) { strcpy(text, "NVIDIA GeForce RTX 3060"); return 0; }
int nvmlDeviceGetUUID(void *handle, char *text, unsigned size) { strcpy(text, "GPU-11111111-2222-3333-4444-555555555555"); return 0; }
int nvmlDeviceGetPciInfo_v3(void *handle, pci_t *pci) { strcpy(pci->bus_id, "00000000:01:00.0"); return 0; }
int nvmlDeviceGetMemoryInfo(void *handle, memory_t *memory) { memory->total = 12884901888ull; memory->used = 1048576; return 0; }
int nvmlDeviceGetCudaComputeCapability(void *handle, int *major, int *minor) { return 3; }
int nvmlDeviceGetCurrPcieLinkWidth(void *handle, unsigned *lanes) { *lanes = 8; return 0; }
int nvmlDeviceGetMaxPcieLinkWidth(void *handle, unsigned *lanes) { *lanes = 16; return 0; }
int nvmlDeviceGetUtilizationRates(void *handle, unsigned *rates) { rates[0] = 97; rates[1] = 5; return 0; }
int nvmlDeviceGetCurrentClocksThrottleReasons(void *handle, unsigned long long *bits) { *bits = 0x44; return 0; }
const char *nvmlErrorString(int code) { return code == 3 ? "Not Supported" : "Unknown Error"; }
"""


@pytest.fixture
def library(tmp_path):
    """A driver library of our own making, with one card that does not tell its capability."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("no C compiler")
    (tmp_path / "nvml.c").write_text(LIBRARY)
    target = tmp_path / "libnvidia-ml.so.1"
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", str(target), str(tmp_path / "nvml.c")], check=True)
    return str(tmp_path)


def asked(**environment):
    argv = [sys.executable, str(Path(nvml.__file__))]
    return subprocess.run(argv, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment}, check=False)


def test_what_the_library_tells_is_read_like_a_pasted_table(library):
    done = asked(LD_LIBRARY_PATH=library)
    assert done.returncode == 0, done.stderr
    stated = list(READERS["nvidia_csv"].read(Text("nvml", done.stdout)))
    gpu = next(fact for fact in stated if isinstance(fact, Gpu))
    assert (gpu.name, gpu.pci_address, gpu.vram) == ("NVIDIA GeForce RTX 3060", "0000:01:00.0", 12288 * 2**20)
    assert not gpu.knows("isa")
    state = next(fact for fact in stated if isinstance(fact, CardState))
    assert (state.pci_address, state.lanes, state.lanes_most, state.busy) == ("0000:01:00.0", 8, 16, 97)
    assert state.throttle == ["power", "temperature"]
    assert not state.knows("generation")
    assert next(fact for fact in stated if isinstance(fact, Driver)).version == "550.90.07"


def test_a_machine_without_the_library_gets_a_word_and_no_traceback(tmp_path):
    done = asked(LD_LIBRARY_PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("NVML: ")
    assert "Traceback" not in done.stderr


def test_bytes_of_older_bindings_are_text():
    old = types.SimpleNamespace(
        NVMLError=RuntimeError,
        nvmlSystemGetDriverVersion=lambda: b"390.157",
        nvmlDeviceGetCount=lambda: 1,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetName=lambda _: b"GeForce GTX 580",
        nvmlDeviceGetUUID=lambda _: b"GPU-1",
        nvmlDeviceGetPciInfo=lambda _: types.SimpleNamespace(busId=b"0000:01:00.0"),
        nvmlDeviceGetMemoryInfo=lambda _: (_ for _ in ()).throw(RuntimeError()),
        nvmlDeviceGetCudaComputeCapability=lambda _: (2, 0),
    )
    assert nvml.rows(old) == [["0", "GeForce GTX 580", "GPU-1", "0000:01:00.0", "390.157", "[N/A]", "[N/A]", "2.0", *["[N/A]"] * 6]]


def _with_processes():
    """Bindings over one card on which two accounts compute; the driver tells one of them no memory."""
    running = [types.SimpleNamespace(pid=os.getpid(), usedGpuMemory=3 * 2**30), types.SimpleNamespace(pid=4194303, usedGpuMemory=None)]
    return types.SimpleNamespace(
        NVMLError=RuntimeError,
        nvmlDeviceGetCount=lambda: 1,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetComputeRunningProcesses=lambda _: running,
        nvmlDeviceGetGraphicsRunningProcesses=lambda _: running[:1],
    )


def test_whose_processes_have_a_cards_memory_is_a_fact(monkeypatch):
    monkeypatch.setattr(nvml, "_is_the_machines", lambda: True)
    table = [list(nvml.PROCESS_COLUMNS), *nvml.process_rows(_with_processes())]
    stated = list(READERS["nvidia_csv"].read(Text("nvml", "\n".join(", ".join(row) for row in table) + "\n")))
    mine, gone = (fact for fact in stated if isinstance(fact, GpuProcess))
    assert (mine.pid, mine.memory, mine.owner, mine.graphics) == (os.getpid(), 3 * 2**30, f"uid {os.getuid()}", False)
    assert gone.pid == 4194303
    assert not gone.knows("owner")
    assert not gone.knows("memory")


def test_in_a_containers_own_numbers_nobody_is_named(monkeypatch):
    monkeypatch.setattr(nvml, "_is_the_machines", lambda: False)
    assert [(row[1], row[5]) for row in nvml.process_rows(_with_processes())] == [("[N/A]", "[N/A]")] * 2


def test_amdkfd_tells_what_each_process_has():
    read = READERS["processes_of_the_kernel"].read
    (held,) = read(Text("/sys/class/kfd/kfd/proc/4120/vram_28651", "21474836480\n"))
    assert (held.pid, held.memory) == (4120, 20 * 2**30)
    assert list(read(Text("/sys/class/kfd/kfd/proc/4120/vram_28651", "0\n"))) == []
    assert list(read(Text("/sys/class/kfd/kfd/proc/self/vram_1", "12\n"))) == []


def test_a_program_that_is_halted_is_told_with_those_above_it(monkeypatch):
    monkeypatch.setattr(nvml, "_is_the_machines", lambda: True)
    halted = subprocess.Popen([sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"])
    try:
        os.waitpid(halted.pid, os.WUNTRACED)
        assert nvml._stopped(halted.pid) == [halted.pid]
        assert nvml._stopped(os.getpid()) == []
    finally:
        halted.kill()
        halted.wait()


def test_halted_programs_are_a_fact():
    row = "31822, python3, 22426 MiB, 0, C, 1002, 31780+31822"
    table = ", ".join(nvml.PROCESS_COLUMNS) + "\n" + row + "\n"
    process = next(fact for fact in READERS["nvidia_csv"].read(Text("nvml", "\n" + table)) if isinstance(fact, GpuProcess))
    assert process.stopped == ["31780", "31822"]
