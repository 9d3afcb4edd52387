"""Patterns are kept from one run to the next: the same as the library compiles them, and of nobody's words."""

import marshal
import os
import re
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge.doctor_tables import signatures
from rigup.knowledge.patterns import KeptPatterns


def kept(path):
    return KeptPatterns(str(path / "cache" / "patterns"))


def test_a_pattern_of_the_file_matches_as_one_that_was_compiled(tmp_path):
    rows = signatures()
    first = kept(tmp_path)
    for row in rows[:200]:
        first.compiled(row.regex, re.MULTILINE)
    first.save()
    again = kept(tmp_path)
    for row in rows[:200]:
        own, plain = again.compiled(row.regex, re.MULTILINE), re.compile(row.regex, re.MULTILINE)
        assert (own.flags, own.groups, own.groupindex) == (plain.flags, plain.groups, plain.groupindex)
        found, expected = own.search(row.example), plain.search(row.example)
        assert found is not None
        assert expected is not None
        assert (found.span(), found.groupdict()) == (expected.span(), expected.groupdict())
    assert len(again._packed) == again._count


@given(st.from_regex(r"[a-c.?*+()|^$\\dws]{0,12}", fullmatch=True), st.text("abc1 \n", max_size=20))
def test_any_regex_means_the_same_or_is_refused_alike(tmp_path_factory, regex, text):
    patterns = kept(tmp_path_factory.mktemp("kept"))
    try:
        plain = re.compile(regex)
    except re.error:
        with pytest.raises(re.error):
            patterns.compiled(regex, 0)
        return
    for _time in range(2):  # compiled, then of what was kept
        found, expected = patterns.compiled(regex, 0).search(text), plain.search(text)
        assert (found and found.span()) == (expected and expected.span())


@pytest.mark.parametrize("content", [b"", b"no patterns", marshal.dumps(("another release", {("a", 0): b"x"})), marshal.dumps(7)])
def test_a_file_that_is_of_another_release_or_spoilt_is_left(tmp_path, content):
    patterns = kept(tmp_path)
    os.mkdir(tmp_path / "cache")
    (tmp_path / "cache" / "patterns").write_bytes(content)
    assert not kept(tmp_path)._packed
    assert patterns.compiled("a+", 0).match("aa")


@pytest.mark.parametrize("entry", [b"", b"\xff", marshal.dumps(3), marshal.dumps((0, b"\xff\xff\xff\xff", 1, ()))])
def test_an_entry_that_is_no_code_is_compiled_anew(tmp_path, entry):
    patterns = kept(tmp_path)
    patterns._packed["a+", 0] = entry
    found = patterns.compiled("a+", 0).match("aab")
    assert found is not None
    assert found.span() == (0, 2)


def test_a_file_that_others_may_write_is_not_read(tmp_path):
    first = kept(tmp_path)
    first.compiled("a+", 0)
    first.save()
    assert kept(tmp_path)._packed
    os.chmod(first.path, 0o666)
    assert not kept(tmp_path)._packed


def test_a_folder_that_nobody_may_write_costs_nothing_but_time(tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    patterns = kept(tmp_path)
    patterns.compiled("a+", 0)
    patterns.save()
    assert (tmp_path / "cache").read_text() == "a file where the folder should be"


@pytest.mark.long
def test_the_command_keeps_patterns_and_nobodys_words(tmp_path):
    text = tmp_path / "session.txt"
    text.write_text("hedwig@owlery:~$ docker run -it img bash\nroot@7c1:/# nvidia-smi\nNo devices were found\nhedwig@owlery:~$ id\n")
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-m", "rigup", "doctor", "--from", str(text), "--json"]
    first, second = (subprocess.run(command, capture_output=True, env=environment, check=False, timeout=120) for _time in range(2))
    assert first.stdout == second.stdout
    (file,) = (tmp_path / "cache" / "rigup").glob("patterns-*")
    content = file.read_bytes()
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(content) > 1000
    assert b"hedwig" not in content
    assert b"owlery" not in content
