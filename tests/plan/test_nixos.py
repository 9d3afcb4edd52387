"""NixOS: what lets programs that were made elsewhere start, and find the driver's libraries."""

import pytest

from answer_data import plan_of as answer
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish

_LIBRARIES = "/run/opengl-driver/lib"


def plan(profile, variables=None, **options):
    site = read_profile(profile).but(variables=variables or {})
    return answer(choose(Wish(**options), site))


def loader_steps(found):
    return [step for step in found["steps"] if "nix-ld" in str(step["params"])]


def test_the_loader_comes_as_a_line_of_the_configuration_and_the_driver_by_a_variable():
    found = plan("RTX 3060, driver 580.95.05, nixos, python 3.12")
    (step,) = loader_steps(found)
    assert (step["where"], step["root"], step["restart"]) == ("by-hand", True, False)
    assert found["variables"] == {"LD_LIBRARY_PATH": _LIBRARIES}


def test_a_loader_that_is_there_is_not_asked_for_and_folders_that_were_told_stay():
    found = plan("RTX 3060, driver 580.95.05, nixos, python 3.12", {"NIX_LD": "/x", "LD_LIBRARY_PATH": "/opt/own"})
    assert loader_steps(found) == []
    assert found["variables"] == {"LD_LIBRARY_PATH": f"{_LIBRARIES}:/opt/own"}


@pytest.mark.parametrize(
    ("profile", "options"),
    [
        ("RTX 3060, driver 580.95.05, ubuntu 24.04, python 3.12", {}),
        ("RTX 3060, driver 580.95.05, nixos, python 3.12", {"manager": "docker"}),
    ],
)
def test_other_systems_and_images_need_neither(profile, options):
    found = plan(profile, **options)
    assert loader_steps(found) == []
    assert "LD_LIBRARY_PATH" not in found["variables"]


def test_without_a_card_of_nvidia_s_no_variable_is_set():
    assert plan("no gpu, nixos, python 3.12")["variables"] == {}
