"""People name a card by its number alone; what else such numbers are is no card."""

import pytest

from rigup.machine.kinds import Gpu
from rigup.machine.look import look
from rigup.machine.sources import open_source


def cards(tmp_path, words):
    (tmp_path / "paste.txt").write_text("RuntimeError: CUDA error\n" + words + "\n", encoding="utf-8")
    return [gpu.get("isa") for gpu in look(open_source(str(tmp_path / "paste.txt")), False).of(Gpu)]


@pytest.mark.parametrize(
    ("words", "isa"),
    [
        ("nvidia-smi shows my 4070 Ti fine", "sm_89"),
        ("two 3090s in one box", "sm_86"),
        ("显卡 4090 24G", "sm_89"),
        ("装了4张4090", "sm_89"),
        ("мою 3060 не видит", "sm_86"),
        ("mein 3080 läuft nicht", "sm_86"),
        ("with my 1080 Ti", "sm_61"),
        ("our 7900 XTX stops", "gfx1100"),
        ("it dies on my 6700XT", "gfx1031"),
    ],
)
def test_a_number_in_peoples_words_is_a_card(tmp_path, words, isa):
    assert cards(tmp_path, words) == [isa]


@pytest.mark.parametrize(
    "words",
    [
        "listening on port 3080",
        "at step 4090 of 5000",
        "the 4090 steps before",
        "a 1920x1080 screen",
        "epoch 3060/4070",
        "my 3090 and her 4090",
        "an 8xA100 node, beside my 3090",
    ],
)
def test_other_numbers_and_several_cards_are_none(tmp_path, words):
    assert not cards(tmp_path, words)
