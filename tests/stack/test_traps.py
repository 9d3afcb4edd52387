"""Traps that a plan walks around: what the newest of everything would break."""

import pytest

from answer_data import plan_of as answer
from rigup.knowledge.rocm import driver_accepts
from rigup.plan.render import rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes


def chosen(profile, *wishes, **options):
    return choose(Wish(packages=read_wishes(wishes), **options), read_profile(profile))


def plan(profile, *wishes, **options):
    return answer(chosen(profile, *wishes, **options))


def commands(told):
    return [argv for step in told["steps"] for argv in step["commands"]]


# -- one kernel module at a time --------------------------------------------------------------------


def test_a_card_that_only_the_open_module_drives_leaves_out_those_that_it_does_not():
    found = plan("GTX 1080 Ti + RTX 5090, driver 580.95.05, ubuntu 24.04, python 3.12", manager="conda")
    assert [device["served"] for device in found["devices"]] == [False, True]


@pytest.mark.long
@pytest.mark.parametrize(
    ("profile", "served"),
    [
        # what is loaded drives one of the cards, and no step takes that away
        ("GTX 970 + NVIDIA B200, driver 580, ubuntu 22.04, open module", [False, True]),
        ("GTX 970 + NVIDIA B200, driver 580, ubuntu 22.04, proprietary module", [True, False]),
        ("Tesla K80 + NVIDIA B200, driver 470, ubuntu 22.04", [True, False]),
        ("Tesla K80 + NVIDIA B200, driver none, ubuntu 22.04", [False, True]),
    ],
)
def test_the_kernel_module_that_drives_a_card_stays(profile, served):
    found = plan(profile + ", python 3.12")
    assert [device["served"] for device in found["devices"]] == served
    kinds = {step["kind"] for step in found["steps"]}
    assert ("install-driver-packages" in kinds) is ("none" in profile)


def test_cards_of_one_module_are_served_together():
    found = plan("GTX 1080 Ti + RTX 3090, driver 580.95.05, ubuntu 24.04, python 3.12")
    assert all(device["served"] for device in found["devices"])


# -- cuDNN ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "wish", "pinned"),
    [
        ("Tesla V100-SXM2-16GB, driver 535.161.08, ubuntu 22.04", "jax", True),
        ("GTX 1080, driver 550.144.03, ubuntu 22.04", "tensorflow", True),
        ("GTX 1080, driver 550.144.03, ubuntu 22.04", "tensorflow==2.18.0", False),  # it names one itself
        ("Tesla T4, driver 535.161.08, ubuntu 22.04", "jax", False),
        ("GTX 1080 + Tesla T4, driver 550.144.03, ubuntu 22.04", "onnxruntime", True),
    ],
)
def test_a_chip_that_the_newest_cudnn_has_left_gets_the_last_one_that_has_not(profile, wish, pinned):
    found = plan(profile + ", python 3.12", wish)
    assert ("nvidia-cudnn-cu12" in found["packages"]) is pinned
    assert any("nvidia-cudnn-cu12==" in word for argv in commands(found) for word in argv) is pinned


def test_a_release_that_brings_no_cuda_says_where_it_looks_for_it():
    found = plan("RTX 3070, driver 470.256.02, ubuntu 20.04, python 3.10", "onnxruntime-gpu==1.18.1")
    assert any("CUDA 11.8" in line for line in found["warnings"])


# -- what is compiled where it is installed ---------------------------------------------------------

CARD = "RTX 4090, driver 580.95.05, ubuntu 24.04, python 3.12"


def test_a_torch_that_a_ready_wheel_stands_on_goes_before_a_compiler():
    found = plan(CARD, "flash-attn")
    assert found["system"] == []
    assert found["packages"]["flash-attn"] == "2.8.3"


def test_a_torch_that_is_asked_for_brings_its_toolkit_where_no_wheel_is_ready():
    found = plan(CARD, "flash-attn", "torch==2.14.1")
    cuda = chosen(CARD, "flash-attn", "torch==2.14.1").chosen[0].build.cuda
    assert [(change["change"], change["to"]) for change in found["system"]] == [("toolkit", "CUDA " + cuda)]


def test_a_toolkit_of_the_same_major_release_is_enough():
    assert plan(CARD + ", cuda 13.1", "flash-attn", "torch==2.14.1")["system"] == []


def test_without_root_the_toolkit_comes_by_conda():
    profile = CARD + ", no root"
    assert not any(device["served"] for device in plan(profile, "flash-attn", "torch==2.14.1")["devices"])
    found = plan(profile, "flash-attn", "torch==2.14.1", manager="conda")
    assert found["devices"][0]["served"]
    assert not any(step["root"] for step in found["steps"])


def test_a_build_with_torch_in_sight_comes_last_and_after_its_tools():
    words = [" ".join(argv) for argv in commands(plan(CARD, "flash-attn", "numpy"))]
    assert words[-1].endswith("--no-build-isolation")
    assert "ninja" in words[-2]
    assert "numpy" in words[-2]
    assert 'no-build-isolation-package = ["flash-attn"]' in rendered(chosen(CARD, "flash-attn"), "pyproject")


# -- kernels and drivers ----------------------------------------------------------------------------


def test_a_kernel_that_a_release_does_not_offer_is_not_promised():
    old, new = (plan(f"Arc B580, ubuntu {release}, kernel 5.15.0-60-generic, python 3.12") for release in ("22.04", "24.04"))
    assert not next(step for step in old["steps"] if step["kind"] == "install-kernel")["commands"]
    assert next(step for step in new["steps"] if step["kind"] == "install-kernel")["commands"]


def test_amds_own_driver_stands_in_for_a_kernel_that_is_not_offered():
    found = plan("RX 9070 XT, ubuntu 22.04, kernel 6.8.0-60-generic, python 3.10")
    assert [change["change"] for change in found["system"]] == ["amdgpu"]


@pytest.mark.parametrize(("isa", "accepted"), [("gfx90a", True), ("gfx1100", False), ("", True)])
def test_some_drivers_are_accepted_for_some_targets_alone(isa, accepted):
    assert driver_accepts("6.2", "7.1", isa) is accepted


def test_a_package_that_fails_on_a_chip_is_not_planned_for_it():
    for version, served in (("1.23.0", False), ("1.22.0", True)):
        found = plan("RTX 5090, driver 581.42, windows 11, python 3.12", f"onnxruntime-gpu=={version}")
        assert found["devices"][0]["served"] is served


# -- builds of a night, and Windows on ARM ----------------------------------------------------------


def test_a_night_that_is_named_comes_from_the_nightly_index_and_is_on_trial():
    found = plan(CARD, "torch==2.16.0.dev20261115")
    assert found["devices"][0]["state"] == "on-trial"
    assert "/whl/nightly/" in found["indexes"][0]


def test_windows_on_arm_has_builds_for_the_cpu_and_for_some_pythons():
    assert plan("no gpu, windows 11, arch arm64, python 3.12")["packages"]["torch"].endswith("+cpu")
    assert plan("no gpu, windows 11, arch arm64", python="3.14")["verdict"] == "impossible"


def test_a_mac_with_a_card_of_amd_is_an_intel_mac():
    assert plan("Radeon Pro 5500M, macos 13.6, python 3.11")["packages"]["torch"] == "2.2.2"


# -- vLLM's own wheels for ROCm ---------------------------------------------------------------------


def test_vllm_for_rocm_comes_from_its_own_index_with_the_python_that_it_has():
    found = plan("8x MI300X, ubuntu 22.04, kernel 6.8.0-60-generic, python 3.10", "vllm")
    assert found["environment"]["python"] == "3.12"
    assert any("wheels.vllm.ai/rocm" in url for url in found["indexes"])


def test_a_torch_that_is_named_is_none_of_those_that_come_with_vllms_wheels():
    assert plan("8x MI300X, ubuntu 22.04, python 3.12", "vllm", "torch==2.9.1")["verdict"] == "impossible"


@pytest.mark.parametrize("wish", ["vllm", "jax"])
def test_wheels_for_servers_on_arm_are_not_planned_for_a_jetson(wish):
    assert not any(device["served"] for device in plan("Jetson AGX Orin 64GB, jetpack 6.1", wish)["devices"])
