"""NumPy, TensorFlow, JAX, onnxruntime and llama.cpp: the real ones, in the interpreter that RIGUP_FRAMEWORKS_PYTHON names."""

import os

import broken
import pytest

from answer_data import verified
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.observe import observe

pytestmark = pytest.mark.frameworks

PATIENT = Limits(start=300, check=300)
EXPECTED = {
    "numpy": {"matmul-float32", "sorting", "functions", "linear-algebra", "fourier", "reductions"},
    "tensorflow": {"matmul-float32", "convolution", "training-step", "random", "sorting"},
    "jax": {"matmul-float32", "matmul-bfloat16", "convolution", "training-step", "random"},
    "onnxruntime": {"matmul-float32", "matmul-float16", "convolution"},
    "llama.cpp": {"next-token"},
}


@pytest.fixture(scope="module")
def python():
    named = os.environ.get("RIGUP_FRAMEWORKS_PYTHON")
    if named is None:
        pytest.skip("RIGUP_FRAMEWORKS_PYTHON names no interpreter with other frameworks")
    return named


@pytest.fixture
def measured(python, jax_variables, tmp_path, monkeypatch):
    """What one framework, changed or not, is found to be."""
    for name, value in {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "2", **jax_variables}.items():
        monkeypatch.setenv(name, value)

    def measure(framework, body="pass", only=(), module=None):
        for name, value in broken.build(tmp_path, body, module or framework).items():
            monkeypatch.setenv(name, value)
        seen = observe(python, [], False, PATIENT, only=only, frameworks=(framework,), more=broken.UNHURRIED)
        if not seen.frameworks:
            pytest.skip(framework + " is not in that interpreter")
        return verified(seen, {"accelerators": []}, Facts(), False, [])

    return measure


@pytest.mark.parametrize("framework", EXPECTED)
def test_an_unbroken_framework_is_verified(framework, measured):
    answer = measured(framework)
    assert answer["verdict"] == "verified", answer
    (cpu,) = answer["devices"]
    assert {check["name"] for check in cpu["checks"] if check["passed"]} >= EXPECTED[framework]


def test_onnxruntime_that_takes_the_cpu_in_place_of_a_provider_is_caught(measured):
    answer = measured("onnxruntime", broken.LISTS_CUDA, ("matmul-float32",))
    card, cpu = answer["devices"]
    product = next(check for check in card["checks"] if check["name"] == "matmul-float32")
    assert (product["device"], product["passed"]) == ("cuda:0", False)
    assert "CPUExecutionProvider" in product["because"]
    assert cpu["checks"][0]["passed"] is True


def test_a_product_of_jax_that_is_wrong_in_the_fourth_digit_is_caught(measured):
    answer = measured("jax", broken.WRONG_IN_JAX, ("matmul-float32", "moves"))
    assert {check["name"]: check["passed"] for check in answer["devices"][0]["checks"]} == {"matmul-float32": False, "moves": True}
