"""What a process has of a GPU by the kernel's `/proc/PID/fdinfo/N` (Documentation/gpu/drm-usage-stats.rst).

Four drivers fill it: amdgpu, i915 and xe in the common form, amdgpu of kernels 5.14 to 5.18 in one of its own, and
NVIDIA's open-source driver nouveau in the common form. NVIDIA's own driver has none; NVML tells of its processes.
"""

from typing import NamedTuple

from rigup.knowledge.patterns import lazy_regex
from rigup.watch.rates import Rates

_LINE = lazy_regex(r"([a-z][a-z0-9_ -]{0,60}):[ \t]{0,8}([^\n]{0,80})")
_AMOUNT = lazy_regex(r"(\d{1,20})(?: (KiB|MiB|B|Hz|MHz|ns))?\s*\Z")
_OLD_ENGINE = lazy_regex(r"(gfx|compute|dma|dec|enc|jpeg)\d{1,2}")
_PER_CENT = lazy_regex(r"(\d{1,3}(?:\.\d{1,3})?)%")
_UNITS = {None: 1, "B": 1, "KiB": 1024, "MiB": 1024**2, "Hz": 1, "MHz": 10**6, "ns": 1, "kB": 1024}
_REGIONS = {"vram": "vram", "local": "vram", "gtt": "gtt", "system": "gtt"}
_ENGINES = {
    "gfx": "gpu",
    "compute": "gpu",
    "render": "gpu",
    "rcs": "gpu",
    "ccs": "gpu",
    "dma": "copy",
    "copy": "copy",
    "bcs": "copy",
    "dec": "decoder",
    "jpeg": "decoder",
    "enc": "encoder",
    "enc_1": "encoder",
    "video": "decoder",
    "vcs": "decoder",
    "video-enhance": "encoder",
    "vecs": "encoder",
}


class Client(NamedTuple):
    """One opening of a GPU.

    `memory` in bytes by kind; `busy`: nanoseconds by engine; `cycles`: (busy, all) by engine; `shares`: of time, where
    an old kernel gives these in place of counters; `capacity`: how many engines of a name there are.
    """

    driver: str
    pci_address: str
    id: str
    memory: dict[str, int]
    busy: dict[str, int]
    cycles: dict[str, tuple[int, int]]
    shares: dict[str, float]
    capacity: dict[str, int]


def parse(text: str) -> Client | None:
    """A client; None for a file that is no GPU's, or does not tell which."""
    fields = {hit[1]: hit[2].strip() for hit in _LINE.finditer(text[:16_384])}
    if "drm-driver" not in fields:
        return _parse_old(fields)
    address = fields.get("drm-pdev", "").lower()
    memory = {**_memory(fields, "drm-memory-"), **_memory(fields, "drm-resident-"), **_memory(fields, "drm-total-")}
    memory |= _memory(fields, "drm-memory-") | _memory(fields, "drm-resident-")
    if (visible := _amount(fields.get("amd-memory-visible-vram"))) is not None:
        memory["visible_vram"] = visible
    busy, cycles, capacity = {}, {}, {}
    for name, value in fields.items():
        amount = _amount(value)
        if amount is None:
            continue
        if name.startswith("drm-engine-capacity-"):
            capacity[name.removeprefix("drm-engine-capacity-")] = max(amount, 1)
        elif name.startswith("drm-engine-"):
            busy[name.removeprefix("drm-engine-")] = amount
        elif name.startswith("drm-cycles-"):
            engine = name.removeprefix("drm-cycles-")
            if (whole := _amount(fields.get("drm-total-cycles-" + engine))) is not None:
                cycles[engine] = (amount, whole)
    return Client(fields["drm-driver"], address, fields.get("drm-client-id", ""), memory, busy, cycles, {}, capacity)


def _parse_old(fields: dict[str, str]) -> Client | None:
    """amdgpu before the common form: `pdev:`, `vram mem: 12 kB`, `gfx0: 3.50%`."""
    if "pdev" not in fields or "vram mem" not in fields:
        return None
    memory = {}
    for kind, name in (("vram", "vram mem"), ("gtt", "gtt mem")):
        number, _, unit = fields.get(name, "").partition(" ")
        if number.isdecimal() and len(number) < 20:
            memory[kind] = int(number) * _UNITS.get(unit, 1024)
    shares: dict[str, float] = {}
    for name, value in fields.items():
        engine, share = _OLD_ENGINE.fullmatch(name), _PER_CENT.fullmatch(value)
        if engine and share:
            shares[engine[1]] = shares.get(engine[1], 0.0) + float(share[1]) / 100
    pasid = fields.get("pasid", "")
    return Client("amdgpu", fields["pdev"].lower(), pasid, memory, {}, {}, shares, {})


def _memory(fields: dict[str, str], prefix: str) -> dict[str, int]:
    """Bytes by kind, of regions whose names may end in a number (vram0, local0)."""
    found: dict[str, int] = {}
    for name, value in fields.items():
        if name.startswith(prefix) and (amount := _amount(value)) is not None:
            kind = _REGIONS.get(name.removeprefix(prefix).rstrip("0123456789"))
            if kind:
                found[kind] = found.get(kind, 0) + amount
    return found


def _amount(value: str | None) -> int | None:
    hit = _AMOUNT.match(value or "")
    return int(hit[1]) * _UNITS[hit[2]] if hit else None


class EngineUse:
    """Shares of engines' time from the counters of the sample before. A counter that goes back keeps its larger value."""

    def __init__(self) -> None:
        self.rates = Rates()
        self._largest: dict[tuple[object, ...], int] = {}

    def shares(self, client: Client, now: float) -> dict[str, float]:
        """Of each kind of engine the share that the client took, 0 to 1; empty at first."""
        found: dict[str, float] = {}
        for engine, share in client.shares.items():
            _add(found, engine, share)
        for engine, nanoseconds in client.busy.items():
            key = (client.pci_address, client.id, engine)
            self._largest[key] = max(nanoseconds, self._largest.get(key, 0))
            rate = self.rates.per_second(key, self._largest[key] / 1e9, now)
            if rate is not None:
                _add(found, engine, rate / client.capacity.get(engine, 1))
        for engine, (busy, whole) in client.cycles.items():
            key = (client.pci_address, client.id, engine)
            taken = self.rates.per_second((*key, "busy"), busy, now)
            passed = self.rates.per_second((*key, "all"), whole, now)
            if taken is not None and passed:
                _add(found, engine, taken / passed / client.capacity.get(engine, 1))
        return {word: min(share, 1.0) for word, share in found.items()}

    def next(self) -> None:
        """A sample is done."""
        self.rates.next()
        if len(self._largest) > 10_000:  # of clients that went, too
            self._largest.clear()


def _add(found: dict[str, float], engine: str, share: float) -> None:
    if (word := _ENGINES.get(engine)) is not None:
        found[word] = found.get(word, 0.0) + share
