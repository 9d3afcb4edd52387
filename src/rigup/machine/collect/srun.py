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
_WAIT = 20  # seconds until there must be room on every node
SECONDS = 180.0
_MOST_BYTES = 4 << 30  # of all nodes together


class Heard(NamedTuple):
    """What nodes printed, by name, and the last words of srun itself."""

    answers: dict[str, bytes]
    said: str


def asked(nodes: Iterable[str], partition: str = "", seconds: float = SECONDS, script: str | None = None) -> Heard:
    """Run the collecting script on every node. Raises OSError where there is no srun."""
    names = list(nodes)
    argv = [
        "srun", "--nodes=" + str(len(names)), "--nodelist=" + ",".join(names), "--ntasks-per-node=1", "--cpus-per-task=1", "--mem=100M", "--label",
        "--no-kill", "--kill-on-bad-exit=0", f"--immediate={_WAIT}", f"--time={_MINUTES}", "--job-name=rigup-doctor", "--quiet", "--mpi=none",
        *(["--partition=" + partition] if partition else []), "sh", "-s",
    ]  # fmt: skip
    begin = "printf '@rigup-node %s\\n' \"$SLURMD_NODENAME\"\n"
    whole = begin + "{\n" + (posix.script() if script is None else script) + "\n}\n"
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    timer = threading.Timer(seconds, process.terminate)
    timer.daemon = True
    timer.start()
    words: list[bytes] = []
    threads = [
        threading.Thread(target=_hand_over, args=(process, whole.encode()), daemon=True),
        threading.Thread(target=_listen, args=(process, words), daemon=True),
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
    return Heard(answers, b"".join(words)[-4000:].decode("utf-8", "replace"))


def _hand_over(process: "subprocess.Popen[bytes]", script: bytes) -> None:
    with suppress(OSError, ValueError):
        if process.stdin:
            process.stdin.write(script)
            process.stdin.close()


def _listen(process: "subprocess.Popen[bytes]", words: list[bytes]) -> None:
    with suppress(OSError, ValueError):
        while process.stderr and (piece := process.stderr.read(4096)):
            words.append(piece)
            del words[:-16]


def _received(process: "subprocess.Popen[bytes]") -> dict[str, bytes]:
    """Lines by task, each task's under the name that it told first."""
    tasks: dict[bytes, bytearray] = {}
    names: dict[bytes, str] = {}
    total = 0
    for line in process.stdout or ():
        total += len(line)
        if total > _MOST_BYTES:
            break
        if not (found := _LABEL.match(line)):
            continue
        task, body = found[1], found[2]
        if task not in names:
            if told := _NAME.match(body):
                names[task], tasks[task] = told[1].decode(), bytearray()
        elif len(tasks[task]) < MOST_STREAM:
            tasks[task] += body
    return {name: bytes(tasks[task]) for task, name in names.items()}


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End srun, and its step with it: it gives the allocation back when it is told to go."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        if process.poll() is None:
            process.kill()
            process.wait()
