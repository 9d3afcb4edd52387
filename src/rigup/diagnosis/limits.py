"""What each device cannot do, and the newest torch that it runs, with the tables that say so."""

from rigup.knowledge.abilities import lacking
from rigup.knowledge.torch_builds import newest_build
from rigup.schemas.shared import Hardware, Lack, Limits, NewestTorch


def limits(device: Hardware, system: str = "linux") -> Limits:
    """A device's limits.

    Args:
        device: as in `machine.accelerators`.
        system: "linux" or "windows".

    Raises:
        KnowledgeError: a table is malformed.

    """
    isa, vendor = device.isa or "", device.vendor or ""
    lacks = [Lack(id=row.id, text=row.lack, source=_source(row.source, vendor)) for row in lacking(vendor, isa)]
    build = newest_build(isa, system=system) if isa else None
    if build is None:
        return Limits(lacks=lacks)
    newest = NewestTorch(version=f"{build.torch}+{build.variant}", source=build.source or "torch_builds")
    return Limits(lacks=lacks, newest_torch=newest)


# Words by which an address is known as one maker's: a card's limits are told by its own maker, or by nobody's.
_OF_MAKERS = {"nvidia": ("nvidia", "cuda"), "amd": ("rocm", "amd.com", "gpuopen"), "apple": ("apple.com",), "intel": ("intel.com",)}


def _source(addresses: str, vendor: str) -> str:
    """Of several addresses the one that speaks of this maker's chips; the table itself where none does."""
    links = [address.strip() for address in addresses.split(",")]
    others = {word for maker, words in _OF_MAKERS.items() if maker != vendor for word in words}
    own = [address for address in links if any(word in address.lower() for word in _OF_MAKERS.get(vendor, ()))]
    free = [address for address in links if not any(word in address.lower() for word in others)]
    return (own or free or ["knowledge/abilities"])[0]
