"""The device that is measured is waited for, and not the one that happens to be current."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rigup.bench.bench import _PROBE
from rigup.verify.child import PROBE, Limits
from rigup.verify.observe import observe

HERE = Path(__file__).parent
FLOPS, BYTES = (2e9, 1e9), (2e9, 1e9)  # what the two devices reach: queued_device.py
ROOM = 1.05  # of them: a clock and a sleep are not exact
BEGIN = """
import importlib.util, json, sys
sys.path[:0] = [{bench!r}, {verify!r}, {here!r}]
spec = importlib.util.spec_from_file_location("rigup_probe", {verify!r} + "/__main__.py")
sys.modules["rigup_probe"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["rigup_probe"])
import torch
"""
MEASURE = """
import queued_device
queued_device.register({name!r}, {ways!r})
import rigup_bench_torch as bench
from rigup_bench_product import product
bench._MOST_BUFFER = 2**22
devices = [{{"id": {named!r} + ":" + str(index), "type": {named!r}}} for index in (0, 1)]
told = []
for place, device in enumerate(devices):
    made = [product("float32", False)(device, part=0.1), bench.memory(0.05)(device), bench.copy_host(0.05)(device),
            bench.copy_peer(devices[1 - place], 0.05)(device)]
    told.append({{one["name"].partition(":")[0]: one["best"] for part in made for one in part["results"]}})
print(json.dumps(told))
"""
WAYS = pytest.mark.parametrize(
    ("name", "ways"),
    [("queued", "by device"), ("queued", "the current one"), ("queued", "not at all"), ("", "not at all")],
    ids=["it takes a device", "it knows the current one only", "nothing waits", "as DirectML"],
)


@pytest.fixture(scope="module")
def python() -> str:
    """A Python with torch."""
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if not named and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable


@pytest.fixture(scope="module")
def open_door(python: str) -> str:
    """A Python whose torch can be given a device in Python."""
    code = "from torch.utils.backend_registration import _setup_privateuseone_for_python_backend"
    if subprocess.run([python, "-W", "ignore", "-c", code], check=False, capture_output=True).returncode:
        pytest.skip("this torch has no door for devices in Python")
    return python


def said(python: str, body: str, **holes: str) -> Any:
    """What a program beside the probe's own files prints, as JSON."""
    code = (BEGIN + body).format(bench=str(_PROBE), verify=str(PROBE), here=str(HERE), **holes)
    done = subprocess.run([python, "-W", "ignore", "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.torch
@WAYS
def test_no_device_of_two_is_said_to_be_faster_than_it_is(open_door: str, name: str, ways: str) -> None:
    measured = said(open_door, MEASURE, name=name, ways=ways, named=name or "privateuseone")
    for place, rates in enumerate(measured):
        assert 0.1 * FLOPS[place] < rates["matmul"] <= ROOM * FLOPS[place]
        for kind in ("memory-copy", "memory-triad", "memory-read", "copy-to-device-pageable", "copy-to-host-pageable"):
            assert rates[kind] <= ROOM * BYTES[place], kind
        assert rates["copy-to-" + (name or "privateuseone")] <= ROOM * min(BYTES)


HOOK = """
import importlib.abc, importlib.util, sys

class After(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (run(module), begun())
        return spec

def begun():
    sys.path.insert(0, {folder!r})
    import queued_device
    queued_device.register("queued", "by device")

sys.meta_path.insert(0, After())
"""


@pytest.mark.torch
def test_the_whole_way_from_the_list_of_devices_to_the_figures_waits(
    open_door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(HOOK.format(folder=str(HERE)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    devices, only = ["queued:0", "queued:1"], ("matmul-float32",)
    seen = observe(
        open_door, devices, False, Limits(start=300, check=300), only=only, probe=_PROBE, frameworks=("torch",), more={"seconds": 90.0}
    )
    records = seen.frameworks[0].records
    assert set(records) == {(device, check) for device in devices for check in only}
    for place, device in enumerate(devices):
        (product,) = records[device, "matmul-float32"].measured["results"]
        assert product["best"] <= ROOM * FLOPS[place]


CALLS = """
from rigup_bench_wait import wait
heard = []
for kind in ("cuda", "xpu", "mps"):
    getattr(torch, kind).synchronize = lambda *given, kind=kind: heard.append([kind, *map(str, given)])
for there in ("cuda:1", "cuda:0", "xpu:1", "mps:0", "cpu"):
    wait({{"id": there, "type": there.partition(":")[0]}})
print(json.dumps(heard))
"""


@pytest.mark.torch
def test_torchs_own_backends_are_asked_for_the_device_that_is_meant(python: str) -> None:
    assert said(python, CALLS) == [["cuda", "cuda:1"], ["cuda", "cuda:0"], ["xpu", "xpu:1"], ["mps"]]
