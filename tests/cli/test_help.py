"""Help is laid out by width as it is seen, in every language."""

import re

import pytest
from click.testing import CliRunner

from rigup.cli import COMMANDS, SECTIONS, main
from rigup.cli.layout import columns


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=lambda command: " ".join(command) or "rigup")
@pytest.mark.parametrize("language", ["en", "ru", "zh_CN", "zh_TW"])
def test_no_line_of_help_is_wider_than_a_terminal(command, language, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(main, ["--lang", language, *command, "--help"]).output
    assert "--help" in shown
    assert [line for line in shown.splitlines() if columns(line) > 80] == []


def test_every_command_stands_in_one_section_of_help():
    assert sorted(name for names in SECTIONS.values() for name in names) == sorted(COMMANDS)


def test_what_a_command_does_takes_one_line_of_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = CliRunner().invoke(main, ["--lang", "en", "--help"]).output.splitlines()
    assert [name for name in COMMANDS if f"  {name:10}  {COMMANDS[name][1]}" not in shown] == []


@pytest.mark.parametrize("words", [(), ("doctor",), ("train", "check")], ids=" ".join)
def test_the_line_about_help_is_in_the_language_too(words):
    shown = CliRunner().invoke(main, ["--lang", "ru", *words, "--help"]).output
    assert re.search("-h, --help +Показать", shown)


@pytest.mark.parametrize("command", list(COMMANDS))
def test_chinese_help_has_no_blank_where_its_source_is_broken(command):
    for language in ("zh_CN", "zh_TW"):
        shown = CliRunner().invoke(main, ["--lang", language, command, "--help"]).output
        assert not re.search("[\u3000-\u9fff\uff00-\uffef] [\u3001-\u9fff\uff00-\uffef]", shown)
