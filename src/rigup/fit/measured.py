"""What `rigup bench` measured on this machine before: how fast its memories really are."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from rigup.fit.pools import HOST, Pool
from rigup.knowledge.names import key_of
from rigup.machine.baseline import state_folder

_MOST_BYTES, _MOST_FILES, _MOST_RUNS = 20_000_000, 100, 200
_NAMES = ("memory-read", "memory-triad", "memory-copy")


def with_measured(pools: Sequence[Pool]) -> tuple[Pool, ...]:
    """The memories with the bandwidth that was measured in place of the data sheet's, where there is a record. Never raises."""
    rates = _rates()
    return tuple(_with(pool, rates) for pool in pools)


def _with(pool: Pool, rates: dict[Any, float]) -> Pool:
    rate = rates.get(HOST if pool.kind == HOST else key_of(pool.name))
    return msgspec.structs.replace(pool, bandwidth=rate, measured=True) if rate else pool


def _rates() -> dict[Any, float]:
    """Bytes a second by device, the best of the newest run that has it."""
    by_device: dict[Any, float] = {}
    for run in sorted(_runs(), key=lambda run: str(run.get("recorded_at", ""))):
        for device in run["devices"]:
            if not isinstance(device, dict):
                continue
            results = [result for result in device.get("results") or () if isinstance(result, dict) and result.get("name") in _NAMES]
            rates = [
                result["median"] for result in results if result.get("unit") == "B/s" and isinstance(result.get("median"), int | float)
            ]
            if rates and max(rates) > 0:
                name = HOST if device.get("vendor") == "cpu" else key_of(str(device.get("name") or ""))
                by_device[name] = float(max(rates))
    return by_device


def _runs() -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = []
    try:
        for path in sorted(state_folder("bench").glob("*.jsonl"))[:_MOST_FILES]:
            with path.open("rb") as file:
                runs += [run for line in file.read(_MOST_BYTES).splitlines()[-_MOST_RUNS:] if (run := _run(line))]
    except OSError:
        pass
    return runs


def _run(line: bytes) -> dict[str, Any] | None:
    try:
        run = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return run if isinstance(run, dict) and isinstance(run.get("devices"), list) else None
