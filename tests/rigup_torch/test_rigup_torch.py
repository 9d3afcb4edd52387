"""`rigup.torch`, with a real torch: this interpreter's, or that of the one which RIGUP_TORCH_PYTHON names.

The checks stand in `checks/`, and are run by `run_checks.py`, which needs nothing but torch.
"""

import ast
import functools
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "devices.md"
CHECKS = sorted((HERE / "checks").glob("*.py"))
PACKAGE = sorted((ROOT / "src" / "rigup" / "torch").glob("*.py"))


def interpreter():
    named = os.environ.get("RIGUP_TORCH_PYTHON")
    if named is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here, and RIGUP_TORCH_PYTHON names no interpreter that has it")
    return named or sys.executable


@functools.cache
def outcomes(path):
    """What became of every check of a file, each file in a process of its own: a backend's name is given once."""
    done = subprocess.run(
        [interpreter(), str(HERE / "run_checks.py"), str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    told = {one["name"]: one for one in map(json.loads, filter(None, done.stdout.splitlines()))}
    assert done.returncode == 0, done.stderr[-3000:]
    return told


def names(path):
    return [one.name for one in ast.parse(path.read_text()).body if getattr(one, "name", "").startswith("test_")]


@pytest.mark.torch
@pytest.mark.parametrize(("path", "name"), [pytest.param(p, n, id=f"{p.stem}-{n}") for p in CHECKS for n in names(p)])
def test_in_torch(path, name):
    told = outcomes(path)[path.stem + "::" + name]
    if "skipped" in told:
        pytest.skip(told["skipped"])
    assert told.get("passed"), told["failed"]


@pytest.mark.torch
def test_every_example_of_the_page_prints_what_it_shows():
    told = outcomes(PAGE)
    assert len(told) == PAGE.read_text().count("```pycon") > 8
    assert [one["failed"] for one in told.values() if "failed" in one] == []


def test_nothing_but_torch_is_imported():
    tops = {
        (one.module or "") if isinstance(one, ast.ImportFrom) else one.names[0].name
        for path in PACKAGE
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.Import | ast.ImportFrom)
    }
    foreign = {top for top in tops if top.partition(".")[0] not in {*sys.stdlib_module_names, "torch"}}
    assert {top for top in foreign if not top.startswith("rigup.torch")} == {"numpy"}  # to seed it, where it is there


def test_the_real_torch_is_not_shadowed():
    assert [path for path in PACKAGE if re.search(r"^\s*from \.", path.read_text(), re.MULTILINE)] == []


@pytest.mark.parametrize("isa", ["sm_50", "sm_61", "sm_75", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120", "gfx90a",
                                 "gfx1030", "gfx1103", "gfx1201"])  # fmt: skip
def test_what_runs_on_what_is_told_as_the_tables_tell_it(isa):
    from rigup.knowledge.chips import runs_on

    spec = importlib.util.spec_from_file_location("code_of_torch", ROOT / "src" / "rigup" / "torch" / "code.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    lists = [["sm_50", "sm_60", "sm_70", "sm_75", "sm_80", "sm_86", "sm_90"], ["sm_80", "sm_90a", "compute_90"],
             ["sm_75", "compute_75"], ["sm_100a", "sm_120"], ["gfx90a", "gfx1100"], ["gfx11-generic"], ["sm_103f"]]  # fmt: skip
    assert [module.runs_on(isa, code) for code in lists] == [runs_on(isa, code) for code in lists]
