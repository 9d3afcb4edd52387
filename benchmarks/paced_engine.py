"""An engine that takes no processor's time: OpenAI's chat stream at a fixed pace, as one that computes on a GPU gives it.

    benchmarks/paced_engine.py [--first MILLISECONDS] [--rate PIECES_A_SECOND]

For benchmarks alone: it answers no question. A request is answered by its head at once (as vLLM does), by the first piece after
`--first` milliseconds, and by the others at `--rate`, as many as `max_tokens` says; each request has a clock of its own. It listens
on loopback, at a port that it prints, until its standard input ends. One thread waits for sockets and for the next piece that is due.
"""

import argparse
import contextlib
import heapq
import json
import selectors
import socket
import sys
import time

MODELS = b'{"object":"list","data":[{"id":"bench","object":"model"}]}'
HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n"
    b"cache-control: no-cache\r\nserver: paced\r\n\r\n"
)


def _chunk(data: bytes) -> bytes:
    event = b"data: " + data + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(event), event)


PIECE = _chunk(
    b'{"id":"chatcmpl-0123456789abcdef0123456789abcdef","object":"chat.completion.chunk","created":1700000000,"model":"bench",'
    b'"choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}'
)
END = _chunk(b"[DONE]") + b"0\r\n\r\n"


class PacedEngine:
    """All its connections, and the pieces that are due.

    Args:
        first: seconds from a whole request to the first piece.
        every: seconds from one piece to the next.

    """

    def __init__(self, first: float, every: float) -> None:
        self._first, self._every = first, every
        self._ready = selectors.EpollSelector()
        self._due: list[tuple[float, int, int]] = []  # when, whose, how many pieces are left
        self._clients: dict[int, socket.socket] = {}
        self._requests: dict[int, bytes] = {}
        self._door = socket.create_server(("127.0.0.1", 0), backlog=512)
        self._door.setblocking(False)
        self._ready.register(self._door, selectors.EVENT_READ)
        self._ready.register(sys.stdin, selectors.EVENT_READ)
        self.port: int = self._door.getsockname()[1]

    def run(self) -> None:
        """Answer until standard input ends."""
        while True:
            wait = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            for key, _events in self._ready.select(wait):
                if key.fileobj is sys.stdin:
                    return
                if key.fileobj is self._door:
                    self._take()
                else:
                    self._read(key.fd)
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                self._write(*heapq.heappop(self._due))

    def _take(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                client, _address = self._door.accept()
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                number = client.fileno()
                self._clients[number], self._requests[number] = client, b""
                self._ready.register(client, selectors.EVENT_READ)

    def _read(self, number: int) -> None:
        try:
            data = self._clients[number].recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            self._close(number)
            return
        request = self._requests[number] = self._requests[number] + data
        head, blank, body = request.partition(b"\r\n\r\n")
        if blank and len(body) >= _length(head):
            self._requests[number] = b""
            self._answer(number, head, body)

    def _answer(self, number: int, head: bytes, body: bytes) -> None:
        if not head.startswith(b"POST"):
            length = b"content-length: %d\r\n" % len(MODELS)
            self._clients[number].send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n" + length + b"\r\n" + MODELS)
            return
        self._clients[number].send(HEAD)
        heapq.heappush(self._due, (time.monotonic() + self._first, number, int(json.loads(body)["max_tokens"])))

    def _write(self, when: float, number: int, left: int) -> None:
        client = self._clients.get(number)
        if client is None:
            return
        try:
            client.send(PIECE if left > 1 else PIECE + END)
        except OSError:
            self._close(number)
            return
        if left > 1:
            heapq.heappush(self._due, (when + self._every, number, left - 1))
        else:
            self._close(number)

    def _close(self, number: int) -> None:
        client = self._clients.pop(number)
        self._ready.unregister(client)
        client.close()


def _length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line[15:])
    return 0


def main() -> None:
    """Print the port, and answer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=float, default=200.0)
    parser.add_argument("--rate", type=float, default=40.0)
    given = parser.parse_args()
    engine = PacedEngine(given.first / 1e3, 1 / given.rate)
    print(engine.port, flush=True)
    engine.run()


if __name__ == "__main__":
    main()
