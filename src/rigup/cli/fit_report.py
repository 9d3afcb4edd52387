"""The answer of `rigup fit` as a person reads it: the verdict, a bar for each memory, how fast, and what else would go."""

import shlex
from typing import Any

import click

from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, width, wrapped
from rigup.language import N_, _

Answer = dict[str, Any]
_GIB = 1 << 30
_BAR, _LEAST_BAR = 40, 12
_PARTS = {
    "weights": N_("weights"), "kv": N_("cache"), "recurrent": N_("state"), "compute": N_("work space"),
    "output": N_("results"), "projector": N_("projector"), "overhead": N_("the engine itself"),
}  # fmt: skip
_MARKS = {"weights": "█", "kv": "▓", "recurrent": "▓", "compute": "▒", "output": "▒", "projector": "▒", "overhead": "░"}
_SMALL = 0.005  # of a gibibyte; what is less is not named


def text(fit: Answer, color: bool = False) -> str:
    """The whole report."""
    parts = [
        _head(fit), *(_memory(device) for device in fit["devices"]), _speed(fit), _answers(fit), start_lines(fit), _end(fit)
    ]  # fmt: skip
    report = "\n\n".join("\n".join(part) for part in parts if part)
    return report if color else click.unstyle(report)


def list_text(models: list[Answer], color: bool = False) -> str:
    """The models that a machine holds, one a line."""
    if not models:
        return "\n".join(wrapped(_("No model of the table fits this machine whole.")))
    head = wrapped(
        _("Models that fit whole with a server's settings, the largest first; tokens a second are estimates:")
    )
    rows = [(model["name"], model["quantisation"], size(model["total"]), _rate(model["decode"])) for model in models]
    wide = [max(columns(row[place]) for row in rows) for place in range(4)]
    lines = [
        f"  {padded(name, wide[0])}  {padded(kind, wide[1])}  {' ' * (wide[2] - columns(total))}{total}  {rate}".rstrip()
        for name, kind, total, rate in rows
    ]
    report = "\n".join([*(style(line, bold=True) for line in head), *lines])
    return report if color else click.unstyle(report)


def _rate(rate: Answer | None) -> str:
    return _("{low} to {high} tokens/s").format(low=round(rate["low"]), high=round(rate["high"])) if rate else ""


def _head(fit: Answer) -> list[str]:
    model = fit["model"]
    fields = {"model": model["name"], "type": model["quantisation"], "context": fit["request"]["context"], "size": size(fit["memory"]["total"])}  # fmt: skip
    if not fit["fits"]:
        sentence = _("{model} {type} does not fit: with {context} tokens of context it takes {size}.")
    elif len(fit["devices"]) == 1:
        sentence = _("{model} {type} fits: with {context} tokens of context it takes {size} of main memory.")
    elif (answers := fit["answers"]) and "gpu_layers" in answers and answers["gpu_layers"] < answers["layers"]:
        sentence = _("{model} {type} fits in part: with {context} tokens of context it takes {size}, and {layers} of {all} layers go on the GPU.")  # fmt: skip
        fields |= {"layers": fit["answers"]["gpu_layers"], "all": fit["answers"]["layers"]}
    else:
        sentence = _("{model} {type} fits: with {context} tokens of context it takes {size}.")
    return [style(line, bold=True) for line in wrapped(sentence.format(**fields))]


def size(count: int) -> str:
    """Bytes as a person says them."""
    return _("{size} GiB").format(size=f"{count / _GIB:.2f}" if count < 100 * _GIB else f"{count / _GIB:.0f}")


def _memory(pool: Answer) -> list[str]:
    """One memory: how full it would be, and of what."""
    if not pool["total"]:
        return []
    free = pool["free"]
    if free is None:
        head = _("{memory}: {size} of what is not known").format(memory=pool["name"], size=size(pool["total"]))
    else:
        sentence = _("{memory}: {size} of {free} free") if pool["fits"] else _("{memory}: {size}, but only {free} free")
        head = sentence.format(memory=pool["name"], size=size(pool["total"]), free=size(free))
    if pool["assumed"] and free is not None:
        head = _("{text} (reckoned, not read)").format(text=head)
    lines = wrapped(head)
    bar = _bar(pool)
    names = [
        f"{_MARKS[name]} {_(word)} {size(pool[name])}" for name, word in _PARTS.items() if pool[name] / _GIB >= _SMALL
    ]
    return [*lines, *([f"  {bar}"] if bar else []), *wrapped(", ".join(names), "  ", "  ")]


def _bar(pool: Answer) -> str:
    room = min(_BAR, width() - 4)
    most = max(pool["free"] or 0, pool["total"])
    if room < _LEAST_BAR or not most:
        return ""
    bar, filled = "", 0.0
    for name in _PARTS:
        filled += pool[name] / most * room
        bar += _MARKS[name] * (round(filled) - len(bar))
    return "[" + padded(bar, room).replace(" ", "·") + "]"


def _speed(fit: Answer) -> list[str]:
    lines = []
    for name, sentence in (
        ("decode", _("It writes about {likely} tokens a second, between {low} and {high}.")),
        ("prefill", _("It reads a prompt at about {likely} tokens a second, between {low} and {high}.")),
    ):
        speed = fit.get(name)
        if speed:
            lines += wrapped(sentence.format(likely=speed["likely"], low=speed["low"], high=speed["high"]))
            lines += [line for reason in speed["because"] for line in wrapped(reason, "  - ", "    ")]
    if not fit.get("decode"):
        lines += wrapped(_("How fast it would be is not known: nobody told the memory's bandwidth."))
    return lines


def _answers(fit: Answer) -> list[str]:
    answers = fit["answers"]
    if not answers:
        return []
    lines = []
    if answers["longest_context"]:
        lines += wrapped(_("The longest context that fits like this: {count} tokens.").format(count=answers["longest_context"]))  # fmt: skip
    if "sequences" in answers:
        sentence = _("Its cache holds {count} tokens, which is {sequences} sequences of this length at once.")
        return [
            *lines,
            *wrapped(sentence.format(count=answers["cache_tokens"], sequences=answers["sequences"])),
            *change_lines(answers["changes"]),
        ]
    if answers["best_quantisation"]:
        lines += wrapped(_("The finest quantisation that fits with this context: {name}.").format(name=answers["best_quantisation"]))  # fmt: skip
    else:
        lines += wrapped(_("No quantisation makes it fit with this context."))
    return lines + change_lines(answers["changes"])


def change_lines(changes: list[Answer], head: str = "") -> list[str]:
    """What each change would free, one a line, and what it costs."""
    if not changes:
        return []
    lines = [
        "",
        *wrapped(
            head
            or _(
                "What each change by itself would free, and what it costs (✓: then all of it goes where it is fastest):"
            )
        ),
    ]
    options, freed = [_option(change) for change in changes], [size(change["frees"]) for change in changes]
    wide = max(map(columns, options)), max(map(columns, freed))
    for option, amount, change in zip(options, freed, changes, strict=True):
        mark = style("✓", fg="green") if change.get("whole", change["fits"]) else " "
        cost, speed = change["costs"], change.get("decode")
        if speed and change["fits"]:
            cost = _("about {rate} tokens a second; {cost}").format(rate=round(speed["likely"]), cost=cost)
        lines += wrapped(cost, f"  {mark} {padded(option, wide[0])}  {padded(amount, wide[1])}  ", " " * 6)
    return lines


def _option(change: Answer) -> str:
    """How the change is asked for."""
    if change["change"] in ("checkpointing", "eager"):
        return f"--{change['change']}"
    if change["change"] == "gtt":
        return " ".join(
            f"{step['params']['module']}.{step['params']['name']}={step['params']['value']}" for step in change["steps"]
        )
    name = "" if change["change"] == "quantisation" else f"--{change['change'].replace('_', '-')}"
    return f"{name} {change['to']}".strip()


def start_lines(fit: Answer) -> list[str]:
    """The words that start it so, as a shell reads them."""
    start = fit.get("start")
    if not start or fit["fits"] is False:
        return []
    variables = [f"{name}={shlex.quote(value)}" for name, value in start["environment"].items()]
    words = [shlex.quote(word) for word in start["words"]]
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


def _end(fit: Answer) -> list[str]:
    how = _("planned by the engine itself") if fit["exact"] else _("reckoned as it plans")
    if fit["request"]["engine"] == "vllm":
        how = _("reckoned from how it spends a GPU")
    lines = wrapped(_("The figures hold for {runtime}, {how}.").format(runtime=fit["runtime"], how=how))
    return [line for note in fit["notes"] for line in wrapped(note)] + lines
