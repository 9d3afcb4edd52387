"""Pieces of many streams are passed on together: to wake for each would cost several times what the piece does.

An engine writes a token of every stream within some milliseconds, and computes on all cores meanwhile: each time that the server wakes,
one of them waits for it, and the others for that one. So where nothing but pieces of streams has come, the server waits a little for
more of them; all else (a new client, the beginning of an answer, a client that takes again) is seen to at once.
"""

import asyncio
import contextlib
import math
import select
import selectors
import sys
from collections.abc import Mapping
from typing import Any

_EACH, _MOST = 0.0002, 0.01  # seconds that are waited: for each stream, and at most
_FROM = 4  # streams at once: below, pieces come one by one anyway
Ready = list[tuple[selectors.SelectorKey, int]]


class _Keys(dict[int, selectors.SelectorKey]):
    """Keys by descriptor; those that ask by a file find them too."""

    def __missing__(self, fileobj: Any) -> selectors.SelectorKey:
        if isinstance(fileobj, int):
            raise KeyError(fileobj)
        return self[fileobj.fileno()]


class Gathering(selectors.BaseSelector):
    """A selector that asks for streams apart: both lie in `_either`, which sleeps until one of them has something."""

    def __init__(self) -> None:
        self._first, self._streams, self._either = select.epoll(), select.epoll(), select.epoll()
        for part in (self._first, self._streams):
            self._either.register(part.fileno(), select.EPOLLIN)
        self._keys, self._gathered = _Keys(), set[int]()

    def gather(self, descriptor: int) -> None:
        """Ask for it among the streams from now on, until it is asked for anew."""
        if descriptor in self._keys and descriptor not in self._gathered:
            self._first.unregister(descriptor)
            self._streams.register(descriptor, _asked_for(self._keys[descriptor].events))
            self._gathered.add(descriptor)

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As every selector."""
        descriptor = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        if descriptor in self._keys:
            raise KeyError(fileobj)
        key = self._keys[descriptor] = selectors.SelectorKey(fileobj, descriptor, events, data)
        self._first.register(descriptor, _asked_for(events))
        return key

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """As every selector."""
        key = self._keys.pop(self._keys[fileobj].fd)
        part = self._streams if key.fd in self._gathered else self._first
        self._gathered.discard(key.fd)
        with contextlib.suppress(OSError):  # it may be closed by now
            part.unregister(key.fd)
        return key

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As every selector."""
        key = self._keys[fileobj]
        if events != key.events:
            (self._streams if key.fd in self._gathered else self._first).modify(key.fd, _asked_for(events))
        key = self._keys[key.fd] = key._replace(events=events, data=data)
        return key

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        """As every selector."""
        return self._keys[fileobj]

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """As every selector."""
        return self._keys

    def close(self) -> None:
        """As every selector."""
        for part in (self._either, self._first, self._streams):
            part.close()

    def select(self, timeout: float | None = None) -> Ready:
        """What is ready after at most `timeout` seconds; None waits."""
        # as the selectors do: up to whole milliseconds, or a timer would be asked for again and again before its time
        seconds = None if timeout is None else max(0.0, math.ceil(timeout * 1e3) * 1e-3)
        count = len(self._gathered)
        if not count:
            return self._ready(self._first.poll(seconds))
        parts = self._either.poll(seconds)
        alone = len(parts) == 1 and parts[0][0] == self._streams.fileno()
        wait = min(_EACH * count, _MOST) if alone and timeout != 0 and count >= _FROM else 0
        return self._ready(self._first.poll(wait)) + self._ready(self._streams.poll(0))

    def _ready(self, found: list[tuple[int, int]]) -> Ready:
        """The keys of what epoll found; what is neither reading nor writing (an end, an error) is both."""
        ready = []
        for descriptor, events in found:
            if key := self._keys.get(descriptor):
                either = (selectors.EVENT_WRITE if events & ~select.EPOLLIN else 0) | (
                    selectors.EVENT_READ if events & ~select.EPOLLOUT else 0
                )
                ready.append((key, either & key.events))
        return ready


def _asked_for(events: int) -> int:
    return (select.EPOLLIN if events & selectors.EVENT_READ else 0) | (select.EPOLLOUT if events & selectors.EVENT_WRITE else 0)


class GatheringLoop(asyncio.SelectorEventLoop):
    """A loop by such a selector."""

    def __init__(self) -> None:
        self.gathering = Gathering()
        super().__init__(self.gathering)


def new_loop() -> asyncio.AbstractEventLoop:
    """A loop that gathers, on Linux; elsewhere the usual one."""
    return GatheringLoop() if sys.platform == "linux" else asyncio.new_event_loop()


def gather(transport: asyncio.BaseTransport) -> None:
    """Let what comes by a connection be gathered, where the loop can."""
    loop, door = asyncio.get_running_loop(), transport.get_extra_info("socket")
    if isinstance(loop, GatheringLoop) and door is not None:
        loop.gathering.gather(door.fileno())
