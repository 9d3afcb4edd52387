"""The probe: runs in the Python of the verified environment and measures; the verdict is made elsewhere.

    python PROBE '{"framework": "torch", "full": false, "devices": [], "done": [["cuda:0", "sorting"]]}'

One line of JSON for each thing that happens, on what was standard output; what frameworks print goes to standard
error. A line `begin` goes before each check, so that whoever reads knows in which one this process died. Needs
nothing but the framework, and Python 3.8.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
import traceback
import warnings
from typing import Any

MODULES = {
    "torch": "rigup_probe_torch",
    "tensorflow": "rigup_probe_tensorflow",
    "jax": "rigup_probe_jax",
    "onnxruntime": "rigup_probe_onnx",
    "llama.cpp": "rigup_probe_llama",
    "numpy": "rigup_probe_numpy",
}
PACKAGES = {
    "torch": ("torch", "torch-directml"),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-rocm", "tensorflow-macos", "tf-nightly"),
    "jax": ("jax",),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu", "onnxruntime-rocm", "onnxruntime-directml", "onnxruntime-openvino"),
    "llama.cpp": ("llama-cpp-python", "xllamacpp"),
    "numpy": ("numpy",),
}
BESIDE = ("numpy", "torchvision", "torchaudio", "triton", "jaxlib", "intel-extension-for-pytorch")
_MOST = 2000  # characters of an error


class Skip(Exception):
    """A check that does not apply to this device or build; the message says why."""


class EventWriter:
    """Writes events as JSON lines to the original standard output; other output goes to standard error."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._out = open(os.dup(1), "w", encoding="utf-8")  # noqa: SIM115  (to the end of the process)
        os.dup2(2, 1)  # libraries that print, print to standard error

    def close(self) -> None:
        """Close the stream."""
        self._out.close()

    def emit(self, event_name: str, **fields: Any) -> None:
        """Write one event and flush."""
        self._out.write(json.dumps(dict(fields, say=event_name), default=str) + "\n")
        self._out.flush()


class WarningRecorder:
    """Records warnings during a check: frameworks report silent fall-backs by them."""

    def __init__(self) -> None:
        self._warnings = []  # type: list[str]
        warnings.simplefilter("always")
        warnings.showwarning = self._record  # type: ignore[assignment]

    def _record(self, message: Any, *_where: Any) -> None:
        self._warnings.append(str(message)[:300])
        sys.stderr.write("warning: " + str(message) + "\n")

    def take(self) -> list[str]:
        """Warnings since the last call, without duplicates, at most 20."""
        taken, self._warnings = self._warnings, []
        return list(dict.fromkeys(taken))[:20]


def survey(writer: EventWriter) -> None:
    """Report the installed packages by their metadata; nothing is imported."""
    from importlib import metadata

    named = [(dist.metadata["Name"] or "", dist.version) for dist in metadata.distributions()]
    wanted = {*sum(PACKAGES.values(), ()), *BESIDE}
    plain = [(name.lower().replace("_", "-"), version) for name, version in named]
    found = {name: version for name, version in plain if name in wanted or name.startswith("nvidia-")}
    frameworks = [name for name, ways in PACKAGES.items() if any(way in found for way in ways)]
    interpreter = {"python": sys.version.split()[0], "executable": sys.executable, "prefix": sys.prefix}
    companions = list(importlib.import_module("rigup_probe_companions").named()) if frameworks else []
    found.update({name: version for name, version in plain if name in companions})
    writer.emit("survey", packages=found, frameworks=frameworks, companions=companions, **interpreter)


def measure(writer: EventWriter, order: dict[str, Any]) -> None:
    """Run all checks of one framework on each device."""
    began, recorder = time.perf_counter(), WarningRecorder()
    probe = _probe_of(order)
    writer.emit("ready", seconds=time.perf_counter() - began, **probe.about())
    devices = probe.devices()
    writer.emit("devices", devices=devices)
    recorder.take()
    wanted = order.get("devices") or [device["id"] for device in devices]
    done = {tuple(pair) for pair in order.get("done", [])}
    budget = importlib.import_module("rigup_probe_budget")
    for device in [listed for listed in devices if listed["id"] in wanted]:
        budget.BUDGET.begin(order.get("budget", float("inf") if order.get("full") else budget.SECONDS))
        for name, check in probe.checks(device, bool(order.get("full"))):
            asked = name in order.get("only", [name]) and name not in order.get("without", [])
            if (device["id"], name) not in done and asked:
                one_check(writer, recorder, device, name, _left if budget.BUDGET.over() else check)
    writer.emit("done")


def _left(_device: dict[str, Any]) -> dict[str, Any]:
    """The result of a check for which no time was left."""
    return {"over": True}


def _probe_of(order: dict[str, Any]) -> Any:
    """The module for a framework, or the `Companion` for a companion package."""
    if order.get("companion"):
        return importlib.import_module("rigup_probe_companions").Companion(order["framework"])
    return importlib.import_module(MODULES[order["framework"]])


def one_check(writer: EventWriter, recorder: WarningRecorder, device: dict[str, Any], name: str, check: Any) -> None:
    """Run one check and write its measurement, its skip reason or its error."""
    writer.emit("begin", device=device["id"], check=name)
    sys.stderr.write("rigup: " + device["id"] + " " + name + "\n")
    sys.stderr.flush()
    began, record = time.perf_counter(), {}  # type: tuple[float, dict[str, Any]]
    try:
        record["measured"] = check(device)
    except Skip as why:
        record["skipped"] = str(why)
    except Exception as error:
        traceback.print_exc()
        record["error"] = {"type": type(error).__name__, "text": str(error)[:_MOST]}
    record["seconds"] = time.perf_counter() - began
    writer.emit("end", device=device["id"], check=name, warnings=recorder.take(), **record)


def be_modest() -> None:
    """Make this process the first that the kernel's OOM killer ends."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass


def main() -> None:
    """Execute the order in the first argument."""
    here = os.path.dirname(os.path.abspath(__file__))
    if here not in sys.path:  # PYTHONSAFEPATH leaves it out
        sys.path.insert(0, here)
    sys.modules.setdefault("rigup_probe", sys.modules["__main__"])  # `Skip` is one class, whoever imports it
    be_modest()
    writer, order = EventWriter(), json.loads(sys.argv[1])
    try:
        survey(writer) if order.get("survey") else measure(writer, order)
    finally:
        writer.close()


if __name__ == "__main__":
    main()
