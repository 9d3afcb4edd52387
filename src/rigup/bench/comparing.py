"""Find what a run is compared with: another run, an earlier one, another machine's, or a card of the tables."""

import contextlib
import os
from collections.abc import Iterator

import msgspec
from msgspec import UNSET

from rigup.bench.answer import MEMORY, PRODUCTS, good, known, same_figure
from rigup.bench.records import Document, Run, earlier, nodes, of_node, run_of
from rigup.knowledge.names import key_of
from rigup.knowledge.speeds import data_sheet, kinds_of, measured_names, named, results
from rigup.language import _
from rigup.schemas.bench import Bench, BenchList, ComparedFigure, Figure, MeasuredDevice
from rigup.schemas.shared import SeenDevice

_SCHEMA = "rigup.bench/1"
_MOST_BYTES = 20_000_000  # of an answer
_LEAST_MOMENT = len("2026-01-01T00:00")
_SHOWN = 6  # names in one sentence


class CompareError(Exception):
    """Nothing to compare with; the message says what to name instead."""


def other(word: str, prefix: str = "") -> Run:
    """The run that a word names: a file, a capture, a machine, a moment of this one, or a card.

    Args:
        word: the path of an answer of `rigup bench --json`, or of whatever `rigup doctor --from` takes; the name of a
            machine whose results lie in the state folder; a moment as `rigup bench --list` shows it; a card's name.
        prefix: the environment whose earlier runs go first; "" for whichever.

    Raises:
        CompareError: it names nothing.
        KnowledgeError: a table is malformed.

    """
    if os.path.lexists(word):
        return _of_file(word)
    if word in nodes():
        return _latest(list(map(run_of, of_node(word))), prefix)
    runs = [run for run in map(run_of, of_node()) if len(word) >= _LEAST_MOMENT and run.recorded_at.startswith(word)]
    return runs[-1] if runs else _of_card(word)


def _latest(runs: list[Run], prefix: str) -> Run:
    """The newest, of the same environment where there is one."""
    same = [run for run in runs if run.prefix == prefix]
    return (same or runs)[-1]


# -- a file --------------------------------------------------------------------------------------------


def _of_file(path: str) -> Run:
    try:
        document = _decoded(path) if os.path.isfile(path) else {}
    except OSError as error:
        raise CompareError(_("{path} cannot be read: {error}.").format(path=path, error=error.strerror)) from error
    if document.get("schema") == _SCHEMA and isinstance(document.get("devices"), list):
        return run_of(document)
    if str(document.get("schema")).startswith("rigup."):
        raise CompareError(_("{path} is no answer of `rigup bench --json`.").format(path=path))
    return _of_capture(path)


def _decoded(path: str) -> Document:
    """The object in a JSON file; {} if it holds none."""
    with open(path, "rb") as file:
        body = file.read(_MOST_BYTES)
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        document = msgspec.json.decode(body) if body.lstrip()[:1] == b"{" else {}
        return document if isinstance(document, dict) else {}
    return {}


def _of_capture(path: str) -> Run:
    """Table figures for each device of a captured machine."""
    from rigup.diagnosis.answer import diagnose
    from rigup.machine.sources import SourceError

    try:
        machine = diagnose(path).machine
    except SourceError as error:
        raise CompareError(str(error)) from error
    told_of = [as_device(device.name or "", "gpu", _memory(device)) for device in machine.accelerators or []]
    told_of += [as_device(str(processor.get("model") or processor.get("name") or ""), "cpu") for processor in machine.cpus or []]
    if not any(device.results for device in told_of):
        template = _("{path} is no answer of `rigup bench --json`, and shows no device whose speed a table here tells.")
        raise CompareError(template.format(path=path))
    return Run(devices=[device for device in told_of if device.results])


def _memory(device: SeenDevice) -> int | None:
    return (device.memory.vram or None) if device.memory else None


# -- a card --------------------------------------------------------------------------------------------


def _of_card(word: str) -> Run:
    found = named(word)
    if len(found) == 1:
        return Run(card=found[0], devices=[as_device(found[0], kind) for kind in kinds_of(found[0]) or ["gpu"]])
    if found:
        template = _("{name} may be {names}. Give more of its name.")
        raise CompareError(template.format(name=word, names=_some(found)))
    template = _(
        "{name} is no file, no machine whose results are kept, and no card that a table here knows. `rigup bench --list` shows what there is."
    )
    raise CompareError(template.format(name=word))


def _some(names: list[str]) -> str:
    more = _(" and {count} more").format(count=len(names) - _SHOWN) if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def as_device(name: str, kind: str = "gpu", memory: int | None = None) -> MeasuredDevice:
    """A device with the figures that the tables have of it: what others measured, and its data sheet.

    Raises:
        KnowledgeError: a table is malformed.

    """
    paper = _on_paper(name, memory) if kind == "gpu" else ()
    return MeasuredDevice(name=name, vendor="cpu" if kind == "cpu" else "", results=[*_measured(name, kind), *paper])


def _measured(name: str, kind: str) -> Iterator[Figure]:
    """The best of several published results, which the report shows."""
    found = results(name, kind)
    for figure in dict.fromkeys((result.name, result.type, result.unit) for result in found):
        result = max((result for result in found if (result.name, result.type, result.unit) == figure), key=lambda result: result.rate)
        yield Figure(
            name=result.name,
            type=result.type,
            unit=result.unit,
            median=result.rate,
            best=result.rate,
            of="measured",
            conditions=result.conditions,
            source=result.source,
        )


def _on_paper(name: str, memory: int | None) -> Iterator[Figure]:
    """All figures of which the sheet tells the peak."""
    sheet = data_sheet(name, memory)
    if sheet is None:
        return
    products = [(name, kind, "FLOP/s", rate) for kind, rate in sheet.rates.items() for name in PRODUCTS]
    memories = [(name, "", "B/s", sheet.bandwidth) for name in MEMORY if sheet.bandwidth]
    for figure, kind, unit, rate in (*products, *memories):
        yield Figure(name=figure, type=kind or UNSET, unit=unit, median=rate, best=rate, of="data-sheet", source=sheet.source)


# -- figure by figure ----------------------------------------------------------------------------------


def compared(now: Bench, reference: Run) -> list[ComparedFigure]:
    """Figures of both runs by their medians, with the ratio in favour of the first."""
    pairs = [*_pairs(now.devices, reference.devices)] or zip(now.devices, reference.devices, strict=False)
    return [
        _pair(device, another, here, theirs)
        for device, another in pairs
        for here in device.results
        for theirs in _of_its_size(device, another, reference.card).results
        if same_figure(here, theirs)
    ]


def _of_its_size(device: MeasuredDevice, another: MeasuredDevice, card: str) -> MeasuredDevice:
    """A card that was given by name is sold with less and more memory: the sheet is that of the one that is here."""
    memory = _memory(device)
    same = card and key_of(card) == key_of(device.name or "")
    return as_device(card, "cpu" if _is_cpu(another) else "gpu", memory) if same and memory else another


def _pairs(mine: list[MeasuredDevice], theirs: list[MeasuredDevice]) -> Iterator[tuple[MeasuredDevice, MeasuredDevice]]:
    """Devices of one name, else those of a kind in their order; one card alone goes with each of this machine's."""
    for kind in (False, True):
        here = [device for device in mine if _is_cpu(device) == kind]
        candidates = [device for device in theirs if _is_cpu(device) == kind]
        for place, device in enumerate(here):
            same = [other for other in candidates if other.name == device.name]
            found = same or (candidates if len(candidates) == 1 else candidates[place : place + 1])
            yield from ((device, other) for other in found[:1])


def _is_cpu(device: MeasuredDevice) -> bool:
    return device.vendor == "cpu"


def _pair(device: MeasuredDevice, another: MeasuredDevice, result: Figure, theirs: Figure) -> ComparedFigure:
    """Both figures as the report shows them: the medians."""
    return ComparedFigure(
        device=known(device.name),
        other=known(another.name),
        name=result.name,
        type=known(result.type),
        unit=result.unit,
        here=result.median,
        there=theirs.median,
        times=round(good(result) / good(theirs), 4),
        of=theirs.of or UNSET,
        conditions=theirs.conditions or UNSET,
        source=theirs.source or UNSET,
        steady=result.steady,
        size=result.size,
    )


# -- what there is -------------------------------------------------------------------------------------


def listed(prefix: str = "") -> BenchList:
    """Earlier runs of this machine, machines with stored results, and devices with published results.

    Args:
        prefix: the environment whose runs are wanted; "" for all.

    Raises:
        KnowledgeError: a table is malformed.

    """
    runs = earlier(prefix) if prefix else of_node()
    return BenchList(runs=runs, machines=nodes(), measured=measured_names())
