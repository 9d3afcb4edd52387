"""An engine's answer goes to the client byte by byte as it comes: its head alone is read."""

import asyncio
import functools
import ssl
import time
from collections.abc import Callable
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

    def passed_to(self, source: "Relay") -> None:
        """An engine is asked: who is to be paused where the client is slow, and let go where it leaves."""
        raise NotImplementedError

    def answering(self, status: int) -> None:
        """The answer begins, with this status."""
        raise NotImplementedError


class Begun(msgspec.Struct, frozen=True, gc=False):
    """The head of an engine's answer.

    Attributes:
        status: of HTTP.
        head: as the client gets it.
        chunked: how the body comes.
        events: that it is a stream of events.
        length: of the body; -1 where nobody says.

    """

    status: int
    head: bytes
    chunked: bool
    events: bool
    length: int


@functools.lru_cache(64)  # the heads of an engine's streams are the same but for the time
def begun(head: bytes) -> Begun | None:
    """What a head says; None where it is none."""
    first, *lines = head.split(b"\r\n")
    words = first.split(b" ", 2)
    if len(words) < 2 or not words[1].isdigit():
        return None
    kept, said = [], dict[bytes, bytes]()
    for line in lines:
        name, _colon, value = line.partition(b":")
        low, value = name.strip().lower(), value.strip()
        if low in _KEPT:
            said[low] = value
            kept.append(low + b": " + value + b"\r\n")
    length = said.get(b"content-length", b"")
    return Begun(
        int(words[1]),
        b" ".join((b"HTTP/1.1", *words[1:])) + b"\r\n" + b"".join(kept) + CLOSED + b"\r\n",
        said.get(b"transfer-encoding", b"").lower() == b"chunked",
        said.get(b"content-type", b"").startswith(b"text/event-stream"),
        int(length) if length.isdigit() else -1,
    )


class Relay(asyncio.Protocol):
    """The connection to an engine for one request.

    Args:
        client: who gets the answer.
        request: the bytes of the whole request.
        over: is called once the connection has ended.

    Attributes:
        status: of the answer; 0 until it begins.
        sent: bytes of the answer that went to the client.
        whole: whether the answer ended as its head said.
        began: when the answer did, by the monotonic clock.
        unreached: why the engine could not be reached; None where it was.

    """

    def __init__(self, client: Client, request: bytes, over: Callable[["Relay"], None]) -> None:
        self._client, self._request, self._over = client, request, over
        self._head, self._begun = b"", _NOT_BEGUN
        self._gathered = False
        self._tail = b""
        self.status, self.sent, self.whole, self.began = 0, 0, False, 0.0
        self.unreached: OSError | None = None
        self._transport: asyncio.Transport | None = None
        client.passed_to(self)

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
            head, blank, data = self._head.partition(b"\r\n\r\n")
            if not blank:
                if len(head) > _MOST_HEAD:
                    self.cut()
                return
            found = begun(head)
            if found is None:
                self.cut()
                return
            self._head, self._begun = b"", found
            self.status, self.began = found.status, time.monotonic()
            self._client.answering(found.status)
            self._client.transport.write(found.head + data)
        else:
            self._client.transport.write(data)
        if data and self._begun.events and not self._gathered and self._transport is not None:
            self._gathered = True  # the first piece waits for nobody
            gather(self._transport)
        self.sent += len(data)
        self._tail = data[-5:] if len(data) >= len(_LAST) else (self._tail + data)[-5:]

    def connection_lost(self, error: Exception | None) -> None:
        """The answer is over, or was cut off; of a stream that was the client is told."""
        self.unreached = error if isinstance(error, plain_tcp.NotConnectedError) else None
        length = self._begun.length
        self.whole = bool(self.status) and (self._tail == _LAST if self._begun.chunked else length in (-1, self.sent))
        self._over(self)

    def tell(self, error: Refused) -> bool:
        """Tell the client of a stream that was cut off why, in the stream itself; False where that cannot be."""
        between = not self.sent or self._tail.endswith(b"\n\r\n")  # a chunk that ends with an event is whole
        if not (self._begun.events and self._begun.chunked and between):
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


_NOT_BEGUN = Begun(0, b"", False, False, -1)


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


def connect_at_once(engine: RunningEngine, relay: Relay) -> bool:
    """Connect a relay to an engine whose address is digits; False where that takes more. Raises Refused."""
    where = place(engine.base_url, engine.key)
    if where.secure or not where.digits or not plain_tcp.has_readers(asyncio.get_running_loop()):
        return False
    try:
        plain_tcp.connect((where.host, where.port), relay)
    except OSError as error:
        raise unreachable(error) from error
    return True


async def connect(engine: RunningEngine, relay: Relay) -> None:
    """Connect a relay to an engine. Raises Refused where that cannot be."""
    if connect_at_once(engine, relay):
        return
    where = place(engine.base_url, engine.key)
    try:
        await asyncio.get_running_loop().create_connection(lambda: relay, where.host, where.port, ssl=where.secure)
    except OSError as error:
        raise unreachable(error) from error


def unreachable(error: OSError) -> Refused:
    """What a client is told whose engine cannot be reached."""
    return Refused(502, "engine_unreachable", f"The engine does not answer: {error.strerror or error}.")


def request_for(engine: RunningEngine, method: str, path: str, body: bytes) -> bytes:
    """The bytes of a request to an engine; `path` begins with /v1 or is the engine's own."""
    where = place(engine.base_url, engine.key)
    if path.startswith("/v1/"):
        path = where.path + path.removeprefix("/v1")
    return b"%b %b HTTP/1.1\r\n%bcontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (
        method.encode(),
        path.encode(),
        where.head,
        len(body),
        body,
    )


def json_of(body: bytes) -> dict[str, object]:
    """The object that a request holds. Raises Refused."""
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(400, "invalid_json", f"The request is no JSON: {error}.") from error
    if not isinstance(document, dict):
        raise Refused(400, "invalid_json", "The request is no object of JSON.")
    return document
