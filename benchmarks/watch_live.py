#!/usr/bin/env python3
"""What the live view costs: first picture, CPU time a second, and how long a key waits; beside another program.

    benchmarks/watch_live.py [--beside "nvitop --interval 1"] [--size 160x60]

Figures are of this machine's GPUs, or of a library that stands in for NVIDIA's (LD_LIBRARY_PATH). CPU time is that of 14
seconds of a view less that of 4, so that starting is not in it.
"""

import argparse
import fcntl
import os
import pty
import select
import shlex
import struct
import sys
import termios
import time


def view(argv: list[str], size: tuple[int, int], seconds: float, key: bytes = b"") -> tuple[float, float, float]:
    """CPU seconds, seconds until a picture with a GPU, and until the answer to a key."""
    pid, handle = pty.fork()
    if pid == 0:
        os.execvp(argv[0], argv)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
    began, first, asked, answered = time.monotonic(), 0.0, 0.0, 0.0
    while (passed := time.monotonic() - began) < seconds:
        if key and not asked and passed > seconds - 1.5:
            asked = time.monotonic()
            os.write(handle, key)
        if select.select([handle], [], [], 0.005)[0]:
            content = os.read(handle, 65536)
            first = first or (passed if b"GPU" in content else 0.0)
            answered = answered or (time.monotonic() - asked if asked else 0.0)
    os.write(handle, b"\x03")
    until = time.monotonic() + 3
    while time.monotonic() < until and select.select([handle], [], [], 0.5)[0]:
        try:
            os.read(handle, 65536)
        except OSError:
            break
    used = os.wait4(pid, 0)[2]
    return used.ru_utime + used.ru_stime, first, answered


def main() -> None:
    """Print a line for each program."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", default="")
    parser.add_argument("--size", default="160x60")
    asked = parser.parse_args()
    wide, high = (int(number) for number in asked.size.split("x"))
    programs = [[sys.executable, "-m", "rigup", "watch"], *([shlex.split(asked.beside)] if asked.beside else [])]
    for argv in programs:
        short, long = view(argv, (wide, high), 4), view(argv, (wide, high), 14, b"?" if argv == programs[0] else b"")
        key = f", a key answered in {long[2] * 1000:.0f} ms" if long[2] else ""
        print(
            f"{argv[-1] if argv == programs[0] else argv[0]:20} {(long[0] - short[0]) * 100:6.1f} ms of CPU a second, first picture {short[1]:.2f} s{key}"
        )


if __name__ == "__main__":
    main()
