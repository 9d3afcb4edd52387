"""The answer of `rigup bench`: what was measured of each device, beside its sheet, others, and this machine's past."""

from collections.abc import Iterator
from typing import Any

from rigup.knowledge.speeds import Sheet, data_sheet, results
from rigup.language import _
from rigup.verify.matching import matched
from rigup.verify.observe import Observed, Seen

Answer = dict[str, Any]
SCHEMA = "rigup.bench/1"
_MEMORY = ("memory-copy", "memory-triad", "memory-read")
_LEAST_DROP, _OF_SPREAD = 0.05, 3.0  # a drop is more than that, and more than the spread explains


def answer(observed: Observed, machine: Answer, samples: dict[str, Answer], full: bool) -> Answer:
    """The object that is printed, without a comparison. `samples`: what was watched, by PCI address, and "cpu"."""
    devices = [{**device, "results": []} for device in machine.get("accelerators") or []]
    cpu: Answer = {"name": _cpu(machine), "vendor": "cpu", "results": []}
    for seen in observed.frameworks:
        _add(seen, devices, cpu)
    found = [device for device in (*devices, cpu) if device["results"] or device.get("failed")]
    for device in found:
        _beside(device)
        if told := samples.get("cpu" if device is cpu else str(device.get("pci_address", "")).lower()[-12:]):
            device["watched"] = told
    return {
        "schema": SCHEMA, "mode": "full" if full else "quick",
        "environment": {"prefix": observed.prefix, "interpreter": observed.python, "python": observed.version},
        "packages": observed.packages, "machine": _facts(machine), "devices": found,
    }  # fmt: skip


def _cpu(machine: Answer) -> str:
    found = [cpu.get("model") or cpu.get("name") for cpu in machine.get("cpus") or []]
    return str(next(filter(None, found), "CPU"))


def _facts(machine: Answer) -> Answer:
    """What a figure depends on, and what another machine's is compared by."""
    told = {name: machine.get(name) for name in ("platform", "drivers", "memory")}
    return {name: value for name, value in told.items() if value}


def _add(seen: Seen, devices: list[Answer], cpu: Answer) -> None:
    places = matched([one for one in seen.devices if one["id"] != "cpu"], devices)
    for one in seen.devices:
        target = cpu if one["id"] == "cpu" else devices[places[one["id"]]] if one["id"] in places else None
        if target is None:
            target = {"name": one.get("name") or one["id"], "vendor": one.get("vendor", ""), "results": []}
            devices.append(target)
        target["results"] += list(_results(seen, one["id"]))
        if failed := list(_failed(seen, one["id"])):
            target["failed"] = failed


def _results(seen: Seen, device: str) -> Iterator[Answer]:
    for (where, _check), record in seen.records.items():
        measured = record.get("measured") if where == device else None
        for told in (measured or {}).get("results", ()):
            yield {"framework": seen.name, "device": device, **told, **_swept(measured or {}, told)}


def _swept(measured: Answer, told: Answer) -> Answer:
    return {"sweep": measured["sweep"]} if told["name"] == "matmul" and measured.get("sweep") else {}


def _failed(seen: Seen, device: str) -> Iterator[Answer]:
    for (where, check), record in seen.records.items():
        if where == device and ("died" in record or "error" in record):
            said = (record.get("error") or {}).get("text") or record.get("died")
            yield {"check": check, "because": str(said)[:300]}


# -- beside what it is compared with -----------------------------------------------------------------


def _beside(device: Answer) -> None:
    """The share of the sheet's peak, and what others measured."""
    name = str(device.get("name") or "")
    sheet = data_sheet(name, (device.get("memory") or {}).get("vram"))
    others = results(name)
    for one in device["results"]:
        peak = _peak(sheet, one)
        if sheet is not None and peak:
            one |= {"peak": peak, "share_of_peak": round(one["best"] / peak, 4), "peak_source": sheet.source}
        same = [other for other in others if (other.name, other.type) == (one["name"], one.get("type", ""))]
        if same:
            one["others"] = [
                {"rate": other.rate, "conditions": other.conditions, "source": other.source} for other in same
            ]


def _peak(sheet: Sheet | None, one: Answer) -> float | None:
    if sheet is None:
        return None
    if one["name"] in _MEMORY:
        return sheet.bandwidth
    return sheet.rates.get(str(one.get("type"))) if one["name"].startswith("matmul") else None


def drops(now: Answer, before: list[Answer]) -> list[Answer]:
    """Figures that are lower than the best this machine reached before in the same environment, by more than spread explains."""
    found = []
    for device in now["devices"]:
        for one in device["results"]:
            past = [other for run in before for other in _same(run, device, one) if other.get("median")]
            best = max(past, key=_good, default=None)
            if best is None:
                continue
            lost = 1 - _good(one) / _good(best)
            if lost > max(_LEAST_DROP, _OF_SPREAD * max(one["spread"], best.get("spread", 0.0))):
                found.append({"device": device.get("name"), "name": one["name"], "type": one.get("type"), "was": best["median"],
                              "is": one["median"], "unit": one["unit"], "lost": round(lost, 3)})  # fmt: skip
    return found


def _good(one: Answer) -> float:
    """More is better: of what is told in seconds, its inverse."""
    return 1 / one["median"] if one["unit"] == "s" else float(one["median"])


def _same(run: Answer, device: Answer, one: Answer) -> Iterator[Answer]:
    for other in run["devices"]:
        if isinstance(other, dict) and (other.get("name"), other.get("pci_address")) == (
            device.get("name"),
            device.get("pci_address"),
        ):
            yield from (told for told in other.get("results", ()) if _key(told) == _key(one))


def _key(one: Answer) -> tuple[Any, ...]:
    return tuple(one.get(name) for name in ("framework", "name", "type", "unit"))


def compared(now: Answer, other: Answer) -> list[Answer]:
    """Each figure that both have, with how many times as much it is here; devices by their order."""
    found = []
    for device, there in zip(now["devices"], other.get("devices", ()), strict=False):
        for one in device["results"]:
            told = next((told for told in there.get("results", ()) if _key(told) == _key(one)), None)
            if told is not None and told.get("median"):
                found.append({"device": device.get("name"), "other": there.get("name"), "name": one["name"], "type": one.get("type"),
                              "unit": one["unit"], "here": one["median"], "there": told["median"],
                              "times": round(_good(one) / _good(told), 3)})  # fmt: skip
    return found


def drop_text(one: Answer) -> str:
    """A drop as a sentence."""
    told = _("{name} of {device} is {percent} % lower than it was on this machine before.")
    return told.format(name=one["name"], device=one["device"], percent=round(one["lost"] * 100))
