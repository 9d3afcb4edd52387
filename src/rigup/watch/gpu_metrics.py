"""amdgpu's `gpu_metrics`: a table that the firmware fills, in one of many revisions, as values in base units.

Layouts: Linux drivers/gpu/drm/amd/include/kgd_pp_interface.h. Little-endian, aligned as a 64-bit kernel does; the kernel
fills the table with ones first, so that a field of all ones was not given. Units differ by revision, and in two of
them by firmware; those are told by magnitude.
"""

import struct
from collections.abc import Iterable
from typing import NamedTuple

from rigup.knowledge.throttling import amd_reasons
from rigup.watch.gpu_metrics_layouts import ITEM_FORMATS, ITEM_NAMES, ITEM_UNITS, LAYOUTS, PARTS
from rigup.watch.values import Values

Numbers = tuple[int | None, ...]
_MOST_ITEMS = 4096
_SPEED_OF_GENERATION = {1: 2.5e9, 2: 5e9, 3: 8e9, 4: 16e9, 5: 32e9, 6: 64e9}
_ONLY_PER_CENT = 100  # above it an activity of revision 3.0 is in hundredths of a per cent
_MOST_WATTS = 300  # of an APU's socket: above it revisions 2.0 and 2.2 mean milliwatts


class BadTable(Exception):
    """A table that cannot be decoded; the text says why."""


class Table(NamedTuple):
    """A decoded table: each field's numbers as they stand, None for those that were not given; and v1.9's unit words."""

    revision: str
    fields: dict[str, Numbers]
    units: dict[str, str]
    partitions: tuple[dict[str, Numbers], ...] = ()

    def number(self, *names: str) -> int | None:
        """The first of several fields that gives a number, of its numbers the largest."""
        for name in names:
            given = [number for number in self.fields.get(name, ()) if number is not None]
            if given:
                return max(given)
        return None

    def all(self, name: str) -> Numbers:
        """All numbers of a field."""
        return self.fields.get(name, ())


def decode(table: bytes) -> Table:
    """A table of any revision. Raises BadTable for one that is cut, of an unknown revision, or no table."""
    if len(table) < 4:
        raise BadTable(f"{len(table)} bytes")
    size, major, minor = struct.unpack_from("<HBB", table)
    revision = f"{major}.{minor}"
    if (major, minor) == (1, 9):
        return Table(revision, *_items(table))
    layout = LAYOUTS.get(revision)
    if layout is None:
        raise BadTable("revision " + revision + " is not known")
    if size > len(table) or size < layout.size:
        raise BadTable(f"revision {revision} has {layout.size} bytes, its head says {size}, and there are {len(table)}")
    fields = {name: _given(form, table, at) for name, form, at in layout.fields}
    partitions = tuple(
        {name: _given(form, table, layout.parts_at + number * part.size + at) for name, form, at in part.fields}
        for part in ([PARTS[layout.part]] if layout.part else [])
        for number in range(8)
    )
    return Table(revision, fields, {}, partitions)


def _given(form: str, table: bytes, at: int) -> Numbers:
    """Numbers of one type, from a place on; None for all ones."""
    width = struct.calcsize("<" + form[-1])
    unset = 2 ** (8 * width) - 1
    read = struct.unpack_from("<" + form, table, at)
    return tuple(None if number in (unset, -1) else number for number in read)


def _items(table: bytes) -> tuple[dict[str, Numbers], dict[str, str]]:
    """Revision 1.9: a count, then items {code, values}, packed. code = unit << 24 | type << 20 | id << 10 | instances."""
    if len(table) < 8:
        raise BadTable("revision 1.9 without a count")
    (count,) = struct.unpack_from("<i", table, 4)
    if not 0 <= count <= _MOST_ITEMS:
        raise BadTable(f"revision 1.9 with {count} items")
    at = 8
    fields: dict[str, Numbers] = {}
    units: dict[str, str] = {}
    for _ in range(count):
        if at + 8 > len(table):
            raise BadTable("revision 1.9 ends within its items")
        (code,) = struct.unpack_from("<Q", table, at)
        instances, number, kind, unit = code & 0x3FF, code >> 10 & 0x3FF, code >> 20 & 0xF, code >> 24 & 0xFF
        if kind >= len(ITEM_FORMATS):
            raise BadTable(f"revision 1.9 with an item of type {kind}")
        form = f"{instances}{ITEM_FORMATS[kind]}"
        if at + 8 + struct.calcsize("<" + form) > len(table):
            raise BadTable("revision 1.9 ends within an item")
        if number < len(ITEM_NAMES) and instances:
            fields.setdefault(ITEM_NAMES[number], _given(form, table, at + 8))
            units.setdefault(ITEM_NAMES[number], ITEM_UNITS[unit] if unit < len(ITEM_UNITS) else "")
        at += 8 + struct.calcsize("<" + form)
    return fields, units


def put(values: Values, table: Table) -> None:
    """What a table gives, in base units."""
    source = "gpu_metrics " + table.revision
    if table.revision.startswith("1."):
        _put_discrete(values, table, source)
    else:
        _put_shared(values, table, source)
    _put_clocks(values, table, source)
    _put_throttle(values, table, source)


def _put_discrete(values: Values, table: Table, source: str) -> None:
    """Revisions 1.x: cards; °C, W, %, mV."""
    values.put_share("utilisation.gpu", table.number("average_gfx_activity"), source)
    values.put_share("utilisation.memory", table.number("average_umc_activity"), source)
    media = [table.number("average_mm_activity", "vcn_activity", "vcn_busy")]
    media += [_most(part.get("vcn_busy", ())) for part in table.partitions]
    values.put_share("utilisation.media", _most(media), source)
    for path, name in (("edge", "temperature_edge"), ("junction", "temperature_hotspot"), ("memory", "temperature_mem")):
        values.put("temperature." + path, table.number(name), source)
    if (socket := table.number("curr_socket_power")) is not None:
        values.put("power.draw", socket, source)
        values.put_any("power.scope", "socket", source)
    elif (package := table.number("average_socket_power")) is not None:
        values.put("power.draw", package, source)
        values.put_any("power.scope", "gpu", source)
    if table.revision not in ("1.0", "1.1", "1.2", "1.3"):  # before, nobody says in which unit
        values.put("energy", table.number("energy_accumulator"), source, 2.0**-16)
    values.put("fan.rpm", table.number("current_fan_speed"), source)
    values.put("voltage.graphics", table.number("voltage_gfx"), source, 1e-3)
    values.put("pcie.width", table.number("pcie_link_width"), source)
    values.put("pcie.speed", _transfers(table), source)
    values.put("pcie.replays", table.number("pcie_replay_count_acc"), source)
    values.put_any("links", _links(table), source)


def _transfers(table: Table) -> float | None:
    """Transfers a second of a lane: in 0.1 GT/s, or as some cards' kernels wrote it, the generation."""
    number = table.number("pcie_link_speed")
    if number is None:
        return None
    if table.units.get("pcie_link_speed") == "GT/s":
        return number * 1e9
    return _SPEED_OF_GENERATION.get(number, number * 1e8)


def _links(table: Table) -> list[dict[str, object]] | None:
    """XGMI links, with counters in bytes; those that were not given are left out."""
    received, sent, status = (table.all(name) for name in ("xgmi_read_data_acc", "xgmi_write_data_acc", "xgmi_link_status"))
    links = []
    for index in range(max(len(received), len(sent))):
        link: dict[str, object] = {}
        for name, numbers in (("rx", received), ("tx", sent)):
            if index < len(numbers) and (kilobytes := numbers[index]) is not None:
                link[name] = kilobytes * 1000
        if link:
            up = status[index] if index < len(status) else None
            links.append({"kind": "xgmi", "index": index, **link, **({} if up is None else {"up": bool(up)})})
    return links or None


def _put_shared(values: Values, table: Table, source: str) -> None:
    """Revisions 2.x and 3.0: processors with graphics; hundredths of °C and of a per cent, mW."""
    whole = 10_000.0
    activities = ("average_gfx_activity", "average_vcn_activity", "average_ipu_activity", "average_core_c0_activity")
    if table.revision == "3.0" and (_most(table.number(name) for name in activities) or 0) <= _ONLY_PER_CENT:
        whole = 100.0
    values.put_share("utilisation.gpu", table.number("average_gfx_activity"), source, whole)
    values.put_share("utilisation.media", table.number("average_mm_activity", "average_vcn_activity"), source, whole)
    values.put("temperature.edge", table.number("temperature_gfx"), source, 0.01)
    if (power := table.number("average_socket_power")) is not None:
        in_watts = table.revision in ("2.0", "2.2") and power <= _MOST_WATTS
        values.put("power.draw", power, source, 1.0 if in_watts else 1e-3)
        values.put_any("power.scope", "socket", source)
    values.put("voltage.graphics", table.number("average_gfx_voltage"), source, 1e-3)


def _put_clocks(values: Values, table: Table, source: str) -> None:
    """In MHz in every revision; what runs now before what was the average."""
    for path, names in (
        ("graphics", ("current_gfxclk", "average_gfxclk_frequency")),
        ("memory", ("current_uclk", "average_uclk_frequency")),
        ("media", ("current_vclk0", "current_vclk", "average_vclk0_frequency", "average_vclk_frequency")),
        ("soc", ("current_socclk", "average_socclk_frequency")),
    ):
        values.put("clock." + path, table.number(*names), source, 1e6)
    values.put("clock_max.graphics", table.number("current_gfx_maxfreq"), source, 1e6)


def _put_throttle(values: Values, table: Table, source: str) -> None:
    """The bits that mean the same on every chip; of those of one chip alone, only that there are none."""
    status, of_chip = table.number("indep_throttle_status"), table.number("throttle_status")
    if status is not None:
        values.put_any("throttle", amd_reasons(status), source)
        values.put_any("throttle_raw", {"source": source + " indep_throttle_status", "value": status}, source)
    elif of_chip is not None:
        values.put_any("throttle", [] if of_chip == 0 else None, source)
        values.put_any("throttle_raw", {"source": source + " throttle_status", "value": of_chip}, source)


RESIDENCIES = {
    "prochot_residency_acc": "external",
    "ppt_residency_acc": "power",
    "socket_thm_residency_acc": "temperature",
    "vr_thm_residency_acc": "temperature",
    "hbm_thm_residency_acc": "temperature",
    "throttle_residency_prochot": "external",
    "throttle_residency_spl": "power",
    "throttle_residency_fppt": "power",
    "throttle_residency_sppt": "power",
    "throttle_residency_thm_core": "temperature",
    "throttle_residency_thm_gfx": "temperature",
    "throttle_residency_thm_soc": "temperature",
}
"""Counters of time spent slowed down: one that grows between two samples tells the reason of that time."""


def put_residencies(values: Values, before: Table | None, table: Table) -> None:
    """What slowed the GPU down since the table before; nothing can be told of the first one."""
    if before is None or before.revision != table.revision:
        return
    known = [name for name in RESIDENCIES if table.number(name) is not None and before.number(name) is not None]
    if known:
        grown = {RESIDENCIES[name] for name in known if table.number(name) != before.number(name)}
        values.put_any("throttle", sorted(grown), "gpu_metrics " + table.revision)


def _most(numbers: Iterable[int | None]) -> int | None:
    given = [number for number in numbers if number is not None]
    return max(given) if given else None
