"""One sample after another: GPUs of all makers, the processes on them, and the host."""

import time
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET, UnsetType, structs

from rigup.schemas.watch import ProcessGpu, ProcessMemory, ProcessUtilisation, ReadError, Took, Watch, WatchedProcess
from rigup.schemas.watch_gpu import WatchedGpu, Xid
from rigup.watch.devices import on_the_bus, power_state
from rigup.watch.files import Files, LiveFiles
from rigup.watch.host import HostSampler
from rigup.watch.host_processes import HostProcesses
from rigup.watch.library import Library
from rigup.watch.nvidia import GpuProcess, NvidiaGpu
from rigup.watch.processes import Programs
from rigup.watch.rounds import Rounds, Task
from rigup.watch.values import Identity, Values

if TYPE_CHECKING:
    from rigup.watch.holders import Holders

_LATE = 1.0  # seconds after which a GPU that does not answer is left behind
_AGAIN = 10.0  # seconds between two looks at the bus
_MOST_XIDS = 100
_LISTING = "processes of "


class Reader(Protocol):
    """What reads one GPU."""

    def read(self, values: Values, now: float) -> None:
        """Put all that the GPU tells; `now` in seconds of a clock that only grows."""


class Sampler:
    """Makes samples of this machine, or one of a captured tree.

    Args:
        tree: the folder of a captured machine; None is this one.
        anonymous: without the name of the host.
        late: seconds after which a GPU that does not answer is left behind.

    """

    def __init__(self, tree: str | None = None, anonymous: bool = False, late: float = _LATE) -> None:
        self.files: Files = LiveFiles() if tree is None else _of_tree(tree)
        self.live = tree is None
        self.library = Library() if self.live else None
        self.host = HostSampler(self.files, anonymous) if self.live else None
        self.host_processes = HostProcesses(self.files) if self.live else None
        self.all_processes = False
        self.programs = Programs(self.files)
        self._holders: Holders | None = None
        self.rounds = Rounds(late)
        self.known: dict[str, Identity] = {}
        self._readers: dict[str, Reader] = {}
        self._xids: dict[str, list[Xid]] = {}
        self._looked, self._before = -_AGAIN, -1.0
        self._mac = _mac(self.live)

    def prime(self) -> None:
        """Begin what rates are counted from, so that a sample a little later has them, and open the drivers' libraries meanwhile.

        The sample after it tells of all processes of the machine.
        """
        now = time.monotonic()
        if self.host is not None and self.host_processes is not None:
            self.host.read(now)
            self.host_processes.look(now)
            self.all_processes = True
        self._look(now)

    def sample(self) -> Watch:
        """One sample."""
        began, cpu = time.monotonic(), time.process_time()
        interval = began - self._before if self._before >= 0 else None
        self._before = began
        self._look(began)
        values, held = self._ask_all(began)
        self._hear(values)
        gpus = [values[key].gpu(index, self.known[key]) for index, key in enumerate(sorted(self.known))]
        processes = self._processes(began, gpus, held)
        busiest = self._busiest(processes, began, bool(gpus))
        host = self.host.read(began) if self.host else UNSET
        if host is not UNSET and self.host_processes is not None and busiest is not UNSET:
            host = structs.replace(host, running=self.host_processes.count)
        errors = [*_errors(gpus, values, sorted(self.known)), *self._library_error()]
        answer = Watch(
            time=time.time(),
            interval=UNSET if interval is None else interval,
            took=Took(wall=0.0, cpu=0.0),
            host=host,
            gpus=gpus,
            processes=processes,
            host_processes=busiest,
            findings=[],
            errors=errors,
        )
        return structs.replace(answer, took=Took(wall=time.monotonic() - began, cpu=time.process_time() - cpu))

    def _ask_all(self, now: float) -> tuple[dict[str, Values], list[GpuProcess]]:
        """All that the drivers tell: each GPU's values, and the processes on those of NVIDIA; a task each, so that one that hangs costs itself only."""
        values = {key: Values() for key in self.known}
        held: dict[str, list[GpuProcess]] = {}
        read: set[str] = set()
        tasks: list[Task] = [(key, partial(self._read_whole, key, values[key], now, read)) for key in self.known]
        for key, gpu in self.library.gpus.items() if self.library is not None else ():
            tasks.append((_LISTING + key, partial(_list_processes, gpu, values[key], key, read, held)))
        failed = self.rounds.run(tasks)
        for key, of_gpu in values.items():
            if key in failed:  # what a thread that hangs may still write must not be read
                values[key] = Values()
                values[key].state, values[key].because = "error", failed[key]
            elif because := failed.get(_LISTING + key):
                of_gpu.trouble("processes", because)
        return values, [row for key in list(held) for row in held[key]]

    def _look(self, now: float) -> None:
        """Which GPUs there are; what was there and is gone stays, as lost."""
        if now - self._looked < _AGAIN and self._looked >= 0:
            return
        self._looked = now
        present = {identity.key: identity for identity in on_the_bus(self.files)}
        asleep = {key for key, identity in present.items() if power_state(self.files, identity.folder) == "suspended"}
        if self.library is not None:
            self.library.look([identity for identity in present.values() if identity.vendor == "nvidia"], asleep, now)
            present |= {
                key: structs.replace(identity, folder=present[key].folder if key in present else "")
                for key, identity in self.library.known.items()
            }
        if self._mac is not None:
            present |= self._mac.known
        for key in self.known:
            if key not in present:
                self._readers.pop(key, None)
        self.known |= present

    def _read_whole(self, key: str, values: Values, now: float, read: set[str]) -> None:
        """One GPU; it is in `read` when that neither hung nor failed."""
        self._read(key, values, now)
        read.add(key)

    def _read(self, key: str, values: Values, now: float) -> None:
        """One GPU, unless it sleeps or went."""
        identity = self.known[key]
        state = power_state(self.files, identity.folder)
        if state in ("suspended", "suspending"):
            values.state, values.because = "asleep", "power/runtime_status is " + state
            return
        reader = self._reader(key, identity)
        if reader is None:
            self._explain_silence(values, identity)
            return
        reader.read(values, now)
        if identity.folder and not values.known and not self._is_present(identity):
            values.state, values.because = "lost", "it is no more on the bus"

    def _is_present(self, identity: Identity) -> bool:
        try:
            self.files.read(identity.folder + "/vendor", 16)
        except OSError:
            return False
        return True

    def _reader(self, key: str, identity: Identity) -> Reader | None:
        """What reads a GPU; made when it is first awake. None where nothing can."""
        if self.library is not None and (gpu := self.library.gpus.get(key)) is not None:
            return gpu
        if key not in self._readers and self._mac is not None and key in self._mac.known:
            self._readers[key] = self._mac.reader(key)
        if key not in self._readers and identity.folder and self._is_present(identity):
            if identity.driver == "amdgpu" or identity.vendor == "amd":
                from rigup.watch.amd import AmdGpu

                self._readers[key] = AmdGpu(self.files, identity)
            elif identity.vendor == "intel":
                from rigup.watch.intel import IntelGpu

                self._readers[key] = IntelGpu(self.files, identity)
        return self._readers.get(key)

    def _explain_silence(self, values: Values, identity: Identity) -> None:
        if identity.folder and not self._is_present(identity):
            values.state, values.because = "lost", "it is no more on the bus"
        elif identity.vendor == "nvidia" and self.library is None:
            values.state, values.because = "error", "NVML does not answer for a captured machine"
        else:
            lost = self.library is not None and key_was_open(self.library, identity)
            values.state = "lost" if lost else "error"
            values.because = (self.library.why if self.library else "") or "nothing here reads it"

    def _hear(self, values: dict[str, Values]) -> None:
        """Xid errors, kept as long as the watch runs."""
        if self.library is None:
            return
        for key, code in self.library.new_errors():
            self._xids.setdefault(key, []).append(Xid(code=code, time=time.time()))
        for key in self.library.gpus:
            if key in values and values[key].state == "active":
                values[key].put_any("errors.xid", [structs.asdict(xid) for xid in self._xids.get(key, [])][-_MOST_XIDS:], "nvml")

    def _library_error(self) -> Iterable[ReadError]:
        if self.library is not None and self.library.why:
            yield ReadError(what="NVML", because=self.library.why)

    # -- processes -------------------------------------------------------------------------------------
    def _processes(self, now: float, gpus: list[WatchedGpu], held: list[GpuProcess]) -> list[WatchedProcess]:
        """Processes of all makers' GPUs; one on several GPUs is one process."""
        if any(gpu.vendor in ("amd", "intel") and gpu.state == "active" for gpu in gpus):
            held = held + self._holding(now)
        numbers = {key: index for index, key in enumerate(sorted(self.known))}
        by_pid: dict[int, list[GpuProcess]] = {}
        for row in held:
            if row.gpu in numbers:
                by_pid.setdefault(row.pid, []).append(row)
        answer = [self._process(pid, rows, numbers, now) for pid, rows in sorted(by_pid.items())]
        self.programs.next(by_pid)
        return answer

    def _holding(self, now: float) -> list[GpuProcess]:
        """Processes on GPUs of AMD and Intel."""
        if self._holders is None:
            from rigup.watch.holders import Holders

            self._holders = Holders(self.files)
        return self._holders.processes(now)

    def _busiest(self, users: list[WatchedProcess], now: float, has_gpus: bool) -> list[WatchedProcess] | UnsetType:
        """Where somebody asked for them, or there is nothing else to show: a look costs a file for each process."""
        if self.host_processes is None or (has_gpus and not self.all_processes):
            return UNSET
        return self.host_processes.most(now, {process.pid: process for process in users}) or UNSET

    def _process(self, pid: int, rows: list[GpuProcess], numbers: dict[str, int], now: float) -> WatchedProcess:
        gpus = [_part(row, numbers[row.gpu]) for row in rows]
        gpus.sort(key=lambda part: part.index)
        running = self.programs.now(pid, now)
        if running is None:
            return WatchedProcess(pid=pid, gpus=gpus, because="no such process in this namespace of processes, or it has just ended")
        cpu = UNSET if running.cpu is None else running.cpu
        return WatchedProcess(pid=pid, cpu=cpu, rss=running.rss, gpus=gpus, **running.words)

    def close(self) -> None:
        """Let the driver's library and the files of processes go."""
        self.programs.next(())
        if self.library is not None:
            self.library.close()


def _of_tree(folder: str) -> Files:
    from rigup.watch.tree_files import TreeFiles

    return TreeFiles(folder)


def _list_processes(gpu: NvidiaGpu, values: Values, key: str, read: set[str], held: dict[str, list[GpuProcess]]) -> None:
    """Processes on one GPU of NVIDIA, unless it hangs, sleeps or went."""
    if key in read and values.state == "active":
        held[key] = list(gpu.processes())


def _part(row: GpuProcess, index: int) -> ProcessGpu:
    """What a process has of one GPU."""
    parts: dict[str, Any] = {}
    if row.partition:
        parts["partition"] = row.partition
    if row.memory:
        parts["memory"] = ProcessMemory(**row.memory)
    if row.use:
        parts["utilisation"] = ProcessUtilisation(**row.use)
    return ProcessGpu(index=index, type=row.type, **parts)


def key_was_open(library: Library, identity: Identity) -> bool:
    """Whether a GPU answered the library before."""
    return identity.key in library.once


def _errors(gpus: list[WatchedGpu], values: dict[str, Values], keys: list[str]) -> Iterable[ReadError]:
    for gpu, key in zip(gpus, keys, strict=True):
        for subject, because in values[key].troubles:
            yield ReadError(gpu=gpu.index, what=subject, because=because)
        if gpu.state in ("lost", "error"):
            yield ReadError(gpu=gpu.index, what="gpu", because=values[key].because)


def _mac(live: bool) -> "_Mac | None":
    import sys

    return _Mac() if live and sys.platform == "darwin" else None


class _Mac:
    """Accelerators of a Mac, which are on no bus that can be read."""

    def __init__(self) -> None:
        from rigup.machine.local import Local
        from rigup.watch import apple

        self.host = Local()
        rows = apple.accelerators(self.host.run(apple.ARGV).body or "")
        self.known = {identity.key: identity for identity in (apple.identity(row, index) for index, row in enumerate(rows))}
        self._memory = apple.main_memory(self.host)

    def reader(self, key: str) -> Reader:
        """What reads an accelerator."""
        from rigup.watch.apple import AppleGpu

        return AppleGpu(self.host, int(key), self._memory)
