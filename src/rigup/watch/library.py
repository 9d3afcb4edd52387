"""NVIDIA's library over a long time: opened when a card is awake, and anew after its driver was loaded again."""

from collections.abc import Iterator

from rigup.watch.nvidia import Blocking, NvidiaGpu, open_gpus
from rigup.watch.nvml import Nvml, NvmlError
from rigup.watch.values import Identity

_AGAIN = 10.0  # seconds before the library is opened anew


class Library:
    """GPUs that NVML knows, by their PCI addresses. `why` says what keeps it from answering; "" for nothing."""

    def __init__(self) -> None:
        self.nvml: Nvml | None = None
        self.gpus: dict[str, NvidiaGpu] = {}
        self.known: dict[str, Identity] = {}
        self.once: set[str] = set()
        self.why = ""
        self._tried = -_AGAIN
        self._handles: dict[int, str] = {}
        self._blocking = Blocking()

    def look(self, on_bus: list[Identity], asleep: set[str], now: float) -> None:
        """Open what is awake. A library that answers for all awake cards is left as it is."""
        awake = [identity for identity in on_bus if identity.key not in asleep]
        if on_bus and not awake:
            return  # opening the library would wake them
        fresh = {identity.key for identity in awake} <= set(self.gpus) and bool(self.gpus)
        if (fresh and not self._is_broken()) or (now - self._tried < _AGAIN and self._tried >= 0):
            return
        self._tried = now
        self._open(awake if asleep & {identity.key for identity in on_bus} else None)

    def _is_broken(self) -> bool:
        return any(gpu.device.code for gpu in self.gpus.values())

    def _open(self, awake: list[Identity] | None) -> None:
        self.close()
        try:
            self.nvml = Nvml()
            opened = open_gpus(self.nvml, awake)
        except NvmlError as error:
            # Without a card of NVIDIA's on the bus the library is no loss.
            self.why = str(error) if awake or self.once else ""
            return
        self.why = ""
        nvml = self.nvml
        self.gpus = {identity.key: NvidiaGpu(nvml, handle, identity, self._blocking) for identity, handle in opened}
        self.known |= {identity.key: identity for identity, _handle in opened}
        self.once |= set(self.gpus)
        self._handles = {handle.value or 0: identity.key for identity, handle in opened}
        nvml.listen([handle for _who, handle in opened])

    def new_errors(self) -> Iterator[tuple[str, int]]:
        """Xid errors since the last time, by GPU. A sample begins anew with its share of calls that block."""
        self._blocking.next()
        for handle, code in self.nvml.new_errors() if self.nvml is not None else ():
            if handle in self._handles:
                yield self._handles[handle], code

    def close(self) -> None:
        """Let the library go, so that it sees a driver that was loaded anew."""
        if self.nvml is not None:
            self.nvml.close()
        self.nvml, self.gpus, self._handles = None, {}, {}
