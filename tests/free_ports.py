"""Ports of this machine that nobody listens on, for programs that are told theirs."""

import contextlib
import secrets
import socket

# Below those that the kernel gives to outgoing connections, and below those that launched jobs meet at.
FIRST, END = 10_000, 20_000


_given: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Neighbouring ports, none of them twice in a process, from a place that is another in each: `random` is seeded alike in all workers."""
    start = secrets.randbelow(END - FIRST)
    for offset in range(0, END - FIRST, count):
        first = FIRST + (start + offset) % (END - FIRST - count)
        wanted = list(range(first, first + count))
        if not _given.isdisjoint(wanted):
            continue
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in wanted:
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            _given.update(wanted)
            return wanted
    raise OSError(f"no {count} neighbouring ports are free here")


def free_port() -> int:
    """One that is free, as the next one is: at the second of two the ranks of a launch meet."""
    return free_ports(2)[0]
