"""What `rigup cluster` says for people: a table, a map of nodes, a page."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from html import escape

from msgspec import UNSET

from rigup.cli.layout import columns, padded, width, wrapped
from rigup.language import N_, _, current
from rigup.machine.slurm.hostlist import fold
from rigup.schemas.cluster import Cluster, ClusterNode, ClusterPartition, GpuCount, Idle, Worth, YourJob
from rigup.sizes import duration, size
from rigup.visible import visible

_LETTERS = {
    N_("idle"): ".",
    N_("mixed"): "o",
    N_("allocated"): "#",
    N_("down"): "x",
    N_("drained"): "d",
    N_("reserved"): "r",
    N_("maintenance"): "m",
    N_("planned"): "p",
    N_("unknown"): "?",
}
_MOST_REASONS = 6
_MOST_JOBS = 20
_NARROW = 20  # columns that a last cell must have to be wrapped below itself
_TENTH_TERA = 1e11


def table_text(answer: Cluster) -> str:
    """Idle GPUs first, then who may use what, the queue, limits, and what is wrong."""
    parts = [
        _head(answer),
        _idle_lines(answer),
        _partition_lines(answer),
        _queue_lines(answer),
        _your_lines(answer),
        _limit_lines(answer),
        _finding_lines(answer),
        _source_lines(answer),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head(answer: Cluster) -> list[str]:
    name = visible(answer.slurm.cluster) or _("The cluster")
    gpus = sum(gpus.total for node in answer.nodes for gpus in node.gpus)
    free = _free(answer)
    template = _("{name}: {nodes} nodes, {gpus} GPUs, of which {free} stand idle and can be used now.")
    return wrapped(template.format(name=name, nodes=len(answer.nodes), gpus=gpus, free=free))


def _free(answer: Cluster) -> int:
    """Idle GPUs that can be used, each once although its node may be in several partitions."""
    counted: dict[str, int] = {}
    for partition in answer.partitions:
        for name, count in partition.gpus.items():
            counted[name] = max(counted.get(name, 0), count.usable or 0)
    return sum(counted.values())


def grid(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Columns as wide as their widest cell; the last takes what is left and is wrapped."""
    rows = [[visible(cell) for cell in row] for row in rows]
    if not rows:
        return []
    rooms = [max(columns(row[place]) for row in [heads, *rows]) for place in range(len(heads) - 1)]
    lines = []
    for row in [heads, *rows]:
        first = "".join(padded(cell, room) + "  " for cell, room in zip(row, rooms, strict=False))
        lines += wrapped(row[-1], first, " " * (columns(first) if width() - columns(first) > _NARROW else width() // 2)) or [first.rstrip()]
    return lines


def _idle_lines(answer: Cluster) -> list[str]:
    heads = [_("partition"), _("GPU"), _("idle"), _("on nodes"), _("worth")]
    return grid(heads, (_idle_row(row) for row in answer.idle)) or [_("No GPU stands idle that can be used now.")]


def _idle_row(row: Idle) -> list[str]:
    total = sum(int(count) * nodes for count, nodes in row.nodes.items())
    on_nodes = ", ".join(f"{nodes} x {count}" for count, nodes in row.nodes.items())
    return [
        row.partition,
        row.type or "gpu",
        str(total),
        on_nodes,
        _worth(row.card) if isinstance(row.card, Worth) else _("not in the catalogue"),
    ]


def _worth(worth: Worth) -> str:
    parts = [worth.device]
    if isinstance(worth.rate, float):
        parts.append(_("about {rate:.0%} of the best here").format(rate=worth.rate))
    if isinstance(worth.memory, int):
        parts.append(size(worth.memory))
    if isinstance(worth.bandwidth, float):
        parts.append(_("{size}/s").format(size=size(int(worth.bandwidth))))
    if isinstance(worth.arithmetic, float) and worth.arithmetic > _TENTH_TERA:
        parts.append(f"{worth.arithmetic / 1e12:.0f} TFLOP/s")
    if isinstance(worth.stack, str):
        parts.append(worth.stack)
    return ", ".join(parts)


def _partition_lines(answer: Cluster) -> list[str]:
    heads = [_("partition"), _("nodes up"), _("GPUs idle/total"), _("longest"), _("remarks")]
    return grid(heads, (_partition_row(partition) for partition in answer.partitions))


def _partition_row(partition: ClusterPartition) -> list[str]:
    gpus = ", ".join(_gpus_of(name, count) for name, count in partition.gpus.items())
    limit = _("no limit") if partition.max_time is None else span(partition.max_time)
    return [partition.name, f"{partition.nodes_up}/{partition.nodes}", gpus or "-", limit, "; ".join(_remarks(partition))]


def _gpus_of(name: str, count: GpuCount) -> str:
    return f"{name or 'gpu'} {'?' if count.idle is UNSET else count.idle}/{count.total}"


def _remarks(partition: ClusterPartition) -> Iterator[str]:
    if partition.default:
        yield _("default")
    if partition.state != "UP":
        yield partition.state
    if partition.preemptible is True:
        yield _("may be preempted")
    if partition.max_nodes is not None:
        yield _("{count} nodes at most").format(count=partition.max_nodes)
    if isinstance(partition.barred, str):
        yield partition.barred


def span(seconds: int) -> str:
    """Seconds as Slurm writes a limit: 1-02:30:00."""
    days, rest = divmod(seconds, 86400)
    return (f"{days}-" if days else "") + f"{rest // 3600:02}:{rest % 3600 // 60:02}:{rest % 60:02}"


def _queue_lines(answer: Cluster) -> list[str]:
    if answer.queue is None:
        return [_("The queue was not read.")]
    reasons = ", ".join(f"{reason} {count}" for reason, count in list(answer.queue.by_reason.items())[:_MOST_REASONS])
    template = _("Queue: {running} run, {pending} wait ({reasons}).") if reasons else _("Queue: {running} run, {pending} wait.")
    queue = answer.queue
    lines = wrapped(template.format(running=queue.running, pending=queue.pending, reasons=visible(reasons)))
    if answer.poison:
        jobs = ", ".join(f"{row.job} ({visible(row.reason)})" for row in answer.poison[:_MOST_REASONS])
        template = _("Waiting jobs that can never run and spoil the estimates of Slurm: {jobs}.")
        lines += wrapped(template.format(jobs=jobs))
    return lines


def _your_lines(answer: Cluster) -> list[str]:
    """Your own jobs, the first of many."""
    heads = [_("your job"), _("partition"), "GPU", _("since"), _("why it waits, or how long it may run")]
    lines = grid(heads, (_your_row(job, answer.now) for job in answer.yours[:_MOST_JOBS]))
    more = len(answer.yours) - _MOST_JOBS
    return [*lines, _("… and {count} more").format(count=more)] if more > 0 else lines


def _your_row(job: YourJob, now: int) -> list[str]:
    name = f"{job.job} {job.name}" + (f" ({job.tasks})" if job.tasks > 1 else "")
    since = duration(max(0, now - job.since)) if isinstance(job.since, int) else "-"
    left = duration(max(0, job.until - now)) if isinstance(job.until, int) else ""
    if job.running:
        text = _("runs, {time} left at most").format(time=left) if left else _("runs")
    else:
        text = " ".join(filter(None, (f"{job.reason or ''}:", job.because or "")))
        text += " " + _("Slurm expects its start in {time}.").format(time=left) if left else ""
    return [name, ",".join(job.partitions), str(job.gpus), since, text]


def _limit_lines(answer: Cluster) -> list[str]:
    lines = []
    for limit in answer.limits:
        bounds = [_("longest {time}").format(time=span(limit.max_time))] if isinstance(limit.max_time, int) else []
        bounds += [_("{count} jobs run at once").format(count=limit.max_jobs)] if isinstance(limit.max_jobs, int) else []
        bounds += [_("{count} jobs in the queue").format(count=limit.max_submit)] if isinstance(limit.max_submit, int) else []
        bounds += [_("per job {tres}").format(tres=limit.per_job)] if isinstance(limit.per_job, str) else []
        bounds += [_("per user {tres}").format(tres=limit.per_user)] if isinstance(limit.per_user, str) else []
        bounds += [_("all together {tres}").format(tres=limit.group)] if isinstance(limit.group, str) else []
        kind = _("QOS") if limit.kind == "qos" else _("account")
        lines += wrapped(_("Your {kind} {name}: {bounds}.").format(kind=kind, name=visible(limit.name), bounds=visible(", ".join(bounds))))
    return lines


def _finding_lines(answer: Cluster) -> list[str]:
    lines = []
    by_title: dict[str, list[str]] = {}
    for finding in answer.findings:
        by_title.setdefault(finding.title, []).append(finding.place)
    for title, nodes in by_title.items():
        lines += wrapped(_("{nodes}: {text}").format(nodes=visible(", ".join(fold(nodes))), text=visible(title)))
    for row in answer.reservations:
        lines += wrapped(
            _("Reservation {name}: {start} to {end}, {nodes}.").format(
                name=visible(row.name), start=_time(row.start), end=_time(row.end), nodes=visible(", ".join(row.nodes)) or "-"
            )
        )
    return lines


def _time(stamp: int | None) -> str:
    return "-" if stamp is None else datetime.fromtimestamp(stamp, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _source_lines(answer: Cluster) -> list[str]:
    """Commands that did not answer, those together that said the same."""
    commands: dict[str, list[str]] = {}
    for source in answer.sources:
        if not source.whole:
            last = source.said.splitlines()[-1:] if isinstance(source.said, str) else []
            commands.setdefault("".join(last) or _("no answer that is known"), []).append(_short(source.command))
    template = _("Not read: {command} ({said})")
    return [
        line
        for said, names in commands.items()
        for line in wrapped(template.format(command=visible(", ".join(names)), said=visible(said.rstrip("."))))
    ]


def _short(command: str) -> str:
    """A command without its options: `scontrol show nodes`."""
    return " ".join(word for word in command.split() if not set(word) & set("=%|,") and word[:1] != "-" and word != "where")


def map_text(answer: Cluster) -> str:
    """A letter a node, by partition, in the order of their names."""
    legend = ", ".join(f"{letter} {_(word)}" for word, letter in _LETTERS.items())
    lines = wrapped(legend)
    for partition in answer.partitions:
        letters = "".join(_LETTERS[node.state] for node in answer.nodes if partition.name in node.partitions)
        lines += ["", visible(partition.name) + f" ({len(letters)})"]
        room = max(width() - 2, 10)
        lines += ["  " + letters[start : start + room] for start in range(0, len(letters), room)]
    return "\n".join(lines)


_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1.5rem;color:#1b1f24;background:#fff}
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #d0d7de}
ul.map{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:2px}ul.map li{width:1.1rem;height:1.1rem;line-height:1.1rem;text-align:center;font-size:.7rem;background:#d0d7de}
.map .idle{background:#4ac26b}.map .mixed{background:#a5d6ff}.map .allocated{background:#54aeff}.map .down,.map .drained{background:#ff8182}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}ul.map li{color:#0d1117}}
"""


def page_text(answer: Cluster) -> str:
    """One HTML file without a script and without the network."""
    title = escape(visible(answer.slurm.cluster) or _("The cluster"))
    idle = html_table([_("partition"), _("GPU"), _("idle"), _("on nodes"), _("worth")], (_idle_row(row) for row in answer.idle))
    partitions = html_table(
        [_("partition"), _("nodes up"), _("GPUs idle/total"), _("longest"), _("remarks")], map(_partition_row, answer.partitions)
    )
    prose = [*_head(answer), *_queue_lines(answer), *_limit_lines(answer), *_finding_lines(answer), *_source_lines(answer)]
    paragraphs = "".join(f"<p>{escape(line.strip())}</p>\n" for line in prose)
    nodes = "".join(_html_node(node) for node in answer.nodes)
    return document(title, f'<p>{escape(_time(answer.now))}</p>\n{idle}{partitions}<ul class="map">{nodes}</ul>\n{paragraphs}')


def document(title: str, body: str) -> str:
    """A whole document around a body; both are HTML."""
    return (
        f'<!doctype html>\n<html lang="{current().replace("_", "-")}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )


def _html_node(node: ClusterNode) -> str:
    about = f"{node.name}: {_(node.state)}" + (f", {node.reason}" if node.reason is not UNSET else "")
    return f'<li class="{node.state}" title="{escape(visible(about))}">{_LETTERS[node.state]}</li>'


def html_table(heads: list[str], rows: Iterable[list[str]]) -> str:
    """A table of texts."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(visible(cell))}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f"<table>\n<tr>{head}</tr>\n{body}</table>\n"
