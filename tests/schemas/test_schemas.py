"""The schemas themselves: valid, told of to the last key, and true of the house."""

import inspect
import json
import re
from pathlib import Path

import jsonschema
import msgspec
import pytest
from click.testing import CliRunner

from answers import read
from rigup import schemas
from rigup.cli import main
from rigup.machine.facts import kinds
from rigup.machine.inventory import LISTS
from rigup.schemas.doctor import NotAsked
from rigup.schemas.machine import Machine

SOURCE = Path(schemas.__file__).parents[1]
LISTED = ("accelerators", "displays", "npus", "drivers")
# Keys whose values are of no form of their own: a fact's fields are its kind's, a check's values are that check's.
FREE = {
    "Machine": {*LISTS.values()},
    "SeenDevice": {"partitions"},
    "Difference": {"before", "after"},
    "Hosts": {"hosts"},
    "Check": {"measured", "expected"},
    "CheckedDevice": {"properties"},
    "Framework": {"build"},
    "Bench": {"machine"},
    "BenchList": {"runs"},
    "EnvironmentShown": {"made_for"},
    "Locked": {"made_for"},
    "Hit": {"row"},
}


def structs():
    """Every Struct of every answer, once."""
    return list(schemas.structs_in([NotAsked, *(kind for name in schemas.ANSWERS for kind in schemas.types_of(name))]))


@pytest.mark.parametrize("name", schemas.ANSWERS)
def test_each_is_a_valid_json_schema_that_allows_more_keys(name):
    schema = schemas.json_schema(name)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert (schema["$id"], bool(schema["description"])) == (f"rigup.{name}/1", True)
    assert 'additionalProperties": false' not in json.dumps(schema)


def test_every_key_is_told_of():
    for kind in structs():
        fields = {field.name for field in msgspec.structs.fields(kind)}
        assert schemas.attributes(kind).keys() == fields, kind


def test_a_docstring_tells_of_no_key_that_there_is_not():
    for part in (part for name in schemas.ANSWERS for part in schemas.json_schema(name)["$defs"].values()):
        tags = ("schema", "engine")
        untold = [key for key, text in part["properties"].items() if "description" not in text and key not in tags]
        assert (untold, "Attributes" in part["description"]) == ([], False), part["title"]


def test_names_of_one_schema_are_told_apart():
    for name in schemas.ANSWERS:
        names = [kind.__name__ for kind in schemas.structs_in(schemas.types_of(name))]
        assert sorted(set(names)) == sorted(names)


def test_what_is_of_no_form_is_listed():
    free = {}
    for kind in structs():
        for field in msgspec.structs.fields(kind):
            owner = next(base for base in kind.__mro__ if field.name in inspect.get_annotations(base))
            if "typing.Any" in str(field.type):
                free.setdefault(owner.__name__, set()).add(field.name)
    assert free == FREE


def test_every_kind_of_fact_has_a_list_of_its_own():
    aside = {"Gpu", "PciDevice", "Symptom", "Driver"}
    own = {name for name, kind in kinds().items() if kind.__module__.startswith("rigup.")}
    assert {kind.__name__ for kind in LISTS} == own - aside
    assert len(set(LISTS.values())) == len(LISTS)
    assert {field.name for field in msgspec.structs.fields(Machine)} == {*LISTED, *LISTS.values()}


def test_every_answer_of_a_command_has_a_schema():
    """What commands print and name in their help; records that rigup keeps for itself are no answers."""
    texts = [path.read_text() for path in (SOURCE / "cli").glob("*.py")]
    texts += [
        (SOURCE / name).read_text()
        for name in (
            "diagnosis/answer.py",
            "plan/answer.py",
            "verify/answer.py",
            "bench/answer.py",
            "bench/comparing.py",
            "fit/judge.py",
            "fit/ranking.py",
        )
    ]
    assert {name for text in texts for name in re.findall(r"rigup\.([\w.-]+)/1", text)} <= set(schemas.ANSWERS)


def test_every_answer_bears_its_own_name():
    for name in schemas.ANSWERS:
        assert {kind.__struct_config__.tag for kind in schemas.types_of(name)} == {f"rigup.{name}/1"}


def test_the_command_lists_them_and_prints_one():
    listed = CliRunner().invoke(main, ["schema"]).output
    assert [line.split()[0] for line in listed.splitlines() if not line.startswith(" ")] == list(schemas.ANSWERS)
    for name in ("doctor.hosts", "rigup.doctor.hosts/1"):
        assert json.loads(CliRunner().invoke(main, ["schema", name]).output) == schemas.json_schema("doctor.hosts")


def test_a_name_that_there_is_not_is_answered_with_its_neighbours():
    shown = CliRunner().invoke(main, ["schema", "doctr"])
    assert (shown.exit_code, "Near it are: doctor" in shown.output) == (2, True)


GOOD = {"schema": "rigup.explain/1", "asked": "", "near": [], "causes": [{"cause": "a", "family": "b", "severity": "error", "layer": "c"}]}


def test_what_a_host_answers_is_checked_in_the_answer_of_several():
    refused = {"error": "refused", "because": "a", "next": "b", "said": "c"}
    answer = {"schema": "rigup.doctor.hosts/1", "hosts": {"node7": refused}}
    read(json.dumps(answer))
    answer["hosts"]["node8"] = {"schema": "rigup.doctor/1", "verdict": "fine"}
    with pytest.raises(AssertionError):
        read(json.dumps(answer))


def test_the_check_of_answers_can_fail():
    read(json.dumps(GOOD))
    (cause,) = GOOD["causes"]
    for bad in (
        {**GOOD, "causes": [{**cause, "more": 1}]},
        {**GOOD, "causes": [{**cause, "severity": "loud"}]},
        {**GOOD, "asked": None},
        {name: value for name, value in GOOD.items() if name != "near"},
    ):
        with pytest.raises(AssertionError):
            read(json.dumps(bad))
