"""What a run is set beside: another run, an earlier one, another machine's, or a card as the tables know it."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from rigup.bench.answer import MEMORY, PRODUCTS, SCHEMA, good, same_figure
from rigup.bench.records import earlier, nodes, of_node
from rigup.knowledge.names import key_of
from rigup.knowledge.speeds import data_sheet, kinds_of, measured_names, named, results
from rigup.language import _

Answer = dict[str, Any]
LISTED = "rigup.bench-list/1"
_MOST_BYTES = 20_000_000  # of an answer
_LEAST_MOMENT = len("2026-01-01T00:00")
_SHOWN = 6  # names in one sentence


class CompareError(Exception):
    """There is nothing that could be compared with; the text says what to give instead."""


def other(word: str, prefix: str = "") -> Answer:
    """The answer that a word names: a file, a capture, a machine, a moment of this one, or a card.

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
        return _latest(of_node(word), prefix)
    runs = [run for run in of_node() if len(word) >= _LEAST_MOMENT and str(run.get("recorded_at")).startswith(word)]
    return runs[-1] if runs else _of_card(word)


def _latest(runs: list[Answer], prefix: str) -> Answer:
    """The newest, of the same environment where there is one."""
    same = [run for run in runs if (run.get("environment") or {}).get("prefix") == prefix]
    return (same or runs)[-1]


# -- a file --------------------------------------------------------------------------------------------


def _of_file(path: str) -> Answer:
    try:
        told = _decoded(path) if os.path.isfile(path) else {}
    except OSError as error:
        raise CompareError(_("{path} cannot be read: {error}.").format(path=path, error=error.strerror)) from error
    if told.get("schema") == SCHEMA and isinstance(told.get("devices"), list):
        return told
    if str(told.get("schema")).startswith("rigup."):
        raise CompareError(_("{path} is no answer of `rigup bench --json`.").format(path=path))
    return _of_capture(path)


def _decoded(path: str) -> Answer:
    """The object of a JSON file; {} where it is none."""
    with open(path, "rb") as file:
        body = file.read(_MOST_BYTES)
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        told = msgspec.json.decode(body) if body.lstrip()[:1] == b"{" else {}
        return told if isinstance(told, dict) else {}
    return {}


def _of_capture(path: str) -> Answer:
    """What the tables know of each device of a machine that was captured."""
    from rigup.diagnosis.answer import diagnose
    from rigup.machine.sources import SourceError

    try:
        machine = msgspec.to_builtins(diagnose(path).machine, enc_hook=str)
    except SourceError as error:
        raise CompareError(str(error)) from error
    cards = [(one, "gpu") for one in machine.get("accelerators") or []]
    processors = [({"name": one.get("model") or one.get("name")}, "cpu") for one in machine.get("cpus") or []]
    known = [
        as_device(str(one.get("name") or ""), kind, (one.get("memory") or {}).get("vram"))
        for one, kind in [*cards, *processors]
    ]
    if not any(one["results"] for one in known):
        told = _("{path} is no answer of `rigup bench --json`, and shows no device whose speed a table here tells.")
        raise CompareError(told.format(path=path))
    return {"schema": SCHEMA, "devices": [one for one in known if one["results"]]}


# -- a card --------------------------------------------------------------------------------------------


def _of_card(word: str) -> Answer:
    found = named(word)
    if len(found) == 1:
        devices = [as_device(found[0], kind) | {"card": found[0]} for kind in kinds_of(found[0]) or ["gpu"]]
        return {"schema": SCHEMA, "devices": devices}
    if found:
        told = _("{name} may be {names}. Give more of its name.")
        raise CompareError(told.format(name=word, names=_some(found)))
    told = _("{name} is no file, no machine whose results are kept, and no card that a table here knows. `rigup bench --list` shows what there is.")  # fmt: skip
    raise CompareError(told.format(name=word))


def _some(names: list[str]) -> str:
    more = _(" and {count} more").format(count=len(names) - _SHOWN) if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more


def as_device(name: str, kind: str = "gpu", memory: int | None = None) -> Answer:
    """A device with the figures that the tables have of it: what others measured, and its data sheet.

    Raises:
        KnowledgeError: a table is malformed.

    """
    paper = _on_paper(name, memory) if kind == "gpu" else ()
    return {"name": name, "vendor": "cpu" if kind == "cpu" else "", "results": [*_measured(name, kind), *paper]}


def _measured(name: str, kind: str) -> Iterator[Answer]:
    """Of what several people measured the best, which is the one that the report shows beside a figure."""
    found = results(name, kind)
    for figure in dict.fromkeys((one.name, one.type, one.unit) for one in found):
        one = max((one for one in found if (one.name, one.type, one.unit) == figure), key=lambda one: one.rate)
        told = {"conditions": one.conditions, "source": one.source, "of": "measured"}
        yield {"name": one.name, "type": one.type, "unit": one.unit, "median": one.rate, "best": one.rate, **told}


def _on_paper(name: str, memory: int | None) -> Iterator[Answer]:
    """All figures of which the sheet tells the peak."""
    sheet = data_sheet(name, memory)
    if sheet is None:
        return
    told = {"source": sheet.source, "of": "data-sheet"}
    for kind, rate in sheet.rates.items():
        for figure in PRODUCTS:
            yield {"name": figure, "type": kind, "unit": "FLOP/s", "median": rate, "best": rate, **told}
    for figure in MEMORY if sheet.bandwidth else ():
        yield {"name": figure, "unit": "B/s", "median": sheet.bandwidth, "best": sheet.bandwidth, **told}


# -- figure by figure ----------------------------------------------------------------------------------


def compared(now: Answer, there: Answer) -> list[Answer]:
    """Each figure that both have, by its median, with how many times as good it is here."""
    theirs = [one for one in there["devices"] if isinstance(one, dict)]
    return [
        _beside(device, another, one, told)
        for device, another in [*_pairs(now["devices"], theirs)] or zip(now["devices"], theirs, strict=False)
        for one in device["results"]
        for told in _of_its_size(device, another).get("results") or ()
        if same_figure(one, told) and told.get("median")
    ]


def _of_its_size(device: Answer, another: Answer) -> Answer:
    """A card that was given by name is sold with less and more memory: the sheet is that of the one that is here."""
    memory = (device.get("memory") or {}).get("vram")
    same = another.get("card") and key_of(str(another["card"])) == key_of(str(device.get("name") or ""))
    return as_device(another["card"], "cpu" if _is_cpu(another) else "gpu", memory) if same and memory else another


def _pairs(mine: list[Answer], theirs: list[Answer]) -> Iterator[tuple[Answer, Answer]]:
    """Devices of one name, else those of a kind in their order; one card alone goes with each of this machine's."""
    for kind in (False, True):
        here = [one for one in mine if _is_cpu(one) == kind]
        there = [one for one in theirs if _is_cpu(one) == kind]
        for place, one in enumerate(here):
            same = [other for other in there if other.get("name") == one.get("name")]
            found = same or (there if len(there) == 1 else there[place : place + 1])
            yield from ((one, other) for other in found[:1])


def _is_cpu(device: Answer) -> bool:
    return bool(device.get("vendor") == "cpu")


def _beside(device: Answer, another: Answer, one: Answer, told: Answer) -> Answer:
    """Both figures as the report shows them: the medians."""
    return {
        "device": device.get("name"), "other": another.get("name"), "name": one["name"], "type": one.get("type"),
        "unit": one["unit"], "here": one["median"], "there": told["median"], "times": round(good(one) / good(told), 4),
        **{name: told[name] for name in ("of", "conditions", "source") if told.get(name)},
        **{name: one[name] for name in ("steady", "size") if name in one},
    }  # fmt: skip


# -- what there is -------------------------------------------------------------------------------------


def listed(prefix: str = "") -> Answer:
    """This machine's earlier runs, the machines whose results are kept, and the devices that others measured.

    Args:
        prefix: the environment whose runs are wanted; "" for all.

    Raises:
        KnowledgeError: a table is malformed.

    """
    runs = earlier(prefix) if prefix else of_node()
    return {"schema": LISTED, "runs": runs, "machines": nodes(), "measured": measured_names()}
