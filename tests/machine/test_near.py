"""Work of looking for one message grows as the text does: counted in characters that are searched, not in time."""

import pytest

from rigup.machine import limits, texts
from rigup.machine.texts import Text

WORD = "GPU"
FORMS = {
    "one line": lambda count: "GPU is " * count,
    "short lines": lambda count: "GPU is\n" * count,
    "long words": lambda count: ("a" * 700 + "GPU" + "a" * 700 + "\n") * (count // 100),
}


class Counted:
    """A pattern that counts the characters in which it is looked for."""

    searched = 0

    def __init__(self, form):
        self.form = form

    def search(self, body, start, end):
        Counted.searched += min(end, len(body)) - start
        return self.form.search(body, start, end)


def searched(monkeypatch, body, lines, most=1_000_000_000):
    monkeypatch.setattr(texts, "MOST_SEARCHED", most)
    real = texts.pattern
    monkeypatch.setattr(texts, "pattern", lambda regex: Counted(real(regex)))
    Counted.searched = 0
    text = Text("t", body)
    assert list(text.near(WORD + " nowhere", spots_in(body), lines, name="row")) == []
    assert (text.given_up == {"row"}) == (most < len(body))
    monkeypatch.undo()
    return Counted.searched


def spots_in(body):
    return [at for at in range(len(body)) if body.startswith(WORD, at)]


@pytest.mark.long
@pytest.mark.parametrize("lines", [1, 4, 20])
@pytest.mark.parametrize("form", FORMS)
def test_twice_the_text_is_searched_for_not_much_more_than_twice_as_long(monkeypatch, form, lines):
    monkeypatch.setattr(texts, "_MOST_SPOTS", 1_000_000)
    once, twice = (FORMS[form](count) for count in (4_000, 8_000))
    few = searched(monkeypatch, once, lines)
    monkeypatch.setattr(texts, "_MOST_SPOTS", 1_000_000)
    many = searched(monkeypatch, twice, lines)
    assert few > 0
    assert many <= 2.5 * few
    assert few <= 3 * len(once)


@pytest.mark.long
@pytest.mark.parametrize("lines", [1, 4, 20])
@pytest.mark.parametrize("form", FORMS)
def test_of_a_megabyte_no_more_is_searched_than_the_most_and_one_stretch(monkeypatch, form, lines):
    monkeypatch.setattr(texts, "_MOST_SPOTS", 1_000_000)
    body = (FORMS[form](200_000))[:1_000_000]
    most = searched(monkeypatch, body, lines, limits.MOST_SEARCHED)
    assert limits.MOST_SEARCHED < most <= limits.MOST_SEARCHED + 40_000


def test_what_is_found_counts_as_searched_too():
    body = "GPU is here\n" * 30
    text = Text("t", body)
    assert len(list(text.near("GPU is here", spots_in(body)))) == 30
    assert text.given_up == set()


def test_a_message_behind_thousands_that_resemble_it_is_found():
    """As many as a long log keeps of one form (`thinning`)."""
    body = "GPU is fine at step 12345 of epoch 17, all well\n" * 2000 + "GPU is lost\n"
    assert len(list(Text("t", body).near("GPU is lost", spots_in(body)))) == 1
