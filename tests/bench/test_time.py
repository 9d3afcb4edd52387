"""Quick mode ends in a minute: each measurement has its part of the time, and what is left out is said."""

import importlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

from answer_data import benched, heard
from rigup.bench import bench as benching
from rigup.cli import main
from rigup.cli.bench_report import text
from rigup.verify.child import Limits, run
from rigup.verify.observe import Observed, observe

WISHES = [("launch", 1.0), ("matmul", 9.0), ("memory", 2.0)]
PLANNED = (
    "launch",
    "matmul-float32",
    "matmul-bfloat16",
    "matmul-float16",
    "matmul-float64",
    "memory",
    "convolution-step",
    "transformer-step",
)


class Clock:
    """Time that passes when something says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, Clock]]:
    """The probe's time with a clock of our own."""
    monkeypatch.syspath_prepend(str(benching._PROBE))
    module, clock_ = importlib.import_module("rigup_bench_time"), Clock()
    monkeypatch.setattr(module, "time", clock_)
    yield module, clock_
    module.give({})


def measured(module: Any, clock: Clock, order: dict[str, Any], devices: int = 1) -> list[dict[str, float]]:
    """Parts that each measurement of each device got; each then takes as long as it was given."""
    module.give(order)
    found = []
    for _device in range(devices):
        parts: dict[str, float] = {}

        def act(_there: Any, part: float, parts: dict[str, float] = parts) -> Any:
            name = list(WISHES)[len(parts)][0]
            parts[name] = part
            clock.now += part * dict(WISHES)[name]
            return {"results": [1]}

        results = [check({}) for _name, check in module.planned(devices, [(*wish, act) for wish in WISHES])]
        found.append(parts | ({"cut": sum("cut" in result for result in results)}))
    return found


def test_where_nobody_sets_an_end_all_take_what_they_like(clock: tuple[Any, Clock]) -> None:
    assert measured(*clock, {}) == [{"launch": 1, "matmul": 1, "memory": 1, "cut": 0}]


def test_where_time_is_short_each_takes_less_and_none_is_left_out(clock: tuple[Any, Clock]) -> None:
    (parts,) = measured(*clock, {"seconds": 6.0})
    assert parts == pytest.approx({"launch": 0.5, "matmul": 0.5, "memory": 0.5, "cut": 0})
    assert clock[1].now == pytest.approx(106.0)


def test_several_devices_share_the_time(clock: tuple[Any, Clock]) -> None:
    parts = measured(*clock, {"seconds": 12.0}, devices=2)
    assert [part["matmul"] for part in parts] == pytest.approx([0.5, 0.5])
    assert clock[1].now == pytest.approx(112.0)


def test_what_one_device_leaves_the_next_may_take(clock: tuple[Any, Clock]) -> None:
    parts = measured(*clock, {"seconds": 36.0}, devices=2)
    assert [part["matmul"] for part in parts] == [1, 1]


def test_only_what_is_asked_for_shares_the_time(clock: tuple[Any, Clock]) -> None:
    module, clock_ = clock
    module.give({"seconds": 9.0, "only": ["matmul"]})
    checks = dict(module.planned(1, [(*wish, lambda _device, part: part) for wish in WISHES]))
    assert [*checks] == ["matmul"]
    assert checks["matmul"]({}) == 1.0
    assert clock_.now == 100.0


def test_what_there_is_no_time_for_is_told_as_left_out(clock: tuple[Any, Clock]) -> None:
    (parts,) = measured(*clock, {"seconds": 0.05})
    assert parts == {"cut": 3}


def probe(folder: Path, body: str) -> Path:
    """A program in place of ours, that speaks as it does."""
    (folder / "__main__.py").write_text(f"import json, sys, time\norder = json.loads(sys.argv[1])\n{body}\n")
    return folder


SLOW = """
def say(what, **told):
    print(json.dumps(dict(told, say=what)), flush=True)
say("ready", version="1", seconds=0.1)
say("devices", devices=[{"id": "cpu", "type": "cpu"}])
say("begin", device="cpu", check="matmul-float32")
time.sleep(600)
"""


def test_a_child_whose_time_is_over_is_ended_and_that_is_no_hang(tmp_path: Path) -> None:
    import time

    limits = Limits(until=time.monotonic() + 0.5)
    assert run(sys.executable, {}, limits, lambda _event: None, probe(tmp_path, SLOW)).why == "over"


def test_what_it_was_at_is_told_and_no_new_child_is_tried(tmp_path: Path) -> None:
    import time

    limits = Limits(until=time.monotonic() + 1.5)
    seen = observe(sys.executable, [], False, limits, probe=probe(tmp_path, SLOW), frameworks=("none",), also=("torch",))
    (torch,) = seen.frameworks
    assert (torch.over, torch.deaths, torch.records) == (True, [], {})


def observed(over: bool = False, **more: Any) -> Observed:
    """What was seen of a CPU."""
    launch = {"name": "launch", "unit": "s", "median": 1e-6, "best": 1e-6, "spread": 0.0}
    seen = heard(
        [{"id": "cpu", **more}],
        {("cpu", "launch"): {"measured": {"results": [launch]}}, ("cpu", "memory"): {"measured": {"results": [], "cut": True}}},
    )
    seen.over = over
    return Observed("/e/bin/python", "3.12", "/e", {}, [seen])


def test_the_answer_names_what_was_left_out() -> None:
    planned = ["launch", "memory", "transformer-step"]
    assert benched(observed(over=True, planned=planned), {}, {}).devices[0].cut == ["memory", "transformer-step"]
    assert benched(observed(planned=planned), {}, {}).devices[0].cut == ["memory"]


def test_the_report_says_what_was_left_out_and_how_long_it_took() -> None:
    answer = structs.replace(benched(observed(), {}, {}), seconds=58.6)
    report = " ".join(text(answer).split())
    assert "these could be measured: memory." in report
    assert "It took 59 s." in report


@pytest.mark.torch
@pytest.mark.slow
def test_each_measurement_of_a_short_run_is_made_or_told_as_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = os.environ.get("RIGUP_TORCH_PYTHON") or sys.executable
    if python == sys.executable and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(benching, "LIMIT", 12.0)
    done = CliRunner().invoke(main, ["bench", python, "--json"])
    if "not imported within" in str(done.exception) + done.output:
        pytest.skip("torch takes longer to import here than this test gives it")
    (cpu,) = json.loads(done.stdout)["devices"]
    measured = {"-".join(filter(None, (result["name"], result.get("type")))) for result in cpu["results"]}
    for check in PLANNED:
        assert any(name.startswith(check) for name in measured) != (check in cpu.get("cut", ())), check


def test_a_framework_that_is_not_imported_in_time_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benching, "LIMIT", 2.0)
    monkeypatch.setattr(benching, "_LAST", 0.5)
    monkeypatch.setattr(benching, "_PROBE", probe(tmp_path, "time.sleep(600)"))
    monkeypatch.setattr(benching, "_outside", lambda: ("torch",))
    monkeypatch.setattr(benching, "_FRAMEWORKS", ("torch",))
    done = CliRunner().invoke(main, ["bench", sys.executable])
    assert done.exit_code == 1
    assert "not imported within 2 seconds" in " ".join(str(done.output + str(done.exception)).split())
