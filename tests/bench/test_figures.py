"""Figures are set beside the data sheet, others' figures, and this machine's past."""

from typing import Any

import pytest

from answer_data import as_data, bench_of, benched, heard
from rigup.bench import answer as answering
from rigup.bench import comparing
from rigup.bench.records import run_of
from rigup.verify.observe import Observed, Seen, recorded

Answer = dict[str, Any]


def result(name: str = "matmul", median: float = 100e12, unit: str = "FLOP/s", **more: Any) -> Answer:
    """One figure of a device."""
    kind = {} if unit == "s" else {"type": "bfloat16"}
    return {"name": name, **kind, "median": median, "best": median, "spread": 0.01, "unit": unit, **more}


def run(*results: Answer) -> Answer:
    """An answer with one device."""
    return {"schema": "rigup.bench/1", "devices": [{"name": "NVIDIA H200 NVL", "pci_address": "0000:01:00.0", "results": [*results]}]}


def seen_with(*results: Answer, name: str = "NVIDIA H200 NVL") -> Observed:
    """What a child said of one card."""
    record = {"measured": {"results": [*results], "sweep": [{"size": 4096, "rate": 1e12}]}}
    seen = heard([{"id": "cuda:0", "vendor": "nvidia", "name": name}], {("cuda:0", "matmul-bfloat16"): record})
    return Observed("/e/bin/python", "3.12", "/e", {"torch": "2.13.0"}, [seen])


def answer(*given: Any, **more: Any) -> Answer:
    """The answer as data."""
    data: Answer = as_data(benched(*given, **more))
    return data


def drops(now: Answer, before: list[Answer]) -> list[Answer]:
    """What became slower, as data."""
    data: list[Answer] = as_data(answering.drops(bench_of(now), list(map(run_of, before))))
    return data


def compared(now: Answer, base: Answer) -> list[Answer]:
    """Figures of two runs beside each other, as data."""
    data: list[Answer] = as_data(comparing.compared(bench_of(now), run_of(base)))
    return data


def machine() -> Answer:
    """A card, as the doctor shows it."""
    card = {"index": 0, "vendor": "nvidia", "name": "NVIDIA H200 NVL", "pci_address": "0000:01:00.0", "memory": {"vram": 141 * 2**30}}
    return {"accelerators": [card], "cpus": [{"model": "A Processor"}]}


def test_a_product_is_told_as_a_share_of_the_data_sheet_with_its_source() -> None:
    figure = answer(seen_with(result(median=800e12, best=820e12)), machine(), {}, full=False)["devices"][0]["results"][0]
    assert figure["share_of_peak"] == round(800e12 / figure["peak"], 4)
    assert figure["peak"] > 800e12
    assert figure["peak_source"]


def test_what_others_measured_stands_beside_it_with_its_source() -> None:
    figure = answer(seen_with(result()), machine(), {}, full=False)["devices"][0]["results"][0]
    assert figure["others"][0]["rate"] == 853.29e12
    assert figure["others"][0]["source"].startswith("https://github.com/")


def test_a_card_that_no_table_knows_has_figures_alone() -> None:
    unknown = machine()
    unknown["accelerators"][0]["name"] = "A Card Of Tomorrow"
    figure = answer(seen_with(result(), name="A Card Of Tomorrow"), unknown, {}, full=False)["devices"][0]["results"][0]
    assert "peak" not in figure
    assert "others" not in figure


def test_what_was_watched_stands_at_its_device() -> None:
    watched = {"samples": 3, "clock_mhz": {"least": 1.0, "median": 2.0, "most": 3.0}}
    found = answer(seen_with(result()), machine(), {"0000:01:00.0": watched}, full=False)
    assert found["devices"][0]["watched"] == watched


def test_a_check_that_died_is_told_and_the_others_stay() -> None:
    observed = seen_with(result())
    observed.frameworks[0].records[("cuda:0", "memory")] = recorded({"died": "signal", "number": 11})
    device = answer(observed, machine(), {}, full=False)["devices"][0]
    assert [failure["check"] for failure in device["failed"]] == ["memory"]
    assert len(device["results"]) == 1


def test_a_framework_that_cannot_be_imported_is_told_beside_what_was_measured() -> None:
    from rigup.cli.bench_report import text

    observed = seen_with(result())
    observed.frameworks.append(Seen("llama.cpp"))
    observed.frameworks[1].stderr = b"Traceback\nImportError: libggml.so: no such file\n"
    found = benched(observed, machine(), {})
    assert as_data(found.failed) == [{"check": "llama.cpp", "because": "ImportError: libggml.so: no such file"}]
    assert "llama.cpp could not be measured: ImportError" in " ".join(text(found).split())


def test_a_drop_beyond_the_spread_is_found() -> None:
    assert drops(run(result(median=80e12)), [run(result(median=100e12))])[0]["lost"] == 0.2


def test_what_the_spread_explains_is_no_drop() -> None:
    assert not drops(run(result(median=90e12, spread=0.05)), [run(result(median=100e12))])
    assert not drops(run(result(median=97e12)), [run(result(median=100e12))])
    assert not drops(run(result(median=120e12)), [run(result(median=100e12))])


def test_on_a_busy_machine_the_processor_is_not_said_to_be_slower_and_the_card_is() -> None:
    from rigup.cli.bench_report import text

    now, before = run(result(median=80e12)), run(result(median=100e12))
    for document in (now, before):
        document["devices"].append({"name": "a processor", "vendor": "cpu", "results": document["devices"][0]["results"]})
    assert [drop["device"] for drop in drops(now, [before])] == ["NVIDIA H200 NVL", "a processor"]
    assert [drop["device"] for drop in drops(now | {"busy_cores": 1.9}, [before])] == ["NVIDIA H200 NVL"]
    assert "1.9 cores" in " ".join(text(bench_of(now | {"busy_cores": 1.9})).split())
    assert "cores" not in text(bench_of(now | {"busy_cores": 0.2}))


def test_more_seconds_are_worse() -> None:
    slower, faster = result("launch", 9e-6, "s"), result("launch", 5e-6, "s")
    assert drops(run(slower), [run(faster)])
    assert not drops(run(faster), [run(slower)])


def test_another_card_or_another_figure_is_not_compared() -> None:
    other = run(result(median=100e12))
    other["devices"][0]["name"] = "Another"
    assert not drops(run(result(median=1e12)), [other, run(result("memory-copy", 1e15, "B/s"))])


def test_records_of_nonsense_are_passed_by() -> None:
    assert not drops(run(result()), [{"devices": [3, {"name": None}, {"results": None or []}]}])


def test_two_runs_are_compared_figure_by_figure() -> None:
    pairs = compared(run(result(median=50e12), result("launch", 4e-6, "s")), run(result(median=100e12), result("launch", 8e-6, "s")))
    assert [pair["times"] for pair in pairs] == [0.5, 2.0]


@pytest.mark.parametrize("columns_there", [40, 60, 80, 100])
def test_a_report_fits_its_terminal_and_has_bars_where_there_is_room(columns_there: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from rigup.cli.bench_report import text
    from rigup.cli.layout import columns

    monkeypatch.setenv("COLUMNS", str(columns_there))
    figure = {"name": "matmul", "type": "float32", "unit": "FLOP/s", "median": 3e12, "best": 3e12, "spread": 0.02, "size": 4096}
    document = {"devices": [{"name": "a card", "results": [figure, {**figure, "median": 1e12, "best": 1e12, "share_of_peak": 0.5}]}]}
    shown = text(bench_of(document))
    assert [line for line in shown.splitlines() if columns(line) > columns_there] == []
    assert ("█" in shown) == (columns_there >= 80)
    assert "4096²" in shown
