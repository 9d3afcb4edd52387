"""`rigup lock` and `rigup bundle`: what is written can be made again; what is there is not written over."""

import json
import os
import socket
import subprocess
import tarfile
from pathlib import Path

import pytest

from rigup.cli import run
from rigup.plan.environments import bundle, lockfile
from rigup.plan.environments.locked import locked_steps
from tiny_environments import make_wheel, no_indexes, says

__all__ = ["no_indexes"]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch, tmp_path, wheels):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def test_an_environment_is_locked_and_a_lock_of_ours_written_anew(made, capsys):
    assert run(["lock", str(made)]) == 0
    assert "Packages: 2." in capsys.readouterr().out
    first = lockfile.read("pylock.toml")
    assert {one.name: one.version for one in first.packages} == {"bridge": "2.0", "stone": "1.0"}
    assert run(["lock", str(made), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["packages"]["stone"]) == ("rigup.lock/1", "1.0")
    Path("other.toml").write_text("mine = 1\n")
    assert run(["lock", str(made), "-o", "other.toml"]) == 2
    assert Path("other.toml").read_text() == "mine = 1\n"


def test_a_wish_is_locked_with_the_reason_of_its_build(made, tmp_path, monkeypatch, capsys):
    """The wheel of torch is one of our own: what is tried here is where its file and its reason come from."""
    version = "2.9.1"
    make_wheel(tmp_path / "more", "torch", version + "+cpu", requires=("stone",))
    monkeypatch.setenv("PIP_FIND_LINKS", f"{tmp_path / 'more'} {os.environ['PIP_FIND_LINKS']}")
    assert run(["lock", f"torch=={version}", "--env", str(made), "-o", "-"]) == 0
    lock = lockfile.parsed(capsys.readouterr().out)
    assert {one.name for one in lock.packages} == {"torch", "stone"}
    assert lock.wish == (f"torch=={version}",)
    assert lock.reasons["stone"] == "It is needed by torch."
    assert lock.reasons["torch"]


@pytest.mark.long
@pytest.mark.parametrize(
    "word", ["-r/etc/passwd", "torch; touch x", "$(touch x)", "torch @ https://evil.example/x.whl", "../nosuch", "a\nb"]
)
def test_an_odd_wish_changes_nothing_and_is_named(word, capsys, tmp_path):
    assert run(["lock", "--", word]) == 2
    assert capsys.readouterr().err
    assert os.listdir(".") == []


def test_where_nothing_is_named_and_none_is_at_hand_it_says_so(capsys):
    assert run(["lock"]) == 2
    assert "No environment" in capsys.readouterr().err


def test_a_bundle_makes_the_environment_where_there_is_nothing_else(made, tmp_path, monkeypatch, capsys):
    from rigup.stack.profile import read_profile

    assert run(["lock", str(made)]) == 0
    assert run(["bundle", "pylock.toml", "-o", "env.tar"]) == 0
    assert "holds them all" in capsys.readouterr().out
    monkeypatch.delenv("PIP_FIND_LINKS")
    told = bundle.opened("env.tar", str(tmp_path / "opened"))
    site = read_profile(f"no gpu, debian 12, no network, python {told.lock.python}")
    for step in locked_steps(told.lock, site, told.folder):
        assert step.state == "needed", step.because
        for argv in step.commands:
            subprocess.run(argv, check=True, timeout=180)
    assert says(Path(".venv/bin/bridge")) == "bridge 2.0"


def test_an_environment_is_packed_in_one_go_and_nothing_is_left_beside(made, capsys):
    assert run(["bundle", str(made), "-o", "env.tar", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes"] == Path("env.tar").stat().st_size
    with tarfile.open("env.tar") as archive:
        assert [one.name for one in archive][:3] == ["pylock.toml", "requirements.txt", "install.sh"]
    assert os.listdir(".") == ["env.tar"]
    assert run(["bundle", str(made), "-o", "env.tar"]) == 2


def test_a_lock_whose_files_cannot_be_had_makes_no_bundle(made, monkeypatch, tmp_path, capsys):
    assert run(["lock", str(made)]) == 0
    text = Path("pylock.toml").read_text()
    lock = lockfile.parsed(text)
    Path("pylock.toml").write_text(text.replace(lock.packages[0].wheels[0].sha256, "0" * 64))
    assert run(["bundle", "pylock.toml", "-o", "env.tar"]) == 1
    assert "installer said" in capsys.readouterr().err
    assert os.listdir(".") == ["pylock.toml"]


def test_a_hostile_lock_makes_no_bundle_and_is_named(capsys):
    Path("pylock.toml").write_text('lock-version = "1.0"\n[[packages]]\nname = "--index-url=https://evil.example"\n')
    assert run(["bundle", "pylock.toml", "-o", "env.tar"]) == 2
    assert "pylock.toml" in capsys.readouterr().err
    assert os.listdir(".") == ["pylock.toml"]


def test_a_folder_that_there_is_not_is_said_before_any_work(made, monkeypatch, capsys):
    from rigup.workflows import locking

    monkeypatch.setattr(locking, "lock_of", lambda *_words, **_more: pytest.fail("it began to resolve"))
    for words in (["lock", str(made), "-o", "no/such/pylock.toml"], ["bundle", str(made), "-o", "no/such/env.tar"]):
        assert run(words) == 2
        assert "There is no folder no/such" in capsys.readouterr().err
    Path("there").mkdir()
    assert run(["lock", str(made), "-o", "there"]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["there"]


def test_data_stays_data_where_the_lock_is_printed(made, capsys):
    assert run(["lock", str(made), "-o", "-", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["path"]) == ("rigup.lock/1", None)
    assert {one.name for one in lockfile.parsed(told["text"]).packages} == {"bridge", "stone"}


def test_a_bundle_tells_its_own_schema(made, capsys):
    assert run(["bundle", str(made), "-o", "env.tar", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["path"]) == ("rigup.bundle/1", "env.tar")
    assert told["packages"] == {"bridge": "2.0", "stone": "1.0"}
    assert run(["bundle", "--help"]) == 0
    assert "rigup.bundle/1" in capsys.readouterr().out


@pytest.fixture
def nobody(monkeypatch):
    """An index on a port that nobody listens at."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/simple"
    monkeypatch.delenv("PIP_NO_INDEX", raising=False)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("PIP_INDEX_URL", url)
    return url


def test_an_index_that_does_not_answer_is_named_with_what_to_do(made, nobody, capsys):
    assert run(["lock", "stone", "--env", str(made)]) == 1
    told = " ".join(capsys.readouterr().err.split())
    assert f"Nobody answers at {nobody}" in told
    assert "--mirror" in told
    assert "Retrying" not in told
    assert not Path("pylock.toml").exists()


def test_files_that_cannot_be_had_are_no_wrong_usage(made, nobody, monkeypatch, wheels, capsys):
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert run(["lock", str(made)]) == 0
    text = Path("pylock.toml").read_text()
    Path("pylock.toml").write_text(text.replace(wheels.as_uri(), "https://mirror.example").replace(str(wheels), "/none"))
    for name in ("PIP_FIND_LINKS", "PIP_NO_INDEX"):
        monkeypatch.delenv(name)
    capsys.readouterr()
    assert run(["bundle", "pylock.toml", "-o", "env.tar"]) == 1
    assert f"Nobody answers at {nobody}" in " ".join(capsys.readouterr().err.split())
    assert not Path("env.tar").exists()


def test_quiet_ones_say_nothing_where_all_is_well(made, capsys):
    assert run(["lock", str(made), "--quiet"]) == 0
    assert run(["bundle", "pylock.toml", "-q", "-o", "env.tar"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Path("env.tar").is_file()
