"""Rates and memory from the histories of training runs."""

import json
from pathlib import Path

import msgspec
import pytest

from rigup.machine.local import Local
from rigup.train.advise.inputs import InputError
from rigup.train.advise.recorded import as_rates, recorded, runs_of


@pytest.fixture
def run(tmp_path):
    def written(world, nodes, seconds=1.0, samples=32, chip="NVIDIA L40", ranks=None):
        folder = tmp_path / f"{world}x{nodes}-{seconds}"
        folder.mkdir()
        for rank in range(world if ranks is None else ranks):
            start = {
                "kind": "start",
                "schema": "rigup.train-history/1",
                "at": 1.0,
                "rank": rank,
                "world_size": world,
                "nodes": nodes,
                "chip": chip,
            }
            cold = {"kind": "steps", "at": 2.0, "steps": 1, "seconds": 60.0, "samples": samples, "memory_peak": 5 << 30}
            warm = {"kind": "steps", "at": 3.0, "steps": 2, "seconds": 2 * seconds, "samples": 2 * samples, "memory_peak": (5 + rank) << 30}
            earlier = [start, cold | {"seconds": 900.0}, cold | {"seconds": 900.0}]
            lines = [*earlier, start, cold, warm, warm]
            (folder / f"rank-{rank}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"kind": "st')
        return recorded(Local(), str(folder))

    return written


def test_warm_steps_of_the_last_attempt_are_counted_over_all_ranks(run):
    found = run(4, 2)
    assert (found.nodes, found.gpus, found.peak) == (2, 2, 8 << 30)
    assert found.samples == pytest.approx(4 * 32)
    assert run(1, 1, 2.0).samples == pytest.approx(16)


def test_rates_go_to_the_type_as_the_cluster_spells_it(run):
    rows = as_rates([run(1, 1, 2.0), run(4, 2), run(1, 1, 4.0)], ["l40", "mi50"], 3200)
    assert [(row.device, row.nodes, row.gpus) for row in rows] == [("l40", 1, 1), ("l40", 2, 2)]
    assert rows[0].seconds == pytest.approx((200, 400))
    assert rows[1].seconds == pytest.approx((25,))
    assert as_rates([run(2, 1, 5.0, chip="AMD Instinct MI210")], ["l40"], 10) == []


def test_a_history_that_tells_no_rate_is_refused(run, tmp_path):
    for number, bad in enumerate(({"ranks": 3}, {"samples": 0}, {"ranks": 0}), 1):
        with pytest.raises(InputError):
            run(4, 1, float(number), **bad)
    with pytest.raises(InputError, match="no history"):
        recorded(Local(), str(tmp_path / "nothing"))


def test_runs_of_a_script_are_found_by_what_was_launched(run, tmp_path, monkeypatch):
    """A launched job's history lies below the state folder by the number of its job; runs of another script do not count."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    run(2, 1)
    history = tmp_path / "state" / "rigup" / "training" / "slurm-7"
    history.parent.mkdir(parents=True)
    (tmp_path / "2x1-1.0").rename(history)
    for name, script, jobs in (("a", "train.py", (3, 7)), ("b", "other.py", (7,)), ("c", "train.py", ())):
        launched(tmp_path, name, str(tmp_path / script), jobs)
    (found,) = runs_of(Local(), tmp_path / "train.py", tmp_path)
    assert (found.nodes, found.gpus) == (1, 2)


def launched(folder: Path, name: str, script: str, jobs):
    """The record that `rigup launch` leaves of a run."""
    from rigup.train.launch.job import Job, Program
    from rigup.train.launch.record import Run
    from rigup.train.launch.script import RECORD
    from rigup.train.launch.shape import JobShape

    job = Job(
        name=name,
        shape=JobShape(signal=None, requeue=False),
        program=Program(script=script, folder=str(folder), python="python3"),
        run_folder=str(folder / "rigup-runs" / name),
    )
    (folder / "rigup-runs" / name).mkdir(parents=True)
    (folder / "rigup-runs" / name / RECORD).write_bytes(msgspec.json.encode(Run(job=job, jobs=jobs)))
