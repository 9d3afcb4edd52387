"""How long signatures take on text that is made to mislead them, in milliseconds for a megabyte.

    python benchmarks/signatures.py [--all] [ID]...

For each row its near miss, its example cut short, its words shuffled, its literal among long words, and, from its own
pattern, texts that begin as it does and then go on in each of its repeats without end (`adversary.py`), are repeated
in short lines and in one line without end. Prints rows over BUDGET, or all. What the doctor does against a row that
takes too long all the same (`limits.MOST_ROW_SECONDS`) is switched off here.
"""

import argparse
import random
import re
import time
from collections.abc import Iterator

from adversary import misleading

from rigup.knowledge.doctor_tables import Signature, signatures
from rigup.machine import (
    readers,  # noqa: F401  (their marks are literals too)
    texts,
)
from rigup.machine.texts import Text, pattern

SIZE = 100_000  # characters of a text: beyond the longest stretch that is searched at once time grows as the text does
BUDGET = 1000.0  # milliseconds for a megabyte


def repeated(piece: str, end: str) -> str:
    """A piece again and again."""
    return (piece + end) * max(1, SIZE // (len(piece) + len(end)))


def hostile(row: Signature) -> Iterator[tuple[str, str]]:
    """Texts that nearly say what a row waits for, by name."""
    flat, chance = row.example.replace("\n", " "), random.Random(1)
    cut = flat[:-1] if row.literal in flat[:-1] else flat[:-1] + " " + row.literal
    half = flat[: len(flat) // 2] + " " + row.literal
    for name, piece in (("near miss", row.near_miss or flat[:-1]), ("cut", cut), ("half", half)):
        yield name, repeated(piece, "\n")
        yield name + " in one line", repeated(piece.replace("\n", " "), " ")
    words = [*flat.split(), row.literal]
    shuffled = " ".join(chance.choice(words) for _ in range(SIZE // 8))[:SIZE]
    yield "shuffled", "\n".join(shuffled[at : at + 700] for at in range(0, SIZE, 700))
    yield "long words", repeated("a" * 700 + row.literal + "a" * 700, "\n")
    yield "literal alone", repeated(row.literal, "")
    for number, piece in enumerate(misleading(row.regex)):
        held = piece if row.literal in piece else row.literal + " " + piece
        yield f"pattern {number}", repeated(held, "\n")
        yield f"pattern {number} in one line", repeated(held.replace("\n", " "), " ")


def milliseconds(row: Signature, body: str) -> float:
    """Time of this thread that one row takes, for a megabyte."""
    text, spots = Text("hostile", body), [found.start() for found in re.finditer(re.escape(row.literal), body)]
    pattern(row.regex), text.starts
    start = time.thread_time()
    sum(1 for _ in text.near(row.regex, spots, row.lines))
    return (time.thread_time() - start) * 1e9 / len(body)


def main() -> int:
    """Measure, print the slowest form of each row, judge."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--all", action="store_true", help="print every row")
    ask.add_argument("ids", nargs="*", help="only these rows")
    args = ask.parse_args()
    texts.MOST_ROW_SECONDS, late = float("inf"), 0
    for row in signatures():
        if args.ids and row.id not in args.ids:
            continue
        worst, form = max((milliseconds(row, body), name) for name, body in hostile(row))
        late += worst > BUDGET
        if args.all or args.ids or worst > BUDGET:
            print(f"{worst:8.0f} ms for a megabyte  {row.id}  ({form})", flush=True)
    print(f"{late} rows over {BUDGET:.0f} ms")
    return int(late > 0)


if __name__ == "__main__":
    raise SystemExit(main())
