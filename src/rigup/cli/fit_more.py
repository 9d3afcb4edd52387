"""What `rigup fit` says of whatever was asked: training, models that make pictures, and engines."""

import click

from rigup.cli.fit_report import change_lines, text
from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import N_, _
from rigup.schemas.fit import Fit
from rigup.schemas.fit_more import FitImages, FitTrain
from rigup.sizes import gibibytes

Answer = Fit | FitTrain | FitImages
_TRAINED = {
    "parameters": N_("weights"),
    "gradients": N_("gradients"),
    "optimizer": N_("optimizer's state"),
    "activations": N_("activations"),
    "temporary": N_("work space"),
}
_WAYS = {
    "all": N_("all on the card at once"),
    "parts": N_("one part after another, the others in main memory"),
    "pieces": N_("one layer after another, which is slow"),
}
_PARTS = {
    "denoiser": N_("what draws (U-Net or transformer)"),
    "vae": N_("what makes pixels (VAE)"),
    "text encoders": N_("what reads the text"),
}


def report(fit: Answer, color: bool = False) -> str:
    """The report of whatever was asked: of pictures, of training, of an engine."""
    if isinstance(fit, FitTrain):
        return train_text(fit, color)
    return images_text(fit, color) if isinstance(fit, FitImages) else text(fit, color)


def train_text(fit: FitTrain, color: bool = False) -> str:
    """The report of a training step."""
    request, memory = fit.request, fit.memory
    fields = {
        "model": fit.model.name,
        "size": gibibytes(memory.total, 2),
        "samples": request.samples,
        "context": request.context,
        "kind": request.train,
        "optimizer": request.optimizer,
        "precision": request.precision,
    }
    if fit.fits is False:
        sentence = _(
            "Training {model} ({kind}, {optimizer}, {precision}) does not fit: a step of {samples} x {context} tokens takes {size} on each device."
        )
    else:
        sentence = _(
            "Training {model} ({kind}, {optimizer}, {precision}): a step of {samples} x {context} tokens takes {size} on each device."
        )
    parts = [f"{_(word)} {gibibytes(getattr(memory, name), 2)}" for name, word in _TRAINED.items() if getattr(memory, name)]
    lines = [style(line, bold=True) for line in wrapped(sentence.format(**fields))]
    lines += wrapped(_("At its peak: {parts}.").format(parts=", ".join(parts)), "  ", "  ")
    for pool in fit.devices:
        room = _("{memory}: room for {size} of tensors").format(memory=pool.name, size=gibibytes(pool.room or 0, 2))
        lines += wrapped(room if pool.room is not None else _("{memory}: how much is free is not known").format(memory=pool.name))
    if fit.largest_batch is not None:
        lines += ["", *wrapped(_("The largest batch that fits on each device: {count} sequences.").format(count=fit.largest_batch))]
    lines += change_lines(fit.changes, _("What each change by itself would free, and what it costs (✓: then it fits):"))
    lines += ["", *(line for note in fit.notes for line in wrapped(note))]
    report_text = "\n".join(lines)
    return report_text if color else click.unstyle(report_text)


def images_text(fit: FitImages, color: bool = False) -> str:
    """The report of a model that makes pictures."""
    model = fit.model
    fields = {"model": model.name, "family": model.family or _("a kind that is not known here"), "side": model.side}
    head = _("{model} ({family}) makes pictures; for one of {side} x {side} pixels it takes about:").format(**fields)
    lines = [style(line, bold=True) for line in wrapped(head)]
    for choice in fit.ways:
        mark = {True: "✓", False: "✗", None: " "}[choice.fits]
        word = _WAYS[choice.way]
        way = _("{size} on the card: {way}").format(size=gibibytes(choice.card, 2), way=_(word))
        lines += wrapped(way, f"  {mark} ", "    ")
    if fit.device and fit.free is not None:
        lines += wrapped(_("{memory} has {free} free.").format(memory=fit.device, free=gibibytes(fit.free, 2)))
    elif not fit.device:
        lines += wrapped(_("This machine has no card that is known here."))
    names = [_(word) for word in (_PARTS.get(part.name, part.name) for part in fit.parts)]
    wide = max(map(columns, names), default=0)
    lines += ["", *wrapped(_("Its weights, loaded in half precision:"))]
    lines += [
        f"  {padded(name, wide)}  {gibibytes(part.bytes, 2)}  ({', '.join(part.types)})"
        for name, part in zip(names, fit.parts, strict=True)
    ]
    lines += ["", *wrapped(_("An estimate: weights are the header's, work space is reckoned and was not measured."))]
    if not any(part.name == "text encoders" for part in fit.parts):
        lines += wrapped(_("The file has no text encoder: those that are loaded beside it come on top."))
    report_text = "\n".join(lines)
    return report_text if color else click.unstyle(report_text)
