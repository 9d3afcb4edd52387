"""A machine that was looked at, as planning sees it."""

from pathlib import Path

import msgspec
import pytest

from packs import machine_folder, machine_names
from rigup.stack.seen import look_at

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_a_report_tells_devices_driver_and_the_python_that_it_ran_in():
    site = look_at(str(EXAMPLES / "cpu-build.txt"))
    assert [device.isa for device in site.gpus] == ["sm_86"]
    assert (site.nvidia_driver, site.python, site.distribution) == ("550.54.15", "3.11", "ubuntu")


def test_a_captured_machine_is_known_by_its_files():
    site = look_at(str(machine_folder("nvidia-workstation")))
    assert site.system == "linux"
    assert site.nvidia_driver
    assert all(device.vendor == "nvidia" for device in site.gpus)


@pytest.mark.parametrize(("variant", "name"), [("silverblue", "fedora-silverblue"), ("workstation", "fedora")])
def test_a_system_that_is_an_image_is_called_by_its_own_name(tmp_path, variant, name):
    (tmp_path / "report.txt").write_text(f'$ cat /etc/os-release\nNAME="Fedora Linux"\nVERSION_ID=42\nID=fedora\nVARIANT_ID={variant}\n')
    assert look_at(str(tmp_path / "report.txt")).distribution == name


@pytest.mark.long
@pytest.mark.parametrize("name", machine_names())
def test_who_does_not_ask_for_pythons_sees_the_same_machine(name):
    told_by_pythons = {"python", "pythons", "own_python", "installed", "environment", "sources", "disk", "conda", "assumed"}
    folder = str(machine_folder(name))
    whole, part = (msgspec.structs.asdict(look_at(folder, pythons=pythons)) for pythons in (True, False))
    assert {field for field in whole if whole[field] != part[field]} <= told_by_pythons
