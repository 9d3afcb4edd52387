"""How fast a folder's disk takes and gives bytes: `rigup_node_disk.py FOLDER SECONDS`, one line of JSON.

Blocks of a file without a name are written, each forced to the disk, then read back when the kernel's copy was dropped.
The best round counts, for others may use the disk, too; reading has rounds of its own, so that it is not judged by fewer
where writing is slow. Bytes a second.
"""

import contextlib
import json
import os
import sys
import tempfile
import time

_BLOCK = 4 << 20  # bytes
_BLOCKS, _ROUNDS, _READS = 4, 4, 16


def main(folder: str, seconds: float) -> None:
    """Measure writing, then reading, each until its rounds or its time are over, at least one block."""
    with tempfile.TemporaryFile(prefix=".rigup-", dir=folder, buffering=0) as file:
        write = written(file, time.perf_counter() + seconds)
        read = read_back(file, time.perf_counter() + seconds)
    sys.stdout.write(json.dumps({"write": write, "read": read}) + "\n")


def written(file, end) -> float:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The rate of the best round of writing."""
    best, body = 0.0, os.urandom(_BLOCK)
    for _round in range(_ROUNDS):
        file.seek(0)
        began, blocks = time.perf_counter(), 0
        while blocks < _BLOCKS and (not blocks or time.perf_counter() < end):
            file.write(body)
            os.fsync(file.fileno())
            blocks += 1
        best = max(best, blocks * _BLOCK / (time.perf_counter() - began))
        if time.perf_counter() > end:
            break
    return best


def read_back(file, end) -> float:  # type: ignore[no-untyped-def]  # noqa: ANN001
    """The rate of the best round of reading the whole file."""
    best = 0.0
    for _round in range(_READS):
        with contextlib.suppress(AttributeError, OSError):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        file.seek(0)
        began, size = time.perf_counter(), 0
        while piece := file.read(_BLOCK):
            size += len(piece)
        best = max(best, size / max(1e-9, time.perf_counter() - began))
        if time.perf_counter() > end:
            break
    return best


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
