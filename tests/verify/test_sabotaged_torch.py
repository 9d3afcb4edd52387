"""Builds of torch broken on purpose, several in one run: each is caught and named; healthy ones are in test_broken_builds.py."""

import re

import broken
import pytest
from sabotage_torch import BATCHES, batch

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

pytestmark = [pytest.mark.torch, pytest.mark.slow]
PATIENT = Limits(start=300, check=300)


@pytest.mark.parametrize("number", BATCHES)
def test_each_broken_part_is_caught_and_named(number, torch_python, tmp_path, monkeypatch):
    rows, body = batch(number)
    for name, value in {**broken.build(tmp_path, body), "CUDA_VISIBLE_DEVICES": ""}.items():
        monkeypatch.setenv(name, value)
    only = tuple(dict.fromkeys(row[1] for row in rows))
    seen = observe(torch_python, [], False, PATIENT, only=only, frameworks=("torch",), more=broken.UNHURRIED)
    answer = verified(seen, {"accelerators": []}, Facts(), False, [])
    bad = {check["name"]: named(check) for device in answer["devices"] for check in device["checks"] if not check.get("passed", True)}
    missed = [row[0] for row in rows if not any(re.search(row[2], name) for name in bad.get(row[1], []))]
    assert not missed


def named(check):
    """All names that a check tells as wrong."""
    measured = check["measured"]
    return [*measured.get("failed", []), *measured.get("wrong", []), str(measured.get("of", ""))]
