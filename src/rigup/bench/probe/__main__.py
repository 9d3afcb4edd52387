"""The measuring program: runs in the Python of an environment, measures, and judges nothing.

    python PROBE '{"framework": "torch", "full": false, "devices": []}'

It speaks as the probe of verify does, whose program it is, with other checks. Needs nothing but the framework, and
Python 3.8.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
BESIDE = os.path.join(HERE, "..", "..", "verify", "probe")


def loaded() -> Any:
    """The probe of verify, under the name by which its parts know it."""
    spec = importlib.util.spec_from_file_location("rigup_probe", os.path.join(BESIDE, "__main__.py"))
    module = importlib.util.module_from_spec(spec)  # type: ignore[arg-type]
    sys.modules["rigup_probe"] = module
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def main() -> None:
    """Execute the order in the first argument."""
    sys.path[:0] = [HERE, BESIDE]
    probe = loaded()
    probe.MODULES = {"torch": "rigup_bench_torch", "llama.cpp": "rigup_bench_llama"}
    probe.be_modest()
    writer, order = probe.EventWriter(), json.loads(sys.argv[1])
    importlib.import_module("rigup_bench_time").give(order)
    try:
        probe.survey(writer) if order.get("survey") else probe.measure(writer, order)
    finally:
        writer.close()


if __name__ == "__main__":
    main()
