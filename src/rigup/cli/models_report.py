"""Models on disk, as a person reads them."""

from collections import Counter
from datetime import UTC, datetime

from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.machine.outward import outward_text
from rigup.schemas.models import ModelRemoved, Models, ModelsChecked, OnDisk
from rigup.sizes import size

_DAY = 86400


def lines(answer: Models) -> list[str]:
    """A line for each model, what is wrong with it below, and how much all take."""
    if not answer.models:
        found = [_("No model lies in any of the places where programs keep them.")]
    else:
        rows = [_row(one) for one in answer.models]
        wide = [max(columns(row[number]) for row in rows) for number in range(len(rows[0]))]
        found = []
        for one, row in zip(answer.models, rows, strict=True):
            found.append("  ".join(padded(cell, room) for cell, room in zip(row, wide, strict=True)).rstrip())
            found += [text for said in _below(one) for text in wrapped(said, "    ")]
        told = _("Models: {count}, on the disk: {size}.")
        found.append(told.format(count=len(answer.models), size=size(answer.bytes)))
    roomy = _("Free space: {free}, for {paths}.")
    by_free: dict[int, list[str]] = {}
    for store in answer.stores:
        by_free.setdefault(store.free or 0, []).append(store.path)
    for free, paths in by_free.items():
        found += wrapped(roomy.format(free=size(free), paths=", ".join(paths))) if free and answer.models else []
    refused = _("{path} ({source}) cannot be read: {why}.")
    for store in answer.stores:
        if store.fault:
            found += wrapped(refused.format(path=store.path, source=store.source, why=store.fault))
    return [outward_text(line) for line in found]


def _row(one: OnDisk) -> tuple[str, ...]:
    return one.name, one.source, size(one.bytes), one.quantisation or "–", _used(one.last_used), _fits(one)


def _used(told: str | None) -> str:
    if told is None:
        return "–"
    days = int((datetime.now(UTC) - datetime.fromisoformat(told)).total_seconds() // _DAY)
    if days < 1:
        return _("today")
    return _("{count} d ago").format(count=days)


def _fits(one: OnDisk) -> str:
    states = {"partial": _("not whole"), "broken": _("broken"), "left": _("left over")}
    if one.state in states:
        return states[one.state]
    if one.fits is None:
        return "–"
    if not one.fits:
        return _("does not fit")
    if one.runs_on == "both":
        return _("runs, {layers} of {all} layers on the GPU").format(layers=one.gpu_layers, all=one.layers)
    return _("runs on the GPU") if one.runs_on == "gpu" else _("runs on the processor")


def _below(one: OnDisk) -> list[str]:
    found = [one.fault] if one.fault else []
    if one.used_with:
        told = _("{size} of it belong to {models} too.")
        found.append(told.format(size=size(one.shared_bytes), models=", ".join(one.used_with)))
    return found


def removal_lines(answer: ModelRemoved) -> list[str]:
    """What goes, what stays and why, and who has it open."""
    found = [_("removes {path}").format(path=path) for path in answer.paths]
    if answer.folder:
        found.append(_("removes {path} with all that is in it").format(path=answer.folder))
    told = _("stays: {path}. {because}")
    found += [told.format(path=one.path, because=one.because) for one in answer.kept]
    if answer.used_by:
        found.append(_("{models} use the same files.").format(models=", ".join(answer.used_by)))
    if answer.running:
        found.append(_("It is open in: {programs}.").format(programs=", ".join(answer.running)))
    return [outward_text(line) for one in found for line in wrapped(one, "  ", "    ")]


def checked_lines(answer: ModelsChecked) -> list[str]:
    """What is wrong, and how many files are right and how many nobody can tell of."""
    told = _("{path} is not what its checksum says. Remove {name} with `rigup models remove`, and load it anew.")
    found = [told.format(path=one.path, name=one.name) for one in answer.files if one.verdict == "wrong"]
    count = Counter(one.verdict for one in answer.files)
    said = _("Right: {right}, wrong: {wrong}, without a checksum: {unknown}.")
    found.append(said.format(right=count["right"], wrong=count["wrong"], unknown=count["unknown"]))
    return [outward_text(line) for one in found for line in wrapped(one)]
