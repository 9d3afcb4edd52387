"""`rigup train check` as a person and as a program calls it."""

import json

import pytest
from click.testing import CliRunner

from rigup.cli import run
from rigup.cli.train import command
from rigup.knowledge import tables
from rigup.train.check.answer import Text
from train.check.pairs import LIGHTNING, TASKS, batch

WRONG = batch("srun python train.py", options=("--ntasks-per-node=2", *(each for each in TASKS if "ntasks" not in each)))


def pair(folder, job):
    (folder / "train.py").write_text(LIGHTNING)
    (folder / "job.sbatch").write_text(job)
    return [str(folder / "train.py"), str(folder / "job.sbatch")]


def test_data(tmp_path, capsys):
    assert run(["train", "check", *pair(tmp_path, WRONG), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    (finding,) = answer["findings"]
    assert (answer["schema"], answer["verdict"], finding["cause"], finding["line"]) == (
        "rigup.train-check/1",
        "fails",
        "slurm-ntasks-mismatch",
        2,
    )
    assert finding["fixes"][0]["lines"] == ["#SBATCH --ntasks-per-node=4"]
    assert finding["evidence"][0]["text"] == "#SBATCH --ntasks-per-node=2"
    assert answer["starts"][0]["by"] == ["srun", "python"]


def test_fix_shows_and_writes(tmp_path, capsys):
    assert run(["train", "check", *pair(tmp_path, WRONG), "--fix", "--yes"]) == 0
    shown = capsys.readouterr().out
    assert "-#SBATCH --ntasks-per-node=2" in shown
    assert "+#SBATCH --ntasks-per-node=4" in shown
    assert "#SBATCH --ntasks-per-node=4" in (tmp_path / "job.sbatch").read_text()


def test_fix_without_an_answer_changes_nothing(tmp_path, capsys):
    assert run(["train", "check", *pair(tmp_path, WRONG), "--fix"]) == 1
    assert (tmp_path / "job.sbatch").read_text() == WRONG
    assert "slurm-ntasks-mismatch" in capsys.readouterr().out


def test_a_sound_pair(tmp_path, capsys):
    assert run(["train", "check", *pair(tmp_path, batch("srun python train.py", options=TASKS))]) == 0
    assert "would go wrong" in capsys.readouterr().out


def test_files_that_are_not_there(tmp_path, capsys):
    assert run(["train", "check", str(tmp_path / "no.py")]) == 2
    assert "no such file" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "bad.py").write_text("def f(:\n")
    assert run(["train", "check", str(tmp_path / "bad.py")]) == 2
    assert "bad.py:1" in capsys.readouterr().err.replace("\n", "")
    assert run(["train", "check", *pair(tmp_path, WRONG), "--cluster", str(tmp_path / "train.py")]) == 2
    assert "does not tell of a cluster" in " ".join(capsys.readouterr().err.split())


def test_the_group_lists_its_commands():
    assert "check" in CliRunner().invoke(command, []).output


def test_every_id_has_its_text():
    assert len({row.id for row in tables.rows("train_check/findings", "finding", Text)}) == 35


@pytest.mark.slurm
def test_the_live_cluster_gives_the_limits(slurm, tmp_path, capsys):
    kind = slurm.kinds[0]
    sound = [f"--partition={kind.partition}", *TASKS]
    for options, causes in (
        (sound, []),
        ([*sound, f"--nodes={kind.nodes + 1}", "--time=00:10:00"], ["nodes-mismatch", "request-exceeds-partition"]),
    ):
        run(["train", "check", *pair(tmp_path, batch("srun python train.py", options=options)), "--cluster", "here", "--json"])
        findings = json.loads(capsys.readouterr().out)["findings"]
        assert sorted(each["cause"] for each in findings if each["severity"] != "note") == causes
