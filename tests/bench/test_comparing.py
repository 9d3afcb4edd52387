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
from rigup.cli.bench_report import text, times_told
from rigup.knowledge.speeds import data_sheet, kinds_of, measured_names, named, results
from rigup.machine.baseline import state_folder
from rigup.schemas.bench import Bench, BenchList

Answer = dict[str, Any]


@pytest.fixture(autouse=True)
def _own_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def run(*results: Answer, name: str = "a card", vendor: str = "nvidia", moment: str = "2026-11-20T10:00:00Z") -> Answer:
    """A run with one device."""
    return {"schema": "rigup.bench/1", "recorded_at": moment, "environment": {"prefix": "/an/env"},
            "devices": [{"name": name, "vendor": vendor, "results": [*results]}]}  # fmt: skip


def keep(prefix: str, told: Answer) -> None:
    """Make it a part of this machine's past."""
    records.keep(prefix, bench_of(told))


def compared(now: Answer | Bench, there: Answer | Run) -> list[Answer]:
    """Figures of two runs beside each other, as data."""
    mine, theirs = (
        (now if isinstance(now, Bench) else bench_of(now)),
        (there if isinstance(there, Run) else run_of(there)),
    )
    told: list[Answer] = as_data(comparing.compared(mine, theirs))
    return told


def product(rate: float, kind: str = "bfloat16", **more: Any) -> Answer:
    """A figure of a matrix product."""
    return {"framework": "torch", "name": "matmul", "type": kind, "unit": "FLOP/s", "median": rate, "best": rate * 1.1,
            "spread": 0.01, **more}  # fmt: skip


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
    told = other("H200 NVL").devices[0]
    kinds = {(one.of, one.type) for one in told.results if one.name == "matmul"}
    assert {("measured", "bfloat16"), ("data-sheet", "bfloat16")} <= kinds
    assert all(one.source for one in told.results)


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
    told = other(str(tmp_path / "report.txt"))
    assert [one.name for one in told.devices] == ["NVIDIA GeForce RTX 4090"]


def test_a_report_in_json_is_a_captured_machine_too(tmp_path: Path) -> None:
    chip = {"_name": "Apple M2 Max", "spdisplays_mtlgpufamilysupport": "spdisplays_metal3", "sppci_model": "Apple M2 Max",
            "sppci_cores": "38", "sppci_device_type": "spdisplays_gpu", "spdisplays_vendor": "sppci_vendor_Apple"}  # fmt: skip
    (tmp_path / "profiler.json").write_text(json.dumps({"SPDisplaysDataType": [chip]}))
    assert [one.name for one in other(str(tmp_path / "profiler.json")).devices] == ["Apple M2 Max"]


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
            told = results(name, kind)
            assert told
            assert all(one.source.startswith("https://") and one.rate > 0 and one.conditions for one in told)


def test_one_die_of_a_card_with_two_has_half_of_its_sheet() -> None:
    whole, half = data_sheet("AMD Instinct MI250X"), data_sheet("AMD Instinct MI250X", 64 * 2**30)
    assert whole is not None
    assert half is not None
    assert whole.bandwidth is not None
    assert half.rates["bfloat16"] * 2 == whole.rates["bfloat16"]
    assert half.bandwidth == whole.bandwidth / 2
    assert data_sheet("AMD Instinct MI210", 64 * 2**30) == data_sheet("AMD Instinct MI210")


@pytest.mark.parametrize(("shown", "known"), [
    ("AMD Ryzen 9 7950X 16-Core Processor", "AMD Ryzen 9 7950X"), ("13th Gen Intel(R) Core(TM) i9-13900K", "Intel Core i9-13900K"),
    ("Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz", "Intel Xeon Gold 6230"), ("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", "AMD Ryzen AI Max+ 395"),
])  # fmt: skip
def test_a_processor_is_known_by_the_name_that_its_system_prints(shown: str, known: str) -> None:
    assert results(shown, "cpu") == results(known, "cpu")
    assert results(shown, "cpu")
    assert not results("AMD Ryzen 9 7951X 16-Core Processor", "cpu")


def test_a_chip_that_is_both_is_told_as_both() -> None:
    told = other("Apple M2 Ultra").devices
    assert [one.vendor for one in told] == ["", "cpu"]
    rates = [one.best for device in told for one in device.results if one.name == "matmul"]
    assert rates[0] > rates[-1]


def shown_beside(told: Bench) -> tuple[str, str]:
    """What the report says of its one figure in the device's own row, and in the comparison with its card."""
    beside = as_data(told) | {"compared": {"with": "H200 NVL", "figures": compared(told, other("H200 NVL"))}}
    above, _head, below = " ".join(text(bench_of(beside)).split()).partition("Compared with")
    return above, below


def test_the_comparison_says_what_the_devices_own_row_says() -> None:
    card = {"index": 0, "vendor": "nvidia", "name": "NVIDIA H200 NVL", "memory": {"vram": 141 * 2**30}}
    figures = [
        product(643.2e12, size=8192),
        {"name": "memory-triad", "unit": "B/s", "median": 3.9e12, "best": 4.4e12, "spread": 0.01},
    ]
    record = {"measured": {"results": figures}}
    seen = heard(
        [{"id": "cuda:0", "vendor": "nvidia", "name": "NVIDIA H200 NVL"}], {("cuda:0", "matmul-bfloat16"): record}
    )
    told = benched(seen, {"accelerators": [card]}, {})
    row, beside = shown_beside(told)
    for said in ("643 TFLOP/s", "77% of the data sheet", "853 TFLOP/s", "3.9 TB/s", "81% of the data sheet"):
        assert said in row
        assert said in beside
    assert "0.75 times as fast as others measured" in beside


def test_of_several_people_the_best_is_compared_with_as_the_row_shows_it() -> None:
    told = other("A100-SXM4-80GB").devices[0].results
    measured = [one.median for one in told if (one.of, one.name, one.type) == ("measured", "matmul", "bfloat16")]
    assert measured == [max(one.rate for one in results("NVIDIA A100-SXM4-80GB") if one.type == "bfloat16")]


def test_a_card_that_is_sold_with_less_memory_is_compared_with_its_own_sheet() -> None:
    small = data_sheet("NVIDIA GeForce RTX 3050", 6 * 2**30)
    large = data_sheet("NVIDIA GeForce RTX 3050", 8 * 2**30)
    assert small is not None
    assert large is not None
    assert small.rates["float32"] != large.rates["float32"]
    for sheet, size in ((small, 6), (large, 8)):
        now = run(product(1e12, "float32"), name="NVIDIA GeForce RTX 3050")
        now["devices"][0]["memory"] = {"vram": size * 2**30}
        (told,) = [one for one in compared(now, other("RTX 3050")) if one.get("of") == "data-sheet"]
        assert told["there"] == sheet.rates["float32"]


@pytest.mark.parametrize(
    ("times", "said"), [(0.00123, "0.0012"), (0.4666, "0.47"), (1.04, "1.04"), (12.34, "12"), (1234.0, "1,234")]
)
def test_how_many_times_is_told_as_finely_as_a_share(times: float, said: str) -> None:
    assert times_told(times) == said


def test_times_and_the_two_figures_go_together() -> None:
    launch = {"name": "launch", "unit": "s", "median": 1e-5, "best": 9e-6, "spread": 0.0}
    (told,) = compared(run(launch), run(launch | {"median": 5e-6}))
    assert (told["here"], told["there"], told["times"]) == (1e-5, 5e-6, 0.5)


def test_devices_of_one_name_are_compared_whatever_their_order() -> None:
    now, there = run(product(1e12)), run(product(4e12), name="slow")
    there["devices"].append(run(product(2e12))["devices"][0])
    assert [one["times"] for one in compared(now, there)] == [0.5]


def test_a_processor_is_not_set_beside_a_card_where_there_is_another_processor() -> None:
    now = run(product(1e12))
    now["devices"].append({"name": "a processor", "vendor": "cpu", "results": [product(1e11)]})
    there = {"devices": [{"name": "p2", "vendor": "cpu", "results": [product(2e11)]}]}
    assert [(one["device"], one["times"]) for one in compared(now, there)] == [("a processor", 0.5)]


def test_nonsense_in_the_other_run_is_passed_by() -> None:
    assert compared(run(product(1e12)), {"devices": [3, None, {"results": None}]}) == []


def test_the_report_tells_where_each_figure_is_from() -> None:
    told = run(product(1e12))
    told["compared"] = {"with": "H200 NVL", "figures": compared(told, other("H200 NVL"))}
    said = text(bench_of(told))
    assert "Compared with NVIDIA H200 NVL" in said
    assert "as others measured" in said
    assert "of the data sheet" in said


def test_nothing_in_common_is_said() -> None:
    assert "no figure in common" in text(bench_of(run() | {"compared": {"with": "x", "figures": []}}))


def test_the_list_shows_runs_machines_and_names() -> None:
    keep("/an/env", run(product(1e12)))
    told = listed()
    assert [one["recorded_at"] for one in told.runs] == ["2026-11-20T10:00:00Z"]
    said = list_text(told)
    assert "2026-11-20T10:00:00Z" in said
    assert "1 TFLOP/s" in said
    assert "NVIDIA GeForce RTX 2070, " in said
    for name in measured_names():
        assert name.split(" ", 1)[1] in said or name.split(" ")[-1] in said


def test_measured_devices_stand_by_family_and_number_and_no_name_is_broken() -> None:
    long = [f"Long {n} of them" for n in range(60)]
    said = list_text(
        BenchList(runs=[], machines=[], measured=["A Card 780M", "A Card 7900 XT", "A Card 99", "Chip M2", *long])
    )
    assert "  A Card 99, 780M, 7900 XT\n" in said
    assert "  Chip M2\n" in said
    assert all(f"{n} of them" in said for n in range(60))


def test_a_list_without_any_run_says_so() -> None:
    done = CliRunner().invoke(main, ["bench", "--list"])
    assert (done.exit_code, "Nothing was measured" in done.output) == (0, True)


def test_runs_of_all_environments_stand_in_order_of_time() -> None:
    keep("/b", run(product(1e12), moment="2026-11-20T12:00:00Z"))
    keep("/a", run(product(1e12), moment="2026-11-20T13:00:00Z"))
    assert [one["recorded_at"][11:13] for one in of_node()] == ["12", "13"]


def test_what_names_nothing_is_refused_before_anything_is_measured() -> None:
    done = CliRunner().invoke(main, ["bench", "/no/such/environment", "--compare", "nosuch 77123"])
    assert done.exit_code == 1
    assert "rigup bench --list" in " ".join(done.output.split())
