"""rigup takes a machine with any GPU, or none, to a deep-learning environment that is proven to work."""

from typing import TYPE_CHECKING

from rigup.version import __version__

if TYPE_CHECKING:
    from rigup.cli.notebook import Report

__all__ = ["__version__", "doctor"]


def doctor(source: str | None = None) -> "Report":
    """Diagnose this machine, or the capture, report or tree at `source`.

    Returns the answer as data (schema rigup.doctor/1), which a notebook shows as a page and a terminal as text.
    Raises `rigup.machine.sources.SourceError` when `source` cannot be read.
    """
    from rigup.cli.notebook import Report
    from rigup.diagnosis.answer import diagnose

    report = Report(diagnose(source))
    report.here = source is None
    return report
