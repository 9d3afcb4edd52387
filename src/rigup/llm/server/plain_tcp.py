"""Connections of plain TCP by a loop's readers and writers alone.

For a request that is passed on, asyncio's own transports, servers and connections take two thirds of the processor's time: tasks,
futures and rounds of the loop for each. Where a loop has no readers (Windows), or TLS is spoken, asyncio's own are taken.
"""

import asyncio
import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_READ = 256 << 10
_FULL, _LOW = (
    64 << 10,
    16 << 10,
)  # bytes that a slow peer leaves, from which and up to which its protocol writes no more
_AT_ONCE, _WAITING = 16, 512  # few at once, or all would wait for all: what was taken is seen to before more is
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SCARCE_SECONDS = 1.0


_NOBODY = asyncio.Protocol()


class PlainTransport(asyncio.Transport):
    """A transport over a connected socket that does not block."""

    def __init__(self, loop: asyncio.AbstractEventLoop, door: socket.socket, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._loop, self._door, self._descriptor, self._protocol = loop, door, door.fileno(), protocol
        self._unsent = bytearray()
        self._reading, self._full, self._closing, self._lost, self._ends = False, False, False, False, False
        protocol.connection_made(self)
        self.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        """The socket."""
        return self._door if name == "socket" and not self._lost else default

    def resume_reading(self) -> None:
        """Read, from now on."""
        if not (self._reading or self._closing):
            self._reading = True
            self._loop.add_reader(self._descriptor, self._read)

    def pause_reading(self) -> None:
        """Read no more."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._descriptor)

    def _read(self) -> None:
        try:
            data = self._door.recv(_READ)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        if not data:
            self.close()
            return
        try:
            self._protocol.data_received(data)
        except Exception as error:
            self._lose(error)
            raise  # the loop says it

    def write(self, data: Any) -> None:
        """Send; what the peer does not take yet is kept."""
        if self._lost or not data:
            return
        if not self._unsent:
            try:
                sent = self._door.send(data)
            except (BlockingIOError, InterruptedError):
                sent = 0
            except OSError as error:
                self._lose(error)
                return
            if sent == len(data):
                return
            data = memoryview(data)[sent:]
            self._loop.add_writer(self._descriptor, self._send)
        self._unsent += data
        if len(self._unsent) > _FULL and not self._full:
            self._full = True
            self._protocol.pause_writing()

    def _send(self) -> None:
        try:
            del self._unsent[: self._door.send(self._unsent)]
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(error)
            return
        if not self._unsent:
            self._loop.remove_writer(self._descriptor)
            if self._closing:
                self._lose(None)
                return
            self._end()
        if self._full and len(self._unsent) <= _LOW:
            self._full = False
            self._protocol.resume_writing()

    def can_write_eof(self) -> bool:
        """It can."""
        return True

    def write_eof(self) -> None:
        """Send no more after this."""
        self._ends = True
        self._end()

    def _end(self) -> None:
        if self._ends and not self._unsent:
            with suppress(OSError):  # the peer is gone, which reading tells
                self._door.shutdown(socket.SHUT_WR)

    def is_closing(self) -> bool:
        """Whether it is closed, or will be once all is sent."""
        return self._closing

    def close(self) -> None:
        """Close once all is sent."""
        self.pause_reading()
        self._closing = True
        if not self._unsent:
            self._lose(None)

    def abort(self) -> None:
        """Close at once."""
        self._lose(None)

    def _lose(self, error: Exception | None) -> None:
        if self._lost:
            return
        self.pause_reading()
        self._closing = self._lost = True
        if self._unsent:
            self._loop.remove_writer(self._descriptor)
            self._unsent.clear()
        self._door.close()
        self._loop.call_soon(self._protocol.connection_lost, error)
        self._protocol = _NOBODY  # or the two would hold each other


def has_readers(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether a loop can have them."""
    return isinstance(loop, asyncio.SelectorEventLoop)


class Listener:
    """Takes connections at an address, from `start` until it is closed.

    Args:
        bound: a server of asyncio's that does not serve yet; it closes with this.
        protocol: makes what talks with a client.

    """

    def __init__(self, bound: asyncio.Server, protocol: Callable[[], asyncio.Protocol]) -> None:
        self._loop, self._bound, self._protocol = asyncio.get_running_loop(), bound, protocol
        self._doors: list[socket.socket] = []
        self._later: set[asyncio.TimerHandle] = set()
        self.port: int = bound.sockets[0].getsockname()[1]

    async def start(self) -> None:
        """Let clients come."""
        if not has_readers(self._loop):
            await self._bound.start_serving()
            return
        for shared in self._bound.sockets:
            door = shared.dup()
            self._doors.append(door)
            door.listen(_WAITING)
            self._loop.add_reader(door, self._take, door)

    def _take(self, door: socket.socket) -> None:
        for _number in range(_AT_ONCE):
            try:
                client, _address = door.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _SCARCE:
                    raise
                self._loop.remove_reader(door)  # until some are given back
                self._again(door)
                return
            client.setblocking(False)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            PlainTransport(self._loop, client, self._protocol())

    def _again(self, door: socket.socket) -> None:
        def take() -> None:
            self._later.discard(timer)
            self._loop.add_reader(door, self._take, door)

        timer = self._loop.call_later(_SCARCE_SECONDS, take)
        self._later.add(timer)

    def close(self) -> None:
        """Take no more."""
        self._bound.close()
        for timer in self._later:
            timer.cancel()
        for door in self._doors:
            self._loop.remove_reader(door)
            door.close()


async def connect(address: tuple[str, int], protocol: asyncio.Protocol) -> None:
    """Connect a protocol to an address in digits. Raises OSError."""
    loop = asyncio.get_running_loop()
    door = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    try:
        door.setblocking(False)
        door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if door.connect_ex(address) and not _stands(
            door
        ):  # on loopback it stands at once, though the first call denies it
            await loop.sock_connect(door, address)
    except BaseException:
        door.close()
        raise
    PlainTransport(loop, door, protocol)


def _stands(door: socket.socket) -> bool:
    try:
        door.getpeername()
    except OSError:
        return False
    return True
