"""Cards as trees of files whose values tests move."""

from pathlib import Path


class Card:
    """A card in a captured tree."""

    def __init__(self, root: Path, address: str, vendor: str, device: str, driver: str) -> None:
        self.root, self.address = root, address
        self.folder = root / "sys/devices/pci0000:00" / address
        self.write("vendor", vendor)
        self.write("device", device)
        self.write("class", "0x030000")
        self.write("power/runtime_status", "active")
        (self.folder / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
        (root / "sys/bus/pci/drivers" / driver).mkdir(parents=True, exist_ok=True)
        bus = root / "sys/bus/pci/devices"
        bus.mkdir(parents=True, exist_ok=True)
        (bus / address).symlink_to(f"../../../devices/pci0000:00/{address}")

    def write(self, name: str, value: object) -> None:
        """A file of it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value if isinstance(value, bytes) else f"{value}\n".encode())
