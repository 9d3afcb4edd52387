"""Windows: dxdiag, video controllers by CIM or wmic, systeminfo, the shell's banner.

It speaks its user's language: what counts are ids, numbers and the form of a line.
"""

import re
from collections.abc import Iterator

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Cpu, Distribution, Driver, Gpu, Platform
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.systems import os_of
from rigup.machine.readers.values import Draft, keyed, known_value, pci_id, size, vendor_of
from rigup.machine.texts import Text

_PNP = lazy_regex(
    r"VEN_([0-9A-Fa-f]{4})&(?:amp;)?DEV_([0-9A-Fa-f]{4})(?:&(?:amp;)?SUBSYS_([0-9A-Fa-f]{4})([0-9A-Fa-f]{4}))?(?:&(?:amp;)?REV_([0-9A-Fa-f]{2}))?"
)
# Adapters that Windows makes up itself, or that remote desktops bring.
_UNREAL = lazy_regex(r"(?i)basic (?:render|display)|remote|virtual|mirror|citrix|parsec|spacedesk|idd|vmware|virtualbox|qxl|hyper-v")
_MOST = 64  # adapters of one report


def nvidia_version(version: str) -> str:
    """Windows' 31.0.15.2824 is NVIDIA's 528.24: the last five digits."""
    digits = "".join(version.split(".")[-2:])[-5:]
    return f"{digits[:3]}.{digits[3:]}" if re.fullmatch(r"\d{1,2}\.\d{1,2}\.\d{1,2}\.\d{4,5}", version) else version


def _adapter(text: Text, at: int, values: dict[str, tuple[str, int]], index: int) -> Iterator[Fact]:
    """One adapter from its values: name, pnp, memory, driver."""
    name = known_value(values["name"][0]) if "name" in values else None
    if not name or _UNREAL.search(name):
        return
    ids = _PNP.search(values["pnp"][0]) if "pnp" in values else None
    maker = {"10de": "nvidia", "1002": "amd", "8086": "intel"}.get(ids[1].lower()) if ids else None
    maker = maker or vendor_of(name)
    draft = Draft(text, Gpu, at)
    draft.add("vendor", maker)
    draft.add("name", name, values["name"][1])
    draft.add("adapter", index)
    if ids:
        draft.add("pci_id", pci_id(ids[1], ids[2]), values["pnp"][1])
        draft.add("subsystem", f"{ids[4]}:{ids[3]}".lower() if ids[3] else None, values["pnp"][1])
        draft.add("revision", ids[5].lower() if ids[5] else None, values["pnp"][1])
    if "memory" in values:
        draft.add("vram", size(values["memory"][0], "m"), values["memory"][1], -1)
    yield from draft.facts("vendor", "adapter")
    if maker and "driver" in values and re.match(r"\d+\.\d", values["driver"][0]):
        driver = Draft(text, Driver, values["driver"][1])
        driver.add("vendor", maker)
        driver.add("version", nvidia_version(values["driver"][0]) if maker == "nvidia" else values["driver"][0])
        yield from driver.facts()


_DXDIAG = {"Device Key": "pnp", "Dedicated Memory": "memory", "Driver Version": "driver", "Driver File Version": "driver"}


@reads(adds=(Gpu, Driver, Platform, Distribution, Cpu), marks=("Card name:", "DirectX Version:", "Dedicated Memory:"))
def dxdiag(text: Text) -> Statements:
    """`Card name:` begins a display device; one card stands there for each of its screens."""
    heads = list(text.each(r"^[> \t]{0,40}Card name: (?P<name>[^\n]{2,80})$"))[:_MOST]
    seen: dict[tuple[str, str], int] = {}
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else min(hit.start + 6000, len(text.body))
        values = {"name": (hit["name"].strip(), hit.match.start("name"))}
        for line in keyed(text, hit.match.end(), end):
            if line.key in _DXDIAG:
                values.setdefault(_DXDIAG[line.key], (line.value, line.at))
        values["driver"] = (values["driver"][0].split(" ")[0], values["driver"][1]) if "driver" in values else ("", 0)
        identity = (hit["name"], values.get("pnp", ("", 0))[0])
        if identity not in seen:
            seen[identity] = len(seen)
            yield from _adapter(text, hit.start, values, seen[identity])
    for hit in text.each(
        r"^[> \t]{0,40}Operating System: (?P<os>Windows [^\n]{2,40}?) 64-bit \((?P<major>\d{1,2}\.\d), Build (?P<build>\d{4,6})\)"
    ):
        yield from os_of(text, hit.start, hit["os"])
        yield hit.states(Platform, system="windows", version=f"{hit['major']}.{hit['build']}")
    for hit in text.each(r"^[> \t]{0,40}Processor: (?P<model>[^\n]{5,80}?)(?: \(\d{1,3} CPUs\)[^\n]{0,40})?$"):
        yield hit.states(Cpu, model=hit["model"].strip())


_VERSION = r"(?<![\d.])\d{1,2}\.\d{1,2}\.\d{1,5}\.\d{1,5}(?![\d.])"  # 32.0.15.7652, 32.0.12033.1030
_CIM = {
    "Name": "name",
    "Caption": "name",
    "Description": "name",
    "PNPDeviceID": "pnp",
    "DriverVersion": "driver",
    "VideoProcessor": "other",
    "AdapterRAM": "other",
    "AdapterCompatibility": "other",
    "AdapterDACType": "other",
}


@reads(adds=(Gpu, Driver), marks=("AdapterRAM", "PNPDeviceID", "DriverVersion", "VideoProcessor"))
def video_controllers(text: Text) -> Statements:
    """`Get-CimInstance Win32_VideoController` or `wmic … get … /format:list`: a block of lines for each adapter."""
    count, block = 0, dict[str, tuple[str, int]]()
    last = -1
    for line in (*keyed(text), None):
        gap = line is not None and last >= 0 and "\n\n" in text.body[last : line.start]
        again = line is not None and _CIM.get(line.key) in block and _CIM.get(line.key) != "other" and line.key == "Name"
        if line is None or gap or again:
            if "name" in block and len(block) > 1:
                yield from _adapter(text, block["name"][1], block, count)
                count += 1
            block = {}
        if line is not None:
            last = line.at
            if key := _CIM.get(line.key):
                block.setdefault(key, (line.value, line.at))


@reads(adds=(Gpu,), marks=("VideoController", "videocontroller"))
def wmic_table(text: Text) -> Statements:
    """`wmic path win32_VideoController get name`: a head, then a name a line."""
    for hit in text.each(
        r"(?i)win32_VideoController (?:get (?:name|caption)|\| select(?:-object)? (?:-expandproperty )?name)[^\n]{0,80}\n(?P<names>(?:[^\n]{0,120}\n){1,12})"
    ):
        count = 0
        for match in re.finditer(r"[^\n]+", hit["names"]):
            name = match[0].strip()
            if not vendor_of(name) or re.search(r"[>$=:]|" + _VERSION, name):
                continue
            yield from _adapter(
                text, hit.match.start("names") + match.start(), {"name": (name, hit.match.start("names") + match.start())}, count
            )
            count += 1


_CONTROLLER = lazy_regex(r"\b(?:NVIDIA|GeForce|Quadro|Tesla|AMD|ATI|Radeon|Intel)\b[^\n]*?(?=\s{2,}|\s{1,8}PCI\\|\s*$)")
_COLUMNS = r"^[ \t]*(?=[^\n]{0,200}\b(?:Name|Caption|Description)\b)(?:[A-Z]\w{2,30}[ \t]+){0,8}DriverVersion(?:[ \t]+[A-Z]\w{2,30}){0,8}[ \t]*\n(?P<rows>(?:[^\n]{0,240}(?:\n|$)){1,16})"


@reads(adds=(Gpu, Driver), marks=("DriverVersion",))
def controller_table(text: Text) -> Statements:
    """`… | ft Name, DriverVersion` or `wmic … get name,driverversion`: a head of columns in any order, and a row for each adapter."""
    for hit in text.each(_COLUMNS):
        count = 0
        for row in re.finditer(r"[^\n]+", hit["rows"]):
            if re.search(r"^\S{0,60}[>$#]\s?\w", row[0]):
                break
            version = re.search(_VERSION, row[0])
            name = _CONTROLLER.search(re.sub(_VERSION, "   ", row[0]))
            if not version or not name:
                continue
            at = hit.match.start("rows") + row.start()
            values = {"name": (name[0].strip(), at), "driver": (version[0], at)}
            if ids := _PNP.search(row[0]):
                values["pnp"] = (ids[0], at)
            yield from _adapter(text, at, values, count)
            count += 1


_BUILD = r"(?i)(?:(?:\bwin(?:dows)?[ -]?1[01]\b[^\n]{0,50}?\b(?:os )?build|\bos build|\bwinver|\bwindows build|\bwindows version:? \w{4},? (?:os )?build)[ :#=]{1,3}|\bwin(?:dows)?[ -]?1[01]\b[^\n(]{0,40}\((?=\d{5}\.\d{1,5}\)))(?P<build>1[0-9]\d{3}|2[0-9]\d{3})(?:\.\d{1,6})?\b"
_ASKED_FOR = lazy_regex(
    r"(?i)\b(?:requires?|required|needs?|needed|at least|minimum|prerequisites?|supported|since|starting)\b|\bor (?:higher|later|newer|above|greater)\b|\d\+"
)


@reads(
    adds=(Platform, Distribution),
    marks=(
        "Microsoft Windows [",
        "Microsoft Windows 1",
        "Microsoft Windows Server",
        "x64-based PC",
        "10.0.",
        "uild 1",
        "uild 2",
        "winver",
        "Win 10",
        "Windows 10",
    ),
)
def windows_release(text: Text) -> Statements:
    """The shell's banner in any language, and systeminfo's line that ends in the product's name."""
    for hit in text.each(r"Microsoft Windows \[[^\d\]\n]{1,30} ?(?P<version>10\.0\.\d{4,6}(?:\.\d{1,6})?)\]"):
        yield hit.states(Platform, system="windows", version=hit["version"])
    for hit in text.each(
        r"(?i)\b(?:winver|windows(?: 1[01])? (?:version|build)|os build)\b[ *`:(=]{1,6}(?P<version>10\.0\.\d{5}(?:\.\d{1,6})?)\b"
    ):
        yield hit.states(Platform, system="windows", version=hit["version"])
    builds = [hit for hit in text.each(_BUILD) if not _ASKED_FOR.search(hit.where().text)]
    if len({hit["build"] for hit in builds}) == 1:  # several are a table, or a story of updates
        yield builds[0].states(Platform, system="windows", version="10.0." + builds[0]["build"])
    for hit in text.each(
        r"^[^\n:]{2,40}: +(?P<name>Microsoft Windows (?:1[01]|Server)[^\n]{0,60})\n[^\n:]{2,40}: +(?P<version>10\.0\.\d{4,6})\b"
    ):
        yield from os_of(text, hit.match.start("name"), hit["name"])
        yield hit.states(Platform, system="windows", version=hit["version"])


_OTHER = lazy_regex(r"(?i)\bWSL|\bLinux\b|\bUbuntu\b|\bDebian\b|\bFedora\b|\bmacOS\b|\bMacBook\b|\b(?:docker|podman) run\b|[Dd]ual.?boot")
_NAME = r"(?:Microsoft )?[Ww]in(?:dows)?"
_SAID = (
    r"^[#>*\s\-•|`]{0,8}(?:OS|Operating [Ss]ystem|Platform|System|OS [Vv]ersion|OS [Nn]ame|What (?:platform|OS)[^\n]{0,40})[\s*:=|`?]{1,8}"
    + _NAME
    + r"(?=[\s\d,.*|`)(_-]|$)",
    r"^[#>*\s\-•|`]{0,8}" + _NAME + r"[ -]?(?:1[01]|[78])(?:\.1)?(?:[ ,.(-][^\n]{0,50})?$",
    r"\b(?:[Oo]n|[Ii]n|[Uu]nder|[Uu]sing|[Mm]y|[Rr]un(?:ning)?|[Ww]ith|[Ff]or|[Nn]ative|[Cc]lean|[Ff]resh)\s(?:an?\s|my\s|the\s|native\s|fresh\s){0,2}"
    + _NAME
    + r"(?: ?(?:1[01]|[78](?:\.1)?|Server)\b| (?:system|machine|PC|laptop|computer|desktop|host|box|install|setup))",
)


@reads(adds=(Platform,), marks=("indows", "win10", "win11", "Win10", "Win11", "Win 1", "win 1"), rank=0)
def windows_in_words(text: Text) -> Statements:
    """`OS: Windows 11`, "on my Windows machine": where nothing speaks of another system beside it."""
    if not _OTHER.search(text.body) and (hit := next((found for form in _SAID if (found := text.first(form))), None)):
        yield hit.states(Platform, system="windows")
