"""Cards that sleep are left asleep: nothing of them is opened but what the kernel itself knows."""

import pytest

from rigup.machine import readers  # noqa: F401  (registers them)
from rigup.machine.facts import Place
from rigup.machine.kinds import Gpu
from rigup.machine.look import look
from rigup.machine.sources import Source
from rigup.machine.tree import Tree

DEVICES = "/sys/bus/pci/devices/"
# Kept by the kernel since the bus was scanned: to read it touches no card.
BY_THE_KERNEL = {"class", "uevent", "vendor", "device", "revision", "resource", "runtime_status", "type", "driver", "iommu_group"}


class Watched:
    """A host that notes which files are opened and which programs are run."""

    def __init__(self, inner):
        self.inner, self.opened, self.ran = inner, [], []

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def read(self, path, limit=0):
        self.opened.append(path)
        return self.inner.read(path, limit) if limit else self.inner.read(path)

    def run(self, argv, seconds=5.0):
        self.ran.append(argv)
        return self.inner.run(argv, seconds)


def card(address, vendor, device, power, number):
    base = DEVICES + address + "/"
    return {
        base + "class": "0x030000\n",
        base + "uevent": f"PCI_CLASS=30000\nPCI_ID={vendor}:{device}\nPCI_SLOT_NAME={address}\n",
        base + "power/runtime_status": power + "\n",
        base + "mem_info_vram_total": "17163091968\n",
        base + "mem_info_gtt_total": "33554432\n",
        f"/sys/class/drm/card{number}/device": "-> ../../../bus/pci/devices/" + address,
        f"/proc/driver/nvidia/gpus/{address}/information": f"Model: \t NVIDIA Test\nBus Location: \t {address}\n",
    }


@pytest.fixture
def machine(tmp_path):
    def made(*cards):
        for path, body in {path: body for one in cards for path, body in one.items()}.items():
            file = tmp_path / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.symlink_to(body[3:]) if body.startswith("-> ") else file.write_text(body)
        (tmp_path / "dev").mkdir()
        (tmp_path / "dev/nvidiactl").write_text("")
        return Watched(Tree(str(tmp_path)))

    return made


SLEEPING_AMD = card("0000:03:00.0", "1002", "744C", "suspended", 1)
AWAKE_AMD = card("0000:c4:00.0", "1002", "15BF", "active", 0)
SLEEPING_NVIDIA = card("0000:01:00.0", "10DE", "2520", "suspended", 1)


def touched(host, address, number):
    """What was opened of a card, by its address or its number, beside what the kernel keeps."""
    mine = [path for path in host.opened if address in path or f"/card{number}/" in path]
    assert mine
    return [path for path in mine if path.rsplit("/", 1)[-1] not in BY_THE_KERNEL]


def test_a_suspended_card_is_named_and_left_asleep(machine):
    host = machine(SLEEPING_AMD)
    (gpu,) = look([Source(Place(), host)]).of(Gpu)
    assert (gpu.isa, gpu.power) == ("gfx1100", "suspended")
    assert touched(host, "0000:03:00.0", 1) == []
    assert not gpu.knows("vram")


def test_the_card_beside_it_is_read_all_the_same(machine):
    host = machine(SLEEPING_AMD, AWAKE_AMD)
    gpus = {gpu.pci_address: gpu for gpu in look([Source(Place(), host)]).of(Gpu)}
    assert gpus["0000:c4:00.0"].vram == 17163091968
    assert not gpus["0000:03:00.0"].knows("vram")
    assert touched(host, "0000:03:00.0", 1) == []


@pytest.mark.parametrize("power", ["suspended", "suspending"])
def test_no_tool_of_its_maker_is_run_while_one_sleeps(machine, power):
    host = machine(card("0000:01:00.0", "10DE", "2520", power, 1))
    facts = look([Source(Place(), host)])
    assert touched(host, "0000:01:00.0", 1) == []
    assert not [argv for argv in host.ran if "nvidia-smi" in argv[0] or argv[-1].endswith("nvml.py")]
    assert [gpu.power for gpu in facts.of(Gpu)] == [power]


def test_other_makers_tools_are_run_while_one_sleeps(machine):
    host = machine(SLEEPING_NVIDIA, AWAKE_AMD)
    look([Source(Place(), host)])
    assert ("rocminfo",) in host.ran
    assert ("nvidia-smi",) not in host.ran


def test_whoever_asks_for_it_wakes_them(machine):
    host = machine(SLEEPING_AMD)
    (gpu,) = look([Source(Place(), host)], wake=True).of(Gpu)
    assert gpu.vram == 17163091968


def test_an_awake_card_is_read_by_its_makers_tools(machine):
    host = machine(card("0000:01:00.0", "10DE", "2520", "active", 1))
    look([Source(Place(), host)])
    assert ("nvidia-smi",) in host.ran
    assert "/proc/driver/nvidia/gpus/0000:01:00.0/information" in touched(host, "0000:01:00.0", 1)
