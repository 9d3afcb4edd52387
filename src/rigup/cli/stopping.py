"""A run that is asked to end, by Ctrl-C, a system that shuts down or a terminal that is closed, leaves things whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from rigup.cli.layout import wrapped

_ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def stopping() -> Iterator[list[int]]:
    """While it holds, SIGTERM and SIGHUP stop what is done as Ctrl-C does; the list holds the one that came.

    Who was started so that it hears neither (`nohup`) goes on hearing none. After the first of them no other one
    disturbs whoever puts things in order.
    """
    told: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield told
        return

    def heard(number: int, _frame: object) -> None:
        told.append(number)
        for one in before:
            signal.signal(one, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {one: signal.getsignal(one) for one in _ASKED if signal.getsignal(one) is not signal.SIG_IGN}
    for one in before:
        signal.signal(one, heard)
    try:
        yield told
    finally:
        for one, handler in before.items():
            signal.signal(one, handler or signal.SIG_DFL)


def stopped(said: str, told: list[int]) -> click.exceptions.Exit:
    """Say what stays, to whoever still listens; the end of the program, with the status of the signal."""
    with suppress(OSError):
        click.echo("\n".join(wrapped(said)), err=True)
    return click.exceptions.Exit(128 + (told[0] if told else signal.SIGINT))
