"""Cards: on the bus, in the kernel's own lists, as accelerators."""

from typing import Any

from rigup.machine.facts import MACHINE, Fact, Reading
from rigup.machine.names import CUT, same_name


class PciDevice(Fact, keys=("address",), scope=MACHINE):
    """A device on the bus; only displays and accelerators are kept."""

    address: str  # 0000:01:00.0
    vendor_id: str  # 10de
    device_id: str
    revision: str
    subsystem: str  # vendor:device
    class_code: str  # 0300
    name: str
    driver: str | None  # bound kernel driver
    modules: list[str]
    power: str  # active, suspended
    atomics: bool  # the device may send PCIe atomics: the whole path to it routes them
    bars: list[int]  # sizes of its windows into memory
    iommu_group: int
    iommu: str  # how the IOMMU treats it: identity, DMA, DMA-FQ


class Gpu(
    Fact,
    keys=("pci_address", "uuid", "nvml_index", "runtime_index", "kfd_node", "adapter"),
    scope=MACHINE,
    title=("pci_address", "name", "uuid", "nvml_index", "runtime_index", "kfd_node", "isa"),
):
    """An accelerator: what the chip is, never what an override pretends."""

    pci_address: str
    uuid: str
    nvml_index: int  # as its maker's smi counts
    runtime_index: int  # as CUDA, HIP or Vulkan counts in the program that spoke
    kfd_node: int
    adapter: int  # as a list counts that knows none of these: Windows' adapters
    vendor: str
    name: str
    pci_id: str  # 10de:2204
    revision: str  # of the PCI device: c1
    subsystem: str  # vendor:device of the board
    isa: str
    shown_isa: str  # what a runtime says it is: an override may speak
    integrated: bool
    driver: str | None  # bound kernel driver
    power: str
    vram: int
    gtt: int
    unified: int
    memory_used: int
    compute_mode: str
    mig: bool
    partitions: list[dict[str, Any]]
    ecc_errors: int
    persistence: bool
    driver_model: str  # Windows: WDDM, TCC, MCDM
    fabric: str  # state of NVSwitch's fabric: Completed, In Progress …
    recovery: str  # what the driver asks for: None, Reset, Reboot, Drain …
    remap_pending: bool  # a row waits for a reset to be replaced
    seen_by: str  # a tool or runtime that listed it as usable

    def alike(self, name: str, value: Any, other: Any) -> bool:
        """A card's name is written in many ways."""
        return same_name(str(value), str(other)) if name == "name" else bool(value == other)

    def prefers(self, name: str, new: Reading, held: Reading) -> bool:
        """Of two spellings of one name the fuller counts; one that a table cut yields to any that is whole."""
        if name == "name" and same_name(str(new.value), str(held.value)):
            cut = [str(reading.value).endswith(CUT) for reading in (new, held)]
            if cut[0] != cut[1]:
                return cut[1]
            if new.rank == held.rank:
                return len(str(new.value)) > len(str(held.value))
        return super().prefers(name, new, held)

    def contradicts(self, other: Fact) -> bool:
        """Two makers or two models are two cards, whatever an index says; one address is one card."""
        for key in ("pci_address", "uuid"):
            if self.knows(key) and other.knows(key):
                return bool(self.fields[key].value != other.fields[key].value)
        named = self.knows("name") and other.knows("name")
        makers = self.knows("vendor") and other.knows("vendor")
        return (
            super().contradicts(other)
            or (makers and self.fields["vendor"].value != other.fields["vendor"].value)
            or (named and not same_name(self.fields["name"].value, other.fields["name"].value))
            or (self.knows("pci_id") and other.knows("pci_id") and self.fields["pci_id"].value != other.fields["pci_id"].value)
        )


class CardState(Fact, keys=("pci_address", "nvml_index"), scope=MACHINE, title=("pci_address", "nvml_index")):
    """How a card runs now: its link to the machine, how busy it is, and what slows it down."""

    pci_address: str
    nvml_index: int  # as its maker's smi counts
    lanes: int  # of PCIe, in use
    lanes_of_card: int  # that it has
    lanes_of_slot: int  # that the port above it has
    lanes_most: int  # that card and slot have together, as its driver tells
    generation: int  # of PCIe: what the link runs at
    generation_most: int  # that card and slot can together
    busy: int  # per cent of the time
    throttle: list[str]  # why its clock is lowered, in the words of rigup.watch/1


class CardCount(Fact, keys=("vendor",), scope=MACHINE):
    """All cards of one maker that anybody saw on a machine, together: for rules that count."""

    vendor: str
    count: int
    uuids: list[str]
    usable: int  # that some tool or runtime listed
    mig: bool  # some are cut into MIG devices


class GpuProcess(Fact, keys=("pid",), scope=MACHINE, title=("pid",)):
    """A program that has a card's memory, as the driver's tools and `ps` tell of it."""

    pid: int
    name: str
    memory: int  # bytes of the card
    owner: str  # the account's name
    command: str  # with its arguments, as `ps` shows it
    parent: int  # the number of what started it; 1 where that is gone
    gpu: int  # the card's number, as nvidia-smi counts
    graphics: bool  # draws, and does not compute
    stopped: list[str]  # by Ctrl+Z or SIGSTOP: its number, and that of what started it where that was stopped too


class UnlistedVendor(Fact, keys=("vendor",), scope=MACHINE):
    """A maker whose cards somebody looked for on the bus by name, in vain."""

    vendor: str  # nvidia, amd


class KfdNode(Fact, keys=("node",), scope=MACHINE):
    """A GPU as amdkfd lists it: a whole card, or one partition of it."""

    node: int
    pci_address: str
    pci_id: str
    isa: str
    vram: int
    gpu_id: int  # 0: not usable by this process
    unique_id: str
    is_cpu_too: bool  # one node holds processor and GPU: an APU
    atomics: bool  # its link to the processor carries them


class DrmCard(Fact, keys=("card",), scope=MACHINE):
    """A card of the kernel's graphics layer."""

    card: int
    pci_address: str
    vram: int
    gtt: int
