"""Builds of torch that are broken on purpose: each is caught, named, and does not keep the others from being judged."""

import json
import subprocess

import broken
import pytest

from answer_data import as_data, verified
from answers import read
from few_checks import few_checks
from rigup.machine.store import Facts
from rigup.verify.child import Limits
from rigup.verify.environment import VerifyError
from rigup.verify.observe import observe
from rigup.verify.verify import verify

pytestmark = pytest.mark.torch
PATIENT = Limits(start=300, check=300)
GPU = {
    "index": 0,
    "vendor": "nvidia",
    "name": "NVIDIA GeForce RTX 3090",
    "state": "expected",
    "because": "",
    "next": "",
}


@pytest.fixture
def measured(torch_python, tmp_path, monkeypatch):
    """What a changed torch is found to be, by some checks; the process that measures sees no card of this machine."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def measure(body, *only, limits=PATIENT, machine=None, full=False):
        for name, value in broken.build(tmp_path, body).items():
            monkeypatch.setenv(name, value)
        seen = observe(torch_python, [], full, limits, only=only, more=broken.UNHURRIED)
        return verified(seen, {"accelerators": machine or []}, Facts(), full, [])

    return measure


@pytest.fixture(scope="module")
def elsewhere(torch_python):
    """A torch to which a device in Python can be added."""
    code = "from torch.utils.backend_registration import _setup_privateuseone_for_python_backend"
    if subprocess.run([torch_python, "-W", "ignore", "-c", code], check=False, capture_output=True).returncode:
        pytest.skip("this torch has no door for backends in Python")


def check(told, name, device="cpu"):
    return next(
        one
        for device_ in told["devices"]
        for one in device_["checks"]
        if (one["name"], one["device"]) == (name, device)
    )


def test_an_unbroken_build_is_verified(measured):
    told = measured("pass")
    assert told["verdict"] == "verified"
    (cpu,) = told["devices"]
    assert (cpu["state"], {one["passed"] for one in cpu["checks"] if "passed" in one}) == ("verified", {True})
    names = {one["name"] for one in cpu["checks"]}
    assert {"small-tensors", "copy-host", "matmul-float32", "convolution", "attention", "reductions", "sorting",
            "indexing", "random", "training-step", "memory"} <= names  # fmt: skip


def test_a_processor_without_vnni_is_not_accused(measured, monkeypatch):
    monkeypatch.setenv("DNNL_MAX_CPU_ISA", "AVX2")  # as oneDNN sees most processors of before 2022
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    told = measured("pass", "integer-products", "casts", "integers")
    assert {one["name"]: one.get("passed") for one in told["devices"][0]["checks"]} == dict.fromkeys(
        ("integer-products", "casts", "integers"), True
    )


def test_a_product_of_bytes_that_is_wrong_is_named_on_it_too(measured, monkeypatch):
    monkeypatch.setenv("DNNL_MAX_CPU_ISA", "AVX2")
    told = measured("real = torch._int_mm; torch._int_mm = lambda *a: real(*a) + 1", "integer-products")
    assert not check(told, "integer-products")["passed"]


def test_a_product_that_is_wrong_in_the_fourth_digit(measured):
    told = measured(broken.FOURTH_DIGIT, "matmul-float32", "sorting")
    product = check(told, "matmul-float32")
    assert told["verdict"] == "failed"
    assert product["passed"] is False
    assert product["measured"]["error"] > 10 * product["expected"]["error"]
    assert check(told, "sorting")["passed"] is True


def test_results_that_are_moved_to_the_cpu(measured, elsewhere):
    told = measured(broken.TO_THE_CPU, "matmul-float32", "sorting")
    product = check(told, "matmul-float32", "elsewhere:0")
    assert product["passed"] is False
    assert "product on cpu" in product["because"]
    assert check(told, "sorting", "elsewhere:0")["passed"] is True
    assert check(told, "matmul-float32")["passed"] is True


def test_a_check_that_hangs(measured):
    told = measured(broken.HANGS, "sorting", limits=Limits(start=300, check=2))
    assert told["verdict"] == "failed"
    assert check(told, "sorting")["measured"]["ended_by"] == "hung"
    assert "hung" in check(told, "sorting")["because"]


@pytest.mark.parametrize(
    ("body", "name"), [(broken.CRASHES, "SIGSEGV"), (broken.KILLED, "SIGKILL")], ids=["crashes", "is killed"]
)
def test_a_check_that_kills_the_process(body, name, measured):
    told = measured(body, "sorting", "indexing")
    assert check(told, "sorting")["measured"]["ended_by"] == "signal"
    assert name in check(told, "sorting")["because"]
    assert "passed" not in check(told, "rest")


def test_after_a_crash_the_full_mode_tries_what_is_left(measured):
    told = measured(broken.CRASHES, "sorting", "indexing", full=True)
    assert check(told, "sorting")["passed"] is False
    assert check(told, "indexing")["passed"] is True


def test_a_device_that_crashes_does_not_keep_the_next_from_being_judged(measured, elsewhere):
    told = measured(broken.CRASHES_ELSEWHERE, "sorting", "indexing")
    assert check(told, "sorting", "elsewhere:0")["passed"] is False
    assert check(told, "sorting")["passed"] is check(told, "indexing")["passed"] is True
    assert [device["state"] for device in told["devices"]] == ["no", "verified"]


def test_memory_that_is_never_given_back(measured):
    told = measured(broken.LEAKS, "memory")
    memory = check(told, "memory")
    assert memory["passed"] is False
    assert memory["measured"]["grown"] > 0.4 * memory["measured"]["made"]  # the products; gradients are the other half
    assert "leaks" in memory["because"]


def test_more_memory_than_the_limit(measured):
    told = measured(broken.GREEDY, "sorting", limits=PATIENT._replace(memory=2 << 30))
    assert check(told, "sorting")["measured"]["ended_by"] == "memory"


def test_an_operator_that_falls_back_to_the_cpu_is_named(measured, elsewhere):
    told = measured(broken.FALLS_BACK, "sorting")
    assert check(told, "no-fallback", "elsewhere:0")["measured"] == {"operators": ["aten::sort"]}
    assert told["verdict"] == "failed"
    assert not any(one["name"] == "no-fallback" for one in told["devices"][-1]["checks"])


def test_an_import_that_ends_the_process(measured):
    told = measured(broken.CRASHES_AT_ONCE)
    torch = next(one for one in told["frameworks"] if one["name"] == "torch")
    assert (told["verdict"], torch["imported"]) == ("failed", False)
    assert "status 3" in torch["because"]
    assert torch["said"].startswith("ImportError")


def test_a_card_that_the_build_does_not_list(measured):
    told = measured("pass", "sorting", machine=[GPU])
    (card, _cpu) = told["devices"]
    assert [(one["name"], one["passed"]) for one in card["checks"]] == [("listed", False)]
    assert (card["state"], told["verdict"]) == ("no", "failed")


def test_an_integrated_card_may_be_left_out(measured):
    told = measured("pass", "sorting", machine=[{**GPU, "vendor": "intel", "integrated": True}])
    assert told["devices"][0]["checks"] == []
    assert told["verdict"] == "verified"


def test_a_device_that_is_not_there_is_told_with_those_that_are(torch_python, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(VerifyError, match=r"no device cuda:7 here.*: cpu"):
        verify(torch_python, devices=("cuda:7",), limits=PATIENT)


def test_what_the_framework_said_is_diagnosed(torch_python, tmp_path, monkeypatch):
    for name, value in {**broken.build(tmp_path, broken.NO_CODE), "CUDA_VISIBLE_DEVICES": ""}.items():
        monkeypatch.setenv(name, value)
    few_checks(monkeypatch, "sorting", "indexing", frameworks=("torch",))
    told = as_data(verify(torch_python, limits=PATIENT))
    read(json.dumps(told))
    sorting = check(told, "sorting")
    assert (sorting["passed"], sorting["measured"]["type"]) == (False, "RuntimeError")
    assert "no kernel image" in sorting["because"]
    heard = told["diagnosis"]  # a cause needs a card that the code is not for, which this machine may not have
    assert "no-kernel-image" in heard["unexplained"] or "no kernel image" in str(heard["findings"])
    assert check(told, "indexing")["passed"] is True


def test_a_small_network_learns_in_the_full_mode(measured):
    told = measured("pass", "training", full=True)
    assert check(told, "training")["measured"]["accuracy"] > 0.95
    assert told["verdict"] == "verified"
