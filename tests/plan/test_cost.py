"""What a plan costs is known before it is begun."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answer_data import plan_of as answer
from rigup.plan.cost import LinkError, speed
from rigup.plan.environments.folder import size_of
from rigup.plan.environments.seeds import seeded


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("50Mbit", 50_000_000),
        ("100 Mbit/s", 100_000_000),
        ("1Gbps", 10**9),
        ("6MB/s", 48_000_000),
        ("6Mb", 6_000_000),
        ("0.5 gbit", 500_000_000),
        ("56kbit", 56_000),
    ],
)
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
    found = re.fullmatch(r"\s*(\d{1,6}(?:\.\d{1,3})?)\s*[kmgtKMGT]?(?:[bB]|bit|bps|bytes?)(?:/s|ps)?\s*", text, re.IGNORECASE)
    return bool(found) and float(found[1]) > 0


def test_time_follows_from_bytes_and_link(chosen):
    told = answer(chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12", "torch==2.7.1+cu126"), speed("80Mbit"))["cost"]
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


@pytest.mark.slow
def test_a_new_environment_weighs_what_its_python_puts_into_it(tmp_path):
    """The wheels that come with a Python differ by release: with or without setuptools, and compiled or not."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    starter = os.path.realpath(Path(sys.base_prefix) / "bin" / "python3")
    told = seeded("make-environment", {"starter": starter, "python": python})
    subprocess.run([starter, "-m", "venv", tmp_path / "env"], check=True)
    there = size_of(tmp_path / "env").all
    assert told is not None
    assert abs(told.disk - there) < 0.1 * there


def test_without_its_python_at_hand_an_environment_weighs_what_one_of_that_release_did():
    with_setuptools, alone = (seeded("make-environment", {"starter": "python3", "python": one}) for one in ("3.11", "3.13"))
    assert with_setuptools.disk > 1.5 * alone.disk
    assert seeded("make-environment", {"starter": "python3", "python": "3.99"}) == alone
    assert seeded("make-environment-windows", {"starter": "py", "python": "3.13"}) == alone


def test_a_python_that_uv_brings_is_named_as_not_counted(chosen):
    told = answer(chosen("RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12", "torch==2.7.1", python="3.10"))
    brings = any(step["kind"] == "make-environment-with-uv" for step in told["steps"])
    assert ("Python 3.10" in told["cost"]["not_counted"]) == brings
    assert brings


def test_a_build_of_which_the_download_alone_was_measured_takes_room_on_the_disk_and_counts_once(chosen):
    told = answer(chosen("RTX 4070, driver 555.85, windows 11, python 3.11", "torch", "some-package"))["cost"]
    assert told["disk_bytes"] > 1.2 * told["download_bytes"] > 0
    assert told["not_counted"] == ["some-package"]


def test_a_build_of_another_index_whose_download_alone_was_measured_takes_room_on_the_disk(chosen):
    told = answer(chosen("MI50, ubuntu 24.04, python 3.12", "torch"))["cost"]
    assert told["disk_bytes"] > 1.2 * told["download_bytes"] > 1e9
    assert not told["exact"]
