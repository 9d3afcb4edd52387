"""Intel's own lists of devices: sycl-ls, xpu-smi, intel_gpu_top, llama.cpp's SYCL table."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from rigup.knowledge.chips import isa_of_capability
from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Gpu, PathLibrary, Torch
from rigup.machine.reader import Listing, Statements, reads
from rigup.machine.readers.rocm_smi import gfx
from rigup.machine.readers.values import Draft, address, known_value, pci_id, size, vendor_of
from rigup.machine.texts import Hit, Text

# "[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3 [1.3.26918]", and the older
# "[ext_oneapi_level_zero:gpu:0] Intel(R) Level-Zero, …"
_SYCL = (
    r"^[> \t]{0,40}\[(?P<api>[a-z_]{3,30}):gpu(?:\]\[[a-z_]{3,30})?:(?P<index>\d{1,3})\] (?P<platform>[^,\n]{2,80}), "
    r"(?P<name>[^\n\[]{2,120}?)[ \t]*(?:\[[^\]\n]{0,80}\])?[ \t]*$"
)
_TAIL = lazy_regex(r"(?: OpenCL \d\.\d[^\n]*| \d{1,3}(?:\.\d{1,6}){1,3}| gfx\w{3,60}(?::\S{1,40})?)(?: NEO)?\s*$")
_MARKS = lazy_regex(r"\((?:R|TM|r|tm)\)")


def plain(name: str) -> str:
    """Intel's names without their trade marks."""
    return re.sub(r" {2,}", " ", _MARKS.sub("", name)).strip()


@reads(adds=(Gpu,), marks=("[opencl:gpu", "[level_zero:gpu", "[ext_oneapi_", "level_zero:gpu"))
def sycl_ls(text: Text) -> Statements:
    """Each device stands there once for each way to reach it; Level Zero's list counts, else OpenCL's."""
    lines = list(text.each(_SYCL))
    direct = [hit for hit in lines if hit["api"] != "opencl"]
    makers = {vendor_of(hit["name"]) for hit in direct}
    for hit in (*direct, *(hit for hit in lines if hit["api"] == "opencl" and vendor_of(hit["name"]) not in makers)):
        tail = _TAIL.search(hit["name"])
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", _maker(hit))
        draft.add("runtime_index", int(hit["index"]) if hit["api"] != "opencl" else None)
        draft.add("name", known_value(plain(_TAIL.sub("", hit["name"]))))
        if tail and "cuda" in hit["api"]:
            draft.add("isa", isa_of_capability(tail[0].strip()))
        draft.add("shown_isa", gfx(tail[0]) if tail else None)
        yield from draft.facts("vendor", "runtime_index")


def _maker(hit: Hit) -> str | None:
    return vendor_of(hit["name"]) or vendor_of(hit["platform"])


_GGML_ROW = r"^[> \t]{0,40}\| *(?P<index>\d{1,2}) *\| *\[level_zero:gpu:\d{1,2}\] *\| *(?P<name>[^|\n]{3,80}?) *\|(?:[^|\n]{0,20}\|){4} *(?P<memory>\d{1,9}[MG]) *\|"


@reads(adds=(Gpu,), marks=("[level_zero:gpu:",))
def ggml_sycl(text: Text) -> Statements:
    """llama.cpp's table: `| 0| [level_zero:gpu:0]| Intel Arc A770 Graphics| 1.5| 512| 1024| 32| 16225M|`."""
    for hit in text.each(_GGML_ROW):
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "intel")
        draft.add("runtime_index", int(hit["index"]))
        draft.add("name", known_value(plain(hit["name"])))
        draft.add("vram", size(hit["memory"]), rank=-1)
        yield from draft.facts()


_XPU_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "Device Name": ("name", plain),
    "PCI BDF Address": ("pci_address", address),
    "Memory Physical Size": ("vram", size),
    "PCI Device ID": ("pci_id", lambda value: pci_id("8086", value)),
    "Device ID": ("pci_id", lambda value: pci_id("8086", value)),
}


@reads(adds=(Gpu,), marks=("PCI BDF Address", "Device Information"))
def xpu_smi(text: Text) -> Statements:
    """`xpu-smi discovery`: a cell with several lines for each device."""
    for match in re.finditer(
        r"^\| *(\d{1,3})? *\| *(Device Type: GPU|Device Name: [^|\n]{2,100})[^\n]*((?:\n\| {3,}\|[^\n]{0,300}){0,40})",
        text.body,
        re.MULTILINE,
    ):
        yield from _xpu_device(text, match)


def _xpu_device(text: Text, match: re.Match[str]) -> Iterator[Gpu]:
    draft = Draft(text, Gpu, match.start())
    draft.add("vendor", "intel")
    draft.add("nvml_index", int(match[1]) if match[1] else None)
    for line in re.finditer(r"\| *(Device Name|PCI BDF Address|Memory Physical Size|PCI Device ID|Device ID): *([^|\n]{1,100})", match[0]):
        field, convert = _XPU_FIELDS[line[1]]
        draft.add(field, convert(line[2].strip()), match.start() + line.start(2))
    yield from draft.facts("vendor", "nvml_index")


@reads(adds=(Gpu,), marks=("pci:vendor=8086",))
def intel_gpu_top(text: Text) -> Statements:
    """`intel_gpu_top -L`: `card1 Intel Dg2 (Gen12) pci:vendor=8086,device=56A0,card=0`."""
    for hit in text.each(r"^[> \t]{0,40}card(?P<card>\d{1,3}) [^\n]{0,100}pci:vendor=8086,device=(?P<device>[0-9A-Fa-f]{4})"):
        yield hit.states(Gpu, vendor="intel", pci_id="8086:" + hit["device"].lower(), adapter=int(hit["card"]))


_XPU_ASKED = (
    r"(?:\bxpu\.is_available\(\)|\bXPU[^\n]{0,24}\b(?:available|[Aa]vailability)|\bxpu[_ ](?:is_)?available)"
    r"[^\n]{0,24}?(?:\n[^\n]{0,20}?)?(?<=[\s:=?#>)\"'}`])(?P<value>True|False)\b"
)
_XPU_FOUND = r"_XpuDeviceProperties\(name='(?P<name>[^'\n]{3,80})'[^\n]{0,400}?total_memory=(?P<memory>\d{2,7}MB)"


@reads(adds=(Torch, Gpu), marks=("xpu", "XPU", "_XpuDeviceProperties"), rank=0)
def xpu_answers(text: Text) -> Statements:
    """`torch.xpu.is_available()` and its answer, also as people print it; the devices that torch describes."""
    for hit in text.near(_XPU_ASKED, sorted((*text.spots("xpu"), *text.spots("XPU"))), lines=2):
        yield hit.states(Torch, xpu_available=hit["value"] == "True")
    for hit in text.near(_XPU_FOUND, text.spots("_XpuDeviceProperties")):
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "intel")
        draft.add("name", known_value(plain(hit["name"])))
        draft.add("vram", size(hit["memory"]), rank=-1)
        yield from draft.facts("vendor")


@reads(inputs=[Listing("{PythonEnv.prefix}/lib/lib{sycl,mkl_sycl*}.so*")], adds=(PathLibrary,))
def libraries_of_wheels(text: Text) -> Statements:
    """Intel's wheels put their libraries beside the environment's own: `/home/ada/xpu/lib/libsycl.so.8`."""
    for hit in text.each(
        r"(?P<path>(?P<folder>/[^\n]{0,250}?)/(?P<soname>lib(?:sycl|mkl_sycl\w{0,20})\.so(?:\.\d{1,3}){0,3}))(?: -> [^\n]{1,200})?$"
    ):
        yield hit.states(PathLibrary, path=hit["path"], folder=hit["folder"], soname=hit["soname"], stub=False)
