"""`rigup watch --once`: GPUs, processes and findings as a table for a terminal of any width."""

from msgspec import UNSET

from rigup.cli.guard import style
from rigup.cli.layout import columns, padded, width, wrapped
from rigup.language import _
from rigup.schemas.watch import Watch, WatchedProcess
from rigup.schemas.watch_gpu import WatchedGpu
from rigup.visible import visible
from rigup.watch.history import memory_of, memory_used

_DASH = "–"
_MOST_PROCESSES, _MOST_OTHERS = 40, 12


def table(sample: Watch, color: bool, most: int = _MOST_PROCESSES) -> str:
    """The sample for a person."""
    lines = [*_host_lines(sample, color), *_gpu_lines(sample, color)]
    lines += ["", *_process_lines(sample.processes, most)] if sample.processes else []
    users = {process.pid for process in sample.processes}
    others = [process for process in sample.host_processes if process.pid not in users] if sample.host_processes is not UNSET else []
    lines += ["", *_other_lines(others[:_MOST_OTHERS])] if others else []
    if sample.findings:
        from rigup.cli.watch_findings import finding_lines

        lines += ["", *finding_lines(sample.findings, color)]
    for error in sample.errors:
        subject = f"GPU {error.gpu}: {error.what}" if error.gpu is not UNSET else error.what
        lines += wrapped(_("{what} could not be read: {because}").format(what=visible(subject), because=visible(error.because)))
    return "\n".join(lines)


def _gpu_lines(sample: Watch, color: bool) -> list[str]:
    if not sample.gpus:
        return wrapped(_("There is no GPU here that can be watched."))
    heads = gpu_heads()
    rows = [gpu_cells(gpu) for gpu in sample.gpus]
    lines = aligned([heads, *rows], shrink=1, right=(2, 3, 4, 5, 6))
    marked = {number for number, gpu in enumerate(sample.gpus, 1) if gpu.throttle or gpu.state in ("lost", "error")}
    return [
        style(line, bold=True) if color and not number else style(line, fg="yellow") if color and number in marked else line
        for number, line in enumerate(lines)
    ]


def gpu_heads() -> list[str]:
    """The heads of `gpu_cells`."""
    return ["GPU", _("Name"), _("Use"), _("Memory"), _("Temp"), _("Power"), _("Clock"), _("Slowed by")]


def gpu_cells(gpu: WatchedGpu) -> list[str]:
    """A GPU as the cells of a row."""
    name = visible(gpu.name) if gpu.name is not UNSET else _DASH
    if gpu.state != "active":
        states = {"asleep": _("asleep"), "lost": _("lost"), "error": _("error")}
        return [str(gpu.index), name, states[gpu.state], "", "", "", "", ""]
    used, total = memory_used(gpu)
    memory = f"{used / 1024**3:.1f}/{total / 1024**3:.0f} GiB" if used is not None and total else _DASH
    heat = [value for value in (gpu.temperature.junction, gpu.temperature.edge) if value is not UNSET]
    draw, limit = gpu.power.draw, gpu.power.limit
    power = f"{draw:.0f}" + (f"/{limit:.0f} W" if limit is not UNSET else " W") if draw is not UNSET else _DASH
    clock = gpu.clock.graphics
    throttle = _DASH if gpu.throttle is UNSET else ", ".join(gpu.throttle)
    return [
        str(gpu.index),
        name,
        _share(gpu.utilisation.gpu),
        memory,
        f"{max(heat):.0f} °C" if heat else _DASH,
        power,
        f"{clock / 1e6:.0f} MHz" if clock is not UNSET else _DASH,
        throttle,
    ]


def _share(value: object) -> str:
    return f"{value:.0%}" if isinstance(value, int | float) else _DASH


def _host_lines(sample: Watch, color: bool) -> list[str]:
    """The machine, a line for each part of it."""
    if sample.host is UNSET:
        return []
    from rigup.cli.watch_host import host_rows

    rows = host_rows(sample.host)
    wide = max((columns(name) for name, _text in rows), default=0)
    name = [visible(sample.host.name)] if sample.host.name is not UNSET else []
    return [
        *(style(word, bold=True) if color else word for word in name),
        *(line for head, text in rows for line in wrapped(text, padded(head, wide) + "  ")),
        "",
    ]


def _other_lines(processes: list[WatchedProcess]) -> list[str]:
    """Processes that use no GPU, those that use most of the processors first."""
    heads = ["PID", _("User"), "CPU", "RAM", _("Job"), _("Command")]
    rows = [_other_cells(process) for process in processes]
    return aligned(_without_jobs([heads, *rows], 4), shrink=-1, right=(0, 2, 3))


def _other_cells(process: WatchedProcess) -> list[str]:
    pid, _gpus, user, _use, _memory, cpu, job, command = _process_cells(process)
    return [pid, user, cpu, _rss(process), job, command]


def _rss(process: WatchedProcess) -> str:
    from rigup.cli.watch_host import size

    return size(process.rss) if process.rss is not UNSET else _DASH


def _process_lines(processes: list[WatchedProcess], most: int) -> list[str]:
    shown = sorted(processes, key=memory_of, reverse=True)[:most]
    heads = ["PID", "GPU", _("User"), _("Use"), _("Memory"), "CPU", _("Job"), _("Command")]
    lines = aligned(_without_jobs([heads, *map(_process_cells, shown)], 6), shrink=-1, right=(0, 3, 4, 5))
    if len(processes) > most:
        lines.append(_("… and {count} more").format(count=len(processes) - most))
    return lines


def _without_jobs(rows: list[list[str]], column: int) -> list[list[str]]:
    """The rows without the column of jobs and containers where nobody is in one."""
    return rows if any(row[column] for row in rows[1:]) else [[*row[:column], *row[column + 1 :]] for row in rows]


def _process_cells(process: WatchedProcess) -> list[str]:
    shares = [part.utilisation.gpu for part in process.gpus if part.utilisation.gpu is not UNSET]
    job = process.slurm_job if process.slurm_job is not UNSET else ""
    box = process.container.engine if process.container is not UNSET else ""
    words = [process.command, process.name, process.because]
    command = next((visible(word) for word in words if word is not UNSET and word), "")
    held = memory_of(process)
    return [
        str(process.pid),
        ",".join(str(part.index) for part in process.gpus),
        visible(process.user) if process.user is not UNSET else _DASH,
        _share(max(shares) if shares else None),
        f"{held / 1024**3:.1f} GiB" if held else _DASH,
        _share(process.cpu),
        " ".join(filter(None, (job, box))),
        command,
    ]


def aligned(rows: list[list[str]], shrink: int, right: tuple[int, ...]) -> list[str]:
    """Columns beside each other, the one that may shrink cut so that lines fit."""
    widths = [max(columns(row[number]) for row in rows) for number in range(len(rows[0]))]
    shrink %= len(widths)
    over = sum(widths) + 2 * (len(widths) - 1) - width()
    widths[shrink] = max(widths[shrink] - max(over, 0), 8)
    lines = []
    for row in rows:
        cells = []
        for number, cell in enumerate(row):
            fitting = _cut(cell, widths[number]) if number == shrink else cell
            blanks = " " * (widths[number] - columns(fitting))
            cells.append(blanks + fitting if number in right else padded(fitting, widths[number]))
        lines.append("  ".join(cells).rstrip())
    return lines


def _cut(text: str, most: int) -> str:
    """As much as fits, with a sign where something is left out."""
    if columns(text) <= most:
        return text
    while columns(text) > most - 1:
        text = text[:-1]
    return text + "…"
