"""Where a CUDA toolkit of a release comes from, without a driver."""

import re

import msgspec

from rigup.knowledge import driver_recipes, tables
from rigup.knowledge.cuda import toolkits_for, version_key
from rigup.knowledge.driver_recipes import Commands
from rigup.knowledge.holes import Filled, filled
from rigup.knowledge.package_managers import package_manager

_ARCHITECTURES = {"x86_64": "x86_64", "aarch64": "sbsa", "arm64": "sbsa"}
_WSL = "wsl-ubuntu"


class _System(msgspec.Struct, frozen=True, kw_only=True):
    family: str
    setup: Commands
    install: Commands
    undo: Commands
    source: str = ""


class _Cudnn(msgspec.Struct, frozen=True, kw_only=True):
    major: str
    family: str
    install: Commands


class _Label(msgspec.Struct, frozen=True, kw_only=True):
    cuda: str
    channel: str


class _Conda(msgspec.Struct, frozen=True, kw_only=True):
    first: str
    channel: str
    packages: list[str]


class _Repository(msgspec.Struct, frozen=True, kw_only=True):
    repo_dir: str
    cuda: str


class Toolkit(msgspec.Struct, frozen=True, kw_only=True):
    """Commands that bring a toolkit onto a system. setup: make its packages known. undo: take it away."""

    setup: Filled
    install: Filled
    undo: Filled
    source: str


class CondaToolkit(msgspec.Struct, frozen=True, kw_only=True):
    """A toolkit in a conda environment: from one channel alone, so that releases do not mix."""

    channel: str
    packages: tuple[str, ...]


def system_toolkit(cuda: str, distribution: str, release: str, machine: str, wsl: bool = False) -> Toolkit | None:
    """A toolkit from NVIDIA's own repository for the distribution; None where that has none of the release.

    Args:
        cuda: "12.4".
        distribution: ID of the os-release.
        release: its VERSION_ID.
        machine: "x86_64" or "aarch64".
        wsl: inside WSL there is a repository without drivers.

    Raises:
        KnowledgeError: a table is malformed.

    """
    manager = package_manager(distribution)
    folder = _WSL if wsl and manager and manager.family == "debian" else _folder(distribution, release)
    rows = tables.rows("cuda_toolkits", "system_toolkit", _System)
    row = next((row for row in rows if manager and row.family == manager.family), None)
    if row is None or not folder or not _carries(folder, cuda):
        return None
    x, y = _parts(cuda)
    values = {"x": x, "y": y, "repo_dir": folder, "arch_dir": _ARCHITECTURES.get(machine, machine)}
    return Toolkit(setup=filled(row.setup, values), install=filled(row.install, values), undo=filled(row.undo, values), source=row.source)


def nearest_toolkit(carried: str, isa: str, distribution: str, release: str) -> str:
    """The release of NVIDIA's repository to compile with: the newest that a driver carries, else the oldest of the same major; "" for none.

    Within one major a driver runs what a newer release has compiled for its chip.

    Args:
        carried: CUDA that the driver carries ("12.4").
        isa: the chip that the release has to know ("sm_89"); "" for any.
        distribution: ID of the os-release.
        release: its VERSION_ID.

    Raises:
        KnowledgeError: a table is malformed.

    """
    folder = _folder(distribution, release)
    asked = version_key(carried)[:2]
    known = [cuda for cuda in toolkits_for(isa) if folder and _carries(folder, cuda)]
    older = [cuda for cuda in known if version_key(cuda)[:2] <= asked]
    newer = [cuda for cuda in known if version_key(cuda)[:1] == asked[:1]]
    return max(older, key=version_key) if older else min(newer, key=version_key, default="")


def newest_carried(carried: str, isas: tuple[str, ...]) -> str:
    """The newest release that a driver carries ("12.8") and that compiles for all these chips; "" for none.

    Raises:
        KnowledgeError: a table is malformed.

    """
    known = set.intersection(*(set(toolkits_for(isa)) for isa in isas or ("",)))
    return max((cuda for cuda in known if version_key(cuda)[:2] <= version_key(carried)[:2]), key=version_key, default="")


def system_cudnn(cudnn: str, cuda: str, distribution: str) -> Filled:
    """Commands that install cuDNN beside a toolkit of NVIDIA's repository; none where the tables have none."""
    manager = package_manager(distribution)
    rows = tables.rows("cuda_toolkits", "cudnn", _Cudnn)
    found = (row for row in rows if manager and row.family == manager.family and row.major == cudnn.partition(".")[0])
    row = next(found, None)
    return filled(row.install, {"x": _parts(cuda)[0], "version": cudnn}) if row else ()


def conda_toolkit(cuda: str) -> CondaToolkit | None:
    """A toolkit for a conda environment: NVIDIA's label of the release, else conda-forge's.

    Raises:
        KnowledgeError: the table is malformed.

    """
    x, y = _parts(cuda)
    for label in tables.rows("cuda_toolkits", "label", _Label):
        if label.cuda == f"{x}.{y}":
            return CondaToolkit(channel=label.channel, packages=("cuda-toolkit",))
    for row in tables.rows("cuda_toolkits", "conda_toolkit", _Conda):
        if version_key(cuda) >= version_key(row.first):
            named = filled([row.packages], {"x": x, "y": y})[0]
            return CondaToolkit(channel=row.channel, packages=named)
    return None


def _parts(cuda: str) -> tuple[str, str]:
    numbers = version_key(cuda)
    return (str(numbers[0]), str(numbers[1]) if len(numbers) > 1 else "0") if numbers else ("", "")


def _folder(distribution: str, release: str) -> str:
    at = driver_recipes.system(distribution, release)
    return at.cuda_repo_dir.partition(" ")[0] if at else ""


def _carries(folder: str, cuda: str) -> bool:
    """Whether a repository has a release, by the first and last that were seen there ("12.4 - 13.x")."""
    rows = tables.rows("distro_drivers", "cuda_repo", _Repository)
    releases = next((row.cuda for row in rows if row.repo_dir == folder), "")
    match = re.match(r"(\d{1,3}\.\d{1,3})(?:\.\d+)? -(?: (\d{1,3})\.(\d{1,3}|x))?", releases)
    if match is None:
        return True
    asked = version_key(cuda)[:2]
    last = (int(match[2] or 999), 999 if match[3] in (None, "x") else int(match[3]))
    return version_key(match[1]) <= asked <= last
