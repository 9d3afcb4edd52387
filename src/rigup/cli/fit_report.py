"""The answer of `rigup fit` as a person reads it: the verdict, a bar for each memory, how fast, and what else would go."""

import shlex
from collections.abc import Sequence

import click
from msgspec import UNSET

from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, width, wrapped
from rigup.language import N_, _
from rigup.schemas.fit import Change, Fit, Pool, Range, Ranked, VllmRequest
from rigup.schemas.fit_more import TrainChange
from rigup.sizes import gibibytes

_GIB = 1 << 30
_BAR, _LEAST_BAR = 40, 12
_PARTS = {
    "weights": N_("weights"),
    "kv": N_("cache"),
    "recurrent": N_("state"),
    "compute": N_("work space"),
    "output": N_("results"),
    "projector": N_("projector"),
    "overhead": N_("the engine itself"),
}
_MARKS = {"weights": "█", "kv": "▓", "recurrent": "▓", "compute": "▒", "output": "▒", "projector": "▒", "overhead": "░"}
_SMALL = 0.005  # of a gibibyte; what is less is not named


def text(fit: Fit, color: bool = False) -> str:
    """The whole report."""
    parts = [
        [*_head(fit), *_draft(fit)],
        *(_memory(device) for device in fit.devices),
        _speed(fit),
        _answers(fit),
        start_lines(fit),
        _end(fit),
    ]
    report = "\n\n".join("\n".join(part) for part in parts if part)
    return report if color else click.unstyle(report)


def list_text(models: list[Ranked], color: bool = False) -> str:
    """The models that a machine holds, one a line."""
    if not models:
        return "\n".join(wrapped(_("No model of the table fits this machine whole.")))
    head = wrapped(_("Models that fit whole with a server's settings, the largest first; tokens a second are estimates:"))
    rows = [(model.name, model.quantisation, gibibytes(model.total, 2), _rate(model.decode)) for model in models]
    wide = [max(columns(row[place]) for row in rows) for place in range(4)]
    lines = [
        f"  {padded(name, wide[0])}  {padded(kind, wide[1])}  {' ' * (wide[2] - columns(total))}{total}  {rate}".rstrip()
        for name, kind, total, rate in rows
    ]
    report = "\n".join([*(style(line, bold=True) for line in head), *lines])
    return report if color else click.unstyle(report)


def _rate(rate: Range | None) -> str:
    return _("{low} to {high} tokens/s").format(low=round(rate.low), high=round(rate.high)) if rate else ""


def _head(fit: Fit) -> list[str]:
    model = fit.model
    fields = {"model": model.name, "type": model.quantisation, "context": fit.request.context, "size": gibibytes(fit.memory.total, 2)}
    if not fit.fits:
        sentence = _("{model} {type} does not fit: with {context} tokens of context it takes {size}.")
    elif len(fit.devices) == 1:
        sentence = _("{model} {type} fits: with {context} tokens of context it takes {size} of main memory.")
    elif (on_devices := fit.answers.gpu_layers) is not UNSET and on_devices < (layers := fit.model.layers + 1):
        sentence = _(
            "{model} {type} fits in part: with {context} tokens of context it takes {size}, and {layers} of {all} layers go on the GPU."
        )
        fields |= {"layers": on_devices, "all": layers}
    else:
        sentence = _("{model} {type} fits: with {context} tokens of context it takes {size}.")
    return [style(line, bold=True) for line in wrapped(sentence.format(**fields))]


def _draft(fit: Fit) -> list[str]:
    """The draft model beside it."""
    draft = fit.draft
    if draft is UNSET:
        return []
    fields = {"model": draft.model.name, "type": draft.model.quantisation, "size": gibibytes(draft.total, 2)}
    if len(fit.devices) == 1:
        sentence = _("The draft model {model} {type} comes first and takes {size}: what is free below is what it leaves.")
    else:
        sentence = _(
            "The draft model {model} {type} comes first and takes {size}, with {layers} of {all} layers on the GPU: what is free below is what it leaves."
        )
        fields |= {"layers": str(draft.gpu_layers), "all": str(draft.model.layers + 1)}
    other = _("Its vocabulary is not that of the model: the engine goes on without it.")
    return [*wrapped(sentence.format(**fields)), *([] if draft.same_words else wrapped(other))]


def _memory(pool: Pool) -> list[str]:
    """One memory: how full it would be, and of what."""
    if not pool.total:
        return []
    free = pool.free
    if free is None:
        head = _("{memory}: {size} of what is not known").format(memory=pool.name, size=gibibytes(pool.total, 2))
    else:
        sentence = _("{memory}: {size} of {free} free") if pool.fits else _("{memory}: {size}, but only {free} free")
        head = sentence.format(memory=pool.name, size=gibibytes(pool.total, 2), free=gibibytes(free, 2))
    if pool.assumed and free is not None:
        head = _("{text} (reckoned, not read)").format(text=head)
    lines = wrapped(head)
    bar = _bar(pool)
    named = ((name, word, getattr(pool, name)) for name, word in _PARTS.items())
    names = [f"{_MARKS[name]} {_(word)} {gibibytes(count, 2)}" for name, word, count in named if count / _GIB >= _SMALL]
    return [*lines, *([f"  {bar}"] if bar else []), *wrapped(", ".join(names), "  ", "  ")]


def _bar(pool: Pool) -> str:
    room = min(_BAR, width() - 4)
    most = max(pool.free or 0, pool.total)
    if room < _LEAST_BAR or not most:
        return ""
    bar, filled = "", 0.0
    for name in _PARTS:
        filled += getattr(pool, name) / most * room
        bar += _MARKS[name] * (round(filled) - len(bar))
    return "[" + padded(bar, room).replace(" ", "·") + "]"


def _speed(fit: Fit) -> list[str]:
    lines = []
    for speed, sentence in (
        (fit.decode, _("It writes about {likely} tokens a second, between {low} and {high}.")),
        (fit.prefill, _("It reads a prompt at about {likely} tokens a second, between {low} and {high}.")),
    ):
        if speed:
            lines += wrapped(sentence.format(likely=speed.likely, low=speed.low, high=speed.high))
            lines += [line for reason in speed.because for line in wrapped(reason, "  - ", "    ")]
    if not fit.decode:
        lines += wrapped(_("How fast it would be is not known: nobody told the memory's bandwidth."))
    return lines


def _answers(fit: Fit) -> list[str]:
    answers = fit.answers
    if answers.changes is UNSET:
        return []
    lines = []
    if answers.longest_context and fit.fits and fit.request.context > answers.longest_context:
        sentence = _("The model was made for {count} tokens of context: more fits, and it answers worse beyond those.")
        lines += wrapped(sentence.format(count=fit.model.context_trained or answers.longest_context))
    elif answers.longest_context:
        lines += wrapped(_("The longest context that fits like this: {count} tokens.").format(count=answers.longest_context))
    if answers.sequences is not UNSET:
        sentence = _("Its cache holds {count} tokens, which is {sequences} sequences of this length at once.")
        return [*lines, *wrapped(sentence.format(count=answers.cache_tokens, sequences=answers.sequences)), *change_lines(answers.changes)]
    if answers.best_quantisation:
        lines += wrapped(_("The finest quantisation that fits with this context: {name}.").format(name=answers.best_quantisation))
    else:
        lines += wrapped(_("No quantisation makes it fit with this context."))
    return lines + change_lines(answers.changes)


def change_lines(changes: Sequence[Change | TrainChange], head: str = "") -> list[str]:
    """What each change would free, one a line, and what it costs."""
    if not changes:
        return []
    lines = [
        "",
        *wrapped(head or _("What each change by itself would free, and what it costs (✓: then all of it goes where it is fastest):")),
    ]
    options, freed = [_option(change) for change in changes], [gibibytes(change.frees, 2) for change in changes]
    wide = max(map(columns, options)), max(map(columns, freed))
    for option, amount, change in zip(options, freed, changes, strict=True):
        mark = style("✓", fg="green") if (change.whole if isinstance(change, Change) else change.fits) else " "
        cost, speed = change.costs, change.decode if isinstance(change, Change) else None
        if speed and change.fits:
            cost = _("about {rate} tokens a second; {cost}").format(rate=round(speed.likely), cost=cost)
        lines += wrapped(cost, f"  {mark} {padded(option, wide[0])}  {padded(amount, wide[1])}  ", " " * 6)
    return lines


def _option(change: Change | TrainChange) -> str:
    """How the change is asked for."""
    if change.change in ("checkpointing", "eager"):
        return f"--{change.change}"
    if isinstance(change, Change) and change.steps:
        options = [step.params for step in change.steps]
        return " ".join(f"{option.module}.{option.name}={option.value}" for option in options)
    name = "" if change.change == "quantisation" else f"--{change.change.replace('_', '-')}"
    return f"{name} {change.to}".strip()


def start_lines(fit: Fit) -> list[str]:
    """The words that start it so, as a shell reads them."""
    start = fit.start
    if start is UNSET or fit.fits is False:
        return []
    variables = [f"{name}={shlex.quote(value)}" for name, value in start.environment.items()]
    words = [shlex.quote(word) for word in start.words]
    if words[0] == "ollama":
        sentence = _("So its server and the model are started:")
        return [*wrapped(sentence), *_command([*variables, "ollama", "serve"]), *_command(words)]
    return [*wrapped(_("So it is started:")), *_command([*variables, *words])]


def _command(words: list[str]) -> list[str]:
    """A command in lines that a shell reads as one."""
    lines = [f"  {words[0]}"]
    for word in words[1:]:
        if columns(lines[-1]) + columns(word) + 3 > width():
            lines[-1] += " \\"
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return lines


def _end(fit: Fit) -> list[str]:
    how = _("planned by the engine itself") if fit.exact else _("reckoned as it plans")
    if isinstance(fit.request, VllmRequest):
        how = _("reckoned from how it spends a GPU")
    lines = wrapped(_("The figures hold for {runtime}, {how}.").format(runtime=fit.runtime, how=how))
    return [line for note in fit.notes for line in wrapped(note)] + lines
