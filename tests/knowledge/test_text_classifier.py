"""Weights of words: a complaint is told from a question, and a text that says nothing is nobody's."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge import tables
from rigup.knowledge.doctor_tables import causes
from rigup.knowledge.text_classifier import (
    Complaint,
    complains,
    fails,
    is_in_trouble,
    likenesses,
    line_of,
    model_causes,
    nearest,
    pleads,
    words_of,
)

POSTS = Path(__file__).parents[2] / "learning" / "posts"
SILENT_OF = 0.97  # of the healthy posts, at least
SPOKEN_OF = 0.8  # of the faulty ones, at least


def posts(name):
    return [post.strip() for post in (POSTS / (name + ".txt")).read_text(encoding="utf-8").split("\n----\n") if post.strip()]


def test_every_cause_that_is_learned_has_words():
    learned = {path.stem for path in POSTS.glob("*.txt")} - {"healthy"}
    assert set(model_causes()) <= set(causes())
    assert not learned - set(model_causes()), "run scripts/text-classifier, and commit what it writes"


@pytest.mark.parametrize("row", tables.rows("complaints", "complaint", Complaint), ids=lambda row: row.language)
def test_a_complaint_is_told_from_what_is_none(row):
    assert complains(row.example)
    assert not complains(row.near_miss)


@pytest.mark.parametrize("row", tables.rows("complaints", "trouble", Complaint), ids=lambda row: row.language)
def test_a_trouble_is_told_from_a_worry(row):
    assert is_in_trouble(row.example)
    assert not is_in_trouble(row.near_miss)


@pytest.mark.parametrize("row", tables.rows("complaints", "plea", Complaint), ids=lambda row: row.language)
def test_a_plea_is_known_by_its_words(row):
    assert pleads(row.example)
    assert not pleads(row.near_miss)


@pytest.mark.parametrize("row", tables.rows("complaints", "failure", Complaint), ids=lambda row: row.language)
def test_what_came_to_nothing_is_told_from_what_did_not(row):
    assert fails(row.example)
    assert not fails(row.near_miss)


@given(st.text(max_size=3000))
def test_any_text_has_an_answer(said):
    for like in (*likenesses(said), *nearest(said)):
        assert like.cause in causes()
        assert set(like.words) <= set(words_of(said))
    assert 0 <= line_of(said, ("gpu",)) <= len(said)


@pytest.mark.parametrize("said", ["", "hello world", "the weather is fine and the cat does not care", "x" * 100_000])
def test_what_says_nothing_reads_like_nothing(said):
    assert likenesses(said) == []
    assert nearest(said) == []


def test_the_more_doubt_the_less_is_said():
    said = "In the terminal torch finds the card, in a notebook the same lines do not; the kernel is another Python."
    assert likenesses(said)
    assert likenesses(said, doubt=1e9) == []


def test_a_known_message_says_more_than_its_words():
    said = "make: *** [modules] Error 2"
    plain, heard = (nearest(said, marks, most=200) for marks in ((), ("dkms-build-failed",)))
    shares = [{like.cause: like.share for like in likes}.get("kernel-module-not-built", 0.0) for likes in (plain, heard)]
    assert shares[0] < shares[1]


def test_a_text_is_read_at_both_its_ends():
    filler = "nothing of note here\n" * 20_000
    told = "the notebook kernel runs another python than the terminal\n"
    assert set(words_of(told)) <= set(words_of(filler + told))


def test_the_line_with_most_of_the_words_is_the_evidence():
    said = "hello\nthe render group is missing\nrender\n"
    assert said[line_of(said, ("render", "group is")) :].startswith("the render group")


def test_healthy_posts_are_hardly_spoken_of():
    healthy = posts("healthy")
    assert sum(not (complains(post) and likenesses(post)) for post in healthy) >= SILENT_OF * len(healthy)


@pytest.mark.slow
def test_the_cause_of_a_post_is_among_the_nearest():
    told = [(path.stem, post) for path in POSTS.glob("*.txt") if path.stem in causes() for post in posts(path.stem)]
    near = sum(cause in [like.cause for like in nearest(post)] for cause, post in told)
    assert near >= SPOKEN_OF * len(told)
