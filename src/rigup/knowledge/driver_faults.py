"""Drivers and firmware that are known to be at fault, and displays that only a guest has."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class _Branch(msgspec.Struct, frozen=True):
    id: str
    branches: list[str]


class _Firmware(msgspec.Struct, frozen=True):
    component: str
    versions: list[str]
    package: str
    chips: list[str]


class _Display(msgspec.Struct, frozen=True):
    vendor_id: str
    kind: str
    driver: str = ""
    ids: list[str] = []


class _DriverBranch(msgspec.Struct, frozen=True):
    branch: str
    kind: str = ""
    end_of_life: str = ""


def branch_has(fault: str, driver_version: str) -> bool:
    """Whether a driver is of a branch of which some releases have a fault.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("driver_faults", "branch_fault", _Branch)
    branch = driver_version.partition(".")[0]
    return any(row.id == fault and branch in row.branches for row in rows)


def firmware_fault(component: str = "", version: str = "", package: str = "", isa: str | None = None) -> bool:
    """Whether a firmware, by its own version or its package's, is known to be bad for a chip; None: for some chip.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows("driver_faults", "firmware_fault", _Firmware):
        matches = (component == row.component and _hex(version) in map(_hex, row.versions)) or bool(package and row.package in package)
        if matches and (isa is None or isa in row.chips):
            return True
    return False


def _hex(version: str) -> int:
    """0x00000083 is 0x83."""
    try:
        return int(version, 16)
    except ValueError:
        return -1


def virtual_display(vendor_id: str | None, driver: str | None = None) -> bool:
    """Whether a display exists in virtual machines only, by its maker's id or its kernel driver.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = [row for row in tables.rows("displays", "display", _Display) if row.kind == "virtual"]
    return any(vendor_id == row.vendor_id or bool(driver and driver.replace("-", "_") == row.driver) for row in rows)


def production_branch() -> str | None:
    """The newest long-lived branch of NVIDIA's driver.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("distro_drivers", "driver_branch", _DriverBranch)
    lasting = [row.branch for row in rows if "LTSB" in row.kind and "ended" not in row.end_of_life]
    return max(lasting, key=version_key, default=None)
