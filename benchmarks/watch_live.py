#!/usr/bin/env python3
"""What the live view costs: first picture, CPU time a second, and how long a key waits; beside another program.

    benchmarks/watch_live.py [--beside "nvitop --interval 1"]… [--size 160x60] [--runs N]

Figures are of this machine's GPUs, or of a library that stands in for NVIDIA's (LD_LIBRARY_PATH). CPU time is that of 14
seconds of a view less that of 4, so that starting is not in it; medians of N runs. A key waits from its press to the first byte that follows, in runs apart.
"""

import argparse
import contextlib
import fcntl
import os
import pty
import select
import shlex
import signal
import statistics
import struct
import sys
import termios
import time


class Ended(Exception):
    """A program that ended by itself, so that there is no view to measure; the text is the last that it wrote."""


def view(argv: list[str], size: tuple[int, int], seconds: float, key: bytes = b"") -> tuple[float, float, float]:
    """CPU seconds, seconds until a picture with a GPU, and until the answer to a key. Raises Ended."""
    pid, handle = pty.fork()
    if pid == 0:
        try:
            os.execvp(argv[0], argv)
        except OSError as error:
            os.write(2, f"{argv[0]}: {error.strerror}".encode())
        os._exit(127)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    began, first, asked, answered, content = time.monotonic(), 0.0, 0.0, 0.0, b""
    while (passed := time.monotonic() - began) < seconds:
        if key and not asked and passed > seconds - 1.5:
            asked = time.monotonic()
            os.write(handle, key)
        if select.select([handle], [], [], 0.005)[0]:
            try:
                content = os.read(handle, 65536)
            except OSError:  # EIO: nobody writes to the terminal any more
                os.waitpid(pid, 0)
                last = content.decode("utf-8", "replace").strip().splitlines()
                raise Ended(f"it ended after {passed:.1f} s: {last[-1] if last else 'it wrote nothing'}") from None
            if b"\x1b[6n" in content:  # where the cursor is: gpustat waits for the answer of a terminal
                os.write(handle, b"\x1b[1;1R")
            first = first or (passed if b"GPU" in content or b"[0]" in content else 0.0)
            answered = answered or (time.monotonic() - asked if asked else 0.0)
    os.write(handle, b"\x03")
    until = time.monotonic() + 3
    while time.monotonic() < until and select.select([handle], [], [], 0.5)[0]:
        try:
            os.read(handle, 65536)
        except OSError:
            break
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    used = os.wait4(pid, 0)[2]
    return used.ru_utime + used.ru_stime, first, answered


def measured(argv: list[str], size: tuple[int, int], count: int, *, with_keys: bool) -> str:
    """What the view of a program costs, in words. Raises Ended."""
    runs = [(view(argv, size, 4), view(argv, size, 14)) for _run in range(count)]
    costs, firsts = [long[0] - short[0] for short, long in runs], [short[1] for short, _long in runs]
    line = f"{statistics.median(costs) * 100:6.1f} ms of CPU a second, first picture {statistics.median(firsts):.2f} s"
    if with_keys:  # of runs apart: answers cost time of their own
        keys = (b"s", b"m", b"g", b"\t", b"T")
        waits = sorted(view([*argv, "--interval", "60"], size, 5, key)[2] * 1000 for key in keys)
        line += f", keys answered in {waits[2]:.0f} ms (longest {waits[-1]:.0f})"
    return line


def main() -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", action="append", default=[])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--size", default="160x60")
    asked = parser.parse_args()
    wide, high = (int(number) for number in asked.size.split("x"))
    programs = [[sys.executable, "-m", "rigup", "watch"], *map(shlex.split, asked.beside)]
    for argv in programs:
        name = "rigup watch" if argv == programs[0] else os.path.basename(argv[0])
        try:
            print(f"{name:12} {measured(argv, (wide, high), asked.runs, with_keys=argv == programs[0])}")
        except Ended as error:
            print(f"{name:12} shows no live view here: {error}")


if __name__ == "__main__":
    main()
