"""amd-smi's tables as data: comma-separated lists, and its list as JSON."""

import re
from collections.abc import Iterator
from typing import Any

from rigup.machine.kinds import Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.rocm_smi import decoded, gfx
from rigup.machine.readers.values import Draft, address, known_value, pci_id, size
from rigup.machine.texts import Text

_MOST = 1024


def _card(text: Text, at: int, values: dict[str, str], parts: int) -> Iterator[Gpu]:
    draft = Draft(text, Gpu, at)
    draft.add("vendor", "amd")
    draft.add("pci_address", address(values.get("gpu_bdf") or values.get("bdf", "")))
    draft.add("nvml_index", int(values["gpu"]) if values.get("gpu", "").isdigit() and parts == 1 else None)
    draft.add("name", known_value(values.get("market_name", "")))
    draft.add("isa", gfx(values.get("target_graphics_version", "")))
    draft.add("pci_id", pci_id("1002", values.get("device_id", "")))
    vram = size(values.get("vram_size") or values.get("size", ""), "m")
    draft.add("vram", vram if vram and vram > 2**27 else None)
    if parts > 1:
        draft.add("partitions", [{"name": "partition " + str(number)} for number in range(parts)])
    yield from draft.facts("vendor", "nvml_index")


@reads(adds=(Gpu,), marks=("gpu,gpu_bdf", "gpu,market_name", "gpu,bdf", "gpu,vbios", "gpu,asic"))
def amd_smi_csv(text: Text) -> Statements:
    """`amd-smi list --csv`, `amd-smi static --csv`: in CPX mode a card's address stands in several lines."""
    import csv

    for head in text.each(r"^(?P<names>gpu,[a-z_][^\n]{3,4000})\n(?P<rows>(?:(?:\d{1,4},[^\n]{3,6000}|\.{3})(?:\n|\Z)){1,1024})"):
        names = next(csv.reader([head["names"]]), [])
        rows = [dict(zip(names, row, strict=False)) for row in csv.reader(head["rows"].splitlines()) if len(row) > 1]
        cards: dict[str, list[dict[str, str]]] = {}
        for row in rows[:_MOST]:
            cards.setdefault(row.get("gpu_bdf") or row.get("bdf") or row["gpu"], []).append(row)
        for same in cards.values():
            yield from _card(text, head.match.start("rows"), same[0], len(same))


@reads(adds=(Gpu,), marks=('"bdf"',))
def amd_smi_list(text: Text) -> Statements:
    """`amd-smi list --json`: `[{"gpu": 0, "bdf": "0000:0c:00.0", "uuid": …}]`."""
    start = re.search(r"\[\s{0,40}\{\s{0,40}\"gpu\"", text.body)
    answer: Any = decoded(text.body, start.start()) if start else None
    cards: dict[str, list[dict[str, str]]] = {}
    for device in answer[:_MOST] if isinstance(answer, list) else ():
        if isinstance(device, dict) and isinstance(device.get("bdf"), str):
            values = {str(key): str(value) for key, value in device.items() if isinstance(value, str | int)}
            cards.setdefault(values["bdf"], []).append(values)
    for place, same in cards.items():
        yield from _card(text, max(text.body.find(place), 0), same[0], len(same))
