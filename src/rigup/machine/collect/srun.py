"""Many nodes of a Slurm cluster asked by one `srun`: the collecting script on every node at once, nothing left there.

`srun --label` puts the number of its task before each line, so one stream holds all answers; each node tells its name first.
A node that does not answer in time, or in the middle, costs its own answer only.
"""

import re
import subprocess
import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from rigup.machine.collect import posix
from rigup.machine.limits import MOST_STREAM

_LABEL = re.compile(rb"^ *(\d{1,7}): ?(.*)$", re.DOTALL)
_NAME = re.compile(rb"@rigup-node ([\w.-]{1,255})\n?\Z")
_MINUTES = 4
_CUT = 1024  # bytes at which srun cuts a line, and ends it there (MAX_MSG_LEN of its src/api/step_io.c)
_WAIT = 20  # seconds until there must be room on every node
SECONDS = 180.0
_MOST_BYTES = 4 << 30  # of all nodes together


class Replies(NamedTuple):
    """What nodes printed, by name, and the last words of srun itself."""

    answers: dict[str, bytes]
    said: str


def asked(nodes: Iterable[str], partition: str = "", seconds: float = SECONDS, script: str | None = None) -> Replies:
    """Run the collecting script on every node. Raises OSError where there is no srun."""
    argv = [*words(list(nodes), partition, ("--cpus-per-task=1", "--mem=100M"), _MINUTES), "sh", "-s"]
    begin = "printf '@rigup-node %s\\n' \"$SLURMD_NODENAME\"\n"
    whole = begin + "{\n" + (posix.script() if script is None else script) + "\n}\n"
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    timer = threading.Timer(seconds, process.terminate)
    timer.daemon = True
    timer.start()
    error_pieces: list[bytes] = []
    threads = [
        threading.Thread(target=_hand_over, args=(process, whole.encode()), daemon=True),
        threading.Thread(target=_listen, args=(process, error_pieces), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        answers = _received(process)
        process.wait(timeout=10)
    except subprocess.TimeoutExpired:
        answers = {}
    finally:
        timer.cancel()
        _end(process)
        for thread in threads:
            thread.join(timeout=2)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
    return Replies(answers, b"".join(error_pieces)[-4000:].decode("utf-8", "replace"))


def words(names: list[str], partition: str, asked_for: tuple[str, ...], minutes: int) -> list[str]:
    """The words of one srun with a task on each of these nodes, before its program."""
    return [
        "srun",
        "--nodes=" + str(len(names)),
        "--nodelist=" + ",".join(names),
        "--ntasks-per-node=1",
        *asked_for,
        "--label",
        "--no-kill",
        "--kill-on-bad-exit=0",
        f"--immediate={_WAIT}",
        f"--time={minutes}",
        "--job-name=rigup-doctor",
        "--quiet",
        "--mpi=none",
        *(["--partition=" + partition] if partition else []),
    ]


class Labelled:
    """Lines of many tasks in one stream, each with the number of its task before it; names come first."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}
        self._open: dict[bytes, bytes] = {}

    def take(self, line: bytes) -> tuple[str, bytes] | None:
        """The node and a whole line of its own (b"" with its name), or None where nothing is whole yet.

        A line that srun cut goes on in the next of its task, unless that one begins as lines of a stream do.
        """
        if not (found := _LABEL.match(line)):
            return None
        task, body = found[1], found[2]
        if task not in self._names:
            if match := _NAME.match(body):
                self._names[task] = match[1].decode()
                return self._names[task], b""
            return None
        before = self._open.pop(task, b"")
        if before and body[:1] in (b"@", b"|"):
            before += b"\n"
        if len(body) > _CUT and body.endswith(b"\n") and len(before) < MOST_STREAM:
            self._open[task] = before + body[:-1]
            return None
        return self._names[task], before + body


def _hand_over(process: "subprocess.Popen[bytes]", script: bytes) -> None:
    with suppress(OSError, ValueError):
        if process.stdin:
            process.stdin.write(script)
            process.stdin.close()


def _listen(process: "subprocess.Popen[bytes]", error_pieces: list[bytes]) -> None:
    with suppress(OSError, ValueError):
        while process.stderr and (piece := process.stderr.read(4096)):
            error_pieces.append(piece)
            del error_pieces[:-16]


def _received(process: "subprocess.Popen[bytes]") -> dict[str, bytes]:
    """Lines by node."""
    answers: dict[str, bytearray] = {}
    labelled, total = Labelled(), 0
    for line in process.stdout or ():
        total += len(line)
        if total > _MOST_BYTES:
            break
        if piece := labelled.take(line):
            answer = answers.setdefault(piece[0], bytearray())
            if len(answer) < MOST_STREAM:
                answer += piece[1]
    return {name: bytes(answer) for name, answer in answers.items()}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End srun, and its step with it: it gives the allocation back when it is told to go."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        if process.poll() is None:
            process.kill()
            process.wait()
