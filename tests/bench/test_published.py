"""What others measured is plausible: beside data sheets, beside what a processor can do at all, and beside itself."""

from typing import NamedTuple

import pytest

from each import over
from rigup.knowledge.speeds import Result, data_sheet, measured_names, results

ROOM = 1.05  # times the peak that a measured rate may be
EXPLAINED = {"the boost clock": 1.25, "a laptop's maker": 1.4, "sums in float32": 2.0}  # times, by what the row's reason says
LEAST = 0.02  # of the peak: what is lower is another unit, or another device


class Processor(NamedTuple):
    """What bounds a processor: cores, float32 operations of a core in a clock, the highest clock in GHz, memory in GB/s."""

    cores: int
    operations: int
    clock: float
    memory: float


# By the makers' own pages. Two units of fused products of 8 numbers make 32 operations, of 16 numbers 64; channels times rate
# times 8 bytes make the memory's. Of chips with two kinds of cores the faster kind's operations and clock stand for all.
PROCESSORS = {
    "AMD EPYC 7262": Processor(8, 32, 3.4, 8 * 25.6),
    "AMD Ryzen 5 3600": Processor(6, 32, 4.2, 2 * 25.6),
    "AMD Ryzen 5 4600HS": Processor(6, 32, 4.0, 2 * 34.1),
    "AMD Ryzen 9 5900X": Processor(12, 32, 4.8, 2 * 25.6),
    "AMD Ryzen 9 7950X": Processor(16, 32, 5.7, 2 * 41.6),
    "AMD Ryzen Threadripper 3960X": Processor(24, 32, 4.5, 4 * 25.6),
    "AMD Ryzen Threadripper PRO 5975WX": Processor(32, 32, 4.5, 8 * 25.6),
    "AMD Ryzen AI Max+ 395": Processor(16, 64, 5.1, 256.0),
    "Intel Core i5-12400": Processor(6, 32, 4.4, 2 * 38.4),
    "Intel Core i7-1360P": Processor(12, 32, 5.0, 2 * 48.0),
    "Intel Core i9-12950HX": Processor(16, 32, 5.0, 2 * 38.4),
    "Intel Core i9-13900K": Processor(24, 32, 5.8, 2 * 51.2),
    "Intel Xeon Silver 4116": Processor(12, 64, 3.0, 6 * 19.2),
    "Intel Xeon Gold 6230": Processor(20, 64, 3.9, 6 * 23.5),
    "Intel Xeon Gold 6330": Processor(28, 64, 3.1, 8 * 23.5),
    "Intel Xeon Platinum 8358": Processor(32, 64, 3.4, 8 * 25.6),
}
ROWS = [(name, row) for name in measured_names() for row in (*results(name), *results(name, "cpu"))]
Rate = tuple[str, Result]


def called(rate: Rate) -> str:
    """How a row is named in a failure."""
    name, row = rate
    return f"{name}, {row.kind} {row.name} {row.type} {row.source[-24:]}"


def peak_of(name: str, row: Result) -> float | None:
    """What the sheet allows, in the row's unit."""
    sheet = data_sheet(name) if row.kind == "gpu" else None
    if sheet is None:
        return None
    return sheet.bandwidth if row.unit == "B/s" else sheet.rates.get(row.type) if row.unit == "FLOP/s" else None


@over(ROWS, called)
def test_a_rate_is_within_its_data_sheet_or_tells_why_not(rate: Rate) -> None:
    name, row = rate
    peak = peak_of(name, row)
    if peak is None:
        assert not row.above_sheet
        return
    share = row.rate / peak
    reason = next((most for words, most in EXPLAINED.items() if words in row.above_sheet), None)
    assert (share > ROOM) == bool(row.above_sheet)
    assert share <= (reason or ROOM)
    assert share >= LEAST


@over([row for row in ROWS if row[1].kind == "cpu"], called)
def test_a_processor_does_not_do_more_than_it_can(rate: Rate) -> None:
    name, row = rate
    if name.startswith("Apple"):  # its matrix unit's rate is nowhere told: by the memory alone
        assert row.unit != "B/s" or row.rate <= (data_sheet(name).bandwidth or 0)  # type: ignore[union-attr]
        return
    bound = PROCESSORS[name]
    most = {"FLOP/s": bound.cores * bound.operations * bound.clock * 1e9, "B/s": bound.memory * 1e9, "token/s": 1e5}
    assert row.rate <= most[row.unit]


def test_a_doubtful_rate_would_be_noticed() -> None:
    """The rows that were taken out, and what a benchmark that does not wait makes of a card."""
    xeon = PROCESSORS["Intel Xeon Gold 6330"]
    assert xeon.cores * xeon.operations * xeon.clock * 1e9 < 5.7e12
    sheet = data_sheet("NVIDIA GeForce RTX 2070 SUPER")
    assert sheet is not None
    assert sheet.bandwidth is not None
    assert sheet.bandwidth * ROOM < 831e9
    arc = data_sheet("Intel Arc B580 Graphics")
    assert arc is not None
    assert arc.rates["float32"] * 2 < 11920e12


@over(measured_names())
def test_shorter_types_of_a_card_are_not_slower_by_much(name: str) -> None:
    """Where the sheet says that a type is faster, somebody who measured both found it so, or nearly."""
    sheet = data_sheet(name)
    for source in {row.source for row in results(name)}:
        rates = {row.type: row.rate for row in results(name) if row.source == source and row.unit == "FLOP/s"}
        for short in ("float16", "bfloat16") if sheet and "float32" in rates else ():
            faster = sheet is not None and sheet.rates.get(short, 0) > 1.9 * sheet.rates.get("float32", float("inf"))
            assert not faster or short not in rates or rates[short] > 0.45 * rates["float32"], (name, short)


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (("H100 PCIe", "H200", "B200", "B300", "GH200", "GB200", "GB10", "L4", "L20", "L40S", "A10", "A10G", "A40", "A100"), "NVIDIA"),
        (
            (
                "RTX 5090",
                "RTX 5080",
                "RTX 5070 Ti",
                "RTX 5070",
                "RTX 5060 Ti",
                "RTX 5060",
                "RTX 4090",
                "RTX 4070 SUPER",
                "RTX 4060",
                "RTX 3090",
                "RTX 3080",
                "RTX 3070",
                "RTX 3060",
            ),
            "NVIDIA GeForce",
        ),
        (("RX 9070 XT", "RX 9060 XT", "RX 7900 XTX", "RX 7700 XT", "RX 6800", "RX 6600 XT", "8060S", "MI300X", "MI355X"), "AMD"),
        (("A770", "B580", "Max 1100"), "Intel"),
        (("M1", "M2", "M3 Max", "M4", "M4 Max"), "Apple"),
    ],
)
def test_cards_of_these_years_are_there(names: tuple[str, ...], wanted: str) -> None:
    known = [name for name in measured_names() if name.startswith(wanted)]
    assert [name for name in names if not any(name in known_name for known_name in known)] == []
