"""`rigup launch status` of runs whose programs recorded their steps: rates, what limits them, how they scale."""

import json
import os
from pathlib import Path

import msgspec
import pytest
from launching import Folder, torch_python

from rigup.cli.launch_report import status_text
from rigup.machine.local import Local
from rigup.train.launch.answer import answer
from rigup.train.launch.job import Job, Program
from rigup.train.launch.progress import history_folders, progress, scaling
from rigup.train.launch.record import Run
from rigup.train.launch.shape import JobShape

PROGRAM = """
import sys, time
import torch
from rigup.train import Recording, join
ranks = join("cpu")
model = ranks.parallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.1)
with Recording(model=model, every=0.05) as recording:
    for x in recording.steps([torch.randn(16 // ranks.world_size, 4) for _ in range(40)]):
        time.sleep(0.01)
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""


def rows(folder: Path, rank: int, world: int, rate: float, *, attempt: int = 0, end: bool = True, **more: object) -> None:
    """One attempt of a rank: 3 spans of 10 s, of which the first is slow."""
    lines: list[dict[str, object]] = [
        {
            "kind": "start",
            "schema": "rigup.train-history/1",
            "at": 1.0 + attempt,
            "rank": rank,
            "world_size": world,
            "attempt": attempt,
            "job": "7",
            "device": "cuda:0",
            "chip": "AMD Instinct MI50",
        }
    ]
    for at, part in enumerate((0.1, 1.0, 1.0)):
        steps = int(rate * 10 * part)
        lines.append(
            {"kind": "steps", "at": 10.0 * at, "steps": steps, "seconds": 10.0, "wait": 5.0, "samples": steps * 8, "gpus_asked": 4, **more}
        )
    if end:
        lines.append({"kind": "end", "at": 40.0, "reason": "ended", "bottleneck": "data-loader", "share": 0.5, "sentence": "A step waits."})
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"rank-{rank}.jsonl").open("a") as file:
        file.write("\n" + "".join(json.dumps(line) + "\n" for line in lines) + '{"kind": "steps", "at"')


def run_of(folder: Path, **more: object) -> Run:
    program = Program(script="/a/train.py", folder="/a", python="python3")
    return Run(job=Job(name="t", shape=JobShape(), program=program, run_folder=str(folder / "rigup-runs" / "t")), jobs=(7,), **more)  # type: ignore[arg-type]


def test_the_slowest_rank_is_everybodys(tmp_path):
    rows(tmp_path, 0, 2, 20.0, gpus_used=3, memory_peak=5)
    rows(tmp_path, 1, 2, 10.0, gpus_used=3, memory_peak=7)
    (attempt,) = progress(Local(), [str(tmp_path)])
    assert (attempt.steps_per_second, attempt.samples_per_second, attempt.ranks, attempt.attempt, attempt.job) == (10.0, 160.0, 2, 1, "7")
    assert (attempt.wait, attempt.idle, attempt.memory_peak, attempt.gpus_asked, attempt.gpus_used) == (0.5, None, 7, 4, 3)
    assert (attempt.bottleneck, attempt.ended, attempt.device) == ("data-loader", "ended", "AMD Instinct MI50")
    now = msgspec.structs.replace(answer(run_of(tmp_path), []), progress=[attempt])
    text = status_text(now)
    assert "10 a second" in text
    assert "1 of the 4 GPUs of a node are not used." in text
    assert "A step waits." in text


def test_attempts_are_told_apart_and_more_ranks_are_compared(tmp_path):
    rows(tmp_path / "a", 0, 1, 10.0, end=False)
    rows(tmp_path / "a", 0, 1, 12.5, attempt=1)
    for rank in range(4):
        rows(tmp_path / "b", rank, 4, 10.0, attempt=2)
    attempts = progress(Local(), [str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "none")])
    assert [(each.attempt, each.world_size, each.ended) for each in attempts] == [(1, 1, None), (2, 1, "ended"), (3, 4, "ended")]
    (grown,) = scaling(attempts)
    assert (grown.of, grown.world_size, grown.speedup, grown.efficiency) == (1, 4, 3.2, 0.8)
    assert "4 ranks are 3.20 times as fast as 1 on AMD Instinct MI50: 80% of what they could be." in status_text(
        msgspec.structs.replace(answer(run_of(tmp_path), []), progress=attempts, scaling=scaling(attempts))
    ).replace("\n  ", " ")
    assert scaling(attempts[:2]) == []


def test_a_rank_that_tells_nothing_leaves_the_rate_of_all_unknown(tmp_path):
    rows(tmp_path, 0, 2, 20.0)
    (attempt,) = progress(Local(), [str(tmp_path)])
    assert (attempt.ranks, attempt.samples_per_second, scaling([attempt])) == (1, None, [])


def test_where_histories_lie(tmp_path):
    assert history_folders(run_of(tmp_path), "/state") == ["/state/training/slurm-7"]
    assert history_folders(run_of(tmp_path, launcher="torchrun"), "/state") == [str(tmp_path / "rigup-runs" / "t" / "history")]


@pytest.mark.torch
def test_a_run_on_this_machine_tells_its_steps(tmp_path):
    folder = Folder(tmp_path / "a project", dict(os.environ) | {"PYTHONPATH": str(Path(__file__).parents[3] / "src")})
    program = folder.program("records.py", PROGRAM)
    for tasks in ("1", "2"):
        done, _told = folder.launch(
            program, "--here", "--tasks", tasks, "--name", f"of{tasks}", "--python", torch_python(), "--no-preflight"
        )
        assert done.returncode == 0, done.stderr
    told = json.loads(folder.rigup("launch", "status", "--json").stdout)
    (only,) = told["progress"]
    assert (only["world_size"], only["ranks"], only["steps"], only["ended"]) == (2, 2, 40, "ended")
    assert 0 < only["steps_per_second"] < 100
    assert [(grown["of"], grown["world_size"]) for grown in told["scaling"]] == [(1, 2)]
    assert "40 steps" in folder.rigup("launch", "status").stdout
