"""Which Intel GPUs PyTorch's XPU builds are made for."""

from collections.abc import Collection

import msgspec

from rigup.knowledge import tables

_ZERO = "ze"  # in the names of Level Zero's packages everywhere: libze1, oneapi-level-zero


class _Device(msgspec.Struct, frozen=True):
    id: str
    architecture: str = ""
    torch_xpu: str = ""


class _Generation(msgspec.Struct, frozen=True):
    base: str
    number: str
    release: str


class _Kit(msgspec.Struct, frozen=True):
    release: str
    packages: list[str]


class _Runtime(msgspec.Struct, frozen=True):
    torch: str
    release: str


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A file that no base kit brings, with the package of Python, or of the distribution, that does."""

    begins: str
    package: str = ""
    system_package: str = ""


class _Script(msgspec.Struct, frozen=True):
    system: str
    command: str
    of_release: str


class Compute(msgspec.Struct, frozen=True, kw_only=True):
    """What a distribution has of Level Zero and OpenCL for Intel's GPUs.

    Attributes:
        releases: of the distribution; empty for all.
        setup, undo: make the packages known, and take that back.
        provider: who has them, where that is not the distribution itself.

    """

    ids: list[str]
    releases: list[str] = []
    setup: list[list[str]] = []
    undo: list[list[str]] = []
    provider: str = ""
    packages: list[str]
    source: str = ""


class _Elsewhere(msgspec.Struct, frozen=True):
    system: str
    address: str


def compute_packages(distribution: str, release: str) -> Compute | None:
    """What a release of a distribution has for programs that compute on an Intel GPU; None where it has not enough.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = (row for row in tables.rows("intel_xpu", "compute", Compute) if distribution in row.ids)
    return next((row for row in rows if not row.releases or release in row.releases), None)


def missing_beside(installed: Collection[str]) -> list[str]:
    """What is missing of a distribution's packages of which some are installed; [] for none, and where none of Level Zero's is known to be there."""
    rows = (row for row in tables.rows("intel_xpu", "compute", Compute) if any(name in installed for name in row.packages if _ZERO in name))
    return [name for row in list(rows)[:1] for name in row.packages if name not in installed]


class _Kernel(msgspec.Struct, frozen=True):
    architecture: str
    least: str


def least_kernel(device_id: str) -> str | None:
    """The first kernel whose own driver starts a card by itself; None where it is not known. Raises KnowledgeError."""
    card = next((row for row in tables.rows("pci_intel", "device", _Device) if row.id == device_id), None)
    rows = tables.rows("intel_xpu", "kernel", _Kernel)
    return next((row.least for row in rows if card and row.architecture == card.architecture), None)


def compute_address(system: str) -> str:
    """Where Intel keeps its driver for a system, "linux" or "windows". Raises KnowledgeError for a malformed table."""
    rows = tables.rows("intel_xpu", "compute_elsewhere", _Elsewhere)
    return next((row.address for row in rows if row.system == system), "")


def part_of(file: str) -> Part | None:
    """Who brings a file that is not the base kit's; None for the kit's own.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row for row in tables.rows("intel_xpu", "part", Part) if file.startswith(row.begins)), None)


def variables_script(system: str, release: str = "") -> str:
    """The command with which a shell gets the kit's variables, of one release where several lie there.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = next((row for row in tables.rows("intel_xpu", "script", _Script) if row.system == system), None)
    if row is None:
        return ""
    return row.of_release.replace("{release}", release) if release else row.command


def newest_kit() -> str:
    """The newest yearly release of the base kit that the table has.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return max((row.release for row in tables.rows("intel_xpu", "generation", _Generation)), default="")


def kit_packages(release: str) -> list[str]:
    """The packages of Intel's apt repository with the libraries of a year's kit; [] for a year that the table has not.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.packages for row in tables.rows("intel_xpu", "kit", _Kit) if row.release == release), [])


def runtime_of_torch(version: str) -> str | None:
    """The release of the compiler's runtime ("2025.1") that a build of torch for Intel pins; None where nobody looked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    minor = ".".join(version.split(".")[:2])
    rows = tables.rows("intel_xpu", "runtime", _Runtime)
    return next((row.release for row in rows if row.torch == minor), None)


def release_of(base: str, number: str) -> str | None:
    """The year of the base kit whose library has this number; None where the table does not know it. MKL numbers its parts for SYCL together.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("intel_xpu", "generation", _Generation)
    kin = "libmkl_sycl_blas" if base.startswith("libmkl_sycl_") else base
    return next((row.release for row in rows if (row.base, row.number) == (kin, number)), None)


def validated(device_id: str, architecture: str = "") -> bool | None:
    """Tell whether a GPU stands on the list of those that XPU builds are validated for.

    Args:
        device_id: of PCI, hexadecimal, "" if not known.
        architecture: the catalogue's name, asked where the id is not known.

    Returns:
        None where the table does not know it, or knows both kinds of that architecture.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("pci_intel", "device", _Device)
    verdicts = {row.torch_xpu.startswith("validated") for row in rows if device_id and row.id == device_id.lower()}
    verdicts = verdicts or {row.torch_xpu.startswith("validated") for row in rows if architecture and row.architecture == architecture}
    return verdicts.pop() if len(verdicts) == 1 else None
