"""nvidia-smi's long report (-q), the same as XML (-q -x), and its tables of chosen fields (--query-gpu)."""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rigup.knowledge.chips import isa_of_capability
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.throttling import nvml_reasons
from rigup.machine import nvml
from rigup.machine.kinds import CardState, Driver, Gpu, GpuProcess
from rigup.machine.reader import Run, Statements, reads
from rigup.machine.readers.gpu_processes import processes_of_nvml
from rigup.machine.readers.report_states import Said, state_of_report
from rigup.machine.readers.sampled import rows_of_one_time
from rigup.machine.readers.values import Draft, address, keyed, known_value, number, pci_id, size, truth, uuid, version
from rigup.machine.texts import Text, is_typed

Convert = Callable[[str], Any]
_MOST = 1024  # cards of one report
Row = tuple[int, dict[str, str]]  # offset, and cells by their columns


def combined(value: str) -> str | None:
    """0x233510DE: the device, then the vendor."""
    match = re.fullmatch(r"(?:0x)?([0-9a-fA-F]{4})([0-9a-fA-F]{4})", value.strip())
    return pci_id(match[2], match[1]) if match else None


def mib(value: str) -> int | None:
    """Sizes are MiB where csv leaves the unit out."""
    return size(value, "m")


def mode(value: str) -> bool | None:
    """Enabled or not; a card that knows no such mode has it off."""
    return False if value.strip("[] ") == "N/A" else truth(value)


def compute(value: str) -> str | None:
    """Exclusive_Process in one word, as the option that sets it."""
    return known_value(value.replace(" ", "_"))


def capability(value: str) -> str | None:
    """8.6 is sm_86."""
    return isa_of_capability(value.strip())


def slowing(value: str) -> list[str] | None:
    """0x0000000000000040: what lowers the clock, and nothing where it is idle."""
    match = re.fullmatch(r"0x([0-9a-fA-F]{1,16})", value.strip())
    return nvml_reasons(int(match[1], 16)) if match else None


# (section, key): of -q. XML tells the same in small letters with underscores.
_FIELDS: dict[tuple[str, str], tuple[str, Convert]] = {
    ("", "product name"): ("name", known_value),
    ("", "gpu uuid"): ("uuid", uuid),
    ("", "uuid"): ("uuid", uuid),
    ("", "compute mode"): ("compute_mode", compute),
    ("", "persistence mode"): ("persistence", mode),
    ("", "gpu recovery action"): ("recovery", str.strip),
    ("pci", "device id"): ("pci_id", combined),
    ("pci", "pci device id"): ("pci_id", combined),
    ("pci", "sub system id"): ("subsystem", combined),
    ("pci", "pci sub system id"): ("subsystem", combined),
    ("pci", "bus id"): ("pci_address", address),
    ("pci", "pci bus id"): ("pci_address", address),
    ("fb memory usage", "total"): ("vram", size),
    ("fb memory usage", "used"): ("memory_used", size),
    ("mig mode", "current"): ("mig", mode),
    ("mig mode", "current mig"): ("mig", mode),
    ("driver model", "current"): ("driver_model", known_value),
    ("driver model", "current dm"): ("driver_model", known_value),
    ("fabric", "state"): ("fabric", known_value),
    ("remapped rows", "pending"): ("remap_pending", truth),
    ("remapped rows", "remapped row pending"): ("remap_pending", truth),
}
_DRIVER = {"driver version": "version", "kmd version": "version", "cuda version": "cuda", "cuda umd version": "cuda"}
_FAR = 3_000  # characters between a command and the first card of its report
_ONE_CARD = lazy_regex(r"\bnvidia-smi (?:[^\n|]{0,80} )?(?:-i|--id)[ =](\d{1,3})(?![\d,:])")
_HEAD = r"^[ \t]*GPU (?P<address>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]) *$"


@reads(adds=(Driver, Gpu, CardState), marks=("NVSMI LOG", "Product Name", "Attached GPUs", "Remapped Rows", "Retired Pages"))
def nvidia_report(text: Text) -> Statements:
    """`nvidia-smi -q`, whole or in part; sections count by their head lines, as pasting may lose the indent."""
    heads = list(text.each(_HEAD))[:_MOST]
    for line in keyed(text, 0, heads[0].start if heads else len(text.body)):
        yield from _driver(text, line.key.lower(), line.value, line.at)
    count = next((number(hit["count"]) for hit in text.each(r"^Attached GPUs *: *(?P<count>\d{1,4})")), None)
    all_there = count == len({hit["address"] for hit in heads})
    order = list(dict.fromkeys(hit["address"] for hit in heads))
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else min(hit.start + 60_000, len(text.body))
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "nvidia")
        draft.add("pci_address", address(hit["address"]))
        asked = _of_command(text.body[max(0, hit.start - _FAR) : hit.start]) if len(order) == 1 else None
        draft.add("nvml_index", order.index(hit["address"]) if all_there else asked)
        draft.add("seen_by", "nvidia-smi")
        told = list(_sections(text, hit.match.end(), end))
        _fill(draft, iter(told))
        yield from draft.facts()
        yield from state_of_report(text, hit, told)


def _of_command(above: str) -> int | None:
    """The number that the last command in a text asks for."""
    asking = [line for line in above.split("\n") if "nvidia-smi " in line]
    hit = _ONE_CARD.search(asking[-1]) if asking else None
    return int(hit[1]) if hit else None


def _driver(text: Text, key: str, value: str, at: int) -> Iterator[Driver]:
    if key in _DRIVER and re.match(r"\d+\.\d", value):
        draft = Draft(text, Driver, at)
        draft.add("vendor", "nvidia")
        draft.add(_DRIVER[key], version(value), at)
        yield from draft.facts()


_ERAS, _BITS = ("volatile", "aggregate"), ("single bit", "double bit")  # of older reports, a head line below the other


def _sections(text: Text, start: int, end: int) -> Iterator[Said]:
    """Each line with the head line above it. A MIG device's own lines stand under `mig device`."""
    section, mig, depth = "", False, 0
    lines = re.compile(r"^([ \t]*)(\S[^:\n]{0,79}?)[ \t]*(?::[ \t]*(.*))?$", re.MULTILINE)
    for match in lines.finditer(text.body, start, end):
        indent, key = len(match[1]), match[2].lower().replace("_", " ")
        if mig and (indent < depth or (indent == depth and key != "mig device") or key.startswith("accounting mode")):
            mig = False
        if match[3] is None:
            era = section.partition(" ")[0]
            section = f"{era} {key}" if key in _BITS and era in _ERAS else key
            if key == "mig device":
                mig, depth = True, indent
                yield "mig device", "", "", match.start()
        else:
            yield ("mig device/" + section if mig else section), key, match[3].strip(), match.start(3)


def _fill(draft: Draft[Gpu], told_lines: Iterator[Said]) -> None:
    """Fields of one card from its lines."""
    parts: list[dict[str, Any]] = []
    volatile: list[int] = []
    for section, key, value, at in told_lines:
        if section.startswith("mig device"):
            _part(parts, section, key, value)
            continue
        field, convert = _FIELDS.get((section, key)) or _FIELDS.get(("", key)) or ("", known_value)
        if field:
            draft.add(field, convert(value), at)
        counted = "uncorrectable" in key or (section, key) == ("volatile double bit", "total")
        if section.startswith("volatile") and counted and value.isdigit():
            volatile.append(int(value))
    if volatile:
        draft.add("ecc_errors", sum(volatile))
    if parts or draft.get("mig") is False:
        draft.add("partitions", parts)


def _part(parts: list[dict[str, Any]], section: str, key: str, value: str) -> None:
    if not key or not parts:
        parts.append({})
    ids = {"index": "index", "gpu instance id": "gi", "compute instance id": "ci"}
    if key in ids and value.isdigit():
        parts[-1].setdefault(ids[key], int(value))
        parts[-1]["name"] = f"GI {parts[-1].get('gi', '?')} CI {parts[-1].get('ci', '?')}"
    elif section.endswith("fb memory usage") and key == "total":
        parts[-1].setdefault("memory", size(value))


_TAG = lazy_regex(r"<(/?)([A-Za-z_][\w.-]{0,60})([^<>]{0,300})>([^<]{0,400})")


@reads(adds=(Driver, Gpu), marks=("<nvidia_smi_log", "<driver_version>", "<product_name>", "<gpu id="))
def nvidia_xml(text: Text) -> Statements:
    """`nvidia-smi -q -x`: tags are pulled one by one; entities and document types are of no interest."""
    draft: Draft[Gpu] | None = None
    lines: list[Said] = []
    path: list[str] = []
    for match in _TAG.finditer(text.body):
        closes, tag = match[1] == "/", match[2].lower()
        if tag == "gpu":
            yield from _finish(draft, lines)
            draft, lines, path = (None if closes else _new_draft(text, match)), [], []
        elif closes:
            while path and path.pop() != tag:
                continue
        elif not match[3].endswith("/"):
            path = [*path[-8:], tag]
            value, key = match[4].strip(), tag.replace("_", " ")
            if draft is None:
                yield from _driver(text, key, value, match.start(4))
            elif tag == "mig_device" or value:
                lines.append((_section(path[:-1]) if tag != "mig_device" else "mig device", key if value else "", value, match.start(4)))
    yield from _finish(draft, lines)


def _new_draft(text: Text, match: re.Match[str]) -> Draft[Gpu]:
    draft = Draft(text, Gpu, match.start())
    draft.add("vendor", "nvidia")
    draft.add("pci_address", address(match[3]))
    draft.add("seen_by", "nvidia-smi")
    return draft


def _finish(draft: Draft[Gpu] | None, lines: list[Said]) -> Iterator[Gpu]:
    if draft is not None:
        _fill(draft, iter(lines))
        if draft.has("name") or draft.has("uuid") or draft.has("pci_address"):
            yield from draft.facts("vendor", "seen_by")


def _section(path: list[str]) -> str:
    """The tag above, as -q calls the section."""
    mig = "mig device/" if "mig_device" in path else ""
    last = path[-1].replace("_", " ") if path else ""
    return mig + {"gpu": "", "fabric": "fabric"}.get(last, last)


_COLUMNS: dict[str, tuple[str, Convert]] = {
    "name": ("name", known_value),
    "gpu_name": ("name", known_value),
    "uuid": ("uuid", uuid),
    "gpu_uuid": ("uuid", uuid),
    "index": ("nvml_index", number),
    "pci.bus_id": ("pci_address", address),
    "gpu_bus_id": ("pci_address", address),
    "pci.device_id": ("pci_id", combined),
    "pci.sub_device_id": ("subsystem", combined),
    "memory.total": ("vram", mib),
    "memory.used": ("memory_used", mib),
    "compute_mode": ("compute_mode", compute),
    "compute_cap": ("isa", capability),
    "mig.mode.current": ("mig", mode),
    "persistence_mode": ("persistence", mode),
    "driver_model.current": ("driver_model", known_value),
    "fabric.state": ("fabric", known_value),
    "remapped_rows.pending": ("remap_pending", truth),
    "ecc.errors.uncorrected.volatile.total": ("ecc_errors", number),
    "ecc.errors.uncorrected.volatile.device_memory": ("ecc_errors", number),
    "retired_pages.pending": ("remap_pending", truth),
}
_TELL_APART = {"index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial"}
_STATE_COLUMNS: dict[str, tuple[str, Convert]] = {
    "pcie.link.width.current": ("lanes", number),
    "pcie.link.width.max": ("lanes_most", number),
    "pcie.link.gen.current": ("generation", number),
    "pcie.link.gen.gpucurrent": ("generation", number),
    "pcie.link.gen.max": ("generation_most", number),
    "utilization.gpu": ("busy", lambda value: number(value.rstrip(" %"))),
    "clocks_event_reasons.active": ("throttle", slowing),
    "clocks_throttle_reasons.active": ("throttle", slowing),
}
_KNOWN = lazy_regex(
    r"(?:count|driver_version|timestamp|serial|vbios_version|(?:memory|pci|pcie|utilization|temperature|"
    r"power|clocks|fan|ecc|mig|pstate|display_|cuda_|compute|remapped_rows|retired_pages)[\w.]*)"
)
_HEADER = lazy_regex(
    r"^[> \t]{0,40}([a-z]\w*(?:\.\w+){0,6}(?: \[[\w%/]+\])?(?:, ?[a-z]\w*(?:\.\w+){0,6}(?: \[[\w%/]+\])?){0,400})[ \t]*$", re.MULTILINE
)
_ABOVE = 300  # characters before a head line in which its command stands
_ASKS_AGAIN = lazy_regex(r"[^\n]{0,300}(?:\s(?:-l|-lms|--loop|--loop-ms)[= ]?\d|\bwhile\b)[^\n]{0,200}\n?\Z")
_COUNTED = lazy_regex(
    r"[ \t]{2,8}(?P<count>[1-9]\d{0,3}) (?P<value>(?!(?:[KMG]?i?B|[MG]?Hz|m?W|%|C|s)\s*\Z)\S.{0,200})"
)  # a unit makes a cell of it
_NAME = lazy_regex(r"[a-z][a-z0-9]*(?:[._]\w+)+|count|name|serial|uuid|index|timestamp|pstate|hostname")  # of any column
_ALONE = ("compute_cap", "driver_version", "gpu_name", "pci.bus_id", "memory.total", "compute_mode", "mig.mode.current")
_ASKED = lazy_regex(
    r"--query-(?:gpu|remapped-rows)[= ]\"?(?P<fields>[a-z][\w.,]{2,8000})\"?[^\n]{0,200}?--format[= ]\"?csv(?P<options>[\w,]{0,40})"
)
_AFTER = lazy_regex(
    r"--format[= ]\"?csv(?P<options>[\w,]{0,40})\"?[^\n]{0,200}?--query-(?:gpu|remapped-rows)[= ]\"?(?P<fields>[a-z][\w.,]{2,8000})"
)


@reads(
    inputs=[
        Run(
            (sys.executable, str(Path(nvml.__file__))), seconds=10, wakes="10de", given="/dev/nvidiactl", says=r"^index, |NVML|nvidia-ml-py"
        )
    ],
    adds=(Driver, Gpu, GpuProcess, CardState),
    marks=(
        "--query-gpu",
        "remapped_rows.",
        "driver_version",
        "memory.total",
        "compute_cap",
        "pci.bus_id",
        "name, ",
        "index, ",
        "compute_mode",
        "mig.mode.current",
    ),
)
def nvidia_csv(text: Text) -> Statements:
    """`--query-gpu=… --format=csv`: by its head line, or, without one, by the command above it; behind rigup's own, who has a card's memory."""
    yield from processes_of_nvml(text)
    for match in _HEADER.finditer(text.body):
        columns = [re.sub(r" \[.*", "", cell.strip()) for cell in match[1].split(",")]
        if _is_header(columns):
            yield from _rows(text, columns, match.end(), text.body[max(match.start() - _ABOVE, 0) : match.start()])
    for query in (*_ASKED.finditer(text.body), *_AFTER.finditer(text.body)):
        fields = query["fields"]
        if "noheader" in query["options"]:
            start, end = text.body.rfind("\n", 0, query.start()) + 1, text.body.find("\n", query.end())
            yield from _rows(text, fields.split(","), end, text.body[start:end]) if end >= 0 else ()


def _is_column(name: str) -> bool:
    """Whether it is known as a column."""
    return name in _COLUMNS or _KNOWN.fullmatch(name) is not None


def _is_header(columns: list[str]) -> bool:
    known = sum(map(_is_column, columns))
    if len(columns) == 1:
        return columns[0] in _ALONE
    return known >= 2 and known >= len(columns) // 3


def _rows(text: Text, columns: list[str], at: int, above: str) -> Iterator[Gpu | Driver | CardState]:
    """The lines that have as many cells as were asked for; where nothing tells several apart, their order does.

    `above` is what stands before them: the command, as far as it is shown. One that asks over and over shows the same cards
    again, and `uniq -c` shows a row for all that are alike.
    """
    rows = list(_cells(columns, text.body[at : at + 200_000]))
    if _TELL_APART.isdisjoint(columns):
        rows = rows_of_one_time(rows, _ASKS_AGAIN.search(above) is not None)
        rows = [row for counted in rows for row in _uncounted(counted, columns[0])]
    numbered = _TELL_APART.isdisjoint(columns) and (len(rows) > 1 or not _STATE_COLUMNS.keys().isdisjoint(columns))
    first = (_of_command(above) or 0) if len(rows) == 1 else 0
    for index, (start, row) in enumerate(rows, first):
        yield from _row(text, {**row, **({"index": str(index)} if numbered else {})}, at + start)


def _uncounted(row: Row, first: str) -> list[Row]:
    """`      8 NVIDIA A100-SXM4-80GB, 570.148.08` as that many rows."""
    start, cells = row
    counted = _COUNTED.match(cells[first])
    if counted is None:
        return [row]
    return [(start, {**cells, first: counted["value"]})] * min(int(counted["count"]), _MOST)


def _cells(columns: list[str], body: str) -> Iterator[Row]:
    """Each row's offset, and its cells by their columns."""
    for count, line in enumerate(re.finditer(r"\n([^\n]*)", body)):
        cells = line[1].split(", ") if ", " in line[1] else line[1].split(",")
        if len(cells) != len(columns) or count > _MOST or not line[1].strip() or is_typed(line[1]):
            return
        if len(cells) == 1 and cells[0].strip() != columns[0] and _NAME.fullmatch(cells[0].strip()):
            return  # a list of the names that may be asked for
        if cells[0].strip().lower() != columns[0]:  # a head line after the command that asks for none
            yield line.start(1), dict(zip(columns, cells, strict=True))


def _row(text: Text, row: dict[str, str], at: int) -> Iterator[Gpu | Driver | CardState]:
    if re.match(r"\d+\.\d", driver := row.get("driver_version", "").strip()):
        draft_of_driver = Draft(text, Driver, at)
        draft_of_driver.add("vendor", "nvidia")
        draft_of_driver.add("version", version(driver))
        yield from draft_of_driver.facts()
    draft = Draft(text, Gpu, at)
    _fill_columns(draft, _COLUMNS, row)
    total, free = draft.get("vram"), mib(row.get("memory.free", ""))
    if total and free is not None and "memory.used" not in row:
        draft.add("memory_used", total - free)
    if draft.get("mig") is False:
        draft.add("partitions", [])
    if draft.readings:
        draft.add("vendor", "nvidia")
        draft.add("seen_by", "nvidia-smi")
    yield from draft.facts("vendor", "seen_by", "memory_used")
    state = Draft(text, CardState, at)
    _fill_columns(state, _STATE_COLUMNS, row)
    if state.readings:
        state.add("pci_address", address(row.get("pci.bus_id", row.get("gpu_bus_id", ""))))
        state.add("nvml_index", number(row.get("index", "")))
        yield from state.facts() if state.has("pci_address") or state.has("nvml_index") else ()


def _fill_columns(draft: Draft[Any], columns: dict[str, tuple[str, Convert]], row: dict[str, str]) -> None:
    for column, cell in row.items():
        if column in columns:
            field, convert = columns[column]
            draft.add(field, convert(cell))
