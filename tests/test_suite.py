"""The choice of tests and their groups, tried on a small suite of its own in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from suite import LONG

CONFTEST = """
import pytest
from suite import pytest_addoption, pytest_collection_modifyitems, pytest_configure, pytest_xdist_make_scheduler
@pytest.fixture(scope="session")
def bare(): pass
"""
CASES = """
import pytest
@pytest.mark.parametrize("name", [f"cause/{number}" for number in range(300)])
def test_a_case(name): pass
def test_all_of_them(): pass
"""
SHARING = """
import os, pytest
@pytest.fixture(scope="module")
def engine():
    with open("made.txt", "a") as file: file.write("once\\n")
@pytest.mark.parametrize("number", range(8))
def test_it_goes(engine, number): pass
def test_it_is_alone(): pass
"""
OTHERS = """
from pytest import mark
@mark.podman
def test_a_machine(): pass
@mark.slow
def test_long(): pass
def test_an_environment(bare): pass
def test_plain(): pass
"""


@pytest.fixture
def asked(tmp_path):
    """What pytest says of the small suite."""
    for name, body in {"conftest": CONFTEST, "test_cases": CASES, "test_sharing": SHARING, "test_others": OTHERS}.items():
        (tmp_path / f"{name}.py").write_text(body)
    marks = "\n".join(f"  {name}: x" for name in ("packages", "podman", "slow"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\naddopts = --strict-markers\nmarkers =\n{marks}\n")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}

    def say(*words):
        argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'base'}", *words]
        given = {**variables, "PYTHONPATH": str(Path(__file__).parent)}
        done = subprocess.run(argv, cwd=tmp_path, env=given, capture_output=True, text=True, timeout=300, check=False)
        return done.stdout

    return say


def test_quick_leaves_out_what_takes_long_and_most_of_the_cases(asked):
    told = asked("--quick", "--collect-only").splitlines()
    cases = [line for line in told if "::test_a_case" in line]
    assert 5 <= len(cases) <= 40
    assert sorted(line.partition("::")[2] for line in told if "::" in line and line not in cases) == sorted(
        ["test_plain", "test_it_is_alone", "test_all_of_them", *(f"test_it_goes[{number}]" for number in range(8))]
    )


def test_the_files_of_which_quick_takes_less_are_there():
    assert [path for path in LONG if not path.is_file()] == []


def test_quick_chooses_the_same_cases_each_time(asked):
    once, twice = (set(asked("--quick", "--collect-only", "test_cases.py").splitlines()[:-1]) for _time in range(2))
    assert once == twice


def test_what_a_fixture_implies_is_a_mark_that_chooses(asked):
    assert "test_an_environment" in asked("-m", "packages", "--collect-only")
    assert "test_an_environment" not in asked("-m", "not packages", "--collect-only", "test_others.py")


def test_what_a_module_makes_is_made_once_for_all_workers(asked, tmp_path):
    told = asked("-n", "2", "test_sharing.py", "test_others.py")
    assert "13 passed" in told
    assert (tmp_path / "made.txt").read_text() == "once\n"
