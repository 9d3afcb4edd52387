"""Pieces of many streams are passed on together; nothing else waits for them, and no piece is lost."""

import asyncio
import socket
import sys

import pytest

from rigup.llm.server import gathering
from rigup.llm.server.gathering import Gathering, gather, new_loop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="epoll")


@pytest.fixture
def doors():
    """Pairs of connected sockets: what goes into the first of each comes out of the second."""
    pairs = [socket.socketpair() for _ in range(6)]
    yield pairs
    for pair in pairs:
        for door in pair:
            door.close()


@pytest.fixture
def selector(doors):
    selector = Gathering()
    for _near, far in doors:
        selector.register(far, 1, "stream")
    yield selector
    selector.close()


class Watched:
    """The part that is no streams, with what it is asked to wait; `meanwhile` is done then."""

    def __init__(self, part, meanwhile=lambda: None):
        self.waits, self._part, self._meanwhile = [], part, meanwhile

    def poll(self, seconds):
        self.waits.append(seconds)
        self._meanwhile()
        return self._part.poll(seconds)

    def close(self):
        self._part.close()


def descriptors(ready):
    return sorted(key.fd for key, _events in ready)


def test_streams_and_others_are_found_wherever_they_are_asked_for(doors, selector):
    for _near, far in doors[:3]:
        selector.gather(far.fileno())
        selector.gather(far.fileno())  # a second time changes nothing
    for near, _far in doors:
        near.send(b"x")
    assert descriptors(selector.select(0)) == sorted(far.fileno() for _near, far in doors)
    for _near, far in doors:
        assert selector.get_key(far).data == "stream"
        assert selector.modify(far, 2, "writes").data == "writes"
        assert selector.unregister(far).data == "writes"
    with pytest.raises(KeyError):
        selector.get_key(doors[0][1])
    assert selector.select(0) == []


def test_pieces_wait_for_each_other_and_not_for_long(doors, selector, monkeypatch):
    """The wait is as long as the rule says, and a piece that comes within it goes with the first."""
    for _near, far in doors[:5]:
        selector.gather(far.fileno())
    watched = Watched(selector._first, lambda: doors[1][0].send(b"second"))
    monkeypatch.setattr(selector, "_first", watched)
    doors[0][0].send(b"first")
    assert descriptors(selector.select()) == sorted(far.fileno() for _near, far in doors[:2])
    assert watched.waits == [pytest.approx(5 * gathering._EACH)]


@pytest.mark.parametrize("other", [True, False])
def test_nothing_else_waits(doors, selector, monkeypatch, other):
    """Where something else has come, or few streams flow, or the loop has work to do, nothing is waited for."""
    for _near, far in doors[: 5 if other else 3]:
        selector.gather(far.fileno())
    watched = Watched(selector._first)
    monkeypatch.setattr(selector, "_first", watched)
    doors[0][0].send(b"piece")
    if other:
        doors[5][0].send(b"a new client")
    assert len(selector.select(30)) == 1 + other
    selector.select(0)
    assert watched.waits == [0, 0]


def test_a_loop_reads_all_that_was_sent_and_sees_the_end(doors):
    """Through asyncio's own connections, paused and resumed between."""

    class Taker(asyncio.Protocol):
        def __init__(self):
            self.taken, self.over = b"", asyncio.get_running_loop().create_future()

        def connection_made(self, transport):
            self.transport = transport

        def data_received(self, data):
            self.taken += data
            gather(self.transport)
            if len(self.taken) == 5:
                self.transport.pause_reading()
                asyncio.get_running_loop().call_soon(self.transport.resume_reading)

        def connection_lost(self, _error):
            self.over.set_result(None)

    async def run():
        loop = asyncio.get_running_loop()
        takers = [(await loop.create_connection(Taker, sock=far.dup()))[1] for _near, far in doors]
        for number in range(20):
            for near, _far in doors:
                near.send(b"%05d" % number)
            await asyncio.sleep(0)
        for near, _far in doors:
            near.shutdown(socket.SHUT_WR)
        await asyncio.gather(*(taker.over for taker in takers))
        return {taker.taken for taker in takers}

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert runner.run(run()) == {b"".join(b"%05d" % number for number in range(20))}
