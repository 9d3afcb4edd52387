"""Machines in words: whatever blanks, cases and habits people write them with."""

import pytest

from rigup.stack.profile import ProfileError, read_profile, read_profile_table


@pytest.mark.parametrize(
    ("words", "isa"),
    [
        ("GTX1080Ti", "sm_61"),
        ("rtx4090", "sm_89"),
        ("RTX 4070TiSuper", "sm_89"),
        ("H100 SXM5", "sm_90"),
        ("8x H100 SXM", "sm_90"),
        ("A100 80GB", "sm_80"),
        ("A100 40GB PCIe", "sm_80"),
        ("GRID T4-8Q", "sm_75"),
        ("K40", "sm_35"),
        ("GTX 580", "sm_20"),
        ("jetson orin", "sm_87"),
        ("Jetson AGX Thor", "sm_110"),
        ("DGX Spark", "sm_121"),
        ("Steam Deck", "gfx1033"),
        ("RX7900XTX", "gfx1100"),
        ("rx 6600xt", "gfx1032"),
        ("Vega56", "gfx900"),
        ("Ryzen AI Max+ 395", "gfx1151"),
        ("10de:2204", "sm_86"),
        ("UHD 630", None),
        ("Apple M2", None),
    ],
)
def test_a_chip_is_known_however_it_is_written(words, isa):
    assert {device.isa for device in read_profile(words).gpus} == {isa}


@pytest.mark.parametrize(("words", "kept"), [("Steam Deck", "Steam Deck"), ("DGX Spark", "DGX Spark"), ("H100 SXM5", "SXM5")])
def test_what_the_person_wrote_stays_in_the_name(words, kept):
    assert kept in read_profile(words).gpus[0].name


def test_words_that_name_only_a_maker_give_a_device_without_a_chip():
    assert [(device.vendor, device.isa) for device in read_profile("nvidia gpu + Radeon Graphics").gpus] == [
        ("nvidia", None),
        ("amd", None),
    ]


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        ("driver r535", "nvidia_driver", "535"),
        ("Driver 470.x", "nvidia_driver", "470"),
        ("no driver", "nvidia_driver", ""),
        ("nvidia-driver-550-open", "nvidia_driver", "550"),
        ("rocm6.2", "amd_driver", "6.2"),
        ("rocm none", "amd_driver", ""),
        ("ubuntu22.04", "release", "22.04"),
        ("Ubuntu 24.04.1 LTS", "release", "24.04.1"),
        ("rhel9", "distribution", "rhel"),
        ("rocky linux 9.3", "distribution", "rocky"),
        ("linux mint 22", "distribution", "linuxmint"),
        ("win11", "windows", "11"),
        ("Windows 11 24H2", "windows", "11"),
        ("macOS Sonoma 14.4", "macos", "14.4"),
        ("JetPack6", "jetpack", "6"),
        ("l4t 36.4.3", "jetpack", "6.1"),
        ("py3.11", "python", "3.11"),
        ("python 3.13t", "python", "3.13t"),
        ("python 3.11.9", "python", "3.11"),
        ("aarch64", "machine", "aarch64"),
        ("arch ppc64le", "machine", "ppc64le"),
        ("64GB RAM", "ram", 64 * 10**9),
        ("ram 64 GiB", "ram", 64 * 2**30),
        ("disk 20GB free", "disk", 20 * 10**9),
        ("no internet", "network", False),
        ("no sudo", "root", False),
        ("miniconda", "conda", True),
        ("musl", "glibc", ""),
        ("nvidia open kernel modules", "open_module", True),
        ("cuda 12.4", "toolkit", "12.4"),
        ("no avx", "lacks", ("avx", "avx2")),
    ],
)
def test_a_word_says_what_it_says(words, field, value):
    assert getattr(read_profile(words), field) == value


def test_a_table_says_the_same_as_words():
    table = 'gpu = ["2x RTX 3090"]\ndriver = "535.129.03"\nos = "ubuntu 22.04"\npython = "3.11"\nroot = false\nram = "64GB"'
    assert read_profile_table(table) == read_profile("2x RTX 3090, driver 535.129.03, ubuntu 22.04, python 3.11, no root, ram 64GB")


def test_a_table_that_is_none_is_refused():
    with pytest.raises(ProfileError, match="TOML"):
        read_profile_table("gpu = [")


def test_no_gpu_and_nothing_said_of_one_are_two_things():
    assert read_profile("no gpu, ubuntu 22.04").devices == ()
    assert read_profile("ubuntu 22.04").devices is None
    assert any("GPU" in told for told in read_profile("ubuntu 22.04").assumed)


def test_a_jetson_has_the_python_and_the_library_of_its_jetpack():
    site = read_profile("Jetson AGX Orin, jetpack 6.2")
    assert (site.machine, site.python, site.glibc) == ("aarch64", "3.10", "2.35")


@pytest.mark.parametrize(
    ("words", "system", "machine", "release"),
    [
        ("windows 11 arm64", "windows", "arm64", "11"),
        ("windows 11 on arm", "windows", "arm64", "11"),
        ("ubuntu 24.04 aarch64", "linux", "aarch64", "24.04"),
        ("macos 14.5 (arm64)", "macos", "arm64", "14.5"),
        ("rocky linux 9.4 x86_64", "linux", "x86_64", "9.4"),
        ("windows 11 x64", "windows", "x86_64", "11"),
    ],
)
def test_a_system_is_told_with_its_architecture_in_one_part(words, system, machine, release):
    site = read_profile(f"no gpu, {words}")
    assert (site.system, site.machine) == (system, machine)
    assert release in (site.windows, site.macos, site.release)


@pytest.mark.parametrize("words", ["driver 550 arm64", "root aarch64", "blorb 3 arm64 please"])
def test_an_architecture_behind_what_is_no_system_means_nothing(words):
    with pytest.raises(ProfileError):
        read_profile(f"no gpu, {words}")
