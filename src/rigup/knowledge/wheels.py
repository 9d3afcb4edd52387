"""Packages that come as one wheel for each way of reaching a device: who belongs together, and which wheels there are."""

from collections.abc import Iterable

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """Packages that one choice is made for.

    Attributes:
        name: of the family.
        plain: the package that stands for whichever build serves.
        called: its packages, by which a wish calls for it. on: what stands on it, of any build.
        ended: names that went out of use, with what took their place.

    """

    name: str
    plain: str
    called: list[str]
    on: list[str] = []
    ended: dict[str, str] = {}
    source: str = ""


class Wheel(msgspec.Struct, frozen=True, kw_only=True):
    """Releases of one package that ask the same of a machine. Empty fields ask for nothing.

    Attributes:
        family, package: "cupy", "cupy-cuda12x".
        releases: the newest last.
        kind: how it reaches a device: "cuda", "rocm", "metal", "openvino" or "cpu".
        by_name: it is taken only where its own name is asked for.
        own_torch: it brings a torch of its own, which a wish may not name.
        extra: asked of pip in brackets. local: local part of the version ("+cpu"). variant: its index's name.
        beside: packages that come with it, exact or as a range.
        python: a span of minor releases ("3.10-3.14").
        torch, torch_variant: the build of torch that it brings, whose code is what counts.
        libraries: the toolkit that its libraries are of, "" for `cuda`, which is the least that the driver must run.
        toolkit, rocm_system: the release of CUDA's toolkit or of ROCm that the system must have.
        pins: NVIDIA's libraries that it brings into the environment, by short name.
        mind, trial: ids of sentences.

    """

    id: str
    family: str
    package: str
    releases: list[str]
    kind: str
    by_name: bool = False
    own_torch: bool = False
    systems: list[str]
    machines: list[str]
    python: str
    extra: str = ""
    local: str = ""
    variant: str = ""
    beside: dict[str, str] = {}
    glibc: str = ""
    macos: str = ""
    lowest_cpu: str = ""
    cuda: str = ""
    rocm: str = ""
    libraries: str = ""
    driver: str = ""
    isa_min: str = ""
    code: list[str] = []
    extra_isas: dict[str, str] = {}
    extra_of: str = ""
    torch: str = ""
    torch_variant: str = ""
    index: str = ""
    extra_indexes: list[str] = []
    links: list[str] = []
    toolkit: str = ""
    rocm_system: str = ""
    pins: dict[str, str] = {}
    mind: str = ""
    trial: str = ""
    note: str = ""
    source: str = ""


def families() -> tuple[Family, ...]:
    """All families. Raises KnowledgeError for a malformed table."""
    return tables.rows("wheels", "family", Family)


@tables.remembered
def wheels(family: str) -> tuple[Wheel, ...]:
    """The wheels of a family. Raises KnowledgeError for a malformed table."""
    return tuple(row for row in tables.rows("wheels", "wheel", Wheel) if row.family == family)


class _Files(msgspec.Struct, frozen=True, kw_only=True):
    """Which wheels of releases lie on PyPI: Pythons by platform ("linux-x86_64"); "+3.9" is that one and all above it.

    `least` is the lowest C library or macOS by platform, where somebody looked.
    """

    package: str
    releases: list[str]
    pythons: dict[str, list[str]]
    least: dict[str, str] = {}


def pythons_with_wheel(package: str, version: str, system: str, machine: str, pythons: Iterable[str]) -> tuple[str, ...] | None:
    """Which Pythons have a wheel of a release on PyPI.

    Args:
        package: its canonical name.
        version: the release, without a local part.
        system: "linux", "windows" or "macos".
        machine: "x86_64", "aarch64" or "arm64"; the last two are one.
        pythons: those that are asked about ("3.12").

    Returns:
        Those of them that have one, in the same order; None where nobody looked at the release.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = _looked_at().get((package, version))
    if row is None:
        return None
    offered = row.pythons.get(_platform(system, machine))
    if offered is None:
        return ()
    return tuple(python for python in pythons if not offered or _is_offered(python, offered))


def least_system(package: str, version: str, system: str, machine: str) -> str:
    """The lowest C library or macOS that a release's wheel on PyPI asks for; "" where nobody looked.

    Takes what `pythons_with_wheel` takes. Raises KnowledgeError for a malformed table.
    """
    row = _looked_at().get((package, version))
    return row.least.get(_platform(system, machine), "") if row else ""


def _platform(system: str, machine: str) -> str:
    arm = "aarch64" if system == "linux" else "arm64"
    return f"{system}-{arm if machine in ('aarch64', 'arm64') else machine}"


def _is_offered(python: str, offered: Iterable[str]) -> bool:
    return any(version_key(python) >= version_key(tag[1:]) if tag[0] == "+" else python == tag for tag in offered)


@tables.remembered
def _looked_at() -> dict[tuple[str, str], _Files]:
    rows = tables.rows("wheels", "files", _Files)
    return {(row.package, version): row for row in rows for version in row.releases}


class _Word(msgspec.Struct, frozen=True, kw_only=True):
    """The id of a sentence about a package. vendor: only where a GPU of this maker is left out."""

    package: str
    says: str
    vendor: str = ""


class _Real(msgspec.Struct, frozen=True, kw_only=True):
    """A package that is a letter away from a known one, and is no slip."""

    package: str


@tables.remembered
def neighbours() -> frozenset[str]:
    """Packages that look like misspelt ones and are not. Raises KnowledgeError for a malformed table."""
    return frozenset(row.package for row in tables.rows("wheels", "neighbour", _Real))


def words_for(packages: Iterable[str], idle: Iterable[str] = ()) -> list[str]:
    """Ids of the sentences to show where packages are asked for, and GPUs of some makers are left out.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked, makers = set(packages), {"", *idle}
    rows = tables.rows("wheels", "word", _Word)
    return list(dict.fromkeys(row.says for row in rows if row.package in asked and row.vendor in makers))
