"""The bars of `rigup fit` as a page and as a picture: what takes what of each memory."""

import html
import os
from pathlib import Path

from msgspec import structs

from rigup.cli.fit_more import Answer, report
from rigup.fit.errors import FitError
from rigup.language import N_, _
from rigup.schemas.fit_more import FitImages, FitTrain
from rigup.sizes import gibibytes

_COLOURS = {
    "weights": ("#3b6ea8", N_("weights")),
    "parameters": ("#3b6ea8", N_("weights")),
    "gradients": ("#7a5195", N_("gradients")),
    "optimizer": ("#bc5090", N_("optimizer's state")),
    "kv": ("#d9822b", N_("cache")),
    "recurrent": ("#e0a458", N_("state")),
    "activations": ("#d9822b", N_("activations")),
    "compute": ("#5a9e6f", N_("work space")),
    "temporary": ("#5a9e6f", N_("work space")),
    "output": ("#8fbf9f", N_("results")),
    "projector": ("#a37fb5", N_("projector")),
    "overhead": ("#8a8f98", N_("the engine itself")),
}
_FREE, _INK = "#e6e8eb", "#1d2733"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:52rem;padding:0 1rem;color:#1d2733;background:#fff}"
    ".bar{display:flex;height:1.6rem;border-radius:.3rem;overflow:hidden;background:#e6e8eb;margin:.3rem 0}"
    ".over{outline:2px solid #b3261e}.key span{display:inline-block;margin-right:1rem}.key i{display:inline-block;width:.8rem;"
    "height:.8rem;border-radius:.2rem;margin-right:.3rem}pre{white-space:pre-wrap;font:14px/1.45 ui-monospace,monospace}"
    "@media(prefers-color-scheme:dark){body{background:#14181d;color:#dfe3e8}.bar{background:#2b323a}}"
)


def bars(fit: Answer) -> list[tuple[str, int, list[tuple[str, int]]]]:
    """Each memory's name, what it has room for, and what of it is taken by what."""
    if isinstance(fit, FitImages):
        parts = [("weights", part.bytes) for part in fit.parts]
        return [(fit.device or "-", fit.free or 0, [*parts, ("compute", max(fit.work, fit.decoding))])]
    if isinstance(fit, FitTrain):
        taken = [(name, count) for name, count in structs.asdict(fit.memory).items() if name in _COLOURS]
        return [(device.name, device.room or 0, taken) for device in fit.devices]
    return [
        (device.name, device.free or 0, [(name, count) for name in _COLOURS if (count := getattr(device, name, 0))])
        for device in fit.devices
    ]


def as_page(fit: Answer, path: str) -> None:
    """Write a page of its own, without anything from elsewhere. Raises FitError where it cannot be written."""
    parts = [_bar(*memory) for memory in bars(fit)]
    kinds = dict.fromkeys(name for _name, _room, taken in bars(fit) for name, _count in taken)
    keys = {_(_COLOURS[name][1]): _COLOURS[name][0] for name in kinds}
    key = "".join(f'<span><i style="background:{colour}"></i>{html.escape(word)}</span>' for word, colour in keys.items())
    title = html.escape(str(fit.model.name))
    body = f'<h1>{title}</h1>{"".join(parts)}<p class="key">{key}</p><pre>{html.escape(report(fit))}</pre>'
    head = f'<!doctype html><html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>'
    _write(path, f"{head}<body>{body}</body></html>\n".encode())


def _bar(name: str, room: int, taken: list[tuple[str, int]]) -> str:
    total = sum(count for _name, count in taken)
    most = max(room, total, 1)
    pieces = "".join(
        f'<div style="width:{100 * count / most:.2f}%;background:{_COLOURS[kind][0]}" title="{html.escape(_(_COLOURS[kind][1]))} {html.escape(gibibytes(count, 2))}"></div>'
        for kind, count in taken
        if count
    )
    head = (
        _("{memory}: {size} of {free} free").format(memory=name, size=gibibytes(total, 2), free=gibibytes(room, 2))
        if room
        else f"{name}: {gibibytes(total, 2)}"
    )
    return f'<p>{html.escape(head)}</p><div class="bar{" over" if room and total > room else ""}">{pieces}</div>'


def _write(path: str, content: bytes) -> None:
    """A new file, readable by its owner alone; nothing is replaced unasked. Raises FitError where it cannot be."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except FileExistsError as error:
        raise FitError(_("{path} is there already: name another file.").format(path=path)) from error
    except OSError as error:
        raise FitError(_("{path} cannot be written: {why}.").format(path=path, why=error.strerror or error)) from error


def as_picture(fit: Answer, path: str) -> None:
    """Write a PNG. Raises FitError where matplotlib is not there, or it cannot be written."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise FitError(_("Pictures need matplotlib: pip install 'rigup[plot]'.")) from error
    if Path(path).exists():
        raise FitError(_("{path} is there already: name another file.").format(path=path))
    rows = bars(fit)
    figure = Figure(figsize=(9, 1.2 + 0.7 * len(rows)), layout="constrained", facecolor="white")
    axes = figure.subplots()
    seen: set[str] = set()
    for place, (_name, room, taken) in enumerate(rows):
        axes.barh(place, max(room, sum(count for _kind, count in taken)) / 2**30, color=_FREE, height=0.6)
        at = 0.0
        for kind, count in taken:
            word = _(_COLOURS[kind][1])
            axes.barh(place, count / 2**30, left=at, color=_COLOURS[kind][0], height=0.6, label=None if word in seen else word)
            seen.add(word)
            at += count / 2**30
        if room:
            axes.plot([room / 2**30] * 2, [place - 0.4, place + 0.4], color=_INK, linewidth=1.5)
    axes.set_yticks(range(len(rows)), [name for name, _room, _taken in rows])
    axes.invert_yaxis()
    axes.set_xlabel("GiB")
    axes.set_title(str(fit.model.name), loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise FitError(_("{path} cannot be written: {why}.").format(path=path, why=error.strerror or error)) from error
