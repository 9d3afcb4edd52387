"""Vendors' images: taken where one holds the build, and for what no wheel can do."""

import pytest

from answer_data import plan_of as answer
from rigup.plan.render import rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes


def chosen(profile, *wishes, **options):
    return choose(Wish(packages=read_wishes(wishes), **{"manager": "docker", **options}), read_profile(profile))


def image(choice):
    return answer(choice)["environment"]["image"]


def test_the_image_that_holds_the_chosen_build_is_built_upon():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, python 3.12")
    version = choice.chosen[0].build.version
    assert image(choice) == f"docker.io/pytorch/pytorch:{version}-cuda12.6-cudnn9-runtime"
    assert "pip" not in rendered(choice, "dockerfile").replace("PIP_", "")


def test_what_the_image_lacks_is_installed_from_the_same_index():
    recipe = rendered(chosen("RTX 3090, driver 535.230.02, ubuntu 22.04", "torch==2.12.1", "torchaudio", "numpy"), "dockerfile")
    assert '"torchaudio==' in recipe
    assert "/whl/cu126" in recipe
    assert '"torch==' not in recipe
    assert '"numpy"' in recipe


def test_another_python_than_the_images_takes_the_plain_base():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04", "torch==2.12.1", python="3.13")
    assert image(choice) == "docker.io/library/python:3.13-slim"


def test_the_machines_c_library_and_python_do_not_reach_into_an_image():
    choice = chosen("RTX 3090, driver 535.230.02, alpine 3.20, python 3.8")
    assert choice.devices[0][1].served
    assert choice.changes == ()


@pytest.mark.parametrize(
    ("profile", "wish", "name"),
    [
        ("RTX 5080, driver 580.95.05, ubuntu 24.04", "tensorflow", "nvcr.io/nvidia/tensorflow:"),
        ("MI300X, rhel 9.4", "vllm", "docker.io/vllm/vllm-openai-rocm:v"),
        ("H100 PCIe, driver 535.230.02, ubuntu 20.04", "vllm", "docker.io/vllm/vllm-openai:v"),
        ("RTX 3060, driver 470.256.02, ubuntu 20.04", "tensorflow==2.13.0", "docker.io/tensorflow/tensorflow:2.13.0-gpu"),
        ("RX 9070 XT, ubuntu 24.04, kernel 6.14.0-1", "torch==2.11.0", "docker.io/rocm/pytorch:"),
        ("Jetson Orin NX, jetpack 6.1", "torch", "nvcr.io/nvidia/l4t-jetpack:"),
    ],
)
def test_images_serve_what_wheels_alone_do_not(profile, wish, name):
    choice = chosen(profile, wish)
    assert image(choice).startswith(name)
    assert choice.devices[0][1].served


def test_two_frameworks_have_no_image_in_common():
    assert "/python:" in image(chosen("RTX 3090, driver 550.144.03, ubuntu 22.04", "torch", "tensorflow"))


def test_an_image_asks_of_the_driver_what_its_cuda_asks():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, no root", "vllm")
    assert choice.chosen[0].build.cuda.startswith("12.")
    assert any("580" in line.because for line in choice.turned_down)


def test_levels_of_intels_driver_are_put_into_the_image():
    assert "libze-intel-gpu1" in rendered(chosen("Arc B580, ubuntu 24.04, kernel 6.14.0-1"), "dockerfile")


def test_a_vendors_image_starts_python_and_not_its_own_program():
    recipe = rendered(chosen("MI300X, rhel 9.4", "vllm"), "dockerfile")
    assert recipe.splitlines()[-2:] == ["ENTRYPOINT []", 'CMD ["python3"]']


def test_a_build_without_cuda_is_not_put_into_an_image_that_has_none():
    choice = chosen("RTX 3060, driver 470.256.02, ubuntu 20.04", "tensorflow==2.13.1")
    assert choice.chosen[0].build.kind == "cpu"
    assert any("CUDA 11.8" in line.because for line in choice.turned_down)
