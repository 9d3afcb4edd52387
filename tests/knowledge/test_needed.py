"""Words that a signature's regex needs: what matches holds them, and most texts are told apart by them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each
from rigup.knowledge.doctor_tables import signatures, speakers
from rigup.knowledge.needs import needed, with_needs
from rigup.machine.texts import Text

FORMS = [
    r"(?i)\bno (?:gpu|graphics card)s? (?:found|detected)\b",
    r"(?:torch|jax)[^\n]{0,20}(?i:cuda|rocm) build",
    r"(?=.*alpha)beta{2,3}[xy]+(?:gamma|delta|)",
    r"(?P<name>one|two) (?:three){1,2}(?:four)?(?!five)",
    r"ä(?:bc|[de]f)+gh*",
    r"(?i)K(?:s|ss)t",
    r"[0-9]{2}|word",
]


@pytest.mark.parametrize(
    ("regex", "words"),
    [
        ("plain words", "plain words"),
        ("(?i)Big Words", "big words"),
        (r"\d+ cards? found", ["all", " card", " found"]),
        ("(?:red|green) light", ["all", ["any", "red", "green"], " light"]),
        ("(?:red|[ab])x", None),
        ("maybe(?: not)?", "maybe"),
        ("(?:ab){0,2}", None),
        ("(?!never)ever", "ever"),
        ("(", None),
    ],
)
def test_words_that_a_regex_needs(regex, words):
    assert needed(regex) == words


@given(st.sampled_from(FORMS), st.data())
def test_what_matches_holds_the_words(regex, data):
    text = data.draw(st.from_regex(regex))
    assert re.search(regex, text)
    assert Text("test", text).may_hold(needed(regex))


def test_every_example_holds_what_its_row_needs():
    rows = [row for row in (*signatures(), *speakers()) if row.needs]
    assert rows
    each(rows, holds_what_it_needs, name=lambda row: row.regex[:40])


def holds_what_it_needs(row):
    assert Text("test", row.example).may_hold(row.needs)


def test_most_rows_say_what_they_need_beside_their_literal():
    rows = signatures()
    assert sum(row.needs is not None for row in rows) > len(rows) * 0.5
    table = {"signature": [{"literal": "No GPU ", "regex": "No GPU (?:was )?found(?: on| in) it"}]}
    assert with_needs(table)["signature"][0]["needs"] == ["all", "found ", ["any", "on", "in"], " it"]
    assert "needs" not in with_needs({"signature": [{"literal": "No GPU found", "regex": "(?i)no gpu"}]})["signature"][0]


def test_a_text_without_the_words_is_not_tried_and_a_long_one_always_is():
    needs = ["all", "card", ["any", "found", "seen"]]
    assert not Text("test", "a card").may_hold(needs)
    assert Text("test", "A CARD was Seen").may_hold(needs)
    assert Text("test", "x" * 100_000).may_hold(needs)


@pytest.mark.parametrize("rows", [None, 3, ["a"], [{}], [{"literal": 3, "regex": "a word"}], [{"literal": "a", "regex": 4}]])
def test_rows_of_another_form_are_left_to_whoever_reads_them(rows):
    assert "needs" not in str(with_needs({"signature": rows}))
