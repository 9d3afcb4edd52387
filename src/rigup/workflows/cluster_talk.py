"""Nodes that are spoken to all at once, by one srun or each by an ssh of its own: orders go to all, answers come by node.

The first thing that a node says is what the collecting script finds; then the measuring program (`cluster/probe`) takes
orders. Whoever does not answer costs its own answer only. What nodes say is bounded, and read as if strangers had written it.
"""

import base64
import json
import queue
import shlex
import subprocess
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from rigup.machine.collect import posix, srun, ssh
from rigup.machine.limits import MOST_STREAM

_MARK = b"@rigup-deep "
_NO_PYTHON = b"@rigup-no-python"
_LAST_WORD = 4.0  # seconds
_MOST_ANSWER, _MOST_OF_NODE = 16 << 20, 32 << 20  # bytes
_SHELL = """\
name=${SLURMD_NODENAME:-$3}
printf '@rigup-node %s\\n' "$name"
IFS= read -r script && printf %s "$script" | base64 -d | sh -s
RIGUP_NODE=$name; export RIGUP_NODE
command -v "$1" >/dev/null 2>&1 || { echo @rigup-no-python; exit 0; }
exec "$1" -u -c "$2"
"""
_BEGIN = """\
import base64, json, os, runpy, sys, tempfile, zlib
files = json.loads(zlib.decompress(base64.b64decode(sys.stdin.readline())))
folder = tempfile.mkdtemp(prefix="rigup-node-")
for name, text in files.items():
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
runpy.run_path(os.path.join(folder, "rigup_node.py"), run_name="__main__")
"""
Message = TypeVar("Message", bound=msgspec.Struct)


@cache
def payload() -> str:
    """The measuring program with the probe of verify, as a line that its first words read."""
    from rigup.cluster import probe
    from rigup.verify.child import PROBE

    own = Path(probe.__path__[0])
    files = {path.name: path.read_text("utf-8") for path in own.glob("rigup_node*.py")}
    files |= {f"verify/{path.relative_to(PROBE).as_posix()}": path.read_text("utf-8") for path in PROBE.rglob("*.py")}
    return base64.b64encode(zlib.compress(msgspec.json.encode(files), 9)).decode()


def by_srun(names: list[str], partition: str, python: str, minutes: int) -> "Talk":
    """One srun that has whole nodes. Raises OSError."""
    words = srun.words(names, partition, ("--exclusive", "--mem=0", "--cpu-bind=none"), minutes)
    return Talk({"": [*words, "sh", "-c", _SHELL, "rigup", python, _BEGIN, ""]})


def by_ssh(hosts: Iterable[str], python: str) -> "Talk":
    """An ssh to each host, which asks nobody for a password. Raises OSError and ssh.Failure."""
    command = {host: shlex.join(("sh", "-c", _SHELL, "rigup", python, _BEGIN, host)) for host in hosts}
    return Talk({host: [*ssh.words(host), words] for host, words in command.items()})


class Talk:
    """A talk with many nodes; a `with` block ends it, and every process with it.

    Attributes:
        facts: what the collecting script printed, by node.
        no_python: nodes on which there is no such interpreter.

    """

    def __init__(self, commands: Mapping[str, list[str]]) -> None:
        """Start one process for each name; "" is srun, which has many nodes. Raises OSError."""
        self.facts: dict[str, bytearray] = {}
        self.no_python: set[str] = set()
        self._lines: queue.Queue[tuple[str, bytes | None]] = queue.Queue(100_000)
        self._said: dict[str, bytes] = {}
        self._parts: dict[str, bytearray] = {}
        self._answers: dict[str, list[dict[str, Any]]] = {}
        self._sizes: dict[str, int] = {}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._threads: list[threading.Thread] = []
        self._orders: dict[str, queue.Queue[bytes | None]] = {}
        pipe = subprocess.PIPE
        for name, words in commands.items():
            process = subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
            self._processes[name], self._orders[name] = process, queue.Queue()
            for work in (self._hand_over, self._receive, self._listen):
                self._threads.append(threading.Thread(target=work, args=(name, process), daemon=True))
                self._threads[-1].start()
        self._open = set(commands)
        script = base64.b64encode(b"{\n" + posix.script().encode() + b"\n}\n").decode()
        self._hand(script + "\n" + payload() + "\n")

    def __enter__(self) -> "Talk":
        return self

    def __exit__(self, *_: object) -> None:
        """End every process: programs end with their input, and an srun that is told to go gives its allocation back."""
        for orders in self._orders.values():
            orders.put(None)
        self._end()
        with suppress(queue.Empty):
            while True:
                self._lines.get_nowait()  # else who has a line to hand over waits for room for ever
        for thread in self._threads:
            thread.join(timeout=1)
        for process in self._processes.values():
            for pipe in filter(None, (process.stdout, process.stderr)):
                pipe.close()

    def _end(self) -> None:
        """All processes together: each has a moment to go by itself, then one after it was told to."""
        for end_it in (subprocess.Popen.terminate, subprocess.Popen.kill):
            end = time.monotonic() + _LAST_WORD
            for process in self._processes.values():
                with suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=max(0.0, end - time.monotonic()))
                if process.poll() is None:
                    end_it(process)
        for process in self._processes.values():
            process.wait()

    def last_words(self, name: str = "") -> str:
        """The last words of a process itself."""
        return self._said.get(name, b"").decode("utf-8", "replace")

    def say(self, **order: Any) -> None:
        """Give an order to all; `only` in it names those whose it is."""
        self._hand(msgspec.json.encode(order).decode() + "\n")

    def hear(self, kind: type[Message], names: Iterable[str], seconds: float) -> dict[str, Message]:
        """The next answer of that kind of each of these nodes; those that give none in time are left out."""
        wanted, found = set(names), dict[str, Message]()
        end = time.monotonic() + seconds
        tag = kind.__struct_config__.tag
        while wanted - found.keys():
            for name in wanted - found.keys():
                if answer := self._next(name, kind, str(tag)):
                    found[name] = answer
            if wanted - self._gone() <= found.keys() | self.no_python or not self._read(end):
                break
        return found

    def begun(self, names: Iterable[str], seconds: float) -> set[str]:
        """Wait until nodes have said all that the collecting script finds; those that have."""
        wanted, end = set(names), time.monotonic() + seconds
        while wanted - self._whole() - self._gone() and self._read(end):
            pass
        return wanted & self._whole()

    def _gone(self) -> set[str]:
        """Hosts whose ssh has ended, and that have said all that they will say."""
        return self._processes.keys() - self._open if self._lines.empty() else set()

    def _whole(self) -> set[str]:
        return {name for name, facts in self.facts.items() if b"\n@done " in facts[-200:]}

    def _next(self, name: str, kind: type[Message], tag: str) -> Message | None:
        answers = self._answers.get(name, [])
        for place, answer in enumerate(answers):
            if answer.get("say") in (tag, "failed"):
                del answers[place]
                with suppress(msgspec.ValidationError):
                    return msgspec.convert(answer | {"say": tag}, kind)
        return None

    def _read(self, end: float) -> bool:
        """Take one line; False where the time is over, or nobody is left who could say one."""
        if not self._open and self._lines.empty():
            return False
        try:
            name, line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
        except queue.Empty:
            return False
        if line is None:
            self._open.discard(name)
        else:
            self._take(name, line)
        return True

    def _take(self, name: str, line: bytes) -> None:
        size = self._sizes[name] = self._sizes.get(name, 0) + len(line)
        facts = self.facts.setdefault(name, bytearray())
        if line.startswith(_MARK):
            if size < _MOST_OF_NODE + MOST_STREAM:
                self._take_piece(name, line)
        elif line.startswith(_NO_PYTHON):
            self.no_python.add(name)
        elif len(facts) < MOST_STREAM:
            facts += line

    def _take_piece(self, name: str, line: bytes) -> None:
        mark, _space, piece = line[len(_MARK) :].strip().partition(b" ")
        part = self._parts.setdefault(name, bytearray())
        part += piece
        if mark == b"=":
            self._parts[name] = bytearray()
            with suppress(ValueError, zlib.error, RecursionError):
                body = zlib.decompressobj().decompress(base64.b64decode(part, validate=True), _MOST_ANSWER)
                answer = json.loads(body)  # errors of a wrong result may be NaN
                if isinstance(answer, dict):
                    self._answers.setdefault(name, []).append(answer)

    def _hand(self, text: str) -> None:
        for orders in self._orders.values():
            orders.put(text.encode())

    def _hand_over(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        with suppress(OSError, ValueError):
            while process.stdin and (body := self._orders[name].get()) is not None:
                process.stdin.write(body)
                process.stdin.flush()
        with suppress(OSError, ValueError):
            if process.stdin:
                process.stdin.close()

    def _receive(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        labelled = None if name else srun.Labelled()
        with suppress(OSError, ValueError):
            for line in process.stdout or ():
                if labelled is None:
                    if not line.startswith(b"@rigup-node "):
                        self._lines.put((name, line))
                elif labelled_line := labelled.take(line):
                    self._lines.put(labelled_line)
        self._lines.put((name, None))

    def _listen(self, name: str, process: "subprocess.Popen[bytes]") -> None:
        with suppress(OSError, ValueError):
            while process.stderr and (piece := process.stderr.read1(4096)):  # type: ignore[attr-defined]
                self._said[name] = (self._said.get(name, b"") + piece)[-4000:]
