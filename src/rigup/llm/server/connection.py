"""One client's connection: its request is read within bounds, and answered once."""

import asyncio
import hmac
import time
from collections.abc import Callable, Coroutine
from typing import Any

import httptools
import msgspec

from rigup.llm.server.errors import Refused, body_of
from rigup.llm.server.relay import CLOSED, Client, Relay

_HEAD_SECONDS, _STALLED_SECONDS = 20.0, 120.0
_LINGER_SECONDS = 3.0
_LEAST_RATE = 32 << 10  # bytes a second of a body, from the first minute on
_BODY_SECONDS = 60.0
_MOST_HEAD = 32 << 10
_MOST_AROUND = 16  # bytes that are no body (lengths of chunks, what stands behind them) for each that is


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """What every connection is held to.

    Attributes:
        key: that clients must have; "" for none.
        most_body: bytes.
        most_connections: at once.
        only_local: names of this machine alone may stand in `Host`: pages of other sites cannot reach it by a name of theirs.

    """

    key: str
    most_body: int = 64 << 20
    most_connections: int = 1024
    only_local: bool = False


class Asked(msgspec.Struct, frozen=True, gc=False):
    """A whole request.

    Attributes:
        method, path, body: as they came.
        began: when it was whole, by the monotonic clock.
        languages: that the client would read.

    """

    method: str
    path: str
    body: bytes
    began: float
    languages: str = ""


class Connection(asyncio.Protocol, Client):
    """A client.

    Args:
        rules: the bounds.
        others: all connections; it puts itself there while it lives.
        answer: answers a whole request, or gives what does so in a task, which ends where the client leaves.

    """

    def __init__(
        self, rules: Rules, others: set["Connection"], answer: Callable[["Connection", Asked], Coroutine[Any, Any, None] | None]
    ) -> None:
        self._rules, self._others, self._answer = rules, others, answer
        self._reader = httptools.HttpRequestParser(self)
        self._target, self._size, self._taken = b"", 0, 0
        self._heads: dict[bytes, bytes] = {}
        self._pieces: list[bytes] = []
        self._headed, self._upgrades, self._whole = False, False, False
        self._timer: asyncio.TimerHandle | None = None
        self._relay: Relay | None = None
        self._task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self.status = 0
        self._streaming, self._as_ollama = False, False
        self.gone: asyncio.Future[None] = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a request, but not for long."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101
        self.transport = transport
        self._others.add(self)
        if len(self._others) > self._rules.most_connections:
            self.refuse(Refused(503, "too_many_connections", "Too many connections: try again later."))
            return
        self._timer = self._loop.call_later(_HEAD_SECONDS, self._too_slow)

    @property
    def busy(self) -> bool:
        """Whether an answer is on its way; `gone` is done once it has left."""
        return self._task is not None or self._relay is not None

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after the one request is not looked at."""
        if self._whole or self.status:
            return
        self._taken += len(data)
        try:
            self._read(data)
        except httptools.HttpParserError as error:
            if isinstance(error.__context__, Refused):  # raised below, while it was read
                self.refuse(error.__context__)
            elif not self._whole:
                self.refuse(Refused(400, "bad_request", f"That is no request of HTTP/1.1: {error}."))
        except Refused as error:
            self.refuse(error)
        if self._whole and not self.status:
            self._begin()

    def _read(self, data: bytes) -> None:
        """Take bytes as they came. Raises HttpParserError and Refused."""
        try:
            self._reader.feed_data(data)
        except httptools.HttpParserUpgrade as error:  # which may be passed by: the request is answered as it is
            self._reader = httptools.HttpRequestParser(_BodyAlone(self))
            self._upgrades = False
            self._reader.feed_data(self._framing())
            self._reader.feed_data(data[error.args[0] :])
        if self._whole:
            return
        if self._taken - self._size > _MOST_HEAD + _MOST_AROUND * self._size:
            raise _too_much_around()
        if self._headed and not self._pieces and self._heads.get(b"expect", b"").lower() == b"100-continue":
            self._heads[b"expect"] = b""
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    def _framing(self) -> bytes:
        """A head that says of the body what this one's did."""
        lines = [b"%b: %b\r\n" % (name, self._heads[name]) for name in _FRAMING if name in self._heads]
        return b"POST / HTTP/1.1\r\n" + b"".join(lines) + b"\r\n"

    # -- what the parser calls: a Refused that is raised here ends the reading ---------------------------

    def on_url(self, part: bytes) -> None:
        """A part of the first line."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """A line of the head, or one behind the last chunk."""
        if self._headed:
            return
        name = name.lower()
        if name in _ONCE and name in self._heads:
            raise Refused(400, "bad_request", f"That is no request of HTTP/1.1: {name.decode()} stands there twice.")
        self._heads[name] = value.strip(b" \t")

    def on_headers_complete(self) -> None:
        """Judge all that can be before the body comes. Raises Refused."""
        heads, path = self._heads, self._target.partition(b"?")[0]
        self._as_ollama = path.startswith(b"/api/")
        self._check_form()
        if self._rules.only_local and not _is_local(heads.get(b"host", b"")):
            raise Refused(403, "host_not_allowed", "The request names another host than this machine.")
        origin = heads.get(b"origin")
        if self._rules.only_local and origin is not None and not _is_local(origin.rpartition(b"/")[2]):
            raise Refused(403, "origin_not_allowed", "A page of another site may not ask.")
        if path not in _OPEN and not self._has_key():
            raise Refused(401, "invalid_api_key", "The key is missing or wrong: send it as `Authorization: Bearer KEY`.")
        length = int(heads.get(b"content-length", b"0"))
        if length > self._rules.most_body:
            raise self._too_large()
        self._headed, self._upgrades = True, self._reader.should_upgrade()
        if length or b"transfer-encoding" in heads:
            self._wait(_BODY_SECONDS + length / _LEAST_RATE, self._too_slow)

    def _check_form(self) -> None:
        """Refuse a head that the parser takes and that is none, or not of this protocol. Raises Refused."""
        if sum(map(len, self._heads)) + sum(map(len, self._heads.values())) + len(self._target) > _MOST_HEAD:
            raise _too_much_around()
        version, coding = self._reader.get_http_version(), self._heads.get(b"transfer-encoding")
        if version not in ("1.0", "1.1") or (version == "1.1" and b"host" not in self._heads):
            raise Refused(400, "bad_request", "That is no request of HTTP/1.1: it names no host, or another version.")
        if coding is not None and (version == "1.0" or coding.lower() != b"chunked" or b"content-length" in self._heads):
            raise Refused(400, "bad_request", "That is no request of HTTP/1.1: a body comes whole or in chunks, in no other coding.")

    def _has_key(self) -> bool:
        """Whether a request has the key, as OpenAI's clients send it or as Anthropic's do."""
        kind, _blank, key = self._heads.get(b"authorization", b"").partition(b" ")
        sent = key if kind.lower() == b"bearer" else self._heads.get(b"x-api-key", b"")
        same = hmac.compare_digest(sent.strip(), self._rules.key.encode())
        return not self._rules.key or same

    def _too_large(self) -> Refused:
        template = "The request is larger than {bytes} bytes."
        return Refused(413, "request_too_large", template.format(bytes=self._rules.most_body))

    def on_body(self, piece: bytes) -> None:
        """A piece of the body. Raises Refused."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > self._rules.most_body:
            raise self._too_large()

    def on_message_complete(self) -> None:
        """The request is whole."""
        self._whole = not self._upgrades

    def _begin(self) -> None:
        """Answer."""
        self._wait(0, None)
        target = self._target.partition(b"?")[0].decode("ascii", "replace")
        languages = self._heads.get(b"accept-language", b"").decode("ascii", "replace")
        method = self._reader.get_method().decode("ascii", "replace")
        self._reader = _READ  # or the two would hold each other
        asked = Asked(method, target, b"".join(self._pieces), time.monotonic(), languages)
        self._pieces.clear()
        try:
            work = self._answer(self, asked)
        except Exception:
            self._failed()
            raise
        if work is not None:
            self.goes_on(work)

    def goes_on(self, work: Coroutine[Any, Any, None]) -> None:
        """Do what is left of answering, in a task."""
        self._task = self._loop.create_task(self._run(work))

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Refused as error:
            self.refuse(error)
        except asyncio.CancelledError:
            self.transport.abort()
        except Exception:
            self._failed()
            raise
        finally:
            self.answered()

    def _failed(self) -> None:
        self.refuse(Refused(500, "internal_error", "rigup itself has failed; its log says how."))

    # -- answers -----------------------------------------------------------------------------------

    def refuse(self, error: Refused) -> None:
        """Answer with an error; in a stream of rigup's own it is the last event."""
        body = body_of(error, self._as_ollama)
        if self._streaming and not self.transport.is_closing():
            (self.line if self._as_ollama else self.event)(body)
            self.end()
        self.send(error.status, body)

    def send(self, status: int, body: bytes, kind: str = "application/json", heads: bytes = b"") -> None:
        """Answer with a whole body; `heads` are further lines of the head."""
        if self.status or self.transport.is_closing():
            return
        self.status = status
        more = heads + (b"www-authenticate: Bearer\r\n" if status == 401 else b"")
        head = f"HTTP/1.1 {status} {_PHRASES.get(status, 'Error')}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n"
        self.transport.write(head.encode() + CLOSED + more + b"\r\n" + body)
        if self._whole or not self.transport.can_write_eof():
            self.transport.close()
            return
        self.transport.write_eof()  # what still comes is read for a moment, or the client would not see why it was refused
        self._wait(_LINGER_SECONDS, self.transport.abort)

    def stream(self, kind: str = "text/event-stream") -> None:
        """Begin an answer of events or of lines, which `event` or `line` writes and `end` ends."""
        self.status, self._streaming = 200, True
        head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncache-control: no-cache\r\ntransfer-encoding: chunked\r\n"
        self.transport.write(head.encode() + CLOSED + b"\r\n")

    def event(self, data: bytes, kind: str = "") -> None:
        """One event of a stream."""
        self.line((b"event: %b\n" % kind.encode() if kind else b"") + b"data: %b\n" % data)

    def line(self, data: bytes) -> None:
        """One line of a stream."""
        text = data + b"\n"
        self.transport.write(b"%x\r\n%b\r\n" % (len(text), text))

    def end(self) -> None:
        """The stream is whole."""
        self._streaming = False
        self.transport.write(b"0\r\n\r\n")
        self.transport.close()

    def passed_to(self, source: Relay) -> None:
        """An engine is asked: it is let go where the client leaves."""
        self._relay = source

    def answering(self, status: int) -> None:
        """An engine's answer begins."""
        self.status = status

    def answered(self) -> None:
        """No more is written: what was goes out, and the connection ends."""
        if not self.transport.is_closing():
            self.transport.close()
            if not self.gone.done():
                self._wait(_STALLED_SECONDS, self.transport.abort)

    # -- slow clients, and those that leave --------------------------------------------------------

    def pause_writing(self) -> None:
        """The client takes nothing: neither is more read, and after a while it is let go."""
        if self._relay is not None:
            self._relay.pause(True)
        self._wait(_STALLED_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It takes again."""
        if self._relay is not None:
            self._relay.pause(False)
        self._wait(0, None)

    def _wait(self, seconds: float, then: Callable[[], None] | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, then) if then else None

    def _too_slow(self) -> None:
        self.refuse(Refused(408, "request_timeout", "The request did not come in time."))

    def connection_lost(self, _error: Exception | None) -> None:
        """The client is gone: so is what was computed for it."""
        self._others.discard(self)
        self._reader = _READ
        self._wait(0, None)
        if not self.gone.done():
            self.gone.set_result(None)
        if self._relay is not None:
            self._relay.cut()
            self._relay = None
        if self._task is not None and not self._task.done():
            self._task.cancel()


class _BodyAlone:
    """What a parser calls that is handed a body behind a head of rigup's own."""

    def __init__(self, connection: Connection) -> None:
        self.on_body, self.on_message_complete = connection.on_body, connection.on_message_complete


_READ = httptools.HttpRequestParser(None)  # of a request that is
_ONCE = frozenset((b"host", b"content-length", b"transfer-encoding", b"authorization", b"x-api-key"))
_FRAMING = (b"content-length", b"transfer-encoding")
_OPEN = (b"/", b"/health", b"/v1/health")  # they tell nothing of anybody
_PHRASES = {
    200: "OK",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


def _too_much_around() -> Refused:
    return Refused(431, "bad_request", "That is no request of HTTP/1.1: its head, or what stands around its body, is too long.")


def _is_local(host: bytes) -> bool:
    name = host.decode("ascii", "replace").strip().lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    return name in ("localhost", "::1") or (name.startswith("127.") and name.replace(".", "").isdigit())
