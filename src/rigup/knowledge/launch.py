"""Variables of a job on many GPUs, by the vendor of the GPUs and the fabric between nodes."""

import msgspec

from rigup.knowledge.tables import rows


class LaunchVariable(msgspec.Struct, frozen=True, kw_only=True):
    """A row: a variable with its value; `vendor` and `fabric` are "" for any."""

    name: str
    value: str
    because: str
    vendor: str = ""
    fabric: str = ""


def launch_variables(vendor: str, fabric: str) -> dict[str, str]:
    """Variables for GPUs of a vendor and a fabric; "" for one that nobody knows, to which only rows for any apply."""
    found = rows("launch_variables", "variable", LaunchVariable)
    return {row.name: row.value for row in found if row.vendor in ("", vendor) and row.fabric in ("", fabric)}
