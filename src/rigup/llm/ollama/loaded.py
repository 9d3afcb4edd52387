"""Models that ollama holds in memory: how each is split over processor and GPU, and why, by the figures of fit."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rigup.language import _
from rigup.machine.host import Host
from rigup.schemas.ollama import Integrated, Loaded, Planned
from rigup.sizes import gibibytes

if TYPE_CHECKING:
    from rigup.fit.pools import Pool
    from rigup.schemas.fit import Fit

_MOST = 20
_WHOLE = 100  # percent
_SPLIT = re.compile(r"(?:(?P<cpu>\d{1,3})%/(?P<gpu>\d{1,3})% CPU/GPU|(?P<all>\d{1,3})% (?P<where>CPU|GPU))")
_FROM = re.compile(r"^FROM (?P<path>/[^\n]{1,1000})$", re.MULTILINE)


def loaded(
    host: Host | None, environment: Mapping[str, str], integrated: list[Integrated], pools: "Sequence[Pool]"
) -> tuple[list[Loaded], list[str]]:
    """Models in memory as `ollama ps` tells them, and what could not be seen."""
    if host is None:
        return [], []
    answer = host.run(("ollama", "ps"), 5.0)
    if answer.body is None or answer.exit:
        return [], []
    found, unseen = [], list[str]()
    for name, size, on_gpu, context in rows(answer.body):
        planned = _planned(host, name, context, environment, pools)
        if planned is None:
            unseen.append(
                _("The file of {model} may not be read by you: `rigup fit {model} --engine ollama` reckons by its tag.").format(model=name)
            )
        why = "" if on_gpu == _WHOLE else _why(planned, integrated)
        found.append(Loaded(name=name, size=size, on_gpu=on_gpu, context=context, planned=planned, why=why))
    return found, unseen


def rows(table: str) -> list[tuple[str, str, int, int | None]]:
    """Name, size, percent on devices and context of each line; columns stand where their heads do."""
    head, *lines = table.splitlines() or [""]
    starts = {name: head.find(name) for name in ("NAME", "ID", "SIZE", "PROCESSOR", "CONTEXT", "UNTIL")}
    order = sorted(place for place in starts.values() if place >= 0)
    if starts["NAME"] < 0 or starts["PROCESSOR"] < 0:
        return []
    found = []
    for line in lines[:_MOST]:
        cells = {name: _cell(line, place, order) for name, place in starts.items() if place >= 0}
        hit = _SPLIT.fullmatch(cells["PROCESSOR"])
        if hit and cells["NAME"]:
            share = int(hit["gpu"]) if hit["gpu"] else int(hit["all"]) if hit["where"] == "GPU" else 0
            context = cells.get("CONTEXT", "")
            found.append((cells["NAME"], cells.get("SIZE", ""), min(share, _WHOLE), int(context) if context.isdecimal() else None))
    return found


def _cell(line: str, place: int, order: list[int]) -> str:
    end = next((start for start in order if start > place), len(line))
    return line[place:end].strip()


def _planned(host: Host, name: str, context: int | None, environment: Mapping[str, str], pools: "Sequence[Pool]") -> Planned | None:
    """What fit reckons for the file of a model with the server's settings; None where it may not be read."""
    from rigup.fit.engines import as_ollama, judged_by, usual_context
    from rigup.fit.errors import FitError
    from rigup.fit.judge import of_file
    from rigup.fit.pools import HOST
    from rigup.fit.request import Request

    match = _FROM.search(host.run(("ollama", "show", "--modelfile", name), 5.0).body or "")
    if not match:
        return None
    try:
        asked = of_file(Path(match["path"]))
    except (FitError, OSError):
        return None
    pools = [_without_ollama(pool) for pool in pools]
    request = as_ollama(Request(context=context or usual_context(asked.model, pools, environment)), environment, {})
    if context:
        request = msgspec.structs.replace(request, context=context * request.parallel)
    plan = judged_by("ollama", asked, request, pools, name, questions=False)
    whole = judged_by("ollama", asked, msgspec.structs.replace(request, gpu_layers=asked.model.layers + 1), pools, name, questions=False)
    free = [pool.free for pool in pools if pool.kind != HOST]
    return Planned(
        context=request.context,
        total=plan.memory.total,
        layers=asked.model.layers + 1,
        gpu_layers=plan.gpu_layers,
        device_total=_on_devices(plan),
        needed=_on_devices(whole),
        free=sum(amount or 0 for amount in free) if free and all(amount is not None for amount in free) else None,
    )


def _without_ollama(pool: "Pool") -> "Pool":
    """A GPU's memory as it is when nothing is loaded: what it holds now is the model that is asked about."""
    from rigup.fit.pools import HOST, left

    if pool.kind == HOST or not pool.total:
        return pool
    return msgspec.structs.replace(pool, free=max(pool.free or 0, left(pool.kind, pool.total)))


def _on_devices(fit: "Fit") -> int:
    return sum(device.total for device in fit.devices if device.kind != "ram")


def _why(planned: Planned | None, integrated: list[Integrated]) -> str:
    """Why not all of it is on devices, as a sentence; "" where nobody can tell."""
    inside = next((device for device in integrated if device.counted and device.usable and device.counted < device.usable), None)
    if planned is not None and inside is not None and inside.usable and inside.counted and planned.needed <= inside.usable:
        template = _(
            "{name} may use {usable}, and the model needs {needed}; but ollama counts on {counted} only, which is what the firmware set aside."
        )
        return template.format(
            name=inside.name, usable=gibibytes(inside.usable), needed=gibibytes(planned.needed), counted=gibibytes(inside.counted)
        )
    if planned is None or planned.free is None:
        return ""
    if planned.needed > planned.free:
        template = _("All {layers} layers would need {needed} of the GPU's memory, and {free} are free for it: {gpu_layers} have room.")
        return template.format(
            layers=planned.layers, needed=gibibytes(planned.needed), free=gibibytes(planned.free), gpu_layers=planned.gpu_layers
        )
    return _(
        "There is room for all of it ({needed} of {free}); that ollama does not use the GPU has another reason, which the findings or its log tell."
    ).format(needed=gibibytes(planned.needed), free=gibibytes(planned.free))
