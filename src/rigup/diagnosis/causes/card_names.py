"""What cards are called."""

from rigup.machine.kinds import CardState, Gpu

PLAIN_NAMES = ("AMD Radeon Graphics", "AMD Radeon(TM) Graphics", "AMD Radeon™ Graphics")


def called(gpu: Gpu) -> str:
    """The card's name, or its address where nobody tells one."""
    return str(gpu.get("name") or gpu.get("pci_address"))


def is_its_state(state: CardState, gpu: Gpu) -> bool:
    """Whether a state is that card's: by its place on the bus, else by the number of its maker's tool."""
    for key in ("pci_address", "nvml_index"):
        if state.get(key) is not None and gpu.get(key) is not None:
            return bool(state.get(key) == gpu.get(key))
    return False
