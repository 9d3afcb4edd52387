"""Which files of rules are read: those of which a rule may hold, in the order in which all of them are tried."""

import os
import subprocess
import sys

from rigup.diagnosis import loading
from rigup.diagnosis.rule import MENDS, ONE, RULES
from rigup.machine.kinds import Gpu, Symptom

_READ = """
import sys
from rigup.diagnosis.answer import diagnose
answer = diagnose(sys.argv[1])
print(*sorted({finding.cause for finding in answer.findings}))
print(*sorted(name for name in sys.modules if name.startswith(("rigup.diagnosis.rules.", "rigup.diagnosis.fixes."))))
"""


def read_for(text, folder):
    """Causes that are found, and modules of rules and fixes that are read for it."""
    loading.build(loading.INDEX)  # what makes the index reads all files
    path = folder / "output.txt"
    path.write_text(text)
    environment = {**os.environ, "XDG_CONFIG_HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(path)], capture_output=True, text=True, check=True, env=environment
    )
    causes, modules = done.stdout.splitlines()
    return set(causes.split()), set(modules.split())


def test_files_are_read_whose_rules_may_hold_and_no_others(tmp_path):
    causes, modules = read_for(
        "Failed to initialize NVML: Driver/library version mismatch\n"
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024\n",
        tmp_path,
    )
    assert causes == {"nvml-driver-library-mismatch"}
    all_modules = set(loading._modules())
    assert modules < all_modules | set(sys.modules)
    assert len(modules) < len(all_modules) / 2
    assert "rigup.diagnosis.rules.apple" not in modules


def test_the_index_tells_of_every_rule_and_of_every_fix(tmp_path):
    index = loading.build(tmp_path / "files.msgpack")
    for rule in RULES:
        if rule.judge.__module__ in index.modules:
            assert loading._parts(rule) in index.waits[rule.judge.__module__]
    for cause, functions in MENDS.items():
        assert {rule.judge.__module__ for rule in functions if rule.judge.__module__ in index.modules} == set(
            index.mends[cause]
        )


def test_a_rule_that_the_index_rules_out_lacks_what_it_waits_for():
    """Both look at the same: what a rule is not called for is never read for."""
    loading.load_all()
    by_name = loading.kinds()
    for rule in RULES:
        needs = [need for need in rule.needs.values() if need.mode == ONE]
        words = {word for part in loading._parts(rule) for word in part}
        assert loading._may_hold(loading._parts(rule), lambda _kind: True, words, by_name)
        if any(need.kind is Gpu for need in needs):
            assert not loading._may_hold(loading._parts(rule), lambda kind: kind is not Gpu, words, by_name)
        if any(need.kind is Symptom and dict(need.fields).get("id") for need in needs):
            assert not loading._may_hold(loading._parts(rule), lambda _kind: True, set(), by_name)


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
    assert loading._index.__wrapped__().modules == loading._modules()


def test_what_comes_with_the_package_is_not_compared_with_its_files(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "INDEX", tmp_path / "files.msgpack")
    loading.build(loading.INDEX, shipped=True)
    monkeypatch.setattr(loading, "_stamps", lambda: 1 / 0)
    assert loading._index.__wrapped__().waits


def test_a_module_stands_behind_those_that_it_imports():
    modules = loading._modules()
    assert modules.index("rigup.diagnosis.fixes.amd_chips") < modules.index("rigup.diagnosis.fixes.amd_builds")
    assert len(modules) == len(set(modules))
