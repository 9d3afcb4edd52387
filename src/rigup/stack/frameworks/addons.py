"""Compiled packages that stand on a torch: they take away builds on which they would not work."""

from collections.abc import Iterator, Mapping

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.knowledge.cuda import version_key
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site


class Addon(msgspec.Struct, frozen=True, kw_only=True):
    """What a package asks of the torch beneath it.

    Attributes:
        kinds: ways of reaching a device that it knows.
        isa_min: the oldest NVIDIA chip on which it works, "" for any.
        isas_amd: the targets on which it works; empty for any.
        toolkit: it is compiled where it is installed.

    """

    package: str
    systems: list[str]
    machines: list[str]
    kinds: list[str]
    isa_min: str = ""
    isas_amd: list[str] = []
    toolkit: bool = False
    source: str = ""


class AddonRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One release of such a package.

    Attributes:
        torch: the torch that it stands on, as a version specifier.
        python: the lowest.
        isa_min, kinds: in place of its package's, "" and empty for the same.

    """

    package: str
    version: str
    torch: str
    python: str = ""
    isa_min: str = ""
    kinds: list[str] = []
    source: str = ""


def addons(asked: Mapping[str, Requirement]) -> list[Addon]:
    """Those that a wish names.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return [row for row in tables.rows("torch_addons", "addon", Addon) if row.package in asked]


def with_addons(
    build: Candidate, wished: list[Addon], asked: Mapping[str, Requirement], site: Site
) -> Iterator[Candidate]:
    """A build under what stands on it; nothing where that is not made for the build or the system.

    Where an older release serves older chips, the build comes once with each.
    """
    if not wished:
        yield build
        return
    addon, rest = wished[0], wished[1:]
    for one in _under(build, addon, asked, site):
        yield from with_addons(one, rest, asked, site)


def _under(build: Candidate, addon: Addon, asked: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    if site.system not in addon.systems or site.machine not in addon.machines or build.kind not in addon.kinds:
        return
    releases = [row for row in _releases(addon.package) if _stands_on(row, build, asked[addon.package])]
    seen: set[str] = set()
    for row in releases:
        if row.isa_min not in seen:
            seen.add(row.isa_min)
            yield _with(build, addon, row)
    if not releases and not any(_releases(addon.package)):
        yield _with(build, addon, None)


def _releases(package: str) -> list[AddonRelease]:
    rows = tables.rows("torch_addons", "addon_release", AddonRelease)
    return sorted(
        (row for row in rows if row.package == package), key=lambda row: version_key(row.version), reverse=True
    )


def _stands_on(row: AddonRelease, build: Candidate, want: Requirement) -> bool:
    return (
        want.specifier.contains(row.version, prereleases=True)
        and SpecifierSet(row.torch).contains(build.version)
        and (not row.kinds or build.kind in row.kinds)
    )


def _with(build: Candidate, addon: Addon, row: AddonRelease | None) -> Candidate:
    oldest = row.isa_min if row and row.isa_min else addon.isa_min
    lowest = version_key(row.python) if row and row.python else ()
    amd = addon.isas_amd if build.kind == "rocm" else []
    return msgspec.structs.replace(
        build,
        isa_min=max(build.isa_min, oldest, key=isa_order),
        code=tuple(isa for isa in build.code if not amd or isa in amd),
        extra_isas={isa: extra for isa, extra in build.extra_isas.items() if not amd or isa in amd},
        python=tuple(one for one in build.python if version_key(one) >= lowest),
        beside=build.beside | ({row.package: row.version} if row else {}),
    )
