"""A newer CUDA above an older driver: only where NVIDIA says so, and only where the driver cannot be renewed."""

import pytest

from answer_data import plan_of as answer
from rigup.knowledge.forward import forward_package
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

CLUSTER = "H100 PCIe, driver 535.230.02, ubuntu 22.04, python 3.12, no root"


def chosen(profile, *wishes, **options):
    return choose(Wish(packages=read_wishes(wishes), **{"manager": "conda", **options}), read_profile(profile))


def test_without_root_a_data_centre_card_gets_cudas_user_space_from_the_channel():
    choice = chosen(CLUSTER, "torch==2.15.0")
    plan = answer(choice)
    assert [(change["change"], change["to"]) for change in plan["system"]] == [("toolkit", "cuda-compat 13.0")]
    assert plan["devices"][0]["served"]
    assert not any(step["root"] for step in plan["steps"])
    assert any("LD_LIBRARY_PATH" in word for step in plan["steps"] for argv in step["commands"] for word in argv)


@pytest.mark.parametrize(
    "profile",
    [
        CLUSTER.replace("H100 PCIe", "RTX 4090"),  # NVIDIA leaves the cards of gamers out
        CLUSTER.replace("H100 PCIe", "H100 PCIe + RTX 4090"),
        CLUSTER.replace("535.230.02", "545.29.06"),  # no branch that the package is made for
        CLUSTER.replace("H100 PCIe", "B200"),  # the kernel driver itself does not know the card
    ],
)
def test_it_is_not_planned_elsewhere(profile):
    assert not any(told.served for _device, told in chosen(profile, "torch==2.15.0").devices)


def test_where_the_driver_can_be_renewed_it_is():
    choice = chosen(CLUSTER.replace(", no root", ""), "torch==2.15.0")
    assert [change.change for change in choice.changes] == ["nvidia-driver"]


@pytest.mark.parametrize(("cuda", "driver", "package"), [("13.2", "550.127.05", "13.0"), ("13.0", "470.1", ""), ("11.8", "535.1", "")])
def test_branches_are_those_that_nvidia_names(cuda, driver, package):
    assert forward_package(cuda, driver) == package
