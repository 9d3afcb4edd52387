"""What rules and fixes name is there: ids of signatures that are heard, fields of facts, groups of patterns."""

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap

from rigup import diagnosis
from rigup.diagnosis.answer import diagnose
from rigup.diagnosis.rule import MENDS, RULES, Rule
from rigup.knowledge.doctor_tables import causes, signatures
from rigup.machine.kinds import Symptom

OWN = {"id", "about", "spread", "subject", "place", "fields", "get", "knows", "values", "watched"}


def every_rule() -> list[Rule]:
    for module in pkgutil.walk_packages(diagnosis.__path__, diagnosis.__name__ + "."):
        importlib.import_module(module.name)
    return [*RULES, *(told for works in MENDS.values() for told in works)]


def where(told: Rule) -> str:
    return f"{told.judge.__module__}.{told.name}"


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


def test_every_part_of_a_message_that_a_rule_reads_is_a_group_of_its_pattern():
    known = groups()
    lost = set()
    for told in every_rule():
        for name, part in read_of(told):
            need = told.needs.get(name)
            ids = ids_of(need) if need and need.kind is Symptom and need.mode in ("one", "maybe") else ()
            if ids and not any(part in known.get(one, ()) for one in ids):
                lost.add((where(told), name, part))
    assert not lost, sorted(lost)


def test_a_process_that_forked_is_not_taken_for_a_faulty_driver(tmp_path):
    """It gets the same number as the branches of the driver that are known for it."""
    driver = "NVIDIA-SMI 570.86.10    Driver Version: 570.86.10    CUDA Version: 12.8\n"
    named = []
    for forked in ("", "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n"):  # fmt: skip
        text = tmp_path / str(len(named)) / "output.txt"
        text.parent.mkdir()
        text.write_text(driver + "RuntimeError: " + forked + "RuntimeError: CUDA error: initialization error\n")
        named.append({found["cause"] for found in diagnose(str(text.parent))["findings"]})
    plain, forked = named
    assert "uvm-hmm-init-failure" in plain
    assert "uvm-hmm-init-failure" not in forked
    assert "cuda-initialised-before-fork" in forked
