"""Indented data is, byte for byte, what json.dumps writes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rigup.cli.data import indented

VALUES = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats() | some.text(some.characters()),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(some.characters()) | some.integers(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_the_text_is_that_of_json_dumps(value):
    assert indented(value) == json.dumps(value, ensure_ascii=False, indent=1, default=str)


@pytest.mark.parametrize(
    "value", [float("nan"), [float("-inf")], "\ud800", {"\udfff": [{}]}, [[], {}, [[]]], 10**40, 1e16, {"path": object}]
)
def test_what_is_no_strict_json_too(value):
    assert indented(value) == json.dumps(value, ensure_ascii=False, indent=1, default=str)
