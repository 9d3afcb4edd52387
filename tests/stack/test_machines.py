"""Machines of many makers and ages, told in words: what they get, what they are told, and what they are asked."""

import pytest

from answer_data import plan_of as answer
from rigup.stack.choose import choose
from rigup.stack.profile import ProfileError, read_profile
from rigup.stack.wish import Wish, read_wishes


def plan(profile, *wishes, **options):
    return answer(choose(Wish(packages=read_wishes(wishes or ("torch",)), **options), read_profile(profile)))


def commands(found):
    return "\n".join(" ".join(argv) for step in found["steps"] for argv in step["commands"])


def kinds(found):
    return [step["kind"] for step in found["steps"]]


def served(found):
    return [device["served"] for device in found["devices"]]


# -- the Python of an environment ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "python"),
    [
        ("ubuntu 22.04", "3.10"),
        ("ubuntu 24.04", "3.12"),
        ("debian 12", "3.11"),
        ("debian 13", "3.13"),
        ("fedora 43", "3.14"),
        ("rhel 10", "3.12"),
    ],
)
def test_the_distributions_own_python_is_taken_where_a_wheel_exists_for_it(system, python):
    found = plan("RTX 3090, driver 580.95.05, " + system)
    assert found["environment"]["python"] == python
    assert f"python{python} -m venv .venv" in commands(found)
    assert "uv" not in commands(found)


def test_debians_family_gets_what_makes_environments_first():
    told = commands(plan("no gpu, ubuntu 22.04"))
    assert told.index("apt-get install -y python3.10-venv") < told.index("python3.10 -m venv")
    assert "venv python" not in commands(plan("no gpu, fedora 43"))
    assert "apt-get" not in commands(plan("no gpu, ubuntu 22.04, python 3.10"))
    without_root = plan("no gpu, ubuntu 22.04, no root")
    assert not any(step["root"] for step in without_root["steps"])


@pytest.mark.parametrize("system", ["debian 11", "ubuntu 20.04", "rhel 9", "amazon linux 2023"])
def test_a_python_that_is_left_behind_is_not_what_holds_torch_back(system):
    found = plan("no gpu, " + system)
    assert found["packages"]["torch"].startswith("2.1")
    assert kinds(found)[-3:] == ["get-uv", "make-environment-with-uv", "install-into-environment"]


def test_one_that_a_person_told_of_is_kept():
    assert plan("no gpu, debian 11, python 3.9")["environment"]["python"] == "3.9"


def test_a_python_too_old_for_uv_gets_the_distributions_package_or_uvs_installer():
    with_root = plan("no gpu, rocky 8")
    assert "dnf install -y python3.12" in commands(with_root)
    assert with_root["environment"]["python"] == "3.12"
    without = plan("no gpu, rocky 8, no root")
    assert "get-uv-alone" in kinds(without)
    assert not any(step["root"] for step in without["steps"])


@pytest.mark.parametrize("system", ["windows 11", "macos 15.1", "arch", "opensuse tumbleweed"])
def test_where_no_python_is_known_a_step_brings_one(system):
    found = plan("no gpu, " + system)
    assert {"get-uv", "get-uv-alone"} & set(kinds(found))
    assert "make-environment-with-uv" in kinds(found)


def test_conda_is_not_bound_to_the_systems_python():
    assert plan("no gpu, rocky 8", manager="conda")["environment"]["python"] != "3.6"


# -- Intel --------------------------------------------------------------------------------------------


def test_intels_gpus_get_level_zero_before_the_wheels():
    told = commands(plan("Arc A770, ubuntu 24.04"))
    assert told.index("libze-intel-gpu1") < told.index("torch==")
    assert "kobuk-team" in told
    assert "kobuk-team" not in commands(plan("Arc B580, ubuntu 26.04"))
    assert "level-zero-loader intel-compute-runtime" in commands(plan("Arc B580, arch"))
    assert "get-intel-compute" in kinds(plan("Arc B580, debian 13"))
    assert "renew-intel-driver" in kinds(plan("Arc B580, windows 11"))


@pytest.mark.parametrize(
    "profile", ["RTX 3090, ubuntu 24.04", "RX 7900 XTX, ubuntu 24.04", "UHD 630, ubuntu 24.04", "Arc A770, ubuntu 24.04, no root"]
)
def test_nobody_else_gets_level_zero(profile):
    assert "libze" not in commands(plan(profile))


def test_a_release_whose_kernels_are_all_too_old_is_told_of():
    found = plan("Arc B580, ubuntu 22.04")
    assert [change["change"] for change in found["system"]] == ["os"]
    assert plan("Arc A770, ubuntu 22.04")["system"] == []
    assert plan("Arc B580, ubuntu 24.04")["system"] == []


# -- Macs, Snapdragons, Jetsons -------------------------------------------------------------------------


def test_an_intel_macs_radeon_has_mps():
    found = plan("Radeon Pro 5500M, macos 14.4, arch x86_64, python 3.11")
    assert (served(found), found["packages"]["torch"]) == ([True], "2.2.2")
    assert served(plan("UHD 630 + Radeon Pro 560X, macos 12.7, arch x86_64, python 3.11")) == [False, True]
    assert served(plan("Radeon Pro 580, macos 11.7, arch x86_64, python 3.9")) == [False]
    assert served(plan("UHD 630, macos 13, arch x86_64, python 3.11")) == [False]


@pytest.mark.parametrize(
    "words",
    [
        "windows 11, arch aarch64",
        "windows 11, arch arm64",
        "Snapdragon X Elite",
        "windows 11, Adreno X1-85",
        "qualcomm snapdragon 8cx gen 3",
    ],
)
def test_windows_on_arm_gets_its_own_wheels(words):
    site = read_profile(words)
    assert (site.system, site.machine) == ("windows", "arm64")
    found = plan(words + ", python 3.12")
    assert found["packages"]["torch"].endswith("+cpu")
    assert found["indexes"] == ["https://download.pytorch.org/whl/cpu"]


def test_one_architecture_is_named_as_its_system_names_it():
    assert read_profile("ubuntu 24.04, arch arm64").machine == "aarch64"
    assert read_profile("macos 15, arch aarch64").machine == "arm64"


@pytest.mark.parametrize(
    ("words", "python", "torch"),
    [
        ("Jetson Nano", "3.6", "1.11.0a0"),
        ("Jetson TX2, jetpack 4.6.1", "3.6", "1.11.0a0"),
        ("Jetson Xavier NX, jetpack 5.1.2", "3.8", "2.1.0a0"),
        ("Jetson Orin Nano, jetpack 6.2", "3.10", "2.8.0"),
        ("Jetson AGX Thor", "3.12", "2."),
    ],
)
def test_each_jetpack_gets_the_wheels_that_are_made_for_it(words, python, torch):
    found = plan(words)
    assert served(found) == [True]
    assert found["environment"]["python"] == python
    assert found["packages"]["torch"].startswith(torch)
    assert f"apt-get install -y python{python}-venv" in commands(found)


def test_a_file_that_no_version_names_is_asked_for_by_its_address():
    assert "pip install https://developer.download.nvidia.com/compute/redist/jp/v461/" in commands(plan("Jetson Nano"))


# -- ROCm of the system -----------------------------------------------------------------------------------


def test_a_rocm_of_the_system_is_a_driver_and_a_toolkit():
    site = read_profile("RX 7900 XTX, rocm 6.4, ubuntu 24.04")
    assert (site.amd_driver, site.system_state.toolkits) == ("6.4", {"rocm": ("6.4",)})
    assert read_profile("RX 7900 XTX, rocm none, ubuntu 24.04").system_state.toolkits == {}


def test_an_old_rocm_holds_the_wheels_of_newer_ones_back():
    old = plan("MI250X, rocm 5.4, rhel 9, no root")["packages"]["torch"].partition("+rocm")[2]
    new = plan("MI250X, rocm 6.4, rhel 9, no root")["packages"]["torch"].partition("+rocm")[2]
    assert float(old) < 6.0 < float(new)


# -- cards of one machine ----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "cards",
    ["RTX 5090 + GTX 1080 Ti", "RTX PRO 6000 Blackwell + Quadro M4000", "RTX 5070 + Tesla K80", "RTX 4090 + GTX 680", "H100 + Tesla K20"],
)
def test_cards_that_no_driver_drives_together_are_not_both_promised(cards):
    found = plan(cards + ", ubuntu 24.04")
    assert served(found) == [True, False]
    assert "machine of its own" in found["devices"][1]["because"]
    assert not found.get("others")


def test_what_is_driven_now_stays_where_a_newer_card_would_end_it():
    found = plan("RTX 4090 + Tesla K80, driver 470.256.02, ubuntu 20.04")
    assert served(found) == [False, True]
    assert "470 only" in found["devices"][0]["because"]
    assert not found.get("others")


def test_cards_with_one_driver_are_promised_both():
    assert served(plan("RTX 4090 + GTX 1080 Ti, ubuntu 24.04")) == [True, True]
    on_windows = plan("RTX 5090 + GTX 1080 Ti, windows 11")  # one driver has both modules
    assert len(on_windows["others"]) == 1


# -- what nobody knows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", ["RTX 9999", "Foo 3000", "10de:ffff", "Radeon RX 9999", "1002:fffe", "Arc Z990", "geforce mx 999"])
def test_an_unknown_chip_is_asked_about(words):
    with pytest.raises(ProfileError, match="catalogue"):
        read_profile(words + ", ubuntu 24.04")


def test_a_slip_is_told_what_was_nearly_written():
    with pytest.raises(ProfileError, match="RTX 3090"):
        read_profile("RTX 3900")


def test_a_newer_chip_can_be_told_by_its_target():
    device = read_profile("RTX 9090 sm_120, ubuntu 26.04").gpus[0]
    assert (device.vendor, device.isa, device.name) == ("nvidia", "sm_120", "RTX 9090 sm_120")
    assert read_profile("gfx1100").gpus[0].vendor == "amd"


@pytest.mark.parametrize(
    ("words", "isa"),
    [
        ("GeForce 210", "sm_13"),
        ("GTX 480", "sm_20"),
        ("GT 610", "sm_21"),
        ("Radeon HD 7970", "gfx600"),
        ("R9 290X", "gfx701"),
        ("B100", "sm_100"),
        ("NVIDIA T4G", "sm_75"),
    ],
)
def test_old_and_odd_cards_are_known(words, isa):
    assert read_profile(words).gpus[0].isa == isa


# -- what can be done instead ---------------------------------------------------------------------------------


def test_a_card_that_no_build_of_torch_reaches_is_told_what_does():
    told = " ".join(plan("RX 580, ubuntu 24.04")["warnings"])
    assert "llama-cpp-python" in told
    assert plan("RX 7900 XTX, ubuntu 24.04")["warnings"] == []
    assert "llama" not in " ".join(plan("GTX 480, ubuntu 22.04")["warnings"])  # older than Vulkan
