"""Training steps traced on tensors without memory, against steps that really run, with torch's own tracker as judge."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.slow]
_ROOT = Path(__file__).parents[2]
_MOST_UNDER, _MOST_MEDIAN = 0.05, 0.03


@pytest.fixture(scope="module")
def told() -> dict:
    """What the cases print."""
    python = os.environ.get("RIGUP_TORCH_PYTHON")
    if not python and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    done = subprocess.run(
        [python or sys.executable, "-W", "ignore", str(Path(__file__).with_name("module_cases.py"))],
        env={**os.environ, "PYTHONPATH": str(_ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())}


def test_the_traced_peak_is_that_of_a_step_that_really_runs(told: dict) -> None:
    errors = {name: one["traced"] / one["real"] - 1 for name, one in told.items() if "real" in one}
    assert len(errors) >= 12
    assert sorted(map(abs, errors.values()))[len(errors) // 2] <= _MOST_MEDIAN
    assert min(errors.values()) >= -_MOST_UNDER


def test_tracing_changes_no_parameter(told: dict) -> None:
    assert all(one["untouched"] for one in told.values() if "untouched" in one)


def test_the_parts_come_to_the_peak(told: dict) -> None:
    assert all(sum(one["parts"].values()) == one["traced"] for one in told.values() if "parts" in one)
    assert told["dense"]["parts"]["optimizer"] > told["dense, momentum"]["parts"]["optimizer"]
    assert "optimizer" not in told["dense, sgd"]["parts"]


def test_a_module_larger_than_any_memory_is_traced_without_it(told: dict) -> None:
    assert told["huge"]["traced"] > 200 << 30


def test_the_largest_batch_is_the_one_whose_room_was_given(told: dict) -> None:
    assert told["largest"]["found"] == 100
