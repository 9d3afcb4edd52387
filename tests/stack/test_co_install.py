"""Frameworks in one environment: they share NVIDIA's libraries, or each gets an environment of its own."""

import pytest

from answer_data import plan_of as answer
from rigup.stack.candidate import Candidate
from rigup.stack.choose import choose
from rigup.stack.co_install import conflict
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes


def build(**pins):
    return Candidate(package="one", version="1", pins=pins)


def chosen(profile, *wishes):
    return choose(Wish(packages=read_wishes(wishes)), read_profile(profile))


@pytest.mark.parametrize(
    ("one", "other", "fits"),
    [
        ({"cudnn": "==9.1.0.70"}, {"cudnn": ">=9.8,<10"}, False),
        ({"cudnn": "==9.10.2.21"}, {"cudnn": ">=9.8,<10"}, True),
        ({"cudnn": "==9.*"}, {"cudnn": ">=9.8,<10"}, True),
        ({"cuda": "==12.6.*"}, {"cuda": ">=12.5.82,<13.0"}, True),
        ({"cuda": "==12.4.*"}, {"cuda": "==12.5.82"}, False),
        ({"cuda": "==13.2.*"}, {"cuda": ">=12,<13"}, False),
        ({"cuda": "==13.2.*"}, {"nccl": "==2.27.5"}, True),
        ({}, {"cuda": ">=12,<13"}, True),
    ],
)
def test_builds_stand_together_where_some_version_fits_both(one, other, fits):
    assert (conflict(build(**one), [build(**other)]) == "") == fits
    assert (conflict(build(**other), [build(**one)]) == "") == fits


def test_of_the_first_framework_an_older_cuda_is_taken_so_that_all_reach_the_gpu():
    found = chosen("RTX 3090, driver 580.95.05, ubuntu 22.04, python 3.12", "torch", "tensorflow")
    assert all(one.build.cuda.startswith("12.") for one in found.chosen)
    assert any("one environment has one of them" in line.because for line in found.turned_down)


def test_alone_it_keeps_the_newest_cuda():
    found = chosen("RTX 3090, driver 580.95.05, ubuntu 22.04, python 3.12", "torch")
    assert found.chosen[0].build.cuda.startswith("13.")


def test_what_cannot_stand_together_is_told_with_an_environment_for_each():
    found = answer(chosen("RTX 3090, driver 580.95.05, ubuntu 22.04, python 3.12", "torch==2.5.1", "tensorflow==2.18.0"))
    assert not found["devices"][0]["served"]
    assert "an environment for each" in found["smallest_change"]
    assert [sorted(other["packages"])[:1] for other in found["others"]] == [["torch"], ["tensorflow"]]
    assert all(other["devices"][0]["served"] for other in found["others"])


def test_where_nothing_is_brought_along_nothing_conflicts():
    found = chosen("no gpu, ubuntu 24.04, python 3.12", "torch==2.5.1", "tensorflow==2.18.0")
    assert found.possible
    assert not found.others
