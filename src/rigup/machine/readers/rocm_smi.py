"""rocm-smi and amd-smi: their lines, tables and JSON."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu
from rigup.machine.names import same_name
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import Draft, address, known_value, number, pci_id, size, uuid
from rigup.machine.texts import Text

Convert = Callable[[str], Any]
_MOST = 1024  # cards of one report
_FAMILY = -8  # rank of a name that is not one product's


def gfx(value: str) -> str | None:
    """gfx90a of whatever says it: with features, in capitals, inside a triple."""
    match = re.search(r"gfx(\d{1,2}[0-9a-f]{2})(?![0-9a-z])", value.lower())
    return "gfx" + match[1] if match else None


def serial(value: str) -> str | None:
    """A card's unique number as ROCr writes it: GPU- and sixteen digits."""
    match = re.fullmatch(r"(?:0x)?([0-9a-fA-F]{6,16})", value.strip())
    return uuid("GPU-" + match[1].lower().rjust(16, "0")) if match else None


def name(value: str) -> str | None:
    """A product's name; some releases print the vendor's number for it."""
    return None if re.fullmatch(r"(?:0x)?[0-9a-fA-F]{3,6}|\d+", value.strip()) else known_value(value)


def partitioned(value: str) -> list[dict[str, Any]] | None:
    """In one piece there are no partitions; how many there are else, the mode does not tell."""
    return [] if value.strip() == "SPX" else None


FIELDS: dict[str, tuple[str, Convert]] = {
    "device id": ("pci_id", lambda value: pci_id("1002", value)),
    "gpu id": ("pci_id", lambda value: pci_id("1002", value)),
    "device rev": ("revision", lambda value: (pci_id("0", value) or "")[-2:] or None),
    "card series": ("name", name),
    "device name": ("name", name),
    "unique id": ("uuid", serial),
    "pci bus": ("pci_address", address),
    "gfx version": ("isa", gfx),
    "node id": ("kfd_node", number),
    "vram total memory (b)": ("vram", size),
    "vram total used memory (b)": ("memory_used", size),
    "gtt total memory (b)": ("gtt", size),
    "compute partition": ("partitions", partitioned),
}


def fill(draft: Draft[Gpu], key: str, value: str, at: int) -> None:
    """One line of rocm-smi. A name of several cards in one ("RX 6700/6700 XT") gives way to any other."""
    field, convert = FIELDS.get(key.strip().strip(":").lower(), ("", known_value))
    if field:
        family = field == "name" and "[" in value
        draft.add(field, convert(value), at, _FAMILY if family else 0)


_LINE = r"^[> \t]{0,40}GPU\[(?P<index>\d{1,3})\][ \t]{0,20}: (?P<key>[^:\n]{2,60}):[ \t]{0,20}(?P<value>[^\n]{1,200})$"


@reads(adds=(Driver, Gpu), marks=("GPU[", "ROCm System Management", "[Model : Revision]"))
def rocm_smi(text: Text) -> Statements:
    """`GPU[0] : Card series: …`, whichever options were given."""
    drafts: dict[str, Draft[Gpu]] = {}
    for hit in text.each(_LINE):
        if hit["index"] not in drafts and len(drafts) < _MOST:
            drafts[hit["index"]] = _card(text, hit.start, int(hit["index"]))
        if hit["index"] in drafts:
            fill(drafts[hit["index"]], hit["key"], hit["value"], hit.match.start("value"))
    for draft in drafts.values():
        yield from draft.facts("vendor", "nvml_index", "seen_by")
    for hit in text.each(r"^[> \t]{0,40}Driver version: +(?P<version>\d\S{2,60})$"):
        yield hit.states(Driver, vendor="amd", version=hit["version"])
    yield from _table(text)


def _card(text: Text, at: int, index: int | None, maker: str = "amd", tool: str = "rocm-smi") -> Draft[Gpu]:
    draft = Draft(text, Gpu, at)
    draft.add("vendor", maker)
    draft.add("nvml_index", index)
    draft.add("seen_by", tool)
    return draft


_MODEL_ROW = (
    r"^[> \t]{0,40}(?P<index>\d{1,3}) +\[(?P<model>0x[0-9a-f]{2,4}) : 0x(?P<rev>[0-9a-f]{1,2})\][^\n]{0,200}\n"
    r"[> \t]{0,40}(?P<name>[^\n=]{3,40}?) *$"
)
_HARDWARE_ROW = (
    r"^[> \t]{0,40}(?P<index>\d{1,3}) +(?P<node>\d{1,3}) +(?P<did>0x[0-9a-f]{2,4}) +\d{1,6} +(?P<isa>gfx[0-9a-f]{3,5}|N/A) +"
    r"[^\n]{1,200}? (?P<pci>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])(?: |$)"
)
_ID_ROW = r"^[> \t]{0,40}(?P<index>\d{1,3}) +(?P<node>\d{1,3}) +(?P<did>0x[0-9a-f]{2,4}), +(?P<guid>\d{1,6}) "


def _table(text: Text) -> Iterator[Gpu]:
    """The concise table: `0 [0x74a1 : 0x00] …` with a name below, or `0 1 0x744c, 10946 …`."""
    for hit in text.each(_MODEL_ROW):
        draft = _card(text, hit.start, int(hit["index"]))
        draft.add("name", name(hit["name"]), hit.match.start("name"), _FAMILY if len(hit["name"]) >= 20 else 0)
        draft.add("pci_id", _model(hit["model"], hit["name"]), hit.match.start("model"))
        draft.add("partitions", [] if re.search(r"\bSPX\b", hit.match[0]) else None)
        yield from draft.facts()
    for hit in text.each(_HARDWARE_ROW):
        draft = _card(text, hit.start, int(hit["index"]))
        draft.add("pci_id", pci_id("1002", hit["did"]))
        draft.add("kfd_node", int(hit["node"]))
        draft.add("isa", gfx(hit["isa"]))
        draft.add("pci_address", address(hit["pci"]))
        yield from draft.facts()
    for hit in text.each(_ID_ROW):
        draft = _card(text, hit.start, int(hit["index"]))
        draft.add("pci_id", pci_id("1002", hit["did"]))
        draft.add("kfd_node", int(hit["node"]))
        yield from draft.facts()


def _model(model: str, product: str) -> str | None:
    """The model is the device or, in other releases, the board: what the name agrees with is the device."""
    from rigup.knowledge.gpus import gpu_by_pci

    row = gpu_by_pci("1002", model)
    return pci_id("1002", model) if row and row.name and same_name(row.name, product) else None


_JSON = lazy_regex(r"\{\s*\"(?:card\d{1,3}|system)\":\s*\{")


@reads(adds=(Driver, Gpu), marks=('"card0"', '"card1"', '\\"card0\\"', '"Card series"', '"Card Series"'))
def rocm_smi_json(text: Text) -> Statements:
    """`rocm-smi --json`: a card each, and the system."""
    for match in list(_JSON.finditer(text.body))[:50]:
        yield from cards(text, decoded(text.body, match.start()), match.start())


def decoded(body: str, at: int) -> Any:
    """The JSON value that begins there; None where it is none, or cut."""
    try:
        return json.JSONDecoder().raw_decode(body, at)[0]
    except (ValueError, RecursionError):
        return None


def cards(text: Text, answer: Any, at: int) -> Iterator[Gpu | Driver]:
    """The cards of a decoded answer, and the driver; `at` is where it begins in the text."""
    for key, fields in answer.items() if isinstance(answer, dict) else ():
        start = max(text.body.find(f'"{key}"', at), at)
        if not isinstance(fields, dict):
            continue
        if key == "system" and isinstance(fields.get("Driver version"), str):
            driver = Draft(text, Driver, _spot(text, fields["Driver version"], start))
            driver.add("vendor", "amd")
            driver.add("version", known_value(fields["Driver version"]))
            yield from driver.facts("vendor")
        elif key.startswith("card") and key[4:].isdigit():
            draft = _card(text, start, int(key[4:8]))
            for label, value in fields.items():
                if isinstance(value, str):
                    fill(draft, label, value, _spot(text, value, start))
            yield from draft.facts("vendor", "nvml_index", "seen_by")


def _spot(text: Text, value: str, start: int) -> int:
    """Where a value stands, as far as it can be found."""
    return max(text.body.find(value, start), start)


# amd-smi: (section, key) of the text and of the JSON.
_AMD: dict[tuple[str, str], tuple[str, Convert]] = {
    ("asic", "market_name"): ("name", name),
    ("asic", "target_graphics_version"): ("isa", gfx),
    ("asic", "asic_serial"): ("uuid", serial),
    ("board", "product_name"): ("name", name),
    ("bus", "bdf"): ("pci_address", address),
    ("", "bdf"): ("pci_address", address),
    ("", "node_id"): ("kfd_node", number),
    ("asic", "rev_id"): ("revision", lambda value: (pci_id("0", value) or "")[-2:] or None),
    ("vram", "size"): ("vram", lambda value: size(value, "m")),
    ("mem_usage", "total_vram"): ("vram", lambda value: size(value, "m")),
    ("mem_usage", "used_vram"): ("memory_used", lambda value: size(value, "m")),
    ("mem_usage", "total_gtt"): ("gtt", lambda value: size(value, "m")),
    ("partition", "compute_partition"): ("partitions", partitioned),
    ("driver", "name"): ("driver", known_value),
}
VENDORS = {"1002": "amd", "1d94": "hygon"}


@reads(
    adds=(Driver, Gpu), marks=("MARKET_NAME", "BDF: ", "TOTAL_VRAM", "TARGET_GRAPHICS_VERSION", "AMD-SMI ", "amd-smi static", "BIT_WIDTH: ")
)
def amd_smi(text: Text) -> Statements:
    """`amd-smi static`, `list` and `metric`: a block for each GPU, in sections; and the table."""
    heads = list(text.each(r"^[> \t]{0,40}GPU: (?P<index>\d{1,3})[ \t]*$"))[:_MOST]
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else min(hit.start + 30_000, len(text.body))
        yield from _block(text, hit.start, hit.match.end(), end, int(hit["index"]))
    yield from _amd_table(text)


def _block(text: Text, at: int, start: int, end: int, index: int) -> Iterator[Gpu | Driver]:
    lines: list[tuple[str, str, str, int]] = []
    section = ""
    for match in re.finditer(r"^[> \t]{0,40}([A-Z][A-Z0-9_]{1,40}):[ \t]*(.*)$", text.body[start:end], re.MULTILINE):
        if not match[2]:
            section = match[1].lower()
        lines.append((section, match[1].lower(), match[2].strip(), start + match.start(2)))
    yield from _of_card(text, at, index, lines)


def _of_card(text: Text, at: int, index: int | None, lines: list[tuple[str, str, str, int]]) -> Iterator[Gpu | Driver]:
    """One card of amd-smi's from what its lines say."""
    plain = {(section, key): value for section, key, value, _ in reversed(lines)}
    vendor = plain.get(("asic", "vendor_id"), "0x1002").removeprefix("0x")
    draft = _card(text, at, index, VENDORS.get(vendor, "amd"), "amd-smi")
    draft.add("pci_id", pci_id(vendor, plain.get(("asic", "device_id"), "")))
    for section, key, value, spot in lines:
        field, convert = _AMD.get((section, key)) or _AMD.get(("", key)) or ("", known_value)
        if field:
            family = field == "name" and "[" in value
            draft.add(field, convert(value), spot, _FAMILY if family else 0)
    yield from draft.facts("vendor", "nvml_index", "seen_by")
    if re.match(r"\d", driver := plain.get(("driver", "version"), "")):
        fact = Draft(text, Driver, next(spot for s, k, _, spot in lines if (s, k) == ("driver", "version")))
        fact.add("vendor", "amd")
        fact.add("version", driver)
        yield from fact.facts()


_AMD_CARD = (
    r"^[> \t]{0,40}\| +(?P<address>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) +(?P<name>[^|\n]{3,40}?) *\|[^\n]*\n"
    r"[> \t]{0,40}\| +(?P<index>\d{1,3}) +[^|\n]{1,60}\|[^|\n]{0,40}? (?P<used>\d{1,9})/(?P<total>\d{1,9}) MB"
)


def _amd_table(text: Text) -> Iterator[Gpu | Driver]:
    """The table of `amd-smi` alone; a long name lacks its beginning there."""
    for hit in text.each(r"AMD-SMI [^\n]{1,60}? (?:amdgpu|AMDGPU) version: +(?P<version>\d\S{2,40})"):
        yield hit.states(Driver, vendor="amd", version=hit["version"])
    for hit in text.each(_AMD_CARD):
        draft = _card(text, hit.start, int(hit["index"]), tool="amd-smi")
        draft.add("pci_address", hit["address"])
        draft.add("name", name(re.sub(r"^\.\.\.\S* ", "", hit["name"])))
        draft.add("vram", size(hit["total"], "m"))
        draft.add("memory_used", size(hit["used"], "m"))
        yield from draft.facts()


@reads(adds=(Driver, Gpu), marks=('"asic"', '"market_name"'))
def amd_smi_json(text: Text) -> Statements:
    """`amd-smi static --json`: a list, in newer releases under gpu_data."""
    for match in list(re.finditer(r"[\[{]\s*(?:\{\s*)?\"(?:gpu|gpu_data)\":", text.body))[:20]:
        answer = decoded(text.body, match.start())
        cards = answer.get("gpu_data", [answer]) if isinstance(answer, dict) else answer
        for card in cards[:_MOST] if isinstance(cards, list) else ():
            if isinstance(card, dict) and isinstance(card.get("asic", card.get("bus")), dict):
                yield from _of_card(text, match.start(), _index(card), list(_flat(text, card, match.start())))


def _index(card: dict[str, Any]) -> int | None:
    return card["gpu"] if isinstance(card.get("gpu"), int) else None


def _flat(text: Text, card: dict[str, Any], start: int) -> Iterator[tuple[str, str, str, int]]:
    for section, value in card.items():
        for key, inner in value.items() if isinstance(value, dict) else ((section, value),):
            plain = f"{inner.get('value')} {inner.get('unit', '')}" if isinstance(inner, dict) else str(inner)
            spot = _spot(text, str(inner.get("value") if isinstance(inner, dict) else inner), start)
            yield (section.lower() if isinstance(value, dict) else ""), str(key).lower(), plain[:200], spot
