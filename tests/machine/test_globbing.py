"""Paths by pattern: the same names that `fnmatch` finds, without its patterns where a single star stands."""

import fnmatch
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.globbing import paths_like
from rigup.machine.local import Local

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


@pytest.mark.parametrize("still", [True, False])
def test_below_plain_files_of_a_large_folder_nothing_is_looked_for(tmp_path, still, monkeypatch):
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "linked").symlink_to("env")
    programs = [f"program{number}" for number in range(120)]
    for name in programs:
        (tmp_path / name).write_text("")
    listed, real = [], os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: listed.append(path) or real(path))
    host = Local(still=still)

    def found(pattern):
        return [path.removeprefix(f"{tmp_path}/") for path in host.find(f"{tmp_path}/{pattern}")]

    assert found("*/bin") == ["env/bin", "linked/bin"]
    assert found("*") == sorted(["env", "linked", *programs])
    assert found("*/bin/*") == []
    assert f"{tmp_path}/env/bin" in listed
    assert not [path for path in listed if path.startswith(f"{tmp_path}/program")]
