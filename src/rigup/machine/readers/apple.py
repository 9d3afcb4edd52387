"""Macs: system_profiler, sw_vers, sysctl, platform strings, mactop and macmon."""

import json
import re
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.facts import Fact
from rigup.machine.kinds import Cpu, Gpu, Memory, Platform, PythonEnv
from rigup.machine.reader import Run, Statements, reads
from rigup.machine.readers.rocm_smi import decoded
from rigup.machine.readers.values import Draft, keyed, known_value, pci_id, platform_of, size, vendor_of
from rigup.machine.texts import Text

_CHIP = lazy_regex(r"Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?\b")
_IDS = {"nvidia": "10de", "amd": "1002", "intel": "8086"}


@reads(
    adds=(Gpu,),
    inputs=[Run(("system_profiler", "-json", "SPDisplaysDataType", "SPHardwareDataType"), seconds=15, says="SPDisplaysDataType")],
    marks=("SPDisplaysDataType", "sppci_model", "chip_type"),
)
def profiler_json(text: Text) -> Statements:
    """`system_profiler -json`: the GPUs, and the machine's chip and memory."""
    start = text.body.find("{")
    answer = decoded(text.body, start) if start >= 0 else None
    for entry in _entries(answer, "SPDisplaysDataType"):
        yield from _display(text, entry)
    for entry in _entries(answer, "SPHardwareDataType"):
        yield from _hardware(text, str(entry.get("chip_type", "")), str(entry.get("physical_memory", "")))


def _entries(answer: Any, kind: str) -> list[dict[str, Any]]:
    rows = answer.get(kind) if isinstance(answer, dict) else None
    return [entry for entry in rows[:64] if isinstance(entry, dict)] if isinstance(rows, list) else []


def _display(text: Text, entry: dict[str, Any]) -> Iterator[Gpu]:
    name = str(entry.get("sppci_model") or entry.get("_name") or "")
    maker = vendor_of(name) or vendor_of(str(entry.get("spdisplays_vendor", "")).replace("_", " "))
    draft = Draft(text, Gpu, max(text.body.find(f'"{name}"'), 0))
    draft.add("vendor", maker)
    draft.add("name", known_value(name))
    draft.add("integrated", True if maker == "apple" or "builtin" in str(entry.get("sppci_bus", "")) else None)
    draft.add("vram", size(str(entry.get("spdisplays_vram", ""))))
    draft.add("pci_id", pci_id(_IDS.get(maker or "", ""), str(entry.get("spdisplays_device-id", ""))))
    if draft.get("name"):
        yield from draft.facts("name")


def _hardware(text: Text, chip: str, memory: str, at: int = 0) -> Iterator[Fact]:
    """Chip and memory; an Apple GPU has all of that memory."""
    where = max(text.body.find(chip, at), at) if chip else at
    total = size(memory)
    if chip:
        cpu = Draft(text, Cpu, where)
        cpu.add("model", known_value(chip))
        yield from cpu.facts()
    if total:
        ram = Draft(text, Memory, max(text.body.find(memory, at), at))
        ram.add("total", total)
        yield from ram.facts()
    if match := _CHIP.match(chip):
        draft = Draft(text, Gpu, where)
        for name, value in (("vendor", "apple"), ("name", match[0]), ("integrated", True), ("unified", total)):
            draft.add(name, value)
        yield from draft.facts()


@reads(adds=(Gpu, Cpu, Memory), marks=("Chipset Model:", "Hardware Overview", "Model Identifier:"))
def profiler_text(text: Text) -> Statements:
    """`system_profiler SPDisplaysDataType SPHardwareDataType` as it prints."""
    heads = list(text.each(r"^[> \t]{0,40}Chipset Model: (?P<name>[^\n]{2,80})$"))[:64]
    for at, hit in enumerate(heads):
        end = heads[at + 1].start if at + 1 < len(heads) else min(hit.start + 1500, len(text.body))
        values = {line.key: line.value for line in keyed(text, hit.match.end(), end)}
        vendor = re.search(r"\(0x([0-9a-f]{4})\)", values.get("Vendor", ""))
        draft = Draft(text, Gpu, hit.start)
        maker = vendor_of(hit["name"]) or vendor_of(values.get("Vendor", ""))
        draft.add("vendor", maker)
        draft.add("name", known_value(hit["name"]))
        draft.add("integrated", True if maker == "apple" or values.get("Bus") == "Built-In" else None)
        draft.add("vram", size(values.get("VRAM (Total)", "")))
        draft.add("pci_id", pci_id(vendor[1], values.get("Device ID", "")) if vendor and maker != "apple" else None)
        yield from draft.facts()
    lines = {line.key: line for line in keyed(text)} if "Hardware Overview" in text.body or "Model Identifier:" in text.body else {}
    chip, memory = lines.get("Chip"), lines.get("Memory")
    if chip or memory:
        yield from _hardware(text, chip.value if chip else "", memory.value if memory else "", (chip or memory or lines["Chip"]).start)


@reads(adds=(Platform,), inputs=[Run(("sw_vers",))], marks=("ProductVersion:",))
def sw_vers(text: Text) -> Statements:
    """`ProductName: macOS`, `ProductVersion: 14.4.1`."""
    for hit in text.each(r"^[> \t]{0,40}ProductVersion:[ \t]{0,20}(?P<version>\d{2}(?:\.\d{1,3}){0,2})"):
        yield hit.states(Platform, system="macos", version=hit["version"])


@reads(adds=(Cpu, Memory, Platform), marks=("machdep.cpu.brand_string", "hw.memsize", "sysctl.proc_translated"))
def sysctl(text: Text) -> Statements:
    """`machdep.cpu.brand_string: Apple M1 Pro`, or the answer on the line after the question."""
    for hit in text.each(r"machdep\.cpu\.brand_string(?:[:=][ \t]{0,4}|[ \t]*\n)(?P<model>[A-Z][^\n]{3,80})$"):
        yield hit.states(Cpu, model=hit["model"].strip())
        yield hit.states(Platform, system="macos")
    for hit in text.each(r"hw\.memsize(?:[:=][ \t]{0,4}|[ \t]*\n)(?P<total>\d{8,15})$"):
        yield hit.states(Memory, total=int(hit["total"]))
    if translated := text.first(r"sysctl\.proc_translated[:=][ \t]{0,4}1\b"):  # Rosetta runs on Apple's chips alone
        yield translated.states(Platform, system="macos", architecture="arm64")


@reads(adds=(Platform, PythonEnv), marks=("-arm64-arm-64bit", "-x86_64-i386-64bit"))
def mac_platform(text: Text) -> Statements:
    """`macOS-14.4-arm64-arm-64bit`; Python's architecture under Rosetta is x86_64 on either kind of Mac."""
    for hit in text.each(r"(?P<all>(?:macOS|Darwin)-[\d.]{2,12}(?:-[\w.]{2,20})?-(?P<machine>arm64|x86_64)-(?:arm|i386)-64bit)"):
        yield from platform_of(text, hit.start, hit["all"])
        yield hit.states(PythonEnv, machine=hit["machine"])


@reads(adds=(Platform, PythonEnv), marks=("RELEASE_ARM64_", "RELEASE_X86_64", "processor:"))
def darwin_kernel(text: Text) -> Statements:
    """`Darwin Kernel Version 21.6.0: … RELEASE_ARM64_T6000`: the kernel's own words; lightning tells Python's processor beside them."""
    for hit in text.each(r"\bRELEASE_(?P<machine>ARM64|X86_64)(?:_[A-Z]{1,4}\d{3,5})?\b"):
        yield hit.states(Platform, system="macos", architecture="arm64" if hit["machine"] == "ARM64" else "x86_64")
    if "Darwin" in text.body:
        for hit in text.each(r"^[ \t>*-]{0,12}processor:[ \t]{1,20}(?P<machine>i386|arm)[ \t]*$"):
            yield hit.states(PythonEnv, machine="x86_64" if hit["machine"] == "i386" else "arm64")


@reads(adds=(Gpu, Cpu, Memory), marks=('"soc_metrics"', '"chip_name"', '"ane_power"'))
def mac_monitors(text: Text) -> Statements:
    """mactop and macmon, which run on Apple's chips alone: the name, where it is printed, and the memory."""
    memory = re.search(r"\"memory\"\s{0,8}:\s{0,8}(\{[^{}]{0,1000}\})", text.body)
    total = _total(memory[1]) if memory else None
    if hit := text.first(r"\"ane_power\""):
        yield hit.states(Gpu, vendor="apple", integrated=True, **({"unified": total} if total else {}))
    for hit in text.each(r"\"(?:chip_name|name)\"\s{0,8}:\s{0,8}\"(?P<chip>Apple M\d[^\"\n]{0,20})\""):
        yield from _hardware(text, hit["chip"], str(total or ""), 0)


def _total(memory: str) -> int | None:
    try:
        report = json.loads(memory)
    except (ValueError, RecursionError):
        return None
    total = report.get("total", report.get("ram_total"))
    return total if isinstance(total, int) else None
