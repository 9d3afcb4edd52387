"""The bus: from sysfs and from lspci the same devices, and the cards that follow."""

import pytest

from rigup.machine.inventory import accelerators, displays, inventory
from rigup.machine.kinds import Gpu, PciDevice

NVIDIA, AMD = "/sys/bus/pci/devices/0000:01:00.0/", "/sys/bus/pci/devices/0000:c4:00.0/"


def nvidia(driver="nvidia", power="active"):
    bound = f"DRIVER={driver}\n" if driver else ""
    return {
        NVIDIA + "class": "0x030000\n",
        NVIDIA + "uevent": f"{bound}PCI_CLASS=30000\nPCI_ID=10DE:2204\nPCI_SUBSYS_ID=1043:87B3\nPCI_SLOT_NAME=0000:01:00.0\n",
        NVIDIA + "revision": "0xa1\n",
        NVIDIA + "power/runtime_status": power + "\n",
        "/sys/bus/pci/devices/0000:00:1f.3/class": "0x040300\n",
    }


def test_a_display_is_read_and_all_else_is_left_alone(tree):
    facts = tree(nvidia())
    (device,) = facts.of(PciDevice)
    assert device.values() == {
        "address": "0000:01:00.0",
        "class_code": "0300",
        "vendor_id": "10de",
        "device_id": "2204",
        "subsystem": "1043:87b3",
        "driver": "nvidia",
        "revision": "a1",
        "power": "active",
    }


def test_a_card_follows_from_its_device(tree):
    (card,) = accelerators(tree(nvidia()))
    assert (card["vendor"], card["isa"], card["pci_id"], card["pci_address"]) == ("nvidia", "sm_86", "10de:2204", "0000:01:00.0")
    assert "3090" in card["name"]
    assert card["driver"] == {"name": "nvidia"}


@pytest.mark.long
@pytest.mark.parametrize(("driver", "held"), [("", None), ("nouveau", "nouveau"), ("vfio-pci", "vfio-pci")])
def test_which_driver_holds_it_or_none(tree, driver, held):
    (card,) = tree(nvidia(driver)).of(Gpu)
    assert card.driver == held


def test_without_uevent_the_files_and_the_link_tell(tree):
    facts = tree(
        {
            AMD + "class": "0x038000\n",
            AMD + "vendor": "0x1002\n",
            AMD + "device": "0x1586\n",
            AMD + "driver": "-> ../../../../bus/pci/drivers/amdgpu",
        }
    )
    (card,) = accelerators(facts)
    assert (card["vendor"], card["isa"], card["integrated"], card["driver"]) == ("amd", "gfx1151", True, {"name": "amdgpu"})


def test_a_bus_without_displays_is_a_machine_without_cards(tree):
    facts = tree({"/sys/bus/pci/devices/0000:00:1f.3/class": "0x040300\n"})
    assert accelerators(facts) == []


def test_a_bus_that_nobody_copied_tells_nothing(tree):
    assert accelerators(tree({"/home/ada/.bashrc": ""})) is None


def test_management_displays_are_no_cards(tree):
    base = "/sys/bus/pci/devices/0000:03:00.0/"
    facts = tree({base + "class": "0x030000\n", base + "vendor": "0x1a03\n", base + "device": "0x2000\n"})
    assert accelerators(facts) == []
    assert [device["vendor_id"] for device in displays(facts)] == ["1a03"]


def test_an_npu_is_no_card(tree):
    base = "/sys/bus/pci/devices/0000:00:0b.0/"
    facts = tree({base + "class": "0x120000\n", base + "vendor": "0x8086\n", base + "device": "0x7d1d\n"})
    assert accelerators(facts) == []
    assert [unit["device_id"] for unit in inventory(facts)["npus"]] == ["7d1d"]


def test_the_stand_in_of_wsl_gives_way_to_the_card_it_stands_for(tree):
    base = "/sys/bus/pci/devices/8a2c:00:00.0/"
    files = {base + "class": "0x030200\n", base + "vendor": "0x1414\n", base + "device": "0x008e\n"}
    assert [card["vendor"] for card in accelerators(tree(files))] == ["microsoft"]
    listed = [
        {
            "argv": ["nvidia-smi", "-L"],
            "exit": 0,
            "stdout": "GPU 0: NVIDIA GeForce RTX 3080 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n",
        }
    ]
    assert [card["vendor"] for card in accelerators(tree({}, commands=listed))] == ["nvidia"]


def test_a_graphics_layer_alone_tells_the_device(tree):
    card = "/sys/class/drm/card1/device/"
    facts = tree(
        {
            card + "uevent": "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:0C:00.0\n",
            card + "mem_info_vram_total": "25753026560\n",
            card + "mem_info_gtt_total": "33000000000\n",
        }
    )
    (shown,) = accelerators(facts)
    assert (shown["isa"], shown["pci_address"], shown["memory"]) == ("gfx1100", "0000:0c:00.0", {"vram": 25753026560, "gtt": 33000000000})


LSPCI = """00:02.0 VGA compatible controller [0300]: Intel Corporation Alder Lake-P GT2 [Iris Xe Graphics] [8086:46a6] (rev 0c)
	Subsystem: Lenovo Device [17aa:22e7]
	Kernel driver in use: i915
	Kernel modules: i915, xe
00:1f.3 Audio device [0403]: Intel Corporation Alder Lake PCH-P High Definition Audio Controller [8086:51c8] (rev 01)
	Kernel driver in use: snd_hda_intel
01:00.0 3D controller [0302]: NVIDIA Corporation GA107M [GeForce RTX 3050 Mobile] [10de:25a2] (rev a1)
	Subsystem: Lenovo Device [17aa:22e7]
	Kernel modules: nvidiafb, nouveau
"""


def test_lspci_tells_who_holds_what_and_that_nobody_does(pasted):
    facts = pasted(LSPCI)
    intel, nvidia = facts.of(PciDevice)
    assert (intel.driver, intel.subsystem) == ("i915", "17aa:22e7")
    assert (nvidia.driver, nvidia.modules, nvidia.class_code) == (None, ["nvidiafb", "nouveau"], "0302")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "01:00.0 VGA compatible controller: NVIDIA Corporation GM204 [GeForce GTX 970] (rev a1) (prog-if 00 [VGA controller])",
            {"vendor": "nvidia", "isa": "sm_52", "pci_address": "0000:01:00.0"},
        ),
        (
            "0001:00:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)",
            {"pci_id": "10de:2330", "isa": "sm_90", "pci_address": "0001:00:00.0"},
        ),
        (
            "0000:c1:00.0 Display controller [0380]: Advanced Micro Devices, Inc. [AMD/ATI] Aldebaran/MI200 [Instinct MI210] [1002:740f] (rev 02)",
            {"vendor": "amd", "isa": "gfx90a"},
        ),
        (
            "c1:00.0 Processing accelerators [1200]: Advanced Micro Devices, Inc. [AMD/ATI] Aqua Vanjaram [Instinct MI300X] [1002:74a1]",
            {"vendor": "amd", "isa": "gfx942"},
        ),
        ("VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Barcelo (rev c1)", {"vendor": "amd", "isa": "gfx90c"}),
        ("01:00.0 0302: 10de:2236 (rev a1)", {"pci_id": "10de:2236", "isa": "sm_86"}),
    ],
)
def test_every_form_of_lspci(pasted, line, expected):
    (card,) = accelerators(pasted(line + "\n"))
    assert {name: card.get(name) for name in expected} == expected


def test_a_whole_lspci_without_displays_shows_that_there_is_none(pasted):
    assert (
        accelerators(pasted("00:00.0 Host bridge: Intel Corporation 440FX (rev 02)\n00:01.0 ISA bridge: Intel Corporation PIIX3\n")) == []
    )


def test_atomics_and_windows_of_a_verbose_lspci(pasted):
    (device,) = pasted(
        "03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. [AMD/ATI] Ellesmere [Radeon RX 580] (rev e7)\n"
        "\tRegion 0: Memory at d0000000 (64-bit, prefetchable) [size=256M]\n"
        "\t\tDevCtl2: Completion Timeout: 50us to 50ms\n\t\t\t AtomicOpsCtl: ReqEn-\n\tKernel driver in use: amdgpu\n"
    ).of(PciDevice)
    assert (device.atomics, device.bars, device.driver) == (False, [256 * 2**20], "amdgpu")
