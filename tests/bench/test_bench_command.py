"""`rigup bench` on the real torch of an environment, on its CPU."""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from answer_data import bench_of
from answers import read
from rigup.bench.telling import figure
from rigup.cli import main
from rigup.cli.bench_report import text


@pytest.fixture(scope="module")
def torch_python() -> str:
    """This interpreter, or the one that RIGUP_TORCH_PYTHON names."""
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if not named and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable


@pytest.fixture(scope="module")
def measured(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A short run on the CPU."""
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))
    words = ["bench", torch_python, "--devices", "cpu", "--only", "launch,matmul-float32,memory", "--json"]
    answer = CliRunner().invoke(main, words).output
    read(answer)
    document: dict[str, Any] = json.loads(answer)
    return document


@pytest.mark.torch
def test_the_cpu_is_measured(measured: dict[str, Any]) -> None:
    results = {result["name"]: result for result in measured["devices"][0]["results"]}
    assert {"launch", "matmul", "memory-copy", "memory-triad", "memory-read"} == set(results)
    assert results["matmul"]["best"] >= results["matmul"]["median"] > 1e8
    assert results["memory-copy"]["median"] > 1e8
    assert results["launch"]["unit"] == "s"


@pytest.mark.torch
def test_spread_and_samples_are_told_of_each_figure(measured: dict[str, Any]) -> None:
    for result in measured["devices"][0]["results"]:
        assert result["samples"] >= 3
        assert result["spread"] >= 0


@pytest.mark.torch
def test_the_best_size_is_one_of_the_sweep(measured: dict[str, Any]) -> None:
    product = next(result for result in measured["devices"][0]["results"] if result["name"] == "matmul")
    sizes = [point["size"] for point in product["sweep"]]
    assert product["size"] in sizes
    assert sizes == sorted(set(sizes))
    assert len(sizes) >= 2


@pytest.mark.torch
def test_the_report_names_every_figure(measured: dict[str, Any]) -> None:
    report = text(bench_of(measured))
    assert "matrix product float32" in report
    assert "memory: copy" in report
    assert max(map(len, report.splitlines())) <= 100


@pytest.mark.torch
def test_a_picture_is_drawn_where_matplotlib_is(measured: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from rigup.bench.picture import PictureError, drawn

    drawn(bench_of(measured), tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(PictureError, match="no form"):
        drawn(bench_of(measured), tmp_path / "run.nonsense")


def test_an_environment_without_torch_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import venv

    monkeypatch.setenv("PATH", str(tmp_path))  # without llama-bench
    venv.create(tmp_path / "e", with_pip=False)
    done = CliRunner().invoke(main, ["bench", str(tmp_path / "e")])
    assert done.exit_code != 0
    assert "rigup apply torch" in " ".join(str(done.output + str(done.exception)).split())


@pytest.mark.parametrize("body", ["", "[1]", '{"schema": "other/1"}', "{" * 2000, '{"schema": "rigup.bench/1", "devices": 3}'])
def test_what_is_no_run_is_not_compared_with(tmp_path: Path, body: str) -> None:
    (tmp_path / "other.json").write_text(body)
    done = CliRunner().invoke(main, ["bench", "--compare", str(tmp_path / "other.json")])
    assert done.exit_code != 0
    assert "other.json" in done.output + str(done.exception)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.234e13, "FLOP/s", "12.3 TFLOP/s"),
        (5.1e-6, "s", "5.1 µs"),
        (9.87e8, "B/s", "987 MB/s"),
        (123456.0, "token/s", "123,456 token/s"),
        (1.5, "image/s", "1.50 image/s"),
        (0.0, "B/s", "0 nB/s"),
    ],
)
def test_figures_are_told_with_their_prefix(value: float, unit: str, shown: str) -> None:
    assert figure(value, unit) == shown


@pytest.mark.torch
@pytest.mark.parametrize("words", [["--only", "nosuch"], ["--devices", "cuda:77", "--only", "launch"]])
def test_a_name_that_nothing_has_is_said(torch_python: str, words: list[str]) -> None:
    done = CliRunner().invoke(main, ["bench", torch_python, *words])
    assert (done.exit_code, words[1] in done.output) == (2, True)
