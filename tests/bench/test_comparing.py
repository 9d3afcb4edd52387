"""A run is set beside a file, another machine, a moment, a capture or a card, whichever a word names."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from answer_data import as_data, bench_of, benched, heard
from rigup.bench import comparing, records
from rigup.bench.comparing import CompareError, listed, other
from rigup.bench.records import Run, nodes, of_node, run_of
from rigup.cli import main
from rigup.cli.bench_list import text as list_text
from rigup.cli.bench_report import text, times_text
from rigup.knowledge.speeds import data_sheet, kinds_of, measured_names, named, results
from rigup.machine.baseline import state_folder
from rigup.schemas.bench import Bench, BenchList

Answer = dict[str, Any]


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(*results: Answer, name: str = "a card", vendor: str = "nvidia", moment: str = "2026-11-20T10:00:00Z") -> Answer:
    """A run with one device."""
    return {
        "schema": "rigup.bench/1",
        "recorded_at": moment,
        "environment": {"prefix": "/an/env"},
        "devices": [{"name": name, "vendor": vendor, "results": [*results]}],
    }


def keep(prefix: str, answer: Answer) -> None:
    """Make it a part of this machine's past."""
    records.keep(prefix, bench_of(answer))


def compared(now: Answer | Bench, base: Answer | Run) -> list[Answer]:
    """Figures of two runs beside each other, as data."""
    mine, theirs = ((now if isinstance(now, Bench) else bench_of(now)), (base if isinstance(base, Run) else run_of(base)))
    pairs: list[Answer] = as_data(comparing.compared(mine, theirs))
    return pairs


def product(rate: float, kind: str = "bfloat16", **more: Any) -> Answer:
    """A figure of a matrix product."""
    return {
        "framework": "torch",
        "name": "matmul",
        "type": kind,
        "unit": "FLOP/s",
        "median": rate,
        "best": rate * 1.1,
        "spread": 0.01,
        **more,
    }


def test_a_file_is_another_run(tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text(json.dumps(run(product(1e12))))
    assert other(str(tmp_path / "before.json")).devices[0].name == "a card"


def test_a_machine_is_known_by_the_results_that_lie_in_the_state_folder() -> None:
    keep("/an/env", run(product(1e12)))
    folder = state_folder("bench")
    folder.rename(folder.parent / "node7")
    assert nodes() == ["node7"]
    assert other("node7").devices[0].results[0].median == 1e12


def test_of_a_machines_runs_the_newest_of_the_same_environment_is_taken() -> None:
    keep("/an/env", run(product(1e12)))
    keep("/another", run(product(9e12), moment="2026-11-20T12:00:00Z") | {"environment": {"prefix": "/another"}})
    keep("/an/env", run(product(2e12), moment="2026-11-20T11:00:00Z"))
    here = nodes()[0]
    assert other(here, "/an/env").devices[0].results[0].median == 2e12
    assert other(here, "/a/third").devices[0].results[0].median == 9e12


def test_a_moment_is_an_earlier_run_of_this_machine() -> None:
    keep("/an/env", run(product(1e12), moment="2026-11-20T10:00:00Z"))
    keep("/an/env", run(product(2e12), moment="2026-11-20T11:00:00Z"))
    assert other("2026-11-20T10:00").devices[0].results[0].median == 1e12


def test_a_card_is_what_others_measured_and_its_data_sheet() -> None:
    device = other("H200 NVL").devices[0]
    kinds = {(result.of, result.type) for result in device.results if result.name == "matmul"}
    assert {("measured", "bfloat16"), ("data-sheet", "bfloat16")} <= kinds
    assert all(result.source for result in device.results)


def test_a_bare_number_means_the_card_that_ends_in_it() -> None:
    assert named("4090") == ["NVIDIA GeForce RTX 4090"]
    assert named("nosuch 77123") == []
    assert named("") == []


def test_a_word_that_may_be_several_cards_is_asked_about() -> None:
    with pytest.raises(CompareError, match="may be"):
        other("A100")


def test_a_word_that_is_nothing_is_told_where_to_look() -> None:
    with pytest.raises(CompareError, match="rigup bench --list"):
        other("nosuch 77123")


def test_a_captured_machine_is_what_the_tables_know_of_its_cards(tmp_path: Path) -> None:
    (tmp_path / "report.txt").write_text(
        "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102 [GeForce RTX 4090] [10de:2684] (rev a1)\n"
    )
    other_run = other(str(tmp_path / "report.txt"))
    assert [device.name for device in other_run.devices] == ["NVIDIA GeForce RTX 4090"]


def test_a_report_in_json_is_a_captured_machine_too(tmp_path: Path) -> None:
    chip = {
        "_name": "Apple M2 Max",
        "spdisplays_mtlgpufamilysupport": "spdisplays_metal3",
        "sppci_model": "Apple M2 Max",
        "sppci_cores": "38",
        "sppci_device_type": "spdisplays_gpu",
        "spdisplays_vendor": "sppci_vendor_Apple",
    }
    (tmp_path / "profiler.json").write_text(json.dumps({"SPDisplaysDataType": [chip]}))
    assert [device.name for device in other(str(tmp_path / "profiler.json")).devices] == ["Apple M2 Max"]


def test_another_answer_of_rigup_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text('{"schema": "rigup.plan/1", "devices": []}')
    with pytest.raises(CompareError, match="no answer of"):
        other(str(tmp_path / "plan.json"))


def test_a_capture_without_a_known_device_is_said(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing about any machine\n")
    with pytest.raises(CompareError, match="no device whose speed"):
        other(str(tmp_path / "notes.txt"))


def test_every_measured_device_has_figures_with_sources() -> None:
    for name in measured_names():
        kinds = kinds_of(name)
        assert kinds
        for kind in kinds:
            rows = results(name, kind)
            assert rows
            assert all(row.source.startswith("https://") and row.rate > 0 and row.conditions for row in rows)


def test_one_die_of_a_card_with_two_has_half_of_its_sheet() -> None:
    whole, half = data_sheet("AMD Instinct MI250X"), data_sheet("AMD Instinct MI250X", 64 * 2**30)
    assert whole is not None
    assert half is not None
    assert whole.bandwidth is not None
    assert half.rates["bfloat16"] * 2 == whole.rates["bfloat16"]
    assert half.bandwidth == whole.bandwidth / 2
    assert data_sheet("AMD Instinct MI210", 64 * 2**30) == data_sheet("AMD Instinct MI210")


@pytest.mark.parametrize(
    ("shown", "known"),
    [
        ("AMD Ryzen 9 7950X 16-Core Processor", "AMD Ryzen 9 7950X"),
        ("13th Gen Intel(R) Core(TM) i9-13900K", "Intel Core i9-13900K"),
        ("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "Intel Xeon Gold 6230"),
        ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "AMD Ryzen AI Max+ 395"),
    ],
)
def test_a_processor_is_known_by_the_name_that_its_system_prints(shown: str, known: str) -> None:
    assert results(shown, "cpu") == results(known, "cpu")
    assert results(shown, "cpu")
    assert not results("AMD Ryzen 9 7951X 16-Core Processor", "cpu")


def test_a_chip_that_is_both_is_told_as_both() -> None:
    devices = other("Apple M2 Ultra").devices
    assert [device.vendor for device in devices] == ["", "cpu"]
    rates = [result.best for device in devices for result in device.results if result.name == "matmul"]
    assert rates[0] > rates[-1]


def shown_beside(answer: Bench) -> tuple[str, str]:
    """What the report says of its one figure in the device's own row, and in the comparison with its card."""
    with_comparison = as_data(answer) | {"compared": {"with": "H200 NVL", "figures": compared(answer, other("H200 NVL"))}}
    above, _head, below = " ".join(text(bench_of(with_comparison)).split()).partition("Compared with")
    return above, below


def test_the_comparison_says_what_the_devices_own_row_says() -> None:
    card = {"index": 0, "vendor": "nvidia", "name": "NVIDIA H200 NVL", "memory": {"vram": 141 * 2**30}}
    figures = [product(643.2e12, size=8192), {"name": "memory-triad", "unit": "B/s", "median": 3.9e12, "best": 4.4e12, "spread": 0.01}]
    record = {"measured": {"results": figures}}
    seen = heard([{"id": "cuda:0", "vendor": "nvidia", "name": "NVIDIA H200 NVL"}], {("cuda:0", "matmul-bfloat16"): record})
    answer = benched(seen, {"accelerators": [card]}, {})
    row, comparison = shown_beside(answer)
    for words in ("643 TFLOP/s", "77% of the data sheet", "853 TFLOP/s", "3.9 TB/s", "81% of the data sheet"):
        assert words in row
        assert words in comparison
    assert "0.75 times as fast as others measured" in comparison


def test_of_several_people_the_best_is_compared_with_as_the_row_shows_it() -> None:
    rows = other("A100-SXM4-80GB").devices[0].results
    measured = [row.median for row in rows if (row.of, row.name, row.type) == ("measured", "matmul", "bfloat16")]
    assert measured == [max(result.rate for result in results("NVIDIA A100-SXM4-80GB") if result.type == "bfloat16")]


def test_a_card_that_is_sold_with_less_memory_is_compared_with_its_own_sheet() -> None:
    small = data_sheet("NVIDIA GeForce RTX 3050", 6 * 2**30)
    large = data_sheet("NVIDIA GeForce RTX 3050", 8 * 2**30)
    assert small is not None
    assert large is not None
    assert small.rates["float32"] != large.rates["float32"]
    for sheet, size in ((small, 6), (large, 8)):
        now = run(product(1e12, "float32"), name="NVIDIA GeForce RTX 3050")
        now["devices"][0]["memory"] = {"vram": size * 2**30}
        (pair,) = [pair for pair in compared(now, other("RTX 3050")) if pair.get("of") == "data-sheet"]
        assert pair["there"] == sheet.rates["float32"]


@pytest.mark.parametrize(("times", "shown"), [(0.00123, "0.0012"), (0.4666, "0.47"), (1.04, "1.04"), (12.34, "12"), (1234.0, "1,234")])
def test_how_many_times_is_told_as_finely_as_a_share(times: float, shown: str) -> None:
    assert times_text(times) == shown


def test_times_and_the_two_figures_go_together() -> None:
    launch = {"name": "launch", "unit": "s", "median": 1e-5, "best": 9e-6, "spread": 0.0}
    (pair,) = compared(run(launch), run(launch | {"median": 5e-6}))
    assert (pair["here"], pair["there"], pair["times"]) == (1e-5, 5e-6, 0.5)


def test_devices_of_one_name_are_compared_whatever_their_order() -> None:
    now, base = run(product(1e12)), run(product(4e12), name="slow")
    base["devices"].append(run(product(2e12))["devices"][0])
    assert [pair["times"] for pair in compared(now, base)] == [0.5]


def test_a_processor_is_not_set_beside_a_card_where_there_is_another_processor() -> None:
    now = run(product(1e12))
    now["devices"].append({"name": "a processor", "vendor": "cpu", "results": [product(1e11)]})
    base = {"devices": [{"name": "p2", "vendor": "cpu", "results": [product(2e11)]}]}
    assert [(pair["device"], pair["times"]) for pair in compared(now, base)] == [("a processor", 0.5)]


def test_nonsense_in_the_other_run_is_passed_by() -> None:
    assert compared(run(product(1e12)), {"devices": [3, None, {"results": None}]}) == []


def test_the_report_tells_where_each_figure_is_from() -> None:
    answer = run(product(1e12))
    answer["compared"] = {"with": "H200 NVL", "figures": compared(answer, other("H200 NVL"))}
    report = text(bench_of(answer))
    assert "Compared with NVIDIA H200 NVL" in report
    assert "as others measured" in report
    assert "of the data sheet" in report


def test_nothing_in_common_is_said() -> None:
    assert "no figure in common" in text(bench_of(run() | {"compared": {"with": "x", "figures": []}}))


def test_the_list_shows_runs_machines_and_names() -> None:
    keep("/an/env", run(product(1e12)))
    listing = listed()
    assert [run_["recorded_at"] for run_ in listing.runs] == ["2026-11-20T10:00:00Z"]
    report = list_text(listing)
    assert "2026-11-20T10:00:00Z" in report
    assert "1 TFLOP/s" in report
    assert "NVIDIA GeForce RTX 2070, " in report
    for name in measured_names():
        assert name.split(" ", 1)[1] in report or name.split(" ")[-1] in report


def test_measured_devices_stand_by_family_and_number_and_no_name_is_broken() -> None:
    long = [f"Long {n} of them" for n in range(60)]
    report = list_text(BenchList(runs=[], machines=[], measured=["A Card 780M", "A Card 7900 XT", "A Card 99", "Chip M2", *long]))
    assert "  A Card 99, 780M, 7900 XT\n" in report
    assert "  Chip M2\n" in report
    assert all(f"{n} of them" in report for n in range(60))


def test_a_list_without_any_run_says_so() -> None:
    done = CliRunner().invoke(main, ["bench", "--list"])
    assert (done.exit_code, "Nothing was measured" in done.output) == (0, True)


def test_runs_of_all_environments_stand_in_order_of_time() -> None:
    keep("/b", run(product(1e12), moment="2026-11-20T12:00:00Z"))
    keep("/a", run(product(1e12), moment="2026-11-20T13:00:00Z"))
    assert [run_["recorded_at"][11:13] for run_ in of_node()] == ["12", "13"]


def test_what_names_nothing_is_refused_before_anything_is_measured() -> None:
    done = CliRunner().invoke(main, ["bench", "/no/such/environment", "--compare", "nosuch 77123"])
    assert done.exit_code == 1
    assert "rigup bench --list" in " ".join(done.output.split())
