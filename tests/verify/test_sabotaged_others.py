"""NumPy, JAX and onnxruntime broken on purpose: each is caught and named; unbroken ones are in test_other_frameworks.py."""

import importlib.util
import os
import sys

import broken
import pytest
from sabotage_others import batches, laid

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

pytestmark = pytest.mark.frameworks

PATIENT = Limits(start=300, check=300)
MODULES = {"jax": "jax"}


@pytest.fixture
def python(request):
    """The interpreter that RIGUP_FRAMEWORKS_PYTHON names, or this one where it has NumPy."""
    named = os.environ.get("RIGUP_FRAMEWORKS_PYTHON")
    if named is None and importlib.util.find_spec("numpy") is None:
        pytest.skip("RIGUP_FRAMEWORKS_PYTHON names no interpreter with other frameworks")
    return named or sys.executable


@pytest.mark.parametrize(("framework", "rows"), batches(), ids=[f"{of} {len(rows)} {rows[0][0]}" for of, rows in batches()])
def test_what_is_broken_is_caught_and_named(framework, rows, python, jax_variables, tmp_path, monkeypatch):
    for name, value in {"CUDA_VISIBLE_DEVICES": "", **jax_variables}.items():
        monkeypatch.setenv(name, value)
    for name, value in broken.build(tmp_path, laid(rows), framework).items():
        monkeypatch.setenv(name, value)
    only = ("small-tensors", *(check for _name, _body, check, _word in rows))
    seen = observe(python, [], False, PATIENT, only=only, frameworks=(framework,), more=broken.UNHURRIED)
    if not seen.frameworks:
        pytest.skip(framework + " is not in that interpreter")
    answer = verified(seen, {"accelerators": []}, Facts(), False, [])
    assert answer["verdict"] == "failed"
    (cpu,) = answer["devices"]
    bad = {check["name"]: f"{check['because']} {check.get('measured')}" for check in cpu["checks"] if not check.get("passed", True)}
    missed = [name for name, _body, check, word in rows if word not in bad.get(check, "")]
    assert not missed, bad
