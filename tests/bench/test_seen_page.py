"""What a page about a machine needs stands in one answer, and `scripts/seen` makes the page of it."""

import importlib.util
import json
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from answer_data import as_data, benched, heard
from rigup.cli import main

Answer = dict[str, Any]
SCRIPT = Path(__file__).parents[2] / "scripts" / "seen"


@pytest.fixture(scope="module")
def seen() -> Any:
    """The script as a module."""
    loader = SourceFileLoader("seen_script", str(SCRIPT))
    spec = importlib.util.spec_from_loader("seen_script", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def told() -> Answer:
    """An answer about one card, made by the code that makes it."""
    result = {
        "name": "matmul",
        "type": "bfloat16",
        "unit": "FLOP/s",
        "median": 800e12,
        "best": 810e12,
        "spread": 0.02,
        "samples": 50,
        "size": 8192,
    }
    record = {"measured": {"results": [result], "sweep": []}}
    found = heard([{"id": "cuda:0", "vendor": "nvidia", "name": "NVIDIA H200 NVL"}], {("cuda:0", "matmul-bfloat16"): record})
    card = {
        "index": 0,
        "vendor": "nvidia",
        "name": "NVIDIA H200 NVL",
        "isa": "sm_90",
        "pci_address": "0000:01:00.0",
        "memory": {"vram": 141 * 2**30},
        "driver": {"name": "nvidia", "version": "570.1"},
    }
    machine = {
        "accelerators": [card],
        "cpus": [{"model": "A Processor", "flags": ["x"] * 100}],
        "memories": [{"total": 2**38}],
        "platforms": [{"release": "6.8.0", "place": "here"}],
        "distributions": [{"name": "A System 1"}],
    }
    clock = {"least": 1500.0, "median": 1700.0, "most": 1785.0}
    samples = {"0000:01:00.0": {"samples": 9, "clock_mhz": clock, "power_w": clock, "held_back": {"power": 0.5}}}
    answer: Answer = as_data(benched(found, machine, samples, full=True))
    checks = [{"name": "matmul-float32", "passed": True, "measured": {"error": 1.7e-6}, "framework": "torch"}]
    proof = {"verdict": "verified", "devices": [{"name": "NVIDIA H200 NVL", "state": "verified", "checks": checks}]}
    finding = {"cause": "power-limit-lowered", "severity": "note", "title": "The power limit is low"}
    return answer | {
        "recorded_at": "2026-11-20T10:00:00Z",
        "rigup": "1",
        "seconds": 61.5,
        "verify": proof,
        "drops": [],
        "doctor": {"verdict": "healthy", "findings": [finding]},
    }


def test_facts_that_a_figure_depends_on_stand_in_the_answer_without_long_lists() -> None:
    facts = told()["machine"]
    assert facts["platforms"] == [{"release": "6.8.0"}]
    assert facts["cpus"] == [{"model": "A Processor"}]


@pytest.mark.parametrize(
    "part",
    [
        "800 TFLOP/s",
        "±1.0%",
        "% of 835 TFLOP/s",
        "853 TFLOP/s",
        "1700",
        "power 50% of the time",
        "nvidia 570.1",
        "sm_90",
        "A System 1",
        "6.8.0",
        "256 GiB",
        "torch 2.13.0",
        "verified",
        "off by 1.7e-06",
        "The power limit is low",
        "--full",
        "2026-11-20T10:00:00Z",
    ],
)
def test_the_page_shows(part: str, seen: Any) -> None:
    assert part in seen.page(told())


def test_a_page_needs_no_more_than_what_json_holds(seen: Any) -> None:
    assert seen.page(json.loads(json.dumps(told(), default=str))) == seen.page(told())


def test_without_a_proof_and_without_sensors_the_page_is_still_made(seen: Any) -> None:
    bare = {name: value for name, value in told().items() if name not in ("verify", "doctor", "machine")}
    bare["devices"] = [{**device, "watched": None} for device in bare["devices"]]
    assert "800 TFLOP/s" in seen.page(bare)
    assert "proof" not in seen.page(bare)


@pytest.mark.torch
def test_one_command_measures_proves_and_tells_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: Any) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    python = os.environ.get("RIGUP_TORCH_PYTHON") or sys.executable
    if python == sys.executable and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    done = CliRunner().invoke(main, ["bench", python, "--devices", "cpu", "--only", "launch", "--prove", "--json"])
    answer = json.loads(done.stdout)
    assert answer["verify"]["verdict"] == "verified"
    assert answer["doctor"]["verdict"]
    assert answer["machine"]["platforms"]
    page = seen.page(answer)
    assert "training-step" in page
    assert "launch of one operation" in page
