"""The picture shows every figure of every device, and no frame in which nothing stands."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from answer_data import bench_of
from rigup.bench.telling import figure as told_figure
from rigup.bench.telling import name_of
from rigup.language import choose, current

pytest.importorskip("matplotlib")
from matplotlib import font_manager
from matplotlib.figure import Figure

from rigup.bench import picture, picture_fonts
from rigup.bench.picture import PictureError, drawn
from rigup.bench.picture_panels import device as drawn_device
from rigup.schemas.bench import Bench

Answer = dict[str, Any]
FIGURES = (
    ("launch", 5e-6, "s", ""),
    ("memory-copy", 4e12, "B/s", ""),
    ("copy-to-host-pageable", 9e9, "B/s", ""),
    ("copy-to-cuda:1", 3e11, "B/s", ""),
    ("convolution-step", 3100.0, "image/s", "float32"),
    ("transformer-step", 9e5, "token/s", "bfloat16"),
    ("prefill", 2400.0, "token/s", "171M Q4_0"),
    ("decode", 41.0, "token/s", "171M Q4_0"),
)


def one(name: str, median: float, unit: str, kind: str = "", **more: Any) -> Answer:
    """A steady figure."""
    ends = (median * 0.99, median * 1.01) if unit == "s" else (median * 1.01, median * 0.99)
    return {
        "name": name,
        "type": kind,
        "unit": unit,
        "median": median,
        "best": ends[0],
        "worst": ends[1],
        "quartiles": [*ends],
        "spread": 0.02,
        "drift": 0.0,
        "samples": 30,
        **more,
    }


def product(kind: str = "float32", rate: float = 5e13, **more: Any) -> Answer:
    """A figure of a product, with its sweep."""
    sweep = [{"size": size, "rate": rate * size / 8192} for size in (256, 1536, 8192)]
    return one("matmul", rate, "FLOP/s", kind, **{"size": 8192, "sweep": sweep, **more})


def run(*devices: Answer, **more: Any) -> Bench:
    """An answer with these devices."""
    document = {
        "schema": "rigup.bench/1",
        "mode": "quick",
        "recorded_at": "2026-11-20T10:15:30Z",
        "rigup": "0.9",
        "environment": {"python": "3.12.3"},
        "packages": {"torch": "2.13.0"},
        "failed": [],
        "machine": {"drivers": [{"name": "nvidia", "version": "570.1"}]},
        "devices": [*devices],
        **more,
    }
    return bench_of(document)


def card(*results: Answer, name: str = "A Card", **more: Any) -> Answer:
    """A device."""
    return {"name": name, "vendor": "nvidia", "results": [*results], **more}


def full(name: str = "A Card") -> Answer:
    """A device of which all was measured."""
    return card(product(peak=6e13), product("bfloat16", 8e14), *(one(*fields) for fields in FIGURES), name=name)


@pytest.fixture
def words(tmp_path: Path) -> Any:
    """All words of a picture, as its SVG holds them."""

    def read(answer: Bench) -> str:
        drawn(answer, tmp_path / "run.svg")
        return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "run.svg").read_text(encoding="utf-8")))

    return read


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    before = current()
    choose("en")
    yield
    choose(before)


def test_every_figure_is_named_with_its_value(words: Any) -> None:
    labels = words(run(full()))
    for name, median, unit, kind in FIGURES:
        assert all(word in labels for word in name_of(name, kind).split()), name
        assert told_figure(median, unit) in labels
    assert "float32: 50 TFLOP/s" in labels
    assert "bfloat16: 800 TFLOP/s" in labels
    assert "data sheet" in labels


def test_day_versions_and_how_to_read_it_stand_in_it(words: Any) -> None:
    labels = words(run(full()))
    for part in ("2026-11-20 10:15", "torch 2.13.0", "Python 3.12.3", "rigup 0.9", "nvidia 570.1", "--quick", "medians"):
        assert part in labels


@pytest.mark.parametrize(
    "devices",
    [
        [full()],
        [full("The first"), full("The second")],
        [card(product())],
        [card(one(*FIGURES[0]))],
        [card(product(sweep=[]))],
        [card(one("matmul", 1e12, "FLOP/s", "float32"))],
        [card(one(*FIGURES[1]), one(*FIGURES[2]))],
        [card(product(samples=1))],
        [card(one("matmul-by-hand", 1e12, "FLOP/s", "float32", size=20000), product())],
        [card(one("strange", 3.0, "widgets"))],
        [card(product(), failed=[{"check": "memory", "because": "out of it"}])],
    ],
)
def test_no_frame_is_empty(devices: list[Answer]) -> None:
    figure = Figure(layout="constrained")
    picture._page(figure, run(*devices), set())
    frames = figure.get_axes()
    assert frames
    assert all(frame.containers for frame in frames)


def test_where_nothing_was_measured_a_sentence_stands_and_no_frame(words: Any) -> None:
    labels = words(run(card(name="A Card", failed=[{"check": "launch", "because": "SIGSEGV"}], cut=["memory", "matmul-float32"])))
    for part in ("Nothing was measured.", "SIGSEGV", "memory, matmul-float32"):
        assert part in labels
    figure = Figure()
    drawn_device(figure.subfigures(), run(card()).devices[0], set())
    assert not figure.get_axes()
    assert "Nothing was measured." in words(run())


def test_a_framework_that_failed_is_named(words: Any) -> None:
    assert "llama.cpp could not be measured: no libggml" in words(run(full(), failed=[{"check": "llama.cpp", "because": "no libggml"}]))


def frames_of(*results: Answer) -> list[Any]:
    """The frames of a device."""
    figure = Figure()
    drawn_device(figure.subfigures(), run(card(*results)).devices[0], set())
    return figure.get_axes()


def test_axes_are_logarithmic_where_figures_lie_far_apart_and_else_begin_at_zero() -> None:
    (far,) = frames_of(one(*FIGURES[1]), one(*FIGURES[2]))
    (near,) = frames_of(one("memory-copy", 4e12, "B/s"), one("memory-read", 3e12, "B/s"))
    assert far.get_xscale() == "log"
    assert (near.get_xscale(), near.get_xlim()[0]) == ("linear", 0)
    products = frames_of(product())[0]
    assert (products.get_xscale(), products.get_yscale()) == ("log", "log")


def reach(frame: Any) -> tuple[float, float]:
    """Between which rates the bar of the one figure of a frame of products stands."""
    (bar,) = frame.containers
    ((_x, low), (_also_x, high)) = bar.lines[2][0].get_segments()[0]
    return float(low), float(high)


def test_the_bar_is_the_middle_half_and_of_what_is_unsteady_all() -> None:
    steady, wild = product(rate=1e12, best=1.2e12, worst=0.5e12), product(rate=1e12, best=5e12, worst=0.5e12)
    assert reach(frames_of(steady)[0]) == pytest.approx((0.99e12, 1.01e12))
    assert reach(frames_of(wild)[0]) == pytest.approx((0.5e12, 5e12))


def test_what_is_unsteady_is_hollow_and_called_so(words: Any) -> None:
    marks = [frames_of(result)[0].containers[0].lines[0].get_markerfacecolor() for result in (product(), product(spread=0.9))]
    assert marks[0] != "white"
    assert marks[1] == "white"
    assert "(unsteady)" in words(run(card(product(spread=0.9), one("launch", 1e-5, "s", spread=0.5))))
    assert "(unsteady)" not in words(run(full()))


def test_long_names_are_shortened_and_lines_wrapped(words: Any) -> None:
    labels = words(run(card(one("prefill", 20.0, "token/s", "a model of many words " * 5), name="A very long name " * 20)))
    assert "…" in labels
    assert max(map(len, re.split(r"\s{2,}", labels))) < 2000


@pytest.mark.parametrize("language", ["ru", "zh_CN", "zh_TW"])
def test_labels_are_in_the_persons_language_where_a_font_has_its_letters(language: str, words: Any) -> None:
    choose(language)
    english_needed = picture_fonts.families([picture.panels.words()])[1]
    labels = words(run(full(), card()))
    assert ("Nothing was measured." in labels) == bool(english_needed)
    assert current() == language


def test_letters_that_no_font_has_are_marked_and_warned_of_by_nobody(words: Any) -> None:
    nowhere = "\U000f1234"  # of a plane that is nobody's
    assert "A ? Card" in words(run(full(f"A {nowhere} Card")))


def test_a_font_of_boxes_is_not_taken_for_one_that_has_letters() -> None:
    chosen, missing = picture_fonts.families(["Speed 速度 Скорость", "\U000f1234"])
    assert not any("last resort" in name.lower() for name in chosen)
    assert "\U000f1234" in missing
    assert not set("Speed Скорость") & missing
    known = {font.name for font in font_manager.fontManager.ttflist}
    assert set(chosen) <= known


def test_a_form_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="no form"):
        drawn(run(full()), tmp_path / "run.nonsense")


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_each_form_is_written(ending: str, tmp_path: Path) -> None:
    drawn(run(full()), tmp_path / f"run.{ending}")
    assert (tmp_path / f"run.{ending}").stat().st_size > 5000
