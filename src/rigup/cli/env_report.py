"""Environments for a terminal."""

from msgspec import UNSET

from rigup.cli.guard import style
from rigup.cli.history_report import local_time, run_states
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.schemas.env import EnvironmentShown, Happened, Listed
from rigup.sizes import size

_SHOWN = 12  # packages, where nobody asked for data


def listed(rows: list[Listed]) -> list[str]:
    """One line for each: a mark for the active one, name, Python, size, who made it, path."""
    if not rows:
        return wrapped(_("There is no environment here. `rigup apply` makes one."))
    cells = [_cells(row) for row in rows]
    widths = [max(columns(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = ["  ".join(padded(cell, wide) for cell, wide in zip(line, widths, strict=True)).rstrip() for line in cells]
    return lines + [line for row in rows if row.fault for line in wrapped(row.fault)]


def _cells(row: Listed) -> list[str]:
    maker = _("by rigup") if row.made_by_rigup else row.kind
    bytes_text = "" if row.bytes is UNSET else size(row.bytes)
    return ["*" if row.active else " ", row.name, row.python, bytes_text, maker, row.path]


def shown(answer: EnvironmentShown) -> list[str]:
    """Everything of one."""
    lines = [style(answer.path, bold=True)]
    sentence = _("{kind} with Python {python}, {size} on the disk.")
    lines += wrapped(sentence.format(kind=answer.kind, python=answer.python or "–", size=size(answer.bytes)))
    if answer.shared_bytes:
        shared = _("{size} of it are shared with other environments, and stay if this one goes.")
        lines += wrapped(shared.format(size=size(answer.shared_bytes)))
    if answer.made_by_rigup:
        sentence = _("rigup made it at {made_at} for: {wish}.")
        lines += wrapped(sentence.format(made_at=local_time(answer.made_at or ""), wish=", ".join(answer.wish) or "–"))
    lines += [line for fault in (answer.fault, *answer.differences) if fault for line in wrapped(fault, "  - ", "    ")]
    lines += _table(_("Variables"), answer.variables, "=")
    return lines + _table(_("Packages"), _first(answer.packages), " ") + _more(answer.packages)


def _first(packages: dict[str, str]) -> dict[str, str]:
    return dict(list(packages.items())[:_SHOWN])


def _more(packages: dict[str, str]) -> list[str]:
    left = len(packages) - _SHOWN
    return ["  " + _("… {count} more with --json").format(count=left)] if left > 0 else []


def _table(title: str, rows: dict[str, str], sign: str) -> list[str]:
    return ["", style(title, bold=True), *(f"  {name}{sign}{value}" for name, value in rows.items())] if rows else []


def happened(rows: list[Happened]) -> list[str]:
    """What happened, oldest first."""
    if not rows:
        return wrapped(_("Nothing is written down of this environment."))
    states, lines = run_states(), []
    for row in rows:
        at, ident = local_time(row.at), row.ident.lstrip("0") or "0"
        head = _("{at}  {by} {ident}: {what}").format(at=at, by=row.by, ident=ident, what=row.what)
        lines += wrapped(head + (f" ({states.get(row.state, row.state)})" if row.state else ""), "", "  ")
        lines += wrapped(" ".join([*("+" + name for name in row.added), *("-" + name for name in row.removed)]), "  ")
    return [line for line in lines if line.strip()]
