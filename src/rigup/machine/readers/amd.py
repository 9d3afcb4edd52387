"""AMD: what amdkfd and amdgpu tell in sysfs, and which ROCm is installed."""

import re
from collections.abc import Iterator

from rigup.knowledge.chips import gfx_of_target_version
from rigup.machine.facts import Fact
from rigup.machine.kinds import DeviceNode, DrmCard, Gpu, KernelModule, KfdNode, Toolkit
from rigup.machine.reader import File, Listing, Statements, reads
from rigup.machine.readers.values import Draft, address, says
from rigup.machine.texts import Text

_NODES = "/sys/class/kfd/kfd/topology/nodes/*/"
_MINE = "/sys/bus/pci/devices/{PciDevice.address}/"
_MEMORY = {"mem_info_vram_total": "vram", "mem_info_gtt_total": "gtt"}


@reads(marks=(" kfd",), adds=(DeviceNode,))
def kfd_in_a_listing(text: Text) -> Statements:
    """`ls -la /dev | grep kfd` names it without its folder: `crw------- 1 root root 234, 0 Mai 21 05:13 kfd`."""
    for hit in text.each(
        r"(?P<mode>c[rwxsStT-]{9})(?P<acl>[+.@]?) {1,4}\d{1,3} {1,8}(?P<owner>\w{1,32}) {1,8}(?P<group>[\w-]{1,32}) {1,8}\d{1,4}, {1,8}\d{1,4} [^\n/]{5,30} kfd$"
    ):
        yield hit.states(DeviceNode, path="/dev/kfd", **{**hit.found(), "acl": hit["acl"] == "+"})


@reads(KfdNode, inputs=[File(_NODES + "properties")], marks=("\nsimd_count ", "gfx_target_version "))
def kfd_node(text: Text) -> Statements:
    """One node: `simd_count 416`, `gfx_target_version 90010`, `location_id 17152` … A processor has no SIMD."""
    values = {hit["name"]: int(hit["value"]) for hit in text.each(r"^(?P<name>[a-z_]{3,40}) (?P<value>\d{1,20})$")}
    node = re.search(r"nodes/(\d{1,5})/", text.source)
    if not values.get("simd_count") or "mem_clk_max" in values:
        return
    draft = Draft(text, KfdNode, text.body.find("simd_count"))
    draft.add("node", int(node[1]) if node else None)
    draft.add("isa", gfx_of_target_version(values.get("gfx_target_version", 0)), max(text.body.find("gfx_target_version"), 0))
    draft.add("pci_address", _location(values))
    if values.get("vendor_id") and values.get("device_id"):
        draft.add("pci_id", f"{values['vendor_id'] & 0xFFFF:04x}:{values['device_id'] & 0xFFFF:04x}", max(text.body.find("device_id"), 0))
    draft.add("is_cpu_too", bool(values["cpu_cores_count"]) if "cpu_cores_count" in values else None)
    draft.add("unique_id", str(values["unique_id"]) if values.get("unique_id") else None)
    yield from draft.facts("node")


def _location(values: dict[str, int]) -> str | None:
    """Bus and device; the function counts a card's partitions here and is no part of its address."""
    place = values.get("location_id")
    return f"{values.get('domain', 0):04x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.0" if place else None


@reads(inputs=[File(_NODES + "mem_banks/*/properties")], marks=("heap_type ",), adds=(KfdNode,))
def kfd_memory(text: Text) -> Statements:
    """A node's memory: heaps 1 and 2 are the card's own, 0 is the system's."""
    node = re.search(r"nodes/(\d{1,5})/", text.source)
    heap, held = text.first(r"^heap_type (?P<value>\d{1,3})$"), text.first(r"^size_in_bytes (?P<vram>\d{1,18})$")
    if node and heap and held and heap["value"] in ("1", "2") and int(held["vram"]):
        yield held.states(KfdNode, node=int(node[1]), vram=int(held["vram"]))


@reads(inputs=[File(_NODES + "gpu_id")], adds=(KfdNode,))
def kfd_gpu_id(text: Text) -> Statements:
    """0 for a processor, and for a GPU that this process may not use (another container's)."""
    node, hit = re.search(r"nodes/(\d{1,5})/", text.source), text.first(r"\A(?P<gpu_id>\d{1,10})\s*\Z")
    if node and hit and int(hit["gpu_id"]):
        yield hit.states(KfdNode, node=int(node[1]), gpu_id=int(hit["gpu_id"]))


@reads(inputs=[File(_MINE + "mem_info_{vram,gtt}_total", wakes="1002")], adds=(Gpu,), rank=2)
def amdgpu_memory(text: Text) -> Statements:
    """amdgpu's own totals, by the device's address."""
    yield from _memory(text, Gpu, "pci_address", address(text.source))


@reads(inputs=[File("/sys/class/drm/card[0-9]*/device/mem_info_{vram,gtt}_total", wakes="1002")], adds=(DrmCard,), rank=2)
def amdgpu_memory_of_card(text: Text) -> Statements:
    """The same by the card's number, for copies that hold the graphics layer alone."""
    card = re.search(r"/card(\d{1,3})/", text.source)
    yield from _memory(text, DrmCard, "card", int(card[1]) if card else None)


def _memory(text: Text, kind: type[Fact], key: str, value: str | int | None) -> Iterator[Fact]:
    field = _MEMORY.get(text.source.rsplit("/", 1)[-1])
    amount = re.match(r"(\d{1,18})\s*\Z", text.body)
    if value is not None and field and amount:
        yield from says(text, kind, 0, **{key: value, field: int(amount[1])})


@reads(inputs=[File("/sys/module/{amdgpu,nvidia}/version")], adds=(KernelModule,))
def module_version(text: Text) -> Statements:
    """A driver that is not the kernel's own tells its version."""
    name = re.search(r"/sys/module/([\w-]{1,60})/", text.source)
    if name and (hit := text.first(r"\A(?P<version>\d[\w.+-]{0,60})\s*\Z")):
        yield hit.states(KernelModule, name=name[1], version=hit["version"], loaded=True)


@reads(Toolkit, inputs=[File("/opt/{rocm,rocm-*}/.info/version")])
def rocm_version(text: Text) -> Statements:
    """`6.2.0-66`: the release, and its build."""
    folder = text.source.removesuffix("/.info/version")
    if hit := text.first(r"\A(?P<version>\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)"):
        yield hit.states(Toolkit, name="rocm", version=hit["version"], path=folder)


@reads(Toolkit, inputs=[Listing("/usr/lib/{x86_64-linux-gnu,aarch64-linux-gnu}/libamdhip64.so.*"), Listing("/usr/lib64/libamdhip64.so.*")])
def rocm_of_distribution(text: Text) -> Statements:
    """ROCm as a distribution packs it: the version is the library's own."""
    for hit in text.each(r"(?P<path>/\S{1,120}/libamdhip64\.so\.(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,5})?))[^\n]{0,40}$"):
        yield hit.states(Toolkit, name="rocm", version=hit["version"], path="/usr")
