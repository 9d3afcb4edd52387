"""llama.cpp's `llama-bench`: its devices, and its JSON output."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from typing import Any, Dict

from rigup_bench_time import left
from rigup_probe_llama_engines import CPU, vendor_of

Device = Dict[str, Any]
_DEVICE = re.compile(
    r"^ {1,8}(?P<name>[A-Za-z][\w-]{0,30}): (?P<description>[^\n]{1,200}?)(?: \(\d{1,9} MiB, \d{1,9} MiB free\))?$", re.MULTILINE
)
_MOST = 2_000_000  # characters of an answer
_PATIENCE = 3600.0  # seconds, where nobody has set an end


class OutOfTime(Exception):
    """The program was ended, for the time was over."""


class Tool:
    """The program on the path."""

    def __init__(self, path: str) -> None:
        self.path = path

    @staticmethod
    def found() -> Tool | None:
        """The program on PATH; None if there is none."""
        path = shutil.which("llama-bench")
        return Tool(path) if path else None

    def about(self) -> Any:
        """The path of the program; its build is part of each answer."""
        return {"version": "llama-bench", "build": {"path": self.path}}

    def devices(self) -> list[Device]:
        """All that it lists, the CPU last; an older one lists none, and then the CPU alone is measured."""
        done = self._run(["--list-devices"])
        return [*listed(done.stdout + done.stderr), CPU]

    def measured(self, path: str, device: Device, sizes: tuple[int, int], count: int) -> Any:
        """Rates of tokens that are read and written, so many of each.

        Raises:
            RuntimeError: it fails, or tells neither.

        """
        read, written = map(str, sizes)
        wish = ["-m", path, "-p", read, "-n", written, "-r", str(count), "-o", "json"]
        if device["type"] != "cpu":
            return self._answer([*wish, "-ngl", "999", "-dev", device["name_there"]])
        try:
            return self._answer([*wish, "-ngl", "0", "-dev", "none"])  # else a GPU helps with the prompt
        except RuntimeError:
            return self._answer([*wish, "-ngl", "0"])  # one that has no devices to choose from

    def _answer(self, words: list[str]) -> Any:
        done = self._run(words)
        measured = rates(done.stdout)
        if done.returncode or not (measured["prefill"] and measured["decode"]):
            error_lines = [line for line in done.stderr.splitlines() if line.strip()]
            raise RuntimeError(f"llama-bench ended with status {done.returncode}: {' '.join(error_lines[-2:])[:300]}")
        return measured

    def _run(self, words: list[str]) -> Any:
        most = left()
        try:
            return self._ended(words, max(most, 1.0) if math.isfinite(most) else _PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise OutOfTime from error

    def _ended(self, words: list[str], seconds: float) -> Any:
        return subprocess.run(
            [self.path, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
        )


def listed(output: str) -> list[Device]:
    """Devices of `llama-bench --list-devices`. Never raises."""
    found = [hit.groupdict() for hit in _DEVICE.finditer(output[:_MOST])]
    return [
        {
            "id": groups["name"].lower(),
            "type": "gpu",
            "index": index,
            "name": groups["description"].strip(),
            "name_there": groups["name"],
            "vendor": vendor_of(groups["name"] + " " + groups["description"]),
        }
        for index, groups in enumerate(found)
        if not groups["name"].upper().startswith(("CPU", "BLAS"))
    ]


def rates(output: str) -> Any:
    """Parse `llama-bench -o json`: the model, and tokens per second of each run. Never raises; invalid rows are left out."""
    found = {"model": "", "prefill": [], "decode": []}  # type: Dict[str, Any]
    for row in _rows(output):
        kind = {(True, False): "prefill", (False, True): "decode"}.get((_count(row, "n_prompt") > 0, _count(row, "n_gen") > 0))
        if kind:
            found[kind] += [float(sample) for sample in _samples(row) if isinstance(sample, (int, float)) and 0 < sample < math.inf]
            found["model"] = str(row.get("model_type") or found["model"])[:80]
    return found


def _samples(row: Any) -> list[Any]:
    """Each go; in their place the mean."""
    samples = row.get("samples_ts")
    return samples if isinstance(samples, list) and samples else [row.get("avg_ts")]


def _count(row: Any, name: str) -> float:
    value = row.get(name)
    return value if isinstance(value, (int, float)) else 0


def _rows(output: str) -> list[Any]:
    try:
        document = json.loads(output[:_MOST])
    except (ValueError, RecursionError):
        return []
    return [row for row in document if isinstance(row, dict)] if isinstance(document, list) else []
