"""Requests of rigup's own to an engine, whose answers it reads."""

import asyncio
from collections.abc import AsyncIterator

import h11
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
        raise Refused(502, "engine_unreachable", f"The engine does not answer: {error.strerror or error}.") from error  # fmt: skip
    try:
        writer.write(request_for(engine, method, path, body))
        http = h11.Connection(h11.CLIENT)
        http.send(
            h11.Request(method=method, target=path, headers=[("host", "engine"), ("content-length", str(len(body)))])
        )
        http.send(h11.Data(data=body))
        http.send(h11.EndOfMessage())
        status, refused = 0, b""
        while True:
            event = http.next_event()
            if event is h11.NEED_DATA:
                http.receive_data(await reader.read(_PIECE))
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data) and status < 300:
                yield bytes(event.data)
            elif isinstance(event, h11.Data):
                refused = (refused + bytes(event.data))[:_PIECE]
            elif isinstance(event, h11.EndOfMessage):
                break
        if status >= 300:
            raise _refusal(status, refused)
    except (h11.RemoteProtocolError, OSError) as error:
        raise Refused(502, "engine_failed", await broken_off(engine)) from error
    finally:
        writer.transport.abort()


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
