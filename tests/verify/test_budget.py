"""What the time of quick checks does not reach is told as not covered, and never as verified."""

import pytest

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

pytestmark = pytest.mark.torch
PATIENT = Limits(start=300, check=300)


def told(python, budget, monkeypatch, full=False):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    only = ("small-tensors", "activations", "places")
    more = {"budget": budget}
    seen = observe(python, [], full, PATIENT, only=only, frameworks=("torch",), more=more)
    return verified(seen, {"accelerators": []}, Facts(), full, [])


def test_without_time_nothing_is_verified_and_each_check_is_named(torch_python, monkeypatch):
    found = told(torch_python, 0.0, monkeypatch)
    assert found["verdict"] != "verified"
    assert {"small-tensors", "activations", "places"} <= {part["what"] for part in found["not_covered"]}


def test_operators_that_are_left_of_a_table_are_counted_and_named(torch_python, monkeypatch):
    found = told(torch_python, 0.25, monkeypatch)
    tables = [part for part in found["not_covered"] if part["what"] in ("activations", "places")]
    assert tables
    assert any("before" in part["because"] for part in tables)


def test_with_time_nothing_is_left(torch_python, monkeypatch):
    found = told(torch_python, 1e6, monkeypatch)
    assert found["verdict"] == "verified"
    assert not [part for part in found["not_covered"] if "before" in part["because"]]
