"""Reports of whole systems and further lists: inxi, lshw, hwinfo, xpu-smi, amd-smi as data, parts of rocminfo."""

import json

import pytest

from rigup.machine.inventory import accelerators
from rigup.machine.kinds import Driver, Gpu


def shown(facts, *keys):
    return [tuple(card.get(key) for key in keys) for card in accelerators(facts) or []]


def test_inxi_with_ids_and_addresses(pasted):
    facts = pasted(
        "Graphics:\n  Device-1: NVIDIA GA104 [GeForce RTX 3070] vendor: Gigabyte driver: nvidia v: 550.90.07\n    arch: Ampere bus-ID: 0a:00.0 chip-ID: 10de:2484\n"
        "    class-ID: 0300\n  Device-2: Logitech Webcam C920 driver: uvcvideo type: USB bus-ID: 1-5:3\n    chip-ID: 046d:082d\n  Display: x11 server: X.Org v: 21.1\n"
        "Audio:\n  Device-1: NVIDIA GA104 High Definition Audio driver: snd_hda_intel bus-ID: 0a:00.1\n"
    )
    assert shown(facts, "vendor", "isa", "pci_id", "pci_address") == [("nvidia", "sm_86", "10de:2484", "0000:0a:00.0")]
    assert [(driver.vendor, driver.version) for driver in facts.of(Driver)] == [("nvidia", "550.90.07")]


def test_inxi_broken_into_lines_anywhere(pasted):
    facts = pasted(
        "Graphics:  Device-1: NVIDIA TU117M [GeForce GTX 1650 Mobile] driver:\nnvidia v: 535.104.05 bus ID: 01:00.0\n           Device-2: AMD Renoir driver: amdgpu v: kernel\nbus ID: 05:00.0\n"
        "           Display: x11\nNetwork:   Device-1: Intel Wi-Fi 6\n"
    )
    assert {(card["vendor"], card["pci_address"], card["driver"]["name"]) for card in accelerators(facts)} == {
        ("nvidia", "0000:01:00.0", "nvidia"),
        ("amd", "0000:05:00.0", "amdgpu"),
    }


def test_inxi_tells_that_no_driver_is_bound(pasted):
    (gpu,) = pasted("Graphics:\n  Device-1: NVIDIA TU106M [GeForce RTX 2060] driver: N/A\n  Display: wayland\n").of(Gpu)
    assert gpu.driver is None


def lshw(state="", product="GA104 [GeForce RTX 3070] [10DE:2484]", vendor="NVIDIA Corporation", config="driver=nvidia latency=0"):
    return f"  *-display{state}\n       description: VGA compatible controller\n       product: {product}\n       vendor: {vendor}\n       bus info: pci@0000:0a:00.0\n       configuration: {config}\n"


def test_lshw(pasted):
    facts = pasted("$ sudo lshw -C display\n" + lshw() + "  *-network\n       product: NVIDIA Ethernet\n")
    assert shown(facts, "isa", "pci_id", "pci_address", "driver") == [("sm_86", "10de:2484", "0000:0a:00.0", {"name": "nvidia"})]


def test_lshw_of_a_card_that_nobody_claimed_and_of_its_second_head(pasted):
    facts = pasted(lshw(" UNCLAIMED", config="latency=0") + lshw(":1", "RV350 [Radeon 9550] (Secondary)", "ATI Technologies Inc"))
    (gpu,) = facts.of(Gpu)
    assert (gpu.vendor, gpu.driver) == ("nvidia", None)


def test_lshw_as_data(pasted):
    card = {
        "id": "display",
        "class": "display",
        "product": "Navi 31 [Radeon RX 7900 XTX]",
        "vendor": "Advanced Micro Devices, Inc. [AMD/ATI]",
        "businfo": "pci@0000:03:00.0",
        "configuration": {"driver": "amdgpu"},
    }
    facts = pasted(json.dumps({"id": "core", "class": "bus", "children": [{"class": "bridge", "children": [card]}]}))
    assert shown(facts, "vendor", "pci_address") == [("amd", "0000:03:00.0")]


def test_hwinfo(pasted):
    facts = pasted(
        '31: PCI 300.0: 0300 VGA compatible controller (VGA)\n  SysFS BusID: 0000:03:00.0\n  Hardware Class: graphics card\n  Model: "ATI Navi 31"\n'
        '  Vendor: pci 0x1002 "ATI Technologies Inc"\n  Device: pci 0x744c \n  SubVendor: pci 0x1849\n  Driver: "amdgpu"\n\n32: USB 0.0\n  Vendor: usb 0x046d\n'
    )
    assert shown(facts, "isa", "pci_id", "pci_address") == [("gfx1100", "1002:744c", "0000:03:00.0")]


def test_xpu_smis_data(pasted):
    rows = 'Device ID,Device Name,PCI BDF Address,Memory Physical Size\n0,"Intel(R) Arc(TM) A770 Graphics","0000:03:00.0","16288.00 MiB"\n'
    assert shown(pasted(rows), "vendor", "pci_address", "memory") == [("intel", "0000:03:00.0", {"vram": 16288 * 2**20})]
    one = {
        "device_id": 0,
        "device_name": "Intel(R) Arc(TM) A770 Graphics",
        "pci_bdf_address": "0000:03:00.0",
        "pci_device_id": "0x56a0",
        "memory_physical_size_byte": "17079205888",
    }
    facts = pasted(json.dumps({"device_list": [one]}, indent=4))
    assert shown(facts, "pci_id", "memory") == [("8086:56a0", {"vram": 17079205888})]


@pytest.mark.parametrize(
    "said",
    [
        "gpu,gpu_bdf,gpu_uuid\n0,0000:0c:00.0,c0ff74a1-0000-1000-8000-000000000000\n1,0000:0c:00.0,c0ff74a1-0000-1000-8000-000000000000\n...\n8,0000:df:00.0,bbff74a1-0000-1000-8000-000000000000\n",
        json.dumps(
            [
                {"gpu": 0, "bdf": "0000:0c:00.0"},
                {"gpu": 1, "bdf": "0000:0c:00.0"},
                {"gpu": 8, "bdf": "0000:df:00.0", "vfs": [{"bdf": "0000:df:02.0"}]},
            ],
            indent=4,
        ),
    ],
)
def test_amd_smis_lists_name_a_card_once_for_all_its_partitions(pasted, said):
    facts = pasted(said)
    assert shown(facts, "vendor", "pci_address") == [("amd", "0000:0c:00.0"), ("amd", "0000:df:00.0")]
    assert [len(card.get("partitions", [])) for card in accelerators(facts)] == [2, 0]


def test_amd_smis_static_as_a_table(pasted):
    said = "gpu,market_name,vendor_id,device_id,target_graphics_version,bdf,size\n0,AMD Instinct MI210,0x1002,0x740f,gfx90a,0000:63:00.0,65520\n"
    assert shown(pasted(said), "isa", "pci_id", "memory") == [("gfx90a", "1002:740f", {"vram": 65520 * 2**20})]


def test_one_agent_cut_out_of_rocminfo(pasted):
    said = "rocminfo:\n  Name:                    gfx906\n  Uuid:                    GPU-XX\n  Marketing Name:          AMD Radeon VII\n  Chip ID:                 26287(0x66af)\n  BDFID:                   12032\n"
    assert shown(pasted(said), "isa", "pci_id", "pci_address") == [("gfx906", "1002:66af", "0000:2f:00.0")]


def test_a_numbered_name_and_a_chip_in_a_persons_list(pasted):
    assert shown(pasted("[i] Devices:\n[i] [0] NVIDIA GeForce RTX 4060 *\n"), "isa") == [("sm_89",)]
    assert pasted("[0] NVIDIA Corporation is loading, please wait\n[1] Intel: no\n").of(Gpu) == []
    assert shown(pasted("GPU:\n- Chipset Model: Apple M1 Pro\n- Bus: Built-In\n"), "name") == [("Apple M1 Pro",)]


# -- little more than that they are there ------------------------------------------------------------------
TOPOLOGY = "$ nvidia-smi topo -m\n\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV12\tSYS\t0-31\t0\nGPU1\tNV12\t X \tSYS\t0-31\t0\nNIC0\tSYS\tSYS\t X \n"


def test_a_matrix_of_links_counts_its_gpus(pasted):
    assert [gpu.nvml_index for gpu in pasted(TOPOLOGY).of(Gpu)] == [0, 1]
    assert pasted(TOPOLOGY.replace("nvidia-smi", "other-smi").replace("NV12", "SYS")).of(Gpu) == []


def test_the_same_gpus_in_a_list_beside_it_are_not_counted_twice(pasted):
    listed = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-11111111-1111-1111-1111-111111111111)\nGPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-22222222-1111-1111-1111-111111111111)\n"
    assert shown(pasted("$ nvidia-smi -L\n" + listed + TOPOLOGY), "isa") == [("sm_80",), ("sm_80",)]


def test_rocm_smis_old_table(pasted):
    said = "GPU  Temp (DieEdge)  AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%\n0    33.0c           37.0W   300Mhz  1200Mhz  0%   auto  290.0W    0%   0%\n"
    assert shown(pasted(said), "vendor") == [("amd",)]


def test_a_device_whose_driver_knows_no_name(pasted):
    said = "[opencl:gpu][opencl:1] Intel(R) OpenCL Graphics, Intel(R) Graphics [0x7d55] OpenCL 3.0 NEO  [23.43]\n[level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Graphics [0x7d55] 1.3 [1.3.27642]\n"
    assert shown(pasted(said), "vendor", "pci_id") == [("intel", "8086:7d55")]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("# rocm-smi\n# GPU[0]          : Card series: AMD Instinct MI300X\n# GPU[0]          : Card SKU: NA\n", "AMD Instinct MI300X"),
        ("# [level_zero:gpu][level_zero:0] Intel(R) Level-Zero, Intel(R) Arc(TM) A770 Graphics 1.3 [1.3.2]\n", "Intel Arc A770 Graphics"),
    ],
)
def test_a_report_behind_comment_signs(pasted, said, name):
    assert shown(pasted(said), "name") == [(name,)]


def test_what_is_commented_out_of_a_configuration_stays_so(pasted):
    assert pasted("# options amdgpu gttsize=1\n# blacklist nouveau\n#SBATCH --gres=gpu:2\n# | GPU | none |\n").of(Gpu) == []
