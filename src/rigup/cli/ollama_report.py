"""The report of `rigup ollama doctor`, in lines."""

from collections.abc import Callable

from rigup.cli.guard import style
from rigup.cli.layout import padded, wrapped
from rigup.language import _
from rigup.schemas.ollama import Folder, OllamaDoctor, Setting
from rigup.sizes import gibibytes

_COLORS = {"healthy": "green", "degraded": "yellow", "broken": "red", "unknown": "yellow", "absent": "yellow"}
_ROOM = 26
_NEARLY = 0.9  # of what could be used: what is kept free of it is no miscount


def text(answer: OllamaDoctor, verbose: int = 0) -> str:
    """The whole report."""
    if answer.verdict == "absent":
        sentence = _("There is no ollama here: no service, no program, no log. Where it runs in a container, give its log with --from.")
        return "\n".join(wrapped(sentence))
    others = (_devices, _settings, _integrated, _loaded, _unseen)
    sections = [_head(answer), _findings(answer, verbose), *(section(answer) for section in others)]
    return "\n\n".join("\n".join(lines) for lines in sections if lines)


def _head(answer: OllamaDoctor) -> list[str]:
    verdict = style(_(answer.verdict).capitalize(), fg=_COLORS[answer.verdict], bold=True)
    runs = {True: _("it runs"), False: _("it does not run"), None: _("nobody could see whether it runs")}[answer.running]
    rows: list[tuple[str, str]] = [
        (_("Version"), answer.version or _("not known")),
        (_("Server"), runs),
        (_("Started by"), _("nothing that could be seen") if answer.manager == "none" else answer.manager),
        (_("Runs as"), answer.user or _("not known")),
        (_("Models lie in"), _folder(answer.models)),
    ]
    return [verdict, *_rows(rows)]


def _folder(models: Folder) -> str:
    path = models.path or _("not known")
    return path if models.free is None else _("{path} ({free} free)").format(path=path, free=gibibytes(models.free, 2))


def _rows(rows: list[tuple[str, str]]) -> list[str]:
    return [line for label, value in rows for line in wrapped(value, "  " + padded(label, _ROOM), " " * (_ROOM + 2))]


def _titled(title: str, lines: list[str]) -> list[str]:
    return [style(title, bold=True), *lines] if lines else []


def _findings(answer: OllamaDoctor, verbose: int) -> list[str]:
    from rigup.cli.report import finding, grouped, loud

    found = [shown for shown in grouped(answer.findings) if loud(shown)]
    reports = [finding(shown, verbose) for shown in found]
    return [line for number, lines in enumerate(reports) for line in (["", *lines] if number else lines)]


def _devices(answer: OllamaDoctor) -> list[str]:
    """What its log says that it computes on."""
    lines = []
    for device in answer.devices:
        name = " ".join(filter(None, (device.name, device.compute)))
        room = (
            _("{total}, of which {free} free").format(total=gibibytes(device.total, 2), free=gibibytes(device.available or 0, 2))
            if device.total
            else ""
        )
        lines += _rows([(device.library, "  ".join(filter(None, (name, room))))])
    return _titled(_("It computes on, by its log"), lines)


def _settings(answer: OllamaDoctor) -> list[str]:
    """What is set, and what of it the server has."""
    descriptions: dict[str, Callable[[Setting], str]] = {
        "in-force": lambda setting: _("in force, by {source}").format(source=setting.source),
        "not-taken-over": lambda setting: _(
            "given by {source} as {configured}, but the server runs with {running}: restart it, or another file wins"
        ).format(source=setting.source, configured=setting.configured, running=setting.running or _("nothing")),
        "shell-only": lambda _setting: _("in your shell only: the service does not see it"),
        "unknown": lambda setting: _("given by {source}; whether the server has it could not be seen").format(source=setting.source),
    }
    shown = [setting for setting in answer.settings if setting.state in descriptions]
    rows = [(setting.name, _value(setting) + "  " + descriptions[setting.state](setting)) for setting in shown]
    others = [f"{setting.name}={setting.running}" for setting in answer.settings if setting.state == "running-only"]
    lines = [line for name, value in rows for line in wrapped(value, "  " + name + "=", "      ")]
    if others:
        lines += wrapped(_("It also runs with {others}.").format(others=", ".join(others)), "  ")
    return _titled(_("Settings"), lines)


def _value(setting: Setting) -> str:
    return setting.configured or setting.shell or ""


def _integrated(answer: OllamaDoctor) -> list[str]:
    lines: list[str] = []
    for gpu in answer.integrated:
        template = _("{name} shares the machine's memory: {carved} set aside by the firmware, {mapped} that it may map.")
        carved, mapped = (gibibytes(room, 2) if room else _("an unknown amount") for room in (gpu.carved_out, gpu.mappable))
        lines += wrapped(template.format(name=gpu.name, carved=carved, mapped=mapped), "  ", "  ")
        if gpu.counted and gpu.usable and gpu.counted < _NEARLY * gpu.usable:
            explanation = _(
                "ollama counts on {counted} of it, and {usable} could be used; a model that needs more is split with the processor."
            )
            lines += wrapped(explanation.format(counted=gibibytes(gpu.counted, 2), usable=gibibytes(gpu.usable, 2)), "  ", "  ")
    return _titled(_("Graphics in the processor"), lines)


def _loaded(answer: OllamaDoctor) -> list[str]:
    lines: list[str] = []
    for model in answer.loaded:
        template = _("{name}, {size}: {gpu} % on the GPU, {cpu} % on the processor")
        lines += wrapped(template.format(name=model.name, size=model.size, gpu=model.on_gpu, cpu=100 - model.on_gpu), "  ")
        if plan := model.planned:
            explanation = _("fit reckons with {context} tokens of context: {total} in all, {layers} of {all} layers on the GPU.")
            lines += wrapped(
                explanation.format(context=plan.context, total=gibibytes(plan.total, 2), layers=plan.gpu_layers, all=plan.layers),
                "    ",
                "    ",
            )
        lines += wrapped(model.why, "    ", "    ") if model.why else []
    return _titled(_("In memory"), lines)


def _unseen(answer: OllamaDoctor) -> list[str]:
    return _titled(_("What could not be seen"), [line for reason in answer.unseen for line in wrapped(reason, "  - ", "    ")])
