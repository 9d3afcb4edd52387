"""A figure is called unsteady where its median tells little, by one rule in the report, the data and the picture."""

import importlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from answer_data import as_data, benched, figure_of, heard
from rigup.bench import answer as answering
from rigup.bench.bench import _PROBE
from rigup.bench.records import run_of
from rigup.bench.steadiness import unsteady
from rigup.cli.bench_report import spread_text, text
from rigup.schemas.bench import Bench, Drop

Answer = dict[str, Any]
TIMES = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=60)


def figure(**changed: Any) -> Answer:
    """A steady one."""
    return {
        "name": "matmul",
        "type": "float32",
        "unit": "FLOP/s",
        "median": 1e12,
        "best": 1.02e12,
        "worst": 0.97e12,
        "quartiles": [1.01e12, 0.99e12],
        "spread": 0.02,
        "drift": 0.001,
        "samples": 40,
        **changed,
    }


def answered(*figures: Answer, name: str = "A Card") -> Bench:
    """An answer with these figures of one card."""
    record = {"measured": {"results": [*figures]}}
    return benched(heard([{"id": "cuda:0", "vendor": "nvidia", "name": name}], {("cuda:0", "matmul"): record}), {}, {})


def drops(now: Bench, before: Bench) -> list[Drop]:
    """What became slower."""
    return answering.drops(now, [run_of(as_data(before))])


@pytest.fixture
def spreading(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The probe's own reckoning."""
    monkeypatch.syspath_prepend(str(_PROBE))
    return importlib.import_module("rigup_bench_spread")


@pytest.mark.parametrize(
    ("changed", "reasons", "words"),
    [
        ({"best": 10e12}, ["best"], "unsteady: 970 GFLOP/s to 10 TFLOP/s"),
        ({"spread": 0.6, "worst": 0.5e12}, ["spread"], "unsteady: 500 GFLOP/s to 1.02 TFLOP/s"),
        ({"drift": -0.18}, ["drift"], "unsteady: slower by 18% in the end"),
        ({"drift": 0.18}, ["drift"], "unsteady: faster by 18% in the end"),
        ({"unit": "s", "median": 1e-5, "best": 1e-6, "worst": 2e-5}, ["best"], "unsteady: 1 µs to 20 µs"),
        ({"best": 10e12, "worst": None}, ["best"], "unsteady: 1 TFLOP/s to 10 TFLOP/s"),
    ],
)
def test_what_is_unsteady_is_called_so_in_text_and_data(changed: Answer, reasons: list[str], words: str) -> None:
    fields = {name: value for name, value in figure(**changed).items() if value is not None}
    (result,) = answered(fields).devices[0].results
    assert (result.steady, result.unsteady) == (False, reasons)
    assert words in " ".join(text(answered(fields)).split())
    assert "±" not in text(answered(fields))


@pytest.mark.parametrize("changed", [{}, {"best": 1.2e12}, {"spread": 0.15}, {"drift": 0.05}, {"drift": None}])
def test_what_is_steady_is_told_with_half_of_its_spread(changed: Answer) -> None:
    fields = {name: value for name, value in figure(**changed).items() if value is not None}
    (result,) = answered(fields).devices[0].results
    assert (result.steady, result.unsteady) == (True, [])
    assert "±" in spread_text(result)


def test_two_samples_are_neither_steady_nor_unsteady() -> None:
    (result,) = answered(figure(samples=2, spread=0.9)).devices[0].results
    assert result.steady is UNSET
    assert spread_text(result) == "samples: 2"


@pytest.mark.parametrize(("spread", "shown"), [(0.0, "±0%"), (0.004, "±0.2%"), (0.05, "±2.5%"), (0.19, "±9.5%")])
def test_a_small_spread_is_not_told_as_none(spread: float, shown: str) -> None:
    assert spread_text(figure_of(figure(spread=spread))) == shown


def test_what_plus_and_minus_mean_is_said_where_it_stands() -> None:
    assert "± is how far" in " ".join(text(answered(figure())).split())
    assert "± is how far" not in " ".join(text(answered(figure(best=9e12))).split())


def test_what_may_be_chance_is_no_drop() -> None:
    now, before = answered(figure(median=0.8e12, best=1.3e12)), answered(figure())
    assert not drops(now, before)
    assert drops(answered(figure(median=0.8e12, best=0.82e12)), before)


def test_a_figure_that_no_clock_explains_is_said_to_be_none() -> None:
    (result,) = answered(figure(median=900e12, best=900e12), name="NVIDIA H200 NVL").devices[0].results
    assert result.implausible
    assert "which cannot be" in " ".join(text(answered(figure(median=900e12, best=900e12), name="NVIDIA H200 NVL")).split())
    (result,) = answered(figure(median=50e12, best=51e12), name="NVIDIA H200 NVL").devices[0].results
    assert result.implausible is UNSET


def test_samples_that_grow_slower_are_told_as_a_drift(spreading: Any) -> None:
    summary = spreading.of_times([1.0, 1.0, 1.0, 1.0, 1.5, 1.5, 1.5, 1.5])
    assert summary["drift"] == pytest.approx(-1 / 3)
    assert spreading.of_rates([1.0] * 4 + [1.5] * 4)["drift"] == pytest.approx(0.5)
    assert "drift" not in spreading.of_times([1.0, 2.0])
    assert unsteady(figure_of({**summary, "name": "launch", "unit": "s"})) == ["spread", "drift"]


@given(TIMES)
def test_what_samples_come_to_lies_in_order(times: list[float]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(_PROBE))
        spreading = importlib.import_module("rigup_bench_spread")
    summary = spreading.of_times(times)
    assert summary["best"] <= summary["quartiles"][0] <= summary["quartiles"][1] <= summary["worst"]
    assert summary["best"] <= summary["median"] <= summary["worst"]
    turned = spreading.as_rate(summary, 5.0)
    assert turned["best"] >= turned["quartiles"][0] >= turned["quartiles"][1] >= turned["worst"]
    again = spreading.of_rates([5.0 / seconds for seconds in times])
    assert again["best"] == pytest.approx(turned["best"])
    assert again["samples"] == summary["samples"] == len(times)
