"""amdgpu's gpu_metrics: every revision field by field, units, and tables that are none."""

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.watch.gpu_metrics import BadTable, decode, put, put_residencies
from rigup.watch.gpu_metrics_layouts import ITEM_FORMATS, ITEM_NAMES, LAYOUTS, PARTS
from rigup.watch.values import Values

SHARED = Path(__file__).resolve().parents[3] / "shared" / "watch" / "gpu_metrics"
# Sizes of the structs as gcc lays them out for the kernel's header.
SIZES = {
    "1.0": 80,
    "1.1": 96,
    "1.2": 104,
    "1.3": 120,
    "1.4": 288,
    "1.5": 360,
    "1.6": 1664,
    "1.7": 2208,
    "1.8": 3872,
    "2.0": 120,
    "2.1": 120,
    "2.2": 128,
    "2.3": 152,
    "2.4": 168,
    "3.0": 264,
}


def table(revision: str, **numbers: int | list[int]) -> bytes:
    """A table in which all other fields are ones."""
    layout = LAYOUTS[revision]
    data = bytearray(b"\xff" * layout.size)
    struct.pack_into("<HBB", data, 0, layout.size, *map(int, revision.split(".")))
    places = {name: (form, at) for name, form, at in layout.fields}
    for name, value in numbers.items():
        form, at = places[name]
        struct.pack_into("<" + form, data, at, *(value if isinstance(value, list) else [value]))
    return bytes(data)


def items(*rows: tuple[str, str, int, list[int]]) -> bytes:
    """Revision 1.9: name or number, type, unit, values."""
    data = struct.pack("<HBBi", 0, 1, 9, len(rows))
    for name, form, unit, numbers in rows:
        number = ITEM_NAMES.index(name) if name in ITEM_NAMES else int(name)
        code = unit << 24 | ITEM_FORMATS.index(form) << 20 | number << 10 | len(numbers)
        data += struct.pack(f"<Q{len(numbers)}{form}", code, *numbers)
    return data


def known(raw: bytes) -> dict[str, object]:
    """What a table gives."""
    values = Values()
    put(values, decode(raw))
    return values.known


def test_sizes_are_the_kernels() -> None:
    assert {revision: layout.size for revision, layout in LAYOUTS.items()} == SIZES
    assert {name: part.size for name, part in PARTS.items()} == {"6": 168, "7": 232, "8": 440}


@pytest.mark.parametrize("revision", LAYOUTS)
def test_a_table_of_ones_gives_nothing(revision: str) -> None:
    assert known(table(revision)) == {}


@pytest.mark.parametrize("revision", LAYOUTS)
def test_a_table_that_is_cut_is_refused(revision: str) -> None:
    whole = table(revision)
    for end in (0, 3, 4, len(whole) // 2, len(whole) - 1):
        with pytest.raises(BadTable):
            decode(whole[:end])


def test_a_card_in_degrees_watts_and_per_cent() -> None:
    raw = table(
        "1.3",
        temperature_edge=57,
        temperature_hotspot=74,
        average_gfx_activity=88,
        average_socket_power=301,
        current_gfxclk=2490,
        current_uclk=1249,
        voltage_gfx=1003,
        pcie_link_speed=160,
        pcie_link_width=16,
        indep_throttle_status=1 << 36 | 1,
    )
    found = known(raw)
    assert found["temperature.junction"] == 74
    assert found["utilisation.gpu"] == 0.88
    assert found["power.draw"] == 301
    assert found["clock.graphics"] == 2.49e9
    assert found["voltage.graphics"] == pytest.approx(1.003)
    assert found["pcie.speed"] == 16e9
    assert found["throttle"] == ["power", "temperature"]
    assert "energy" not in found


@pytest.mark.parametrize(("said", "speed"), [(1, 2.5e9), (4, 16e9), (25, 2.5e9), (320, 32e9)])
def test_the_links_speed_may_be_a_generation(said: int, speed: float) -> None:
    assert known(table("1.3", pcie_link_speed=said))["pcie.speed"] == speed


@pytest.mark.parametrize("revision", ["1.4", "1.5", "1.6", "1.7", "1.8"])
def test_of_several_clocks_the_highest_and_energy_in_parts_of_a_joule(revision: str) -> None:
    found = known(table(revision, current_gfxclk=[2100, 2098, 65535, 2099, 65535, 1, 2, 3], energy_accumulator=6_553_600_000))
    assert found["clock.graphics"] == 2.1e9
    assert found["energy"] == 100_000


@pytest.mark.parametrize(
    ("revision", "said", "watts"), [("2.1", 31_250, 31.25), ("2.1", 250, 0.25), ("2.2", 25, 25), ("2.2", 31_250, 31.25), ("2.0", 15, 15)]
)
def test_a_sockets_power_in_watts_or_thousandths(revision: str, said: int, watts: float) -> None:
    assert known(table(revision, average_socket_power=said))["power.draw"] == pytest.approx(watts)


def test_a_processor_in_hundredths() -> None:
    found = known(table("2.1", temperature_gfx=6412, average_gfx_activity=7643))
    assert found["temperature.edge"] == pytest.approx(64.12)
    assert found["utilisation.gpu"] == pytest.approx(0.7643)


@pytest.mark.parametrize(("graphics", "video", "share"), [(63, 12, 0.63), (6300, 12, 0.63), (63, 1200, 0.0063)])
def test_activity_of_3_0_is_in_the_unit_that_all_of_it_is_in(graphics: int, video: int, share: float) -> None:
    found = known(table("3.0", average_gfx_activity=graphics, average_vcn_activity=video))
    assert found["utilisation.gpu"] == pytest.approx(share)


def test_a_list_is_read_past_what_nobody_knows() -> None:
    raw = items(
        ("900", "Q", 0, [1, 2, 3]),
        ("temperature_hotspot", "H", 2, [41]),
        ("pcie_link_speed", "H", 6, [32]),
        ("xgmi_read_data_acc", "Q", 9, [7, 2**64 - 1]),
        ("xgmi_write_data_acc", "Q", 9, [9, 2**64 - 1]),
        ("xgmi_link_status", "H", 0, [1, 0]),
        ("temperature_mem", "h", 2, [-1]),
    )
    found = known(raw)
    assert found["temperature.junction"] == 41
    assert found["pcie.speed"] == 32e9
    assert found["links"] == [{"kind": "xgmi", "index": 0, "rx": 7000, "tx": 9000, "up": True}]
    assert "temperature.memory" not in found


def test_a_share_above_the_whole_is_none() -> None:
    assert "utilisation.gpu" not in known(table("1.3", average_gfx_activity=655))


def test_time_spent_slowed_down_tells_the_reason_from_the_second_table_on() -> None:
    first = decode(table("1.6", ppt_residency_acc=5, prochot_residency_acc=1))
    later = decode(table("1.6", ppt_residency_acc=9, prochot_residency_acc=1))
    values, quiet = Values(), Values()
    put_residencies(values, None, first)
    assert values.known == {}
    put_residencies(values, first, later)
    assert values.known["throttle"] == ["power"]
    put_residencies(quiet, later, later)
    assert quiet.known["throttle"] == []


@given(st.binary(max_size=4096))
def test_any_bytes_are_a_table_or_refused(raw: bytes) -> None:
    try:
        found = decode(raw)
    except BadTable:
        return
    put(Values(), found)


@given(st.sampled_from(sorted(LAYOUTS)), st.binary(min_size=3872, max_size=3872))
def test_any_content_gives_shares_that_are_shares(revision: str, content: bytes) -> None:
    layout = LAYOUTS[revision]
    raw = struct.pack("<HBB", layout.size, *map(int, revision.split("."))) + content[4 : layout.size]
    for path, value in known(raw).items():
        if path.startswith("utilisation."):
            assert 0 <= value <= 1


@given(st.lists(st.tuples(st.integers(0, 2**34), st.binary(max_size=40)), max_size=20), st.integers(-(2**31), 2**31 - 1))
def test_any_list_ends(rows: list[tuple[int, bytes]], count: int) -> None:
    raw = struct.pack("<HBBi", 0, 1, 9, count) + b"".join(struct.pack("<Q", code) + payload for code, payload in rows)
    try:
        found = decode(raw)
    except BadTable:
        return
    assert set(found.fields) <= set(ITEM_NAMES)
    put(Values(), found)


@pytest.mark.machines
@pytest.mark.parametrize("name", sorted(path.parent.name for path in SHARED.glob("dev/*/expected.json")))
def test_tables_of_others(name: str) -> None:
    expected = json.loads((SHARED / "dev" / name / "expected.json").read_text())
    found = decode((SHARED / "dev" / name / "gpu_metrics.bin").read_bytes())
    compared = {field: list(found.fields[field]) for field in expected["raw"] if field in found.fields}
    assert len(compared) > 15
    assert compared == {
        field: number if isinstance(number, list) else [number] for field, number in expected["raw"].items() if field in compared
    }
