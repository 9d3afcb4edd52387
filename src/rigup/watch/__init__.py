"""Samples of every GPU, live, recorded and exported.

`files.py` is the seam to the outside, beside `Host` because samplers need bytes and must be cheap; `values.py` gathers one
GPU's values with their sources; a file a source decodes or reads; `sampler.py` makes samples, `history.py` keeps them, and
everything that shows, records or exports reads these two alone.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rigup.watch.around import Recording


def record(path: str = "rigup-watch.db", interval: float = 1.0) -> "Recording":
    """Record the GPUs into a file while a block runs: `with rigup.watch.record("run.db"): …`.

    Args:
        path: the file; one that exists is continued.
        interval: seconds between two samples.

    Raises:
        NoRecording: the file is no recording, or cannot be written.

    """
    from rigup.watch.around import Recording

    return Recording(path, interval)
