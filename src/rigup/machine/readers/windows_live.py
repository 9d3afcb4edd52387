"""A live Windows: CIM by one PowerShell call, the registry of display drivers, libraries in their places.

What is shown in the person's language is not looked at: ids, codes and numbers tell.
"""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Cpu, Distribution, Driver, DriverLibrary, Gpu, Memory, Platform, SystemPackage
from rigup.machine.reader import Listing, Run, Statements, reads
from rigup.machine.readers.rocm_smi import decoded
from rigup.machine.readers.values import Draft, known_value, pci_id, says, vendor_of
from rigup.machine.readers.windows import nvidia_version
from rigup.machine.texts import Text

_DISPLAYS = "{4d36e968-e325-11ce-bfc1-08002be10318}"
_POWERSHELL = "/Windows/System32/WindowsPowerShell/v1.0/powershell.exe"
# A card's registry key is found by way of its device; CIM's own AdapterRAM ends at four gigabytes.
_QUESTION = r"""$ErrorActionPreference='SilentlyContinue';[Console]::OutputEncoding=[Text.Encoding]::UTF8;$k='HKLM:\SYSTEM\CurrentControlSet\';
$v=@(Get-CimInstance Win32_VideoController|ForEach-Object{$d=(Get-ItemProperty ($k+'Enum\'+$_.PNPDeviceID)).Driver;
$r=if($d){Get-ItemProperty ($k+'Control\Class\'+$d)};[ordered]@{Name=$_.Name;PNPDeviceID=$_.PNPDeviceID;DriverVersion=$_.DriverVersion;
ConfigManagerErrorCode=$_.ConfigManagerErrorCode;qwMemorySize=$r.'HardwareInformation.qwMemorySize'}});
$o=Get-CimInstance Win32_OperatingSystem|Select-Object Caption,Version,TotalVisibleMemorySize,FreePhysicalMemory,TotalVirtualMemorySize,FreeVirtualMemory;
$p=Get-CimInstance Win32_Processor|Select-Object -First 1 -Property Name,Architecture,NumberOfLogicalProcessors;
$f=@(Get-CimInstance Win32_PageFileUsage|Select-Object AllocatedBaseSize,CurrentUsage);
$c=Get-ItemProperty 'HKLM:\SOFTWARE\Microsoft\VisualStudio\14.0\VC\Runtimes\X64'|Select-Object Installed,Major,Minor,Bld;
[ordered]@{Win32_VideoController=$v;Win32_OperatingSystem=$o;Win32_Processor=$p;Win32_PageFileUsage=$f;VCRuntime=$c}|ConvertTo-Json -Depth 4 -Compress"""
_IDS = lazy_regex(
    r"(?i)VEN_(?P<vendor>[0-9a-f]{4})&DEV_(?P<device>[0-9a-f]{4})(?:&SUBSYS_(?P<board>[0-9a-f]{4})(?P<maker>[0-9a-f]{4}))?(?:&REV_(?P<revision>[0-9a-f]{2}))?"
)
# What comes with Windows bears Windows's own version: its display driver without any maker's.
_INBOX = lazy_regex(r"10\.0\.\d{5}\.\d{1,6}\Z")
_MAKERS = {"10de": "nvidia", "1002": "amd", "8086": "intel", "1ed5": "moorethreads"}
_MACHINES = {0: "i686", 9: "x86_64", 12: "arm64"}  # Win32_Processor.Architecture
_MOST, _DEEP = 200, 6


@reads(
    adds=(Gpu, Driver, Platform, Distribution, Cpu, Memory, SystemPackage),
    inputs=[Run(("powershell", "-NoProfile", "-NonInteractive", "-Command", _QUESTION), seconds=20, given=_POWERSHELL, says="Win32_")],
    marks=('"PNPDeviceID"', '"TotalVisibleMemorySize"', '"TotalVirtualMemorySize"'),
)
def cim_objects(text: Text) -> Statements:
    """`Get-CimInstance … | ConvertTo-Json`: an object, a list, or several of them under their classes' names."""
    start = re.search(r"^[^\S\n]{0,20}[\[{]", text.body, re.MULTILINE)
    objects = list(_objects(decoded(text.body, start.end() - 1))) if start else []
    if objects and "VCRuntime" in objects[0] and not objects[0]["VCRuntime"]:
        yield from says(text, SystemPackage, _offset_of(text, "VCRuntime"), name="vc-runtime", state="absent", manager="windows")
    for index, entry in enumerate([entry for entry in objects if isinstance(entry.get("PNPDeviceID"), str)][:_MOST]):
        yield from _card(text, entry, index)
    for entry in objects[:_MOST]:
        if "TotalVisibleMemorySize" in entry or "TotalVirtualMemorySize" in entry:
            yield from _system(text, entry)
        elif "NumberOfLogicalProcessors" in entry:
            yield from _processor(text, entry)
        elif "Bld" in entry and entry.get("Installed"):
            version = ".".join(str(entry.get(part, 0)) for part in ("Major", "Minor", "Bld"))
            yield from says(
                text, SystemPackage, _offset_of(text, "Bld"), name="vc-runtime", version=version, state="installed", manager="windows"
            )


def _objects(value: Any, depth: int = _DEEP) -> Iterator[dict[str, Any]]:
    """All objects within a value."""
    if depth and isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for inner_value in list(inner)[:_MOST] if depth else ():
        yield from _objects(inner_value, depth - 1)


def _offset_of(text: Text, word: str) -> int:
    return max(text.body.find(word), 0)


def _card(text: Text, values: dict[str, Any], index: int) -> Iterator[Fact]:
    """A display device that is on the PCI bus; Windows makes up others."""
    name = values.get("Name") or values.get("Caption") or values.get("Description")
    at = _offset_of(text, str(values["PNPDeviceID"]).replace("\\", "\\\\"))
    yield from _adapter(
        text, at, str(name or ""), values["PNPDeviceID"], values.get("DriverVersion"), _bytes(values.get("qwMemorySize")), index
    )


def _adapter(text: Text, at: int, name: str, pnp: str, version: Any, vram: int | None, index: int | None) -> Iterator[Fact]:
    ids = _IDS.search(pnp)
    maker = _MAKERS.get(ids["vendor"].lower()) if ids else None
    if not ids or not maker:
        return
    draft = Draft(text, Gpu, at)
    draft.add("vendor", maker)
    draft.add("adapter", index)
    basic = isinstance(version, str) and bool(_INBOX.match(_plain(version)))
    draft.add("name", known_value(_plain(name)) if vendor_of(_plain(name)) and not basic else None)
    draft.add("driver", "basicdisplay" if basic else None)
    draft.add("pci_id", pci_id(ids["vendor"], ids["device"]))
    draft.add("subsystem", f"{ids['maker']}:{ids['board']}".lower() if ids["board"] else None)
    draft.add("revision", ids["revision"].lower() if ids["revision"] else None)
    draft.add("vram", vram)
    yield from draft.facts("vendor", "adapter")
    if isinstance(version, str) and re.match(r"\d{1,3}\.\d", version) and not basic:
        release = nvidia_version(_plain(version)) if maker == "nvidia" else _plain(version)
        yield from says(text, Driver, at, vendor=maker, version=release)


def _plain(value: str) -> str:
    """Registry strings may carry the NUL that ends them."""
    return value.replace("\\0", "\0").partition("\0")[0].strip()


def _bytes(value: Any) -> int | None:
    """A number, or eight bytes of one, the lowest first."""
    if isinstance(value, list) and 4 <= len(value) <= 8 and all(isinstance(byte, int) and 0 <= byte < 256 for byte in value):
        value = int.from_bytes(bytes(value), "little")
    return value if isinstance(value, int) and not isinstance(value, bool) and 2**20 <= value < 2**48 else None


def _system(text: Text, values: dict[str, Any]) -> Iterator[Fact]:
    """Sizes are in thousands of bytes. Virtual memory is what may be committed: memory and page files."""
    fields = {
        "total": "TotalVisibleMemorySize",
        "available": "FreePhysicalMemory",
        "commit_limit": "TotalVirtualMemorySize",
        "commit_free": "FreeVirtualMemory",
    }
    draft = Draft(text, Memory, _offset_of(text, "VirtualMemorySize"))
    for name, key in fields.items():
        amount = values.get(key)
        draft.add(name, int(str(amount)) * 1024 if re.fullmatch(r"\d{1,15}", str(amount)) else None)
    yield from draft.facts()
    version, caption = str(values.get("Version") or ""), str(values.get("Caption") or "")
    if re.match(r"10\.0\.\d{4,6}", version):
        yield from says(text, Platform, _offset_of(text, version), system="windows", version=version)
        release = re.search(r"Windows (?:Server )?(\d{1,4})", caption)
        known = release[1] if release else None
        yield from says(text, Distribution, _offset_of(text, version), id="windows", name=_plain(caption) or None, version=known)


def _processor(text: Text, values: dict[str, Any]) -> Iterator[Fact]:
    at, threads = _offset_of(text, "NumberOfLogicalProcessors"), values["NumberOfLogicalProcessors"]
    model = _plain(str(values.get("Name") or "")) or None
    yield from says(text, Cpu, at, model=model, cores=threads if isinstance(threads, int) else None)
    machine = values.get("Architecture")
    yield from says(text, Platform, at, architecture=_MACHINES.get(machine) if isinstance(machine, int) else None)


_VALUE = lazy_regex(r"^ {4}(?P<name>[\w.]{3,60}) {4}REG_(?P<type>[A-Z_]{2,20}) {4}(?P<data>[^\n]{0,600})", re.MULTILINE)
_MOST_KEY = 30_000  # characters of one adapter's key


@reads(
    adds=(Gpu, Driver),
    inputs=[
        Run(
            ("reg", "query", r"HKLM\SYSTEM\CurrentControlSet\Control\Class" + "\\" + _DISPLAYS, "/s"),
            seconds=8,
            given="/Windows/System32/reg.exe",
            unless=_POWERSHELL,
        )
    ],
    marks=(_DISPLAYS, _DISPLAYS.upper()),
)
def display_registry(text: Text) -> Statements:
    """A key for each adapter whose driver was ever installed, and values below it."""
    heads = list(text.each(r"(?i)^HKEY_LOCAL_MACHINE\\[^\n]{0,120}\\\{4d36e968-e325-11ce-bfc1-08002be10318\}\\(?P<number>\d{4})[ \t\r]*$"))[
        :_MOST
    ]
    for index, head in enumerate(heads):
        end = text.body.find("\nHKEY_", head.match.end(), head.match.end() + _MOST_KEY)
        part = text.body[head.match.end() : end if end > 0 else head.match.end() + _MOST_KEY]
        values = {value["name"]: (value["type"], value["data"].rstrip("\r")) for value in _VALUE.finditer(part)}
        name = _words(values.get("DriverDesc")) or _words(values.get("HardwareInformation.AdapterString"))
        size = values.get("HardwareInformation.qwMemorySize", values.get("HardwareInformation.MemorySize"))
        pnp, version = _words(values.get("MatchingDeviceId")), _words(values.get("DriverVersion"))
        yield from _adapter(text, head.start, name, pnp, version, _number(size), index)


def _words(value: tuple[str, str] | None) -> str:
    """A string, or the bytes of one in UTF-16."""
    if value and value[0] == "BINARY" and re.fullmatch(r"(?:[0-9A-Fa-f]{4}){1,200}", value[1]):
        return _plain(bytes.fromhex(value[1]).decode("utf-16-le", "replace"))
    return _plain(value[1]) if value else ""


def _number(value: tuple[str, str] | None) -> int | None:
    """0x600000000, or bytes from the lowest on."""
    if value and value[0] == "BINARY" and re.fullmatch(r"(?:[0-9A-Fa-f]{2}){4,8}", value[1]):
        return _bytes(list(bytes.fromhex(value[1])))
    return _bytes(int(value[1], 16)) if value and re.fullmatch(r"0x[0-9a-fA-F]{1,16}", value[1]) else None


@reads(
    DriverLibrary,
    inputs=[
        Listing("/Windows/System32/{nvcuda,nvml,amdhip64,amdhip64_6,ze_loader,OpenCL}.dll"),
        Listing("/Windows/System32/DriverStore/FileRepository/{nv*,u0*}/{nvml,nvcuda64,amdhip64,amdhip64_6}.dll"),
    ],
)
def windows_libraries(text: Text) -> Statements:
    """Drivers put their libraries into System32; the store keeps those of every driver that was installed."""
    for hit in text.each(
        r"(?P<path>/Windows/System32/(?:[^\n/]{1,60}/){0,3}(?P<soname>(?:nvcuda|nvml|amdhip64|amdhip64_6|ze_loader|OpenCL)\.dll))$"
    ):
        yield hit.states(DriverLibrary, soname=hit["soname"], path=hit["path"])


@reads(inputs=[Listing("/Windows/System32/{vcruntime140,vcruntime140_1,msvcp140}.dll")], adds=(SystemPackage,))
def vc_runtime(text: Text) -> Statements:
    """The Visual C++ runtime that builds of frameworks are linked against is a file of System32."""
    for hit in text.each(r"/Windows/System32/(?P<file>vcruntime140|vcruntime140_1|msvcp140)\.dll$"):
        name = {"vcruntime140_1": "vc-runtime"}.get(hit["file"], hit["file"])
        yield hit.states(SystemPackage, name=name, state="installed", manager="windows")
