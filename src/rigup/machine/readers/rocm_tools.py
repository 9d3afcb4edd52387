"""rocminfo, HIP's and OpenCL's device lists, rocm-bandwidth-test, amdgpu_top.

What ROCr and HIP say a chip is may be an override; only the kernel (KFD) says what it is. So their
word is `shown_isa`.
"""

import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.chips import isa_of_capability
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu, KernelModule
from rigup.machine.reader import Run, Statements, reads
from rigup.machine.readers.rocm_smi import decoded, gfx
from rigup.machine.readers.rocm_smi import name as product
from rigup.machine.readers.values import Draft, Line, address, keyed, known_value, number, pci_id, size, uuid, vendor_of
from rigup.machine.texts import Text

_MOST = 1024  # devices of one report
_ANSWERS = r"ROCk module|HSA |\bhsa_|/dev/kfd|error while loading shared libraries"
_AGENT = r"^[> \t]{0,40}Agent (?P<number>\d{1,4})[ \t]*$"


@reads(
    adds=(Gpu, KernelModule, Driver),
    inputs=[Run(("rocminfo",), seconds=8, wakes="1002", says=_ANSWERS)],
    marks=("HSA Agents", "Marketing Name:", "ROCk module", "hycu module", "amdgcn-amd-amdhsa--", " gfx"),
    matched="program",
)
def rocminfo(text: Text) -> Statements:
    """Agents in KFD order; CPUs are agents too."""
    for hit in text.each(r"^[> \t]{0,40}ROCk module (?:version (?P<version>\d\S{1,40}) )?is loaded"):
        yield hit.states(KernelModule, name="amdgpu", loaded=True)
        if hit["version"]:
            yield hit.states(Driver, vendor="amd", version=hit["version"])
    heads = list(text.each(_AGENT))[:_MOST]
    drafts = []
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else len(text.body)
        drafts += _agent(text, hit.start, hit.match.end(), end)
    if heads and heads[0]["number"] == "1":
        for count, draft in enumerate(drafts):
            draft.add("runtime_index", count)
    for draft in drafts:
        yield from draft.facts("vendor")
    if not heads:
        yield from _name_lines(text)


def _agent(text: Text, at: int, start: int, end: int) -> list[Draft[Gpu]]:
    """One agent, if it is a GPU. Of its pools the first global one is its memory."""
    first: dict[str, Line] = {}
    pools: list[Line] = []
    isa: Line | None = None
    segment = ""
    for line in keyed(text, start, end):
        first.setdefault(line.key, line)
        segment = line.value if line.key == "Segment" else segment
        if line.key == "Size" and segment.startswith("GLOBAL"):
            pools.append(line)
        isa = isa or (line if line.key == "Name" and "amdhsa--" in line.value else None)
    kind = first["Device Type"].value if "Device Type" in first else ""
    named = gfx(first["Name"].value) if "Name" in first else None
    if kind not in ("GPU", "") or (not named and kind != "GPU"):
        return []
    draft = Draft(text, Gpu, at)
    draft.add("vendor", _maker(text, first))
    if (target := isa or first.get("Name")) is not None:
        draft.add("shown_isa", gfx(target.value), target.at)
    _identity(draft, first)
    apu = "Memory Properties" in first and "APU" in first["Memory Properties"].value
    draft.add("integrated", True if apu else None)
    if pools:
        draft.add("unified" if apu else "vram", size(re.sub(r"\([^)]*\)", "", pools[0].value), "k"), pools[0].at)
    draft.add("seen_by", "rocminfo")
    return [draft]


def _maker(text: Text, first: dict[str, Line]) -> str:
    """Hygon's cards speak through a ROCm of their own."""
    vendor = first["Vendor Name"].value.lower() if "Vendor Name" in first else ""
    return "hygon" if "hygon" in vendor or "hycu module" in text.body[:2000] else "amd"


def _identity(draft: Draft[Gpu], first: dict[str, Line]) -> None:
    if line := first.get("Marketing Name"):
        draft.add("name", product(line.value), line.at)
    if line := first.get("Uuid"):
        draft.add("uuid", uuid(line.value), line.at)
    if line := first.get("Node"):
        draft.add("kfd_node", number(line.value), line.at)
    if (line := first.get("Chip ID")) and (chip := number(line.value)):
        draft.add("pci_id", pci_id("1002", f"{chip:x}") if draft.get("vendor") == "amd" else None, line.at)
    if (line := first.get("BDFID")) and (bdf := number(line.value)):
        draft.add("pci_address", f"0000:{bdf >> 8 & 0xFF:02x}:{bdf >> 3 & 0x1F:02x}.{bdf & 7}", line.at)


def _name_lines(text: Text) -> Iterator[Gpu]:
    """`rocminfo | grep gfx`, or an agent's end: what is left of it are its name lines, or its ISA's."""
    plain = list(text.each(r"^[> \t]{0,40}Name: +(?P<shown>gfx[0-9a-f]{3,5}) *$"))
    isas = text.each(r"^[> \t]{0,40}Name: +amdgcn-amd-amdhsa--(?P<shown>gfx[0-9a-f]{3,4})(?::[\w:+-]{1,40})? *$")
    unlike = len({hit["shown"] for hit in plain}) > 1  # several agents, in the order in which HIP counts them
    for count, hit in enumerate(plain or isas):
        yield hit.states(Gpu, vendor="amd", shown_isa=hit["shown"], **({"runtime_index": count} if unlike else {}))


_BANDWIDTH = (
    r"^[> \t]{0,40}Device(?: Index)?: +(?P<index>\d{1,3}), +(?P<name>[^,\n]{2,80}), +(?P<uuid>GPU-\w{1,40}), +"
    r"(?P<pci>[0-9a-fA-F:]{4,10}\.[0-7])"
)


@reads(adds=(Gpu,), marks=("RocmBandwidthTest", "rocm-bandwidth-test"))
def rocm_bandwidth(text: Text) -> Statements:
    """Its devices; the processors among them have neither UUID nor address."""
    for hit in text.each(_BANDWIDTH):
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "amd")
        draft.add("name", product(hit["name"]))
        draft.add("uuid", uuid(hit["uuid"]))
        draft.add("pci_address", address(hit["pci"]))
        yield from draft.facts()


_HIP = {
    "name": "name",
    "pcibusid": "bus",
    "pcideviceid": "device",
    "pcidomainid": "domain",
    "pci bus id": "bus",
    "pci device id": "device",
    "pci domain id": "domain",
    "gcnarchname": "arch",
    "amd gcn arch name": "arch",
    "totalglobalmem": "memory",
    "total global memory (mb)": "mib",
    "uuid of this device": "uuid",
    "isintegrated": "integrated",
    "integrated": "integrated",
    "integrated gpu": "integrated",
}


@reads(adds=(Gpu,), marks=("gcnArchName", "GCN Arch Name"))
def hip_devices(text: Text) -> Statements:
    """hipInfo's `device# 0` blocks, and the samples' `[GPU 0] value: what`."""
    devices: dict[tuple[int, int], dict[str, tuple[str, int]]] = {}
    heads = list(text.each(r"^device# +(?P<index>\d{1,3})"))[:_MOST]
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else len(text.body)
        lines = {_HIP.get(line.key.lower(), ""): (line.value, line.at) for line in keyed(text, hit.start, end)}
        devices[hit.start, int(hit["index"])] = lines
    for hit in text.each(r"^\[GPU (?P<index>\d{1,3})\] (?P<value>[^\n:]{1,80}(?::[^\n ]{1,60})?)(?:: (?P<key>[^\n]{2,60}))?$"):
        inner = devices.setdefault((-1, int(hit["index"])), {"at": ("", hit.start)})
        inner.setdefault(_HIP.get(hit["key"].lower(), "") if hit["key"] else "name", (hit["value"], hit.start))
    for (start, index), lines in devices.items():
        yield from _hip_device(text, start if start >= 0 else lines["at"][1], index, lines)


def _hip_device(text: Text, at: int, index: int, values: dict[str, tuple[str, int]]) -> Iterator[Gpu]:
    draft = Draft(text, Gpu, at)
    draft.add("vendor", "amd")
    draft.add("runtime_index", index)
    where = [number(values[key][0]) if key in values else None for key in ("domain", "bus", "device")]
    if where[1] is not None and where[2] is not None:
        draft.add("pci_address", f"{where[0] or 0:04x}:{where[1] & 0xFF:02x}:{where[2] & 0x1F:02x}.0", values["bus"][1])
    for key, field, value in (
        ("name", "name", product),
        ("arch", "shown_isa", gfx),
        ("memory", "vram", size),
        ("mib", "vram", lambda text: size(text, "m")),
        ("uuid", "uuid", lambda text: uuid("GPU-" + text.strip())),
    ):
        if key in values:
            draft.add(field, value(values[key][0]), values[key][1])
    if "integrated" in values:
        draft.add("integrated", {"1": True, "0": False}.get(values["integrated"][0].strip()), values["integrated"][1])
    yield from draft.facts("vendor", "runtime_index")


_CL = lazy_regex(r"^[> \t]{0,40}(?P<key>[A-Z][\w()/-]*(?: [\w()/-]+){0,6})(?::[ \t]*|[ \t]{2,}|\t)(?P<value>\S.*)$", re.MULTILINE)
_CL_KEYS = {
    "Device Name": "name",
    "Name": "name",
    "Device Board Name (AMD)": "board",
    "Board name": "board",
    "Device Type": "type",
    "Device Vendor ID": "vendor",
    "Vendor ID": "vendor",
    "Device PCI-e ID (AMD)": "pci",
    "Device Topology (AMD)": "where",
    "Device Topology (NV)": "where",
    "Device Topology": "where",
    "Global memory size": "memory",
    "Compute Capability (NV)": "capability",
}


@reads(adds=(Gpu,), marks=("Device Board Name", "Board name:", "Device Vendor ID", "Number of platforms"))
def clinfo(text: Text) -> Statements:
    """OpenCL's devices, in both of the forms that clinfo has."""
    if "Number of devices" not in text.body and "Device Name" not in text.body and "Board name" not in text.body:
        return
    values: dict[str, tuple[str, int]] = {}
    for match in _CL.finditer(text.body):
        key = _CL_KEYS.get(match["key"], "")
        if (match["key"] == "Device Name" or (key == "type" and "name" not in values)) and values:
            yield from _cl_device(text, values)
            values = {}
        if key:
            values.setdefault(key, (match["value"], match.start("value")))
        if match["key"] == "Number of devices":
            yield from _cl_device(text, values)
            values = {}
    yield from _cl_device(text, values)


def _cl_device(text: Text, values: dict[str, tuple[str, int]]) -> Iterator[Gpu]:
    plain = {key: value for key, (value, _) in values.items()}
    name = re.sub(r" \((?:radeonsi|navi|gfx|LLVM|ACO|DRM)[^\n]*", "", plain.get("board", plain.get("name", ""))).strip()
    if "GPU" not in plain.get("type", "") or not name:
        return
    draft = Draft(text, Gpu, next(iter(values.values()))[1])
    vendor = {"1002": "amd", "10de": "nvidia", "8086": "intel"}.get(plain.get("vendor", "").removeprefix("0x").strip())
    draft.add("vendor", vendor or vendor_of(name) or ("amd" if gfx(plain.get("name", "")) else None))
    draft.add("name", None if gfx(name) else product(name))
    draft.add("shown_isa", gfx(plain.get("name", "")))
    draft.add("isa", isa_of_capability(plain.get("capability", "")))
    draft.add("pci_id", pci_id("1002", plain["pci"]) if "pci" in plain else None)
    draft.add("pci_address", _topology(plain.get("where", "")))
    yield from draft.facts("vendor")


def _topology(value: str) -> str | None:
    old = re.search(r"B#(\d{1,3}), D#(\d{1,2}), F#(\d)", value)
    return f"0000:{int(old[1]) & 0xFF:02x}:{int(old[2]) & 0x1F:02x}.{old[3]}" if old else address(value)


@reads(adds=(Gpu,), marks=("amdgpu_top_version", '"suspended_devices"'))
def amdgpu_top(text: Text) -> Statements:
    """`amdgpu_top -J`, or its dump: the devices, and those that were left asleep."""
    start = re.search(r"[\[{]", text.body)
    answer = decoded(text.body, start.start()) if start else None
    report = answer if isinstance(answer, dict) else {"devices": answer}
    for device in _list(report.get("devices")):
        info = device.get("Info", device)
        yield from _top_device(text, info, device) if isinstance(info, dict) else ()
    for device in _list(report.get("suspended_devices")):
        yield from _top_device(text, device, {"power": "suspended"})


def _list(value: Any) -> list[dict[str, Any]]:
    return [item for item in value[:_MOST] if isinstance(item, dict)] if isinstance(value, list) else []


def _top_device(text: Text, info: dict[str, Any], device: dict[str, Any]) -> Iterator[Gpu]:
    place = str(info.get("PCI", info.get("pci", "")))
    draft = Draft(text, Gpu, max(text.body.find(place), 0) if place else 0)
    draft.add("vendor", "amd")
    draft.add("pci_address", address(place))
    draft.add("name", product(str(info.get("DeviceName", ""))))
    draft.add("isa", gfx(str(info.get("gfx_target_version", info.get("ASIC Name", "")))))
    if isinstance(info.get("DeviceID"), int):
        draft.add("pci_id", pci_id("1002", f"{info['DeviceID']:x}"))
    if isinstance(info.get("RevisionID"), int):
        draft.add("revision", f"{info['RevisionID'] & 0xFF:02x}")
    draft.add("integrated", {"APU": True, "dGPU": False}.get(str(known_value(str(info.get("GPU Type", ""))))))
    for field, key in (("vram", "VRAM Size"), ("gtt", "GTT Size")):
        draft.add(field, info[key] if isinstance(info.get(key), int) else None)
    draft.add("power", device["power"] if device.get("power") == "suspended" else None)
    yield from draft.facts("vendor")
