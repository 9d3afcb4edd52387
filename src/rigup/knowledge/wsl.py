"""GPU computing in WSL: what it needs of Windows, which ROCm releases speak to it, what shadows its libraries."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import gfx_base
from rigup.knowledge.cuda import version_key


class _Rocm(msgspec.Struct, frozen=True):
    version: str
    supported: bool


class _Shadow(msgspec.Struct, frozen=True):
    pattern: str
    vendor: str
    meta: bool = False


def too_old(windows: str | None, kernel: str | None) -> str | None:
    """Tell which of the two is below what GPUs in WSL need: "windows", "kernel", or None.

    Args:
        windows: Windows' version ("10.0.19042.1052"), None where unknown.
        kernel: the release of WSL's kernel ("5.4.72-microsoft-standard-WSL2"), None where unknown.

    Raises:
        KnowledgeError: the table is malformed.

    """
    least = tables.table("wsl")["minimum"]
    build = version_key(windows or "")[2:3]
    if build and build[0] < least["windows_build"]:
        return "windows"
    numbers = version_key((kernel or "").partition("-")[0])
    return "kernel" if numbers and numbers < version_key(least["kernel"])[: len(numbers)] else None


def may_be_old(windows: str | None, kernel: str | None) -> bool:
    """Whether GPUs were seen with this kernel, though it is below the minimum: Windows that previewed them had such ones."""
    least = tables.table("wsl")["minimum"]
    build, numbers = version_key(windows or "")[2:3], version_key((kernel or "").partition("-")[0])
    first = version_key(least["first_kernel"])
    return bool(build and build[0] >= least["first_build"] and numbers and numbers >= first[: len(numbers)])


def minimum() -> tuple[str, str]:
    """Tell the lowest Windows build and the lowest kernel."""
    least = tables.table("wsl")["minimum"]
    return str(least["windows_build"]), str(least["kernel"])


def library_folder() -> str:
    """Tell where Windows' driver shows its libraries to Linux."""
    return str(tables.table("wsl")["library"]["folder"])


def rocm_supported(version: str) -> bool | None:
    """Tell whether a ROCm release was made for WSL; None where the table does not know it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = _padded(version)
    return next((row.supported for row in tables.rows("wsl", "rocm", _Rocm) if _padded(row.version) == asked), None)


def newest_rocm() -> str:
    """Tell the newest ROCm release that is known to speak to WSL."""
    return max((row.version for row in tables.rows("wsl", "rocm", _Rocm) if row.supported), key=version_key)


def shadows(package: str) -> bool:
    """Whether a package of the distribution brings a Linux driver, which WSL must not have."""
    return any(re.fullmatch(row.pattern, package) for row in tables.rows("wsl", "shadow", _Shadow))


def brings_only_others(package: str) -> bool:
    """Whether such a package has no files of its own: the libraries are in those that it depends on."""
    return any(row.meta and re.fullmatch(row.pattern, package) for row in tables.rows("wsl", "shadow", _Shadow))


def shadow_pattern() -> str:
    """Tell the names of all such packages, as one pattern."""
    return "|".join(row.pattern for row in tables.rows("wsl", "shadow", _Shadow) if row.vendor == "nvidia")


def amds_distribution() -> str:
    """Tell the distribution of WSL for which AMD makes ROCm, as `wsl --install -d` takes it."""
    return str(tables.table("wsl")["amd"]["distribution"])


def hsa_runtime() -> str:
    """Tell the library by which ROCm's programs get at the card."""
    return str(tables.table("wsl")["amd"]["hsa_runtime"])


def runtime_knows_wsl(hip: str) -> bool:
    """Whether the HSA runtime of that ROCm release knows WSL's device by itself."""
    return version_key(hip) >= version_key(tables.table("wsl")["amd"]["runtime_from"])


def chip_without_wsl(isa: str) -> bool:
    """Whether chips of that ISA are known to be left out by ROCm in WSL: those before the first generation that it has."""
    target = re.fullmatch(r"gfx(\d{1,2})[0-9a-f]{2}", gfx_base(isa))
    return bool(target and int(target[1]) < int(tables.table("wsl")["amd"]["first_generation"]))


def _padded(version: str) -> tuple[int, ...]:
    key = version_key(version)
    return (*key, *(0,) * (4 - len(key)))
