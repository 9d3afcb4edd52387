"""An engine's answer goes to the client byte by byte as it comes: its head alone is read."""

import asyncio
import functools
import ssl
from urllib.parse import urlsplit

import msgspec

from rigup.llm.engines.running import RunningEngine
from rigup.llm.server import plain_tcp
from rigup.llm.server.errors import Refused, body_of
from rigup.llm.server.gathering import gather

_MOST_HEAD = 64 << 10
_KEPT = (b"content-type", b"content-length", b"transfer-encoding", b"cache-control", b"retry-after")
_LAST = b"0\r\n\r\n"
CLOSED = b"connection: close\r\nx-content-type-options: nosniff\r\n"


class Client:
    """What a relay needs of the one that waits for an answer."""

    transport: asyncio.Transport

    def answering(self, status: int, source: "Relay") -> None:
        """The answer begins: its status, and who is to be paused where the client is slow."""
        raise NotImplementedError


class Relay(asyncio.Protocol):
    """The connection to an engine for one request.

    Args:
        client: who gets the answer.
        request: the bytes of the whole request.

    Attributes:
        status: of the answer; 0 until it begins.
        sent: bytes of the answer that went to the client.
        whole: whether the answer ended as its head said.
        began: when the answer did, by the loop's clock.

    """

    def __init__(self, client: Client, request: bytes) -> None:
        self._client, self._request = client, request
        self._head = b""
        self._chunked, self._left, self._events, self._gathered = False, -1, False, False
        self._tail = b""
        self.status, self.sent, self.whole, self.began = 0, 0, False, 0.0
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self._transport = transport
        transport.write(self._request)
        self._request = b""

    def data_received(self, data: bytes) -> None:
        """Pass it on."""
        if not self.status:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                if len(self._head) > _MOST_HEAD:
                    self.cut()
                return
            data = self._head[end + 4 :]
            head = self._begun(self._head[:end])
            if not head:
                return
            self._client.transport.write(head + data)
        else:
            self._client.transport.write(data)
        if (
            not self._gathered and self._events and data and self._transport is not None
        ):  # the first piece waits for nobody
            self._gathered = True
            gather(self._transport)
        self.sent += len(data)
        self._tail = data[-5:] if len(data) >= len(_LAST) else (self._tail + data)[-5:]

    def _begun(self, head: bytes) -> bytes:
        """The head for the client; empty where the engine's is none."""
        lines = head.split(b"\r\n")
        words = lines[0].split(b" ", 2)
        if len(words) < 2 or not words[1].isdigit():
            self.cut()
            return b""
        kept = []
        for line in lines[1:]:
            name, _colon, value = line.partition(b":")
            low, value = name.strip().lower(), value.strip()
            if low in _KEPT:
                kept.append(low + b": " + value + b"\r\n")
            self._chunked |= low == b"transfer-encoding" and value.lower() == b"chunked"
            self._events |= low == b"content-type" and value.startswith(b"text/event-stream")
            if low == b"content-length" and value.isdigit():
                self._left = int(value)
        self.status, self.began = int(words[1]), asyncio.get_running_loop().time()
        self._client.answering(self.status, self)
        return b" ".join((b"HTTP/1.1", *words[1:])) + b"\r\n" + b"".join(kept) + CLOSED + b"\r\n"

    def connection_lost(self, _error: Exception | None) -> None:
        """The answer is over, or was cut off; of a stream that was the client is told."""
        self.whole = bool(self.status) and (self._tail == _LAST if self._chunked else self._left in (-1, self.sent))
        if not self.ended.done():
            self.ended.set_result(None)

    def tell(self, error: Refused) -> bool:
        """Tell the client of a stream that was cut off why, in the stream itself; False where that cannot be."""
        between = not self.sent or self._tail.endswith(b"\n\r\n")  # a chunk that ends with an event is whole
        if not (self._events and self._chunked and between):
            return False
        event = b"data: " + body_of(error) + b"\n\n"
        self._client.transport.write(b"%x\r\n%b\r\n%b" % (len(event), event, _LAST))
        return True

    def pause(self, paused: bool) -> None:
        """Read no more until the client has taken what there is."""
        if self._transport is not None and not self._transport.is_closing():
            (self._transport.pause_reading if paused else self._transport.resume_reading)()

    def cut(self) -> None:
        """Let the engine go at once: it stops computing for this request."""
        if self._transport is not None:
            self._transport.abort()


class Place(msgspec.Struct, frozen=True):
    """Where an engine is asked: what its address says, taken apart once.

    Attributes:
        host, port: of the connection.
        digits: whether the host is an address and no name.
        secure: for TLS; None for none.
        head: of every request's head, behind its first line.
        path: of its /v1.

    """

    host: str
    port: int
    digits: bool
    secure: ssl.SSLContext | None
    head: bytes
    path: str


@functools.lru_cache(64)
def place(base_url: str, key: str) -> Place:
    """The place of an engine."""
    parts = urlsplit(base_url)
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    lines = [b"host: " + parts.netloc.encode(), b"connection: close", b"accept: */*"]
    lines += [b"authorization: Bearer " + key.encode()] if key else []
    head = b"".join(line + b"\r\n" for line in lines)
    host, port = parts.hostname or "", parts.port or (443 if secure else 80)
    digits = host.replace(".", "").isdigit() or ":" in host
    return Place(host, port, digits, secure, head, parts.path.rstrip("/"))


async def connect(engine: RunningEngine, relay: Relay) -> None:
    """Connect a relay to an engine. Raises Refused where that cannot be."""
    where, loop = place(engine.base_url, engine.key), asyncio.get_running_loop()
    try:
        if where.digits and not where.secure and plain_tcp.has_readers(loop):
            await plain_tcp.connect((where.host, where.port), relay)
        else:
            await loop.create_connection(lambda: relay, where.host, where.port, ssl=where.secure)
    except OSError as error:
        raise Refused(502, "engine_unreachable", f"The engine does not answer: {error.strerror or error}.") from error  # fmt: skip


def request_for(engine: RunningEngine, method: str, path: str, body: bytes) -> bytes:
    """The bytes of a request to an engine; `path` begins with /v1 or is the engine's own."""
    where = place(engine.base_url, engine.key)
    if path.startswith("/v1/"):
        path = where.path + path.removeprefix("/v1")
    return b"%b %b HTTP/1.1\r\n%bcontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        method.encode(), path.encode(), where.head, len(body), body,
    )  # fmt: skip


def json_of(body: bytes) -> dict[str, object]:
    """The object that a request holds. Raises Refused."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, "invalid_json", f"The request is no JSON: {error}.") from error
    if not isinstance(document, dict):
        raise Refused(400, "invalid_json", "The request is no object of JSON.")
    return document
