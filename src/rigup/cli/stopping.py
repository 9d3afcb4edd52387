"""A run that is asked to end, by Ctrl-C, a system that shuts down or a terminal that is closed, leaves things whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from rigup.cli.lasting import lasts
from rigup.cli.layout import wrapped

_ASKED = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@contextmanager
def stopping() -> Iterator[list[int]]:
    """While it holds, SIGTERM and SIGHUP stop what is done as Ctrl-C does; the list holds the one that came.

    Who was started so that it hears neither (`nohup`) goes on hearing none. After the first of them no other one
    disturbs whoever puts things in order.
    """
    lasts()
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def on_signal(number: int, _frame: object) -> None:
        signals.append(number)
        for signal_number in before:
            signal.signal(signal_number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _ASKED if signal.getsignal(number) is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, on_signal)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def stopped(sentence: str, signals: list[int]) -> click.exceptions.Exit:
    """Say what stays, to whoever still listens; the end of the program, with the status of the signal."""
    with suppress(OSError):
        click.echo("\n".join(wrapped(sentence)), err=True)
    return click.exceptions.Exit(128 + (signals[0] if signals else signal.SIGINT))
