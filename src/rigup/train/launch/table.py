"""A table of parameters, each row a run: its columns become options of the program."""

import csv
import io
import re

from rigup.language import _
from rigup.train.launch.job import MOST_ROWS
from rigup.train.launch.shape import LaunchError

MOST_TABLE = 10_000_000  # characters
_COLUMN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,100}", re.ASCII)


def rows_of(text: str) -> tuple[tuple[str, ...], ...]:
    """Rows of a CSV file with a head: `lr` with 0.1 becomes `--lr 0.1`; an empty field leaves its option out. Raises LaunchError."""
    try:
        lines = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error as error:
        raise LaunchError(_("The table is no CSV: {error}.").format(error=error)) from None
    lines = [line for line in lines if any(field.strip() for field in line)]
    head = [name.strip() for name in lines[0]] if lines else []
    if len(lines) < 2 or len(lines) > MOST_ROWS + 1:
        template = _("The table needs a line of names and 1 to {most} rows; it has {count} lines.")
        raise LaunchError(template.format(most=MOST_ROWS, count=len(lines)))
    for name in head:
        if not _COLUMN.fullmatch(name) or head.count(name) > 1:
            raise LaunchError(_("{word} is no name of a column, or stands there twice.").format(word=repr(name)[:120]))
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(head):
            template = _("Row {number} of the table has {count} fields, and its head has {expected}.")
            raise LaunchError(template.format(number=number, count=len(line), expected=len(head)))
    return tuple(
        tuple(word for name, field in zip(head, line, strict=True) if field.strip() for word in ("--" + name, field.strip()))
        for line in lines[1:]
    )
