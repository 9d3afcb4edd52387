"""rigup takes a machine with any GPU, or none, to a deep-learning environment that is proven to work."""

from typing import TYPE_CHECKING, Any

from rigup.version import __version__

if TYPE_CHECKING:
    from rigup.cli.notebook import Report

__all__ = ["__version__", "doctor", "load_ipython_extension"]


def doctor(source: str | None = None, *, with_values: bool = False) -> "Report":
    """Diagnose this machine, or the capture, report or tree at `source`.

    Returns the answer as data (schema rigup.doctor/1), which a notebook shows as a page and a terminal as text.
    Secrets, and values of variables that GPUs do not need, are left out; `with_values` leaves them in.
    Raises `rigup.machine.sources.SourceError` when `source` cannot be read.
    """
    from msgspec import to_builtins

    from rigup.cli.notebook import Report
    from rigup.diagnosis.answer import diagnose
    from rigup.machine.outward import outward

    answer = diagnose(source)
    report = Report(to_builtins(answer if with_values else outward(answer), enc_hook=str))
    report.here, report.with_values = source is None, with_values
    return report


def load_ipython_extension(ipython: Any) -> None:
    """`%load_ext rigup`: give a notebook `%rigup` and `%%rigup`."""
    from rigup.notebook.magics import load

    load(ipython)
