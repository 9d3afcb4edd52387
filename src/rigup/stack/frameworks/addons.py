"""Compiled packages that stand on a torch: they take away builds on which they would not work."""

from collections.abc import Iterator, Mapping

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.knowledge.cuda import version_key
from rigup.language import _
from rigup.stack.candidate import Candidate, Change
from rigup.stack.site import Site


class Addon(msgspec.Struct, frozen=True, kw_only=True):
    """What a package asks of the torch beneath it.

    Attributes:
        kinds: ways of reaching a device that it knows.
        isa_min: the oldest NVIDIA chip on which it works, "" for any.
        isas_amd: the targets on which it works; empty for any.
        toolkit: it is compiled where it is installed, unless a release has a wheel for the torch.
        options: what pip is told beside. before: packages that its build needs, installed first.

    """

    package: str
    systems: list[str]
    machines: list[str]
    kinds: list[str]
    isa_min: str = ""
    isas_amd: list[str] = []
    toolkit: bool = False
    options: list[str] = []
    before: list[str] = []
    source: str = ""


class AddonRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One release of such a package.

    Attributes:
        torch: the torch that it stands on, as a version specifier.
        python: the lowest.
        isa_min, kinds: in place of its package's, "" and empty for the same.
        variants: builds of torch that it is compiled for, and in whose index it lies; empty for any.
        range: versions that serve alike, in place of the one ("": that one alone).
        ready_torch, ready_cuda: for which torch and which major of CUDA it comes compiled; "" for none.

    """

    package: str
    version: str
    torch: str
    python: str = ""
    isa_min: str = ""
    kinds: list[str] = []
    variants: list[str] = []
    range: str = ""
    ready_torch: str = ""
    ready_cuda: str = ""
    source: str = ""


def addons(asked: Mapping[str, Requirement]) -> list[Addon]:
    """Those that a wish names.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return [row for row in tables.rows("torch_addons", "addon", Addon) if row.package in asked]


def build_of(package: str) -> Addon | None:
    """How a package that stands on a torch is installed; None where the tables say nothing. Raises KnowledgeError."""
    return next((row for row in tables.rows("torch_addons", "addon", Addon) if row.package == package), None)


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
    ready = [row for row in releases if addon.toolkit and _ready(row, build)]
    seen: set[str] = set()
    for row in ready or releases:
        if row.isa_min not in seen:
            seen.add(row.isa_min)
            yield _with(build, addon, row, () if ready else _compiler(build, addon, site))
    if not releases and not any(_releases(addon.package)):
        yield _with(build, addon, None, _compiler(build, addon, site))


def _ready(row: AddonRelease, build: Candidate) -> bool:
    """A wheel of it is there for the build."""
    fits = bool(row.ready_torch) and SpecifierSet(row.ready_torch).contains(build.version)
    return fits and version_key(build.cuda)[:1] == version_key(row.ready_cuda)


def _compiler(build: Candidate, addon: Addon, site: Site) -> tuple[Change, ...]:
    """The toolkit that what is compiled here needs: that of the torch beneath it."""
    toolkit = build.cuda or build.rocm
    if not addon.toolkit or not toolkit or _is_there(build, site):
        return ()
    told = _("{package} is compiled here, with the toolkit that belongs to {build}.")
    why = told.format(package=addon.package, build=build.label)
    own = site.holder == "conda" and bool(build.cuda)
    if build.rocm:
        return (Change(change="rocm", have=None, to=build.rocm, why=why, source="torch_addons", weight=6),)
    return (
        Change(
            change="toolkit", have=site.toolkit or None, to="CUDA " + build.cuda, why=why, source="torch_addons",
            root=not own, weight=4 if own else 6,
        ),
    )  # fmt: skip


def _is_there(build: Candidate, site: Site) -> bool:
    """A toolkit of the same major release: torch's own check of it goes no further."""
    have = [site.toolkit or ""] if build.cuda else [*site.there.toolkits.get("rocm", ())]
    return any(one and version_key(one)[:1] == version_key(build.cuda or build.rocm)[:1] for one in have)


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
        and (not row.variants or build.variant in row.variants)
    )


def _with(build: Candidate, addon: Addon, row: AddonRelease | None, changes: tuple[Change, ...]) -> Candidate:
    oldest = row.isa_min if row and row.isa_min else addon.isa_min
    lowest = version_key(row.python) if row and row.python else ()
    amd = addon.isas_amd if build.kind == "rocm" else []
    version = {row.package: row.range or row.version} if row else {}
    same = bool(row and row.variants and build.index)
    return msgspec.structs.replace(
        build,
        isa_min=max(build.isa_min, oldest, key=isa_order),
        code=tuple(isa for isa in build.code if not amd or isa in amd),
        extra_isas={isa: extra for isa, extra in build.extra_isas.items() if not amd or isa in amd},
        python=tuple(one for one in build.python if version_key(one) >= lowest),
        packages=build.packages | (version if same else {}),
        beside=build.beside | ({} if same else version),
        changes=(*build.changes, *changes),
    )
