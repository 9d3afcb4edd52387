"""Paths by pattern: the same names that `fnmatch` finds, without its patterns where a single star stands."""

import fnmatch

from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.globbing import paths_like

_NAMES = st.lists(st.text("ab.-*é", min_size=1, max_size=6), max_size=8, unique=True)
_PART = st.text("ab.-*?é[]", min_size=1, max_size=6)


@given(_NAMES, _PART)
def test_one_part_names_what_fnmatch_names(names, part):
    seen = {name for name in names if fnmatch.fnmatchcase(name, part) and (part[0] == "." or name[0] != ".")}
    pattern = any(mark in part for mark in "*?[")
    found = paths_like("/x/" + part, lambda _folder: names, lambda path: path.removeprefix("/x/") in names)
    assert found == sorted("/x/" + name for name in (seen if pattern else {part} & set(names)))


def test_no_folder_below_one_that_is_empty_is_listed():
    listed = []
    assert paths_like("/a/*/b/*", lambda folder: listed.append(folder) or [], lambda _path: True) == []
    assert listed == ["/a"]
