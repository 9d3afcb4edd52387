"""What people say of their AMD cards in sentences becomes facts; lists and other makers' cards do not."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rigup.machine.kinds import Gpu, Memory, ModuleParameter, Platform
from rigup.machine.reader import READERS
from rigup.machine.readers import amd_stated
from rigup.machine.texts import Text

MINE = sorted(name for name, reader in READERS.items() if reader.read.__module__ == amd_stated.__name__)
PIECES = (
    "RX 580",
    "RX 7900 XTX",
    "Radeon VII",
    "780M",
    "Ryzen 7 7840HS",
    " and an ",
    "I have an ",
    "alongside my ",
    "both cards",
    "gfx1036",
    "gfx",
    "on gfx803 ",
    "(",
    "VRAM=96GB",
    ", GTT=16GB",
    "VRAM: ",
    "GTT: ",
    "99999999999999999999GB",
    "amdgpu.gttsize=",
    "ttm.pages_limit=",
    "25165824",
    "mem_info_vram_total",
    ": 4294967296",
    "/sys/class/drm/card1/device/",
    "Current TTM pages limit: ",
    "16469033",
    " pages (62.82 GB)",
    "Total system memory: ",
    "125.65 GB",
    "in WSL2",
    "RTX 3090",
    "\n",
    "\n",
    " ",
    "é",
    "\0",
)
SOUP = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=50).map("".join)


def read(body, kind):
    facts = [fact for name in MINE for fact in READERS[name].read(Text("question.txt", body, whole=True))]
    return [fact for fact in facts if type(fact) is kind]


@pytest.mark.parametrize(
    ("body", "chips"),
    [
        ("PyTorch segfaults on my RX 580.", ["gfx803"]),
        ("My GPU is a Radeon RX 7900 XTX with 24 GB", ["gfx1100"]),
        ("a laptop with the 780M of a Ryzen 7 7840HS", ["gfx1103"]),
        ("I have an RX 6600 and an RX 7900 XTX.", ["gfx1032", "gfx1100"]),
        ("the RX 580 sits alongside my RX 7900 XTX", ["gfx1100", "gfx803"]),
        ("llama.cpp on RX 6600 XT + RX 7600", ["gfx1032", "gfx1102"]),
        ("two GPUs: RX 9060 XT in slot 1, RX 6700 XT in slot 2", ["gfx1031", "gfx1200"]),
        ('os.environ["HSA_OVERRIDE_GFX_VERSION"] = "10.3.0", and I am on gfx1201', ["gfx1201"]),
    ],
)
def test_a_card_in_a_sentence_has_its_chip(body, chips):
    assert sorted(card.get("isa") for card in read(body, Gpu)) == chips


@pytest.mark.parametrize(
    "body",
    [
        "Supported are RX 6600, RX 6700 XT, RX 7900 XTX and RX 9070.",
        "It was tested with RX 6600 and RX 7900 XTX.",
        "HSA_OVERRIDE_GFX_VERSION=10.3.0 makes it look like a gfx1030",
        "My RTX 3090 is faster than an RX 580.",
        "the rx packets of eth0",
    ],
)
def test_lists_and_cards_beside_nvidias_are_left_alone(body):
    assert read(body, Gpu) == []


def test_both_pools_of_a_processor_are_read_in_bytes():
    (gpu,) = read("BIOS: VRAM=96GB, GTT=16GB", Gpu)
    assert (gpu.get("vram"), gpu.get("gtt")) == (96 * 2**30, 16 * 2**30)


def test_amd_ttm_counts_pages_of_four_kibibytes():
    body = "Current TTM pages limit: 16469033 pages (62.82 GB)\nTotal system memory: 125.65 GB\n"
    (gpu,), (memory,) = read(body, Gpu), read(body, Memory)
    assert gpu.get("gtt") == 16469033 * 4096
    assert memory.get("total") > 2 * gpu.get("gtt") - 2**32


def test_a_wish_for_the_kernels_line_is_a_parameter():
    (wish,) = read("I booted with amdgpu.gttsize=122880", ModuleParameter)
    assert (wish.get("module"), wish.get("name"), wish.get("configured")) == ("amdgpu", "gttsize", "122880")


def test_wsl_is_known_from_a_sentence():
    (platform,) = read("Ubuntu 24.04 LTS (Noble Numbat) with WSL2 and an RX 7900 XTX", Platform)
    assert platform.get("wsl") == 2


@pytest.mark.long
@pytest.mark.parametrize("name", MINE)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=SOUP)
def test_no_sentence_makes_a_reader_fail(name, body):
    for fact in READERS[name].read(Text("question.txt", body, whole=True)):
        assert fact.fields


@pytest.mark.parametrize("name", MINE)
@pytest.mark.parametrize("piece", ["RX 580 ", "gfx803 ", "VRAM=1GB ", "GTT", "on ", "a", "\n", "780M and an RX 580 "])
def test_long_sentences_end(name, piece):
    assert len(list(READERS[name].read(Text("question.txt", piece * (60_000 // len(piece)))))) <= 100


@pytest.mark.parametrize(
    ("body", "chip"),
    [
        ("my mini PC has a Ryzen 7 8845HS", "gfx1103"),
        ("it is a Ryzen 7 8700G without another card", "gfx1103"),
        ("a laptop with the Radeon 680M", "gfx1035"),
    ],
)
def test_a_processor_tells_its_graphics(body, chip):
    assert [(card.get("isa"), card.get("integrated")) for card in read(body, Gpu)] == [(chip, True)]


def test_a_field_of_a_report_is_no_sentence():
    assert not list(amd_stated.amd_card_in_a_sentence(Text("report.json", '{\n  "device_name": "Radeon 8060S Graphics",\n}\n')))
    assert list(amd_stated.amd_card_in_a_sentence(Text("post", "My Radeon 8060S is not used.\n")))
