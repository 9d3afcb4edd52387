"""The names of devices in the lists of PCI ids, as they are compared."""

from typing import Any

from rigup.knowledge.names import key_of

PCI_LISTS = ("pci_nvidia", "pci_amd", "pci_intel")


def names_of_pci(parsed: dict[str, dict[str, Any]]) -> list[str] | None:
    """The comparable forms of all names in the lists of PCI ids, device by device; None where a row is malformed.

    By them one tells that a name is none of these without reading thousands of rows.
    """
    devices: dict[tuple[str, str], list[dict[str, Any]]] = {}
    try:
        for name in PCI_LISTS:
            for row in parsed.get(name, {}).get("device", ()):
                devices.setdefault((name, row["id"]), []).append(row)
        rows = [row for alike in devices.values() for row in alike]
        names = (name for row in rows for name in (*row.get("revisions", {}).values(), row.get("name"), row.get("pci_name")))
        return list(dict.fromkeys(" ".join(key_of(name)) for name in names if name))
    except (KeyError, TypeError, AttributeError):
        return None
