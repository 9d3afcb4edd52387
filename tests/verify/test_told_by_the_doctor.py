"""A failed proof, told by the next `rigup doctor`, by the real commands: until a later one passes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import broken
import pytest

pytestmark = [pytest.mark.torch, pytest.mark.slow]


@pytest.fixture
def rigup(tmp_path):
    """The command as a person types it, with a state folder of its own."""

    def run(*words, **more):
        env = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state"), "CUDA_VISIBLE_DEVICES": "", **more}
        command = [sys.executable, "-m", "rigup", *words, "--json"]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env, timeout=600)
        return json.loads(done.stdout)

    return run


def test_the_next_doctor_tells_what_failed_until_it_passes(torch_python, rigup, tmp_path):
    where = str(Path(torch_python).parents[1])
    sabotage = broken.build(tmp_path, broken.FOURTH_DIGIT)
    told = rigup("verify", where, **sabotage)
    assert told["verdict"] == "failed"
    after = rigup("doctor", VIRTUAL_ENV=where)
    (failure,) = after["failed_verifications"]
    assert failure["environment"] == where
    assert failure["framework"] == "torch"
    assert after["verdict"] != "healthy"
    rigup("verify", where)
    assert rigup("doctor", VIRTUAL_ENV=where)["failed_verifications"] == []
