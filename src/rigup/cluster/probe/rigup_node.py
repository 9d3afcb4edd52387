"""The measuring program of one node: orders come as lines of JSON on standard input, answers go out in pieces.

It needs the standard library of Python 3.8. What may hang (a framework, a disk, a network) is done by children, each
with an end of its own. It ends with its input, and takes its folder with it.

An answer is zlib-compressed JSON in base64, in lines `@rigup-deep + PIECE` and a last `@rigup-deep = PIECE`: srun cuts
lines at 1,024 bytes.
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from typing import Any, Dict, Iterator

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = os.environ.get("RIGUP_NODE") or socket.gethostname()
_PIECE = 900  # bytes of a line
_START = 180.0  # seconds until a framework is imported: from a file server that is busy
_CHECK = 45.0  # seconds of one check
_MEET = 30.0  # seconds in which the other node of a link has to come
_LINES = 5000  # of a child that are listened to
_SAID = 600  # characters of a child's last words
Order = Dict[str, Any]


def say(message: str, **fields: Any) -> None:
    """Send an answer."""
    body = json.dumps(dict(fields, say=message, node=NAME), default=str).encode()
    packed = base64.b64encode(zlib.compress(body)).decode()
    pieces = [packed[at : at + _PIECE] for at in range(0, len(packed), _PIECE)]
    marks = ["+"] * (len(pieces) - 1) + ["="]
    sys.stdout.write("".join(f"@rigup-deep {mark} {piece}\n" for mark, piece in zip(marks, pieces)))
    sys.stdout.flush()


class Ended:
    """How a child ended: `why` is "", "hung" or "over"; its status; its last words."""

    def __init__(self, why: str, status: int, output: str, seconds: float) -> None:
        self.why, self.status, self.said, self.seconds = why, status, output, seconds


def run(argv: list[str], on_line: Any, seconds: float, silence: float, more: dict[str, str] | None = None) -> Ended:
    """Run a child. `on_line` takes each line; it is ended after so many seconds in all, or after so long a silence."""
    began = time.monotonic()
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONFAULTHANDLER": "1", **(more or {})}
    with tempfile.TemporaryFile() as error_file:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=error_file, env=variables, start_new_session=True
        )
        lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=_listen, args=(process.stdout, lines), daemon=True).start()
        try:
            why = _attended(lines, on_line, began + seconds, silence)
            if not why:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=20)
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)  # one that waits in a driver or for a disk cannot be ended
        status = process.poll()
        error_file.seek(max(0, error_file.seek(0, os.SEEK_END) - 20_000))
        words = error_file.read().decode("utf-8", "replace")
    return Ended(why, -9 if status is None else status, words[-_SAID:], time.monotonic() - began)


def _listen(out: Any, lines: Any) -> None:
    for _number in range(_LINES):
        line = out.readline(1_000_000)
        if not line:
            break
        lines.put(line)
    lines.put(b"")


def _attended(lines: Any, on_line: Any, end: float, silence: float) -> str:
    until = time.monotonic() + max(silence, _START)
    while True:
        try:
            line = lines.get(timeout=max(0.01, min(until, end) - time.monotonic()))
        except queue.Empty:
            return "over" if end <= until else "hung"
        if not line:
            return ""
        on_line(line)
        until = time.monotonic() + silence


def hello(_order: Order) -> None:
    """Tell what is here, and where others reach this node."""
    SERVER.listen()
    say(
        "hello",
        python=sys.version.split()[0],
        executable=sys.executable,
        torch=importlib.util.find_spec("torch") is not None,
        addresses=addresses(),
        port=SERVER.port,
    )


def addresses() -> list[str]:
    """Addresses of this node, the one of its way out first; loopback last, for nodes that share a machine."""
    found = []
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as way:
        way.connect(("192.0.2.1", 9))  # a documentation address: nothing is sent
        found.append(way.getsockname()[0])
    with contextlib.suppress(OSError, UnicodeError):
        found += [row[4][0] for row in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    found += [address for address, _name in interfaces()]
    return list(dict.fromkeys([address for address in found if not address.startswith("127.")] + ["127.0.0.1"]))[:16]


def interfaces() -> Iterator[tuple[str, str]]:
    """Addresses of IPv4 and the names of their interfaces."""
    import fcntl
    import struct

    for _index, name in socket.if_nameindex():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked, contextlib.suppress(OSError):
            answer = fcntl.ioctl(asked.fileno(), 0x8915, struct.pack("256s", name.encode()[:15]))  # SIOCGIFADDR
            yield socket.inet_ntoa(answer[20:24]), name


class Server:
    """The socket at which the other node of a link knocks."""

    def __init__(self) -> None:
        self.port = 0
        self._socket: Any = None

    def listen(self) -> None:
        """Begin."""
        if self._socket is None:
            self._socket = socket.create_server(("", 0), backlog=16)
            self.port = self._socket.getsockname()[1]

    def meet(self, word: str, end: float) -> tuple[str, int]:
        """Wait for the other one, who knows the word; the address at which it reached us, and the port of the store."""
        while True:
            self._socket.settimeout(max(0.01, end - time.monotonic()))
            connection, _from = self._socket.accept()
            with connection:
                connection.settimeout(3)
                with contextlib.suppress(OSError):
                    if connection.recv(200).decode("utf-8", "replace").strip() == word:
                        port = free_port()
                        connection.sendall(f"{word} {NAME} {port}\n".encode())
                        return connection.getsockname()[0], port


SERVER = Server()


def free_port() -> int:
    """A port that nobody has now."""
    with socket.socket() as listener:
        listener.bind(("", 0))
        return int(listener.getsockname()[1])


def knocked(peer: Order, word: str, end: float) -> tuple[str, int, str]:
    """Find the other node at one of its addresses: that address, its store's port, our own address. Raises OSError."""
    last = OSError("none of its addresses answers")
    while time.monotonic() < end:
        for address in peer["addresses"]:
            try:
                with socket.create_connection((address, peer["port"]), timeout=2) as connection:
                    connection.sendall((word + "\n").encode())
                    connection.settimeout(3)
                    reply = connection.recv(200).decode("utf-8", "replace").split()
                    if len(reply) == 3 and reply[:2] == [word, peer["node"]]:
                        return address, int(reply[2]), connection.getsockname()[0]
            except OSError as error:
                last = error
        time.sleep(0.2)
    raise last


def verify(order: Order) -> None:
    """Have the probe of `rigup verify` compute on every GPU of torch, or on the processor where there is none."""
    probe, seconds = os.path.join(HERE, "verify"), float(order["seconds"])
    events: list[Order] = []
    end = time.monotonic() + seconds + _START
    request = {"framework": "torch", "full": False}
    ended = _probed(probe, {**request, "only": ["-"]}, events, end)  # lists devices, and checks none
    names = [device["id"] for event in events if event["say"] == "devices" for device in event["devices"]]
    wanted = [name for name in names if name != "cpu"] or names
    request["budget"] = min(20.0, seconds / 2 / max(1, len(wanted)))
    while wanted and not ended.why:
        ended = _probed(probe, {**request, "devices": wanted, "done": _done(events)}, events, end)
        last = [event for event in events if event["say"] in ("begin", "end", "done")][-1]
        if last["say"] != "begin" or ended.why == "over":
            break
        ended.why = ""  # that device ended it: those after it are asked anew
        wanted = wanted[wanted.index(last["device"]) + 1 :] if last["device"] in wanted else []
    say("verified", events=events, said=ended.said)


def _done(events: list[Order]) -> list[list[str]]:
    return [[event["device"], event["check"]] for event in events if event["say"] == "end"]


def _probed(probe: str, request: Order, events: list[Order], end: float) -> Ended:
    def on_line(line: bytes) -> None:
        with contextlib.suppress(ValueError, RecursionError):
            event = json.loads(line)
            if isinstance(event, dict) and isinstance(event.get("say"), str):
                events.append(event)

    ended = run([sys.executable, probe, json.dumps(request)], on_line, max(1.0, end - time.monotonic()), _CHECK)
    events.append({"say": "ended", "why": ended.why, "status": ended.status, "seconds": ended.seconds})
    return ended


def disk(order: Order) -> None:
    """How fast each folder takes and gives bytes."""
    found = []
    for folder in order["folders"] or [tempfile.gettempdir()]:
        lines: list[bytes] = []
        ended = run(
            [sys.executable, os.path.join(HERE, "rigup_node_disk.py"), folder, str(order["seconds"])],
            lines.append,
            4 * order["seconds"] + 10,
            4 * order["seconds"] + 10,
        )
        row = _answer(lines)
        found.append({"folder": folder, **(row or {"error": _why(ended)})})
    say("disk", folders=found)


def _answer(lines: list[bytes]) -> Order | None:
    for line in reversed(lines):
        with contextlib.suppress(ValueError):
            answer = json.loads(line)
            if isinstance(answer, dict):
                return answer
    return None


def _why(ended: Ended) -> str:
    words = [line.strip() for line in ended.said.splitlines() if line.strip()]
    if ended.why:
        return f"no end after {ended.seconds:.0f} s"
    return words[-1][:300] if words else f"exit status {ended.status}"


def link(order: Order) -> None:
    """An all-reduce with one other node; both tell of it."""
    pair = next((pair for pair in order["pairs"] if NAME in pair), None)
    if pair is None:
        return
    first, end = pair[0] == NAME, time.monotonic() + _MEET
    other = pair[1] if first else pair[0]
    word = order["word"] + "-" + pair[0]
    try:
        if first:
            address, port = SERVER.meet(word, end)
            own = address
        else:
            address, port, own = knocked({**order["peers"][other], "node": other}, word, end)
    except OSError as error:
        say("link", peer=other, error=f"it did not come: {error}"[:300] if first else f"not reached: {error}"[:300], round=order["round"])
        return
    name = next((name for where, name in interfaces() if where == own), "")
    more = {"GLOO_SOCKET_IFNAME": name, "NCCL_SOCKET_IFNAME": "=" + name} if name else {}
    request = {
        "address": address,
        "port": port,
        "rank": 0 if first else 1,
        "seconds": order["seconds"],
        "backend": order["backend"],
        "bytes": order["bytes"],
        "limit": order["limit"],
    }
    lines: list[bytes] = []
    ended = run(
        [sys.executable, os.path.join(HERE, "rigup_node_link.py"), json.dumps(request)],
        lines.append,
        order["limit"],
        order["limit"],
        {name: value for name, value in more.items() if name not in os.environ},
    )
    say("link", peer=other, round=order["round"], **(_answer(lines) or {"error": _why(ended)}))


ORDERS = {"hello": hello, "verify": verify, "disk": disk, "link": link}


def main() -> None:
    """Take orders until there are no more."""
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_take_in, args=(lines,), daemon=True).start()
    while True:
        try:
            order = json.loads(lines.get())
            if NAME in order.get("only", [NAME]):
                ORDERS[order["do"]](order)
        except Exception as error:  # whatever it is, the node can still take the next order
            say("failed", error=f"{type(error).__name__}: {error}"[:300])


def _take_in(lines: Any) -> None:
    """At the end of the input nobody waits for an answer: what is being done ends, too."""
    for line in sys.stdin:
        lines.put(line)
    os.kill(os.getpid(), signal.SIGTERM)


def _gone(*_told: Any) -> None:
    sys.exit(0)  # through `finally`, which ends children and takes the folder away


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _gone)
    signal.signal(signal.SIGHUP, _gone)
    try:
        main()
    finally:
        shutil.rmtree(HERE, ignore_errors=True)
