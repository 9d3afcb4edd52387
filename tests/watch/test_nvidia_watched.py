"""NVIDIA's GPUs by a library that stands in for its own."""

import os
import subprocess
import sys

import pytest

ONE = {
    "sys.gpus": 1,
    "sys.driver": "550.54.15",
    "0.name": "NVIDIA Stand-In",
    "0.uuid": "GPU-1",
    "0.pci": "00000000:07:00.0",
    "0.capability": "8.6",
    "0.util": 40,
    "0.memutil": 10,
    "0.mem_total": 1000,
    "0.mem_used": 600,
    "0.mem_reserved": 100,
    "0.temp": 61,
    "0.power": 150500,
    "0.power_limit": 200000,
    "0.energy": 5000,
    "0.clock": 1700,
    "0.throttle": 0x44,
    "0.width": 8,
    "0.width_max": 16,
    "0.generation": 4,
    "0.tx": 10,
    "0.rx": 20,
}
SAMPLE = """
import msgspec
from rigup.watch.watcher import Watcher
watcher = Watcher()
{between}
print(msgspec.json.encode(watcher.sample()).decode())
"""


def test_a_sample(nvidia) -> None:
    sample = nvidia(SAMPLE.format(between=""), ONE | {f"proc.{os.getpid()}": "0 300 33", "proc.999999999": "0 5 1"})
    (gpu,) = sample["gpus"]
    assert (gpu["name"], gpu["isa"], gpu["pci_address"], gpu["driver"]["version"]) == (
        "NVIDIA Stand-In",
        "sm_86",
        "0000:07:00.0",
        "550.54.15",
    )
    assert gpu["utilisation"] == {"gpu": 0.4, "memory": 0.1}
    assert gpu["memory"]["vram"] == {"total": 1000, "used": 600, "reserved": 100, "free": 300}
    assert (gpu["power"]["draw"], gpu["power"]["limit"], gpu["energy"]) == (150.5, 200, 5)
    assert gpu["throttle"] == ["power", "temperature"]
    assert gpu["pcie"] == {"width": 8, "width_max": 16, "speed": 16e9, "tx": 10000, "rx": 20000}
    assert {"fan", "links", "clock.memory", "power.limit_max"} & set(gpu["not_available"]) == {
        "fan",
        "links",
        "power.limit_max",
        "clock.memory",
    } & set(gpu["not_available"])
    assert "fan" not in gpu
    here, elsewhere = sample["processes"]
    assert here["gpus"][0] == {
        "index": 0,
        "type": "compute",
        "memory": {"vram": 300},
        "utilisation": {"gpu": 0.33, "memory": 0.0, "encoder": 0.0, "decoder": 0.0},
    }
    assert "because" in elsewhere
    assert "name" not in elsewhere
    causes = [finding["cause"] for finding in sample["findings"]]
    assert causes == ["throttled", "link-narrower-than-card"]


def test_without_a_driver_there_is_no_gpu_and_no_trouble(nvidia) -> None:
    sample = nvidia(SAMPLE.format(between=""), {})
    assert sample["gpus"] == []
    assert sample["errors"] == []


MOVE = """
import os, re
def move(name, value):
    path = os.environ["RIGUP_FAKE_NVML"]
    said = [line for line in open(path).read().splitlines() if not line.startswith(name + " ")]
    open(path, "w").write("\\n".join([*said, *([f"{name} {value}"] if value is not None else [])]) + "\\n")
"""


@pytest.mark.long
def test_one_that_is_lost_stays_and_the_others_go_on(nvidia) -> None:
    second = {name.replace("0.", "1.", 1): value for name, value in ONE.items() if name.startswith("0.")} | {"1.pci": "00000000:0F:00.0"}
    between = MOVE + "\nwatcher.sample()\nmove('0.lost', 1)"
    sample = nvidia(SAMPLE.format(between=between), ONE | second | {"sys.gpus": 2})
    assert [gpu["state"] for gpu in sample["gpus"]] == ["lost", "active"]
    assert sample["gpus"][0]["because"] == "NVML: GPU is lost"
    assert sample["findings"][0]["cause"] == "gpu-fell-off-bus"
    assert sample["gpus"][1]["utilisation"]["gpu"] == 0.4


@pytest.mark.long
def test_it_comes_back_when_its_driver_was_loaded_again(nvidia) -> None:
    between = (
        MOVE
        + "\nwatcher.sample()\nmove('0.lost', 1)\nlost = watcher.sample()\nassert lost.gpus[0].state == 'lost'\nmove('0.lost', None)\nmove('sys.driver', '560.1')\nwatcher.sampler._looked -= 20\nwatcher.sampler.library._tried -= 20"
    )
    sample = nvidia(SAMPLE.format(between=between), ONE)
    assert sample["gpus"][0]["state"] == "active"
    assert sample["gpus"][0]["driver"]["version"] == "560.1"


def test_one_that_hangs_costs_itself_only(nvidia) -> None:
    second = {name.replace("0.", "1.", 1): value for name, value in ONE.items() if name.startswith("0.")} | {"1.pci": "00000000:0F:00.0"}
    script = (
        SAMPLE.replace("watcher = Watcher()", "watcher = Watcher()\nwatcher.sampler.rounds.seconds = 0.2")
        + "\nimport os, sys; sys.stdout.flush(); os._exit(0)"
    )
    sample = nvidia(script.format(between=MOVE + "\nwatcher.sample()\nmove('0.hang', 30)"), ONE | second | {"sys.gpus": 2})
    assert [gpu["state"] for gpu in sample["gpus"]] == ["error", "active"]
    assert sample["gpus"][0]["because"] == "no answer"


def test_a_list_of_processes_that_hangs_is_told_and_its_gpu_goes_on(nvidia) -> None:
    between = """
from threading import Event
watcher.sample()
watcher.sampler.rounds.seconds = 0.2
watcher.sampler.library.gpus["0000:07:00.0"].processes = Event().wait
"""
    sample = nvidia(SAMPLE.format(between=between) + "\nimport os, sys; sys.stdout.flush(); os._exit(0)", ONE)
    assert [(gpu["state"], gpu["utilisation"]["gpu"]) for gpu in sample["gpus"]] == [("active", 0.4)]
    assert [(error["what"], error["because"]) for error in sample["errors"]] == [("processes", "no answer")]


def test_an_xid_is_told_as_long_as_the_watch_runs(nvidia) -> None:
    sample = nvidia(SAMPLE.format(between=MOVE + "\nmove('sys.xid', 79)\nwatcher.sample()\nwatcher.sample()"), ONE)
    assert [xid["code"] for xid in sample["gpus"][0]["errors"]["xid"]] == [79]
    assert "gpu-fell-off-bus" in [finding["cause"] for finding in sample["findings"]]


def test_instances_of_mig(nvidia) -> None:
    parts = {
        "0.mig": 1,
        "40.mem_total": 500,
        "40.mem_used": 20,
        "40.instance": 7,
        "40.name": "NVIDIA Stand-In MIG 1g.10gb",
        "40.uuid": "MIG-1",
    }
    sample = nvidia(SAMPLE.format(between=""), ONE | parts | {f"proc.{os.getpid()}": "0 300 33 7"})
    (part,) = sample["gpus"][0]["partitions"]
    assert part == {
        "name": "gi7/ci0",
        "uuid": "MIG-1",
        "profile": "1g.10gb",
        "memory": {"total": 500, "used": 20, "reserved": 0, "free": 480},
    }
    assert sample["processes"][0]["gpus"][0]["partition"] == "gi7/ci0"


@pytest.mark.long
@pytest.mark.parametrize("form", ["--json", "--csv", "--jsonl"])
def test_streams_of_the_command(nvidia, form: str, tmp_path) -> None:
    if form == "--csv":
        script = "import subprocess, sys, json; print(json.dumps(subprocess.run([sys.executable, '-m', 'rigup', 'watch', '--csv', '--interval', '0.1', '--count', '2'], capture_output=True, text=True).stdout))"
        lines = nvidia(script, ONE).splitlines()
        assert len(lines) == 3
        assert lines[0].startswith("time,index,")
        assert dict(zip(lines[0].split(","), lines[2].split(","), strict=True))["utilisation.gpu"] == "0.4"
        return
    sample = nvidia("", ONE, argv=("-m", "rigup", "watch", form, "--interval", "0.1", "--count", "2"))
    assert sample["schema"] == "rigup.watch/1"
    assert 0.05 < sample["interval"] < 5


def test_a_reader_that_has_enough_ends_the_stream_without_a_word(tmp_path) -> None:
    words = [sys.executable, "-m", "rigup", "watch", "--json", "--interval", "0.1"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as stream:
        assert stream.stdout.readline().startswith(b"{")
        stream.stdout.close()
        assert stream.wait(timeout=60) == 0
        assert stream.stderr.read() == b""
