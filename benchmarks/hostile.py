"""Hostile inputs over all commands: which end in a traceback, take long, take much memory, or reach the terminal.

    python benchmarks/hostile.py [--small | --large] [--part K/N] [NAME]...

Each runs as a child with a limit of address space; judged are its processor's seconds (it may share the machine with
others), its largest memory, and what it prints. Prints those that fail, and how many were tried. `--small` leaves out
what is large, `--large` all else, `--part 2/3` takes every third from the second on; NAME is a part of a name.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from hostile_inputs import Given, Input, inputs

SECONDS, MEGABYTES = 10.0, 500  # that one may take
_ROOM = 4 << 30  # bytes of address space: beyond it the child fails before the machine does
_HANGS = 180.0  # seconds after which it is ended, on whatever else the machine works
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_RAISED = re.compile(r'File "[^"\n]*/(?:rigup|click)/[^"\n]*", line \d|Fatal Python error|Segmentation fault|^MemoryError', re.MULTILINE)


class Outcome(NamedTuple):
    """How a child ended."""

    status: int
    seconds: float  # of the processor
    wall: float
    megabytes: int
    said: str
    fault: str  # the traceback that rigup kept of a fault of its own, which it tells in a sentence


def tried(one: Input) -> Outcome:
    """Run one input in a folder and a home of its own."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        folder = Path(name)
        (folder / "in").mkdir()
        given = one.made(folder / "in")
        return _ran(given, folder)


def _ran(given: Given, folder: Path) -> Outcome:
    home = {b"HOME": bytes(folder), b"TMPDIR": name_of(folder / "tmp"), b"XDG_STATE_HOME": name_of(folder / "state")}
    plain = {name: value for name, value in os.environb.items() if not name.startswith((b"XDG_", b"VIRTUAL"))}
    (folder / "piped").write_bytes(given.piped)
    began = time.monotonic()
    with (folder / "piped").open("rb") as piped, (folder / "said").open("wb") as said:
        child = subprocess.Popen(
            [sys.executable, "-m", "rigup", *given.words],
            stdin=piped,
            stdout=said,
            stderr=said,
            cwd=folder,
            start_new_session=True,
            env={**plain, b"LC_ALL": b"C.UTF-8", **home, **given.variables},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (_ROOM, _ROOM)),  # noqa: PLW1509  (no threads yet)
        )
        ended = threading.Timer(_HANGS, child.kill)
        ended.start()
        _pid, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        ended.cancel()
    text = (folder / "said").read_bytes().decode("utf-8", "surrogateescape")
    fault = next((path.read_text("utf-8") for path in sorted(folder.glob("**/faults/*.txt"))), "")
    return Outcome(child.returncode, used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss >> 10, text, fault)


def name_of(folder: Path) -> bytes:
    """A folder that is made, as a variable's value."""
    folder.mkdir()
    return bytes(folder)


def faults(one: Input, ended: Outcome) -> list[str]:
    """What must not be."""
    told = ended.fault or ended.said
    raised = _RAISED.search(told)
    last = next((line for line in reversed(told.splitlines()) if re.match(r"\w[\w.]*(?:Error|Exception)\b", line)), "")
    obeyed = None if one.own_words else _OBEYED.search(ended.said)
    return [
        *([f"raises {ascii(last or (raised and raised[0]))[:160]}"] if raised else []),
        *([f"ends by signal {-ended.status}"] if ended.status < 0 else []),
        *([f"takes {ended.seconds:.1f} s"] if ended.seconds > SECONDS else []),
        *([f"takes {ended.megabytes} MB"] if ended.megabytes > MEGABYTES else []),
        *([f"prints {ended.said[max(0, obeyed.start() - 30) : obeyed.end() + 10]!a}"] if obeyed else []),
    ]


def main() -> int:
    """Run, print, judge."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("--small", action="store_true", help="leave out what is large")
    ask.add_argument("--large", action="store_true", help="only what is large")
    ask.add_argument("--part", default="1/1", help="every N-th from the K-th on: K/N")
    ask.add_argument("names", nargs="*", help="only these: parts of their names")
    args = ask.parse_args()
    start, step = map(int, args.part.split("/"))
    chosen = [one for one in list(inputs())[start - 1 :: step] if not (args.small and one.large) and (one.large or not args.large)]
    chosen = [one for one in chosen if not args.names or any(name in one.name for name in args.names)]
    failed, slowest, largest = 0, 0.0, 0
    for number, one in enumerate(chosen, 1):
        ended = tried(one)
        slowest, largest = max(slowest, ended.seconds), max(largest, ended.megabytes)
        found = faults(one, ended)
        failed += bool(found)
        if found or args.names:
            print(f"{number}: {one.name}: {'; '.join(found) or 'holds'} ({ended.seconds:.1f} s, {ended.megabytes} MB)", flush=True)
        if number % 20 == 0:
            print(f"-- {number} of {len(chosen)} tried, {failed} failed; up to {slowest:.1f} s, {largest} MB", flush=True)
    print(f"{len(chosen)} inputs tried, {failed} failed; the slowest took {slowest:.1f} s, the largest {largest} MB")
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
