"""What rules and fixes name is there: ids of signatures that are heard, fields of facts, groups of patterns."""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from functools import partial
from pathlib import Path

import pytest

from answer_data import diagnose
from rigup import diagnosis
from rigup.diagnosis.row_functions import FUNCTIONS, row_function
from rigup.diagnosis.rule import MENDS, RULES, Rule
from rigup.diagnosis.rule_rows import RuleRow, operand, rule_rows, rules_of_rows
from rigup.knowledge.doctor_tables import causes, signatures
from rigup.knowledge.tags import tags
from rigup.machine.kinds import Symptom
from rigup.steps import step_kinds

OWN = {"id", "about", "spread", "subject", "place", "fields", "get", "knows", "values", "watched"}


def every_rule() -> list[Rule]:
    for module in pkgutil.walk_packages(diagnosis.__path__, diagnosis.__name__ + "."):
        importlib.import_module(module.name)
    return [*RULES, *rules_of_rows(), *(told for works in MENDS.values() for told in works)]


def where(told: Rule) -> str:
    return f"{told.judge.__module__}.{told.name}"


def rows() -> dict[str, RuleRow]:
    return {row.id: row for row in rule_rows()}


def ids_of(need) -> tuple[str, ...]:
    """The ids that a parameter wants; none where it takes any, or those that pass a test."""
    wanted = dict(need.fields).get("id", ())
    wanted = (wanted,) if isinstance(wanted, str) else wanted
    return wanted if type(wanted) is tuple else ()


def test_every_message_that_a_rule_waits_for_can_be_heard():
    """An id of no row, or of a row that is heard as another one, would never come."""
    heard = {row.says or row.id for row in signatures()}
    lost = {
        (where(told), one)
        for told in every_rule()
        for need in told.needs.values()
        if need.kind is Symptom
        for one in ids_of(need)
        if one not in heard
    }
    assert not lost, sorted(lost)


def test_every_field_that_a_rule_asks_for_is_one_of_its_kind():
    lost = {
        (where(told), need.kind.__name__, name)
        for told in every_rule()
        for need in told.needs.values()
        if need.kind is not Symptom
        for name, _wanted in need.fields
        if not any(name in getattr(base, "__annotations__", {}) for base in need.kind.__mro__)
    }
    assert not lost, sorted(lost)


def test_every_cause_that_is_named_is_in_the_table():
    named = {told.cause for told in every_rule()} | {row.means or row.usually for row in signatures()}
    assert named - set(causes()) <= {""}


def groups() -> dict[str, set[str]]:
    """What a message may tell beside itself, by its id."""
    found: dict[str, set[str]] = {}
    for row in signatures():
        told = set(re.findall(r"\(\?P<(\w+)>", row.regex)) | set(row.params)
        found.setdefault(row.says or row.id, set()).update(told)
    return found


def read_of(told: Rule) -> set[tuple[str, str]]:
    """Parameters with what the function reads from them: `said.code`, `said.get("code")`, `said.knows("code")`."""
    if isinstance(told.judge, partial):
        words = " ".join(map(str, (*rows()[told.name].when, *rows()[told.name].params.values())))
        found = set(re.findall(r"\b([a-z_]\w*)\.(\w+)", words)) | set(re.findall(r"\b(\w+) knows (\w+)", words))
        return found - {(name, "id") for name in told.needs}
    tree = ast.parse(textwrap.dedent(inspect.getsource(told.judge)))
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr not in OWN:
            found.add((node.value.id, node.attr))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "knows"):
            name, first = node.func.value, node.args[0] if node.args else None
            if isinstance(name, ast.Name) and isinstance(first, ast.Constant):
                found.add((name.id, str(first.value)))
    return found - {(name, "id") for name in told.needs}


OF_EVERY_MESSAGE = ("prompt_host",)  # whatever its pattern: at whose prompt it stands, where a text has prompts of several


@pytest.mark.long
def test_every_part_of_a_message_that_a_rule_reads_is_a_group_of_its_pattern():
    known = groups()
    lost = set()
    for told in every_rule():
        for name, part in read_of(told):
            need = told.needs.get(name)
            ids = ids_of(need) if need and need.kind is Symptom and need.mode in ("one", "maybe") else ()
            if ids and part not in OF_EVERY_MESSAGE and not any(part in known.get(one, ()) for one in ids):
                lost.add((where(told), name, part))
    assert not lost, sorted(lost)


def test_every_row_of_rules_is_understood_and_no_two_are_alike():
    understood = rules_of_rows()
    assert len(understood) == len(rows()) == len(rule_rows())
    for row in rule_rows():
        parts = {next(iter(need)).rstrip("?*!") for need in row.needs}
        values = [text for text in map(str, row.params.values()) if text.startswith("=")]
        told = " ".join(" ".join(re.findall(r"\{.*?\}", text)) if "{" in text else text for text in values)
        conditions = [re.sub(r" (?:!?=|holds|starts|ends) .*?(?= or |$)", "", text) for text in row.when]
        words = " ".join((*conditions, told))
        named = set(re.findall(r"(?<![\w.-])([a-z_]\w*)\.\w", words)) | set(row.told_of)
        assert named <= parts, (row.id, named - parts)


def test_every_operand_that_a_row_tells_is_one():
    for row in rule_rows():
        for value in row.params.values():
            if isinstance(value, str) and len(value) > 1 and value.startswith("="):
                choices = re.findall(r"\{([^{}]+)\}", value) if "{" in value else value[1:].split(" or ")
                assert all(operand(choice) for choice in choices), row.id


def test_every_function_for_rows_is_there_and_used():
    used = " ".join(str((row.needs, row.when, row.params)) for row in rule_rows())
    for name in FUNCTIONS:
        assert callable(row_function(name))
        assert f"{name}(" in used or f"is {name}'" in used, name


def test_every_tag_is_asked_for():
    """A concept that no rule asks for is one too many."""
    sources = [path.read_text() for path in Path(diagnosis.__path__[0]).rglob("*.py")]
    asked = {word for text in sources for found in re.findall(r'tag="([^"]+)"', text) for word in found.split()}
    asked |= {word for row in rule_rows() for word in re.findall(r"'#([\w-]+)'", str(row.needs))}
    asked |= {name[1:] for row in causes().values() for name in row.explains if name.startswith("#")}
    asked |= {f"tried:{kind}" for kind in step_kinds()}  # what somebody did already is not offered again
    assert set(tags()) - asked == set()
    assert asked - set(tags()) == {f"tried:{kind}" for kind in step_kinds()} - set(tags())


def test_a_process_that_forked_is_not_taken_for_a_faulty_driver(tmp_path):
    """It gets the same number as the branches of the driver that are known for it."""
    driver = "NVIDIA-SMI 570.86.10    Driver Version: 570.86.10    CUDA Version: 12.8\n"
    named = []
    for forked in (
        "",
        "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n",
    ):
        text = tmp_path / str(len(named)) / "output.txt"
        text.parent.mkdir()
        text.write_text(driver + "RuntimeError: " + forked + "RuntimeError: CUDA error: initialization error\n")
        named.append({found["cause"] for found in diagnose(str(text.parent))["findings"]})
    plain, forked = named
    assert "uvm-hmm-init-failure" in plain
    assert "uvm-hmm-init-failure" not in forked
    assert "cuda-initialised-before-fork" in forked
