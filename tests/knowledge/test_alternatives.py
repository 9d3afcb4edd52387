"""What a regex may match beside its row's literal: an alternative that has not got the literal in it is never tried."""

from collections.abc import Iterable
from itertools import islice, product
from typing import Any

import pytest

from rigup.knowledge.doctor_tables import Signature, signatures

try:
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # the name before Python 3.11
    import sre_parse as parser

ANY = "\0"  # stands where a text may hold anything
MOST = 100  # forms of one regex that are looked at


def forms(regex: str) -> list[str]:
    """Texts that it matches, one for each way through its alternatives, with ANY where letters are free."""
    return _ways(parser.parse(regex))


def _ways(parts: Iterable[tuple[Any, Any]]) -> list[str]:
    choices = (_of_part(str(kind), value) for kind, value in parts)
    return ["".join(way) for way in islice(product(*choices), MOST)]


def _of_part(kind: str, value: Any) -> list[str]:
    if kind == "LITERAL":
        return [chr(value)]
    if kind == "BRANCH":
        return [way for choice in value[1] for way in _ways(choice)]
    if kind == "SUBPATTERN":
        return _ways(value[-1])
    if kind in ("AT", "ASSERT_NOT"):
        return [""]
    return [ANY]


def dead(row: Signature) -> list[str]:
    """Forms in which the literal cannot stand: all their letters are told, and it is not among them."""
    small = "(?i" in row.regex
    literal = row.literal.lower() if small else row.literal
    told = [form.lower() if small else form for form in forms(row.regex)]
    return [form for form in told if ANY not in form and literal not in form]


@pytest.mark.parametrize(
    ("regex", "literal", "lost"),
    [
        ("no (?:card|chip) found", "no c", []),
        ("no card found|nothing there", "card", ["nothing there"]),
        ("no card found|nothing [a-z]+", "card", []),
        ("(?i)No Card|NOTHING", "card", ["nothing"]),
        (r"^no card\b(?! at all)|gone$", "card", ["gone"]),
    ],
)
def test_an_alternative_without_the_literal_is_seen(regex, literal, lost):
    row = Signature(id="x", program="x", literal=literal, regex=regex)
    assert dead(row) == lost


@pytest.mark.long
def test_no_alternative_of_a_row_lacks_its_literal():
    told = (row for row in signatures() if not row.beside)  # a number is looked for by one word before it
    assert {row.id: lost for row in told if (lost := dead(row))} == {}
