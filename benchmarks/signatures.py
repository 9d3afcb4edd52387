"""How long signatures take on text that is made to mislead them, in milliseconds for a megabyte.

    python benchmarks/signatures.py [--all] [--processes N] [--every N] [ID]...

For each row a fixed set of texts, in short lines and in one line without end: its literal alone; its near miss; its example
cut short, halved, and with its words shuffled; its literal before and behind long runs of a letter of each class that stands in its
pattern; and texts that begin as the pattern does and then go on in each of its repeats (`adversary.py`); with and without
the words that the row needs. Each is tried on SIZE characters; what would take more than DOUBTFUL for a megabyte is
measured on one. Prints rows over BUDGET, or all. The limit of time in which a row is looked for
(`limits.MOST_ROW_SECONDS`) is switched off here.
"""

import argparse
import multiprocessing
import random
import re
import time
from collections.abc import Iterator

from adversary import letters, misleading

from rigup.knowledge.doctor_tables import Signature, signatures
from rigup.knowledge.needs import Need
from rigup.machine import texts
from rigup.machine.texts import Text, pattern

SIZE, MEGABYTE = 30_000, 1_000_000  # characters of a text that is tried, and that is measured
DOUBTFUL = 300.0  # milliseconds for a megabyte
BUDGET = 1000.0
_RUN = 700  # letters of a run


def hostile(row: Signature) -> Iterator[tuple[str, str]]:
    """Pieces that nearly say what a row waits for, by name."""
    flat, chance = row.example.replace("\n", " "), random.Random(1)
    yield "literal", row.literal
    yield "near miss", row.near_miss or flat[:-1]
    yield "cut", flat[:-1] if row.literal in flat[:-1] else flat[:-1] + " " + row.literal
    yield "half", flat[: len(flat) // 2] + " " + row.literal
    needs = " ".join(words_of(row.needs))
    yield "needs", row.literal + " " + needs
    yield "near miss with needs", f"{row.near_miss or flat[:-1]} {needs} {row.literal}"
    yield "half with needs", f"{flat[: len(flat) // 2]} {needs} {row.literal}"
    words = [*flat.split(), row.literal]
    yield "shuffled", " ".join(chance.choice(words) for _ in range(90))
    for letter in letters(row.regex):
        yield f"run of {letter!r}", letter * _RUN + row.literal + letter * _RUN
    for number, piece in enumerate(misleading(row.regex)):
        yield f"pattern {number}", piece if row.literal in piece else row.literal + " " + piece
        yield f"pattern {number} with needs", f"{piece} {needs} {row.literal}"


def words_of(needs: Need) -> list[str]:
    """Words by which a text passes for one that a row may be in: of those that do as well the first."""
    if not needs or isinstance(needs, str):
        return [needs] if needs else []
    kind, *parts = needs
    return [word for part in (parts if kind == "all" else parts[:1]) for word in words_of(part)]


def milliseconds(row: Signature, piece: str, end: str, size: int) -> float:
    """Time of this thread that one row takes with a piece again and again, for a megabyte."""
    flat = piece if end == "\n" else piece.replace("\n", " ")
    body = (flat + end) * max(1, size // (len(flat) + len(end)))
    text, spots = Text("hostile", body), [found.start() for found in re.finditer(re.escape(row.literal), body)]
    pattern(row.regex), text.starts
    start = time.thread_time()
    sum(1 for _ in text.near(row.regex, spots, row.lines, needs=row.needs))
    return (time.thread_time() - start) * 1e9 / len(body)


def worst(row: Signature) -> tuple[float, str]:
    """The time of the text that takes a row longest, and its name."""
    texts.MOST_ROW_SECONDS, slowest = float("inf"), (0.0, "")
    for name, piece in hostile(row):
        for end, where in (("\n", ""), (" ", " in one line")):
            if end == " " and "\n" not in piece and row.lines == 1 and len(piece) > 4 * _RUN:
                continue  # longer than what is searched at once: as in lines of its own
            took = milliseconds(row, piece, end, SIZE)
            if took > DOUBTFUL and took > slowest[0] / 2:
                took = milliseconds(row, piece, end, MEGABYTE)
            slowest = max(slowest, (took, name + where))
    return slowest


def main() -> int:
    """Measure, print the slowest form of each row, judge."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--all", action="store_true", help="print every row")
    ask.add_argument("--processes", type=int, default=2)
    ask.add_argument("--every", type=int, default=1, help="only every N-th row")
    ask.add_argument("ids", nargs="*", help="only these rows")
    args = ask.parse_args()
    rows = [row for row in signatures() if not args.ids or row.id in args.ids][:: args.every]
    late = 0
    with multiprocessing.Pool(args.processes) as pool:
        for row, (took, form) in zip(rows, pool.imap(worst, rows), strict=True):
            late += took > BUDGET
            if args.all or args.ids or took > BUDGET:
                print(f"{took:8.0f} ms for a megabyte  {row.id}  ({form})", flush=True)
    print(f"{late} of {len(rows)} rows over {BUDGET:.0f} ms")
    return int(late > 0)


if __name__ == "__main__":
    raise SystemExit(main())
