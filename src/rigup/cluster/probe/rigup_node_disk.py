"""How fast a folder's disk takes and gives bytes: `rigup_node_disk.py FOLDER SECONDS`, one line of JSON.

Each round writes blocks of a file without a name, forces each to the disk, and reads them back when the kernel's copy
was dropped. The best round counts, for others may use the disk, too. Bytes a second.
"""

import contextlib
import json
import os
import sys
import tempfile
import time

_BLOCK = 4 << 20  # bytes
_BLOCKS, _ROUNDS = 4, 4


def main(folder: str, seconds: float) -> None:
    """Measure until the rounds or the time are over, at least one block."""
    end, body = time.perf_counter() + seconds, os.urandom(_BLOCK)
    write = read = 0.0
    with tempfile.TemporaryFile(prefix=".rigup-", dir=folder, buffering=0) as file:
        number = file.fileno()
        for _round in range(_ROUNDS):
            file.seek(0)
            began, blocks = time.perf_counter(), 0
            while blocks < _BLOCKS and (not blocks or time.perf_counter() < end):
                file.write(body)
                os.fsync(number)
                blocks += 1
            write = max(write, blocks * _BLOCK / (time.perf_counter() - began))
            with contextlib.suppress(AttributeError, OSError):
                os.posix_fadvise(number, 0, 0, os.POSIX_FADV_DONTNEED)
            file.seek(0)
            began, size = time.perf_counter(), 0
            while size < blocks * _BLOCK and (piece := file.read(_BLOCK)):
                size += len(piece)
            read = max(read, size / max(1e-9, time.perf_counter() - began))
            if time.perf_counter() > end:
                break
    sys.stdout.write(json.dumps({"write": write, "read": read}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
