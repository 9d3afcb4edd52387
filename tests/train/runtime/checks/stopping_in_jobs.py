"""The status with which a rank ends after a signal, and who puts the job back into the queue."""

import os
import signal
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

from rigup.train.runtime.lightning import _is_watched
from rigup.train.runtime.stopping import exit_status

JOB = {"SLURM_JOB_ID": "7", "SLURM_PROCID": "0", "SLURM_NTASKS": "1", "SLURM_LOCALID": "0", "SLURM_JOB_NUM_NODES": "1"}
SCONTROL = """#!/bin/sh
printf '%s\\n' "$*" >> "$0.asked"
exit {status}
"""


def ended(folder, status, number, first=True, **variables):
    """What a rank of a job ends with, and what was asked of a scontrol that ends with a status."""
    scontrol = Path(folder, "scontrol")
    scontrol.write_text(SCONTROL.format(status=status))
    scontrol.chmod(0o700)
    asked = Path(f"{scontrol}.asked")
    asked.unlink(missing_ok=True)
    with mock.patch.dict(os.environ, {**JOB, "PATH": f"{folder}:/bin:/usr/bin", **variables}):
        given = exit_status(number, first)
    return given, asked.read_text().split() if asked.exists() else []


def test_a_batch_script_that_requeues_is_left_word_and_slurm_is_not_asked():
    with tempfile.TemporaryDirectory() as folder:
        word = Path(folder, "requeue")
        assert ended(folder, 0, signal.SIGUSR1, RIGUP_REQUEUE_FILE=str(word)) == (0, [])
        assert word.exists()


def test_slurm_is_asked_by_the_first_rank_where_no_script_waits_for_word():
    with tempfile.TemporaryDirectory() as folder:
        assert ended(folder, 0, signal.SIGUSR1) == (0, ["requeue", "7"])
        assert ended(folder, 0, signal.SIGUSR1, first=False) == (0, [])


def test_a_file_that_cannot_be_made_is_told_of_and_slurm_is_asked():
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert ended(folder, 0, signal.SIGUSR1, RIGUP_REQUEUE_FILE=f"{folder}/none/requeue") == (0, ["requeue", "7"])
        assert "could not be made" in str(caught[0].message)


def test_a_job_that_is_not_put_back_does_not_count_as_completed():
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert ended(folder, 1, signal.SIGUSR1) == (128 + signal.SIGUSR1, ["requeue", "7"])
        assert "Submit it again" in str(caught[0].message)


def test_who_is_told_to_end_does_not_come_back():
    with tempfile.TemporaryDirectory() as folder:
        word = Path(folder, "requeue")
        assert ended(folder, 0, signal.SIGTERM, RIGUP_REQUEUE_FILE=str(word)) == (128 + signal.SIGTERM, [])
        assert not word.exists()


def test_a_process_that_lightning_started_is_watched_by_its_first():
    """Lightning kills the first process where another ends with a status that is not 0, also in the midst of its end."""
    for name, local_rank, expected in [
        ("LightningEnvironment", 1, True),
        ("LightningEnvironment", 0, False),
        ("SLURMEnvironment", 1, False),
        ("TorchElasticEnvironment", 1, False),
    ]:
        strategy = SimpleNamespace(cluster_environment=type(name, (), {})())
        assert _is_watched(SimpleNamespace(strategy=strategy, local_rank=local_rank)) is expected, (name, local_rank)
    assert not _is_watched(SimpleNamespace(strategy=SimpleNamespace(), local_rank=1))
