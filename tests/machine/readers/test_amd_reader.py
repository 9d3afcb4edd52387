"""AMD's sysfs: cards, partitions, memory, what runs and what is asleep."""

from rigup.machine.inventory import accelerators
from rigup.machine.kinds import Gpu, KernelModule, KfdNode, ModuleParameter, Toolkit

NODES = "/sys/class/kfd/kfd/topology/nodes/"
CPU = "cpu_cores_count 16\nsimd_count 0\ngfx_target_version 0\nvendor_id 0\ndevice_id 0\nlocation_id 0\n"


def node(location=0x300, target=100300, device=0x73BF, domain=0, cores=0):
    return (
        f"cpu_cores_count {cores}\nsimd_count 80\ngfx_target_version {target}\nvendor_id 4098\ndevice_id {device}\n"
        f"location_id {location}\ndomain {domain}\nunique_id 1234567\n"
    )


def bank(size, heap=1):
    return f"heap_type {heap}\nsize_in_bytes {size}\nflags 0\nwidth 256\n"


def test_a_processor_is_no_card_and_a_card_has_its_address(tree):
    facts = tree(
        {
            NODES + "0/properties": CPU,
            NODES + "1/properties": node(),
            NODES + "1/mem_banks/0/properties": bank(17163091968),
            NODES + "0/mem_banks/0/properties": bank(64_000_000_000, heap=0),
        }
    )
    (card,) = accelerators(facts)
    assert (card["isa"], card["pci_address"], card["pci_id"], card["memory"]) == (
        "gfx1030",
        "0000:03:00.0",
        "1002:73bf",
        {"vram": 17163091968},
    )


def test_partitions_at_one_address_are_one_card(tree):
    files = {}
    for number in range(4):
        files[f"{NODES}{number + 1}/properties"] = node(0xA00 + number, 90402, 0x74A1, domain=1)
        files[f"{NODES}{number + 1}/mem_banks/0/properties"] = bank(48 * 2**30)
    (card,) = accelerators(tree(files))
    assert (card["pci_address"], card["isa"], card["memory"]) == ("0001:0a:00.0", "gfx942", {"vram": 192 * 2**30})
    assert [part["memory"] for part in card["partitions"]] == [48 * 2**30] * 4


def test_an_old_kernel_tells_no_target_and_the_catalogue_does(tree):
    told = "cpu_cores_count 0\nsimd_count 256\nvendor_id 4098\ndevice_id 26720\nlocation_id 768\n"
    (card,) = accelerators(tree({NODES + "1/properties": told}))
    assert card["isa"] == "gfx900"


def test_an_apu_shares_memory_and_its_bank_is_not_its_own(tree):
    facts = tree({NODES + "1/properties": node(0xC400, 110501, 0x1586), NODES + "1/mem_banks/0/properties": bank(2**36)})
    (card,) = accelerators(facts)
    assert card["integrated"] is True
    assert "memory" not in card


def test_a_node_with_little_told_is_a_card_still(tree):
    (card,) = tree({NODES + "1/properties": "simd_count 80\ngfx_target_version 100301\nvendor_id 4098\n"}).of(Gpu)
    assert (card.isa, card.vendor, card.kfd_node) == ("gfx1031", "amd", 1)


def test_bus_and_kfd_tell_of_one_card(tree):
    base = "/sys/bus/pci/devices/0000:03:00.0/"
    facts = tree(
        {
            base + "class": "0x030000\n",
            base + "vendor": "0x1002\n",
            base + "device": "0x73bf\n",
            base + "revision": "0xc1\n",
            base + "mem_info_vram_total": "17163091968\n",
            NODES + "1/properties": node(),
        }
    )
    (card,) = accelerators(facts)
    assert "6800" in card["name"] or "6900" in card["name"]
    assert card["memory"] == {"vram": 17163091968}
    assert len(facts.of(KfdNode)) == 1


def sleeping(base):
    return {
        base + "class": "0x030000\n",
        base + "vendor": "0x1002\n",
        base + "device": "0x73bf\n",
        base + "power/runtime_status": "suspended\n",
        base + "mem_info_vram_total": "17163091968\n",
    }


def test_a_card_that_sleeps_is_not_woken_for_its_memory(tree):
    facts = tree(sleeping("/sys/bus/pci/devices/0000:03:00.0/"))
    assert not facts.of(Gpu)[0].knows("vram")


def test_it_is_when_somebody_wants_it(tree):
    facts = tree(sleeping("/sys/bus/pci/devices/0000:03:00.0/"), wake=True)
    assert facts.of(Gpu)[0].vram == 17163091968


def test_versions_and_parameters_in_force(tree):
    facts = tree(
        {
            "/sys/module/amdgpu/version": "6.12.12\n",
            "/sys/module/amdgpu/parameters/gttsize": "-1\n",
            "/sys/module/ttm/parameters/pages_limit": "27648000\n",
            "/opt/rocm-6.4.1/.info/version": "6.4.1-83\n",
        }
    )
    assert [(m.name, m.version, m.loaded) for m in facts.of(KernelModule) if m.knows("version")] == [("amdgpu", "6.12.12", True)]
    running = {(p.module, p.name): p.running for p in facts.of(ModuleParameter)}
    assert running == {("amdgpu", "gttsize"): "-1", ("ttm", "pages_limit"): "27648000"}
    assert [(kit.name, kit.version, kit.path) for kit in facts.of(Toolkit)] == [("rocm", "6.4.1", "/opt/rocm-6.4.1")]
