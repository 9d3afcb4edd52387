"""Compiled packages that stand on a torch: they take away builds on which they would not work."""

from collections.abc import Collection, Iterator, Mapping

import msgspec
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.knowledge.cuda import version_key
from rigup.language import _, sentences
from rigup.stack.candidate import Candidate, Change
from rigup.stack.notes import note
from rigup.stack.site import Site


class Addon(msgspec.Struct, frozen=True, kw_only=True):
    """What a package asks of the torch beneath it.

    Attributes:
        kinds: ways of reaching a device that it knows.
        isa_min: the oldest NVIDIA chip on which it works, "" for any.
        isas_amd: the targets on which it works; empty for any.
        known: releases of torch of which the table holds every release of it, as a version specifier; "" where it
            holds none for certain.
        toolkit: it is compiled where it is installed, unless a release has a wheel for the torch.
        options: further ones of pip. before: packages that its build and the package itself need, installed first,
            with a hole for the major release of the build's CUDA ("core-cu{cuda}").
        force_build: a variable that, set to TRUE, keeps its set-up from fetching a ready wheel.
        requirement: pip's argument in place of its name, where PyPI does not have it by that.
        folder: where its makers keep wheels, with holes for the minor release of torch and the variant.
        folder_release: the one release of which all those folders hold wheels; "" where they differ.
        says: the id of a note.

    """

    package: str
    systems: list[str]
    machines: list[str]
    kinds: list[str]
    isa_min: str = ""
    isas_amd: list[str] = []
    known: str = ""
    toolkit: bool = False
    options: list[str] = []
    force_build: str = ""
    before: list[str] = []
    requirement: str = ""
    folder: str = ""
    folder_release: str = ""
    says: str = ""
    source: str = ""


class _Folder(msgspec.Struct, frozen=True, kw_only=True):
    """For which builds of torch the makers of packages keep wheels in a folder."""

    packages: list[str]
    torch: str
    variants: list[str]
    pythons: list[str]
    platforms: list[str]


class AddonRelease(msgspec.Struct, frozen=True, kw_only=True):
    """One release of such a package.

    Attributes:
        torch: the torch that it stands on, as a version specifier.
        python: the lowest. pythons: those that have a wheel, empty for all above it.
        platforms: those that have a wheel ("linux-x86_64"), empty for all of its package's.
        isa_min, kinds: in place of its package's, "" and empty for the same.
        variants: builds of torch that it is compiled for, and in whose index it lies; empty for any.
        range: versions that serve alike, in place of the one ("": that one alone).

    """

    package: str
    version: str
    torch: str
    python: str = ""
    isa_min: str = ""
    kinds: list[str] = []
    variants: list[str] = []
    range: str = ""
    pythons: list[str] = []
    platforms: list[str] = []
    source: str = ""


class _Ready(msgspec.Struct, frozen=True, kw_only=True):
    """A release that its setup fetches compiled: for which torch, major release of CUDA, Pythons and platforms."""

    package: str
    version: str
    torch: str
    cuda: str
    pythons: list[str]
    platforms: list[str]


def addons(wishes: Mapping[str, Requirement]) -> list[Addon]:
    """Those that a wish names.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return [row for row in tables.rows("torch_addons", "addon", Addon) if row.package in wishes]


def build_of(package: str) -> Addon | None:
    """How a package that stands on a torch is installed, by its name or by pip's argument in place of that.

    None where the tables have no row. Raises KnowledgeError.
    """
    rows = tables.rows("torch_addons", "addon", Addon)
    return next((row for row in rows if package in (row.package, row.requirement)), None)


def with_addons(build: Candidate, wished: list[Addon], wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """A build under what stands on it; nothing where that is not made for the build or the system.

    Where an older release serves older chips, the build comes once with each.
    """
    if not wished:
        yield build
        return
    addon, rest = wished[0], wished[1:]
    for candidate in _under(build, addon, wishes, site):
        yield from with_addons(candidate, rest, wishes, site)


def _under(build: Candidate, addon: Addon, wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    if site.system not in addon.systems or site.machine not in addon.machines or build.kind not in addon.kinds:
        return
    releases = [row for row in _releases(addon.package) if _stands_on(row, build, wishes[addon.package], site)]
    for row, pythons in _compiled(addon, releases, build, site):
        yield _with(build, addon, row, (), pythons)
    seen: set[str] = set()
    for row in releases:
        if row.isa_min not in seen:
            seen.add(row.isa_min)
            yield _with(build, addon, row, _compiler(build, addon, site))
    if not releases and not any(_releases(addon.package)):
        yield from _of_no_release(build, addon, site)
    elif not releases and not _excluded(addon, build, wishes[addon.package]):
        yield _left_open(_with(build, addon, None, _compiler(build, addon, site)), addon.package)


def _of_no_release(build: Candidate, addon: Addon, site: Site) -> Iterator[Candidate]:
    """Any release of it: from its makers' folder for the Pythons that have a wheel there, else built here."""
    for row in tables.rows("torch_addons", "folder", _Folder) if addon.folder else ():
        variant = build.variant or "cpu"
        fits = addon.package in row.packages and version_key(build.version)[:2] == version_key(row.torch)
        python = tuple(version for version in build.python if version in row.pythons)
        if fits and variant in row.variants and _platform(site) in row.platforms and python:
            url = addon.folder.format(torch=row.torch, variant=variant)
            fewer = build.narrowed_by if python == build.python else addon.package
            yield msgspec.structs.replace(build, folders=build.folders | {addon.package: url}, python=python, narrowed_by=fewer)
    built = _with(build, addon, None, _compiler(build, addon, site))
    if addon.requirement:
        built = msgspec.structs.replace(built, origins=built.origins | {addon.package: addon.requirement})
    yield msgspec.structs.replace(built, mind=sentences(built.mind, note(addon.says)))


def _platform(site: Site) -> str:
    return site.system + "-" + site.machine


def _excluded(addon: Addon, build: Candidate, want: Requirement) -> bool:
    """The table says that none of the releases that are asked for stands on the build; silence says nothing."""
    if addon.known and _admits(addon.known, build.version):
        return True
    rows = _releases(addon.package)
    pins = [clause.version for clause in want.specifier if clause.operator == "==" and "*" not in clause.version]
    return bool(pins) and any(want.specifier.contains(row.version, prereleases=True) for row in rows)


def _left_open(build: Candidate, package: str) -> Candidate:
    template = _(
        "The tables do not know which release of {package} stands on {build}: it is left open, and the index decides whether there is one."
    )
    mind = template.format(package=package, build=build.label)
    return msgspec.structs.replace(build, open=(*build.open, package), mind=sentences(build.mind, mind))


def _compiled(addon: Addon, releases: list[AddonRelease], build: Candidate, site: Site) -> Iterator[tuple[AddonRelease, list[str]]]:
    """Releases of which a compiled wheel is there for the build, with the Pythons that have it."""
    for row in tables.rows("torch_addons", "ready", _Ready) if addon.toolkit else ():
        fits = row.package == addon.package and _admits(row.torch, build.version) and bool(build.cuda)
        if fits and _platform(site) in row.platforms and version_key(build.cuda)[:1] == version_key(row.cuda):
            yield from ((release, row.pythons) for release in releases if release.version == row.version)


def _compiler(build: Candidate, addon: Addon, site: Site) -> tuple[Change, ...]:
    """The toolkit that what is compiled here needs: that of the torch beneath it."""
    toolkit = build.cuda or build.rocm
    if not addon.toolkit or not toolkit or _is_installed(build, site):
        return ()
    template = _("{package} is compiled here, with the toolkit that belongs to {build}.")
    why = template.format(package=addon.package, build=build.label)
    own = site.holder == "conda" and bool(build.cuda)
    if build.rocm:
        return (Change(change="rocm", have=None, to=build.rocm, why=why, source="torch_addons", weight=6),)
    return (
        Change(
            change="toolkit",
            have=site.toolkit or None,
            to="CUDA " + build.cuda,
            why=why,
            source="torch_addons",
            root=not own,
            weight=4 if own else 6,
        ),
    )


def _is_installed(build: Candidate, site: Site) -> bool:
    """A toolkit of the same major release: torch's own check of it goes no further."""
    have = [site.toolkit or ""] if build.cuda else [*site.system_state.toolkits.get("rocm", ())]
    return any(version and version_key(version)[:1] == version_key(build.cuda or build.rocm)[:1] for version in have)


@tables.remembered
def _admits(span: str, version: str) -> bool:
    """Whether a version specifier of the tables takes a version; asked of every build for every row."""
    return SpecifierSet(span).contains(version, prereleases=True)


@tables.remembered
def _releases(package: str) -> list[AddonRelease]:
    rows = tables.rows("torch_addons", "addon_release", AddonRelease)
    return sorted((row for row in rows if row.package == package), key=lambda row: version_key(row.version), reverse=True)


def _stands_on(row: AddonRelease, build: Candidate, want: Requirement, site: Site) -> bool:
    return (
        _admits(str(want.specifier), row.version)
        and _admits(row.torch, build.version)
        and (not row.kinds or build.kind in row.kinds)
        and (not row.platforms or _platform(site) in row.platforms)
        and (not row.variants or build.variant in row.variants)
    )


def _with(
    build: Candidate, addon: Addon, row: AddonRelease | None, changes: tuple[Change, ...], pythons: Collection[str] = ()
) -> Candidate:
    oldest = row.isa_min if row and row.isa_min else addon.isa_min
    lowest = version_key(row.python) if row and row.python else ()
    wheels = [set(versions) for versions in (pythons, row.pythons if row else ()) if versions]
    amd = addon.isas_amd if build.kind == "rocm" else []
    version = {row.package: row.range or row.version} if row else {}
    same = bool(row and row.variants and build.index)
    python = tuple(version for version in build.python if version_key(version) >= lowest and all(version in has for has in wheels))
    fewer = f"{addon.package} {row.version}" if row and python != build.python else build.narrowed_by
    return msgspec.structs.replace(
        build,
        isa_min=max(build.isa_min, oldest, key=isa_order),
        code=tuple(isa for isa in build.code if not amd or isa in amd),
        extra_isas={isa: extra for isa, extra in build.extra_isas.items() if not amd or isa in amd},
        python=python,
        narrowed_by=fewer,
        mind=sentences(build.mind, note(addon.says)) if row and addon.says else build.mind,
        packages=build.packages | (version if same else {}),
        beside=build.beside | ({} if same else version),
        changes=(*build.changes, *changes),
    )
