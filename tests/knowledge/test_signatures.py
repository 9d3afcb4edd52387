"""Every signature row, of every family: it finds what it says it finds, refers to what exists, and ends in time."""

import re
import time

import pytest

from each import each
from rigup.diagnosis.rule import STRENGTHS
from rigup.knowledge.doctor_tables import causes, signatures, speakers
from rigup.machine.facts import MACHINE, PROCESS, WORLD, kinds
from rigup.machine.texts import Text, pattern

ROWS = signatures()
WORLDS = {"host", "container", "windows"}
PROCESSES = {"shell", "service", "unit", "kernel", "rank", "program", "job", "notebook", "login"}
HOLE = re.compile(r"\{(\w+)\}")
MEANT = {row.id for row in ROWS if not row.says}  # a wording is one of a row that is none itself
PARTS = 8  # of the rows, so that cores share what takes long
LENGTH = 20_000
MOST_SECONDS = 1.0  # of processor time; what is linear takes a thousandth of it


def found(row, body):
    """As the matcher tries it: on the lines around the literal only."""
    spots = [at.start() for at in re.finditer(re.escape(row.literal), body)]
    return list(Text("test", body).near(row.regex, spots, row.lines, beside=getattr(row, "beside", None)))


def test_ids_tell_rows_apart():
    ids = [row.id for row in ROWS]
    assert sorted(set(ids)) == sorted(ids), {one for one in ids if ids.count(one) > 1}
    assert not set(ids) & set(causes()), "a symptom and a cause of one name cannot be told apart in explains"


def test_the_examples_are_found_and_the_near_misses_are_not():
    each(ROWS, finds_its_example_alone)


def finds_its_example_alone(row):
    assert row.literal in row.example
    assert not row.beside or any(word in row.example for word in row.beside)
    assert found(row, row.example), "the example does not match"
    assert row.near_miss
    assert not found(row, row.near_miss), "the near miss matches"
    assert not pattern(row.regex).search(row.near_miss), "the near miss matches where the literal is not asked for"


def test_rows_refer_to_what_exists():
    each(ROWS, refers_to_what_exists)


def refers_to_what_exists(row):
    assert row.program
    assert row.source.startswith(("http", "rigup", "Linux", "kernel")) or " " in row.source, row.source
    assert row.means == "" or row.means in causes(), row.means
    assert row.strength in STRENGTHS
    assert row.scope in (MACHINE, WORLD, PROCESS)
    kind = row.place.partition(":")[0]
    assert kind == "" or kind in WORLDS | PROCESSES, row.place
    assert {row.usually, row.rules_out} <= {"", *causes()}
    assert not (row.usually and (row.means or row.says)), "what decides alone needs no usual cause"
    is_note = row.params.get("severity") == "note"
    assert not row.harmless or not row.means or is_note, "what means more than a note is not harmless"
    assert not row.says or row.says in MEANT, "a wording is one of a row that is none itself"
    assert not row.says or not (row.means or row.harmless), "what a wording means its row says"
    groups = set(pattern(row.regex).groupindex)
    assert "id" not in groups
    assert not groups & set(row.params)


def test_stated_facts_exist_with_their_fields():
    each([row for row in ROWS if row.states], states_what_exists)


def states_what_exists(row):
    groups = set(pattern(row.regex).groupindex)
    for said in row.states:
        kind = kinds()[said["fact"]]
        fields = {name for base in kind.__mro__ for name in getattr(base, "__annotations__", {})}
        for name, template in said.items():
            assert name == "fact" or name in fields, (said["fact"], name)
            assert name == "fact" or set(HOLE.findall(template)) <= groups, template


def hostile(row):
    """Long lines that begin like a find and never become one."""
    cut = row.example.strip("\n")
    pieces = [" ", "a", "0", "/", ".", "a ", "a/", "0.", row.literal, row.literal + " ", cut[: max(len(cut) // 2, 1)]]
    for piece in pieces:
        filling = (piece * LENGTH)[:LENGTH]
        yield row.literal + filling
        yield filling + row.literal


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_pattern_is_slow_on_hostile_lines(part):
    each(ROWS[part::PARTS], is_quick_on_hostile_lines)


def is_quick_on_hostile_lines(row):
    form = pattern(row.regex)
    for body in hostile(row):
        started = time.process_time()
        form.search(body)
        assert time.process_time() - started < MOST_SECONDS, body[:80]


def test_speakers_are_found_in_their_examples():
    each(speakers(), is_found_in_its_example, name=lambda row: row.literal)


def is_found_in_its_example(row):
    assert row.literal in row.example
    assert pattern(row.regex).search(row.example)
    assert row.kind in {*WORLDS, *PROCESSES, "node", "before", "after", ""}
