"""What each device cannot do, and the newest torch that it runs, with the tables that say so."""

from typing import Any

from rigup.knowledge.abilities import lacking
from rigup.knowledge.torch_builds import newest_build

Device = dict[str, Any]


def limits(device: Device, system: str = "linux") -> Device:
    """A device's limits.

    Args:
        device: as in `machine.accelerators`.
        system: "linux" or "windows".

    Returns:
        `lacks` (id, text, source) and `newest_torch` where one is known to run.

    Raises:
        KnowledgeError: a table is malformed.

    """
    isa = str(device.get("isa") or "")
    told = [
        {"id": row.id, "text": row.lack, "source": _source(row.source, str(device.get("vendor")))}
        for row in lacking(str(device.get("vendor")), isa)
    ]
    found: Device = {"lacks": told}
    build = newest_build(isa, system=system) if isa else None
    if build is not None:
        found["newest_torch"] = {"version": f"{build.torch}+{build.variant}", "source": build.source or "torch_builds"}
    return found


# Words by which an address is known as one maker's: a card's limits are told by its own maker, or by nobody's.
_OF_MAKERS = {
    "nvidia": ("nvidia", "cuda"),
    "amd": ("rocm", "amd.com", "gpuopen"),
    "apple": ("apple.com",),
    "intel": ("intel.com",),
}


def _source(addresses: str, vendor: str) -> str:
    """Of several addresses the one that speaks of this maker's chips; the table itself where none does."""
    told = [address.strip() for address in addresses.split(",")]
    others = {word for maker, words in _OF_MAKERS.items() if maker != vendor for word in words}
    own = [one for one in told if any(word in one.lower() for word in _OF_MAKERS.get(vendor, ()))]
    free = [one for one in told if not any(word in one.lower() for word in others)]
    return (own or free or ["knowledge/abilities"])[0]
