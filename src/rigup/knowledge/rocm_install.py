"""How AMD's driver and ROCm come onto a distribution: the file that names the release, and its use cases."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.driver_recipes import Commands
from rigup.knowledge.holes import Filled, filled


class _Release(msgspec.Struct, frozen=True, kw_only=True):
    version: str
    amdgpu_install_dir: str = ""
    amdgpu_install_pkg: str = ""
    driver_shipped: str = ""


class _File(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    ids: list[str]
    first: str = ""
    last: str = ""
    codenames: dict[str, str] = {}
    setup: Commands
    headers: Commands = []
    packages: Commands = []
    packages_wsl: Commands = []
    undo: Commands = []
    source: str = ""


class _UseCase(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    commands: Commands


class Installation(msgspec.Struct, frozen=True, kw_only=True):
    """Commands that bring one release of ROCm, or its kernel driver, onto a system.

    Attributes:
        version: the release.
        setup: make its packages known. headers: of the running kernel, for its module.
        install: the use case itself. undo: takes all of it away.

    """

    version: str
    setup: Filled
    headers: Filled
    install: Filled
    undo: Filled
    source: str


def installation(version: str, usecase: str, distribution: str, release: str, kernel: str = "") -> Installation | None:
    """How a release is installed; None where AMD has no packages of it for the system.

    Args:
        version: of ROCm ("6.4", "7.2.1") or of its kernel driver ("30.20").
        usecase: "rocm", "dkms" or "wsl".
        distribution: ID of the os-release.
        release: its VERSION_ID.
        kernel: the running one, "" if it is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    found = ((rocm, file) for rocm in _releases(version) if (file := _file(rocm, usecase, distribution, release)))
    rocm, file = next(found, (None, None))
    if rocm is None or file is None:
        return None
    values = {
        "dir": rocm.amdgpu_install_dir,
        "pkg": rocm.amdgpu_install_pkg,
        "codename": _codename(file, release),
        "release": release,
        "major": release.partition(".")[0],
        **({"kernel": kernel} if kernel else {}),
    }
    return Installation(
        version=rocm.version,
        setup=filled(file.setup, values),
        undo=filled(file.undo, values),
        headers=_headers(file, values) if usecase == "dkms" else (),
        source=file.source,
        install=filled(_packages(file, usecase), values),
    )


def newest_driver(distribution: str, release: str) -> str:
    """The newest release of ROCm whose kernel driver AMD packs for a system ("7.2.4"); "" where there is none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = sorted(tables.rows("rocm_releases", "release", _Release), key=lambda row: version_key(row.version), reverse=True)
    return next((row.version for row in rows if installation(row.version, "dkms", distribution, release)), "")


def _headers(file: _File, values: dict[str, str]) -> Filled:
    try:
        return filled(file.headers, values)
    except KeyError:  # nobody told which kernel runs
        return ()


def _packages(file: _File, usecase: str) -> Commands:
    if file.packages:
        return file.packages_wsl if usecase == "wsl" else file.packages
    rows = tables.rows("rocm_releases", "usecase", _UseCase)
    return next(row.commands for row in rows if row.name == usecase)


def _releases(version: str) -> list[_Release]:
    """The patches of a release, the last first; of a driver's version the releases that it is shipped with."""
    rows = tables.rows("rocm_releases", "release", _Release)
    asked = version_key(version)
    named = [row for row in rows if version_key(row.version)[: len(asked)] == asked]
    shipped = [row for row in rows if row.driver_shipped and version_key(row.driver_shipped)[: len(asked)] == asked]
    return sorted(named or shipped, key=lambda row: version_key(row.version), reverse=True) if asked else []


def _file(rocm: _Release, usecase: str, distribution: str, release: str) -> _File | None:
    """The libraries of newer releases have a repository of their own, without an installer file; the driver keeps it."""
    rows = [row for row in tables.rows("rocm_releases", "installer_file", _File) if distribution in row.ids]
    fitting = [row for row in rows if _within(row, rocm) and (not row.codenames or _codename(row, release))]
    own = [row for row in fitting if row.packages and usecase != "dkms"]
    files = [row for row in fitting if not row.packages and rocm.amdgpu_install_pkg]
    return next(iter([*own, *files]), None)


def _within(row: _File, rocm: _Release) -> bool:
    asked = version_key(rocm.version)[:2]
    return (not row.first or asked >= version_key(row.first)) and (not row.last or asked <= version_key(row.last))


def _codename(file: _File, release: str) -> str:
    return file.codenames.get(release) or file.codenames.get(release.partition(".")[0], "")
