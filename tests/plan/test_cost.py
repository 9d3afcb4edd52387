"""What a plan costs is known before it is begun."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rigup.plan.answer import answer
from rigup.plan.cost import LinkError, speed


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("50Mbit", 50_000_000), ("100 Mbit/s", 100_000_000), ("1Gbps", 10**9), ("6MB/s", 48_000_000), ("6Mb", 6_000_000),
        ("0.5 gbit", 500_000_000), ("56kbit", 56_000),
    ],
)  # fmt: skip
def test_a_link_is_told_as_people_tell_it(text, bits):
    assert speed(text) == bits


@given(st.text(max_size=40))
def test_any_other_text_is_refused_with_what_to_write(text):
    if understood(text):
        assert speed(text) > 0
    else:
        with pytest.raises(LinkError, match="50Mbit"):
            speed(text)


def understood(text):
    found = re.fullmatch(
        r"\s*(\d{1,6}(?:\.\d{1,3})?)\s*[kmgtKMGT]?(?:[bB]|bit|bps|bytes?)(?:/s|ps)?\s*", text, re.IGNORECASE
    )
    return bool(found) and float(found[1]) > 0


def test_time_follows_from_bytes_and_link(chosen):
    told = answer(
        chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12", "torch==2.7.1+cu126"), speed("80Mbit")
    )["cost"]
    assert told["seconds"] == round(told["download_bytes"] / 10_000_000)
    assert told["exact"]
    assert (told["root"], told["restarts"], told["not_counted"]) == (False, 0, [])


def test_a_driver_costs_root_a_restart_and_what_one_distributions_weighs(chosen):
    told, bare = (
        answer(chosen(f"RTX 4070, driver {driver}, ubuntu 24.04, python 3.12", "torch==2.7.1+cu126"))["cost"]
        for driver in ("none", "580.95.05")
    )
    assert (told["root"], told["restarts"], told["seconds"]) == (True, 1, None)
    assert told["download_bytes"] - bare["download_bytes"] == 137_000_000
    assert not told["exact"]


def test_what_a_windows_driver_weighs_nobody_measured(chosen):
    assert answer(chosen("RTX 4070, driver 456.71, windows 11, python 3.12"))["cost"]["not_counted"] == ["the driver"]


def test_an_image_is_named_and_not_weighed_by_its_wheels(chosen):
    told = answer(chosen("RTX 4070, driver 580.95.05, ubuntu 24.04", "vllm==0.30.0", manager="docker"))["cost"]
    assert any("vllm/vllm-openai" in name for name in told["not_counted"])


def test_a_restart_on_the_other_side_counts_too(chosen):
    assert answer(chosen("RTX 4070, driver 456.71, wsl, ubuntu 24.04, python 3.12"))["cost"]["restarts"] == 1


def test_what_nobody_measured_is_named(chosen):
    told = answer(chosen("no gpu, debian 13, python 3.13", "torch", "some-package"))["cost"]
    assert "some-package" in told["not_counted"]
