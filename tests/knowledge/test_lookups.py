"""CUDA and drivers, torch builds, ROCm: each look-up from both sides."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rigup.knowledge as k
from rigup.knowledge.intel import runtime_of_torch
from rigup.knowledge.rocm import target_of_codename


@pytest.mark.parametrize(
    ("cuda", "linux", "windows"),
    [
        ("13.0", "580", "580"),
        ("13.9", "580", "580"),
        ("12.4", "525.60.13", "528.33"),
        ("12", "525.60.13", "528.33"),
        ("11.8", "450.80.02", "452.39"),
        ("10.1", "418.39", "418.96"),
        ("9.2.148", "396.26", "398.26"),
        ("14.0", None, None),
        ("7.5", None, None),
        ("", None, None),
        ("any", None, None),
    ],
)
def test_driver_minimum(cuda, linux, windows):
    assert k.driver_minimum(cuda) == linux
    assert k.driver_minimum(cuda, "windows") == windows


@pytest.mark.parametrize(
    ("driver", "cuda"),
    [
        ("535.129.03", "12.2"),
        ("470.256.02", "11.4"),
        ("580.95.05", "13.0"),
        ("565.57.01", "12.7"),
        ("537.13", "12.2"),
        ("999.1", "13.5"),
        ("300.1", None),
        ("", None),
        ("N/A", None),
    ],
)
def test_cuda_of_driver(driver, cuda):
    assert k.cuda_of_driver(driver) == cuda


def test_driver_carries():
    assert k.driver_carries("470.256.02", "11.8") is True
    assert k.driver_carries("470.256.02", "12.1") is False
    assert k.driver_carries("527.41", "12.1", "windows") is False
    assert k.driver_carries("580.1", "14.0") is None
    assert k.driver_carries("", "12.1") is None


def test_version_key():
    assert k.version_key("535.104.05") == (535, 104, 5)
    assert k.version_key("2.10.0+cu128") > k.version_key("2.9.1")
    assert k.version_key("") == ()


def test_a_build_as_torch_prints_it():
    found = k.build("2.6.0+cu124")
    assert (found.variant, found.cuda, found.pypi, found.extrapolated) == ("cu124", "12.4", True, False)
    assert found.code[0] == "sm_50"
    assert k.build("2.6").torch == "2.6.0"
    assert k.build("2.9").variant == "cu128"
    assert k.build("2.11.0", "", "windows", "AMD64").variant == "cpu"
    assert k.build("2.11.0", "", "macos", "arm64").code == ["mps"]
    assert k.build("2.7.1+rocm6.3").rocm == "6.3"
    assert k.build("2.8.0+rocm6.4").rocm == "6.4.4"
    assert k.build("2.6.0+cu126").glibc == "2.28"
    assert k.build("2.6.0+cu124").glibc == "2.17"


def test_unknown_builds_are_extrapolated_or_none():
    nightly = k.build("2.7.0.dev20250226+cu128")
    assert (nightly.torch, nightly.extrapolated, nightly.confidence) == ("2.7.0", True, "low")
    assert k.build("9.9").torch == "2.15.0"
    assert k.build("2.8.7+cu128").torch == "2.8.0"
    assert k.build("1.5.0+cu102").torch == "1.7.1"
    assert k.build("2.6.0+cu999") is None
    assert k.build("2.6.0", "cu124", "plan9") is None
    assert k.build("") is None


@pytest.mark.parametrize(
    ("asked", "torch", "variant"),
    [
        ({"isa": "sm_37"}, "2.7.1", "cu118"),
        ({"isa": "sm_61"}, "2.14.1", "cu126"),
        ({"isa": "sm_70"}, "2.14.1", "cu126"),
        ({"isa": "sm_75"}, "2.15.0", "cu132"),
        ({"isa": "sm_86", "driver": "470.256.02"}, "2.7.1", "cu118"),
        ({"isa": "sm_86", "driver": "550.163.01"}, "2.14.1", "cu126"),
        ({"isa": "sm_86", "driver": "550.163.01", "python": "3.9"}, "2.8.0", "cu128"),
        ({"isa": "sm_120", "driver": "570.26"}, "2.13.0", "cu129"),
        ({"isa": "sm_121", "machine": "aarch64"}, "2.15.0", "cu132"),
        ({"isa": "sm_110", "machine": "aarch64"}, "2.15.0", "cu132"),
        ({"isa": "sm_61", "system": "windows"}, "2.14.1", "cu126"),
        ({"isa": "gfx1103"}, "2.14.1", "rocm7.14"),
        ({"isa": "gfx906"}, "2.9.1", "rocm6.3"),
        ({"isa": "gfx1100", "rocm_driver": "5.7"}, "2.6.0", "rocm6.1"),
    ],
)
def test_newest_build(asked, torch, variant):
    found = k.newest_build(**asked)
    assert (found.torch, found.variant) == (torch, variant)


@pytest.mark.parametrize(
    "asked",
    [
        {"isa": "sm_35"},
        {"isa": "sm_53", "machine": "aarch64"},
        {"isa": "sm_120", "driver": "470.1"},
        {"isa": "gfx1031"},
        {"isa": "gfx1103", "system": "windows"},
        {"isa": "sm_86", "python": "2.7"},
        {"isa": "tpu"},
        {"isa": "sm_86", "system": "macos", "machine": "arm64"},
    ],
)
def test_no_build_serves(asked):
    assert k.newest_build(**asked) is None


def test_newest_builds_agree_with_the_list_made_by_hand():
    for row in k.table("torch_releases")["newest_by_isa"]:
        machine = "aarch64" if "aarch64" in row["newest_torch"] else "x86_64"
        found = k.newest_build(row["isa"], machine=machine)
        if row["newest_torch"][0].isdigit() and row["isa"] != "sm_110":
            assert found.torch == row["newest_torch"], row["isa"]
            assert found.variant in row["variant"], row["isa"]
        elif row["newest_torch"].startswith("none") and row["isa"] != "sm_72":
            # sm_72 is the exception: 13.2 tools let desktop code run there, where a driver did.
            assert found is None, row["isa"]


def test_companions():
    assert k.companions("2.6.0+cu124").torchvision == "0.21.0"
    assert k.companions("2.14.0").torchaudio == "2.11.0"
    assert k.companions("2.6").torch == "2.6.0"
    assert k.companions("9.0").extrapolated
    assert k.companions("0.4") is None


def test_indexes_and_defaults():
    assert k.index_url("cu126") == "https://download.pytorch.org/whl/cu126"
    assert k.index_url("cu134", nightly=True) == "https://download.pytorch.org/whl/nightly/cu134"
    assert k.index_url("") == ""
    assert k.variant_for_pypi("2.11.0") == "cu130"
    assert k.variant_for_pypi("2.11.0+cu126", "windows") == "cpu"
    assert k.variant_for_pypi("2.11.0", "linux", "aarch64") == "cu130"
    assert k.variant_for_pypi("2.10.0", "linux", "aarch64") == "cpu"
    assert k.variant_for_pypi("2.3.0", "macos", "x86_64") == "cpu"
    assert k.variants_of("2.15.0") == ["cpu", "cu130", "cu132", "xpu"]
    assert k.variants_of("") == []


def test_overrides():
    found = k.override_for("gfx1031")
    assert (found.value, found.sibling, found.safe) == ("10.3.0", "gfx1030", True)
    assert not k.override_for("gfx1103").safe
    assert k.override_for("gfx1103").native_torch == "2.13"
    assert k.override_for("gfx1030") is None
    assert k.override_for("gfx1010") is None
    assert "10.3.0" in k.override_facts("gfx1010").bad_values
    assert k.override_for("sm_86") is None
    assert k.override_for("gfx1031:xnack-").value == "10.3.0"


@pytest.mark.parametrize(
    ("rocm", "gfx", "has"),
    [
        ("6.3.0", "gfx906", True),
        ("6.4.0", "gfx906", False),
        ("7.2", "gfx906", False),
        ("6.1", "gfx1031", False),
        ("6.4.0", "gfx1151", False),
        ("7.14", "gfx1151", None),
        ("6.2", "gfx1201", None),
        ("7.0", "gfx1201", True),
        ("5.7", "gfx906", None),
        ("", "gfx906", None),
        ("6.3", "sm_86", None),
    ],
)
def test_rocblas(rocm, gfx, has):
    assert k.rocblas_has(rocm, gfx) is has


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("Renoir", "gfx90c"),
        ("AMD Cezanne", "gfx90c"),
        ("[AMD/ATI] Navi 23 [Radeon RX 6600/6600 XT/6600M]", "gfx1032"),
        ("Phoenix1 [Radeon 780M]", "gfx1103"),
        ("Vega 10 XL/XT [Radeon RX Vega 56/64]", None),  # others call graphics in processors so
        ("Device 1586", None),
        ("", None),
    ],
)
def test_targets_by_code_name(name, target):
    found = target_of_codename(name)
    assert (found and found.isa) == target


def test_targets_and_drivers_of_rocm():
    assert k.gfx_family("gfx1103").generic == "gfx11-generic"
    assert k.gfx_family("gfx90a:sramecc+").architecture == "CDNA2"
    assert k.gfx_family("gfx999") is None
    assert k.last_rocm_with("gfx906") == "5.7.1"
    assert k.last_rocm_with("gfx1031") is None
    assert k.driver_accepts("6.1", "6.3.0") is True
    assert k.driver_accepts("5.4", "6.3.0") is False
    assert k.driver_accepts("31.20", "10.0.0") is True
    assert k.driver_accepts("99.0", "6.3.0") is None
    assert k.driver_accepts("6.1", "0.1") is None
    assert k.driver_accepts("30.10", "7.14.0") is True
    assert k.driver_accepts("6.1", "7.14.0") is False


@pytest.mark.long
def test_search_puts_exact_keys_first_and_may_find_nothing():
    found = k.search("gfx1103")
    assert found[0].rank == 0
    assert {hit.key for hit in found if hit.rank == 0} == {"gfx1103"}
    assert k.search(["RTX", "3090"])[0].table == "gpus_nvidia"
    assert all(hit.table == "gfx_overrides" for hit in k.search("gfx1103", "gfx_overrides"))
    assert k.search("no such thing anywhere") == []
    assert k.search("") == []


def test_names_of_the_package_are_all_there():
    assert all(getattr(k, name) is not None for name in k.__all__)
    with pytest.raises(AttributeError):
        _ = k.nothing


versions = st.one_of(st.text(max_size=40), st.from_regex(r"\d{1,4}(\.\d{1,4}){0,3}(\.dev\d+)?(\+\w{1,9})?", fullmatch=True))


@pytest.mark.long
@settings(max_examples=80)
@given(versions, versions, st.sampled_from(["linux", "windows", "macos", ""]))
def test_versions_of_any_kind_are_answered(one, two, system):
    k.version_key(one)
    k.driver_minimum(one, system)
    k.cuda_of_driver(one)
    k.driver_carries(one, two, system)
    k.build(one, "", system)
    k.companions(one)
    k.rocblas_has(one, "gfx906")
    k.driver_accepts(one, two)
    k.newest_build("sm_86", one, two, system=system)
    k.variants_of(one, system)


def test_the_runtime_that_a_build_for_intel_pins_is_known_by_its_minor_release():
    assert runtime_of_torch("2.7.1+xpu") == "2025.0"
    assert runtime_of_torch("2.12.0+xpu") == "2025.3"
    assert runtime_of_torch("2.4.0+xpu") is None
