"""Machines told in words with what must be chosen for them, each from a source that it names."""

import json
import shlex
from pathlib import Path

import pytest
from judging import faults

from answer_data import plan_of as answer
from each import over
from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

HERE = Path(__file__).parent / "pairs"
PAIRS = [pair for path in sorted(HERE.glob("*.json")) for pair in json.loads(path.read_text())]
OPTIONS = {"--python": "python", "--in": "manager", "--prefer": "prefer", "--mirror": "mirror"}


def planned(pair):
    options, words = {}, iter(pair["options"])
    for word in words:
        options |= {"no_root": True} if word == "--no-root" else {OPTIONS[word]: next(words)}
    wish = Wish(packages=read_wishes(shlex.split(pair["wish"])), **options)
    return answer(choose(wish, read_profile(pair["profile"])))


@pytest.mark.long
@over(PAIRS, lambda pair: pair["id"])
def test_the_stack_is_right(pair):
    assert faults(planned(pair), pair["expect"]) == []


def test_every_pair_names_a_public_source_and_is_told_once():
    assert all(pair["source"].startswith("https://") and pair["why"] for pair in PAIRS)
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize(
    ("expect", "right", "wrong"),
    [
        ({"torch_variant": ["cu12*"]}, {"torch": "2.6.0+cu126"}, {"torch": "2.6.0"}),
        ({"torch_variant": ["none"]}, {"torch": "2.6.0"}, {}),
        ({"torch_version": {"min": "2.4", "max": "2.6.9"}}, {"torch": "2.6.0"}, {"torch": "2.7.0"}),
        ({"packages": {"jax": True, "torch": None}}, {"jax": "0.6.2"}, {"jax": "0.6.2", "torch": "2.6.0"}),
        ({"has": ["cuda12|cuda13"]}, {"jax[cuda13]": "0.12"}, {"jax": "0.12"}),
        ({"any_of": [{"packages": {"a": "1"}}, {"packages": {"b": "1"}}]}, {"b": "1"}, {"a": "2"}),
    ],
)
def test_the_judge_tells_right_from_wrong(expect, right, wrong):
    empty = {"indexes": [], "variables": {}, "steps": [], "devices": [], "system": [], "verdict": "possible"}
    assert faults({**empty, "packages": right}, expect) == []
    assert faults({**empty, "packages": wrong}, expect) != []
