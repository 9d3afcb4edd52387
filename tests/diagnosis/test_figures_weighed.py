"""What was measured over links, a supply's watts and cards to buy are weighed by the tables, and left alone where these do not tell."""

import pytest

from answer_data import diagnose
from rigup.diagnosis.cards_named import named_cards
from rigup.diagnosis.looking import Look
from rigup.diagnosis.supply_asked import OF_SUPPLY
from rigup.knowledge.gpus import GIB
from rigup.knowledge.pcie import bytes_of
from rigup.knowledge.questions import asked_in
from rigup.machine.store import Facts

PINNED = (
    " Host to Device Bandwidth, 1 Device(s)\n {kind} Memory Transfers\n   Transfer Size (Bytes)\tBandwidth(GB/s)\n   32000000\t\t\t{rate}\n"
)
COLLECTIVE = (
    "#  Rank  0 Group  0 Pid 21 on  {first} device  0 [0x19] {card}\n#  Rank  1 Group  0 Pid 22 on  {second} device  0 [0x19] {card}\n"
)
ROW = "  8589934592    2147483648     float     sum      -1    31396  273.60  {busbw}      0    31371  273.82  {busbw}      0\n# Avg bus bandwidth    : {busbw}\n"


@pytest.fixture
def answered(tmp_path):
    """The answers by the ids of their questions."""

    def answers(text):
        (tmp_path / "said.txt").write_text(text, "utf-8")
        return {one["id"]: one["answer"] for one in diagnose(str(tmp_path))["answers"]}

    return answers


def copied(rate, kind="PINNED", card="NVIDIA GeForce RTX 4090"):
    return f"Is the slot of my card in order?\n\n Device 0: {card}\n" + PINNED.format(rate=rate, kind=kind)


def collective(card, busbw, second="a"):
    return "Is this bandwidth normal?\n\n" + COLLECTIVE.format(card=card, first="a", second=second) + ROW.format(busbw=busbw)


@pytest.mark.parametrize(("rate", "says"), [("25.3", "The link is in order"), ("12.3", "Gen 3 x16"), ("6.5", "less than the 26 GB/s")])
def test_a_copy_is_weighed_by_what_the_link_of_the_card_gives(answered, rate, says):
    assert says in answered(copied(rate))["rate-of-a-slot"]


def test_copies_of_memory_that_is_not_pinned_say_nothing_of_the_link(answered):
    assert "rate-of-a-slot" not in answered(copied("6.5", kind="PAGEABLE"))


@pytest.mark.parametrize(
    ("card", "busbw", "says"),
    [
        ("NVIDIA H100 80GB HBM3", "478.80", "That is full speed"),
        ("NVIDIA H100 80GB HBM3", "120.10", "less than it should be"),
        ("NVIDIA GeForce RTX 4090", "9.40", "Without NVLink"),
        ("NVIDIA GeForce RTX 4090", "1.10", "little even there"),
    ],
)
def test_a_collective_is_weighed_by_what_joins_the_cards(answered, card, busbw, says):
    assert says in answered(collective(card, busbw))["rate-between-cards"]


def test_a_collective_of_several_machines_is_not_weighed_by_the_links_of_one(answered):
    told = answered(collective("NVIDIA H100 80GB HBM3", "380.10", second="b"))["rate-between-cards"]
    assert "NVLink" not in told
    assert told.startswith("busbw is what each link had to carry")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Is a 1000W PSU with a Ryzen 7950X enough for one RTX 4090?", "It is enough"),
        ("Is a 650W PSU with a Ryzen 5600 enough for an RTX 3090?", "Not without a limit"),
        ("Is an 850W PSU with a Threadripper 3960X enough for two RTX 3090?", "It is not enough"),
        ("What PSU do I need for two RTX 4090?", "a supply of 1400 W is right"),
    ],
)
def test_a_supply_is_weighed_by_the_cards_and_the_processor(answered, question, says):
    assert says in answered(question)["power-supply-for-cards"]


def test_of_cards_whose_watts_nobody_knows_no_supply_is_told():
    (asked,) = (one for one in asked_in("Is a 650W PSU enough for my card?") if one.row.id == "power-supply-for-cards")
    assert not any(OF_SUPPLY[name](Look(asked, Facts(), None)) for name in ("supply_that_lacks", "supply_that_serves", "supply_to_buy"))


def test_the_size_behind_a_name_is_of_a_card_that_is_sold_with_several():
    sizes = {card.name: card.vram for card in named_cards("a new 4060 Ti 16GB or a used 3090 24GB")}
    assert sizes == {"NVIDIA GeForce RTX 4060 Ti": 16 * GIB, "NVIDIA GeForce RTX 3090": 24 * GIB}


@pytest.mark.parametrize(
    ("question", "says"),
    [
        (
            "I want to train a 14B model with QLoRA at 4096 ctx. Which card should I buy, a 4060 Ti 16GB or a 3090 24GB?",
            "Take NVIDIA GeForce RTX 3090",
        ),
        ("I want to run an 8B Q4 model. Which card should I buy, a 4060 Ti 16GB or a 3090 24GB?", "3090 has the faster memory"),
        ("I want to run a 70B Q4 model. Which card should I buy, a 4060 Ti 16GB or a 3090 24GB?", "none of them has room"),
        ("Which card should I buy for a desk, a 4060 Ti 16GB or a 3090 24GB?", "more memory and the faster one"),
    ],
)
def test_of_cards_to_buy_the_one_is_named_that_holds_the_work(answered, question, says):
    assert says in answered(question)["card-to-buy"]


def test_who_has_bought_already_is_told_of_no_purchase(answered):
    assert "card-to-buy" not in answered("I have a 3090 and a 4090 in this box. Is this driver fine?")


@pytest.mark.parametrize(("generation", "lanes", "gigabytes"), [(1, 16, 4.0), (3, 16, 15.75), (4, 16, 31.5), (4, 8, 15.75), (9, 16, 0.0)])
def test_a_link_carries_what_its_generation_and_lanes_give(generation, lanes, gigabytes):
    assert bytes_of(generation, lanes) / 1e9 == pytest.approx(gigabytes, rel=0.01)
