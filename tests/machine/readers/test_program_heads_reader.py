"""Head lines of picture programs and trainers tell the card and the torch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.machine.facts import Place
from rigup.machine.kinds import Gpu, Torch
from rigup.machine.readers.program_heads import card_of_a_head_line, prompt_that_answers_nothing, torch_of_a_head_line
from rigup.machine.texts import Text


def read(reader, body):
    return list(reader(Text("a.txt", body, Place())))


@pytest.mark.parametrize(
    ("line", "isa"),
    [
        ("   \\\\   /|    Tesla P100-PCIE-16GB. Num GPUs = 1. Max memory: 15.888 GB. Platform: Linux.", "sm_60"),
        ("INFO     Torch detected GPU: NVIDIA GeForce GTX 1060 6GB VRAM 6144 Arch (6, 1) Cores 10", "sm_61"),
        ("INFO     Device: device=NVIDIA GeForce RTX 5090 n=1 arch=sm_90 cap=(12, 0) cuda=12.4", "sm_120"),
        ("- **Name:** cuda:0 NVIDIA GeForce RTX 5090 : cudaMallocAsync", "sm_120"),
    ],
)
def test_a_card_of_a_head_line(line, isa):
    (gpu,) = read(card_of_a_head_line, line + "\n")
    assert isinstance(gpu, Gpu)
    assert (gpu.vendor, gpu.isa) == ("nvidia", isa)


def test_a_line_that_speaks_of_no_card():
    assert read(card_of_a_head_line, "Using torch device: CPU\nTorch detected GPU: none\n") == []


def test_the_second_version_is_the_one_that_is_there():
    (torch,) = read(torch_of_a_head_line, "Model was trained with torch 1.10.0+cu102, yours is 2.1.0+cpu. Bad things\n")
    assert isinstance(torch, Torch)
    assert torch.version == "2.1.0+cpu"


def test_a_prompt_after_a_prompt_says_none():
    (torch,) = read(prompt_that_answers_nothing, ">>> torch.version.cuda\n>>> exit()\n")
    assert torch.cuda is None
    assert read(prompt_that_answers_nothing, ">>> torch.version.cuda\n'12.1'\n>>> exit()\n") == []


_PIECES = st.sampled_from(
    [
        "Torch detected GPU: ",
        "NVIDIA GeForce RTX 3060",
        " VRAM 12288 Arch ",
        ". Max memory: 1.0 GB.",
        "yours is ",
        "2.1.0+cpu",
        ">>> torch.version.cuda",
        "\n",
        '"cuda:0 ',
    ]
)


@given(st.lists(_PIECES | st.text(max_size=6), max_size=30).map("".join))
def test_readers_take_any_text(body):
    for reader in (card_of_a_head_line, torch_of_a_head_line, prompt_that_answers_nothing):
        assert len(read(reader, body)) <= len(body) + 1
