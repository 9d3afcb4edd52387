"""The history of a training: a folder for each run, in it a file for each rank, of JSON lines.

The first line of an attempt has `"kind": "start"`, then comes one of `"kind": "steps"` for each span of some seconds,
and `"kind": "end"` where the program came so far. A requeued job appends to the same files. Every key is described in
docs/training.md, and read by `rigup.machine.training`. Ranks share no file, for appending over a network file
system mixes lines.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from .allocation import Allocation

FORM = "rigup.train-history/1"
FOLDER = "RIGUP_TRAIN_HISTORY"
_ON_LOGIN = {"darwin": "~/Library/Application Support", "win32": "~/AppData/Local/rigup"}


def run_folder(job: Allocation, variables: Mapping[str, str] | None = None) -> Path:
    """Where a run's history lies: the folder that RIGUP_TRAIN_HISTORY names, else one below rigup's state folder."""
    given = os.environ if variables is None else variables
    if given.get(FOLDER, "").strip():
        return Path(given[FOLDER]).expanduser()
    state = given.get("XDG_STATE_HOME", "").strip()
    above = Path(state) if os.path.isabs(state) else Path(_ON_LOGIN.get(sys.platform, "~/.local/state")).expanduser()
    return above / "rigup" / "training" / _run_name(job, given)


def _run_name(job: Allocation, given: Mapping[str, str]) -> str:
    """The same for all ranks of a node; by Slurm's job also on all nodes, and after a requeue."""
    if job.job:
        step = given.get("SLURM_STEP_ID", "")
        return f"slurm-{job.job}" + (f".{step}" if step.isdecimal() and step != "0" else "")
    starter = os.getppid() if job.launcher else os.getpid()
    return f"{time.strftime('%Y%m%d')}-{_host()}-{starter}"


def _host() -> str:
    return "".join(c for c in socket.gethostname().split(".")[0] if c.isalnum() or c in "-_")[:40] or "host"


class History:
    """The file of one rank. A history that cannot be written is warned of once, and costs nothing else.

    Args:
        folder: of the run.
        rank: of this process among all.

    """

    def __init__(self, folder: Path, rank: int) -> None:
        self.path = folder / f"rank-{rank}.jsonl"
        self._file: TextIO | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("a", encoding="utf-8", buffering=1)
            if self._file.tell():
                self._file.write("\n")  # a line that an ended attempt left unfinished stays one bad line
        except OSError as error:
            self._given_up(error)

    def write(self, row: Mapping[str, Any]) -> None:
        """Append a line; keys without a value are left out."""
        if self._file is None:
            return
        try:
            self._file.write(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n")
        except (OSError, ValueError) as error:
            self._given_up(error)

    def close(self) -> None:
        """End the file."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError as error:
                self._given_up(error)
        self._file = None

    def _given_up(self, error: Exception) -> None:
        self._file = None
        warning = f"The training's history is not written: {error}. Name a folder that can be written to in {FOLDER}."
        warnings.warn(warning, RuntimeWarning, stacklevel=4)
