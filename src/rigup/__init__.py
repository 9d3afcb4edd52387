"""rigup takes a machine with any GPU, or none, to a deep-learning environment that is proven to work."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigup.diagnosis.answer import Answer

__version__ = "0.1.0"

__all__ = ["__version__", "doctor"]


def doctor(source: str | None = None) -> "Answer":
    """Diagnose this machine, or the capture, report or tree at `source`; the answer is a plain value.

    Raises `rigup.machine.sources.SourceError` when `source` cannot be read.
    """
    from rigup.diagnosis.answer import diagnose

    return diagnose(source)
