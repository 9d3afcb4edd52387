"""Connections of plain TCP by a loop's readers and writers alone.

For a request that is passed on, asyncio's own transports, servers and connections take two thirds of the processor's time: tasks,
futures and rounds of the loop for each. Where a loop has no readers (Windows), or TLS is spoken, asyncio's own are taken.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_READ = 256 << 10
_FULL, _LOW = (64 << 10, 16 << 10)  # bytes that a slow peer leaves, from which and up to which its protocol writes no more
_AT_ONCE, _WAITING = 32, 512  # a request that has come with its connection is seen to as that is taken
_SCARCE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_SCARCE_SECONDS = 1.0


_UNDER_WAY = (errno.EINPROGRESS, errno.EWOULDBLOCK)
_NOBODY = asyncio.Protocol()


class NotConnectedError(OSError):
    """Nobody was reached: nothing was sent."""


class PlainTransport(asyncio.Transport):
    """A transport over a socket that does not block.

    Args:
        loop: has readers.
        door: the socket.
        protocol: is told of what happens.
        stands: whether it is connected; where it is not yet, and will not be, the protocol loses it with NotConnectedError.
        has_sent: whether the peer may have sent something by now.

    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        door: socket.socket,
        protocol: asyncio.Protocol,
        *,
        stands: bool = True,
        has_sent: bool = False,
    ) -> None:
        super().__init__()
        self._loop, self._door, self._descriptor, self._protocol = loop, door, door.fileno(), protocol
        self._unsent = bytearray()
        self._reading, self._full, self._closing, self._lost, self._ends = False, False, False, False, False
        self._stands = stands
        protocol.connection_made(self)
        if has_sent and not self._closing:
            self._read()
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
            if error.errno != errno.ENOTCONN or self._stands:
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
            sent = self._sent(data)
            if sent == len(data) or self._lost:
                return
            data = memoryview(data)[sent:]
            self._loop.add_writer(self._descriptor, self._send)
        self._unsent += data
        if len(self._unsent) > _FULL and not self._full:
            self._full = True
            self._protocol.pause_writing()

    def _sent(self, data: Any) -> int:
        """Send what the peer takes; how much that is."""
        try:
            count = self._door.send(data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            if error.errno != errno.ENOTCONN or self._stands:  # some systems say so while a connection is under way
                self._lose(error)
            return 0
        self._stands = True
        return count

    def _send(self) -> None:
        del self._unsent[: self._sent(self._unsent)]
        if self._lost:
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
        if isinstance(error, OSError) and not self._stands:
            error = NotConnectedError(error.errno, error.strerror)
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
            door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # and so have those that it takes
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
            PlainTransport(self._loop, client, self._protocol(), has_sent=True)

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


def connect(address: tuple[str, int], protocol: asyncio.Protocol) -> None:
    """Connect a protocol to an address in digits: what it writes at once is sent as soon as that can be.

    Where nobody is reached the protocol is told by the error with which it loses the connection.

    Raises:
        OSError: it is known now that it cannot be.

    """
    door = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET)
    try:
        door.setblocking(False)
        door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = door.connect_ex(address)
        if number and number not in _UNDER_WAY:
            raise OSError(number, os.strerror(number))
    except BaseException:
        door.close()
        raise
    PlainTransport(asyncio.get_running_loop(), door, protocol, stands=not number)
