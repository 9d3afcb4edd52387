"""Builds of conda-forge: where they are taken, and where they are not."""

import pytest

from answer_data import plan_of as answer
from rigup.plan.render import rendered
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

OLD_AND_NEW = "Tesla K40m + RTX 3060, driver 470.256.02, ubuntu 20.04, python 3.10"


def chosen(profile, *wishes, **options):
    return choose(Wish(packages=read_wishes(wishes), **{"manager": "conda", **options}), read_profile(profile))


def commands(choice):
    return [argv for step in answer(choice)["steps"] for argv in step["commands"]]


def test_one_build_of_conda_forge_serves_cards_that_no_wheel_serves_together():
    choice = chosen(OLD_AND_NEW)
    assert all(told.served for _device, told in choice.devices)
    assert choice.packages == {"torch": "2.4.1"}
    assert "pytorch=2.4.1=cuda118*" in commands(choice)[1]


def test_wheels_alone_leave_a_card_out_and_name_conda_as_the_way():
    choice = chosen(OLD_AND_NEW, manager="venv")
    assert not all(told.served for _device, told in choice.devices)
    assert "--in conda" in choice.smallest_change


def test_an_old_c_library_is_no_hindrance():
    found = chosen("A100-PCIE-40GB, driver 535.104.05, centos 7, python 3.11")
    assert found.chosen[0].build.channel == "conda-forge"
    assert found.devices[0][1].served


def test_a_newer_wheel_goes_before_an_older_build_of_the_channel():
    assert not chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, python 3.12").chosen[0].build.conda


def test_of_one_release_the_channel_goes_first_and_brings_its_own_companions():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, python 3.12", "torch==2.6.0", "torchvision", "torchaudio")
    (install,) = [argv for argv in commands(choice) if "install" in argv]
    assert {"pytorch=2.6.0=cuda126*", "torchvision=0.21.0", "torchaudio=2.6.0"} <= set(install)


def test_a_companion_that_the_channel_does_not_build_takes_wheels():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, python 3.12", "torch==2.6.0", "torchcodec")
    assert not choice.chosen[0].build.conda


def test_what_is_compiled_for_wheels_does_not_stand_on_the_channels_torch():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, python 3.11", "torch==2.5.1", "xformers")
    assert not choice.chosen[0].build.conda


def test_another_python_than_the_machines_is_no_change_in_a_conda_environment():
    assert chosen("no gpu, macos 13.7, arch x86_64, python 3.8", "torch==2.6.0").changes == ()


@pytest.mark.parametrize(("driver", "told"), [("none", True), ("470.256.02", False)])
def test_the_solver_is_told_of_cuda_where_it_can_see_no_driver(driver, told):
    choice = chosen(OLD_AND_NEW.replace("470.256.02", driver), "torch==2.4.1")
    install = next(argv for argv in commands(choice) if "install" in argv and "conda" in argv)
    assert ("CONDA_OVERRIDE_CUDA=" in " ".join(install)) is told


def test_two_frameworks_of_the_channel_are_solved_in_one_call():
    choice = chosen("no gpu, macos 13.7, arch x86_64", "torch==2.6.0", "jax==0.6.2")
    installs = [argv for argv in commands(choice) if "install" in argv]
    assert len(installs) == 1
    assert {"pytorch=2.6.0=cpu*", "jax=0.6.2"} <= set(installs[0])


def test_the_environments_file_names_the_channels_packages_and_nothing_for_pip():
    lines = rendered(chosen(OLD_AND_NEW), "conda").splitlines()
    assert '  - "pytorch=2.4.1=cuda118*"' in lines
    assert "  - pip:" not in lines


def test_a_variant_of_the_wheels_that_is_named_is_no_build_of_the_channel():
    choice = chosen("RTX 3090, driver 535.230.02, ubuntu 22.04, python 3.12", "torch==2.6.0+cu126")
    assert choice.packages == {"torch": "2.6.0+cu126"}
