"""A device of the machine with whether it is served, as answers have it."""

import msgspec

from rigup.schemas.plan import ServedDevice
from rigup.stack.candidate import Served
from rigup.stack.site import Device

_STATES = {"native": "expected", "trial": "on-trial", "no": "no"}


def device_json(device: Device, served: Served) -> ServedDevice:
    """A device with whether it is served."""
    known = {
        "index": device.index,
        "vendor": device.vendor,
        "name": device.name,
        "isa": device.isa,
        "pci_id": device.pci_id,
        "pci_address": device.pci_address,
        "integrated": device.integrated,
        "memory": device.memory,
    }
    fields = {key: value for key, value in known.items() if value not in (None, "", {})}
    return msgspec.convert({**fields, "served": served.served, "state": _STATES[served.how], "because": served.because}, ServedDevice)
