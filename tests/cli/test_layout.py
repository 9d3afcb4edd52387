"""Lines for terminals: their width as it is seen, and where they may be broken."""

import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.cli import layout
from rigup.cli.layout import columns, padded, wrapped
from rigup.visible import ours, visible

OPENING, CLOSING = "（「『《“", "。，、；：？！）」』》”"
SHORT = ["显", "卡", "块，", "核。", "（开", "闭）", "「内", "存」。", "“装", "入”，", "『驱", "动』", "CUDA，", "（GPU）"]
SHORT += [ours("\x1b[1m") + "模", "组" + ours("\x1b[0m"), "/dev/kfd、", "torch ", "`nvidia-smi` ", "“failed to start”。"]
CHINESE = st.lists(st.sampled_from(SHORT), max_size=60).map("".join)


@pytest.mark.parametrize(("text", "wide"), [("driver", 6), ("驱动", 4), ("\x1b[1m驱动\x1b[0m a", 6), ("e\u0301", 1), ("драйвер", 7)])
def test_columns_are_counted_as_they_are_seen(text, wide):
    assert columns(text) == wide
    assert padded(text, wide + 2) == text + "  "


def test_words_stay_whole():
    assert wrapped("one two three", most=8) == ["one two", "three"]


def test_a_word_longer_than_a_line_stands_alone():
    assert wrapped("see /usr/lib/x86_64-linux-gnu now", most=10) == ["see", "/usr/lib/x86_64-linux-gnu", "now"]


def test_the_first_line_and_the_others_are_indented():
    assert wrapped("内核模块没有加载", "原因：", most=14) == ["原因：内核模块", "      没有加载"]


def test_chinese_breaks_between_any_two_characters():
    assert wrapped("内核模块没有加载", most=6) == ["内核模", "块没有", "加载"]


@pytest.mark.parametrize("mark", CLOSING)
def test_no_line_begins_with_a_closing_mark(mark):
    assert wrapped("驱动模块" + mark, most=8) == ["驱动模", "块" + mark]


@pytest.mark.parametrize("mark", OPENING)
def test_no_line_ends_with_an_opening_mark(mark):
    assert wrapped("驱动模" + mark + "内核", most=8) == ["驱动模", mark + "内核"]


def test_several_marks_cling_together():
    assert wrapped("显示「（关闭）」。", most=14) == ["显示「（关", "闭）」。"]


def test_marks_cling_to_latin_words():
    assert wrapped("报告“failed to start”。重启", most=10) == ["报告", "“failed to", "start”。重", "启"]


def test_colours_do_not_part_a_mark_from_its_character():
    (first, second) = wrapped(ours("驱动\x1b[1m模块\x1b[0m。"), most=8)
    assert (first, second) == (ours("驱动\x1b[1m模"), ours("块\x1b[0m。"))


@given(CHINESE, st.integers(16, 80))
def test_chinese_stays_within_the_line_and_keeps_its_marks(text, most):
    lines = wrapped(text, most=most)
    assert "".join("".join(lines).split()) == "".join(text.split())
    shown = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    assert all(columns(line) <= most for line in shown)
    assert all(line[0] not in CLOSING for line in shown[1:])
    assert all(line[-1] not in OPENING for line in shown if line)


@given(st.text(max_size=200))
def test_any_text_can_be_wrapped(text):
    assert "".join("".join(wrapped(text, most=20)).split()) == "".join(visible(text).split())


def test_layout_brings_no_heavy_module():
    code = "import runpy, sys; known = {*sys.modules}; runpy.run_path(sys.argv[1]); print(*{*sys.modules} - known)"
    call = [sys.executable, "-I", "-c", code, layout.__file__]
    brought = set(subprocess.run(call, capture_output=True, text=True, check=True, timeout=60).stdout.split())
    assert "rigup.visible" in brought
    assert not {"click", "gettext", "textwrap", "msgspec", "asyncio", "email", "inspect"} & brought


@given(st.text("ab .,…(«»“‘”\x1b[1m\n\t·驱，", max_size=40))
def test_a_text_without_wide_letters_is_parted_as_any_other(text):
    assert layout._pieces(text) == layout._UNBROKEN.findall(text)


@pytest.mark.parametrize(("told", "wide"), [("100", 100), ("60", 60), ("0", 80), ("many", 80), ("", 80)])
def test_columns_come_from_the_variable_where_it_tells_some(monkeypatch, told, wide):
    monkeypatch.setenv("COLUMNS", told)
    monkeypatch.setattr(layout, "sys", None)  # no terminal to ask
    assert layout.width() == wide
