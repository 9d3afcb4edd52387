"""Texts know their lines and speakers; the matcher finds messages at the cost of its finds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.knowledge.doctor_tables import signatures
from rigup.machine import literals
from rigup.machine.facts import Place
from rigup.machine.literals import literals_in
from rigup.machine.matcher import match
from rigup.machine.readers import of_texts  # noqa: F401  (registers them)
from rigup.machine.texts import Text

REFUSED = "Unable to open /dev/kfd read-write: Permission denied"


def ids(body, **known):
    return [symptom.values()["id"] for symptom, _ in match(Text("t", body, **known))]


def test_a_message_is_found_with_its_line():
    ((symptom, _),) = [found for found in match(Text("log", "one\ntwo\n" + REFUSED + "\nfour")) if found[0].id == "kfd-permission-denied"]
    where = symptom.fields["id"].where
    assert (where.source, where.line, where.text) == ("log", 3, REFUSED)


def test_a_line_number_is_the_sources_where_a_text_was_cut_out():
    text = Text("log", "a\nb\n", lines=[10, 20, 0])
    assert [text.where(at).line for at in (0, 2)] == [10, 20]


def test_a_message_said_a_thousand_times_is_one_symptom_and_few_tries():
    found = ids((REFUSED + "\n") * 1000)
    assert 1 <= found.count("kfd-permission-denied") <= 200


def test_every_literal_is_found_in_one_pass():
    row = signatures()[0]
    assert row.literal in literals_in("x " + row.literal + " y")


@pytest.mark.long
@given(st.lists(st.sampled_from([*(row.literal for row in signatures()), "no\n", "é", "\U0001f600", "==", "e"]), max_size=30))
@settings(max_examples=100, deadline=None)
def test_literals_looked_for_by_their_heads_are_those_that_are_found_at_once(pieces):
    body = "".join(pieces)
    for speaker in ("anybody", "program", "kernel"):
        by_head = literals._by_head(speaker, len(literals._MARKS))
        assert literals._found_by_heads(body, by_head) == literals._found_at_once(body, speaker)


def test_a_text_without_any_literal_costs_no_regex(monkeypatch):
    monkeypatch.setattr("rigup.machine.texts.pattern", pytest.fail)
    assert not ids("nothing of interest\n" * 100)


@given(st.text(max_size=400))
@settings(max_examples=60, deadline=None)
def test_no_text_makes_the_matcher_fail(body):
    assert isinstance(ids(body), list)


def test_a_given_place_holds_where_the_text_does_not_turn():
    assert Text("t", "abc", Place(world="host")).place(1) == Place(world="host")


@pytest.mark.long
def test_a_line_without_end_is_searched_near_the_literal_only():
    body = "/dev/kfd " * 50_000 + REFUSED + " x" * 50_000
    assert ids(body).count("kfd-permission-denied") <= 1


def test_evidence_of_a_long_line_shows_the_part_that_tells():
    text = Text("log", "x " * 5000 + REFUSED + " y" * 5000)
    assert REFUSED in text.where(10_000).text


@given(st.lists(st.sampled_from(["KEY ", "KEY 7", "KEY\n8", "x" * 400, "\n", " "]), max_size=60), st.sampled_from([1, 3]))
def test_where_spots_stand_side_by_side_nothing_is_passed_over(parts, lines):
    """Stretches that overlap are searched once, and further: what stands behind a hundred vain spots is found."""
    body = "".join(parts)
    regex = r"KEY \d" if lines == 1 else r"KEY\s\d"
    spots = [found.start() for found in re.finditer("KEY", body)]
    near = [hit.start for hit in Text("log", body).near(regex, spots, lines)]
    assert near == [found.start() for found in re.finditer(regex, body)]
