"""The whole way, in environments of our own making whose torch is a few lines."""

import json
import sys
import venv
from pathlib import Path

import pytest

from answer_data import as_data
from rigup.machine.proof_records import Proven, record
from rigup.verify.child import Limits
from rigup.verify.verify import usual_limits, verify

PATIENT = Limits(start=60, check=60)


@pytest.fixture
def made(tmp_path):
    """An environment whose torch is this text."""

    def make(body):
        venv.create(tmp_path / "dl", with_pip=False)
        site = next((tmp_path / "dl").glob("lib*/**/site-packages"))
        (site / "torch").mkdir()
        (site / "torch" / "__init__.py").write_text(body)
        (site / "torch-2.9.1.dist-info").mkdir()
        (site / "torch-2.9.1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 2.9.1\n")
        return str(tmp_path / "dl")

    return make


@pytest.mark.skipif(sys.platform == "win32", reason="libraries have other names there")
def test_a_library_that_is_missing_is_diagnosed(made):
    text = "libcudnn.so.9: cannot open shared object file: No such file or directory"
    answer = as_data(verify(made(f"raise ImportError({text!r})"), limits=PATIENT))
    (torch,) = answer["frameworks"]
    assert (answer["verdict"], torch["imported"]) == ("failed", False)
    assert torch["said"] == "ImportError: " + text
    causes = [finding["cause"] for finding in answer["diagnosis"]["findings"] if finding["severity"] == "error"]
    assert causes, answer["diagnosis"]
    assert any("libcudnn.so.9" in str(finding["evidence"]) for finding in answer["diagnosis"]["findings"])


def test_a_failure_is_kept_in_the_place_of_an_earlier_proof(made):
    env = made("raise ImportError('broken')")
    kept = Proven(env=env, framework="torch", build="2.9.1", kernel="", override="", checks=3)
    path = record(env, [kept], "quick")
    answer = as_data(verify(env, limits=PATIENT))
    assert answer["packages"] == {"torch": "2.9.1"}
    assert answer["record"] == path
    (kept,) = json.loads(Path(path).read_text())["devices"]
    assert (kept["env"], kept["framework"], kept["failed"]) == (env, "torch", "import")


def test_the_usual_limits_leave_half_of_the_memory():
    assert usual_limits(True).check > usual_limits(False).check
    assert usual_limits(False).memory >= 0
