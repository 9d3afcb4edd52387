"""A word that is empty, as a variable gives it that is not set: told, and never taken for none."""

import os
import subprocess
import sys

import pytest

from rigup.cli import run

WORDS = [
    ("doctor", "--html", ""),
    ("doctor", "--html="),
    ("doctor", "--from", ""),
    ("doctor", "--host", ""),
    ("capture", "-y", "-o", ""),
    ("capture", "--from", ""),
    ("plan", ""),
    ("plan", "-r", ""),
    ("plan", "torch", "--for", ""),
    ("apply", "--locked", ""),
    ("apply", "--env", "", "torch"),
    ("verify", ""),
    ("env", "show", ""),
    ("lock", "-o", ""),
    ("launch", ""),
    ("launch", "x", "--partition", ""),
    ("bundle", "x.toml", "-o", ""),
    ("bench", ""),
    ("explain", ""),
    ("diff", "", "here"),
]


@pytest.mark.parametrize("argv", WORDS, ids=" ".join)
def test_an_empty_word_is_wrong_usage_and_nothing_is_done(argv, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(list(argv)) == 2
    assert "is not set gives it" in " ".join(capsys.readouterr().err.split())
    assert os.listdir(tmp_path) == []


@pytest.mark.long
def test_a_program_may_be_given_an_empty_word():
    words = [sys.executable, "-m", "rigup", "run", "--no-env", "--", "sh", "-c", 'echo "[$1]"', "sh", ""]
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[]")
