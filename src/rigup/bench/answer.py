"""The answer of `rigup bench`: what was measured of each device, beside its sheet, others, and this machine's past."""

from collections.abc import Iterator
from typing import Any

from rigup.bench.steadiness import doubt, judged, unsteady
from rigup.knowledge.speeds import Sheet, data_sheet, results
from rigup.verify.answer import last_line
from rigup.verify.matching import matched
from rigup.verify.observe import Observed, Seen

Answer = dict[str, Any]
SCHEMA = "rigup.bench/1"
_UNDER = ("platforms", "distributions", "worlds", "cpus", "memories", "drivers", "toolkits")
PRODUCTS, MEMORY = ("matmul", "matmul-by-hand"), ("memory-copy", "memory-triad", "memory-read")
"""Figures that a data sheet tells the peak of."""

_CANNOT_BE, _SHORT_SUMS = (
    1.5,
    2,
)  # times a peak; of float8 sheets reckon with sums in float32, and shorter ones are faster
BUSY = 0.5
"""Cores that others keep busy, beyond which figures of the processor tell of their work."""

_LEAST_DROP, _OF_SPREAD = 0.05, 3.0  # a drop is more than that, and more than the spread explains


def answer(observed: Observed, machine: Answer, samples: dict[str, Answer], full: bool) -> Answer:
    """The object that is printed, without a comparison. `samples`: what was watched, by PCI address, and "cpu"."""
    devices = [{**device, "results": []} for device in machine.get("accelerators") or []]
    cpu: Answer = {"name": _cpu(machine), "vendor": "cpu", "results": []}
    for seen in observed.frameworks:
        _add(seen, devices, cpu)
    found = [device for device in (*devices, cpu) if device["results"] or device.get("failed") or device.get("cut")]
    for device in found:
        _beside(device)
        if told := samples.get("cpu" if device is cpu else str(device.get("pci_address", "")).lower()[-12:]):
            device["watched"] = told
    return {
        "schema": SCHEMA, "mode": "full" if full else "quick",
        "environment": {"prefix": observed.prefix, "interpreter": observed.python, "python": observed.version},
        "packages": observed.packages, "machine": _facts(machine), "devices": found, "failed": list(_not_begun(observed)),
    }  # fmt: skip


def _not_begun(observed: Observed) -> Iterator[Answer]:
    """Frameworks that list nothing: they could not be imported, or took too long."""
    for seen in observed.frameworks:
        if not seen.devices:
            yield {"check": seen.name, "because": last_line(seen.said) or ("time" if seen.over else "")}


def _cpu(machine: Answer) -> str:
    found = [cpu.get("model") or cpu.get("name") for cpu in machine.get("cpus") or []]
    return str(next(filter(None, found), "CPU"))


def _facts(machine: Answer) -> Answer:
    """What a figure depends on, and what another machine's is compared by."""
    told = {name: [_short(fact) for fact in machine.get(name) or ()] for name in _UNDER}
    return {name: facts for name, facts in told.items() if facts}


def _short(fact: Answer) -> Answer:
    """A fact without what fills pages."""
    return {name: value for name, value in fact.items() if name not in ("flags", "place")}


def _add(seen: Seen, devices: list[Answer], cpu: Answer) -> None:
    places = matched([one for one in seen.devices if one["id"] != "cpu"], devices)
    for one in seen.devices:
        target = cpu if one["id"] == "cpu" else devices[places[one["id"]]] if one["id"] in places else None
        if target is None:
            target = {"name": one.get("name") or one["id"], "vendor": one.get("vendor", ""), "results": []}
            devices.append(target)
        target["results"] += list(_results(seen, one["id"]))
        for name, found in (("failed", list(_failed(seen, one["id"]))), ("cut", list(_cut(seen, one)))):
            if found:
                target[name] = [*target.get(name, ()), *found]


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


def _cut(seen: Seen, one: Answer) -> Iterator[str]:
    """Measurements for which there was no time, by name: those that say so, and all that were not reached at the end."""
    said = {check: record for (where, check), record in seen.records.items() if where == one["id"]}
    yield from (check for check, record in said.items() if (record.get("measured") or {}).get("cut"))
    if seen.over:
        yield from (check for check in one.get("planned", ()) if check not in said)


# -- beside what it is compared with -----------------------------------------------------------------


def _beside(device: Answer) -> None:
    """Whether each figure is steady, its share of the sheet's peak, and what others measured; all by its median."""
    name = str(device.get("name") or "")
    sheet = data_sheet(name, (device.get("memory") or {}).get("vram"))
    others = results(name, "cpu" if device.get("vendor") == "cpu" else "gpu")
    for one in device["results"]:
        if judged(one):
            one |= {"steady": not unsteady(one), "unsteady": unsteady(one)}
        peak = peak_of(sheet, one)
        if sheet is not None and peak:
            share = round(one["median"] / peak, 4)
            beyond = {"implausible": True} if implausible(one, share) else {}
            one |= {"peak": peak, "share_of_peak": share, "peak_source": sheet.source, **beyond}
        same = [other for other in others if (other.name, other.type) == (one["name"], one.get("type", ""))]
        if same:
            one["others"] = [
                {"rate": other.rate, "conditions": other.conditions, "source": other.source} for other in same
            ]


def peak_of(sheet: Sheet | None, one: Answer) -> float | None:
    """What the sheet tells of a figure, in the figure's unit; None where it tells nothing."""
    if sheet is None:
        return None
    if one["name"] in MEMORY:
        return sheet.bandwidth
    return sheet.rates.get(str(one.get("type"))) if one["name"] in PRODUCTS else None


def implausible(one: Answer, share: float) -> bool:
    """Whether a figure is beyond what any clock explains: it was not waited for, or the sheet is another device's."""
    most = _CANNOT_BE * (_SHORT_SUMS if one.get("type") == "float8" else 1)
    return share > most


def drops(now: Answer, before: list[Answer]) -> list[Answer]:
    """Figures that are lower than the best this machine reached before in the same environment, by more than spread explains."""
    found = []
    for device in [
        one for one in now["devices"] if not (one.get("vendor") == "cpu" and now.get("busy_cores", 0) > BUSY)
    ]:
        for one in device["results"]:
            past = [other for run in before for other in _same(run, device, one) if other.get("median")]
            best = max(past, key=good, default=None)
            if best is None:
                continue
            lost = 1 - good(one) / good(best)
            chance = max(_OF_SPREAD * max(one["spread"], best.get("spread", 0.0)), doubt(one), doubt(best))
            if lost > max(_LEAST_DROP, chance):
                found.append({"device": device.get("name"), "name": one["name"], "type": one.get("type"), "was": best["median"],
                              "is": one["median"], "unit": one["unit"], "lost": round(lost, 3)})  # fmt: skip
    return found


def good(one: Answer) -> float:
    """More is better: of what is told in seconds, its inverse."""
    return 1 / one["median"] if one["unit"] == "s" else float(one["median"])


def _same(run: Answer, device: Answer, one: Answer) -> Iterator[Answer]:
    for other in run["devices"]:
        if isinstance(other, dict) and (other.get("name"), other.get("pci_address")) == (
            device.get("name"),
            device.get("pci_address"),
        ):
            yield from (told for told in other.get("results", ()) if same_figure(one, told))


def same_figure(one: Answer, other: Answer) -> bool:
    """Whether both measured one thing; a table's figures tell no framework."""
    both = all((one.get(name) or "") == (other.get(name) or "") for name in ("name", "type", "unit"))
    return both and (not other.get("framework") or other["framework"] == one.get("framework"))
