"""Earlier runs: one file per environment, one line per run, readable by the owner alone."""

import contextlib
import os
from pathlib import Path
from typing import Any

import msgspec

from rigup.machine.baseline import file_name, state_folder
from rigup.schemas.bench import Bench, Figure, MeasuredDevice

Document = dict[str, Any]
"""A run as the release that made it wrote it."""

_OF_DEVICE = ("name", "vendor", "pci_address", "memory")
_OF_FIGURE = ("name", "type", "unit", "framework", "median", "best", "spread", "samples", "drift")
_MOST_BYTES, _MOST_RUNS = 20_000_000, 200


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of another day or machine is compared by: whatever release wrote it.

    Attributes:
        recorded_at: when, ISO 8601 in UTC; "" where it does not tell.
        prefix: the folder of the environment; "" where it does not tell.
        card: the card of the tables of which it tells; "" where somebody measured.
        devices: those that can be read, with the figures that can.

    """

    recorded_at: str = ""
    prefix: str = ""
    card: str = ""
    devices: list[MeasuredDevice]


def run_of(document: Document) -> Run:
    """Decode a stored run; invalid devices and figures are left out."""
    where = document.get("environment")
    return Run(
        recorded_at=str(document.get("recorded_at") or ""),
        prefix=str(where.get("prefix") or "") if isinstance(where, dict) else "",
        devices=[device for fields in document["devices"] if isinstance(fields, dict) for device in _read(fields)],
    )


def _read(fields: Document) -> list[MeasuredDevice]:
    with contextlib.suppress(msgspec.ValidationError):
        named = {name: fields[name] for name in _OF_DEVICE if fields.get(name)}
        return [msgspec.convert({**named, "results": _figures(fields.get("results"))}, MeasuredDevice)]
    return []


def _figures(rows: Any) -> list[Figure]:
    found: list[Figure] = []
    for fields in rows if isinstance(rows, list) else []:
        with contextlib.suppress(msgspec.ValidationError):
            known = {name: fields[name] for name in _OF_FIGURE if fields.get(name) is not None} if isinstance(fields, dict) else {}
            figure = msgspec.convert({"best": known.get("median"), **known}, Figure)
            found += [figure] if figure.median else []
    return found


def earlier(prefix: str) -> list[Document]:
    """Earlier runs in this environment, oldest first; a line that cannot be read is left out. Never raises."""
    return _runs(_path(prefix))


def nodes() -> list[str]:
    """Machines whose runs lie in this state folder, which several may share; this one among them. Never raises."""
    with contextlib.suppress(OSError):
        return sorted(path.name for path in state_folder("bench").parent.iterdir() if any(path.glob("*.jsonl")))
    return []


def of_node(name: str = "") -> list[Document]:
    """All runs of a machine, in whichever environment, oldest first; "" is this one. Never raises."""
    folder = state_folder("bench")
    with contextlib.suppress(OSError):
        paths = sorted((folder.parent / file_name(name) if name else folder).glob("*.jsonl"))
        return sorted((run for path in paths for run in _runs(path)), key=lambda run: str(run.get("recorded_at", "")))
    return []


def _runs(path: Path) -> list[Document]:
    found: list[Document] = []
    with contextlib.suppress(OSError), open(path, "rb") as file:
        for line in file.read(_MOST_BYTES).splitlines()[-_MOST_RUNS:]:
            with contextlib.suppress(msgspec.DecodeError):
                document = msgspec.json.decode(line)
                found += [document] if isinstance(document, dict) and isinstance(document.get("devices"), list) else []
    return found


def keep(prefix: str, run: Bench) -> str | None:
    """Add a run; its path, None where nothing could be written."""
    path = _path(prefix)
    with contextlib.suppress(OSError, TypeError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:
            file.write(msgspec.json.encode(run, enc_hook=str) + b"\n")
        return str(path)
    return None


def _path(prefix: str) -> Path:
    return state_folder("bench") / (file_name(prefix) + ".jsonl")
