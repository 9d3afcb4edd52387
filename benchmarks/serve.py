"""What `rigup serve` adds to its engine's own server: both are asked in turn in one run, by one client.

    benchmarks/serve.py MODEL.gguf [--rounds N] [--tokens N] [--streams N,…] [--engine-threads N] [--engine-python PYTHON]

Each round asks the engine and the server alike, in changing order. Printed are medians over rounds: the time to the first
piece of one stream, and tokens a second of all streams at once, with the share that the server costs; and the processor's
time that engine and server take for each piece and the server for each request, which tells more than rates do where others use
the machine too. `--engine-threads` leaves cores to the server and to the client, which an engine on all of them never does.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rigup.fit.request import Request
from rigup.llm.engines.here import here
from rigup.llm.engines.running import start
from rigup.llm.engines.wish import StartRequest

WORDS = "count from 1 to 20"


async def one(base: str, key: str, tokens: int) -> tuple[float, int]:
    """Seconds to the first piece of an answer, and its bytes; read as raw as the machine gives it, for the client costs too."""
    parts = urlsplit(base)
    body = json.dumps(
        {
            "model": "bench",
            "messages": [{"role": "user", "content": WORDS}],
            "stream": True,
            "max_tokens": tokens,
            "ignore_eos": True,
            "cache_prompt": False,
        }
    ).encode()
    head = f"POST {parts.path}/chat/completions HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: Bearer {key}\r\n"
    head += f"Content-Type: application/json\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    begun = time.perf_counter()
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(head.encode() + body)
    first, count, seen = 0.0, 0, b""
    while piece := await reader.read(1 << 16):
        seen = seen[-5:] + piece if first else seen + piece
        if not first and b"data: " in seen:
            first = time.perf_counter() - begun
        count += piece.count(b"data: ")
        if seen.endswith(b"0\r\n\r\n"):
            break
    writer.close()
    return first, count


async def many(base: str, key: str, streams: int, tokens: int) -> tuple[float, float, int]:
    """Pieces a second of all streams, the median time to the first of each, and how many there were."""
    begun = time.perf_counter()
    told = await asyncio.gather(*(one(base, key, tokens) for _ in range(streams)))
    count = sum(count for _first, count in told)
    return count / (time.perf_counter() - begun), statistics.median(first for first, _ in told), count


def processor_time(pid: int) -> float:
    """Seconds that the threads of a process have taken of processors; 0 where nobody tells."""
    try:
        spent = [path.read_text().split()[0] for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    except OSError:
        return 0.0
    return sum(map(int, spent)) / 1e9


@contextmanager
def served(address: str, key: str) -> Iterator[dict[str, Any]]:
    """`rigup serve` before an engine that runs; its answer of `--json`."""
    words = ["serve", "bench", "--api", address, "--api-key-variable", "ENGINE_KEY", "--port", "0", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "rigup", *words],
        env={**os.environ, "ENGINE_KEY": key},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        try:
            text = ""
            while not text.endswith("\n}\n") and (line := server.stdout.readline() if server.stdout else ""):
                text += line
            yield json.loads(text)
        finally:
            server.terminate()


def measured(places: dict[str, tuple[str, str]], pids: tuple[int, int], streams: int, tokens: int, rounds: int) -> None:
    """Ask both in turn, and print; `pids` are the engine's and the server's, those of the processors' time."""
    rates: dict[str, list[float]] = {name: [] for name in places}
    firsts: dict[str, list[float]] = {name: [] for name in places}
    engine_seconds, server_seconds, pieces = 0.0, 0.0, 0
    for number in range(rounds + 1):
        for name in sorted(places, reverse=bool(number % 2)):
            engine_before, server_before = map(processor_time, pids)
            rate, first, count = asyncio.run(many(*places[name], streams, tokens))
            if not number:  # the first round warms both
                continue
            rates[name].append(rate)
            firsts[name].append(first)
            if name == "server":
                pieces += count
                engine_seconds += processor_time(pids[0]) - engine_before
                server_seconds += processor_time(pids[1]) - server_before
    pairs = [server / engine for server, engine in zip(rates["server"], rates["engine"], strict=True)]
    added = [1000 * (server - engine) for server, engine in zip(firsts["server"], firsts["engine"], strict=True)]
    print(
        f"{streams:3} streams: engine {statistics.median(rates['engine']):8.1f}/s  server {statistics.median(rates['server']):8.1f}/s  "
        f"ratio {statistics.median(pairs):.3f} ({min(pairs):.3f}..{max(pairs):.3f})  "
        f"first piece {1000 * statistics.median(firsts['engine']):.1f} ms, with the server {statistics.median(added):+.1f} ms ({min(added):+.1f}..{max(added):+.1f})"
        f"  a piece takes {1e6 * engine_seconds / max(1, pieces):.0f} us of the engine's and {1e6 * server_seconds / max(1, pieces):.1f} us of the server's,"
        f" a request {1e6 * server_seconds / max(1, rounds * streams):.0f} us of the server's"
        f"  least first piece {1000 * min(firsts['engine']):.1f} and {1000 * min(firsts['server']):.1f} ms",
        flush=True,
    )


def main() -> None:
    """Start the engine, the server before that same engine, and ask both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--streams", default="1,16,64")
    parser.add_argument("--engine-threads", type=int, default=0)
    parser.add_argument("--engine-python", default=sys.executable)
    told = parser.parse_args()
    streams = [int(count) for count in told.streams.split(",")]
    settings = Request(outputs=max(streams), parallel=max(streams), kv_unified=False)
    wish = StartRequest(
        model=told.model,
        name="bench",
        engine="xllamacpp",
        python=told.engine_python,
        on="cpu",
        settings=settings,
        context=256 + told.tokens,
        embeddings=False,
    )
    if told.engine_threads:
        os.environ["LLAMA_ARG_THREADS"] = str(told.engine_threads)
    with start(wish, here("cpu")) as engine, served(engine.base_url, engine.key) as answer:
        places = {"engine": (engine.base_url, engine.key), "server": (answer["base_url"], answer["key"])}
        for count in streams:
            measured(places, (engine.pid, answer["pid"]), count, told.tokens, told.rounds)


if __name__ == "__main__":
    main()
