"""A failed proof, told by the next `rigup doctor` until a later one passes."""

import contextlib
import io
import json
from pathlib import Path

import broken
import pytest

from few_checks import few_checks
from rigup.cli import run

pytestmark = [pytest.mark.torch, pytest.mark.slow]


@pytest.fixture
def rigup(monkeypatch):
    """The command as a person types it: what it answers as data, under other variables beside."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def answer(*words, **more):
        out = io.StringIO()
        with monkeypatch.context() as patch, contextlib.redirect_stdout(out):
            for name, value in more.items():
                patch.setenv(name, value)
            run([*words, "--json"])
        return json.loads(out.getvalue())

    return answer


def test_the_next_doctor_tells_what_failed_until_it_passes(torch_python, rigup, tmp_path, monkeypatch):
    few_checks(monkeypatch, "matmul-float32", "sorting", frameworks=("torch",))
    where = str(Path(torch_python).parents[1])
    sabotage = broken.build(tmp_path, broken.FOURTH_DIGIT)
    answer = rigup("verify", where, **sabotage)
    assert answer["verdict"] == "failed"
    after = rigup("doctor", VIRTUAL_ENV=where)
    (failure,) = after["failed_verifications"]
    assert failure["environment"] == where
    assert failure["framework"] == "torch"
    assert after["verdict"] != "healthy"
    rigup("verify", where)
    assert rigup("doctor", VIRTUAL_ENV=where)["failed_verifications"] == []
