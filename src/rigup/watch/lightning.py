"""A callback of Lightning that records the GPUs of each node while a trainer is at work."""

import sys
from functools import cache
from importlib import import_module, util
from pathlib import Path
from typing import Any

from rigup.watch.around import Recording

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def recorder(path: str = "rigup-watch.db", interval: float = 1.0) -> Any:
    """A callback that records into a file: `Trainer(callbacks=[recorder("run.db")])`; `rigup watch report run.db` sums it up.

    One process of each node records; where there are several nodes, each has a file of its own (`run-1.db` is that of the second).

    Args:
        path: the file; one that exists is continued.
        interval: seconds between two samples.

    Returns:
        A `lightning.pytorch.Callback`, or `pytorch_lightning`'s, whichever the program uses.

    """
    return _class()(path, interval)


class _Recorder:
    """Begins with the trainer's set-up, and ends with its tear-down or an exception. What keeps it from recording stops no training: it is printed."""

    def __init__(self, path: str, interval: float) -> None:
        super().__init__()
        self.path, self.interval = path, interval
        self._recording: Recording | None = None

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002  # as Lightning calls it
        """A stage begins: fit, validate, test or predict."""
        if self._recording is not None or trainer.local_rank != 0:
            return
        path = Path(self.path)
        if trainer.node_rank:
            path = path.with_stem(f"{path.stem}-{trainer.node_rank}")
        try:
            self._recording = Recording(str(path), self.interval)
            self._recording.__enter__()
        except Exception as error:  # the training is what matters
            self._recording = None
            print(f"rigup: {error}", file=sys.stderr)

    def teardown(self, trainer: Any, pl_module: Any, stage: str) -> None:  # noqa: ARG002
        """The stage is over."""
        self._end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ARG002
        """So is one that fails, or that somebody interrupts."""
        self._end()

    def _end(self) -> None:
        recording, self._recording = self._recording, None
        if recording is not None:
            recording.stop()
            if recording.trouble:
                print(f"rigup: {recording.path}: {recording.trouble}", file=sys.stderr)


@cache
def _class() -> Any:
    """The callback of the package that the program has imported, else of the one that is installed. Raises ImportError."""
    found = [name for name in _PACKAGES if name in sys.modules] or [name for name in _PACKAGES if util.find_spec(name.partition(".")[0])]
    if not found:
        raise ImportError("Lightning is not installed here: pip install lightning")
    return type("Recorder", (_Recorder, import_module(found[0]).Callback), {})
