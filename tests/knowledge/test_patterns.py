"""Patterns that are compiled at their first use behave like those that are compiled at once."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge import patterns
from rigup.knowledge.patterns import lazy_regex


def test_nothing_is_compiled_before_it_is_asked_for(monkeypatch):
    made = []
    monkeypatch.setattr(patterns.re, "compile", lambda regex, flags: made.append(regex) or re._compile(regex, flags))
    form = lazy_regex("a+")
    assert made == []
    assert form.search("baa")[0] == "aa"
    assert form.search("b") is None
    assert made == ["a+"]


@given(st.text("abAB\n", max_size=20))
def test_a_late_pattern_finds_what_a_plain_one_finds(text):
    plain, form = re.compile("^a+", re.MULTILINE | re.IGNORECASE), lazy_regex("^a+", re.MULTILINE | re.IGNORECASE)
    assert form.findall(text) == plain.findall(text)
    assert form.sub("x", text) == plain.sub("x", text)
    assert bool(form.match(text)) == bool(plain.match(text))


def test_a_regex_that_is_none_is_told_of_where_it_is_used():
    with pytest.raises(re.error):
        lazy_regex("(").search("")
