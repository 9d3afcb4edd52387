"""Environments for a terminal."""

from msgspec import UNSET

from rigup.cli.guard import style
from rigup.cli.history_report import local_time, spoken_states
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.schemas.env import EnvironmentShown, Happened, Listed

_UNITS = ("B", "kB", "MB", "GB", "TB")
_SHOWN = 12  # packages, where nobody asked for data


def size(count: int) -> str:
    """Bytes as a person reads them."""
    value, unit = float(count), _UNITS[0]
    for unit in _UNITS:
        if value < 1000 or unit == _UNITS[-1]:
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == _UNITS[0] or value >= 100 else f"{value:.1f} {unit}"


def listed(rows: list[Listed]) -> list[str]:
    """One line for each: a mark for the active one, name, Python, size, who made it, path."""
    if not rows:
        return wrapped(_("There is no environment here. `rigup apply` makes one."))
    cells = [_cells(row) for row in rows]
    widths = [max(columns(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(padded(cell, wide) for cell, wide in zip(line, widths, strict=True)).rstrip() for line in cells
    ]  # fmt: skip
    return lines + [line for row in rows if row.fault for line in wrapped(row.fault)]


def _cells(row: Listed) -> list[str]:
    made = _("by rigup") if row.made_by_rigup else row.kind
    told = "" if row.bytes is UNSET else size(row.bytes)
    return ["*" if row.active else " ", row.name, row.python, told, made, row.path]


def shown(answer: EnvironmentShown) -> list[str]:
    """Everything of one."""
    lines = [style(answer.path, bold=True)]
    said = _("{kind} with Python {python}, {size} on the disk.")
    lines += wrapped(said.format(kind=answer.kind, python=answer.python or "–", size=size(answer.bytes)))
    if answer.shared_bytes:
        shared = _("{size} of it are shared with other environments, and stay if this one goes.")
        lines += wrapped(shared.format(size=size(answer.shared_bytes)))
    if answer.made_by_rigup:
        made = _("rigup made it at {made_at} for: {wish}.")
        lines += wrapped(made.format(made_at=local_time(answer.made_at or ""), wish=", ".join(answer.wish) or "–"))
    lines += [line for told in (answer.fault, *answer.differences) if told for line in wrapped(told, "  - ", "    ")]
    lines += _table(_("Variables"), answer.variables, "=")
    return lines + _table(_("Packages"), _first(answer.packages), " ") + _more(answer.packages)


def _first(packages: dict[str, str]) -> dict[str, str]:
    return dict(list(packages.items())[:_SHOWN])


def _more(packages: dict[str, str]) -> list[str]:
    left = len(packages) - _SHOWN
    return ["  " + _("… {count} more with --json").format(count=left)] if left > 0 else []


def _table(title: str, told: dict[str, str], sign: str) -> list[str]:
    return ["", style(title, bold=True), *(f"  {name}{sign}{value}" for name, value in told.items())] if told else []


def happened(rows: list[Happened]) -> list[str]:
    """What happened, oldest first."""
    if not rows:
        return wrapped(_("Nothing is written down of this environment."))
    states, lines = spoken_states(), []
    for row in rows:
        at, ident = local_time(row.at), row.ident.lstrip("0") or "0"
        head = _("{at}  {by} {ident}: {what}").format(at=at, by=row.by, ident=ident, what=row.what)
        lines += wrapped(head + (f" ({states.get(row.state, row.state)})" if row.state else ""), "", "  ")
        lines += wrapped(" ".join([*("+" + one for one in row.added), *("-" + one for one in row.removed)]), "  ")
    return [line for line in lines if line.strip()]
