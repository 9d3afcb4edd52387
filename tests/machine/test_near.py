"""Work of looking for one message grows as the text does: counted in characters that are searched, not in time."""

import pytest

from rigup.machine import texts
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


def searched(monkeypatch, body, lines):
    real = texts.pattern
    monkeypatch.setattr(texts, "pattern", lambda regex: Counted(real(regex)))
    Counted.searched = 0
    text = Text("t", body)
    spots = [at for at in range(len(body)) if body.startswith(WORD, at)]
    assert list(text.near(WORD + " nowhere", spots, lines)) == []
    monkeypatch.undo()
    return Counted.searched


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
