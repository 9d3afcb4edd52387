"""Reports of whole systems by inxi, lshw and hwinfo: what they say of graphics cards."""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Driver, Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.rocm_smi import decoded
from rigup.machine.readers.values import Draft, address, keyed, known_value, pci_id, says, vendor_of
from rigup.machine.texts import Text

_MOST = 64  # cards of one report
_MAKERS = {"10de": "nvidia", "1002": "amd", "8086": "intel", "1ed5": "moorethreads"}
_NO_CARD = lazy_regex(r"(?i)\btype: USB|camera|webcam|aspeed|matrox|cirrus|virtio|vmware|qxl|displaylink|bochs|hyper-v|microsoft")


def _model(name: str) -> str | None:
    """`NVIDIA GA107BM [GeForce RTX 3050 Ti Mobile]`: what stands in the last brackets; a maker alone is no name."""
    inner = [part.strip() for part in re.findall(r"\[([^\[\]]{2,100})\]", name) if part != "AMD/ATI"]
    plain = re.sub(r"(?i)^(?:nvidia|amd|intel|advanced micro devices)(?: corporation|,? inc\.?)?(?: \[?amd/ati\]?)?\s*", "", name).strip()
    return inner[-1] if inner else name.strip() if plain else None


def _card(text: Text, at: int, index: int, values: dict[str, str]) -> Iterator[Fact]:
    """A card from its values: name, maker, id, address, driver, version."""
    ids = re.fullmatch(r"([0-9a-fA-F]{4}):([0-9a-fA-F]{4})", values.get("id", ""))
    name = known_value(values.get("name", "")) or ""
    maker = _MAKERS.get(ids[1].lower()) if ids else vendor_of(values.get("maker", "")) or vendor_of(name)
    if not maker or _NO_CARD.search(name):
        return
    draft = Draft(text, Gpu, at)
    draft.add("vendor", maker)
    draft.add("adapter", index)
    draft.add("name", _model(name))
    draft.add("pci_id", pci_id(ids[1], ids[2]) if ids else None)
    draft.add("pci_address", address(values.get("address", "")))
    driver = values.get("driver", "")
    if re.fullmatch(r"[a-z][\w-]{1,30}", driver):
        draft.add("driver", driver)
    elif driver.upper() == "N/A":
        draft.lacks("driver")
    yield from draft.facts("adapter")
    if driver == "nvidia" and re.match(r"\d{2,3}\.\d", values.get("version", "")):
        yield from says(text, Driver, at, vendor="nvidia", version=values["version"])


# A section goes to the next word at a line's beginning; lines may be broken anywhere.
_INXI = r"^(?P<quote>[> \t]{0,8})Graphics:(?P<part>[\s\S]{1,6000}?)(?=^[> \t]{0,8}(?:Audio|Network|Bluetooth|Drives?|RAID|Partition|Swap|Sensors|Info|USB|Battery):|\n\s*\n|\Z)"
_INXI_CARD = lazy_regex(
    r"\b(?:Device|Card)(?:-(?P<number>\d{1,2}))?: (?P<rest>.*?)(?=\b(?:Device|Card)-\d{1,2}: |\b(?:Display|API|OpenGL|Message|Monitor-\d|Display Server|GLX Renderer): |\Z)"
)
_INXI_FIELDS = {
    "address": r"\bbus[- ]ID: (\S{5,14})",
    "id": r"\bchip[- ]ID: ([0-9a-f]{4}:[0-9a-f]{4})",
    "driver": r"\bdriver: (\S{2,30})",
    "version": r"\bdriver: \S{2,30} v: (\S{2,30})",
}


@reads(adds=(Gpu, Driver), marks=("Graphics:",))
def inxi(text: Text) -> Statements:
    """`Device-1: NVIDIA GP107 [GeForce GTX 1050 Ti] vendor: PNY driver: nvidia v: 470.86 bus-ID: 01:00.0 chip-ID: 10de:1c82`."""
    for number, section in enumerate(text.each(_INXI)):
        flat = re.sub(r"[> \t]*\n[> \t]*", " ", section["part"])
        for index, card in enumerate(list(_INXI_CARD.finditer(flat))[:_MOST]):
            rest = card["rest"]
            values = {key: match[1] for key, form in _INXI_FIELDS.items() if (match := re.search(form, rest))}
            values["name"] = re.split(r" (?:vendor|driver|bus[- ]ID|type|arch|v|chip[- ]ID|class-ID|pcie): ", rest + " ")[0]
            if not number and not re.search(r"\btype: USB", rest):
                yield from _card(text, section.start, index, values)


@reads(adds=(Gpu, Driver), marks=("Device-1: NVIDIA", "Device-2: NVIDIA", "Device-1: Intel", "Device-1: AMD"), rank=-1)
def inxi_rows(text: Text) -> Statements:
    """Lines of inxi's section without its head: `Device-1: NVIDIA GM204 [GeForce GTX 970] driver: N/A`."""
    if text.first(r"^[> \t]{0,8}Graphics:"):
        return
    form = r"^[> \t]{0,12}Device-(?P<index>\d): (?P<name>(?:NVIDIA|AMD|Intel)[^\n]{3,120}?) (?:vendor: [^\n]{2,60}? )?driver: (?P<driver>\S{2,30})(?: v: (?P<version>\S{2,30}))?"
    for hit in text.each(form):
        if re.search(r"\[|Graphics|Radeon|GeForce", hit["name"]):
            yield from _card(text, hit.start, int(hit["index"]) - 1, {key: value for key, value in hit.found().items() if key != "index"})


@reads(adds=(Gpu, Driver), marks=("*-display", "*-graphics"))
def lshw(text: Text) -> Statements:
    """`*-display`, and below it `product:`, `vendor:`, `bus info: pci@0000:01:00.0`, `configuration: driver=nouveau`."""
    heads = list(text.each(r"^[> \t]{0,40}\*-(?:display|graphics)(?::\d{1,2})?(?P<state>(?: UNCLAIMED| DISABLED)?)[ \t]*$"))[:_MOST]
    for index, head in enumerate(heads):
        stop = re.compile(r"^[> \t]{0,40}\*-|\n\s*\n", re.MULTILINE).search(text.body, head.match.end() + 1, head.match.end() + 4000)
        end = stop.start() if stop else min(head.match.end() + 3000, len(text.body))
        values: dict[str, str] = {"driver": "N/A"} if head["state"] else {}
        for line in keyed(text, head.match.end(), end):
            if field := {"product": "name", "vendor": "maker", "bus info": "address"}.get(line.key):
                values.setdefault(field, line.value)
            elif line.key == "configuration" and (match := re.search(r"\bdriver=(\S{2,30})", line.value)):
                values["driver"] = match[1]
        yield from _hardware(text, head.start, index, values)


def _hardware(text: Text, at: int, index: int, values: dict[str, str]) -> Iterator[Fact]:
    """A second function of one card, for its second head, is none of its own."""
    if ids := re.search(r"\[([0-9A-Fa-f]{4}:[0-9A-Fa-f]{4})\]", values.get("name", "")):
        values = {**values, "id": ids[1], "name": values["name"].replace(ids[0], "").strip()}
    if "(Secondary)" not in values.get("name", "") and values.get("address", "pci@").startswith("pci@"):
        yield from _card(text, at, index, values)


@reads(adds=(Gpu, Driver), marks=('"businfo"',))
def lshw_json(text: Text) -> Statements:
    """`lshw -json`: objects of class display anywhere in the tree."""
    start = re.search(r"^[^\S\n]{0,20}[\[{]", text.body, re.MULTILINE)
    displays = _displays(decoded(text.body, start.end() - 1)) if start else iter(())
    for index, display in zip(range(_MOST), displays, strict=False):
        configuration = display.get("configuration")
        driver = configuration.get("driver") if isinstance(configuration, dict) else None
        values = {
            "name": str(display.get("product", "")),
            "maker": str(display.get("vendor", "")),
            "address": str(display.get("businfo", "")),
            "driver": str(driver or "N/A"),
        }
        yield from _hardware(text, max(text.body.find(values["name"]), 0), index, values)


def _displays(value: Any, depth: int = 12) -> Iterator[dict[str, Any]]:
    if depth and isinstance(value, dict) and value.get("class") == "display" and "product" in value:
        yield value
    inner = value.get("children", ()) if isinstance(value, dict) else value
    for child in inner if depth and isinstance(inner, list) else ():
        yield from _displays(child, depth - 1)


_HWINFO = {"SysFS BusID": "address", "Model": "name", "Driver": "driver"}


@reads(adds=(Gpu, Driver), marks=("Hardware Class: graphics card",))
def hwinfo(text: Text) -> Statements:
    """`Hardware Class: graphics card`, `Model: "nVidia GA104 [GeForce RTX 3070]"`, `Device: pci 0x2484 …`."""
    for index, head in enumerate(list(text.each(r"^[> \t]{0,20}Hardware Class: graphics card[ \t]*$"))[:_MOST]):
        start = text.body.rfind("\n\n", 0, head.start) + 1
        end = text.body.find("\n\n", head.start)
        values: dict[str, str] = {}
        ids: dict[str, str] = {}
        for line in keyed(text, max(start, head.start - 3000), min(end if end > 0 else len(text.body), head.start + 4000)):
            if field := _HWINFO.get(line.key):
                values.setdefault(field, line.value.strip('"'))
            elif match := re.match(r"pci 0x([0-9a-f]{4})", line.value):
                ids.setdefault(line.key, match[1])
        if {"Vendor", "Device"} <= ids.keys():
            values["id"] = ids["Vendor"] + ":" + ids["Device"]
        yield from _card(text, head.start, index, values)
