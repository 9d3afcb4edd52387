"""One GPU's values while a sample is taken: each by its dotted path in rigup.watch/1, with its source."""

import functools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from rigup.schemas.shared import BoundDriver
from rigup.schemas.watch_gpu import GpuState, WatchedGpu

_KINDS = ("vram", "gtt", "unified", "visible_vram")
_GROUPS: dict[str, tuple[str, ...]] = {
    "utilisation": ("gpu", "memory", "encoder", "decoder", "media", "compute", "copy", "tensor", "sm"),
    **{"memory." + kind: ("total", "used", "reserved", "free") for kind in _KINDS},
    "temperature": ("edge", "junction", "memory", "limit"),
    "power": ("draw", "limit", "limit_default", "limit_max", "scope"),
    "energy": (),
    "clock": ("graphics", "memory", "media", "soc"),
    "clock_max": ("graphics", "memory", "media", "soc"),
    "fan": ("rpm", "speed"),
    "voltage": ("graphics",),
    "pcie": ("width", "width_max", "speed", "speed_max", "rx", "tx", "replays"),
    "links": (),
    "throttle": (),
    "throttle_raw": (),
    "errors": ("ecc_corrected", "ecc_uncorrected", "retired", "remap_pending", "xid", "ras"),
    "partitions": (),
}


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What does not change of a GPU.

    Attributes:
        key: its PCI address; on systems without one its index as text.
        vendor: who made it; "" if not known.
        folder: its folder in sysfs; "" without one.

    """

    key: str
    vendor: str = ""
    name: str = ""
    isa: str = ""
    pci_address: str = ""
    integrated: bool | None = None
    driver: str = ""
    driver_version: str = ""
    uuid: str = ""
    folder: str = ""


class Values:
    """Values by dotted path. The first source that gives one has it, so the better sources are asked first."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}
        self.source: dict[str, str] = {}
        self.state: GpuState = "active"
        self.because = ""
        self.troubles: list[tuple[str, str]] = []

    def put(self, path: str, value: float | None, source: str, scale: float = 1.0) -> None:
        """A value in its base unit after `scale`; None, and what is no number, is not given."""
        if value is None or path in self.known:
            return
        scaled = value * scale if scale != 1.0 else value
        if isinstance(scaled, float) and not math.isfinite(scaled):
            return
        self.known[path] = scaled
        self.source[path] = source

    def put_share(self, path: str, value: float | None, source: str, whole: float = 100.0) -> None:
        """A share of `whole`; what is outside of 0 to 1 is no share."""
        if value is not None and 0 <= value <= whole:
            self.put(path, value / whole, source)

    def put_any(self, path: str, value: Any, source: str) -> None:
        """A value that is no number: a list, a word, a truth."""
        if value is not None and path not in self.known:
            self.known[path], self.source[path] = value, source

    def trouble(self, subject: str, because: str) -> None:
        """Something could not be read."""
        self.troubles.append((subject, because))

    def gpu(self, index: int, identity: Identity) -> WatchedGpu:
        """The GPU as it is answered."""
        shape = _shape(tuple(self.known))
        groups: list[dict[str, Any]] = [{} for _group in range(shape.groups)]
        for (at, name), value in zip(shape.places, self.known.values(), strict=True):
            groups[at][name] = value
        for at, name, inner in shape.nested:
            groups[at][name] = groups[inner]
        plain = groups[0]
        plain |= {"index": index, "state": self.state, "source": self.source, "not_available": list(shape.missing)}
        if self.because:
            plain["because"] = self.because
        plain |= {
            name: value
            for name in ("vendor", "name", "isa", "pci_address", "integrated", "uuid")
            if (value := getattr(identity, name)) not in ("", None)
        }
        driver = {"name": identity.driver, "version": identity.driver_version}
        if identity.driver or identity.driver_version:
            plain["driver"] = BoundDriver(**{name: word for name, word in driver.items() if word})
        return msgspec.convert(plain, WatchedGpu)


class _Shape(NamedTuple):
    """How values by dotted path are put into groups: the same from sample to sample, as a GPU gives the same values.

    Attributes:
        groups: how many there are; the first is the GPU itself.
        places: of each path its group and the name in it.
        nested: group, name and the group that stands there.
        missing: paths of what is not given; of a group that has nothing, the group alone.

    """

    groups: int
    places: list[tuple[int, str]]
    nested: list[tuple[int, str, int]]
    missing: list[str]


@functools.lru_cache(maxsize=256)
def _shape(paths: tuple[str, ...]) -> _Shape:
    numbers: dict[str, int] = {"": 0}
    nested: list[tuple[int, str, int]] = []
    places = []
    for path in paths:
        *above, name = path.split(".")
        for depth in range(len(above)):
            group, parent = ".".join(above[: depth + 1]), ".".join(above[:depth])
            if group not in numbers:
                numbers[group] = len(numbers)
                nested.append((numbers[parent], above[depth], numbers[group]))
        places.append((numbers[".".join(above)], name))
    return _Shape(len(numbers), places, nested, list(_missing(frozenset(paths))))


def _missing(known: frozenset[str]) -> Iterator[str]:
    """Dotted paths that are not there; of a group that has none, the group alone."""
    for group, leaves in _GROUPS.items():
        lacks = [leaf for leaf in leaves if group + "." + leaf not in known]
        if len(lacks) < len(leaves):
            yield from (group + "." + leaf for leaf in lacks)
        elif group not in known:
            yield group
