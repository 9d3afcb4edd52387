"""The PCI bus: sysfs of the running kernel, and lspci in any of its forms. Displays and accelerators alone are kept."""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import CardState, DrmCard, Gpu, PciDevice
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft, address, says, size
from rigup.machine.texts import Hit, Text

_DEVICES = "/sys/bus/pci/devices/"
_MINE = _DEVICES + "{PciDevice.address}/"
_KEPT = lazy_regex(r"(?:0x0*)?(0?3[0-9a-f]{2}|12[0-9a-f]{2})[0-9a-f]{2}\s*", re.IGNORECASE)

_LINK = {"current_link_width": "lanes", "max_link_width": "lanes_of_card", "../max_link_width": "lanes_of_slot"}
_MOST_LANES = 32  # a card that sleeps, and a bridge without a link, give all ones and zero

# lspci's words for the classes that are kept, and their codes.
_CLASSES = {
    "VGA compatible controller": "0300",
    "XGA compatible controller": "0301",
    "3D controller": "0302",
    "Display controller": "0380",
    "Processing accelerators": "1200",
}
_ADDRESS = r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
_HEAD = lazy_regex(
    rf"(?:(?P<address>{_ADDRESS})[ \t]{{1,8}})?"
    rf"(?P<title>{'|'.join(_CLASSES)})(?: \[(?P<code>[0-9a-fA-F]{{4}})\])?: (?P<name>[^\n]{{1,300}})"
)
_NUMERIC = lazy_regex(
    rf"^(?P<address>{_ADDRESS}) (?P<code>03[0-9a-fA-F]{{2}}|12[0-9a-fA-F]{{2}}): (?P<ids>[0-9a-fA-F]{{4}}:[0-9a-fA-F]{{4}})[^\n]{{0,40}}",
    re.MULTILINE,
)
_NEXT = lazy_regex(rf"^(?:{_ADDRESS}\s|[^\s\n]|\s*\n)", re.MULTILINE)
_OWNER = lazy_regex(rf"^(?P<head>{_ADDRESS}) \S|\blspci [^\n]{{0,60}}?-s ?(?P<asked>{_ADDRESS})", re.MULTILINE)
_MOST_BLOCK = 20_000  # characters of one device under lspci -vvv
_VENDORS = {
    "nvidia": "10de",
    "advanced micro": "1002",
    "amd/ati": "1002",
    "ati ": "1002",
    "intel": "8086",
    "vmware": "15ad",
    "innotek": "80ee",
    "virtualbox": "80ee",
    "cirrus logic": "1013",
    "qxl": "1b36",
    "virtio": "1af4",
    "hyper-v virtual": "1414",
}


@reads(PciDevice, inputs=[File(_DEVICES + "*/class")])
def pci_class(text: Text) -> Statements:
    """`0x030000`: which devices matter. All others are left alone from here on."""
    where, match = address(text.source), _KEPT.match(text.body)
    if where and match:
        yield from _device_at(text, where, class_code=match[1].lower().rjust(4, "0"))


@reads(
    inputs=[File(_MINE + "uevent"), File("/sys/class/drm/card[0-9]*/device/uevent")], marks=("PCI_SLOT_NAME=",), adds=(PciDevice, DrmCard)
)
def pci_uevent(text: Text) -> Statements:
    """`DRIVER=nvidia`, `PCI_ID=10DE:2204` …: one device, whole. Without DRIVER none is bound."""
    lines = {hit["name"]: hit for hit in text.each(r"^(?P<name>DRIVER|PCI_[A-Z_]{1,20})=(?P<value>\S{1,60})")}
    where = address(lines["PCI_SLOT_NAME"]["value"]) if "PCI_SLOT_NAME" in lines else address(text.source)
    code = lines["PCI_CLASS"]["value"].rjust(6, "0") if "PCI_CLASS" in lines else ""
    if not where or not _KEPT.fullmatch(code):
        return
    draft = Draft(text, PciDevice, lines["PCI_CLASS"].start)
    draft.add("address", where)
    draft.add("class_code", code[:4].lower())
    vendor, _, device = lines["PCI_ID"]["value"].lower().partition(":") if "PCI_ID" in lines else ("", "", "")
    draft.add("vendor_id", vendor or None)
    draft.add("device_id", device or None)
    draft.add("subsystem", lines["PCI_SUBSYS_ID"]["value"].lower() if "PCI_SUBSYS_ID" in lines else None)
    draft.add("driver", lines["DRIVER"]["value"] if "DRIVER" in lines else None)
    draft.lacks("driver")
    yield from draft.facts()
    if card := re.search(r"/card(\d{1,3})/", text.source):
        yield from says(text, DrmCard, draft.at, card=int(card[1]), pci_address=where)


@reads(inputs=[File(_MINE + "{vendor,device,revision}")], adds=(PciDevice,))
def pci_ids(text: Text) -> Statements:
    """`0x10de`: a file each; the file's name is the field's."""
    where, match = address(text.source), re.match(r"0x([0-9a-f]{2,4})\s*\Z", text.body, re.IGNORECASE)
    field = {"vendor": "vendor_id", "device": "device_id"}.get(_last(text), "revision")
    if where and match:
        yield from _device_at(text, where, **{field: match[1].lower()})


@reads(inputs=[File(_MINE + "power/runtime_status")], adds=(PciDevice,))
def pci_power(text: Text) -> Statements:
    """`active` or `suspended`; to read it wakes nobody."""
    where, match = address(text.source), re.match(r"(active|suspended|suspending|resuming)\b", text.body)
    if where and match:
        yield from _device_at(text, where, power=match[1])


@reads(inputs=[File(_MINE + "resource")], adds=(PciDevice,))
def pci_bars(text: Text) -> Statements:
    """First, last and flags of each window: `0x6000000000 0x67ffffffff 0x14220c`."""
    where = address(text.source)
    spans = [
        (int(hit["a"], 16), int(hit["b"], 16)) for hit in text.each(r"^0x(?P<a>[0-9a-f]{1,16}) 0x(?P<b>[0-9a-f]{1,16}) 0x[0-9a-f]{1,16}")
    ]
    if where and spans:
        yield from _device_at(text, where, bars=[last - first + 1 for first, last in spans[:6] if last > first])


@reads(inputs=[Listing(_MINE + "driver")], adds=(PciDevice,))
def pci_driver(text: Text) -> Statements:
    """`driver -> ../../../bus/pci/drivers/nouveau`: the driver that is bound."""
    for hit in text.each(r"(?P<path>/sys/\S{1,200})/driver -> \S{0,200}/drivers/(?P<driver>[\w-]{1,60})"):
        if where := address(hit["path"]):
            yield hit.states(PciDevice, address=where, driver=hit["driver"])


@reads(CardState, inputs=[File(_MINE + "{current,max}_link_width", wakes="any"), File(_MINE + "../max_link_width", wakes="any")])
def card_link(text: Text) -> Statements:
    """`16`: the lanes in use, those of the card, or those of the port above it."""
    where, match = address(text.source), re.match(r"(\d{1,2})\s*\Z", text.body)
    name = re.search(r"/((?:\.\./)?\w{1,40})\Z", text.source)
    if where and match and name and name[1] in _LINK and 0 < int(match[1]) <= _MOST_LANES:
        yield from says(text, CardState, 0, pci_address=where, **{_LINK[name[1]]: int(match[1])})


@reads(CardState, marks=("LnkSta:",))
def lspci_links(text: Text) -> Statements:
    """`LnkCap: … Width x16` and `LnkSta: … Width x1 (downgraded)` of `lspci -vv`, below a device's line or the command that asks for one device."""
    for hit in text.each(
        r"LnkCap:[^\n]{0,120}?Width x(?P<card>\d{1,2})\b[^\n]{0,200}\n(?:[^\n]{0,300}\n){0,6}?[^\n]{0,20}LnkSta:[^\n]{0,120}?Width x(?P<lanes>\d{1,2})\b"
    ):
        heads = list(_OWNER.finditer(text.body, max(0, hit.start - _MOST_BLOCK), hit.start))
        where = address(heads[-1]["head"] or heads[-1]["asked"]) if heads else None
        if where and 0 < int(hit["lanes"]) <= _MOST_LANES:
            yield hit.states(CardState, pci_address=where, lanes=int(hit["lanes"]), lanes_of_card=int(hit["card"]))


@reads(PciDevice, marks=tuple(title + end for title in (*_CLASSES, "Host bridge") for end in (":", " [")), whole=r"(?:Host|ISA) bridge\b")
def lspci(text: Text) -> Statements:
    """`01:00.0 VGA compatible controller [0300]: NVIDIA … [10de:2204] (rev a1)` and the lines set in below it."""
    binds = "Kernel driver in use:" in text.body
    for match in _HEAD.finditer(text.body):
        yield from _device(Hit(text, match), _block(text.body, match.end()), binds)


@reads(PciDevice, marks=(" 0300: ", " 0302: ", " 0380: ", " 1200: "))
def lspci_numeric(text: Text) -> Statements:
    """`lspci -n`: `01:00.0 0300: 10de:2204 (rev a1)`."""
    for match in _NUMERIC.finditer(text.body):
        vendor, device = match["ids"].lower().split(":")
        where = address(match["address"])
        yield Hit(text, match).states(PciDevice, address=where, class_code=match["code"].lower(), vendor_id=vendor, device_id=device)


def _device(head: Hit, block: str, binds: bool) -> Iterator[PciDevice]:
    name = head["name"]
    draft = Draft(head.text, PciDevice, head.start)
    draft.add("address", address(head["address"]))
    draft.add("class_code", head["code"].lower() or _CLASSES[head["title"]])
    vendor, device = _ids(name)
    draft.add("vendor_id", vendor)
    draft.add("device_id", device)
    draft.add("name", _name(name))
    revision = re.search(r"\(rev ([0-9a-f]{2})\)", name)
    draft.add("revision", revision[1] if revision else None)
    _add_details(draft, block, head.match.end(), binds)
    yield from draft.facts("class_code")


def _add_details(draft: Draft[PciDevice], block: str, at: int, binds: bool) -> None:
    """The lines below the head. No driver counts as none bound where the tool was asked for drivers."""
    if match := re.search(r"Kernel driver in use: ?(\S{1,60})", block):
        draft.add("driver", match[1], at + match.start())
    modules = re.search(r"Kernel modules: ?([^\n]{1,200})", block)
    if modules:
        draft.add("modules", re.split(r"[, ]+", modules[1].strip()), at + modules.start())
    if modules or (binds and "Subsystem:" in block):
        draft.lacks("driver")
    if match := re.search(r"Subsystem: [^\n]{0,200}\[([0-9a-f]{4}:[0-9a-f]{4})\]", block):
        draft.add("subsystem", match[1])
    if match := re.search(r"AtomicOpsCtl: ReqEn([+-])", block):
        draft.add("atomics", match[1] == "+", at + match.start())
    bars = [size(found) for found in re.findall(r"Memory at [^\n]{0,80}\[size=(\d{1,9}[KMGT]?)\]", block)]
    draft.add("bars", [bar for bar in bars if bar] or None)


def _block(body: str, start: int) -> str:
    """What belongs to one device: the lines after its head as long as they are set in."""
    line = body.find("\n", start) + 1
    if not line:
        return ""
    end = _NEXT.search(body, line, line + _MOST_BLOCK)
    return body[line : end.start() if end else line + _MOST_BLOCK]


def _ids(name: str) -> tuple[str | None, str | None]:
    """`[10de:2204]`; else the vendor by its name, and `Device 2330` is an id that lspci has no name for."""
    if both := re.search(r"\[([0-9a-fA-F]{4}):([0-9a-fA-F]{4})\]", name):
        return both[1].lower(), both[2].lower()
    low = name.lower()
    vendor = next((code for words, code in _VENDORS.items() if low.startswith(words) or words in low[:60]), None)
    nameless = re.search(r"\bDevice ([0-9a-f]{4})\b", name)
    return vendor, nameless[1] if nameless else None


def _name(name: str) -> str | None:
    """As the list of ids names it, without maker's legal form, ids and revision; None where it has no name."""
    plain = re.sub(r" (?:\[[0-9a-fA-F]{4}:[0-9a-fA-F]{4}\]|\(rev [0-9a-f]{2}\)|\(prog-if [^)]{0,60}\))", "", name).strip()
    return None if re.search(r"\bDevice [0-9a-f]{4}\b", plain) else plain or None


def _device_at(text: Text, where: str, **fields: object) -> Iterator[PciDevice]:
    draft = Draft(text, PciDevice, 0)
    draft.add("address", where)
    for name, value in fields.items():
        draft.add(name, value)
    yield from draft.facts()


def _last(text: Text) -> str:
    return text.source.rsplit("/", 1)[-1]


@reads(adds=(Gpu,), marks=("-[0000:00]-",), rank=-1)
def cards_of_a_tree(text: Text) -> Statements:
    """`lspci -t`: a card without a name of its own in the list is told by its number; the port's bracket holds its bus."""
    for hit in text.each(r"-\[(?P<bus>[0-9a-f]{2})\][-+]{1,4}00\.0 {1,3}Advanced Micro Devices[^\n]{0,60}\] Device (?P<id>[0-9a-f]{4})$"):
        yield hit.states(Gpu, vendor="amd", pci_id=f"1002:{hit['id']}", pci_address=f"0000:{hit['bus']}:00.0")
