"""What cards are called."""

from rigup.machine.kinds import Gpu

PLAIN_NAMES = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")


def called(gpu: Gpu) -> str:
    """The card's name, or its address where nobody tells one."""
    return str(gpu.get("name") or gpu.get("pci_address"))
