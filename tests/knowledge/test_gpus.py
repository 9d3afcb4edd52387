"""The catalogue: by PCI id, by every spelling of a name, and what holds for architectures."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rigup.knowledge import gpus, names, tables
from rigup.knowledge.gpus import GIB, gpu_by_name, gpu_by_pci, one_gpu

SPELLINGS = {
    "NVIDIA GeForce RTX 3090": [
        "GeForce RTX 3090",
        "RTX 3090",
        "nvidia geforce rtx 3090",
        "NVIDIA Corporation GA102 [GeForce RTX 3090] (rev a1)",
        "VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090]",
        "NVIDIA GeForce RTX 3090/PCIe/SSE2",
    ],
    "NVIDIA GeForce RTX 3090 Ti": ["GeForce RTX 3090 Ti", "GA102 [GeForce RTX 3090 Ti]", "rtx 3090 ti"],
    "NVIDIA GeForce RTX 4070 Ti SUPER": ["RTX 4070 Ti Super"],
    "NVIDIA GeForce RTX 3060 Laptop GPU": ["GA106M [GeForce RTX 3060 Mobile / Max-Q]"],
    "NVIDIA A100-SXM4-80GB": ["A100-SXM4-80GB", "A100 SXM4 80GB"],
    "AMD Radeon RX 7900 XTX": ["Radeon RX 7900 XTX", "AMD Radeon(TM) RX 7900 XTX"],
    "AMD Radeon RX 7900 XT": ["RX 7900 XT"],
    "AMD Radeon RX 6700 XT": ["AMD Radeon RX 6700 XT (radeonsi, navi22, LLVM 15.0.7, DRM 3.54)"],
    "Radeon 780M": ["AMD Radeon 780M Graphics", "AMD Ryzen 7 7840U w/ Radeon 780M Graphics"],
    "Intel Arc A770": ["Intel(R) Arc(TM) A770 Graphics", "DG2 [Arc A770]"],
    "Apple M2 Max": ["M2 Max"],
}


@pytest.mark.parametrize(("name", "spelling"), [(n, s) for n, all_ in SPELLINGS.items() for s in [n, *all_]])
def test_spellings_of_one_product(name, spelling):
    assert one_gpu(spelling).name == name


@pytest.mark.parametrize(
    ("name", "isa", "memory"),
    [
        ("NVIDIA GeForce RTX 3090", "sm_86", 24),
        ("NVIDIA GeForce RTX 3060 Laptop GPU", "sm_86", 6),
        ("NVIDIA H100 80GB HBM3", "sm_90", 80),
        ("H100", "sm_90", None),
        ("A100", "sm_80", None),
        ("Tesla T4", "sm_75", 16),
        ("GeForce GTX 1080 Ti", "sm_61", 11),
        ("NVIDIA GeForce RTX 5090", "sm_120", 32),
        ("NVIDIA GB10", "sm_121", 128),
        ("Jetson AGX Orin", "sm_87", None),
        ("AMD Instinct MI210", "gfx90a", 64),
        ("AMD Radeon 780M Graphics", "gfx1103", None),
        ("Navi 31 [Radeon RX 7900 XT/7900 XTX/7900 GRE/7900M]", "gfx1100", None),
        ("AMD Custom GPU 0405", "gfx1033", None),
        ("NVIDIA GeForce GTX 750", None, 1),
        ("GeForce GT 730", None, 1),
        ("NVIDIA GeForce GTX 860M", None, 2),
        ("Intel(R) Arc(TM) A770 Graphics", None, 16),
    ],
)
def test_isa_and_memory(name, isa, memory):
    found = one_gpu(name)
    assert found.isa == isa
    assert found.memory_bytes == (memory and memory * GIB)
    assert found.source
    assert found.how in {"measured", "documented", "reported"}


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "AMD Radeon Graphics",
        "AMD Radeon(TM) Graphics",
        "Graphics Device",
        "RTX 2060 Ti",
        "Device 2204",
        "RTX 5060 Ti Super",
        "RTX 4000",
        "ASPEED Graphics Family",
        "llvmpipe (LLVM 15.0.7, 256 bits)",
        "NVIDIA",
    ],
)
def test_names_that_tell_no_product(name):
    assert one_gpu(name) is None


def test_a_laptop_chip_never_takes_the_memory_of_the_desktop_card():
    found = one_gpu("NVIDIA GeForce GTX 1070 Ti Laptop GPU")
    assert found is None or found.memory_bytes is None
    assert not any("Laptop" in gpu.name for gpu in gpu_by_name("NVIDIA GeForce RTX 3080"))


def test_the_maker_tells_equal_numbers_apart():
    assert one_gpu("GeForce 840M").isa == "sm_50"
    assert one_gpu("AMD Radeon 840M Graphics").isa == "gfx1152"
    assert one_gpu("840M") is None


def test_a_short_name_keeps_itself_where_several_products_share_it():
    found = one_gpu("Tesla V100-SXM2")
    assert (found.name, found.isa, found.memory_bytes) == ("Tesla V100-SXM2", "sm_70", None)
    assert one_gpu("RTX 6000 Ada").name == "NVIDIA RTX 6000 Ada Generation"


def test_integrated_or_not():
    integrated = ["AMD Radeon 780M Graphics", "Apple M1", "Jetson AGX Orin", "NVIDIA GB10", "AMD Instinct MI300A"]
    assert all(one_gpu(name).integrated for name in integrated)
    discrete = ["RTX 3090", "AMD Radeon RX 7900 XTX", "Intel Arc A770", "AMD Instinct MI300X"]
    assert not any(one_gpu(name).integrated for name in discrete)


@pytest.mark.parametrize(
    ("ids", "name", "isa"),
    [
        (("10de", "2204"), "NVIDIA GeForce RTX 3090", "sm_86"),
        (("0x10DE", "0x2204"), "NVIDIA GeForce RTX 3090", "sm_86"),
        (("1002", "744c", "c8"), "AMD Radeon RX 7900 XTX", "gfx1100"),
        (("1002", "0x73bf", "0xc1"), "AMD Radeon RX 6800 XT", "gfx1030"),
        (("10de", "2571", "a1", "10de", "1611"), "NVIDIA RTX A2000 12GB", "sm_86"),
        (("8086", "56a0"), "Intel(R) Arc(TM) A770 Graphics", None),
    ],
)
def test_by_pci_id(ids, name, isa):
    found = gpu_by_pci(*ids)
    assert (found.name, found.isa) == (name, isa)


def test_subsystems_that_nobody_lists_tell_what_all_have_in_common():
    listed = [row for row in tables.table("pci_nvidia")["device"] if row.get("subvendor")]
    plain = {row["id"] for row in tables.table("pci_nvidia")["device"] if not row.get("subvendor")}
    only = next(row for row in listed if row["id"] not in plain)
    assert gpu_by_pci("10de", only["id"], "", "ffff", "ffff").isa == only["isa"]


@pytest.mark.parametrize("ids", [("10de", "ffff"), ("1234", "1111"), ("", ""), ("106b", "0001"), ("zz", "yy")])
def test_unknown_pci_ids(ids):
    assert gpu_by_pci(*ids) is None


def test_every_pci_row_is_found_by_its_own_ids():
    vendors = {"nvidia": "10de", "amd": "1002", "intel": "8086"}
    for vendor, vendor_id in vendors.items():
        for row in tables.table(f"pci_{vendor}")["device"]:
            found = gpu_by_pci(vendor_id, row["id"], "", row.get("subvendor", ""), row.get("subdevice", ""))
            assert found.vendor == vendor
            assert found.isa == row.get("isa")


def test_every_product_is_found_by_its_own_name():
    for row in tables.table("gpus_nvidia")["gpu"] + tables.table("gpus_amd")["gpu"]:
        if row["name"] == "NVIDIA GeForce GPU":
            continue  # what a driver calls a chip that it has no name for
        found = gpu_by_name(row["name"])
        assert row["name"] in {gpu.name for gpu in found}, row["name"]
        isas = set(row.get("isas") or [row["isa"]])
        # GTX 860M and the like were sold with two chips, in a row each.
        known = {gpu.isa for gpu in found}
        assert isas <= known or len(isas) > 1, (row["name"], known)


def test_driver_branches_and_modules():
    assert [gpus.driver_branch_for(isa) for isa in ("sm_35", "sm_61", "sm_70", "sm_75", "sm_120", "gfx1100")] == [
        "470",
        "580",
        "580",
        None,
        None,
        None,
    ]
    expected = {"sm_61": "impossible", "sm_75": "optional", "sm_89": "optional", "sm_100": "only", "sm_120": "only"}
    assert {isa: gpus.open_module(isa) for isa in expected} == expected
    assert gpus.open_module("sm_999") == "only"
    assert gpus.open_module("gfx1100") == "impossible"


def test_displays_are_no_accelerators():
    shown = [("1a03", "2000"), ("102b", "0538"), ("1af4", "1050"), ("1013", "00b8"), ("0x15ad", "0x0405")]
    assert all(gpus.is_display_only(*ids) for ids in shown)
    others = [("10de", "2204"), ("1002", "744c"), ("1414", "008e"), ("1af4", "1000"), ("", "")]
    assert not any(gpus.is_display_only(*ids) for ids in others)


words = st.sampled_from(["NVIDIA", "GeForce", "RTX", "3090", "Ti", "Laptop", "GPU", "AMD", "Radeon", "RX", "6700", "XT"])


@settings(max_examples=60)
@given(st.one_of(st.text(max_size=400), st.lists(words, max_size=9).map(" ".join)))
def test_any_name_is_answered(name):
    found = one_gpu(name)
    assert found is None or found.vendor in gpus.VENDORS.values()
    assert all(isinstance(word, str) and word for word in names.key_of(name))


@settings(max_examples=60)
@given(st.text(max_size=9), st.text(max_size=9), st.text(max_size=4))
def test_any_ids_are_answered(vendor, device, revision):
    gpu_by_pci(vendor, device, revision, vendor, device)
    gpus.is_display_only(vendor, device)


def test_a_card_with_a_number_is_not_its_numberless_namesake():
    numbered = {row.name for row in gpu_by_name("Curacao PRO [Radeon R7 370]")}
    assert numbered.isdisjoint(row.name for row in gpu_by_name("AMD Radeon R7 Graphics"))


@pytest.mark.long
def test_a_card_that_pci_lists_name_twice_has_one_name_in_every_run():
    """The product's own name stands before the chip's, whatever order a set would have."""
    code = "from rigup.knowledge.gpus import one_gpu; print(one_gpu('WX 4100').name)"
    told = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, text=True, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "2", "3")
    }
    assert told == {"AMD Radeon Pro WX 4100\n"}


def test_the_names_that_are_told_without_their_rows_are_all_and_in_order():
    assert list(gpus._names()) == list(gpus._index())


def test_for_a_name_that_is_none_the_lists_of_pci_ids_are_not_read(monkeypatch):
    tables.forget()
    monkeypatch.setattr(gpus, "_names_of_pci", lambda: pytest.fail("read"))
    assert gpu_by_name("Ubuntu 22.04") == ()
    assert one_gpu("GeForce RTX 3060 Ti").isa == "sm_86"


def test_a_card_of_somebodys_own_list_is_found_by_its_name(tmp_path, monkeypatch):
    (tmp_path / "rigup" / "knowledge").mkdir(parents=True)
    (tmp_path / "rigup" / "knowledge" / "pci_nvidia.toml").write_text(
        '[meta]\nsource = "mine"\nchecked = "2026-11-20"\nhow = "measured"\n[[device]]\nid = "ffee"\nname = "GeForce Qwx 9917"\nisa = "sm_75"\n'
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    tables.forget()
    try:
        assert one_gpu("Qwx 9917").isa == "sm_75"
    finally:
        monkeypatch.undo()
        tables.forget()


def test_a_card_of_several_chips_is_listed_as_so_many_devices():
    assert {
        name: dict(one_gpu(name).devices)[""] for name in ("AMD Instinct MI250X", "Tesla K80", "NVIDIA A16", "Tesla V100-PCIE-32GB")
    } == {"AMD Instinct MI250X": 2, "Tesla K80": 2, "NVIDIA A16": 4, "Tesla V100-PCIE-32GB": 1}
    assert dict(one_gpu("AMD Instinct MI300X").devices)["CPX"] == 8
