"""Tables that a program prints anew again and again: the same cards at another time."""

from datetime import datetime
from itertools import pairwise

Row = tuple[int, dict[str, str]]
_BESIDE = 0.05  # seconds within which the rows of one time follow each other
_FORM = "%Y/%m/%d %H:%M:%S.%f"


def rows_of_one_time(rows: list[Row], again: bool) -> list[Row]:
    """The last whole set of rows; all of them, where they are of one time.

    `again` tells that the program was asked to print them over and over: without times the names tell where a set ends.
    """
    times = [_seconds(cells.get("timestamp", "")) for _start, cells in rows]
    known = [time for time in times if time is not None]
    if len(rows) > 1 and len(known) == len(rows):
        gaps = [later - earlier for earlier, later in pairwise(known)]
        begins = [0, *(number for number, gap in enumerate(gaps, 1) if gap >= max(_BESIDE, max(gaps) / 2))]
    elif again:
        names = [cells.get("name", cells.get("gpu_name", "")) for _start, cells in rows]
        period = next((step for step in range(1, len(names)) if names[step:] == names[:-step]), len(names))
        begins = list(range(0, len(names), period or 1))
    else:
        return rows
    sets = [rows[start:end] for start, end in pairwise([*begins, len(rows)])]
    longest = max(map(len, sets), default=0)
    return next((one for one in reversed(sets) if len(one) == longest), rows)


def _seconds(stamp: str) -> float | None:
    """`2025/10/04 20:11:02.114`, as nvidia-smi writes it."""
    try:
        return datetime.strptime(stamp.strip(), _FORM).timestamp()  # noqa: DTZ007
    except ValueError:
        return None
