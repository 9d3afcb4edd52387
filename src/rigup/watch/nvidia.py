"""NVIDIA's GPUs by NVML. What seldom changes is asked every few seconds; a call that blocks has a share of each sample's time."""

import ctypes
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from msgspec import structs

from rigup.knowledge.pcie import transfers_of
from rigup.knowledge.throttling import nvml_reasons
from rigup.schemas.watch import ProcessType
from rigup.watch.nvml import Device, Nvml, NvmlError
from rigup.watch.rates import Rates
from rigup.watch.values import Identity, Values

_SOURCE = "nvml"
_SLOW = 5.0  # seconds for which limits, maxima, counters of errors and of links are kept
_BLOCKING = 0.1  # seconds of a sample for calls that take 20 ms each on hardware
_KEPT = 30.0  # seconds for which what they counters is shown
_MEMORY_TEMPERATURE, _LINK_TX, _LINK_RX, _PCIE_TX, _PCIE_RX = 82, 138, 139, 197, 198
_TRAFFIC = ((_MEMORY_TEMPERATURE, 0), (_PCIE_TX, 0), (_PCIE_RX, 0))
_MOST_LINKS = 24
_CLOCKS = (("graphics", 0), ("memory", 2), ("media", 3))
_ENGINES = ("gpu", "memory", "encoder", "decoder")  # in the order of nvmlProcessUtilizationSample_t
_NO_INSTANCE = 0xFFFFFFFF


class GpuProcess(NamedTuple):
    """A process on a GPU, as a driver tells it; shares from 0 to 1."""

    pid: int
    gpu: str
    type: ProcessType
    memory: dict[str, int]
    partition: str = ""
    use: dict[str, float] = {}  # noqa: RUF012  # never changed


class Blocking:
    """Time that calls which block may still take in this sample."""

    def __init__(self) -> None:
        self.left = _BLOCKING

    def next(self) -> None:
        """A new sample begins."""
        self.left = _BLOCKING


class NvidiaGpu:
    """One GPU of the library."""

    def __init__(self, nvml: Nvml, handle: ctypes.c_void_p, identity: Identity, blocking: Blocking) -> None:
        self.nvml, self.who, self.blocking = nvml, identity, blocking
        self.device, self.rates = Device(nvml, handle), Rates()
        self.instances: list[tuple[int, str, Device, dict[str, str]]] = []
        self._slow: dict[str, tuple[object, str]] = {}
        self._slow_at, self._since = -_SLOW, 0
        self._traffic: tuple[float, dict[str, int]] = (-_KEPT, {})
        self.links = 0

    def read(self, values: Values, now: float) -> None:
        """All that the GPU tells now."""
        device = self.device
        device.refused.clear()
        if use := device.utilisation():
            values.put_share("utilisation.gpu", use[0], _SOURCE)
            values.put_share("utilisation.memory", use[1], _SOURCE)
        self._put_fast(values)
        self._put_traffic(values, now)
        if now - self._slow_at >= _SLOW:
            slow = Values()
            self._put_slow(slow)
            self._slow = {path: (value, slow.source[path]) for path, value in slow.known.items()}
            self._slow_at = now
        for path, (value, source) in self._slow.items():
            values.put_any(path, value, source)
        self._put_partitions(values)
        self.rates.next()
        self._judge(values)

    def _put_fast(self, values: Values) -> None:
        device = self.device
        for path, name in (("encoder", "nvmlDeviceGetEncoderUtilization"), ("decoder", "nvmlDeviceGetDecoderUtilization")):
            pair = device.pair(name)
            values.put_share("utilisation." + path, pair[0] if pair else None, _SOURCE)
        for part, count in (device.memory() or {}).items():
            values.put("memory.vram." + part, count, _SOURCE)
        values.put("temperature.edge", device.number("nvmlDeviceGetTemperature", 0), _SOURCE)
        values.put("power.draw", device.number("nvmlDeviceGetPowerUsage"), _SOURCE, 1e-3)
        values.put_any("power.scope", "board" if "power.draw" in values.known else None, _SOURCE)
        values.put("energy", device.long("nvmlDeviceGetTotalEnergyConsumption"), _SOURCE, 1e-3)
        for path, number in _CLOCKS:
            values.put("clock." + path, device.number("nvmlDeviceGetClockInfo", number), _SOURCE, 1e6)
        values.put_share("fan.speed", device.number("nvmlDeviceGetFanSpeed"), _SOURCE)
        values.put("pcie.width", device.number("nvmlDeviceGetCurrPcieLinkWidth"), _SOURCE)
        values.put("pcie.speed", transfers_of(device.number("nvmlDeviceGetCurrPcieLinkGeneration")), _SOURCE)
        bits = device.long("nvmlDeviceGetCurrentClocksEventReasons")
        if bits is None:
            bits = device.long("nvmlDeviceGetCurrentClocksThrottleReasons")
        if bits is not None:
            values.put_any("throttle", nvml_reasons(bits), _SOURCE)
            values.put_any("throttle_raw", {"source": "nvmlClocksEventReasons", "value": bits}, _SOURCE)

    def _put_traffic(self, values: Values, now: float) -> None:
        """Memory's temperature and counters of the bus in one call; where there are none, the call that blocks."""
        heat, sent, received = self.device.fields(_TRAFFIC)
        values.put("temperature.memory", heat or None, _SOURCE)  # 0 is what a card without the sensor says
        if sent is not None and received is not None:
            values.put("pcie.tx", self.rates.per_second(("tx",), sent, now), _SOURCE)
            values.put("pcie.rx", self.rates.per_second(("rx",), received, now), _SOURCE)
            return
        if self.blocking.left > 0:
            began = time.monotonic()
            counters = {word: self.device.number("nvmlDeviceGetPcieThroughput", which) for word, which in (("tx", 0), ("rx", 1))}
            self.blocking.left -= time.monotonic() - began
            self._traffic = (now, {word: number for word, number in counters.items() if number is not None})
        if now - self._traffic[0] <= _KEPT:
            for word, number in self._traffic[1].items():
                values.put("pcie." + word, number, _SOURCE, 1000)

    def _put_slow(self, values: Values) -> None:
        device = self.device
        values.put("power.limit", device.number("nvmlDeviceGetEnforcedPowerLimit"), _SOURCE, 1e-3)
        values.put("power.limit_default", device.number("nvmlDeviceGetPowerManagementDefaultLimit"), _SOURCE, 1e-3)
        limits = device.pair("nvmlDeviceGetPowerManagementLimitConstraints")
        values.put("power.limit_max", limits[1] if limits else None, _SOURCE, 1e-3)
        values.put("temperature.limit", device.number("nvmlDeviceGetTemperatureThreshold", 1), _SOURCE)
        for path, number in _CLOCKS:
            values.put("clock_max." + path, device.number("nvmlDeviceGetMaxClockInfo", number), _SOURCE, 1e6)
        values.put("pcie.width_max", device.number("nvmlDeviceGetMaxPcieLinkWidth"), _SOURCE)
        values.put("pcie.speed_max", transfers_of(device.number("nvmlDeviceGetMaxPcieLinkGeneration")), _SOURCE)
        values.put("pcie.replays", device.number("nvmlDeviceGetPcieReplayCounter"), _SOURCE)
        values.put("errors.ecc_corrected", device.long("nvmlDeviceGetTotalEccErrors", 0, 0), _SOURCE)
        values.put("errors.ecc_uncorrected", device.long("nvmlDeviceGetTotalEccErrors", 1, 0), _SOURCE)
        self._put_retired(values)
        self._put_links(values)
        self._find_instances()

    def _put_retired(self, values: Values) -> None:
        corrected, uncorrected, pending, failed = (ctypes.c_uint() for _ in range(4))
        references = [ctypes.byref(number) for number in (corrected, uncorrected, pending, failed)]
        if not self.nvml.call("nvmlDeviceGetRemappedRows", self.device.handle, *references):
            values.put("errors.retired", corrected.value + uncorrected.value, _SOURCE)
            values.put_any("errors.remap_pending", bool(pending.value), _SOURCE)

    def _put_links(self, values: Values) -> None:
        """NVLink's counters, in KiB; the links that are there are counted once."""
        if not self.links:
            states = (self.device.number("nvmlDeviceGetNvLinkState", index) for index in range(_MOST_LINKS))
            self.links = next((index for index, state in enumerate(states) if state is None), _MOST_LINKS) or -1
        if self.links < 0:
            return
        counters = self.device.fields(tuple((field, index) for index in range(self.links) for field in (_LINK_RX, _LINK_TX)))
        links = []
        for index in range(self.links):
            counts = zip(("rx", "tx"), counters[2 * index : 2 * index + 2], strict=True)
            up = self.device.number("nvmlDeviceGetNvLinkState", index)
            link = {word: count * 1024 for word, count in counts if count is not None}
            links.append({"kind": "nvlink", "index": index, **link, **({} if up is None else {"up": bool(up)})})
        values.put_any("links", links, _SOURCE)

    def _find_instances(self) -> None:
        """MIG instances, looked up anew, for somebody may make or remove one."""
        mode = self.device.pair("nvmlDeviceGetMigMode")
        found = []
        for index in range((self.device.number("nvmlDeviceGetMaxMigDeviceCount") or 0) if mode and mode[0] else 0):
            handle = ctypes.c_void_p()
            if self.nvml.call("nvmlDeviceGetMigDeviceHandleByIndex", self.device.handle, index, ctypes.byref(handle)):
                continue
            part = Device(self.nvml, handle)
            number = part.number("nvmlDeviceGetGpuInstanceId")
            compute = part.number("nvmlDeviceGetComputeInstanceId")
            names = {"uuid": self.nvml.text("nvmlDeviceGetUUID", handle)}
            model = self.nvml.text("nvmlDeviceGetName", handle)
            names["profile"] = model.rpartition(" MIG ")[2] if " MIG " in model else ""
            found.append((number if number is not None else index, f"gi{number}/ci{compute}", part, names))
        self.instances = found

    def _put_partitions(self, values: Values) -> None:
        parts = []
        for _number, name, part, names in self.instances:
            memory = part.memory()
            parts.append({"name": name, **{word: text for word, text in names.items() if text}, **({"memory": memory} if memory else {})})
        if parts:
            values.put_any("partitions", parts, _SOURCE)

    def _judge(self, values: Values) -> None:
        """What its codes say of its state."""
        if self.device.code:
            values.state, values.because = "lost", "NVML: " + self.nvml.words(self.device.code)
        elif self.device.refused and not values.known:
            values.state, values.because = "error", "NVML: " + self.nvml.words(next(iter(self.device.refused.values())))
        for name, code in self.device.refused.items():
            values.trouble(name, self.nvml.words(code))

    def processes(self) -> Iterator[GpuProcess]:
        """Processes that have this GPU open, with what they took of it since the last time."""
        computing, drawing = self._listed("Compute"), self._listed("Graphics")
        compute, graphics = {row[0] for row in computing}, {row[0]: row for row in drawing}
        rows = self.device.uses(self._since)
        uses, self._since = {row[0]: row for row in rows}, max((row[1] for row in rows), default=self._since)
        for row in [*computing, *(row for pid, row in graphics.items() if pid not in compute)]:
            kind: ProcessType = "compute" if row[0] not in graphics else "both" if row[0] in compute else "graphics"
            yield self._process(row, kind, uses.get(row[0]))

    def _listed(self, kind: str) -> list[tuple[int, ...]]:
        name = f"nvmlDeviceGet{kind}RunningProcesses"
        return self.device.processes(name + "_v3", name + "_v2", name)

    def _process(self, row: tuple[int, ...], kind: ProcessType, use: tuple[int, ...] | None) -> GpuProcess:
        memory = {"vram": row[1]} if row[1] < 2**63 else {}
        part = ""
        if len(row) > 2 and row[2] != _NO_INSTANCE:
            part = next((name for number, name, _device, _names in self.instances if number == row[2]), "")
        shares = {}
        for word, percent in zip(_ENGINES, use[2:], strict=True) if use is not None else ():
            if percent <= 100:
                shares[word] = percent / 100
        return GpuProcess(row[0], self.who.key, kind, memory, part, shares)


def open_gpus(nvml: Nvml, awake: list[Identity] | None) -> list[tuple[Identity, ctypes.c_void_p]]:
    """GPUs of the library with their names. `awake`: those alone, by their addresses, so that the others stay asleep."""
    driver = nvml.text("nvmlSystemGetDriverVersion")
    handles = []
    if awake is not None:
        handles = [(handle, identity) for identity in awake if (handle := nvml.handle_at(identity.pci_address)) is not None]
    else:
        with suppress(NvmlError):
            opened = [(nvml.handle(index), index) for index in range(min(nvml.count(), 256))]
            handles = [(handle, Identity(key=str(index))) for handle, index in opened if handle is not None]
    return [(_identity(nvml, handle, identity, driver), handle) for handle, identity in handles]


def _identity(nvml: Nvml, handle: ctypes.c_void_p, identity: Identity, driver: str) -> Identity:
    room = ctypes.create_string_buffer(128)
    name = next((newer for newer in ("nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2") if nvml.function(newer)), "nvmlDeviceGetPciInfo")
    address = identity.pci_address
    if not nvml.call(name, handle, room):
        bus = room.raw[36:68].split(b"\0")[0].decode("ascii", "replace").lower()
        address = bus[4:] if bus.startswith("0000") and bus.count(":") == 2 and len(bus.partition(":")[0]) == 8 else bus
    first, second = ctypes.c_int(), ctypes.c_int()
    capability = nvml.call("nvmlDeviceGetCudaComputeCapability", handle, ctypes.byref(first), ctypes.byref(second))
    return structs.replace(
        identity,
        key=address or identity.key,
        vendor="nvidia",
        pci_address=address,
        driver=identity.driver or "nvidia",
        driver_version=driver,
        name=nvml.text("nvmlDeviceGetName", handle),
        uuid=nvml.text("nvmlDeviceGetUUID", handle),
        isa="" if capability else f"sm_{first.value}{second.value}",
    )
