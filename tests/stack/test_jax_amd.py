"""JAX on AMD's cards: AMD's own builds, the plugin that takes the system's ROCm, and where neither is made."""

import msgspec
import pytest
from packaging.utils import canonicalize_name

from rigup.stack.choice import Choice
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.site import Site
from rigup.stack.system_state import SystemState
from rigup.stack.wish import Wish, read_wishes

_AMD = "MI300X, ubuntu 22.04, kernel 6.8.0-60-generic, python 3.12"


def _chosen(profile: str, *packages: str, state: SystemState | None = None, manager: str = "venv") -> Choice:
    site: Site = read_profile(profile)
    return choose(Wish(packages=read_wishes(packages, site), manager=manager), site.but(system_state=state or SystemState()))


def test_amd_s_builds_bring_rocm_along_with_the_code_of_the_card() -> None:
    found = _chosen(_AMD + ", no root", "jax")

    assert "rocm[libraries,device-gfx942]" in found.packages
    assert {"jax", "jaxlib", "jax-rocm7-plugin", "jax-rocm7-pjrt"} <= set(found.packages)
    assert found.packages["jax"] == found.packages["jaxlib"] == found.packages["jax-rocm7-plugin"].partition("+")[0]
    assert [told.how for _device, told in found.devices] == ["native"]
    assert found.changes == ()


def test_several_cards_ask_for_the_code_of_each() -> None:
    found = _chosen("RX 7900 XTX + RX 9070 XT, ubuntu 24.04, kernel 6.14.0-36-generic, python 3.12", "jax")

    name = next(name for name in found.packages if name.startswith("rocm["))
    assert set(name[5:-1].split(",")) == {"libraries", "device-gfx1100", "device-gfx1201"}


def test_the_newest_release_takes_the_system_s_rocm() -> None:
    found = _chosen(_AMD, "jax>=0.12")

    assert [change.change for change in found.changes] == ["rocm"]
    assert found.changes[0].root
    assert any("rocm7-local" in name for name in found.packages)


def test_a_rocm_of_the_same_major_release_serves_as_it_is() -> None:
    assert _chosen(_AMD, "jax>=0.12", state=SystemState(toolkits={"rocm": ("7.0.2",)})).changes == ()
    assert _chosen(_AMD, "jax>=0.12", state=SystemState(toolkits={"rocm": ("6.4.1",)})).changes != ()


def test_without_root_the_newest_release_stays_on_the_cpu() -> None:
    found = _chosen(_AMD + ", no root", "jax>=0.12")

    assert [told.how for _device, told in found.devices] == ["no"]
    assert any("root" in one.because for one in found.turned_down)


@pytest.mark.long
@pytest.mark.parametrize(
    "profile",
    [
        "RX 5700 XT, ubuntu 24.04, kernel 6.8.0-60-generic, python 3.12",
        "RX 7900 XTX, windows 11, python 3.12",
        "RX 7900 XTX, wsl, ubuntu 24.04, python 3.12",
    ],
)
def test_elsewhere_jax_runs_on_the_cpu(profile: str) -> None:
    found = _chosen(profile, "jax")

    assert not any(told.served for _device, told in found.devices)
    assert not any("rocm" in name for name in found.packages)


def test_an_nvidia_card_hears_nothing_of_rocm() -> None:
    found = _chosen("RTX 3090, driver 550.144.03, ubuntu 22.04, python 3.12", "jax")

    assert "rocm" not in msgspec.json.encode([found.packages, found.turned_down]).decode()


def test_an_image_is_amd_s_own() -> None:
    assert _chosen(_AMD, "jax", manager="docker").chosen[0].build.image.startswith("docker.io/rocm/jax:")
    assert _chosen(_AMD, "tensorflow", manager="docker").chosen[0].build.image.startswith("docker.io/rocm/tensorflow:")


def test_what_people_call_pytorch_is_torch() -> None:
    assert read_wishes(["pytorch==2.6"]) == ("torch==2.6",)
    assert [canonicalize_name(one) for one in read_wishes(["PyTorch"])] == ["torch"]
    assert read_wishes(["pytorch-lightning"]) == ("pytorch-lightning",)


def test_what_needs_a_gpu_says_so_where_there_is_none() -> None:
    found = _chosen("no gpu, ubuntu 24.04, python 3.12", "sglang")

    assert not found.chosen
    assert any("GPU" in one.because for one in found.turned_down)
