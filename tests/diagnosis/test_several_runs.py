"""A program that was started several times in one paste: the last run that failed is answered; who holds a card is a fact."""

import pytest

from answer_data import diagnose
from rigup.cli.typed_commands import typed
from rigup.machine.kinds import GpuProcess
from rigup.machine.look import look
from rigup.machine.runs import runs, without_stale
from rigup.machine.sources import open_source

FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.50 GiB. GPU 0 has a total capacity of 11.76 GiB of which 820.31 MiB is free. Including non-PyTorch memory, this process has 10.86 GiB memory in use. Of the allocated memory 10.33 GiB is allocated by PyTorch, and 211.10 MiB is reserved by PyTorch but unallocated.\n"
ASSERT = "RuntimeError: CUDA error: device-side assert triggered\n"
SOLD = "$ python -c 'import torch'\nRuntimeError: old words\n"


def named(body, scratch):
    (scratch / "paste.txt").write_text(body)
    found = diagnose(str(scratch / "paste.txt"))["findings"]
    return [finding["cause"] for finding in found if finding["severity"] != "note"]


def test_the_last_run_that_failed_is_answered(tmp_path):
    two = f"$ python train.py --batch 64\n{FULL}$ LEVEL=1 python train.py --batch 8\n{ASSERT}"
    assert named(two, tmp_path) == ["device-side-assert"]


@pytest.mark.parametrize("last", ["$ python other.py\n" + ASSERT, ASSERT], ids=["another-program", "no-second-run"])
def test_what_another_program_failed_of_stays(last, tmp_path):
    assert "oom-model-too-large" in named(f"$ python train.py\n{FULL}{last}", tmp_path)


def test_a_run_that_failed_counts_where_the_last_went_well(tmp_path):
    assert named(f"$ python train.py\n{FULL}$ python train.py\nEpoch 1 loss 0.3\n", tmp_path) == ["oom-model-too-large"]


def test_what_was_printed_before_packages_were_changed_is_left_aside():
    changed = without_stale(SOLD + "$ pip install torch\n" + SOLD.replace("old", "new"))
    assert "old words" not in changed
    assert "new words" in changed
    assert changed.count("\n") == 2 * SOLD.count("\n") + 1


@pytest.mark.parametrize("between", ["", "$ pip list\n", "$ ls\n"])
def test_nothing_is_left_aside_without_a_change(between):
    assert without_stale(SOLD + between + SOLD) == SOLD + between + SOLD


def test_programs_are_told_by_what_they_run():
    told = runs(["$ sudo env A=1 /usr/bin/python3 -u a.py", "$ python -m a.b -x", "$ docker run --rm i", ">>> 1", "$ (x)"])
    assert [run.program for run in told] == ["python a.py", "python -m a.b", "docker run", ""]


def test_a_process_has_its_owner_and_its_memory(tmp_path):
    rows = "|    0   N/A  N/A            4120      C   /opt/a/python                     10846MiB |\n"
    (tmp_path / "paste.txt").write_text(rows + "USER         PID CMD\nkwon       4120 python a.py\nroot       1 init\n")
    (one,) = look(open_source(str(tmp_path / "paste.txt")), False).of(GpuProcess)
    assert (one.pid, one.owner, one.memory, one.gpu) == (4120, "kwon", 10846 << 20, 0)


def test_paths_of_windows_are_typed_as_its_shells_take_them():
    told = typed([["C:\\my env\\python.exe", "-m", "pip"], ["echo", "a b"]], "here")
    assert told == ['"C:\\my env\\python.exe" -m pip', 'echo "a b"']


AGAIN = [
    ("$ python train.py --lr 1e-4", ["python", "train.py", "--lr", "1e-4"]),
    (r"(venv) C:\ml>.\venv\Scripts\python.exe train.py", [r".\venv\Scripts\python.exe", "train.py"]),
    ("$ python -c 'import einops, torch; print(1)'", ["python", "-c", "import einops, torch; print(1)"]),
    ("$ python train.py | tee log", None),
    ("$ python train.py $ARGS", None),
    ("$ LR=1 python train.py", None),
    ("$ python -m pip install open_clip_torch", None),
    ("$ sudo python train.py", None),
    ("$ python", None),
    ("$ python train.py --api-key sk-proj-abc123def456ghi789", None),
    ("$ cat slurm-12.out", None),
]


@pytest.mark.parametrize(("typed_line", "words"), AGAIN)
def test_the_command_that_failed_is_typed_again_where_that_proves_something(typed_line, words, tmp_path):
    error = (
        "Traceback (most recent call last):\n  File \"/w/train.py\", line 1, in <module>\nModuleNotFoundError: No module named 'einops'\n"
    )
    (tmp_path / "paste.txt").write_text(f"{typed_line}\n{error}")
    (found,) = diagnose(str(tmp_path / "paste.txt"))["findings"]
    assert found["fixes"][0]["check"]["commands"] == ([words] if words else [])
