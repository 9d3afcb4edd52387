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


def text(told: Answer, color: bool = False) -> str:
    """The whole report."""
    parts = [
        _head(told), *(_memory(one) for one in told["devices"]), _speed(told), _answers(told), start_lines(told), _end(told)
    ]  # fmt: skip
    said = "\n\n".join("\n".join(part) for part in parts if part)
    return said if color else click.unstyle(said)


def list_text(models: list[Answer], color: bool = False) -> str:
    """The models that a machine holds, one a line."""
    if not models:
        return "\n".join(wrapped(_("No model of the table fits this machine whole.")))
    head = wrapped(
        _("Models that fit whole with a server's settings, the largest first; tokens a second are estimates:")
    )
    rows = [(one["name"], one["quantisation"], size(one["total"]), _rate(one["decode"])) for one in models]
    wide = [max(columns(row[place]) for row in rows) for place in range(4)]
    lines = [
        f"  {padded(name, wide[0])}  {padded(kind, wide[1])}  {' ' * (wide[2] - columns(total))}{total}  {rate}".rstrip()
        for name, kind, total, rate in rows
    ]
    said = "\n".join([*(style(line, bold=True) for line in head), *lines])
    return said if color else click.unstyle(said)


def _rate(told: Answer | None) -> str:
    return _("{low} to {high} tokens/s").format(low=round(told["low"]), high=round(told["high"])) if told else ""


def _head(told: Answer) -> list[str]:
    model = told["model"]
    fields = {"model": model["name"], "type": model["quantisation"], "context": told["request"]["context"], "size": size(told["memory"]["total"])}  # fmt: skip
    if not told["fits"]:
        said = _("{model} {type} does not fit: with {context} tokens of context it takes {size}.")
    elif len(told["devices"]) == 1:
        said = _("{model} {type} fits: with {context} tokens of context it takes {size} of main memory.")
    elif (answers := told["answers"]) and "gpu_layers" in answers and answers["gpu_layers"] < answers["layers"]:
        said = _("{model} {type} fits in part: with {context} tokens of context it takes {size}, and {layers} of {all} layers go on the GPU.")  # fmt: skip
        fields |= {"layers": told["answers"]["gpu_layers"], "all": told["answers"]["layers"]}
    else:
        said = _("{model} {type} fits: with {context} tokens of context it takes {size}.")
    return [style(line, bold=True) for line in wrapped(said.format(**fields))]


def size(count: int) -> str:
    """Bytes as a person says them."""
    return _("{size} GiB").format(size=f"{count / _GIB:.2f}" if count < 100 * _GIB else f"{count / _GIB:.0f}")


def _memory(one: Answer) -> list[str]:
    """One memory: how full it would be, and of what."""
    if not one["total"]:
        return []
    free = one["free"]
    if free is None:
        head = _("{memory}: {size} of what is not known").format(memory=one["name"], size=size(one["total"]))
    else:
        said = _("{memory}: {size} of {free} free") if one["fits"] else _("{memory}: {size}, but only {free} free")
        head = said.format(memory=one["name"], size=size(one["total"]), free=size(free))
    if one["assumed"] and free is not None:
        head = _("{text} (reckoned, not read)").format(text=head)
    lines = wrapped(head)
    bar = _bar(one)
    names = [
        f"{_MARKS[name]} {_(word)} {size(one[name])}" for name, word in _PARTS.items() if one[name] / _GIB >= _SMALL
    ]
    return [*lines, *([f"  {bar}"] if bar else []), *wrapped(", ".join(names), "  ", "  ")]


def _bar(one: Answer) -> str:
    room = min(_BAR, width() - 4)
    most = max(one["free"] or 0, one["total"])
    if room < _LEAST_BAR or not most:
        return ""
    told, filled = "", 0.0
    for name in _PARTS:
        filled += one[name] / most * room
        told += _MARKS[name] * (round(filled) - len(told))
    return "[" + padded(told, room).replace(" ", "·") + "]"


def _speed(told: Answer) -> list[str]:
    lines = []
    for name, said in (
        ("decode", _("It writes about {likely} tokens a second, between {low} and {high}.")),
        ("prefill", _("It reads a prompt at about {likely} tokens a second, between {low} and {high}.")),
    ):
        one = told.get(name)
        if one:
            lines += wrapped(said.format(likely=one["likely"], low=one["low"], high=one["high"]))
            lines += [line for reason in one["because"] for line in wrapped(reason, "  - ", "    ")]
    if not told.get("decode"):
        lines += wrapped(_("How fast it would be is not known: nobody told the memory's bandwidth."))
    return lines


def _answers(told: Answer) -> list[str]:
    answers = told["answers"]
    if not answers:
        return []
    lines = []
    if answers["longest_context"]:
        lines += wrapped(_("The longest context that fits like this: {count} tokens.").format(count=answers["longest_context"]))  # fmt: skip
    if "sequences" in answers:
        said = _("Its cache holds {count} tokens, which is {sequences} sequences of this length at once.")
        return [
            *lines,
            *wrapped(said.format(count=answers["cache_tokens"], sequences=answers["sequences"])),
            *changes_told(answers["changes"]),
        ]
    if answers["best_quantisation"]:
        lines += wrapped(_("The finest quantisation that fits with this context: {name}.").format(name=answers["best_quantisation"]))  # fmt: skip
    else:
        lines += wrapped(_("No quantisation makes it fit with this context."))
    return lines + changes_told(answers["changes"])


def changes_told(changes: list[Answer], head: str = "") -> list[str]:
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
    options, freed = [_option(one) for one in changes], [size(one["frees"]) for one in changes]
    wide = max(map(columns, options)), max(map(columns, freed))
    for option, amount, one in zip(options, freed, changes, strict=True):
        mark = style("✓", fg="green") if one.get("whole", one["fits"]) else " "
        said, speed = one["costs"], one.get("decode")
        if speed and one["fits"]:
            said = _("about {rate} tokens a second; {cost}").format(rate=round(speed["likely"]), cost=said)
        lines += wrapped(said, f"  {mark} {padded(option, wide[0])}  {padded(amount, wide[1])}  ", " " * 6)
    return lines


def _option(change: Answer) -> str:
    """How the change is asked for."""
    if change["change"] in ("checkpointing", "eager"):
        return f"--{change['change']}"
    if change["change"] == "gtt":
        return " ".join(
            f"{one['params']['module']}.{one['params']['name']}={one['params']['value']}" for one in change["steps"]
        )
    name = "" if change["change"] == "quantisation" else f"--{change['change'].replace('_', '-')}"
    return f"{name} {change['to']}".strip()


def start_lines(told: Answer) -> list[str]:
    """The words that start it so, as a shell reads them."""
    start = told.get("start")
    if not start or told["fits"] is False:
        return []
    variables = [f"{name}={shlex.quote(value)}" for name, value in start["environment"].items()]
    words = [shlex.quote(word) for word in start["words"]]
    if words[0] == "ollama":
        said = _("So its server and the model are started:")
        return [*wrapped(said), *_command([*variables, "ollama", "serve"]), *_command(words)]
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


def _end(told: Answer) -> list[str]:
    how = _("planned by the engine itself") if told["exact"] else _("reckoned as it plans")
    if told["request"]["engine"] == "vllm":
        how = _("reckoned from how it spends a GPU")
    lines = wrapped(_("The figures hold for {runtime}, {how}.").format(runtime=told["runtime"], how=how))
    return [line for note in told["notes"] for line in wrapped(note)] + lines
