"""Packs keep every byte: what goes in comes out, whatever it is."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from packing import case_text, packed, string_text, table_text
from packs import CASES, cases, cases_of, machine_names, merged, read_pack, unpack

SCRIPT = Path(__file__).parents[1] / "scripts" / "case"
texts = st.text(st.one_of(st.sampled_from("'\"\\\n\r\t\0\x1b\x7f\x85\u2028\ufeff a#[]="), st.characters(codec="utf-8")))


@given(texts)
@example("'''\n'''")
@example('"""\n\r"""\\')
@example("ends in a quote'\n'")
@example("\n\n")
@example("\r\n")
def test_every_text_is_read_as_it_was_written(text):
    for written in (string_text(text), string_text(text, lines=True)):
        assert tomllib.loads(f"a = {written}\n") == {"a": text}


@given(st.dictionaries(texts, st.one_of(texts, st.fixed_dictionaries({"link": texts}))))
def test_every_table_is_read_as_it_was_written(files):
    (row,) = tomllib.loads(case_text("name", 'expect = "healthy"\n', "tree", files))["case"]
    assert row == {"id": "name", "expect": "healthy", **({"tree": files} if files else {})}


def test_a_folder_comes_out_as_it_went_in(tmp_path):
    machine = tmp_path / "one"
    (machine / "proc").mkdir(parents=True)
    bodies = {"proc/modules": b"a\r\nb\x1b[0m\n", "empty": b"", "no text": b"\xff\xfe\x00\x80", "it's": "ä'''\n".encode()}
    for path, body in bodies.items():
        (machine / path).write_bytes(body)
    (machine / "dangling").symlink_to("../nowhere")
    unpack(tomllib.loads(table_text("tree", packed(machine)))["tree"], tmp_path / "other")
    assert packed(tmp_path / "other") == packed(machine)
    assert {path: (tmp_path / "other" / path).read_bytes() for path in bodies} == bodies
    assert str((tmp_path / "other/dangling").readlink()) == "../nowhere"


def test_plain_texts_stand_as_they_are():
    """So that a person reads and edits them."""
    assert string_text('a\\b "c"\n', lines=True) == "'''\na\\b \"c\"\n'''"


@pytest.mark.long
def test_names_tell_cases_of_a_pack_apart():
    for pack in CASES.glob("*.toml"):
        names = [case.name for case in read_pack(pack)]
        assert sorted(set(names)) == sorted(names), pack


def test_a_break_is_its_base_without_what_goes_and_with_what_comes(tmp_path):
    label = {"base": "nvidia-workstation", "remove": ["proc/driver", "who.json"]}
    (case,) = cases_of("any", {"case": [{"id": "one", **label, "patch": {"etc/new": "x", "proc/modules": ""}}]})
    machine = Path(case.unpack(tmp_path))
    assert not (machine / "proc/driver").exists()
    assert not (machine / "who.json").exists()
    assert ((machine / "etc/new").read_text(), (machine / "proc/modules").read_text()) == ("x", "")
    assert (machine / "etc/os-release").is_file()


def test_rows_of_companions_are_replaced_singly():
    below = [{"argv": ["a"], "stdout": "1"}, {"argv": ["b"], "stdout": "2"}]
    above = [{"argv": ["b"], "stdout": "3"}, {"argv": ["a"], "stdout": None}]
    assert merged(below, above) == [{"argv": ["b"], "stdout": "3"}]
    who = {"user": "ada", "environment": {"PATH": "/bin", "A": "1"}}
    assert merged(who, {"user": None, "variables": {"A": None, "B": "2"}}) == {"environment": {"PATH": "/bin", "B": "2"}}


def asked(*words):
    return subprocess.run([sys.executable, str(SCRIPT), *map(str, words)], capture_output=True, text=True, check=False)


@pytest.mark.long
@pytest.mark.parametrize("name", [next(name for name, case in cases().items() if case.tree), machine_names()[0]])
def test_the_script_takes_out_what_is_in_a_pack(name, tmp_path):
    assert asked("unpack", name, tmp_path / "it").returncode == 0
    assert packed(tmp_path / "it")
    again = asked("unpack", name, tmp_path / "it")
    assert (again.returncode, "is not empty" in again.stderr) == (2, True)


@pytest.mark.long
def test_the_script_names_what_is_not_there(tmp_path):
    done = asked("unpack", "no-such/case", tmp_path / "it")
    assert (done.returncode, done.stderr) == (2, "no-such/case: no case and no machine of this name is below tests.\n")


def test_the_script_adds_a_case(tmp_path):
    """In a copy of the script's surroundings: the checkout's own packs stay as they are."""
    for name in ("packs.py", "packing.py"):
        (tmp_path / "tests").mkdir(exist_ok=True)
        (tmp_path / "tests" / name).write_text((Path(__file__).parent / name).read_text())
    (tmp_path / "scripts").mkdir()
    (tmp_path / "tests/cases").mkdir()
    script = tmp_path / "scripts/case"
    script.write_text(SCRIPT.read_text())
    (tmp_path / "said.txt").write_bytes(b"CUDA error\r\n")
    argv = [sys.executable, str(script), "add", "some-cause/one", str(tmp_path / "said.txt"), "--expect", "some-cause"]
    for more, status in (([], 0), ([], 2)):
        assert subprocess.run([*argv, *more], capture_output=True, check=False).returncode == status
    argv[3:5] = ["some-cause/two", str(tmp_path / "tests/packs.py")]
    subprocess.run([*argv, "--silent", "other", "--base", "none", "--remove", "a/b"], check=True)
    one, two = read_pack(tmp_path / "tests/cases/some-cause.toml")
    assert (one.name, one.label, one.files) == ("some-cause/one", {"expect": "some-cause"}, {"said.txt": "CUDA error\r\n"})
    assert two.label == {"expect": "some-cause", "base": "none", "silent": ["other"], "remove": ["a/b"]}
    assert set(two.patch) == {"packs.py"}
