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
GPU = {"index": 0, "vendor": "nvidia", "name": "NVIDIA GeForce RTX 3090", "state": "expected", "because": "", "next": ""}


@pytest.fixture
def measured(torch_python, tmp_path, monkeypatch):
    """What a changed torch is found to be, by some checks; the process that measures sees no card of this machine."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def measure(body, *only, limits=PATIENT, machine=None, full=False):
        for name, value in broken.build(tmp_path, body).items():
            monkeypatch.setenv(name, value)
        seen = observe(torch_python, [], full, limits, only=only, frameworks=("torch",), more=broken.UNHURRIED)
        return verified(seen, {"accelerators": machine or []}, Facts(), full, [])

    return measure


@pytest.fixture(scope="module")
def elsewhere(torch_python):
    """A torch to which a device in Python can be added."""
    code = "from torch.utils.backend_registration import _setup_privateuseone_for_python_backend"
    if subprocess.run([torch_python, "-W", "ignore", "-c", code], check=False, capture_output=True).returncode:
        pytest.skip("this torch has no door for backends in Python")


def check(answer, name, device="cpu"):
    return next(
        check_ for device_ in answer["devices"] for check_ in device_["checks"] if (check_["name"], check_["device"]) == (name, device)
    )


def test_an_unbroken_build_is_verified(measured):
    """The checks that a quick look cannot do without; all of them stand in test_wrong_operators.py, in a torch that is set up oddly."""
    names = (
        "small-tensors",
        "copy-host",
        "matmul-float32",
        "convolution",
        "attention",
        "reductions",
        "sorting",
        "indexing",
        "random",
        "training-step",
        "memory",
    )
    answer = measured("pass", *names)
    assert answer["verdict"] == "verified"
    (cpu,) = answer["devices"]
    assert (cpu["state"], {check_["passed"] for check_ in cpu["checks"] if "passed" in check_}) == ("verified", {True})
    assert {check_["name"] for check_ in cpu["checks"]} >= set(names)


def test_a_processor_without_vnni_is_not_accused(measured, monkeypatch):
    monkeypatch.setenv("DNNL_MAX_CPU_ISA", "AVX2")  # as oneDNN sees most processors of before 2022
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    answer = measured("pass", "integer-products", "casts", "integers")
    assert {check_["name"]: check_.get("passed") for check_ in answer["devices"][0]["checks"]} == dict.fromkeys(
        ("integer-products", "casts", "integers"), True
    )


def test_a_product_of_bytes_that_is_wrong_is_named_on_it_too(measured, monkeypatch):
    monkeypatch.setenv("DNNL_MAX_CPU_ISA", "AVX2")
    answer = measured("real = torch._int_mm; torch._int_mm = lambda *a: real(*a) + 1", "integer-products")
    assert not check(answer, "integer-products")["passed"]


def test_a_product_that_is_wrong_in_the_fourth_digit(measured):
    answer = measured(broken.FOURTH_DIGIT, "matmul-float32", "sorting")
    product = check(answer, "matmul-float32")
    assert answer["verdict"] == "failed"
    assert product["passed"] is False
    assert product["measured"]["error"] > 10 * product["expected"]["error"]
    assert check(answer, "sorting")["passed"] is True


def test_results_that_are_moved_to_the_cpu(measured, elsewhere):
    answer = measured(broken.TO_THE_CPU, "matmul-float32", "sorting")
    product = check(answer, "matmul-float32", "elsewhere:0")
    assert product["passed"] is False
    assert "product on cpu" in product["because"]
    assert check(answer, "sorting", "elsewhere:0")["passed"] is True
    assert check(answer, "matmul-float32")["passed"] is True


def test_a_check_that_hangs(measured):
    answer = measured(broken.HANGS, "sorting", limits=Limits(start=300, check=2))
    assert answer["verdict"] == "failed"
    assert check(answer, "sorting")["measured"]["ended_by"] == "hung"
    assert "hung" in check(answer, "sorting")["because"]


@pytest.mark.parametrize(("body", "name"), [(broken.CRASHES, "SIGSEGV"), (broken.KILLED, "SIGKILL")], ids=["crashes", "is killed"])
def test_a_check_that_kills_the_process(body, name, measured):
    answer = measured(body, "sorting", "indexing")
    assert check(answer, "sorting")["measured"]["ended_by"] == "signal"
    assert name in check(answer, "sorting")["because"]
    assert "passed" not in check(answer, "rest")


def test_after_a_crash_the_full_mode_tries_what_is_left(measured):
    answer = measured(broken.CRASHES, "sorting", "indexing", full=True)
    assert check(answer, "sorting")["passed"] is False
    assert check(answer, "indexing")["passed"] is True


def test_a_device_that_crashes_does_not_keep_the_next_from_being_judged(measured, elsewhere):
    answer = measured(broken.CRASHES_ELSEWHERE, "sorting", "indexing")
    assert check(answer, "sorting", "elsewhere:0")["passed"] is False
    assert check(answer, "sorting")["passed"] is check(answer, "indexing")["passed"] is True
    assert [device["state"] for device in answer["devices"]] == ["no", "verified"]


def test_memory_that_is_never_given_back(measured):
    answer = measured(broken.LEAKS, "memory")
    memory = check(answer, "memory")
    assert memory["passed"] is False
    assert memory["measured"]["grown"] > 0.4 * memory["measured"]["made"]  # the products; gradients are the other half
    assert "leaks" in memory["because"]


def test_more_memory_than_the_limit(measured):
    answer = measured(broken.GREEDY, "sorting", limits=PATIENT._replace(memory=2 << 30))
    assert check(answer, "sorting")["measured"]["ended_by"] == "memory"


def test_an_operator_that_falls_back_to_the_cpu_is_named(measured, elsewhere):
    answer = measured(broken.FALLS_BACK, "sorting")
    assert check(answer, "no-fallback", "elsewhere:0")["measured"] == {"operators": ["aten::sort"]}
    assert answer["verdict"] == "failed"
    assert not any(check_["name"] == "no-fallback" for check_ in answer["devices"][-1]["checks"])


def test_an_import_that_ends_the_process(measured):
    answer = measured(broken.CRASHES_AT_ONCE, "small-tensors")
    torch = next(framework for framework in answer["frameworks"] if framework["name"] == "torch")
    assert (answer["verdict"], torch["imported"]) == ("failed", False)
    assert "status 3" in torch["because"]
    assert torch["said"].startswith("ImportError")


def test_a_card_that_the_build_does_not_list(measured):
    answer = measured("pass", "sorting", machine=[GPU])
    (card, _cpu) = answer["devices"]
    assert [(check_["name"], check_["passed"]) for check_ in card["checks"]] == [("listed", False)]
    assert (card["state"], answer["verdict"]) == ("no", "failed")


def test_an_integrated_card_may_be_left_out(measured):
    answer = measured("pass", "sorting", machine=[{**GPU, "vendor": "intel", "integrated": True}])
    assert answer["devices"][0]["checks"] == []
    assert answer["verdict"] == "verified"


def test_a_device_that_is_not_there_is_told_with_those_that_are(torch_python, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(VerifyError, match=r"no device cuda:7 here.*: cpu"):
        verify(torch_python, devices=("cuda:7",), limits=PATIENT)


def test_what_the_framework_said_is_diagnosed(torch_python, tmp_path, monkeypatch):
    for name, value in {**broken.build(tmp_path, broken.NO_CODE), "CUDA_VISIBLE_DEVICES": ""}.items():
        monkeypatch.setenv(name, value)
    few_checks(monkeypatch, "sorting", "indexing", frameworks=("torch",))
    answer = as_data(verify(torch_python, limits=PATIENT))
    read(json.dumps(answer))
    sorting = check(answer, "sorting")
    assert (sorting["passed"], sorting["measured"]["type"]) == (False, "RuntimeError")
    assert "no kernel image" in sorting["because"]
    diagnosis = answer["diagnosis"]  # a cause needs a card that the code is not for, which this machine may not have
    assert "no-kernel-image" in diagnosis["unexplained"] or "no kernel image" in str(diagnosis["findings"])
    assert check(answer, "indexing")["passed"] is True


def test_a_small_network_learns_in_the_full_mode(measured):
    answer = measured("pass", "training", full=True)
    assert check(answer, "training")["measured"]["accuracy"] > 0.95
    assert answer["verdict"] == "verified"
