"""Requests of rigup's own to an engine, whose answers it reads."""

import asyncio
from collections.abc import AsyncIterator

import httptools
import msgspec

from rigup.llm.engines.running import RunningEngine
from rigup.llm.server.errors import Refused
from rigup.llm.server.relay import place, request_for

_MOST = 64 << 20
_PIECE = 64 << 10
_END_SECONDS = 2.0


async def pieces(engine: RunningEngine, method: str, path: str, body: bytes = b"") -> AsyncIterator[bytes]:
    """The pieces of an answer's body as they come; the engine is let go where nobody reads on.

    Raises:
        Refused: the engine does not answer, or says that it will not; its own status and words.

    """
    where = place(engine.base_url, engine.key)
    try:
        reader, writer = await asyncio.open_connection(where.host, where.port, ssl=where.secure)
    except OSError as error:
        raise Refused(502, "engine_unreachable", f"The engine does not answer: {error.strerror or error}.") from error
    answer = _Answer()
    parser = httptools.HttpResponseParser(answer)
    try:
        writer.write(request_for(engine, method, path, body))
        refused = b""
        while not answer.whole:
            if data := await reader.read(_PIECE):
                parser.feed_data(data)
            elif not answer.ends_with_connection:
                raise Refused(502, "engine_failed", await broken_off(engine))
            else:
                answer.whole = True
            status, piece = answer.taken(parser)
            if status >= 300:
                refused = (refused + piece)[:_PIECE]
            elif piece:
                yield piece
        if status >= 300:
            raise _refusal(status, refused)
    except (httptools.HttpParserError, httptools.HttpParserUpgrade, OSError) as error:
        raise Refused(502, "engine_failed", await broken_off(engine)) from error
    finally:
        writer.transport.abort()


class _Answer:
    """What a parser has read of an answer, and nobody has taken yet."""

    def __init__(self) -> None:
        self.whole, self._headed, self._bounded = False, False, False
        self._pieces: list[bytes] = []

    @property
    def ends_with_connection(self) -> bool:
        """Whether its head says of no other end."""
        return self._headed and not self._bounded

    def taken(self, parser: httptools.HttpResponseParser) -> tuple[int, bytes]:
        """The status, and what came of the body since; 0 before the head is whole."""
        body = b"".join(self._pieces)
        self._pieces.clear()
        return parser.get_status_code() if self._headed else 0, body

    def on_header(self, name: bytes, _value: bytes) -> None:
        """A line of the head."""
        self._bounded |= name.lower() in (b"content-length", b"transfer-encoding")

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._headed = True

    def on_body(self, piece: bytes) -> None:
        """A piece of the body."""
        self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """The answer is."""
        self.whole = True


async def broken_off(engine: RunningEngine) -> str:
    """Why an engine broke off its answer."""
    return await asyncio.to_thread(engine.ended_because, _END_SECONDS) or "The engine broke off its answer."


def _refusal(status: int, body: bytes) -> Refused:
    try:
        document = msgspec.json.decode(body)
        error = document["error"]
        return Refused(status, str(error.get("type", "engine_refused")), str(error["message"]))
    except (msgspec.DecodeError, KeyError, TypeError, AttributeError):
        return Refused(status, "engine_refused", "The engine refused the request.")


async def whole(engine: RunningEngine, method: str, path: str, body: bytes = b"") -> bytes:
    """A whole answer. Raises Refused."""
    found = bytearray()
    async for piece in pieces(engine, method, path, body):
        found += piece
        if len(found) > _MOST:
            raise Refused(502, "engine_failed", "The engine's answer has no end.")
    return bytes(found)


async def events(engine: RunningEngine, path: str, body: bytes) -> AsyncIterator[dict[str, object]]:
    """The objects of a stream of events. Raises Refused."""
    left = b""
    async for piece in pieces(engine, "POST", path, body):
        *lines, left = (left + piece).split(b"\n")
        for line in lines:
            if line.startswith(b"data: ") and line[6:].strip() != b"[DONE]":
                document = msgspec.json.decode(line[6:])
                if isinstance(document, dict):
                    yield document
