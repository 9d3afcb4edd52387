"""Which files of causes are read: those of which a rule may hold, in the order in which all of them are tried."""

import importlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from rigup.diagnosis import loading
from rigup.diagnosis.rule import MENDS, RULES
from rigup.machine.kinds import Symptom

TABLES = Path(loading.__file__).parents[1] / "knowledge/data/causes"


class Reading(NamedTuple):
    """A field, as far as the index asks."""

    value: Any


class Held(NamedTuple):
    """A fact, as far as the index asks."""

    fields: dict[str, Reading]


_READ = """
import sys
from rigup.diagnosis.answer import diagnose
answer = diagnose(sys.argv[1])
print(*sorted({finding.cause for finding in answer.findings}))
print(*sorted(name for name in sys.modules if name.startswith("rigup.diagnosis.causes.")))
"""


def read_for(text, folder):
    """Causes that are found, and modules of rules and fixes that are read for it."""
    loading.build(loading.INDEX)  # what makes the index reads all files
    path = folder / "output.txt"
    path.write_text(text)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder)}
    done = subprocess.run([sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True, env=environment)
    causes, modules = done.stdout.splitlines()
    return set(causes.split()), set(modules.split())


def test_files_are_read_whose_rules_may_hold_and_no_others(tmp_path):
    causes, modules = read_for(
        "Failed to initialize NVML: Driver/library version mismatch\n"
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\n",
        tmp_path,
    )
    assert causes == {"nvml-driver-library-mismatch"}
    assert modules < set(loading._modules())
    assert len(modules) < len(loading._modules()) / 4
    assert "rigup.diagnosis.causes.driver.nvml_driver_library_mismatch" in modules
    assert not any(".apple." in module for module in modules)


def test_a_text_rule_is_never_tried_on_a_machine_that_is_asked_itself():
    """Nor is the file of a cause read that has no others."""
    loading.load_all()
    tried = {from_text: loading.rules_for(lambda _kind: [], set(), from_text) for from_text in (True, False)}
    assert any(rule.of_text for rule in tried[True])
    assert tried[False] == [rule for rule in tried[True] if not rule.of_text]
    assert loading._index().waits_of_texts().keys() - loading._index().waits.keys()


def test_rules_are_tried_cause_by_cause_and_those_of_texts_last():
    loading.load_all()
    own = [rule for rule in loading.rules_for(lambda _kind: [], set(), from_text=True) if loading._is_own(rule)]
    causes = list(loading._index().modules)
    assert own == sorted(own, key=lambda rule: (rule.of_text, causes.index(rule.cause)))


def test_what_is_known_of_a_cause_stands_in_one_file_of_its_family():
    loading.load_all()
    families = {row["id"]: path.stem for path in sorted(TABLES.glob("*.toml")) for row in tomllib.loads(path.read_text())["cause"]}
    homes = {cause: f"rigup.diagnosis.causes.{family}.{cause.replace('-', '_')}" for cause, family in families.items()}
    for rule in filter(loading._is_own, RULES):
        assert rule.judge.__module__ == homes[rule.cause], rule.name
    assert loading._index().modules.items() <= homes.items()
    registered = re.compile(r'^@?(?:rule|text_rule|mends)\("([^"]+)"', re.MULTILINE)
    for module in loading._modules():
        named = set(registered.findall(Path(importlib.import_module(module).__file__).read_text()))
        assert {homes[cause] for cause in named} <= {module}, module


def test_the_index_tells_of_every_rule_and_of_every_fix(tmp_path):
    index = loading.build(tmp_path / "files.msgpack")
    of_texts = index.waits_of_texts()
    for rule in RULES:
        if loading._is_own(rule):
            assert loading._parts(rule) in (of_texts if rule.of_text else index.waits)[rule.cause]
    own = {cause for cause, functions in MENDS.items() if any(map(loading._is_own, functions))}
    assert own <= set(index.modules)


def test_a_rule_that_the_index_rules_out_lacks_what_it_waits_for():
    """Both look at the same: what a rule is not called for is never read for."""
    loading.load_all()
    by_name = loading.kinds()
    for rule in RULES:
        parts = loading._parts(rule)
        if any(part.forms for part in parts):
            continue  # of which a fact made of its values tells nothing
        ids = {word for part in parts for name, words in part.fields if name == "id" for word in words}
        facts = {by_name[part.kind]: [] for part in parts}
        for part in parts:
            facts[by_name[part.kind]].append(Held({name: Reading(values[0]) for name, values in part.fields}))
        assert loading._may_hold(parts, facts.__getitem__, ids, by_name)
        for kind in facts.keys() - {Symptom}:
            assert not loading._may_hold(parts, {**facts, kind: []}.__getitem__, ids, by_name)
            if all(part.fields for part in parts if by_name[part.kind] is kind):
                assert not loading._may_hold(parts, {**facts, kind: [Held({})]}.__getitem__, ids, by_name)
        if ids:
            assert not loading._may_hold(parts, facts.__getitem__, set(), by_name)


def test_a_rule_that_waits_for_a_form_is_read_for_what_has_it_alone():
    by_name = loading.kinds()
    parts = [loading.Part("Package", (), (("name", r"nvidia-[a-z]{3,9}-cu\d{2}"),))]
    told = {name: {by_name["Package"]: [Held({"name": Reading(name)})]} for name in ("nvidia-cublas-cu12", "numpy")}
    assert loading._may_hold(parts, told["nvidia-cublas-cu12"].__getitem__, set(), by_name)
    assert not loading._may_hold(parts, told["numpy"].__getitem__, set(), by_name)


def test_a_file_that_changed_makes_the_index_anew(tmp_path, monkeypatch):
    path = tmp_path / "files.msgpack"
    monkeypatch.setattr(loading, "INDEX", path)
    built = loading.build(path)
    assert built.stamps
    assert loading._index.__wrapped__() == built
    monkeypatch.setattr(loading, "_stamp", lambda _path: (1, 2))
    assert set(loading._index.__wrapped__().stamps.values()) == {(1, 2)}


def test_an_index_that_is_spoilt_is_made_anew(tmp_path, monkeypatch):
    path = tmp_path / "files.msgpack"
    monkeypatch.setattr(loading, "INDEX", path)
    path.write_bytes(b"\x95no index")
    assert set(loading._index.__wrapped__().modules.values()) < set(loading._modules())


def test_what_comes_with_the_package_is_not_compared_with_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "INDEX", tmp_path / "files.msgpack")
    loading.build(loading.INDEX, shipped=True)
    monkeypatch.setattr(loading, "_stamps", lambda: 1 / 0)
    assert loading._index.__wrapped__().waits
