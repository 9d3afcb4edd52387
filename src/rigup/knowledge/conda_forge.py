"""What conda-forge builds, and how a build is asked for."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class CondaBuild(msgspec.Struct, frozen=True, kw_only=True):
    """One release for one platform and one CUDA.

    Attributes:
        package: as conda-forge calls it ("pytorch").
        cuda: the toolkit that it was built with, "" for a build without one.
        code: architectures compiled in.
        python: Pythons that it is built for.
        glibc, macos: the lowest that it runs on.

    """

    package: str
    version: str
    system: str
    machine: str
    cuda: str = ""
    code: list[str] = []
    python: list[str] = []
    glibc: str = ""
    macos: str = ""
    source: str = ""


class _Spec(msgspec.Struct, frozen=True, kw_only=True):
    package: str
    name: str
    cuda: list[str]
    cpu: list[str]
    any_cuda: list[str] = []


class _Companion(msgspec.Struct, frozen=True, kw_only=True):
    package: str
    versions: list[str]


class _Library(msgspec.Struct, frozen=True, kw_only=True):
    soname: str
    package: str


def conda_builds(name: str, system: str, machine: str) -> list[CondaBuild]:
    """Builds of a package as pip calls it ("torch") for a platform, the newest release first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    spec = _spec(name)
    rows = tables.rows("conda_forge", "build", CondaBuild) if spec else ()
    builds = [row for row in rows if spec and row.package == spec.package and (row.system, row.machine) == (system, machine)]
    return sorted(builds, key=lambda row: (version_key(row.version), version_key(row.cuda)), reverse=True)


def conda_specs(name: str, build: CondaBuild) -> tuple[str, ...]:
    """What conda is asked for, so that it takes this build and no other. Raises KnowledgeError for a malformed table."""
    spec = _spec(name)
    if spec is None:
        return ()
    major, _dot, minor = build.cuda.partition(".")
    asked = spec.cuda if build.cuda else spec.cpu
    return tuple(template.format(version=build.version, x=major, y=minor) for template in asked)


def any_with_cuda(name: str, release: str = "") -> tuple[str, ...]:
    """What conda is asked for, so that it takes some build with CUDA, of the same minor release where there is one. Raises KnowledgeError."""
    spec = _spec(name)
    rows = conda_builds(name, "linux", "x86_64") if spec and release else []
    minor = version_key(release)[:2]
    kept = any(row.cuda and version_key(row.version)[:2] == minor for row in rows)
    wanted = "={}.{}.*=".format(*minor) if kept else "=*="
    return tuple(asked.replace("=*=", wanted) for asked in spec.any_cuda) if spec else ()


def conda_has(package: str, version: str) -> bool:
    """Whether conda-forge builds a release of a package that belongs to torch. Raises KnowledgeError."""
    rows = tables.rows("conda_forge", "companion", _Companion)
    return any(row.package == package and version in row.versions for row in rows)


def conda_package(soname: str) -> str:
    """The package that brings a library of the system's, for an environment of its own; "" where none is known. Raises KnowledgeError."""
    rows = tables.rows("conda_forge", "library", _Library)
    return next((row.package for row in rows if row.soname == soname), "")


def channel() -> str:
    """The channel's name. Raises KnowledgeError for a malformed table."""
    return str(tables.table("conda_forge")["meta"]["channel"])


def _spec(name: str) -> _Spec | None:
    return next((row for row in tables.rows("conda_forge", "spec", _Spec) if row.name == name), None)
