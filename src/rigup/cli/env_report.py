"""Environments for a terminal."""

from typing import Any

from rigup.cli.guard import style
from rigup.cli.history_report import local_time, spoken_states
from rigup.cli.layout import columns, padded, wrapped
from rigup.language import _
from rigup.sizes import size

Answer = dict[str, Any]
_SHOWN = 12  # packages, where nobody asked for data


def listed(rows: list[Answer]) -> list[str]:
    """One line for each: a mark for the active one, name, Python, size, who made it, path."""
    if not rows:
        return wrapped(_("There is no environment here. `rigup apply` makes one."))
    cells = [_cells(row) for row in rows]
    widths = [max(columns(cell) for cell in column) for column in zip(*cells, strict=True)]
    lines = [
        "  ".join(padded(cell, wide) for cell, wide in zip(line, widths, strict=True)).rstrip() for line in cells
    ]  # fmt: skip
    return lines + [line for row in rows if row["fault"] for line in wrapped(row["fault"])]


def _cells(row: Answer) -> list[str]:
    made = _("by rigup") if row["made_by_rigup"] else row["kind"]
    told = size(row["bytes"]) if "bytes" in row else ""
    return ["*" if row["active"] else " ", row["name"], row["python"], told, made, row["path"]]


def shown(answer: Answer) -> list[str]:
    """Everything of one."""
    lines = [style(answer["path"], bold=True)]
    lines += wrapped(_("{kind} with Python {python}, {size} on the disk.").format(**_named(answer)))
    if answer["shared_bytes"]:
        shared = _("{size} of it are shared with other environments, and stay if this one goes.")
        lines += wrapped(shared.format(size=size(answer["shared_bytes"])))
    if answer["made_by_rigup"]:
        made = _("rigup made it at {made_at} for: {wish}.")
        lines += wrapped(
            made.format(made_at=local_time(answer["made_at"] or ""), wish=", ".join(answer["wish"]) or "–")
        )
    lines += [
        line for told in (answer["fault"], *answer["differences"]) if told for line in wrapped(told, "  - ", "    ")
    ]
    lines += _table(_("Variables"), answer["variables"], "=")
    return lines + _table(_("Packages"), _first(answer["packages"]), " ") + _more(answer["packages"])


def _named(answer: Answer) -> dict[str, str]:
    return {"kind": answer["kind"], "python": answer["python"] or "–", "size": size(answer["bytes"])}


def _first(packages: dict[str, str]) -> dict[str, str]:
    return dict(list(packages.items())[:_SHOWN])


def _more(packages: dict[str, str]) -> list[str]:
    left = len(packages) - _SHOWN
    return ["  " + _("… {count} more with --json").format(count=left)] if left > 0 else []


def _table(title: str, told: dict[str, str], sign: str) -> list[str]:
    return ["", style(title, bold=True), *(f"  {name}{sign}{value}" for name, value in told.items())] if told else []


def happened(rows: list[Answer]) -> list[str]:
    """What happened, oldest first."""
    if not rows:
        return wrapped(_("Nothing is written down of this environment."))
    states, lines = spoken_states(), []
    for row in rows:
        at, ident = local_time(row["at"]), row["ident"].lstrip("0") or "0"
        head = _("{at}  {by} {ident}: {what}").format(**{**row, "at": at, "ident": ident})
        lines += wrapped(head + (f" ({states.get(row['state'], row['state'])})" if row["state"] else ""), "", "  ")
        lines += wrapped(" ".join([*("+" + one for one in row["added"]), *("-" + one for one in row["removed"])]), "  ")
    return [line for line in lines if line.strip()]
