"""Machines and choices for all tests of plans."""

import pytest

from rigup.stack.choose import choose
from rigup.stack.profile import read_profile
from rigup.stack.wish import Wish, read_wishes

MACHINES = {
    "ubuntu": "RTX 4070, driver none, ubuntu 24.04, kernel 6.8.0-60-generic, python 3.12",
    "ubuntu server": "8x H100 SXM5 80GB, driver none, ubuntu 22.04, python 3.11",
    "debian, secure boot": "RTX 4070, driver 390.157, debian 13, python 3.13, secure boot",
    "pascal": "GTX 1080 Ti, driver none, debian 12, python 3.11",
    "rocky": "A100 PCIe 80GB, driver 418.87, rocky 9.4, python 3.11",
    "rhel": "L40S, driver none, rhel 10.1, python 3.12",
    "fedora": "RTX 3060, driver none, fedora 44, python 3.13",
    "leap": "RTX 3060, driver none, leap 15.6, python 3.11",
    "sles": "A100 PCIe 80GB, driver none, sles 15.7, python 3.11",
    "arch": "RTX 3060, driver none, arch, python 3.13",
    "amazon": "Tesla T4, driver none, amazon linux 2023, python 3.11",
    "nixos": "RTX 3060, driver none, nixos, python 3.12",
    "wsl": "RTX 4070, driver 456.71, wsl, ubuntu 24.04, python 3.12",
    "windows": "RTX 4070, driver 456.71, windows 11, python 3.12",
    "container": "RTX 4070, driver 450.80, container, ubuntu 24.04, python 3.12",
    "amd": "RX 7900 XTX, ubuntu 24.04, python 3.12",
    "override": "Radeon 680M, ubuntu 24.04, python 3.12",
    "mac": "Apple M4, macos 15.6, python 3.13",
    "cpu": "no gpu, debian 13, python 3.13",
    "old python": "RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.6",
    "no root": "RTX 4070, driver 450.80, ubuntu 24.04, python 3.12, no root",
    "offline": "RTX 4070, driver 580.95.05, ubuntu 24.04, python 3.12, no network",
}


@pytest.fixture(params=MACHINES)
def machine(request):
    """A machine in words, one after another."""
    return MACHINES[request.param]


@pytest.fixture
def chosen():
    """What is chosen for a machine in words: `chosen("RTX 3060, …", "torch", "numpy", manager="conda")`."""

    def made(profile, *wishes, site=None, **options):
        found = site or read_profile(profile)
        return choose(Wish(packages=read_wishes(wishes or ("torch",)), **options), found)

    return made
