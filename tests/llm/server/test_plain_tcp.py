"""Connections by readers and writers alone: all arrives in order, slow peers pause, and every end is told once."""

import asyncio
import contextlib
import errno
import socket
import sys

import pytest

from rigup.llm.server import plain_tcp
from rigup.llm.server.gathering import new_loop
from rigup.llm.server.plain_tcp import Listener, PlainTransport, connect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no readers there")
WAIT = 60


class Taker(asyncio.Protocol):
    """Keeps what happens to it."""

    def __init__(self):
        self.taken, self.happened = bytearray(), []
        self.up, self.over = asyncio.Event(), asyncio.Event()

    def connection_made(self, transport):
        self.transport = transport
        self.up.set()

    def data_received(self, data):
        self.taken += data

    def pause_writing(self):
        self.happened.append("full")

    def resume_writing(self):
        self.happened.append("empty")

    def connection_lost(self, error):
        self.error = error
        self.happened.append(type(error).__name__ if error else "closed")
        self.over.set()


def run(coroutine):
    async def bounded():
        async with asyncio.timeout(WAIT):
            return await coroutine

    with asyncio.Runner(loop_factory=new_loop) as runner:
        return runner.run(bounded())


@pytest.fixture
def doors():
    near, far = socket.socketpair()
    near.setblocking(False)
    yield near, far
    for door in (near, far):
        door.close()


async def listening():
    """A listener, and a queue of what talks with those who come."""
    clients = asyncio.Queue()

    def client():
        clients.put_nowait(taker := Taker())
        return taker

    bound = await asyncio.get_running_loop().create_server(client, "127.0.0.1", 0, start_serving=False)
    listener = Listener(bound, client)
    await listener.start()
    return listener, clients


async def unreached(port):
    """Why nobody is reached at a port, told now or when it is known."""
    taker = Taker()
    try:
        connect(("127.0.0.1", port), taker)
    except OSError as error:
        return error.errno
    taker.transport.write(b"nobody")
    await taker.over.wait()
    assert taker.happened == ["NotConnectedError"]
    return taker.error.errno


def test_what_a_slow_peer_leaves_is_kept_and_comes_in_order(doors):
    near, far = doors
    sent = b"".join(b"%07d\n" % number for number in range(300_000))

    async def go():
        taker = Taker()
        transport = PlainTransport(asyncio.get_running_loop(), near, taker)
        for start in range(0, len(sent), 100_000):
            transport.write(sent[start : start + 100_000])
        assert taker.happened == ["full"]
        transport.close()
        assert transport.is_closing()
        found = await asyncio.to_thread(lambda: b"".join(iter(lambda: far.recv(1 << 16), b"")))
        await taker.over.wait()
        return found, taker.happened

    found, happened = run(go())
    assert found == sent
    assert happened in (["full", "empty", "closed"], ["full", "closed"])  # the last of it may go at once


def test_a_peer_that_takes_again_is_written_to_again(doors):
    near, far = doors

    async def go():
        taker = Taker()
        transport = PlainTransport(asyncio.get_running_loop(), near, taker)
        while "full" not in taker.happened:
            transport.write(b"x" * 10_000)
        far.setblocking(False)
        while "empty" not in taker.happened:
            await asyncio.sleep(0)
            with contextlib.suppress(BlockingIOError):
                far.recv(1 << 16)
        transport.abort()
        transport.write(b"nobody")
        await taker.over.wait()
        return taker.happened

    assert run(go()) == ["full", "empty", "closed"]


@pytest.mark.parametrize("end", ["closed", "reset"])
def test_the_end_of_a_peer_is_told_once(end):
    async def go():
        listener, clients = await listening()
        peer = socket.create_connection(("127.0.0.1", listener.port))
        taker = await clients.get()
        if end == "reset":
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        peer.close()
        await taker.over.wait()
        taker.transport.close()
        taker.transport.abort()
        await asyncio.sleep(0)
        listener.close()
        return taker

    taker = run(go())
    assert taker.happened == ["closed" if end == "closed" else "ConnectionResetError"]
    assert taker.transport.get_extra_info("socket") is None


def test_nothing_is_read_while_it_is_paused(doors):
    near, far = doors

    async def go():
        taker = Taker()
        transport = PlainTransport(asyncio.get_running_loop(), near, taker)
        transport.pause_reading()
        transport.pause_reading()
        far.sendall(b"later")
        for _ in range(20):
            await asyncio.sleep(0)
        before = bytes(taker.taken)
        transport.resume_reading()
        transport.resume_reading()
        far.shutdown(socket.SHUT_WR)
        await taker.over.wait()
        return before, bytes(taker.taken)

    assert run(go()) == (b"", b"later")


def test_no_more_is_sent_after_the_end_and_what_comes_is_still_read(doors):
    near, far = doors

    async def go():
        taker = Taker()
        transport = PlainTransport(asyncio.get_running_loop(), near, taker)
        transport.write(b"all")
        assert transport.can_write_eof()
        transport.write_eof()
        assert (far.recv(10), far.recv(10)) == (b"all", b"")
        far.sendall(b"more")
        far.close()
        await taker.over.wait()
        return bytes(taker.taken)

    assert run(go()) == b"more"


def test_a_protocol_that_fails_loses_its_connection_and_the_loop_says_it(doors):
    near, far = doors

    class Failing(Taker):
        def data_received(self, data):
            raise ValueError("so")

    async def go():
        told = []
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: told.append(context["exception"]))
        taker = Failing()
        PlainTransport(loop, near, taker)
        far.sendall(b"x")
        await taker.over.wait()
        return taker.happened, [str(error) for error in told]

    assert run(go()) == (["ValueError"], ["so"])
    assert far.recv(1) == b""


def test_many_come_at_once_and_none_after_the_end():
    async def go():
        listener, clients = await listening()
        peers = [Taker() for _ in range(100)]
        for peer in peers:
            connect(("127.0.0.1", listener.port), peer)
        for number, peer in enumerate(peers):
            peer.transport.write(b"%d" % number)
            peer.transport.close()
        takers = [await clients.get() for _ in peers]
        await asyncio.gather(*(taker.over.wait() for taker in takers))
        listener.close()
        assert await unreached(listener.port) == errno.ECONNREFUSED
        return sorted(int(taker.taken) for taker in takers)

    assert run(go()) == list(range(100))


def test_where_descriptors_are_used_up_it_waits_and_takes_on(monkeypatch):
    monkeypatch.setattr(plain_tcp, "_SCARCE_SECONDS", 0.01)
    failures = [errno.EMFILE, errno.ENFILE]
    accept = socket.socket.accept

    def scarce(door):
        if failures:
            raise OSError(failures.pop(), "used up")
        return accept(door)

    async def go():
        listener, clients = await listening()
        monkeypatch.setattr(socket.socket, "accept", scarce)
        with socket.create_connection(("127.0.0.1", listener.port)) as peer:
            peer.sendall(b"here")
            taker = await clients.get()
        await taker.over.wait()
        listener.close()
        return failures, bytes(taker.taken)

    assert run(go()) == ([], b"here")
