"""nvidia-smi's table and its list, of every generation; nvitop and NVML tools that print the same."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from rigup.knowledge.patterns import lazy_regex
from rigup.machine.kinds import Driver, Gpu, Platform
from rigup.machine.reader import Run, Statements, reads
from rigup.machine.readers.values import Draft, address, known_value, size, truth, uuid
from rigup.machine.texts import Hit, Text

_MOST = 1024  # cards of one table
_NEAR = 10  # branches between the release for Linux and the one for Windows that come out together
# "NVIDIA-SMI 535.54.03  Driver Version: 535.54.03  CUDA Version: 12.2"; from 610 on KMD and CUDA UMD Version.
_BANNER = (
    r"(?:Driver|KMD) Version *: *(?P<version>\d{2,4}\.[\d.]*\d)"
    r"(?:[^:\n]{0,40}?CUDA (?:UMD |Driver )?Version *: *(?P<cuda>[\d.]+|N/A|ERR!))?"
)
# "|   0  NVIDIA GeForce RTX 3090    Off | 00000000:01:00.0 Off |   N/A |"
_CARD = (
    r"^[> \t]{0,40}[|│]? {0,20}(?P<nvml_index>\d{1,3}) +(?P<name>[^|│\n]{3,60}?) +(?P<mode>On|Off|WDDM|TCC|MCDM|N/A|ERR!) *"
    r"[|│] *(?P<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]) +\S{2,5} *(?:[|│] *(?P<ecc>[^|│\s]{1,12}))?"
)
_USAGE = lazy_regex(
    r"(?P<used>\d{1,9}) ?MiB */ *(?P<total>\d{1,9}) ?MiB *[|│] *\S{1,5} +(?P<compute>Default|E\. Process|E\. Thread|"
    r"Prohibited)?"
)
_MIG_MODE = lazy_regex(r"^[> \t]{0,40}[|│]\s{2,}[|│]\s{2,}[|│] *(Enabled|Disabled|N/A)\*? *[|│]", re.MULTILINE)
_MIG_ROW = (
    r"^[> \t]{0,40}\| +(?P<gpu>\d{1,3}) +(?P<gi>\d{1,3}) +(?P<ci>\d{1,3}|N/A) +(?P<dev>\d{1,3}) +"
    r"\| +(?P<used>\d{1,9})MiB */ *(?P<total>\d{1,9})MiB"
)
_LISTED = r"^[> \t]{0,40}GPU (?P<nvml_index>\d{1,3}): (?P<name>[^\n(]{2,80}?) *\(UUID: (?P<uuid>[^)\n]{1,80})\)"
_NO_HANDLE = r"Unable to determine the device handle for (?i:gpu) ?(?P<nvml_index>\d{1,3}): (?P<address>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])"
_MIG_LISTED = lazy_regex(r"^[> \t]{0,40}MIG (\S{2,30}) +Device +(\d{1,3}): \(UUID: ([^)\n]{1,80})\)", re.MULTILINE)
# What it says where there is no card to tell of.
_ANSWERS = r"NVIDIA-SMI|NVML|No devices (?:were )?found|Unable to determine|error while loading shared libraries"
_MODES = {"E. Process": "Exclusive_Process", "E. Thread": "Exclusive_Thread"}


@reads(
    adds=(Driver, Gpu),
    inputs=[Run(("nvidia-smi",), seconds=10, wakes="10de", says=_ANSWERS)],
    marks=("NVIDIA-SMI", "CUDA Version:", "Persistence-M", "MiB /", "KMD Version", "| 00000000:", "| 0000:", "|   00000000:"),
    matched="program",
)
def nvidia_smi(text: Text) -> Statements:
    """The table: banner, cards, MIG devices."""
    yield from _banner(text)
    cards = list(text.each(_CARD))[:_MOST]
    parts = _mig_devices(text)
    for number, hit in enumerate(cards):
        end = cards[number + 1].start if number + 1 < len(cards) else min(hit.start + 1000, len(text.body))
        yield from _card(hit, end, parts.get(int(hit["nvml_index"])))


def _banner(text: Text) -> Iterator[Driver]:
    for hit in text.each(_BANNER):
        draft = Draft(text, Driver, hit.start)
        draft.add("vendor", "nvidia")
        draft.add("version", hit["version"], hit.match.start("version"))
        cuda = hit["cuda"]
        if cuda[:1].isdigit():
            draft.add("cuda", cuda, hit.match.start("cuda"))
        elif cuda == "N/A":  # this world has no libcuda; another may
            draft.lacks("cuda", hit.match.start("cuda"), -1)
        yield from draft.facts()


def _card(hit: Hit, end: int, parts: list[dict[str, Any]] | None) -> Iterator[Gpu]:
    """One card: its line and the next two."""
    text, body = hit.text, hit.text.body
    draft = Draft(text, Gpu, hit.start)
    draft.add("vendor", "nvidia")
    draft.add("nvml_index", int(hit["nvml_index"]))
    draft.add("name", known_value(hit["name"]))
    draft.add("pci_address", address(hit["pci"]))
    draft.add("seen_by", "nvidia-smi")
    draft.add("driver_model" if hit["mode"] in ("WDDM", "TCC", "MCDM") else "persistence", _mode(hit["mode"]))
    draft.add("ecc_errors", int(hit["ecc"]) if hit["ecc"].isdigit() else None)
    if usage := _USAGE.search(body, hit.match.end(), end):
        draft.add("memory_used", size(usage["used"], "m"), usage.start())
        draft.add("vram", size(usage["total"], "m"), usage.start())
        draft.add("compute_mode", usage["compute"] and _MODES.get(usage["compute"], usage["compute"]), usage.start())
    if mig := _MIG_MODE.search(body, hit.match.end(), end):
        on = mig[1] == "Enabled"
        draft.add("mig", on, mig.start())
        draft.add("partitions", (parts or _none(body)) if on else [], mig.start())
    yield from draft.facts()


def _mode(word: str) -> str | bool | None:
    return word if word.endswith(("DM", "CC")) else truth(word)


def _none(body: str) -> list[dict[str, Any]] | None:
    """A MIG card without instances is known only where the table says so."""
    return [] if "No MIG devices found" in body else None


def _mig_devices(text: Text) -> dict[int, list[dict[str, Any]]]:
    """MIG devices by the index of their card. A table shown twice shows them twice."""
    by_gpu: dict[int, dict[str, dict[str, Any]]] = defaultdict(dict)
    for hit in text.each(_MIG_ROW):
        part = {"name": f"GI {hit['gi']} CI {hit['ci']}", "index": int(hit["dev"]), "memory": size(hit["total"], "m")}
        by_gpu[int(hit["gpu"])].setdefault(hit["dev"], part)
    return {card: list(parts.values()) for card, parts in by_gpu.items()}


@reads(adds=(Platform,), marks=("NVIDIA-SMI",), rank=0)
def driver_of_windows(text: Text) -> Statements:
    """`NVIDIA-SMI 530.47  Driver Version: 531.68`: in WSL the tool and the driver are of two versions, Linux's and Windows's, of one time.

    Versions of different times are two drivers whose files were mixed.
    """
    for hit in text.each(
        r"NVIDIA-SMI (?P<tool>\d{3}\.\d{2,3})(?:\.\d{1,2})? {1,40}(?:Driver|KMD) Version: {1,4}(?P<driver>\d{3}\.\d{2,3})"
    ):
        distance = abs(int(float(hit["tool"])) - int(float(hit["driver"])))
        if hit["tool"] != hit["driver"] and distance <= _NEAR:
            yield hit.states(Platform, system="linux", wsl=2)


@reads(adds=(Gpu,), inputs=[Run(("nvidia-smi", "-L"), seconds=10, wakes="10de", says=_ANSWERS)], marks=("(UUID: ",), matched="program")
def nvidia_list(text: Text) -> Statements:
    """`nvidia-smi -L`, and the head lines of nvlink's and other listings."""
    cards = list(text.each(_LISTED))[:_MOST]
    for number, hit in enumerate(cards):
        if known_value(hit["name"]) is None or "Unable" in hit["name"]:
            continue
        end = cards[number + 1].start if number + 1 < len(cards) else len(text.body)
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "nvidia")
        draft.add("nvml_index", int(hit["nvml_index"]))
        draft.add("name", hit["name"])
        draft.add("uuid", uuid(hit["uuid"]))
        draft.add("seen_by", "nvidia-smi")
        if parts := _listed_parts(text, hit.match.end(), end):
            draft.add("mig", True)
            draft.add("partitions", parts, rank=1)  # here alone they have their profiles' names
        elif text.fresh:  # the answer itself, whole: a part would stand below its card
            draft.add("partitions", [], rank=-1)
        yield from draft.facts()
    if cards:
        yield from _lost(text)


def _lost(text: Text) -> Iterator[Gpu]:
    """A card without a handle stands in the list by its number and its place on the bus, between those that answer."""
    for hit in text.each(_NO_HANDLE):
        draft = Draft(text, Gpu, hit.start)
        draft.add("vendor", "nvidia")
        draft.add("nvml_index", int(hit["nvml_index"]))
        draft.add("pci_address", address(hit["address"]))
        yield from draft.facts()


def _listed_parts(text: Text, start: int, end: int) -> list[dict[str, Any]]:
    by_name: dict[str, dict[str, Any]] = {}
    for match in _MIG_LISTED.finditer(text.body, start, min(end, start + 4000)):
        part = {"name": match[1], "index": int(match[2])}
        known = uuid(match[3])
        by_name.setdefault(match[2], {**part, "uuid": known} if known else part)
    return list(by_name.values())
