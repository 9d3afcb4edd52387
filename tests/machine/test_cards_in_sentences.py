"""Cards that people name in short are known by the catalogue; ports, prices, models and letters are none."""

import pytest

from rigup.machine.kinds import Driver, Gpu
from rigup.machine.look import look
from rigup.machine.sources import open_source


def cards(tmp_path, body):
    (tmp_path / "said.txt").write_text(body + "\n", "utf-8")
    return {gpu.get("isa") for gpu in look(open_source(str(tmp_path)), False).of(Gpu)}


@pytest.mark.parametrize(
    ("body", "isa"),
    [
        ("I have 2x A6000 and run out of memory", "sm_86"),
        ("on an L40S with vllm", "sm_89"),
        ("4x H100 SXM node", "sm_90"),
        ("T4 on Colab", "sm_75"),
        ("P100 on Kaggle", "sm_60"),
        ("rtx3080 10gb", "sm_86"),
        ("1660 super, black images", "sm_75"),
        ("4070 Ti Super 16GB", "sm_89"),
        ("laptop 4060 8gb", "sm_89"),
        ("my 7900XTX", "gfx1100"),
    ],
)
def test_a_short_name_is_a_card(tmp_path, body, isa):
    assert cards(tmp_path, body) == {isa}


@pytest.mark.parametrize(
    "body",
    [
        "listening on 0.0.0.0:4090",
        "paid 1060 EUR for the server with a 970 GB disk",
        "commit a6000ff, build 4060",
        "llama-3.1-70b with 5080 tokens of context",
        "an A4 page of 100 lines",
        "port 3090 for a 1080 p video",
        "an A100 40GB and an H100 80GB",
    ],
)
def test_numbers_and_letters_are_none_and_of_two_nobody_knows(tmp_path, body):
    assert not cards(tmp_path, body)


def test_what_a_tool_names_counts_alone(tmp_path):
    assert cards(tmp_path, "better than an A100 80GB?\nGPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-0e5b3c1f)") == {"sm_86"}


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("Lenovo Legion, RTX 4070 Laptop, Ubuntu 24.04", "NVIDIA GeForce RTX 4070 Laptop GPU"),
        ("I have an RTX 3060 Laptop GPU in it", "NVIDIA GeForce RTX 3060 Laptop GPU"),
        ("a desktop with an RTX 4070 beside my laptop", "NVIDIA GeForce RTX 4070"),
    ],
)
def test_a_laptops_chip_keeps_its_word(tmp_path, body, name):
    assert names(tmp_path, body) == [name]


def names(tmp_path, body):
    (tmp_path / "said.txt").write_text(body + "\n", "utf-8")
    return [gpu.get("name") for gpu in look(open_source(str(tmp_path)), False).of(Gpu)]


NAMELESS = "$ nvidia-smi -q -d ROW_REMAPPER\nGPU 00000000:81:00.0\n    Remapped Rows\n        Pending                           : No\n"


def test_a_card_of_the_prose_is_that_which_a_tool_lists_without_a_name(tmp_path):
    assert names(tmp_path, "Rented H100 PCIe, bare metal.\n" + NAMELESS) == ["NVIDIA H100"]
    xid = "NVRM: Xid (PCI:0000:0a:00): 79, pid='<unknown>', GPU has fallen off the bus.\n"
    dmon = "# gpu    pwr  gtemp  mtemp     sm    mem\n# Idx      W      C      C      %      %\n    0    347     66      -    100     81\n"
    assert names(tmp_path, "Home desktop, used RTX 3090, 650W.\n" + xid + dmon) == ["NVIDIA GeForce RTX 3090"]


@pytest.mark.parametrize("sign", ["->", "→", "=>"])
def test_a_driver_that_was_changed_is_the_newer_of_two(tmp_path, sign):
    (tmp_path / "said.txt").write_text(f"RTX 3090. driver 550.144.03 {sign} 570.133.07 no change.\n", "utf-8")
    assert [driver.get("version") for driver in look(open_source(str(tmp_path)), False).of(Driver)] == ["570.133.07"]


def test_a_device_of_vulkan_without_an_address_keeps_its_name(tmp_path):
    using = "using device Vulkan0 (AMD Radeon(TM) 8060S Graphics) (unknown id) - 97834 MiB free"
    assert names(tmp_path, using) == ["AMD Radeon(TM) 8060S Graphics"]


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("Single node, 4x L4, no infiniband", 4),
        ("2 nodes x 4 A100 PCIe, hostfile with slots=4", 4),
        ("on an A100 80GB", 1),
        ("4x L4, of which nvidia-smi shows one", 1),
        ("2x A100 with 7 MIG slices", 1),
    ],
)
def test_cards_that_are_counted_are_so_many(tmp_path, body, count):
    assert len(names(tmp_path, body)) == count
