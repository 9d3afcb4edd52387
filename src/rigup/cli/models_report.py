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
        found = [_("No model lies in any of the places where programs keep them."), _("`rigup pull` downloads one.")]
    else:
        rows = [_row(model) for model in answer.models]
        wide = [max(columns(row[number]) for row in rows) for number in range(len(rows[0]))]
        found = []
        for model, row in zip(answer.models, rows, strict=True):
            found.append("  ".join(padded(cell, room) for cell, room in zip(row, wide, strict=True)).rstrip())
            found += [text for note in _below(model) for text in wrapped(note, "    ")]
        template = _("Models: {count}, on the disk: {size}.")
        found.append(template.format(count=len(answer.models), size=size(answer.bytes)))
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


def _row(model: OnDisk) -> tuple[str, ...]:
    return model.name, model.source, size(model.bytes), model.quantisation or "–", _used(model.last_used), _fits(model)


def _used(last_used: str | None) -> str:
    if last_used is None:
        return "–"
    days = int((datetime.now(UTC) - datetime.fromisoformat(last_used)).total_seconds() // _DAY)
    if days < 1:
        return _("today")
    return _("{count} d ago").format(count=days)


def _fits(model: OnDisk) -> str:
    states = {"partial": _("not whole"), "broken": _("broken"), "left": _("left over")}
    if model.state in states:
        return states[model.state]
    if model.fits is None:
        return "–"
    if not model.fits:
        return _("does not fit")
    if model.runs_on == "both":
        return _("runs, {layers} of {all} layers on the GPU").format(layers=model.gpu_layers, all=model.layers)
    return _("runs on the GPU") if model.runs_on == "gpu" else _("runs on the processor")


def _below(model: OnDisk) -> list[str]:
    found = [model.fault] if model.fault else []
    if model.used_with:
        template = _("{size} of it belong to {models} too.")
        found.append(template.format(size=size(model.shared_bytes), models=", ".join(model.used_with)))
    return found


def removal_lines(answer: ModelRemoved) -> list[str]:
    """What goes, what stays and why, and who has it open."""
    found = [_("removes {path}").format(path=path) for path in answer.paths]
    if answer.folder:
        found.append(_("removes {path} with all that is in it").format(path=answer.folder))
    template = _("stays: {path}. {because}")
    found += [template.format(path=file.path, because=file.because) for file in answer.kept]
    if answer.used_by:
        found.append(_("{models} use the same files.").format(models=", ".join(answer.used_by)))
    if answer.running:
        found.append(_("It is open in: {programs}.").format(programs=", ".join(answer.running)))
    return [outward_text(line) for sentence in found for line in wrapped(sentence, "  ", "    ")]


def checked_lines(answer: ModelsChecked) -> list[str]:
    """What is wrong, and how many files are right and how many nobody can tell of."""
    template = _("{path} is not what its checksum says. Remove {name} with `rigup models remove`, and load it anew.")
    found = [template.format(path=file.path, name=file.name) for file in answer.files if file.verdict == "wrong"]
    count = Counter(file.verdict for file in answer.files)
    summary = _("Right: {right}, wrong: {wrong}, without a checksum: {unknown}.")
    found.append(summary.format(right=count["right"], wrong=count["wrong"], unknown=count["unknown"]))
    return [outward_text(line) for sentence in found for line in wrapped(sentence)]
