"""What is shown of an answer without a look at it: no secret is so short, and has nothing before it that names it."""

from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge.secrets import tokens, words
from rigup.machine.outward import _WORD
from rigup.machine.pseudonyms import Pseudonyms
from rigup.machine.redaction_doubts import leaves_out, without_strings
from rigup.machine.redaction_numbers import without_contacts
from rigup.machine.redaction_secrets import without_secrets

SIGNS = "abcdefXYZ0123456789_."
SPOKEN = sorted(
    {word for about in ("secret", "secret ending", "maker", "password") for word in words(about)}
    | {text for row in tokens() for text in row.literals}
)


def looked_at(text):
    made = Pseudonyms()
    return without_strings(without_contacts(without_secrets(text, made), made), "", made, leaves_out)


@given(st.sampled_from(SPOKEN), st.text(SIGNS, max_size=9), st.text(SIGNS, max_size=9))
def test_a_short_word_is_no_secret_whatever_it_is(spoken, before, behind):
    text = (before + spoken + behind)[:11]
    assert not _WORD.fullmatch(text) or looked_at(text) == text


def test_no_example_of_a_secret_is_so_short_a_word():
    assert [row.kind for row in tokens() if _WORD.fullmatch(row.example)] == []


def test_what_parts_a_name_from_its_value_is_looked_at():
    assert all(_WORD.fullmatch(text) is None for text in ("pw=abc", "pw abc", "密码是abc123", "a@b.de", "pw:abc", "pw\nabc"))
