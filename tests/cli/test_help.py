"""Help is laid out by width as it is seen, in every language."""

import re

import pytest
from click.testing import CliRunner

from rigup.cli import COMMANDS, main
from rigup.cli.layout import columns


@pytest.mark.parametrize(
    "command", [[], *([name] for name in COMMANDS)], ids=lambda command: " ".join(command) or "rigup"
)
@pytest.mark.parametrize("language", ["en", "ru", "zh_CN", "zh_TW"])
def test_no_line_of_help_is_wider_than_a_terminal(command, language, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(main, ["--lang", language, *command, "--help"]).output
    assert "--help" in shown
    assert [line for line in shown.splitlines() if columns(line) > 80] == []


@pytest.mark.parametrize("command", list(COMMANDS))
def test_chinese_help_has_no_blank_where_its_source_is_broken(command):
    for language in ("zh_CN", "zh_TW"):
        shown = CliRunner().invoke(main, ["--lang", language, command, "--help"]).output
        assert not re.search("[\u3000-\u9fff\uff00-\uffef] [\u3001-\u9fff\uff00-\uffef]", shown)
