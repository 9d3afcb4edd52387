"""Each device's limits are told, with who says so."""

import json

import pytest
from click.testing import CliRunner

from rigup.cli import main
from rigup.diagnosis.limits import limits
from rigup.knowledge.abilities import lacking
from rigup.schemas.shared import Hardware

BANNER = """\
GPU 0: {name} (UUID: GPU-00000000-0000-0000-0000-000000000001)
"""


def shown(tmp_path, name, *options):
    (tmp_path / "report.txt").write_text(BANNER.format(name=name))
    return CliRunner().invoke(main, ["doctor", "--devices", "--from", str(tmp_path / "report.txt"), *options]).output


def test_an_old_card_hears_what_it_lacks_and_the_newest_torch_that_runs(tmp_path):
    told = shown(tmp_path, "NVIDIA GeForce GTX 1080 Ti")
    assert "bfloat16 is emulated" in told
    assert "+cu126" in told
    assert "docs.nvidia.com" in told


def test_a_new_card_lacks_nothing(tmp_path):
    assert "nothing that is asked of it" in shown(tmp_path, "NVIDIA GeForce RTX 5090")


def test_as_data_the_limits_stand_at_the_device(tmp_path):
    device = json.loads(shown(tmp_path, "Tesla V100-SXM2-16GB", "--json"))["machine"]["accelerators"][0]
    assert {lack["id"] for lack in device["limits"]["lacks"]} >= {"bfloat16", "flash-attention"}
    assert all(lack["source"] for lack in device["limits"]["lacks"])


@pytest.mark.parametrize(
    ("vendor", "isa", "ability", "lacks"),
    [
        ("nvidia", "sm_75", "bfloat16", True),
        ("nvidia", "sm_80", "bfloat16", False),
        ("nvidia", "sm_61", "float16-rate", True),
        ("nvidia", "sm_60", "float16-rate", False),
        ("amd", "gfx1030", "flash-attention", True),
        ("amd", "gfx1100", "flash-attention", False),
        ("amd", "gfx1100", "float64", False),
        ("apple", "", "float64", True),
        ("amd", "gfx1030", "tf32", False),
        ("nvidia", "", "bfloat16", False),
        ("intel", "", "bfloat16", False),
    ],
)
def test_a_lack_is_told_only_where_somebody_said_so(vendor, isa, ability, lacks):
    assert (ability in {row.id for row in lacking(vendor, isa)}) is lacks


@pytest.mark.parametrize(
    ("vendor", "isa", "strange"),
    [("intel", "", ("nvidia", "cuda", "rocm")), ("apple", "", ("nvidia", "cuda", "rocm")), ("amd", "gfx1030", ("nvidia", "cuda"))],
)
def test_what_a_card_lacks_is_told_by_no_other_maker(vendor, isa, strange):
    lacks = limits(Hardware(vendor=vendor, isa=isa)).lacks
    assert lacks
    assert not [lack for lack in lacks if any(word in lack.source for word in strange)]
