"""Builds of packages that come as one wheel for each way of reaching a device, from the table of wheels."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from rigup.knowledge.cuda import version_key
from rigup.knowledge.shared_libraries import torch_pins
from rigup.knowledge.torch_builds import TorchBuild, brought
from rigup.knowledge.wheels import Family, Wheel, families, least_system, pythons_with_wheel, wheels
from rigup.language import _
from rigup.stack.candidate import Candidate, Change
from rigup.stack.notes import note
from rigup.stack.site import Site


def candidates(family: str, wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds of a family that a wish allows on a machine's system.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in wheels(family):
        if _made_for(row, site) and _is_wanted(row, wishes):
            for version in reversed(row.releases):
                if _allowed(row, version, wishes) and (build := _candidate(row, version, site)):
                    yield build


def _made_for(row: Wheel, site: Site) -> bool:
    """Its files are for the system; an image for ROCm is AMD's own, which holds all of it."""
    in_image = row.kind == "rocm" and site.holder in ("docker", "apptainer")
    return site.system in row.systems and site.machine in row.machines and not site.jetpack and not in_image


def named(family: str) -> Family | None:
    """The family of a name; None where there is none. Raises KnowledgeError for a malformed table."""
    return next((row for row in families() if row.name == family), None)


def _is_wanted(row: Wheel, wishes: Mapping[str, Requirement]) -> bool:
    """A wish for one of the packages takes no other; the plain name stands for all."""
    family = named(row.family)
    if family is None:
        return True
    names = [name for name in wishes if name in (*family.called, *family.ended) and name != family.plain]
    return (not names and not row.by_name) or any(name in (row.package, *row.beside) for name in names)


def _allowed(row: Wheel, version: str, wishes: Mapping[str, Requirement]) -> bool:
    family = named(row.family)
    names = (row.package, *([family.plain] if family else ()))
    if row.own_torch and any(wishes[name].specifier for name in ("torch", "torchvision", "xformers") if name in wishes):
        return False
    extras = wishes[row.package].extras if row.package in wishes else set()
    if extras & {wheel.extra for wheel in wheels(row.family)} and row.extra not in extras:
        return False
    own = all(wishes[name].specifier.contains(version + row.local, prereleases=True) for name in names if name in wishes)
    return own and all(_fits(wishes[name], bound) for name, bound in _with(row, version).items() if name in wishes)


def _fits(want: Requirement, bound: str) -> bool:
    """Of what comes beside a version may be asked that lies within its range."""
    pins = [clause.version for clause in want.specifier if clause.operator == "=="]
    if bound[:1].isdigit():
        return want.specifier.contains(bound, prereleases=True)
    return all(SpecifierSet(bound).contains(pin, prereleases=True) for pin in pins if "*" not in pin)


def _with(row: Wheel, version: str) -> dict[str, str]:
    return {**({"torch": row.torch} if row.torch else {}), **row.beside, row.package: version}


def _candidate(row: Wheel, version: str, site: Site) -> Candidate | None:
    """One release; None where it has no wheel for the platform, or its torch no GPU code there."""
    torch = brought(row.torch, row.torch_variant, site.system, site.machine) if row.torch else None
    python = _with_wheel(row, version, site)
    if (row.torch and torch is None) or not python:
        return None
    local = "+" + torch.variant if torch and not torch.pypi else ""
    torch_index = (torch.index,) if torch and local else ()
    first = row.package + (f"[{row.extra}]" if row.extra else "")
    return Candidate(
        package=row.package,
        version=version,
        variant=row.variant or row.local.removeprefix("+"),
        kind=row.kind,
        packages={first: version + row.local, **({"torch": row.torch + local} if row.torch else {}), **row.beside},
        index=row.index,
        extra_indexes=(*torch_index, *row.extra_indexes),
        links=tuple(link.format(version=version) for link in row.links),
        code=tuple(torch.code if torch else row.code),
        cuda=torch.cuda if torch else row.cuda,
        rocm=row.rocm,
        libraries=row.libraries,
        driver=row.driver,
        isa_min=row.isa_min,
        extra_isas=row.extra_isas,
        extra_of=row.extra_of,
        python=python,
        glibc=row.glibc,
        macos=row.macos,
        lowest_cpu=row.lowest_cpu,
        pins=_pins(row, torch, site),
        changes=tuple(_of_system(row, version, site)),
        mind=note(row.mind),
        trial=note(row.trial),
        note=row.note,
        source="wheels",
    )


def _with_wheel(row: Wheel, version: str, site: Site) -> tuple[str, ...]:
    """The Pythons that have its wheel on the platform; what lies elsewhere than on PyPI has all of its row."""
    span = _pythons(row.python)
    elsewhere = row.index or row.links or row.local
    pythons = None if elsewhere else pythons_with_wheel(row.package, version, site.system, site.machine, span)
    return span if pythons is None else pythons


def on_pypi(package: str, version: str, site: Site, span: Iterable[str], glibc: str) -> dict[str, Any]:
    """What the file of a release on PyPI asks of a system, as fields of a candidate: Pythons, C library, macOS.

    `span` and `glibc` hold where nobody looked at the release. No Pythons: there is no file for the system. Raises
    KnowledgeError for a malformed table.
    """
    pythons = pythons_with_wheel(package, version, site.system, site.machine, span)
    least = least_system(package, version, site.system, site.machine)
    macos = least if site.system == "macos" else ""
    return {"python": tuple(span) if pythons is None else pythons, "glibc": least or glibc, "macos": macos}


def _pins(row: Wheel, torch: TorchBuild | None, site: Site) -> dict[str, str]:
    """Libraries of NVIDIA that it brings as packages: those of its torch, or its own."""
    if row.kind != "cuda" or site.system != "linux":
        return {}
    if torch is not None:
        return torch_pins(torch.torch, torch.variant, torch.cuda, own_index=not torch.pypi)
    major = version_key(row.cuda)[0]
    brings = row.pins or row.extra
    return {"cuda": f">={major},<{major + 1}", **row.pins} if brings else {}


def _pythons(span: str) -> tuple[str, ...]:
    first, _dash, last = span.partition("-")
    low, high = version_key(first)[1], version_key(last)[1]
    return tuple(f"3.{minor}" for minor in range(low, high + 1))


def _of_system(row: Wheel, version: str, site: Site) -> Iterator[Change]:
    """The toolkit or the ROCm that the system must have; one of the same major release serves."""
    wanted, kind = (row.toolkit, "toolkit") if row.toolkit else (row.rocm_system, "rocm")
    present = [site.toolkit or ""] if row.toolkit else [*site.system_state.toolkits.get("rocm", ())]
    if not wanted or any(release and version_key(release)[:1] == version_key(wanted)[:1] for release in present):
        return
    template = _("{package} {version} brings no {library} along: it takes the system's.")
    library = "CUDA" if row.toolkit else "ROCm"
    own = site.holder == "conda" and bool(row.toolkit)
    yield Change(
        change=kind,
        have=(site.toolkit or None) if row.toolkit else None,
        to="CUDA " + wanted if row.toolkit else wanted,
        why=template.format(package=row.package, version=version, library=library),
        source="wheels",
        root=not own,
        weight=4 if own else 6,
    )
