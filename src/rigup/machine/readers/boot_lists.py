"""Lists of devices that boot tools and the kernel print: Ubuntu's driver chooser, the kernel's own walk over the bus."""

from rigup.machine.kinds import Gpu, PciDevice
from rigup.machine.reader import Statements, reads
from rigup.machine.readers.values import address
from rigup.machine.texts import Text

_MAKERS = {"NVIDIA": "nvidia", "Advanced Micro": "amd", "Intel": "intel"}
_CHOOSER = r"^(?:modalias[ \t]*: pci:v0000(?P<maker_id>[0-9A-F]{4})d0000(?P<device_id>[0-9A-F]{4})\S{0,80}\n)?vendor[ \t]*: (?P<maker>NVIDIA|Advanced Micro|Intel)[^\n]{0,60}\n(?:model[ \t]*: (?P<model>[^\n]{3,120}))?"
_WALK = r"\bpci (?P<address>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]): \[(?P<vendor>10de|1002|8086):(?P<device>[0-9a-f]{4})\] type 00 class 0x(?P<code>03[0-9a-f]{2}|1200)[0-9a-f]{2}"


@reads(adds=(Gpu,), marks=("vendor   : NVIDIA", "vendor   : Advanced Micro"), rank=0)
def ubuntu_drivers(text: Text) -> Statements:
    """`ubuntu-drivers devices`: `vendor   : NVIDIA Corporation`, below it `model    : GK107 [GeForce GTX 650]`."""
    for index, hit in enumerate(text.each(_CHOOSER)):
        if index > 15 or hit["maker"] == "Intel":
            continue
        fields = {"pci_id": f"{hit['maker_id']}:{hit['device_id']}".lower()} if hit["maker_id"] else {}
        if model := hit["model"]:
            inner = model.rpartition("[")[2].partition("]")[0]
            fields["name"] = (inner or model).strip()
        if fields:
            yield hit.states(Gpu, vendor=_MAKERS[hit["maker"]], adapter=index, **fields)


@reads(adds=(PciDevice,), marks=("type 00 class 0x03", "type 00 class 0x12"), rank=0)
def kernel_walks_the_bus(text: Text) -> Statements:
    """`pci 0000:01:00.0: [10de:2684] type 00 class 0x030000`: what the kernel found before any driver was asked."""
    for hit in text.each(_WALK):
        where = address(hit["address"])
        yield hit.states(PciDevice, address=where, class_code=hit["code"], vendor_id=hit["vendor"], device_id=hit["device"])
