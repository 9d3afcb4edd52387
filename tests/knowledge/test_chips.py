"""Which code runs on which chip, tried on the real lists of real wheels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.knowledge import chips, torch_builds
from rigup.knowledge.chips import runs_on, why_not

CU126 = torch_builds.build("2.7.1+cu126").code
CU128 = torch_builds.build("2.8.0+cu128").code
CU130 = torch_builds.build("2.11.0+cu130").code
CU130_ARM = torch_builds.build("2.11.0+cu130", machine="aarch64").code
ROCM62 = torch_builds.build("2.5.1+rocm6.2").code

RUNS = [
    ("sm_89", CU126),
    ("sm_86", CU126),
    ("sm_61", CU126),
    ("sm_52", CU126),
    ("sm_90", CU126),
    ("sm_121", CU128),
    ("sm_103", CU130),
    ("sm_110", CU130_ARM),
    ("sm_101", CU130_ARM),
    ("gfx1100", ROCM62),
    ("gfx90a:sramecc+:xnack-", ROCM62),
    ("gfx942", ROCM62),
    ("sm_61", ["sm_60"]),
    ("sm_89", ["sm_86"]),
    ("sm_120", ["compute_90"]),
    ("sm_90", ["sm_90a"]),
    ("sm_103", ["sm_100f"]),
    ("sm_110", ["sm_101"]),
    ("sm_87", ["sm_87"]),
    ("sm_89", ["sm_86", "nonsense"]),
    ("gfx1103", ["gfx11-generic"]),
    ("gfx1036", ["gfx10-3-generic"]),
    ("gfx1012", ["gfx10-1-generic"]),
    ("gfx950", ["gfx9-4-generic"]),
    ("gfx906", ["gfx9-generic"]),
    ("gfx1201", ["gfx12-generic"]),
    ("gfx90a", ["gfx90a:xnack+"]),
]
RUNS_NOT = [
    ("sm_61", CU128),
    ("sm_70", CU130),
    ("sm_120", CU126),
    ("sm_100", CU126),
    ("sm_120", ["sm_75", "sm_80", "sm_86", "sm_90", "sm_100"]),
    ("sm_61", ["sm_75"]),
    ("sm_86", ["sm_89"]),
    ("sm_90", ["sm_100"]),
    ("sm_70", ["compute_90"]),
    ("sm_103", ["sm_100a"]),
    ("sm_120", ["sm_100f"]),
    ("sm_100", ["sm_103f"]),
    ("sm_110", ["sm_100"]),
    ("sm_103", ["sm_101"]),
    ("sm_87", ["sm_80", "sm_86"]),
    ("sm_72", ["sm_70"]),
    ("sm_62", ["sm_60", "sm_61"]),
    ("sm_53", ["sm_50", "sm_52"]),
    ("sm_89", ["sm_87"]),
    ("sm_75", ["sm_72"]),
    ("sm_53", CU126),
    ("gfx1103", ROCM62),
    ("gfx1031", ROCM62),
    ("gfx1101", ROCM62),
    ("gfx1030", ["gfx11-generic"]),
    ("gfx90a", ["gfx9-generic"]),
    ("gfx942", ["gfx9-generic"]),
    ("gfx1100", CU126),
    ("sm_86", ROCM62),
    ("sm_86", []),
    ("", CU126),
]


@pytest.mark.parametrize(("isa", "code"), RUNS)
def test_runs(isa, code):
    assert runs_on(isa, code)
    assert why_not(isa, code) is None


@pytest.mark.parametrize(("isa", "code"), RUNS_NOT)
def test_runs_not(isa, code):
    assert not runs_on(isa, code)
    assert str(why_not(isa, code))


def test_tegra_takes_desktop_code_from_cuda_13_2_on():
    assert runs_on("sm_87", ["sm_80"], "13.2")
    assert runs_on("sm_87", ["sm_86"], "13.10")
    assert not runs_on("sm_87", ["sm_80"], "13.0")
    assert not runs_on("sm_62", ["sm_60"], "13.2")


def test_ptx_serves_whatever_is_newer():
    assert runs_on("sm_87", ["compute_80"])
    assert not runs_on("sm_90", ["compute_100"])
    assert runs_on("sm_90", ["compute_90a"])
    assert not runs_on("sm_100", ["compute_90a"])
    assert not runs_on("sm_110", ["compute_100f"])


@pytest.mark.parametrize(
    ("isa", "code", "kind"),
    [
        ("sm_61", CU130, "older-chip"),
        ("sm_120", CU126, "newer-chip"),
        ("sm_87", ["sm_80", "sm_90"], "not-compiled"),
        ("gfx1103", CU126, "other-vendor"),
        ("sm_86", [], "no-code"),
        ("Xe-HPG", CU126, "unknown-chip"),
        ("gfx1201", ROCM62, "newer-chip"),
        ("gfx803", ROCM62, "older-chip"),
    ],
)
def test_why_not(isa, code, kind):
    reason = why_not(isa, code)
    assert reason.kind == kind
    assert isa in str(reason) or kind == "no-code"


def test_names_of_chips():
    assert chips.isa_of_capability("8.6") == "sm_86"
    assert chips.isa_of_capability(" 12.0 ") == "sm_120"
    assert chips.isa_of_capability("86") is None
    assert chips.gfx_of_target_version(110003) == "gfx1103"
    assert chips.gfx_of_target_version(90010) == "gfx90a"
    assert chips.gfx_of_target_version(90402) == "gfx942"
    assert chips.gfx_of_target_version(0) is None
    assert chips.gfx_of_decimal("10.3.0") == "gfx1030"
    assert chips.gfx_of_decimal("9.0.12") == "gfx90c"
    assert chips.gfx_of_decimal("10.3") is None
    assert chips.gfx_base("gfx90a:sramecc+") == "gfx90a"
    assert chips.vendor_of("gfx11-generic") == "amd"


def test_order_of_chips():
    assert chips.isa_order("sm_90") < chips.isa_order("sm_100") < chips.isa_order("sm_103") < chips.isa_order("sm_110")
    assert chips.isa_order("sm_101") == chips.isa_order("sm_110")
    assert chips.isa_order("gfx90a") < chips.isa_order("gfx90c") < chips.isa_order("gfx942") < chips.isa_order("gfx1010")
    assert chips.isa_order("tpu") == ()


entries = st.one_of(
    st.text(max_size=30),
    st.from_regex(r"(sm|compute)_[0-9]{1,4}[af]?", fullmatch=True),
    st.from_regex(r"gfx[0-9a-f]{2,6}(:[a-z+-]{0,9})?", fullmatch=True),
    st.from_regex(r"gfx[0-9-]{1,5}generic", fullmatch=True),
)


@given(entries, st.lists(entries, max_size=6), st.none() | st.text(max_size=8))
def test_nothing_raises_and_reasons_agree(isa, code, cuda):
    reason = why_not(isa, code, cuda)
    assert (reason is None) == runs_on(isa, code, cuda)
    assert reason is None or str(reason)


@given(entries)
def test_code_for_a_chip_runs_on_it(isa):
    if chips.isa_order(isa) and not isa.strip().lower().startswith("compute") and not isa.endswith("generic"):
        assert runs_on(isa, [isa])


@given(st.text(max_size=20), st.integers(-(10**9), 10**9))
def test_parsers_take_anything(text, number):
    for parse in (chips.isa_of_capability, chips.gfx_of_decimal, chips.gfx_base, chips.isa_order, chips.vendor_of):
        parse(text)
    chips.gfx_of_target_version(number)


@pytest.mark.parametrize(
    ("isa", "code", "kind"),
    [
        ("sm_61", ["sm_50", "sm_70", "sm_80"], "older-chip"),
        ("sm_61", ["sm_70", "sm_80"], "older-chip"),
        ("sm_87", ["sm_80", "sm_86", "sm_90"], "newer-chip"),
        ("sm_120", ["sm_80", "sm_90"], "newer-chip"),
        ("sm_86", ["sm_80", "sm_90"], None),
    ],
)
def test_a_chip_amid_a_list_is_as_old_as_its_generation(isa, code, kind):
    assert chips.relative_age(why_not(isa, code), code) == kind
