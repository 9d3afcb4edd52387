"""What regexes of one table share is named once, and stands in them by its name."""

import pytest

from rigup.knowledge.compile import KnowledgeError, parse

HEAD = """
[meta]
as_of = "2026-01-01"

[meta.parts]
thing = '(?:device|card)s?'
none = 'no <<word>> <<thing>>'
"""


def regexes(tmp_path, rows):
    return [row["regex"] for row in parse(tmp_path / "x.toml", (HEAD + rows).encode())["signature"]]


def test_parts_stand_in_parts_and_a_row_puts_its_own_word(tmp_path):
    rows = "[[signature]]\nid = 'a'\nregex = '^<<none>>$'\nput = { word = 'CUDA' }\n"
    assert regexes(tmp_path, rows) == ["^no CUDA (?:device|card)s?$"]


def test_a_regex_without_holes_stays(tmp_path):
    assert regexes(tmp_path, "[[signature]]\nid = 'a'\nregex = 'cout ?<< 1 >>'\n") == ["cout ?<< 1 >>"]


def test_a_hole_that_nothing_fills_is_an_error_that_names_row_and_hole(tmp_path):
    with pytest.raises(KnowledgeError, match=r"\ba has holes that nothing fills: other"):
        regexes(tmp_path, "[[signature]]\nid = 'a'\nregex = '<<other>>'\n")


def test_parts_that_stand_in_each_other_are_an_error(tmp_path):
    rows = "[[signature]]\nid = 'a'\nregex = '<<x>>'\nput = { x = '<<y>>', y = '<<x>>' }\n"
    with pytest.raises(KnowledgeError, match="a has parts that stand in each other"):
        regexes(tmp_path, rows)
