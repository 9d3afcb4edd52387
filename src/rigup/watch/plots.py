"""Plots of a recording: one HTML page that fetches nothing, and a PNG by matplotlib."""

import html
from collections.abc import Iterable, Iterator

from msgspec import UNSET

from rigup.language import _
from rigup.schemas.watch_report import FoundThen, JobSummary, ProcessSummary, Summary, WatchReport
from rigup.watch.reporting import PLOTTED, Read, Series

# Okabe and Ito's palette, which the colour-blind can tell apart; dashes tell them apart without colour.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b2a300")
_DASHES = ("", "6 3", "2 2", "8 2 2 2")
_WIDTH, _HEIGHT = 860, 150
_MOST_ROWS = 200
_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:1rem auto;padding:0 1rem;color:#111;background:#fff}
svg{width:100%;height:auto;background:#fafafa}table{border-collapse:collapse;width:100%;display:block;overflow-x:auto}
td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}td.word,th.word{text-align:left}
@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}svg{background:#222}td,th{border-color:#444}}"""


def titles() -> dict[str, str]:
    """What each plot shows."""
    return {"gpu": _("Use"), "memory": _("Memory that is taken"), "power": _("Power (W)"), "temperature": _("Temperature (°C)")}


def page(recording: Read) -> str:
    """The recording as one HTML page; words of programs stand in it as words."""
    report = recording.report
    parts = ["<h1>" + _("GPUs over {minutes} minutes").format(minutes=round((report.end - report.begin) / 60, 1)) + "</h1>"]
    for name in PLOTTED:
        parts += [f"<h2>{html.escape(titles()[name])}</h2>", _svg(recording.series, name)]
    parts += ["<ul>", *_legend(recording.series), "</ul>", *_tables(report)]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>rigup watch</title><style>{_STYLE}</style><body>{''.join(parts)}</body></html>\n"
    )


def _legend(series: list[Series]) -> Iterator[str]:
    for gpu in series:
        color, dash = _look(gpu.gpu)
        line = f'<svg style="width:3rem;background:none" viewBox="0 0 48 8"><path d="M0 4H48" stroke="{color}" stroke-width="3" stroke-dasharray="{dash}"/></svg>'
        yield f"<li>{line} GPU {gpu.gpu} {html.escape(gpu.name)}</li>"


def _look(gpu: int) -> tuple[str, str]:
    return _COLORS[gpu % len(_COLORS)], _DASHES[gpu // len(_COLORS) % len(_DASHES)]


def _svg(series: list[Series], name: str) -> str:
    """Lines over time; where nothing was told a line is broken."""
    known = [value for gpu in series for value in gpu.values[name] if value is not None]
    end = max((gpu.times[-1] for gpu in series if gpu.times), default=0.0) or 1.0
    top = 1.0 if name in ("gpu", "memory") else max(known, default=1.0) or 1.0
    lines = [_path(gpu, name, end, top) for gpu in series]
    label = f"{top:.0%}" if name in ("gpu", "memory") else f"{top:.0f}"
    return (
        f'<svg role="img" aria-label="{html.escape(titles()[name])}" viewBox="0 0 {_WIDTH} {_HEIGHT + 20}">{"".join(lines)}'
        f'<text x="4" y="14" font-size="12" fill="#888">{label}</text><text x="{_WIDTH}" y="{_HEIGHT + 16}" text-anchor="end" font-size="12" fill="#888">{end / 60:.1f} min</text></svg>'
    )


def _path(gpu: Series, name: str, end: float, top: float) -> str:
    words, drawing = [], False
    for time, value in zip(gpu.times, gpu.values[name], strict=True):
        if value is not None:
            words.append(f"{'L' if drawing else 'M'}{time / end * _WIDTH:.1f} {_HEIGHT - value / top * (_HEIGHT - 20):.1f}")
        drawing = value is not None
    color, dash = _look(gpu.gpu)
    return f'<path d="{" ".join(words)}" fill="none" stroke="{color}" stroke-width="1.5" stroke-dasharray="{dash}"/>'


def _tables(report: WatchReport) -> Iterator[str]:
    if report.jobs:
        yield "<h2>" + html.escape(_("Slurm jobs")) + "</h2>" + _table(report.jobs)
    if report.processes:
        yield "<h2>" + html.escape(_("Processes")) + "</h2>" + _table(report.processes[:_MOST_ROWS])
    if report.findings:
        items = "".join(map(_found, report.findings[:_MOST_ROWS]))
        yield "<h2>" + html.escape(_("Findings")) + f"</h2><ul>{items}</ul>"


def _found(finding: FoundThen) -> str:
    way = f"<br><small>{html.escape(finding.way)}</small>" if finding.way is not UNSET else ""
    return f"<li>{html.escape(finding.title)} <code>{html.escape(finding.cause)}</code>{way}</li>"


def heads() -> list[str]:
    """Columns of a table of processes or jobs."""
    return [_("Job"), "PID", "GPU", _("User"), _("Time"), _("Mean use"), _("Most memory"), _("Energy"), _("Slowed down"), _("Command")]


def cells(row: ProcessSummary | JobSummary) -> list[str]:
    """A row of such a table."""
    job = row.job if isinstance(row, JobSummary) else row.slurm_job if row.slurm_job is not UNSET else ""
    pid = str(row.pid) if isinstance(row, ProcessSummary) else ""
    words = (row.command, row.name) if isinstance(row, ProcessSummary) else ()
    command = next((word for word in words if word is not UNSET and word), "")
    user = row.user if row.user is not UNSET else ""
    return [job, pid, ",".join(map(str, row.gpus)), user, f"{row.seconds:.0f} s", *figures(row), command]


def figures(row: Summary) -> list[str]:
    """Mean use, most memory, energy and time slowed down; a dash for what was never told."""
    use = f"{row.utilisation:.0%}" if row.utilisation is not UNSET else "–"
    memory = f"{row.peak_memory / 1024**3:.1f} GiB" if row.peak_memory is not UNSET else "–"
    energy = f"{row.energy / 3600:.1f} Wh" if row.energy is not UNSET else "–"
    return [use, memory, energy, f"{row.throttled:.0f} s" if row.throttled is not UNSET else "–"]


def _table(rows: Iterable[ProcessSummary | JobSummary]) -> str:
    lines = ["".join(f'<th class="word">{html.escape(head)}</th>' for head in heads())]
    lines += ["".join(f"<td{_word(number)}>{html.escape(cell[:300])}</td>" for number, cell in enumerate(cells(row))) for row in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _word(number: int) -> str:
    return ' class="word"' if number in (3, 9) else ""


def picture(recording: Read, path: str) -> None:
    """A PNG with a panel for each plot. Raises ImportError without matplotlib, OSError where the file cannot be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(10, 9), layout="constrained")
    FigureCanvasAgg(drawn)
    for axis, name in zip(drawn.subplots(len(PLOTTED), 1, sharex=True), PLOTTED, strict=True):
        for gpu in recording.series:
            values = [float("nan") if value is None else value for value in gpu.values[name]]
            axis.plot([time / 60 for time in gpu.times], values, color=_look(gpu.gpu)[0], linewidth=1, label=f"GPU {gpu.gpu} {gpu.name}")
        axis.set_title(titles()[name], loc="left", fontsize=9)
        if name in ("gpu", "memory"):
            axis.set_ylim(0, 1.02)
    axis.set_xlabel("min")
    drawn.axes[0].legend(fontsize=7, loc="upper right")
    drawn.savefig(path, format="png", dpi=110)
