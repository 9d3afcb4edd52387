"""The answer and the proof, from what a probe would have said on machines of our own making."""

import json
from pathlib import Path

import pytest

from answer_data import verified, verify_of
from rigup.machine.facts import NOWHERE, Place, Reading
from rigup.machine.kinds import Platform, Torch, Variable
from rigup.machine.store import Facts
from rigup.verify import proof
from rigup.verify.observe import Death, Observed, Seen

BIG = {
    "index": 0,
    "vendor": "nvidia",
    "name": "NVIDIA GeForce RTX 3090",
    "isa": "sm_86",
    "pci_address": "0000:01:00.0",
    "uuid": "GPU-aa",
    "driver": {"name": "nvidia", "version": "560.35.03"},
    "state": "expected",
    "because": "x",
    "next": "y",
}
SMALL = {**BIG, "index": 1, "name": "NVIDIA GeForce GTX 1080 Ti", "isa": "sm_61", "pci_address": "0000:02:00.0", "uuid": "GPU-bb"}
LISTED = {"id": "cuda:0", "type": "cuda", "vendor": "nvidia", "pci_address": "0000:01:00.0", "properties": {"L2_cache_size": 6}}


def fact(kind, **fields):
    return kind(Place(), {name: Reading(value, NOWHERE) for name, value in fields.items()})


def torch(*events):
    """What was heard of a torch."""
    seen = Seen("torch")
    for event in ({"say": "ready", "version": "2.9.1+cu126", "seconds": 1.0}, *events):
        seen.hear(event)
    return seen


def checked(device, name, **fields):
    return [{"say": "begin", "device": device, "check": name}, {"say": "end", "measured": {"wrong": []}, **fields}]


def told(seen, machine, facts=None, wanted=()):
    observed = Observed("/home/ada/dl/bin/python", "3.12.3", "/home/ada/dl", {"torch": "2.9.1"}, [seen])
    return verified(observed, {"accelerators": machine}, facts or Facts(), False, list(wanted))


def keep(answer, facts):
    return proof.keep(verify_of(answer), facts)


@pytest.fixture
def good():
    return torch(
        {"say": "devices", "devices": [LISTED, {"id": "cpu"}]}, *checked("cuda:0", "sorting"), *checked("cpu", "sorting"), {"say": "done"}
    )


def test_checks_stand_at_the_machines_own_device(good):
    found = told(good, [BIG])
    card, cpu = found["devices"]
    assert (found["verdict"], card["state"], card["index"], card["isa"]) == ("verified", "verified", 0, "sm_86")
    assert [(check["framework"], check["device"], check["name"], check["passed"]) for check in card["checks"]] == [
        ("torch", "cuda:0", "sorting", True)
    ]
    assert card["properties"] == {"L2_cache_size": 6}
    assert "index" not in cpu


def test_a_device_that_nobody_else_has_seen_is_added_and_not_verified(good):
    found = told(good, [])
    card, _cpu = found["devices"]
    assert (card["index"], card["vendor"], card["state"]) == (0, "nvidia", "expected")
    assert "shows no such device" in card["because"]
    assert found["verdict"] == "nothing-to-verify"


def test_one_card_of_two_that_the_build_is_for_and_does_not_list(good):
    facts = Facts()
    facts.state(fact(Torch, env="/home/ada/dl", version="2.9.1+cu126", cuda="12.6"))
    found = told(good, [BIG, SMALL], facts)
    assert (found["verdict"], [device["state"] for device in found["devices"]]) == ("failed", ["verified", "no", "verified"])


def test_a_card_that_was_hidden_by_wish_fails_nothing(good):
    facts = Facts()
    facts.state(fact(Torch, env="/home/ada/dl", version="2.9.1+cu126", cuda="12.6"))
    facts.state(fact(Variable, name="CUDA_VISIBLE_DEVICES", value="0"))
    found = told(good, [BIG, SMALL], facts)
    assert found["verdict"] == "verified"
    assert "CUDA_VISIBLE_DEVICES" in found["devices"][1]["because"]


def test_a_card_that_was_not_asked_for_fails_nothing(good):
    assert told(good, [BIG, SMALL], wanted=("cuda:0", "cpu"))["verdict"] == "verified"


def test_a_framework_that_died_before_its_devices():
    seen = torch()
    seen.deaths.append(Death("", "", "signal", 11))
    seen.stderr = b"rigup: nothing\nterminate called after throwing\n"
    found = told(seen, [BIG])
    assert found["verdict"] == "failed"
    assert found["frameworks"][0]["said"] == "terminate called after throwing"
    assert "SIGSEGV" in found["frameworks"][0]["because"]
    assert found["devices"][0]["state"] == "expected"


def test_a_crash_at_the_very_end_is_on_record(good):
    good.status = -11
    assert told(good, [BIG])["frameworks"][0]["exit_status"] == -11


def test_an_environment_of_unjudged_checks_has_proven_nothing():
    seen = torch({"say": "devices", "devices": [{"id": "cpu"}]}, *checked("cpu", "matmul-float8", skipped="none here"), {"say": "done"})
    assert told(seen, [])["verdict"] == "nothing-to-verify"


def test_a_proof_holds_what_it_was_found_under(good):
    facts = Facts()
    facts.state(fact(Platform, system="linux", release="6.8.0-49-generic"))
    path = keep(told(good, [BIG]), facts)
    (kept,) = json.loads(Path(path).read_text())["devices"]
    assert kept == {
        "env": "/home/ada/dl",
        "framework": "torch",
        "build": "2.9.1+cu126",
        "kernel": "6.8.0-49-generic",
        "override": "",
        "checks": 1,
        "failed": "",
        "prefix": "/home/ada/dl",
        "packages": ["torch==2.9.1"],
        "name": "NVIDIA GeForce RTX 3090",
        "isa": "sm_86",
        "pci_address": "0000:01:00.0",
        "uuid": "GPU-aa",
        "driver": "560.35.03",
    }


def test_what_failed_is_kept_as_failed_in_the_place_of_an_older_proof(good):
    keep(told(good, [BIG]), Facts())
    good.hear({"say": "begin", "device": "cuda:0", "check": "random"})
    good.hear({"say": "end", "measured": {"statistics": {}}})
    (kept,) = json.loads(Path(keep(told(good, [BIG]), Facts())).read_text())["devices"]
    assert (kept["failed"], kept["checks"], kept["uuid"]) == ("random", 1, "GPU-aa")


def test_what_the_processor_computes_wrong_is_kept_as_the_environments(good):
    good.hear({"say": "begin", "device": "cpu", "check": "random"})
    good.hear({"say": "end", "measured": {"statistics": {}}})
    card, whole = json.loads(Path(keep(told(good, [BIG]), Facts())).read_text())["devices"]
    assert (card["failed"], card["uuid"]) == ("", "GPU-aa")
    assert (whole["failed"], whole["uuid"], whole["name"]) == ("random", "environment", "")


def test_what_was_not_covered_is_told(good):
    for event in checked("cpu", "matmul-float8", skipped="none here"):
        good.hear(event)
    for event in checked("cpu", "linalg", measured={"wrong": [], "left": ["eig bfloat16"]}):
        good.hear(event)
    left = {part["what"]: part["because"] for part in told(good, [BIG])["not_covered"]}
    assert left["matmul-float8"] == "none here"
    assert "eig bfloat16" in left["linalg"]
    assert "NCCL" in left["distributed"]
    assert "--full" in left["full"]
    assert "sorting" not in left


def test_a_package_beside_a_framework_that_fails_fails_the_environment_and_proves_nothing_of_a_card(good):
    other = Seen("torchvision")
    for event in (
        {"say": "ready", "version": "0.24.0", "seconds": 1.0},
        {"say": "devices", "devices": [LISTED, {"id": "cpu"}]},
        *checked("cuda:0", "torchvision-nms"),
        *checked("cpu", "torchvision-nms", measured={"wrong": ["nms"]}),
        {"say": "done"},
    ):
        other.hear(event)
    observed = Observed("/home/ada/dl/bin/python", "3.12.3", "/home/ada/dl", {"torch": "2.9.1"}, [good], [other])
    found = verified(observed, {"accelerators": [BIG]}, Facts(), False, [])
    assert (found["verdict"], [companion["name"] for companion in found["companions"]]) == ("failed", ["torchvision"])
    kept = json.loads(Path(keep(found, Facts())).read_text())["devices"]
    assert [(proof_["framework"], proof_["uuid"], proof_["failed"]) for proof_ in kept] == [
        ("torch", "GPU-aa", ""),
        ("torchvision", "environment", "torchvision-nms"),
    ]


def test_a_card_of_no_use_takes_nothing_from_the_other(good):
    other = {**LISTED, "id": "cuda:1", "pci_address": "0000:02:00.0"}
    good.hear({"say": "devices", "devices": [LISTED, other, {"id": "cpu"}]})
    for event in checked("cuda:1", "sorting", error={"type": "RuntimeError", "text": "no kernel image is available"}):
        good.hear(event)
    found = told(good, [BIG, SMALL])
    assert found["verdict"] == "failed"
    good_, bad = json.loads(Path(keep(found, Facts())).read_text())["devices"]
    assert (good_["pci_address"], good_["failed"]) == ("0000:01:00.0", "")
    assert (bad["pci_address"], bad["failed"]) == ("0000:02:00.0", "sorting")
