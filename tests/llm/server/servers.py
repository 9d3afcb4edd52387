"""A server in a thread of the test's own, and what talks to it."""

import asyncio
import contextlib
import socket
import threading

from rigup.llm.engines.here import here
from rigup.llm.engines.wish import StartRequest
from rigup.llm.server.connection import Rules
from rigup.llm.server.gathering import new_loop
from rigup.llm.server.serving import Plan, Server

KEY = "a-key-of-the-tests"
WAIT = 60


class Running:
    """A server that runs until the block ends."""

    def __init__(self, wishes, **settings):
        rules = Rules(key=settings.pop("key", KEY), **settings.pop("rules", {}))
        self.said, self.error = [], None
        self._up, self._over, self._loop = threading.Event(), None, None
        self.server = None
        self._make = lambda: Server(wishes, here("cpu"), Plan(rules=rules, **settings), self.said.append)
        self._thread = threading.Thread(target=self._live)
        self.port = 0

    def _live(self):
        try:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(self._run())
        except Exception as error:
            self.error = error
        finally:
            self._up.set()

    async def _run(self):
        self._loop, self._over, self.server = asyncio.get_running_loop(), asyncio.Event(), self._make()
        await self.server.run(self._ready, self._over)

    def _ready(self, port):
        self.port = port
        self._up.set()

    def begin_to_end(self):
        self._loop.call_soon_threadsafe(self._over.set)

    def engine(self, name):
        return self.server.models.all[name].engine

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self):
        self._thread.start()
        assert self._up.wait(WAIT)
        if self.error:
            self._thread.join()
            raise self.error
        return self

    def __exit__(self, *_):
        with contextlib.suppress(RuntimeError):
            self.begin_to_end()
        self._thread.join(WAIT)
        assert not self._thread.is_alive()


LONG = 1 << 17  # tokens of context: an answer that ignores its end goes on for many seconds


def wish(path, python, name, context=512, **more):
    return StartRequest(model=str(path), engine="xllamacpp", python=python, name=name, on="cpu", context=context, **more)


def raw(port, request, until=None):
    """The bytes of an answer to bytes."""
    with socket.create_connection(("127.0.0.1", port), WAIT) as door:
        door.sendall(request)
        found = b""
        while not (until and until in found):
            piece = door.recv(65536)
            if not piece:
                break
            found += piece
        return found


def post(path, body, key=KEY, *more):
    head = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {len(body)}", f"Authorization: Bearer {key}", *more]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def get(path, key=KEY):
    return f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
