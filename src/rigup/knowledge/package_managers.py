"""How a distribution installs and removes, by the family that it belongs to."""

import msgspec

from rigup.knowledge.tables import remembered, rows


class PackageManager(msgspec.Struct, frozen=True, kw_only=True):
    """Argument vectors of one family of distributions; package names follow them.

    Attributes:
        headers: the package with a kernel's headers; {kernel} stands for its release.

    """

    family: str
    ids: list[str]
    install: list[str]
    remove: list[str]
    upgrade: list[str]
    initramfs: list[str]
    headers: str
    source: str = ""


@remembered
def _by_id() -> dict[str, PackageManager]:
    found = rows("package_managers", "system", PackageManager)
    return {name: row for row in found for name in row.ids}


def package_manager(distribution: str) -> PackageManager | None:
    """The package manager of a distribution, by the ID of its os-release; None if it is not known."""
    return _by_id().get(distribution.lower())
