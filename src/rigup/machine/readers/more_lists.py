"""Lists of devices in further forms: xpu-smi's tables as data, parts of rocminfo, Apple's chip in a person's own list."""

import re
from typing import Any

from rigup.machine.kinds import Gpu
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.intel import plain
from rigup.machine.readers.rocm_smi import decoded
from rigup.machine.readers.values import Draft, address, known_value, pci_id, size, vendor_of
from rigup.machine.texts import Text

_MOST = 64


@reads(adds=(Gpu,), marks=("Device ID,",))
def xpu_smi_csv(text: Text) -> Statements:
    """`xpu-smi discovery --dump 1,2,6,16`: a head line, and a line for each device."""
    import csv

    for head in text.each(r"^(?P<names>Device ID,[^\n]{3,2000})\n(?P<rows>(?:\d{1,3},[^\n]{3,2000}(?:\n|\Z)){1,64})"):
        names = [name.strip() for name in next(csv.reader([head["names"]]), [])]
        for row in csv.reader(head["rows"].splitlines()):
            values = dict(zip(names, row, strict=False))
            draft = Draft(text, Gpu, head.match.start("rows"))
            draft.add("vendor", "intel")
            draft.add("nvml_index", int(values["Device ID"]) if values["Device ID"].isdigit() else None)
            draft.add("name", known_value(plain(values.get("Device Name", ""))))
            draft.add("pci_address", address(values.get("PCI BDF Address", "")))
            draft.add("vram", size(values.get("Memory Physical Size", ""), "m"))
            yield from draft.facts("vendor", "nvml_index")


@reads(adds=(Gpu,), marks=('"pci_bdf_address"',))
def xpu_smi_json(text: Text) -> Statements:
    """`xpu-smi discovery -j`: `{"device_list": [{"device_id": 0, "device_name": …, "pci_bdf_address": …}]}`."""
    start = re.search(r"^[^\S\n]{0,20}\{", text.body, re.MULTILINE)
    answer: Any = decoded(text.body, start.end() - 1) if start else None
    listed = answer.get("device_list", [answer]) if isinstance(answer, dict) else []
    for device in listed[:_MOST] if isinstance(listed, list) else ():
        if isinstance(device, dict) and "pci_bdf_address" in device:
            draft = Draft(text, Gpu, max(text.body.find(str(device["pci_bdf_address"])), 0))
            draft.add("vendor", "intel")
            draft.add("nvml_index", device["device_id"] if isinstance(device.get("device_id"), int) else None)
            draft.add("name", known_value(plain(str(device.get("device_name", "")))))
            draft.add("pci_address", address(str(device["pci_bdf_address"])))
            draft.add("pci_id", pci_id("8086", str(device.get("pci_device_id", ""))))
            draft.add("vram", size(str(device.get("memory_physical_size_byte", ""))))
            yield from draft.facts("vendor", "nvml_index")


_PART = r"^[> \t]{0,40}Name: {1,40}(?P<isa>gfx[0-9a-f]{3,4})[ \t]*\n(?P<rest>(?:[> \t]{0,40}[A-Z][^\n]{2,100}\n?){1,60})"


@reads(adds=(Gpu,), marks=("Marketing Name:",))
def agent_without_head(text: Text) -> Statements:
    """One agent cut out of rocminfo, without the stars and the number above it."""
    if text.first(r"^[> \t]{0,40}Agent \d{1,3}\b"):
        return
    for hit in text.each(_PART):
        name, chip = (
            re.search(r"Marketing Name: {1,40}([^\n]{2,60}?)[ \t]*$", hit["rest"], re.MULTILINE),
            re.search(r"Chip ID: {1,40}\d{1,6}\(0x([0-9a-f]{4})\)", hit["rest"]),
        )
        place = re.search(r"BDFID: {1,40}(\d{1,6})\b", hit["rest"])
        if name and (chip or place):
            draft = Draft(text, Gpu, hit.start)
            draft.add("vendor", "amd")
            draft.add("shown_isa", hit["isa"])
            draft.add("name", known_value(name[1]))
            draft.add("pci_id", pci_id("1002", chip[1]) if chip else None)
            draft.add("pci_address", _bdf(int(place[1])) if place else None)
            yield from draft.facts("vendor")


_CUT = r"^[> \t]{0,40}Node: {1,40}(?P<node>\d{1,2})[ \t]*\n[> \t]{0,40}Device Type: {1,40}GPU[ \t]*\n(?P<rest>(?:[> \t]{0,40}[A-Z][^\n]{2,100}\n?){1,40})"


@reads(adds=(Gpu,), marks=("Device Type: ",))
def agent_without_names(text: Text) -> Statements:
    """An agent of rocminfo from its middle on: its number as the kernel counts, its chip and its place."""
    if text.first(r"^[> \t]{0,40}Agent \d{1,3}\b|^[> \t]{0,40}Name: {1,40}gfx"):
        return
    for hit in text.each(_CUT):
        chip = re.search(r"Chip ID: {1,40}\d{1,6}\(0x([0-9a-f]{4})\)", hit["rest"])
        place = re.search(r"BDFID: {1,40}(\d{1,6})\b", hit["rest"])
        if chip:
            draft = Draft(text, Gpu, hit.start)
            draft.add("vendor", "amd")
            draft.add("kfd_node", int(hit["node"]))
            draft.add("pci_id", pci_id("1002", chip[1]))
            draft.add("pci_address", _bdf(int(place[1])) if place else None)
            yield from draft.facts("vendor")


def _bdf(number: int) -> str | None:
    return f"0000:{number >> 8 & 0xFF:02x}:{number >> 3 & 0x1F:02x}.{number & 7}" if number else None


@reads(adds=(Gpu,), marks=("Chipset Model: Apple",), rank=0)
def noted_chip(text: Text) -> Statements:
    """`- Chipset Model: Apple M1 Pro` in a person's own list."""
    if hit := text.first(
        r"^[> \t]{0,20}[-*•+] {1,4}(?:\*\*)?Chipset Model:(?:\*\*)?[ \t]{1,8}(?P<name>Apple M\d{1,2}(?: (?:Pro|Max|Ultra))?)\b"
    ):
        yield hit.states(Gpu, vendor="apple", name=hit["name"], integrated=True)


@reads(adds=(Gpu,), marks=("] NVIDIA ", "] AMD ", "] Intel"), rank=0)
def numbered_names(text: Text) -> Statements:
    """`[0] NVIDIA GeForce RTX 4060`: a number in brackets and a product's name, and nothing else but a star."""
    form = r"^[^\n]{0,24}\[(?P<index>\d{1,2})\] (?P<name>(?:NVIDIA|AMD|Intel)[ (][^\n|,:;=\[]{4,60}?)(?:[ \t]{1,4}\(?\d{1,5}(?:\.\d{1,2})? ?[GM]iB\)?)?[ \t*]{0,4}$"
    for hit in list(text.each(form))[:_MOST]:
        if maker := vendor_of(hit["name"]):
            yield hit.states(Gpu, vendor=maker, name=hit["name"], runtime_index=int(hit["index"]))
