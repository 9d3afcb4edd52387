"""What lies between a card and memory: the IOMMU's group and manner, and whether the path carries atomics."""

import re
from collections.abc import Iterator

from rigup.machine.kinds import KfdNode, PciDevice
from rigup.machine.reader import File, Listing, Statements, derives, reads
from rigup.machine.readers.values import address, says
from rigup.machine.texts import Text

_MINE = "/sys/bus/pci/devices/{PciDevice.address}/"
_LINKS = "/sys/class/kfd/kfd/topology/nodes/*/io_links/*/properties"
_PCIE, _NO_ATOMICS = 2, 0b1100  # of include/uapi/linux/kfd_sysfs.h: a link's kind; no 32 bit and no 64 bit ones


@reads(inputs=[Listing(_MINE + "iommu_group")], adds=(PciDevice,))
def iommu_groups(text: Text) -> Statements:
    """`iommu_group -> ../../../kernel/iommu_groups/14`; without an IOMMU there is no such link."""
    for hit in text.each(r"(?P<path>/sys/\S{1,200})/iommu_group -> \S{0,200}/iommu_groups/(?P<group>\d{1,5})$"):
        if where := address(hit["path"]):
            yield hit.states(PciDevice, address=where, iommu_group=int(hit["group"]))


@reads(inputs=[File(_MINE + "iommu_group/type")], adds=(PciDevice,))
def iommu_manner(text: Text) -> Statements:
    """`identity` (pass-through), `DMA`, `DMA-FQ`."""
    where, kind = address(text.source), re.match(r"(identity|DMA(?:-FQ)?|auto|blocked)\s*\Z", text.body)
    if where and kind:
        yield from says(text, PciDevice, 0, address=where, iommu=kind[1])


@reads(inputs=[File(_LINKS)], adds=(KfdNode,))
def kfd_links(text: Text) -> Statements:
    """A card's link to its processor: `type 2`, `node_from 1`, `node_to 0`, `flags 13`."""
    values = {hit["name"]: int(hit["value"]) for hit in text.each(r"^(?P<name>[a-z_]{3,40}) (?P<value>\d{1,12})$")}
    node = re.search(r"nodes/(\d{1,5})/io_links/", text.source)
    known = {"type", "flags", "node_from", "node_to"} <= values.keys()
    if node and known and values["type"] == _PCIE and values["node_from"] == int(node[1]) > values["node_to"]:
        yield from says(text, KfdNode, max(text.body.find("flags"), 0), node=int(node[1]), atomics=not values["flags"] & _NO_ATOMICS)


@derives(PciDevice)
def atomics_of_card(node: KfdNode) -> Iterator[PciDevice]:
    """What its link tells holds for the card; a processor's own GPU has no slot."""
    if node.knows("atomics", "pci_address") and not node.get("is_cpu_too") and node.get("isa"):
        yield PciDevice(node.place, {"address": node.fields["pci_address"], "atomics": node.fields["atomics"]})
