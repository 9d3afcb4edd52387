"""Cards of which people write that are no part of the machine: a friend's, one that is compared with, one to be bought."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from each import each, over
from rigup.knowledge import tables
from rigup.knowledge.others_cards import Elsewhere, form_of, without_others
from rigup.machine.kinds import Cpu, Gpu
from rigup.machine.look import look
from rigup.machine.sources import open_source

ROWS = tables.rows("gpu_words", "elsewhere", Elsewhere)


def names(tmp_path, words, kind=Gpu, field="name"):
    (tmp_path / "paste.txt").write_text("RuntimeError: CUDA error\n" + words + "\n", encoding="utf-8")
    return [fact.get(field) for fact in look(open_source(str(tmp_path / "paste.txt")), False).of(kind)]


def test_each_row_knows_its_example_and_not_its_near_miss():
    each(ROWS, knows_its_own, lambda row: f"{row.language} {row.kind}")


def knows_its_own(row):
    assert form_of(row).search(row.example)
    assert not form_of(row).search(row.near_miss)


@pytest.mark.parametrize(
    ("words", "own"),
    [
        ("My RTX 3060 is slow, a friend's 4090 is fast", ["NVIDIA GeForce RTX 3060"]),
        ("my 3060 gives 12 it/s, my colleague has a 4090 and gets 40", ["NVIDIA GeForce RTX 3060"]),
        ("I replaced a GTX 1080 with an RTX 4070 SUPER", ["NVIDIA GeForce RTX 4070 SUPER"]),
        ("people on reddit get 50 tok/s with a 7900 XTX, I have an RX 6800 XT", ["AMD Radeon RX 6800 XT"]),
        ("should I buy a 5090 or keep my 3090?", ["NVIDIA GeForce RTX 3090"]),
        ("Ein Kumpel hat eine 4090, ich habe eine 3070", ["NVIDIA GeForce RTX 3070"]),
        ("A friend with a 4090 gets 35 tokens.", []),
        ("much slower than my old 1080 Ti", []),
        ("benchmarks for the RTX 4090 say 100", []),
        ("朋友的4090能跑35 token/s", []),
    ],
)
def test_what_others_have_is_no_card_of_this_machine(tmp_path, words, own):
    assert names(tmp_path, words) == own


@pytest.mark.parametrize("words", ["I bought this 4090 from a friend", "my labmate wants to use my 4090", "On my 4090 at home it crashes"])
def test_a_card_of_ones_own_stays_whoever_is_named_beside_it(tmp_path, words):
    assert names(tmp_path, words) == ["NVIDIA GeForce RTX 4090"]


def test_a_card_at_home_is_not_the_one_that_a_tool_shows(tmp_path):
    shown = "ggml_metal_init: found device: Apple M3 Max\nOn my 4090 at home it is faster."
    assert names(tmp_path, shown) == ["Apple M3 Max"]


@given(st.text(alphabet="friend's with a 4090 RTX\n.,vs", max_size=200))
def test_only_blanks_take_a_cards_place(text):
    told = without_others(text)
    assert len(told) == len(text)
    assert all(mine in (theirs, " ") for mine, theirs in zip(told, text, strict=True))


@over(["RTX 4070 SUPER", "RTX 4070 Ti", "RTX 4070 Ti SUPER", "RTX 4080 SUPER", "RTX 2080 Ti", "GTX 1660 SUPER"])
def test_a_name_that_a_table_cut_is_completed_by_any_that_is_whole(model, tmp_path):
    row = f"|   0  NVIDIA GeForce {model[:8]} ...   Off | 00000000:01:00.0  On |                  N/A |\n"
    usage = "| 29%   38C    P8              9W /  125W |    241MiB /  6144MiB |      3%      Default |"
    for whole in (f"Device: cuda:0 NVIDIA GeForce {model} : native", f"I have an {model}."):
        assert names(tmp_path, row + usage + "\n" + whole) == [f"NVIDIA GeForce {model}"]


def test_cards_that_torch_counts_beside_a_list_that_was_cut_are_there_too(tmp_path):
    row = "|   0  NVIDIA L40S                    On  |   00000000:19:00.0 Off |                    0 |\n"
    counted = '$ python -c "import torch; print(torch.cuda.is_available(), torch.cuda.device_count())"\nTrue '
    assert names(tmp_path, row + counted + "4") == ["NVIDIA L40S"] * 4
    assert names(tmp_path, row + counted + "1") == ["NVIDIA L40S"]


@pytest.mark.parametrize(
    ("words", "model"),
    [
        ("how do i install cuda on a macbook pro m1 pro (16gb)?", ["Apple M1 Pro"]),
        ("sur mon MacBook Pro M2 Max (32 Go)", ["Apple M2 Max"]),
        ("a MacBook Air M2, or rather a MacBook Pro M3", []),
        ("the macbook of the m3 owner", []),
    ],
)
def test_a_macs_chip_in_a_sentence_is_read_where_it_is_the_only_one(tmp_path, words, model):
    assert names(tmp_path, words, Cpu, "model") == model
