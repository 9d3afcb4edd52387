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
    told = [{"id": row.id, "text": row.lack, "source": row.source} for row in lacking(str(device.get("vendor")), isa)]
    found: Device = {"lacks": told}
    build = newest_build(isa, system=system) if isa else None
    if build is not None:
        found["newest_torch"] = {"version": f"{build.torch}+{build.variant}", "source": build.source or "torch_builds"}
    return found
