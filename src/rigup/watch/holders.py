"""Which processes hold a GPU of AMD or Intel: by their open files, and for ROCm's queues by what KFD counts."""

import re

from rigup.knowledge.patterns import lazy_regex
from rigup.schemas.watch import ProcessType
from rigup.watch import fdinfo
from rigup.watch.files import Files, number_of, text_of
from rigup.watch.nvidia import GpuProcess

_LOOK = 5.0  # seconds between two looks through all processes
_MOST_PROCESSES, _MOST_FILES = 20_000, 4_096
_KFD = "/sys/class/kfd/kfd"
_PROPERTY = lazy_regex(r"^(\w{1,32}) (\d{1,20})$", re.MULTILINE)


class Holders:
    """Processes that hold a device file of a GPU. All processes are looked through every few seconds, these alone between."""

    def __init__(self, files: Files) -> None:
        self.files, self.use = files, fdinfo.EngineUse()
        self._open: dict[int, list[str]] = {}
        self._looked = -_LOOK
        self._cards: dict[str, str] | None = None

    def processes(self, now: float) -> list[GpuProcess]:
        """What each process has of each GPU."""
        if now - self._looked >= _LOOK:
            self._open, self._looked = self._look(), now
        found: dict[tuple[int, str], GpuProcess] = {}
        counted: set[tuple[str, str]] = set()
        for pid, paths in self._open.items():
            for client in filter(None, map(self._client, paths)):
                mark = (client.pci_address, client.id)
                if client.id and mark in counted:
                    continue  # a file that several processes inherited is one client
                counted.add(mark)
                self._add(found, pid, client, now)
        self._add_kfd(found)
        self.use.next()
        return list(found.values())

    def _look(self) -> dict[int, list[str]]:
        try:
            pids = [name for name in self.files.names("/proc") if name.isdecimal()][:_MOST_PROCESSES]
        except OSError:
            return {}
        return {int(pid): paths for pid in pids if (paths := self._files_of(pid))}

    def _files_of(self, pid: str) -> list[str]:
        """Files of a process that lead to a GPU. Of another user's process they may not be read."""
        paths = []
        try:
            for name in self.files.names(f"/proc/{pid}/fd")[:_MOST_FILES]:
                try:
                    if self.files.link(f"/proc/{pid}/fd/{name}").startswith("/dev/dri/"):
                        paths.append(f"/proc/{pid}/fdinfo/{name}")
                except OSError:
                    continue  # closed meanwhile
        except OSError:
            return []
        return paths

    def _client(self, path: str) -> fdinfo.Client | None:
        try:
            return fdinfo.parse(self.files.read(path, 16_384).decode("utf-8", "replace"))
        except OSError:
            return None

    def _add(self, found: dict[tuple[int, str], GpuProcess], pid: int, client: fdinfo.Client, now: float) -> None:
        """Add a client to what its process has of that GPU."""
        shares = self.use.shares(client, now)
        before = found.get((pid, client.pci_address))
        memory = dict(client.memory)
        if before is not None:
            for kind, count in before.memory.items():
                memory[kind] = memory.get(kind, 0) + count
            for word, share in before.use.items():
                shares[word] = min(shares.get(word, 0.0) + share, 1.0)
        found[pid, client.pci_address] = GpuProcess(pid, client.pci_address, _kind(client), memory, "", shares)

    def _add_kfd(self, found: dict[tuple[int, str], GpuProcess]) -> None:
        """ROCm's programs: queues that they fill themselves are in no open file's counters."""
        try:
            pids = [name for name in self.files.names(_KFD + "/proc") if name.isdecimal()]
        except OSError:
            return
        for pid in pids:
            try:
                names = [name for name in self.files.names(f"{_KFD}/proc/{pid}") if name.startswith("vram_")]
            except OSError:
                continue
            for name in names:
                vram = number_of(self.files, f"{_KFD}/proc/{pid}/{name}")
                address = self._addresses().get(name.removeprefix("vram_"))
                if vram and address:
                    before = found.get((int(pid), address))
                    memory = {**(before.memory if before else {}), "vram": max(vram, before.memory.get("vram", 0) if before else 0)}
                    found[int(pid), address] = GpuProcess(int(pid), address, "compute", memory, "", before.use if before else {})

    def _addresses(self) -> dict[str, str]:
        """PCI addresses by KFD's numbers of GPUs."""
        if self._cards is None:
            self._cards = {}
            folder = _KFD + "/topology/nodes"
            try:
                nodes = self.files.names(folder)
            except OSError:
                nodes = []
            for node in nodes:
                content = dict(_PROPERTY.findall(text_of(self.files, f"{folder}/{node}/properties") or ""))
                gpu, place = text_of(self.files, f"{folder}/{node}/gpu_id"), int(content.get("location_id", 0))
                if gpu and place:
                    self._cards[gpu] = f"{int(content.get('domain', 0)):04x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7}"
        return self._cards


def _kind(client: fdinfo.Client) -> ProcessType:
    """What a client's engines did so far."""
    done = {engine for engine, count in client.busy.items() if count} | {engine for engine, pair in client.cycles.items() if pair[0]}
    compute = done & {"compute", "ccs"}
    graphics = done & {"gfx", "render", "rcs"}
    return "both" if compute and graphics else "compute" if compute else "graphics"
