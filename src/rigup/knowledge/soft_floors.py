"""Which releases of a package are too new for a framework, where its metadata does not say so to installers."""

from collections.abc import Mapping

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class SoftFloor(msgspec.Struct, frozen=True, kw_only=True):
    """Releases of `package` from `since` on need `on` of `least` or newer."""

    package: str
    on: str
    since: str
    least: str
    source: str = ""


def too_new(versions: Mapping[str, str]) -> dict[str, SoftFloor]:
    """By package the row of its first release that is too new for frameworks that were chosen; it need not be wanted.

    Args:
        versions: of the frameworks, by name, with or without their local part.

    Raises:
        KnowledgeError: the table is malformed.

    """
    floors: dict[str, SoftFloor] = {}
    for row in tables.rows("soft_floors", "floor", SoftFloor):
        have = version_key(versions.get(row.on, "").partition("+")[0])
        older = bool(have) and have < version_key(row.least)
        if older and (row.package not in floors or version_key(row.since) < version_key(floors[row.package].since)):
            floors[row.package] = row
    return floors
