"""What a machine is told that cannot be served as it is, and cards whose name alone must tell the chip."""

import pytest

from answer_data import plan_of as answer
from rigup.knowledge.gpu_words import gpu_in_words
from rigup.stack.choose import choose
from rigup.stack.profile import ProfileError, read_profile
from rigup.stack.wish import Wish, read_wishes


def planned(profile, *wish):
    return answer(choose(Wish(packages=read_wishes(wish)), read_profile(profile)))


@pytest.mark.parametrize("card", ["RX 7900 XTX", "RX 9070 XT"])
def test_where_only_linux_itself_serves_a_card_of_windows_that_is_said(card):
    plan = planned(f"{card}, windows 11, python 3.12", "vllm")
    assert plan["verdict"] == "impossible"
    assert "Linux itself: no build for native Windows or for WSL" in plan["smallest_change"]


def test_where_wsl_serves_it_linux_itself_is_not_asked_for():
    plan = planned("RTX 4090, driver 581.57, windows 11, python 3.12", "vllm")
    assert "inside WSL (or on Linux)" in plan["smallest_change"]


def test_nothing_is_promised_to_a_card_that_linux_does_not_serve_either():
    assert not planned("RX 580, windows 11, python 3.12", "vllm")["smallest_change"]


def test_an_intel_mac_gets_the_last_jax_that_was_built_for_it():
    plan = planned("no gpu, macos 13.6, arch x86_64, python 3.12", "jax")
    assert plan["packages"] == {"jax": "0.4.38"}


def test_a_mac_with_apple_silicon_still_gets_the_newest_jax():
    older = planned("no gpu, macos 13.6, arch x86_64, python 3.12", "jax")
    newer = planned("Apple M2, macos 14.5, python 3.12", "jax")
    assert newer["verdict"] == "possible"
    assert newer["packages"]["jax"] != older["packages"]["jax"]


@pytest.mark.parametrize(
    ("name", "isa"),
    [
        ("Tesla M10", "sm_50"),
        ("10de:13bd", "sm_50"),
        ("GeForce GTX 750", "sm_50"),
        ("GTX 750 Ti", "sm_50"),
        ("TITAN X", "sm_61"),
        ("GTX TITAN X", "sm_52"),
        ("RX 6750 GRE", "gfx1031"),
        ("RX 6750 GRE 10GB", "gfx1031"),
    ],
)
def test_a_name_tells_the_chip(name, isa):
    found, _id = gpu_in_words(name)
    assert found.isa == isa


@pytest.mark.parametrize(
    ("words", "distribution", "release", "glibc"),
    [
        ("ubuntu jammy", "ubuntu", "22.04", "2.35"),
        ("bookworm", "debian", "12", "2.36"),
        ("al2023", "amzn", "2023", "2.34"),
        ("debian 12 (bookworm)", "debian", "12", "2.36"),
        ("ubuntu 22.04 jammy", "ubuntu", "22.04", "2.35"),
        ("sles 15 sp6", "sles", "15.6", "2.38"),
        ("kubuntu 24.04", "ubuntu", "24.04", "2.39"),
        ("rhel 8", "rhel", "8", "2.28"),
        ("kali linux", "kali", "", None),
        ("tumbleweed", "opensuse tumbleweed", "", None),
        ("azure linux 3", "azure linux", "3", None),
    ],
)
def test_a_distribution_is_known_by_what_people_call_it(words, distribution, release, glibc):
    site = read_profile(f"RTX 3090, driver 550.144.03, {words}, python 3.11")
    assert (site.system, site.distribution, site.release, site.glibc) == ("linux", distribution, release, glibc)


@pytest.mark.parametrize("words", ["ubuntu 22.04 (wsl2)", "wsl ubuntu 22.04", "ubuntu 22.04 under wsl"])
def test_a_distribution_inside_wsl_may_be_said_in_one_breath(words):
    site = read_profile(f"RTX 3090, driver 581.57, {words}")
    assert (site.wsl, site.distribution, site.release) == (True, "ubuntu", "22.04")


@pytest.mark.parametrize("words", ["fedora bookworm", "foo bookworm", "foo bar", "wsl foo", "freebsd 14"])
def test_words_that_name_no_system_are_refused(words):
    with pytest.raises(ProfileError):
        read_profile(f"RTX 3090, {words}")
