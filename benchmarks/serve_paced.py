"""What `rigup serve` adds to an engine that takes no processor's time, as one on a GPU: `paced_engine.py` is asked with and without it.

    benchmarks/serve_paced.py [--streams N] [--tokens N] [--rounds N] [--first MILLISECONDS] [--rate N]

Each round asks engine and server in changing order, once with all requests at the same moment (burst) and once with requests that
come over a second (spread). Printed are, over rounds, the best and the median of what is added to the median time to the first
piece and to its 95th percentile, the ratio of the rates, and the processor's time of the server for a request and for a
piece; and the load of the machine, for all of it competes with what else runs.
"""

import argparse
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from serve import processor_time, served


@dataclass
class Stream:
    """A request of the client's; times are of `time.perf_counter`."""

    begins: float
    door: socket.socket = field(default_factory=socket.socket)
    seen: bytes = b""
    first: float = 0.0
    ended: float = 0.0
    pieces: int = 0


@dataclass(frozen=True)
class Measured:
    """What one asking of a place gave: seconds, and pieces a second."""

    median: float
    p95: float
    rate: float
    server_seconds: float


def asked(base: str, key: str, arrivals: list[float], tokens: int) -> list[Stream]:
    """Ask for a stream at each of `arrivals` (seconds from now), in one thread; all answers as they came."""
    parts = urlsplit(base)
    body = json.dumps(
        {"model": "bench", "messages": [{"role": "user", "content": "count from 1 to 20"}], "stream": True, "max_tokens": tokens}
    ).encode()
    head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {key}\r\n"
    request = (head + f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body
    begun = time.perf_counter() + 0.01
    waiting = [Stream(begun + arrival) for arrival in reversed(arrivals)]
    streams, open_streams = waiting[::-1], 0
    with selectors.EpollSelector() as ready:
        while waiting or open_streams:
            now = time.perf_counter()
            while waiting and waiting[-1].begins <= now:
                stream = waiting.pop()
                stream.begins = time.perf_counter()
                stream.door.connect((parts.hostname, parts.port))
                stream.door.setblocking(False)
                stream.door.send(request)
                ready.register(stream.door, selectors.EVENT_READ, stream)
                open_streams += 1
            for key_of, _events in ready.select(max(0.0, waiting[-1].begins - time.perf_counter()) if waiting else 10):
                if _taken(key_of.data):
                    ready.unregister(key_of.fileobj)
                    key_of.data.door.close()
                    open_streams -= 1
    return streams


def _taken(stream: Stream) -> bool:
    """Read what has come; whether that was all."""
    data = stream.door.recv(1 << 16)
    stream.ended = time.perf_counter()
    count = data.count(b"data: ")
    if count and not stream.first:
        stream.first = stream.ended
    stream.pieces += count
    stream.seen = (stream.seen + data)[-5:]
    return not data or stream.seen == b"0\r\n\r\n"


def measured(place: tuple[str, str], arrivals: list[float], tokens: int, server_pid: int) -> Measured:
    """Ask a place; fails where an answer is not whole."""
    before = processor_time(server_pid)
    streams = asked(*place, arrivals, tokens)
    if any(stream.pieces != tokens + 1 for stream in streams):
        raise SystemExit(f"answers of {sorted(stream.pieces - 1 for stream in streams)} pieces, not of {tokens}")
    waits = sorted(stream.first - stream.begins for stream in streams)
    took = max(stream.ended for stream in streams) - min(stream.begins for stream in streams)
    p95 = waits[max(0, round(0.95 * len(waits)) - 1)]
    return Measured(statistics.median(waits), p95, tokens * len(streams) / took, processor_time(server_pid) - before)


def compare(places: dict[str, tuple[str, str]], server_pid: int, arrivals: list[float], tokens: int, rounds: int) -> None:
    """Ask both in turn, and print."""
    pairs, alone = [], []
    for number in range(rounds + 1):
        found = {name: measured(places[name], arrivals, tokens, server_pid) for name in sorted(places, reverse=bool(number % 2))}
        if number:  # the first round warms both
            pairs.append((found["engine"], found["server"]))
            alone.append(measured(places["server"], arrivals, 1, server_pid).server_seconds / len(arrivals))
    medians = [1e3 * (server.median - engine.median) for engine, server in pairs]
    p95s = [1e3 * (server.p95 - engine.p95) for engine, server in pairs]
    ratios = [server.rate / engine.rate for engine, server in pairs]
    least = min(server.server_seconds for _engine, server in pairs) / len(arrivals)
    piece = (least - min(alone)) / max(1, tokens - 1)
    print(
        f"  engine's first piece {1e3 * statistics.median(engine.median for engine, _ in pairs):.1f} ms; added to the median "
        f"{min(medians):+.1f} ms at best, {statistics.median(medians):+.1f} ms in the median of rounds; to p95 {min(p95s):+.1f} and "
        f"{statistics.median(p95s):+.1f} ms; rate of the engine's {statistics.median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f}); "
        f"processor of the server {1e6 * min(alone):.0f} us a request with its first piece, {1e6 * piece:.1f} us a further piece; load {os.getloadavg()[0]:.1f}",
        flush=True,
    )


@contextmanager
def paced(first: float, rate: float) -> Iterator[str]:
    """The engine in a process of its own; its address."""
    words = [sys.executable, str(Path(__file__).with_name("paced_engine.py")), "--first", str(first), "--rate", str(rate)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        yield f"http://127.0.0.1:{int(engine.stdout.readline())}/v1"
        engine.stdin.close()


def main() -> None:
    """Start both, and ask them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--first", type=float, default=200.0)
    parser.add_argument("--rate", type=float, default=40.0)
    given = parser.parse_args()
    with paced(given.first, given.rate) as base, served(base, "") as answer:
        places = {"engine": (base, ""), "server": (answer["base_url"], answer["key"])}
        for name, over in {"burst": 0.0, "spread over a second": 1.0}.items():
            print(f"{given.streams} streams, {name}:")
            arrivals = [over * number / given.streams for number in range(given.streams)]
            compare(places, answer["pid"], arrivals, given.tokens, given.rounds)


if __name__ == "__main__":
    main()
