"""The doctor as it is mostly typed is understood without click, and just as click understands it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import main, plain, run
from rigup.cli.plain import understood

SRC = Path(__file__).parents[2] / "src"
_WORDS = [
    "--json",
    "--wake",
    "-v",
    "-vv",
    "--verbose",
    "--from",
    "--from=a=b",
    "--from=",
    "a.log",
    "-",
    "--",
    "-vj",
    "--html",
    "--since-ok",
    "",
]


@given(st.lists(st.sampled_from(_WORDS), max_size=5))
def test_what_is_understood_click_understands_alike(words):
    request = understood(["doctor", *words])
    if request is None:
        return
    command = main.get_command(None, "doctor")
    params = command.make_context("doctor", list(words)).params
    assert {name: params[name] for name in request._fields} == request._asdict()
    others = {name: value for name, value in params.items() if name not in request._fields}
    assert not any(others.values()), others


@pytest.mark.skipif(sys.platform == "win32", reason="click tells there")
def test_what_is_mostly_typed_is_understood():
    assert understood(["doctor"]) == plain.Request()
    assert understood(["doctor", "-vv", "--json", "--from", "a.log"]) == plain.Request("a.log", True, 2)


@pytest.mark.parametrize(
    "words", [["--from"], ["--from", ""], ["--from", "--json"], ["--help"], ["--from", "a", "--from", "b"], ["--", "true"]]
)
def test_what_is_wrong_or_seldom_is_left_to_click(words):
    assert understood(["doctor", *words]) is None


def test_no_other_command_is_understood():
    assert understood(["plan", "--json"]) is None
    assert understood([]) is None


@pytest.mark.long
def test_neither_click_nor_what_it_imports_is_imported_by_it(tmp_path):
    (tmp_path / "report.txt").write_text("nothing\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv[2]); import rigup.__main__ as m; sys.argv = ['rigup', 'doctor', '--json', '--from', sys.argv[1]]; m.main()\n"
        "print([name for name in ('click', 'inspect', 'typing_extensions') if name in sys.modules], file=sys.stderr)"
    )
    words = (sys.executable, "-c", code, str(tmp_path / "report.txt"), str(SRC))
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


def test_what_cannot_be_read_is_told_as_ever(tmp_path, capsys, monkeypatch):
    words = ["doctor", "--from", str(tmp_path / "none.log")]
    status, told = run(words), capsys.readouterr()
    monkeypatch.setattr(plain, "understood", lambda _argv: None)
    assert (status, told) == (run(words), capsys.readouterr())
    assert status == 2
    assert "does not exist" in told.err


def test_who_stops_it_is_told_that_nothing_was_changed(capsys, monkeypatch):
    def stopped(_request):
        raise KeyboardInterrupt

    monkeypatch.setattr(plain, "run", stopped)
    assert run(["doctor"]) == 130
    assert "nothing was changed" in capsys.readouterr().err
