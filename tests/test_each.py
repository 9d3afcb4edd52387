"""A failing row is named, whatever failed; the others are tried too."""

from types import SimpleNamespace

import pytest

import suite
from each import each

ROWS = [SimpleNamespace(id=name, value=value) for name, value in (("many", 1), ("none", 0), ("odd", None))]


def test_rows_that_hold_say_nothing():
    each(ROWS[:1], is_more_than_none)


def test_every_row_that_does_not_is_named():
    with pytest.raises(pytest.fail.Exception) as told:
        each(ROWS, is_more_than_none)
    assert "2 rows failed" in str(told.value)
    assert "none: AssertionError: not enough" in str(told.value)
    assert "odd: TypeError" in str(told.value)
    assert "many:" not in str(told.value)


def test_of_very_many_the_first_are_named():
    with pytest.raises(pytest.fail.Exception, match="and 80 more"):
        each(ROWS[1:2] * 100, is_more_than_none)


def is_more_than_none(row):
    assert row.value > 0, "not enough"


def test_quick_tries_a_fixed_tenth_of_many(monkeypatch):
    monkeypatch.setitem(suite._chosen, "quick", True)
    rows, tried = list(range(1000)), []
    each(rows, tried.append, str)
    assert 50 <= len(tried) <= 150
    assert suite.few(rows, str) == tried
    assert suite.few(rows[:100], str) == rows[:100]
