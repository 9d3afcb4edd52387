"""What is chosen for machines told in words, and why nothing else."""

import pytest

from answer_data import plan_of as answer
from rigup.stack.choose import choose
from rigup.stack.profile import ProfileError, read_profile
from rigup.stack.wish import Wish, WishError, read_wishes


def plan(profile, *wishes, **options):
    return answer(choose(Wish(packages=read_wishes(wishes), **options), read_profile(profile)))


def test_an_older_release_is_taken_before_a_new_driver():
    found = plan("RTX 2060, driver 550.163.01, debian 13, python 3.13")
    assert found["packages"]["torch"].endswith("+cu126")
    assert found["system"] == []
    assert any("580" in line["because"] for line in found["turned_down"])


def test_the_newest_is_taken_where_that_is_asked_for_whatever_must_change():
    found = plan("RTX 3090, driver 470.256.02, ubuntu 20.04, python 3.11", prefer="newest")
    assert [change["change"] for change in found["system"]] == ["nvidia-driver"]


def test_one_build_serves_two_generations_where_there_is_one():
    found = plan("TITAN Xp + RTX 3080, driver 580.95.05, ubuntu 22.04, python 3.12")
    assert [device["served"] for device in found["devices"]] == [True, True]


def test_a_card_that_no_build_serves_beside_another_gets_an_environment_of_its_own():
    found = plan("GTX 1080 + RTX 5090, driver 580.119.02, windows 11, python 3.12")
    assert sorted(device["served"] for device in found["devices"]) == [False, True]
    assert len(found["others"]) == 1
    assert found["others"][0]["devices"][0]["served"]


def test_code_that_a_driver_translates_does_not_serve_a_chip_whose_libraries_are_older_than_it():
    found = plan("RTX 5090, driver 580.119.02, ubuntu 22.04, python 3.9", "torch==1.13.1")
    assert not found["devices"][0]["served"]


def test_an_unlisted_card_works_by_the_override_of_its_sibling():
    found = plan("Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1")
    assert found["variables"] == {"HSA_OVERRIDE_GFX_VERSION": "10.3.0"}
    assert found["devices"][0]["state"] == "on-trial"


def test_an_override_of_one_card_among_several_is_set_for_its_node_alone():
    found = plan("RX 6700 XT + RX 7900 XTX, ubuntu 24.04, python 3.12", "torch==2.7.1")
    assert found["variables"] == {"HSA_OVERRIDE_GFX_VERSION_1": "10.3.0"}


def test_an_integrated_gpu_without_code_is_hidden_beside_a_card():
    found = plan("RX 7900 XTX + Radeon 680M, ubuntu 24.04, python 3.12", "torch==2.7.1")
    assert found["variables"] == {"ROCR_VISIBLE_DEVICES": "0"}


def test_a_cpu_build_on_a_gpu_machine_says_so_and_what_would_help():
    found = plan("RTX 5060, driver 580.119.02, ubuntu 24.04, python 3.12", "torch==2.4.1")
    assert found["packages"]["torch"] == "2.4.1+cpu"
    assert not found["devices"][0]["served"]
    assert "2.7.0" in found["smallest_change"]


def test_an_administrator_is_named_where_only_root_helps():
    found = plan("RTX 4070 Ti, driver none, ubuntu 24.04, python 3.12, no root")
    assert not any(step["root"] for step in found["steps"])
    assert "580" in found["smallest_change"]


def test_the_person_asked_for_a_python_without_wheels_and_hears_the_nearest_one():
    found = plan("no gpu, windows 11", "torch==2.3.1", python="3.13")
    assert found["verdict"] == "impossible"
    assert "3.12" in found["smallest_change"]


def test_without_a_network_what_needs_one_is_blocked():
    found = plan("RTX 3060, driver 580.95.05, ubuntu 24.04, python 3.12, no network")
    assert {step["state"] for step in found["steps"] if step["network"]} == {"blocked"}


@pytest.mark.parametrize("words", ["a very nice machine", "RTX 3090, colour blue", "2x nothing"])
def test_a_word_that_means_nothing_is_named(words):
    with pytest.raises(ProfileError, match="neither a GPU"):
        read_profile(words)


@pytest.mark.parametrize("words", ["torch==", "torch; rm -rf /", "$(id)", "torch @ https://mirror.example/x.whl", "-e ."])
def test_a_wish_that_is_no_package_is_refused(words):
    with pytest.raises(WishError):
        read_wishes([words])


def test_a_build_of_the_modules_own_index_serves_a_jetson():
    found = plan("Jetson AGX Orin, jetpack 6.2", "torch", "torchvision")
    assert found["indexes"] == ["https://pypi.jetson-ai-lab.io/jp6/cu126"]
    assert found["devices"][0]["served"]


def test_a_jetson_whose_release_nobody_told_is_not_promised_anything():
    found = plan("Jetson AGX Orin, jetpack 1")
    assert not found["devices"][0]["served"]


def test_inside_wsl_only_chips_that_rocm_drives_there_get_it():
    assert "+rocm" in plan("RX 7900 XTX, wsl, ubuntu 24.04, python 3.12")["packages"]["torch"]
    assert "torch-directml" in plan("RX 6600, wsl, ubuntu 22.04, python 3.10")["packages"]


def test_targets_that_are_built_and_not_tested_are_on_trial():
    assert plan("RX 9070 XT, windows 11, python 3.12")["devices"][0]["state"] == "on-trial"
    assert plan("RX 7900 XTX, windows 11, python 3.12")["devices"][0]["state"] == "expected"


def test_a_windows_driver_belongs_to_the_branch_below_its_number():
    assert plan("GTX 1080 Ti, driver 582.28, windows 11, python 3.12")["system"] == []
    assert plan("GTX 1080 Ti, driver 591.44, windows 11, python 3.12")["system"][0]["to"] == "580"


def test_a_card_that_the_loaded_driver_left_behind_is_served_once_it_is_changed():
    found = plan("GTX 1080 Ti + RTX 3090, driver 595.58.03, ubuntu 24.04, python 3.12")
    assert found["system"][0]["to"] == "580"
    assert all(device["served"] for device in found["devices"])


def test_too_little_room_is_said_with_its_sizes_and_more_room_is_what_helps():
    found = plan("RTX 3090, driver 580.95.05, ubuntu 22.04, python 3.12, disk 3GB")
    assert not found["devices"][0]["served"]
    assert any("GB of room" in line["because"] for line in found["turned_down"])
    assert "3.0 GB are free" in found["smallest_change"]


def test_a_kernel_older_than_its_gpu_is_changed_and_not_where_the_makers_driver_was_added():
    assert [c["change"] for c in plan("RX 9070 XT, ubuntu 24.04, kernel 6.8.0-60-generic")["system"]] == ["kernel"]
    assert plan("RX 9070 XT, ubuntu 24.04, kernel 6.8.0-60-generic, rocm 7.1")["system"] == []


def test_a_translation_is_known_and_never_planned():
    found = plan("RX 6800, ubuntu 24.04, python 3.12", "sglang")
    assert found["verdict"] == "impossible"
    assert "ZLUDA" in [line["candidate"] for line in found["turned_down"]]
    assert not any(line["candidate"] == "ZLUDA" for line in plan("RTX 3090, ubuntu 24.04", "sglang")["turned_down"])


def test_frameworks_share_a_python_that_all_of_them_have():
    found = plan("no gpu, fedora 43", "torch", "tensorflow")  # its own 3.14 has no TensorFlow
    assert found["environment"]["python"] == "3.13"


def test_a_mirror_that_nobody_knows_is_refused_with_those_that_are_known():
    with pytest.raises(WishError, match=r"Known are: \S+"):
        plan("RTX 3090, driver 580.95.05, ubuntu 24.04", mirror="elsewhere")


def test_what_stands_on_torch_comes_in_the_release_that_belongs_to_it():
    found = plan("RTX 3090, driver 550.163.01, ubuntu 22.04, python 3.11", "torch==2.5.1", "xformers")
    assert found["packages"]["xformers"] == "0.0.29.post1"
    assert "xformers==0.0.29.post1" in found["requirements"]


def test_an_older_release_beside_torch_serves_an_older_chip():
    assert plan("GTX 970, driver 535.230.02, ubuntu 22.04, python 3.11", "bitsandbytes")["packages"]["bitsandbytes"] == "0.47.0"


def test_reasons_read_well_for_one_build_and_for_many():
    lines = plan("GTX 1080 Ti, driver 580.95.05, ubuntu 22.04, python 3.12")["turned_down"]
    assert lines[0]["because"] == "Each of these was compiled for sm_75 and newer chips; this is sm_61."
    assert lines[0]["candidate"].startswith("torch 2.")


def test_markers_are_asked_of_the_machine_that_the_plan_is_for():
    words = ("torch==2.6.0; sys_platform == 'win32'", "torch==2.7.1; sys_platform == 'linux'", "jax; python_version < '3.8'")
    assert read_wishes(words, read_profile("windows 11, python 3.12")) == ("torch==2.6.0",)
    assert read_wishes(words, read_profile("ubuntu 22.04, python 3.12")) == ("torch==2.7.1",)
    with pytest.raises(WishError, match="another system"):
        read_wishes(words[2:], read_profile("ubuntu 22.04, python 3.12"))


def test_where_only_an_image_reaches_a_gpu_that_is_told():
    assert any("vllm-openai-xpu" in line for line in plan("Arc B580, ubuntu 24.04, python 3.12", "vllm")["warnings"])
    assert not any("xpu" in line for line in plan("RTX 3090, driver 580.95.05, ubuntu 24.04", "vllm")["warnings"])


def test_a_name_that_went_out_of_use_is_told_with_what_took_its_place():
    found = plan("MI300X, ubuntu 24.04, python 3.12", "onnxruntime-rocm")
    assert [line["because"] for line in found["turned_down"] if "onnxruntime-migraphx" in line["because"]]


def test_a_framework_without_any_build_for_the_system_says_so():
    found = plan("Apple M2, macos 15.5", "cupy")
    assert any("macOS" in line["because"] for line in found["turned_down"])


def test_a_build_for_the_cpu_is_not_weighed_by_another_s():
    found = plan("no gpu, ubuntu 24.04, python 3.12", "vllm")
    assert found["cost"]["not_counted"]
    assert plan("RTX 3090, driver 580.95.05, ubuntu 24.04, python 3.12", "vllm")["cost"]["download_bytes"] > 10**9


def test_where_two_pins_of_torchs_family_contradict_the_torch_that_was_named_stays():
    told = plan("no gpu, debian 12, python 3.11", "torch==2.13.0", "torchvision==0.20")["smallest_change"]
    assert "torchvision" in told
    assert "torch 2.13.0" in told
    assert "2.14" not in told
