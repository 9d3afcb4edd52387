"""One client's connection: its request is read within bounds, and answered once."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Mapping

import h11
import msgspec

from rigup.llm.server.errors import Refused, body_of
from rigup.llm.server.relay import CLOSED, Client, Relay

_HEAD_SECONDS, _STALLED_SECONDS = 20.0, 120.0
_LINGER_SECONDS = 3.0
_LEAST_RATE = 32 << 10  # bytes a second of a body, from the first minute on
_BODY_SECONDS = 60.0
_MOST_HEAD = 32 << 10


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


class Asked(msgspec.Struct, frozen=True):
    """A whole request; `languages` is what the client would read."""

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
        answer: answers a whole request, in a task that ends where the client leaves.

    """

    def __init__(self, rules: Rules, others: set["Connection"], answer: Callable[["Connection", Asked], Awaitable[None]]) -> None:  # fmt: skip
        self._rules, self._others, self._answer = rules, others, answer
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=_MOST_HEAD)
        self._asked: h11.Request | None = None
        self._heads: Mapping[bytes, bytes] = {}
        self._body = bytearray()
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
        return self._task is not None

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after the one request is not looked at."""
        if self._task is not None or self.status:
            return
        try:
            self._http.receive_data(data)
            self._read()
        except h11.RemoteProtocolError as error:
            status = error.error_status_hint if error.error_status_hint in (413, 414, 431) else 400
            self.refuse(Refused(status, "bad_request", f"That is no request of HTTP/1.1: {error}."))
        except Refused as error:
            self.refuse(error)

    def _read(self) -> None:
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Request):
                self._check(event)
            elif isinstance(event, h11.Data):
                self._body += event.data
                if len(self._body) > self._rules.most_body:
                    raise self._too_large()
            elif isinstance(event, h11.EndOfMessage):
                self._begin()
                return
            else:
                return

    def _check(self, asked: h11.Request) -> None:
        """All that can be judged before the body comes. Raises Refused."""
        heads = self._heads = dict(asked.headers)
        path = asked.target.split(b"?", 1)[0]
        self._as_ollama = path.startswith(b"/api/")
        if self._rules.only_local and not _is_local(heads.get(b"host", b"")):
            raise Refused(403, "host_not_allowed", "The request names another host than this machine.")
        origin = heads.get(b"origin")
        if self._rules.only_local and origin is not None and not _is_local(origin.rpartition(b"/")[2]):
            raise Refused(403, "origin_not_allowed", "A page of another site may not ask.")
        if path not in _OPEN and not self._has_key(heads):
            raise Refused(
                401, "invalid_api_key", "The key is missing or wrong: send it as `Authorization: Bearer KEY`."
            )
        length = int(heads.get(b"content-length", b"0"))
        if length > self._rules.most_body:
            raise self._too_large()
        self._asked = asked
        if self._http.they_are_waiting_for_100_continue:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._wait(_BODY_SECONDS + length / _LEAST_RATE, self._too_slow)

    def _has_key(self, heads: Mapping[bytes, bytes]) -> bool:
        """Whether a request has the key, as OpenAI's clients send it or as Anthropic's do."""
        kind, _blank, key = heads.get(b"authorization", b"").partition(b" ")
        sent = key if kind.lower() == b"bearer" else heads.get(b"x-api-key", b"")
        same = hmac.compare_digest(sent.strip(), self._rules.key.encode())
        return not self._rules.key or same

    def _too_large(self) -> Refused:
        template = "The request is larger than {bytes} bytes."
        return Refused(413, "request_too_large", template.format(bytes=self._rules.most_body))

    def _begin(self) -> None:
        assert self._asked is not None  # noqa: S101
        self._wait(0, None)
        target = self._asked.target.split(b"?", 1)[0].decode("ascii", "replace")
        languages = self._heads.get(b"accept-language", b"").decode("ascii", "replace")
        asked = Asked(
            self._asked.method.decode("ascii", "replace"), target, bytes(self._body), self._loop.time(), languages
        )
        self._body.clear()
        self._task = self._loop.create_task(self._run(asked))

    async def _run(self, asked: Asked) -> None:
        try:
            await self._answer(self, asked)
        except Refused as error:
            self.refuse(error)
        except asyncio.CancelledError:
            self.transport.abort()
        except Exception:
            self.refuse(Refused(500, "internal_error", "rigup itself has failed; its log says how."))
            raise
        finally:
            if not self.transport.is_closing():
                self.transport.close()
                self._wait(_STALLED_SECONDS, self.transport.abort)

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
        if self._task is not None or not self.transport.can_write_eof():
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

    def answering(self, status: int, source: Relay) -> None:
        """An engine's answer begins."""
        self.status, self._relay = status, source

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
        self._relay = None
        self._wait(0, None)
        if not self.gone.done():
            self.gone.set_result(None)
        if self._task is not None and not self._task.done():
            self._task.cancel()


_OPEN = (b"/", b"/health", b"/v1/health")  # they tell nothing of anybody
_PHRASES = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    408: "Request Timeout", 413: "Content Too Large", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    502: "Bad Gateway", 503: "Service Unavailable",
}  # fmt: skip


def _is_local(host: bytes) -> bool:
    name = host.decode("ascii", "replace").strip().lower()
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    return name in ("localhost", "::1") or (name.startswith("127.") and name.replace(".", "").isdigit())
