"""What `rigup cluster report` says for people: a table, and a page to send round."""

from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape

from rigup.cli.cluster_report import document, grid, html_table, span
from rigup.cli.layout import wrapped
from rigup.language import _
from rigup.schemas.cluster_report import ClusterReport, JobUse, UseSums
from rigup.sizes import size
from rigup.visible import visible

Table = tuple[str, list[str], list[list[str]]]  # title, heads, rows
_HOUR = 3600


def report_text(answer: ClusterReport) -> str:
    """What would be gained first, then the tables."""
    parts = [[line for text in _sentences(answer) for line in wrapped(text)]]
    parts += [[title, *grid(heads, rows)] for title, heads, rows in _tables(answer)]
    return "\n\n".join("\n".join(part) for part in parts)


def report_page(answer: ClusterReport) -> str:
    """One HTML file without a script and without the network."""
    title = escape(visible(answer.slurm.cluster) or _("The cluster"))
    prose = "".join(f"<p>{escape(visible(text))}</p>\n" for text in _sentences(answer))
    tables = "".join(f"<h2>{escape(name)}</h2>\n{html_table(heads, rows)}" for name, heads, rows in _tables(answer))
    return document(title, prose + tables)


def _sentences(answer: ClusterReport) -> Iterator[str]:
    sums = answer.sums
    if answer.since is None or answer.until is None:
        yield _("No job ran in this time.")
        return
    template = _("{jobs} jobs from {start} to {end} held {hours} GPU-hours.")
    yield template.format(jobs=sums.jobs, start=_day(answer.since), end=_day(answer.until), hours=_hours(sums.gpu_seconds))
    if sums.gpu_seconds_known:
        template = _("The use of {known} of them was measured: {unused} GPU-hours ({share:.0%}) were not used, and could be gained.")
        share = sums.gpu_seconds_unused / sums.gpu_seconds_known
        yield template.format(known=_hours(sums.gpu_seconds_known), unused=_hours(sums.gpu_seconds_unused), share=share)
    elif sums.gpu_seconds:
        yield _("Nobody measured how they were used: the site gathers no gres/gpuutil, and no training wrote a history.")
    if sums.memory_seconds:
        template = _("Of the memory that was asked for, {share:.0%} was not used (jobs whose use is known).")
        yield template.format(share=sums.memory_seconds_unused / sums.memory_seconds)
    for source in answer.sources:
        if not source.whole:
            yield _("Not read: {command} ({said})").format(command=source.command, said=source.said or "-")


def _tables(answer: ClusterReport) -> Iterator[Table]:
    if answer.jobs:
        heads = [
            _("job"),
            _("partition"),
            _("ran"),
            "GPU",
            _("GPUs used"),
            _("busy"),
            _("GPU-hours not used"),
            _("memory used"),
            _("whose"),
        ]
        yield _("Jobs that left most unused"), heads, [_job_row(row) for row in answer.jobs]
    if answer.accounts:
        heads = [_("account"), _("jobs"), _("GPU-hours"), _("GPU-hours not used"), _("memory not used")]
        yield _("Accounts"), heads, [[row.account or "-", *_sums_row(row.sums)] for row in answer.accounts]
    if answer.waits:
        heads = [_("partition"), _("jobs"), _("half waited less than"), _("nine of ten less than"), _("longest wait")]
        rows = [[row.partition, str(row.jobs), *map(span, (row.median, row.ninth, row.longest))] for row in answer.waits]
        yield _("Waiting in the queue"), heads, rows


def _job_row(row: JobUse) -> list[str]:
    unused = _hours(row.gpu_seconds_unused) if isinstance(row.gpu_seconds_unused, int) else "-"
    memory = f"{_size(row.memory_used)} / {_size(row.memory)}" if isinstance(row.memory_used, int) else "-"
    whose = " ".join(word for word in (row.user, row.name) if isinstance(word, str))
    used = str(row.gpus_used) if isinstance(row.gpus_used, int) else "-"
    busy = f"{row.busy:.0%}" if isinstance(row.busy, float) else "-"
    return [row.job, row.partition, span(row.seconds), str(row.gpus), used, busy, unused, memory, whose or "-"]


def _sums_row(sums: UseSums) -> list[str]:
    unused = _hours(sums.gpu_seconds_unused) if sums.gpu_seconds_known else "-"
    memory = f"{sums.memory_seconds_unused / sums.memory_seconds:.0%}" if sums.memory_seconds else "-"
    return [str(sums.jobs), _hours(sums.gpu_seconds), unused, memory]


def _size(value: object) -> str:
    return size(value) if isinstance(value, int) else "-"


def _hours(seconds: int) -> str:
    return f"{seconds / _HOUR:.1f}"


def _day(stamp: int) -> str:
    return datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d")
