"""Pieces of many streams are passed on together: to wake for each would cost several times what the piece does.

An engine writes a token of every stream within some milliseconds, and computes on all cores meanwhile: each time that the server wakes,
one of them waits for it, and the others for that one. So where nothing but pieces of streams has come, the server waits a little for
more of them; all else (a new client, the beginning of an answer, a client that takes again) is seen to at once.
"""

import asyncio
import math
import select
import selectors
import sys
from collections import ChainMap
from collections.abc import Mapping
from typing import Any

_EACH, _MOST = 0.0002, 0.01  # seconds that are waited: for each stream, and at most
_FROM = 4  # streams at once: below, pieces come one by one anyway
Ready = list[tuple[selectors.SelectorKey, int]]


class Gathering(selectors.BaseSelector):
    """A selector that asks for streams apart, by a second selector within the first."""

    def __init__(self) -> None:
        self._first, self._streams = selectors.EpollSelector(), selectors.EpollSelector()
        self._either = select.epoll()
        for part in (self._first, self._streams):
            self._either.register(part.fileno(), select.EPOLLIN)
        self._map: Mapping[Any, selectors.SelectorKey] = ChainMap(self._first.get_map(), self._streams.get_map())  # type: ignore[arg-type]

    def gather(self, descriptor: int) -> None:
        """Ask for it among the streams from now on, until it is asked for anew."""
        if descriptor in self._first.get_map():
            key = self._first.unregister(descriptor)
            self._streams.register(key.fileobj, key.events, key.data)

    def _of(self, fileobj: Any) -> "selectors.EpollSelector":
        return self._streams if fileobj in self._streams.get_map() else self._first

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As every selector."""
        return self._first.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        """As every selector."""
        return self._of(fileobj).unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As every selector."""
        return self._of(fileobj).modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """As every selector."""
        return self._map

    def close(self) -> None:
        """As every selector."""
        for part in (self._either, self._first, self._streams):
            part.close()

    def select(self, timeout: float | None = None) -> Ready:
        """What is ready after at most `timeout` seconds; None waits."""
        count = len(self._streams.get_map())
        if not count:
            return self._first.select(timeout)
        # as the selectors do: up to whole milliseconds, or a timer would be asked for again and again before its time
        ready = self._either.poll(None if timeout is None else max(0.0, math.ceil(timeout * 1e3) * 1e-3))
        alone = len(ready) == 1 and ready[0][0] == self._streams.fileno()
        wait = min(_EACH * count, _MOST) if alone and timeout != 0 and count >= _FROM else 0
        return self._first.select(wait) + self._streams.select(0)


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
