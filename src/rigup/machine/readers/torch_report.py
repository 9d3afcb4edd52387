"""What torch says of itself in people's reports, whoever asked it: `collect_env` and its many kin.

Line by line, for people cut reports anywhere; the statements merge.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rigup.knowledge.chips import isa_of_capability
from rigup.machine.facts import Fact
from rigup.machine.kinds import Cpu, Distribution, Driver, Gpu, Platform, PythonEnv, Toolkit, Torch, Variable
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.rocm_smi import gfx
from rigup.machine.readers.systems import os_of
from rigup.machine.readers.values import Draft, known_value, platform_of, says, truth, vendor_of, version
from rigup.machine.texts import Hit, Text

_BULLET = r"^[> \t*•-]{0,12}"
_VERSION = r"(?P<version>\d+\.\d+[\w.]{0,30}(?:\+[\w.]{1,30})?)"


class Row(NamedTuple):
    """A line of a report, and what its groups are of a fact."""

    kind: type[Fact]
    regex: str
    said: Mapping[str, Any] = MappingProxyType({})


def none_or(value: str) -> str | None:
    """The build's CUDA or HIP; for "none" there are several words."""
    return version(value) if value[:1].isdigit() else None


def available(value: str) -> bool | None:
    """transformers names the accelerator, or prints True."""
    return True if value.upper() in ("CUDA", "ROCM", "XPU", "MPS", "NPU") else truth(value)


# Fields that may be None are known absences then; others are unknown.
_CONVERT: dict[str, Callable[[str], Any]] = {
    "available": available,
    "mps_available": truth,
    "mps_built": truth,
    "xpu_available": truth,
    "devices": int,
}
_ABSENCES = ("cuda", "hip")

_ROWS = (
    # torch.utils.collect_env, vllm collect-env
    Row(
        Torch,
        _BULLET
        + r"PyTorch version {0,40}(?:\([^)\n]{1,20}\))? {0,40}[:：] {0,40}"
        + _VERSION
        + r"(?: +\((?P<available>True|False|CUDA|ROCM|XPU|MPS|NPU)\))?",
    ),
    Row(Torch, _BULLET + r"Is CUDA available {0,40}: {0,40}(?P<available>True|False|Yes|No)\b"),
    Row(Torch, _BULLET + r"Is XPU available {0,40}: {0,40}(?P<xpu_available>True|False)\b"),
    Row(Driver, _BULLET + r"Nvidia driver version {0,40}: {0,40}(?P<version>\d{2,4}\.[\d.]{1,12})", {"vendor": "nvidia"}),
    Row(Toolkit, _BULLET + r"CUDA runtime version {0,40}: {0,40}(?P<version>\d{1,2}\.\d[\d.]{0,12})", {"name": "cuda"}),
    Row(PythonEnv, _BULLET + r"Python version {0,40}: {0,40}(?P<version>\d\.\d{1,2}(?:\.\d{1,2})?)\b"),
    # mmcv, mmengine, sglang
    Row(Torch, _BULLET + r"PyTorch {0,40}: {0,40}" + _VERSION),
    Row(Torch, _BULLET + r"(?:CUDA|ROCM) available {0,40}: {0,40}(?P<available>True|False)\b"),
    Row(PythonEnv, _BULLET + r"Python {0,40}: {0,40}(?P<version>\d\.\d{1,2}\.\d{1,2})\b"),
    Row(Driver, _BULLET + r"CUDA Driver Version {0,40}: {0,40}(?P<version>\d{3}\.[\d.]{1,12})", {"vendor": "nvidia"}),
    Row(Driver, _BULLET + r"ROCM Driver Version {0,40}: {0,40}(?P<version>\d+\.[\d.]{1,12})", {"vendor": "amd"}),
    Row(Toolkit, _BULLET + r"NVCC {0,40}: .{0,60}release \d+\.\d+, V(?P<version>[\d.]{3,12})", {"name": "cuda"}),
    # detectron2's table
    Row(Torch, r"^[> \t]{0,40}PyTorch {2,60}" + _VERSION),
    Row(Torch, r"^[> \t]{0,40}GPU available {2,60}(?P<available>True|False|Yes|No)\b"),
    Row(Toolkit, r"^[> \t]{0,40}CUDA compiler {2,60}[^\n]{0,60}release \d+\.\d+, V(?P<version>[\d.]{3,12})", {"name": "cuda"}),
    Row(Driver, r"^[> \t]{0,40}Driver version {2,60}(?P<version>\d{3}\.[\d.]{1,12})", {"vendor": "nvidia"}),
    # Lightning
    Row(Torch, r"^[> \t*-]{0,40}torch: {2,60}" + _VERSION),
    # ComfyUI, unsloth
    Row(Torch, r"^[> \t\[\]A-Z]{0,20}pytorch version: " + _VERSION),
    Row(Torch, r"Pytorch: (?P<version>\d+\.\d+\.\d+\S{0,30}?)\. CUDA[ :=]"),
)


@reads(
    adds=(Torch, PythonEnv, Driver, Toolkit, Gpu, Cpu, Platform, Distribution, Variable),
    marks=(
        "PyTorch version",
        "Is CUDA available",
        "CUDA used to build PyTorch",
        "ROCM used to build PyTorch",
        "GPU models and configuration",
        "Nvidia driver version",
        "CUDA available:",
        "GPU available",
        "PyTorch:",
        "pytorch version:",
        "Python platform",
        "Accelerate` version",
        "* CUDA:",
        "* Lightning:",
        "transformers` version",
        "Pytorch: ",
    ),
)
def torch_report(text: Text) -> Statements:
    """collect_env of torch, vllm, sglang, mmcv, detectron2, transformers, accelerate, diffusers, Lightning."""
    for row in _ROWS:
        for hit in text.each(row.regex):
            yield from _row(hit, row)
    yield from _build(text)
    for hit in text.each(_BULLET + r"(?:Python platform|[Pp]latform) {0,40}: {0,40}(?P<value>(?:Linux|Windows|macOS|Darwin)-\S{3,120})"):
        yield from platform_of(text, hit.match.start("value"), hit["value"])
        yield from _built_for(hit, hit["value"])
    for hit in text.each(_BULLET + r"OS {0,40}: {0,40}(?P<value>[^\n]{3,120})$"):
        yield from os_of(text, hit.match.start("value"), hit["value"])
        yield from _built_for(hit, hit["value"])
    for hit in text.each(r"^[> \t]{0,40}CPU:[ \t]*\n[> \t]{0,40}(?P<model>Apple [^\n]{2,40}?)[ \t]*$"):
        yield hit.states(Cpu, model=hit["model"])
    yield from _gpus(text)
    yield from _lightning(text)
    yield from _variables(text)


def _row(hit: Hit, row: Row) -> Iterator[Fact]:
    draft = Draft(hit.text, row.kind, hit.start)
    for name, value in row.said.items():
        draft.add(name, value)
    for name, value in hit.found().items():
        draft.add(name, _CONVERT.get(name, known_value)(value), hit.match.start(name))
    yield from draft.facts(*row.said)


def _build(text: Text) -> Iterator[Torch]:
    """What torch was built for. A report without torch has N/A in both lines and says nothing."""
    if text.first(_BULLET + r"PyTorch version {0,40}: {0,40}N/A"):
        return
    for regex in (
        r"CUDA used to build PyTorch {0,40}: {0,40}(?P<cuda>[^\n]{1,40})$",
        r"ROCM used to build PyTorch {0,40}: {0,40}(?P<hip>[^\n]{1,60})$",
    ):
        for hit in text.each(_BULLET + regex):
            draft = Draft(text, Torch, hit.start)
            for name, value in hit.found().items():
                draft.add(name, none_or(value))
                draft.lacks(name)
            yield from draft.facts()


def _built_for(hit: Hit, value: str) -> Iterator[Torch]:
    """The platform of the Python that ran torch is what that torch is built for."""
    low, draft = value.lower(), Draft(hit.text, Torch, hit.start)
    system = "windows" if "windows" in low else "macos" if low.startswith(("mac", "darwin")) else "linux"
    machine = re.search(r"x86_64|aarch64|arm64|ppc64le", value)
    if "wsl" not in low and (machine or system == "windows"):
        draft.add("platform", f"{system}-{machine[0] if machine else 'x86_64'}")
    yield from draft.facts()


_MANY = r"(?P<index>\d{1,3}(?:, ?\d{1,3}){0,64})"
_GPU_LINE = r"^[> \t]{0,40}(?:GPU models and configuration {0,40}: {0,40})?GPU (?P<index>\d{1,3}) ?[:：] {0,40}(?P<name>[^\n(:]{3,70}?(?: \(nvgpu\))?) {0,40}$"
_GPU_OF_HIP = (
    r"GPU models and configuration {0,40}: {0,40}(?!GPU \d)(?P<name>[^\n(]{3,70}?) {0,40}\((?P<shown>gfx[0-9a-f]{3,4})[^)\n]{0,40}\)"
)
_GPU_MANY = r"^[> \t]{0,40}GPU " + _MANY + r" {0,40}: {0,40}(?P<name>(?!Compute)[^\n(]{3,70}?) {0,40}$"
_GPU_TABLE = r"^[> \t]{0,40}GPU " + _MANY + r" {2,60}(?P<name>[^\n(]{3,70}?)(?: \(arch=(?P<capability>\d+\.\d)\))? {0,40}$"
_GPU_CAPABILITY = r"^[> \t]{0,40}GPU " + _MANY + r" Compute Capability {0,40}: {0,40}(?P<capability>\d+\.\d) {0,40}$"
_GPU_TYPE = (
    _BULLET
    + r"(?:GPU type|Accelerator|Using GPU in script\?|GPU models and configuration(?![^\n]{0,120}\(gfx)) {0,40}: {0,40}(?P<name>(?:NVIDIA|AMD|Tesla|GeForce|Quadro|Radeon|Intel)[^\n,]{3,70})(?:, (?P<mib>\d{3,7}) MiB)?"
)
_COMFY = r"Device: (?:cuda|xpu):(?P<index>\d{1,2}) (?P<name>[^\n:]{3,70}?)(?: \[ZLUDA\])?(?: : \w{3,20})? {0,40}$"


def _gpus(text: Text) -> Iterator[Gpu]:
    forms = (_GPU_MANY, _GPU_TABLE) if re.search(r"ROCM available|\+rocm", text.body) else (_GPU_MANY, _GPU_TABLE, _GPU_CAPABILITY)
    many = [hit for regex in forms for hit in text.each(regex)]  # HIP's capability is no ISA
    if "GPU models and configuration" in text.body or "PyTorch version" in text.body:
        for hit in text.each(_GPU_LINE):  # collect_env asks `nvidia-smi -L`
            yield from _gpu(hit, "nvml_index", int(hit["index"]))
    if text.first(r"^[> \t*-]{0,12}(?:(?:CUDA|ROCM) available {0,40}:|GPU available {2})"):  # these ask torch
        for hit in many:
            for index in re.findall(r"\d+", hit["index"]):
                yield from _gpu(hit, "runtime_index", int(index))
    for hit in text.each(_GPU_OF_HIP):
        yield from _gpu(hit, "runtime_index", 0, "amd")
    for hit in text.each(_COMFY):
        yield from _gpu(hit, "runtime_index", int(hit["index"]))
    for hit in text.each(_GPU_TYPE):
        yield from _gpu(hit, "", 0)


def _gpu(hit: Hit, key: str, index: int, maker: str = "") -> Iterator[Gpu]:
    groups = hit.found()
    name = known_value(groups.get("name", ""))
    if "name" in groups and (not name or re.match(r"(?i)no cuda|could not|none\b|compute cap", name)):
        return
    draft = Draft(hit.text, Gpu, hit.start)
    draft.add("vendor", maker or vendor_of(name or "") or ("nvidia" if key == "nvml_index" or "capability" in groups else None))
    draft.add("name", name)
    if key:
        draft.add(key, index)
    draft.add("isa", isa_of_capability(groups["capability"]) if "capability" in groups else None)
    draft.add("shown_isa", gfx(groups["shown"]) if "shown" in groups else None)
    draft.add("vram", int(groups["mib"]) * 2**20 if "mib" in groups else None)
    if draft.has("vendor"):
        draft.add("seen_by", "nvidia-smi" if key == "nvml_index" else "torch")
        yield from draft.facts("vendor", "seen_by", key)


_LIGHTNING = r"^[> \t]{0,40}\* ?CUDA:[ \t]*\n(?P<block>(?:[> \t]{0,40}-[^\n]{0,200}\n?|[> \t]{0,40}\n){1,80})"


def _lightning(text: Text) -> Iterator[Fact]:
    """Lightning's collect_env_details: a list of cards, whether CUDA is there, and the build's CUDA."""
    for hit in text.each(_LIGHTNING):
        start, index = hit.match.start("block"), 0
        for line in re.finditer(r"-[ \t]{1,8}([^\n:]{2,80}?)(?::[ \t]{0,40}([^\n]{0,60}))?[ \t]*(?:\n|$)", hit["block"]):
            key, value, at = line[1], (line[2] or "").strip(), start + line.start()
            if key == "available" and truth(value) is not None:
                yield from says(text, Torch, at, available=truth(value))
            elif key == "version" and value:
                draft = Draft(text, Torch, at)
                draft.add("cuda", none_or(value))
                draft.lacks("cuda")
                yield from draft.facts()
            elif line[2] is None and vendor_of(key):
                yield from says(text, Gpu, at, vendor=vendor_of(key), name=key, runtime_index=index, seen_by="torch")
                index += 1


def _variables(text: Text) -> Iterator[Variable]:
    """vllm lists variables at its end."""
    start = next((hit.start for hit in text.each(r"^[> \t]{0,40}(?:vLLM Version|vLLM Build Flags|Environment Variables)\b")), None)
    if start is None:
        return
    for hit in text.each(r"^[> \t]{0,40}(?P<name>[A-Z][A-Z0-9_]{2,60})=(?P<value>[^\n]{0,2000})$"):
        if hit.start > start:
            yield hit.states(Variable, **hit.found())
