"""Builds of torch: what is compiled in, where it comes from, which one serves a chip."""

from collections.abc import Iterable

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import runs_on, vendor_of
from rigup.knowledge.cuda import driver_carries, version_key
from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.rocm import driver_accepts, rocblas_has

INDEX = "https://download.pytorch.org/whl"
_LOCAL = lazy_regex(r"(cu\d{2,4}|rocm[\d.]+|cpu|xpu)")
_PRERELEASE = lazy_regex(r"dev|a0|b\d|rc")


class TorchBuild(msgspec.Struct, frozen=True, kw_only=True):
    """One build of a torch release for one platform.

    Attributes:
        torch: the release ("2.7.1").
        variant: "cu126", "rocm6.4", "xpu" or "cpu".
        system, machine: "linux" | "windows" | "macos", "x86_64" | "aarch64" | "arm64".
        code: architectures compiled in; empty for "cpu", and where nobody looked.
        cuda, rocm: the toolkit release inside, "" if none.
        python: Pythons with a wheel ("3.13t" is free-threaded).
        glibc: lowest glibc on Linux. macos: lowest macOS.
        pypi: it is what PyPI gives on that platform.
        index: where its wheels lie; "" is the default index of the person's own tools.
        confidence: "high", "medium" or "low", how sure `code` is.
        extrapolated: no row of the table says this: it is the nearest row.

    """

    torch: str
    variant: str
    system: str
    machine: str
    code: list[str] = []
    cuda: str = ""
    rocm: str = ""
    python: list[str] = []
    glibc: str = ""
    macos: str = ""
    pypi: bool = False
    index: str = ""
    confidence: str = "high"
    note: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""
    extrapolated: bool = False


class Companions(msgspec.Struct, frozen=True, kw_only=True):
    """Packages that belong to a torch release, "" where there is none.

    Attributes:
        extrapolated: the release is not in the table: the nearest older one stands for it.

    """

    torch: str
    torchvision: str = ""
    torchaudio: str = ""
    torchcodec: str = ""
    triton: str = ""
    torchaudio_note: str = ""
    torchvision_note: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""
    extrapolated: bool = False


def builds(system: str = "linux", machine: str = "x86_64") -> tuple[TorchBuild, ...]:
    """List all builds of released versions for a platform, the newest release first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return _by_platform().get((system, _machine(machine)), ())


def build(version: str, variant: str = "", system: str = "linux", machine: str = "x86_64") -> TorchBuild | None:
    """Find the build of a version as torch itself prints it.

    Args:
        version: "2.6.0+cu124", "2.6", a nightly "2.7.0.dev20250226+cu128".
        variant: "cu124"; "" takes the one behind "+", else what PyPI gives on the platform.
        system: "linux", "windows" or "macos".
        machine: "x86_64", "aarch64", "arm64"; "AMD64" and "arm64" are understood.

    Returns:
        The row, or the nearest one marked `extrapolated` with low confidence; None if the
        platform has no build of such a variant at all.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(version)[:3]
    wanted = variant or _variant_in(version)
    rows = [row for row in builds(system, machine) if (row.variant == wanted if wanted else row.pypi)]
    if not rows or not asked:
        return None
    same = [row for row in rows if version_key(row.torch)[: len(asked)] == asked]
    if same and not _PRERELEASE.search(version.split("+", 1)[0]):
        return same[0]
    older = [row for row in rows if version_key(row.torch) <= asked]
    nearest = (same or older or rows[-1:])[0]
    return msgspec.structs.replace(nearest, extrapolated=True, confidence="low")


def companions(torch: str) -> Companions | None:
    """Tell which torchvision, torchaudio, torchcodec and triton belong to a torch release.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked, rows = version_key(torch)[:3], _companions()
    same = [row for row in rows if asked and version_key(row.torch)[: len(asked)] == asked]
    if same and not _PRERELEASE.search(torch.split("+", 1)[0]):
        return same[-1]
    older = [row for row in rows if asked and version_key(row.torch) <= asked]
    return msgspec.structs.replace(older[-1], extrapolated=True) if older else None


class CondaRelease(msgspec.Struct, frozen=True, kw_only=True):
    """The last release of torch that the channel pytorch of conda has for a CUDA of before 11."""

    cuda: str
    torch: str
    torchvision: str
    source: str = ""


def last_of_conda(cuda: str) -> CondaRelease | None:
    """The last release of PyTorch's own channel of conda for a CUDA ("10.1"); None from CUDA 11 on, and where it had none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row for row in tables.rows("torch_releases", "conda_release", CondaRelease) if row.cuda == cuda), None)


class Quirk(msgspec.Struct, frozen=True, kw_only=True):
    """A release of torch that does something as no other does: `what`, in a word."""

    torch: str
    what: str
    source: str = ""
    checked: str = ""
    how: str = ""


def reads_mask_at_import(torch: str) -> bool:
    """Tell whether a release looks at CUDA_VISIBLE_DEVICES when it is imported, and never again.

    Raises:
        KnowledgeError: the table is malformed.

    """
    release = torch.partition("+")[0]
    rows = tables.rows("torch_releases", "quirk", Quirk)
    return any(row.torch == release and row.what == "reads-mask-at-import" for row in rows)


@tables.remembered
def newest_build(
    isa: str,
    driver: str | None = None,
    rocm_driver: str | None = None,
    python: str | None = None,
    system: str = "linux",
    machine: str = "x86_64",
) -> TorchBuild | None:
    """Find the newest stable torch that runs on a chip, in the variant that a fix names.

    Of one release the build on PyPI goes first, then the newest toolkit.

    Args:
        isa: "sm_61", "gfx1103".
        driver: NVIDIA driver ("535.129.03"); its CUDA must carry the build. None: any driver.
        rocm_driver: AMD's driver release ("6.3", "30.10"); builds whose ROCm does not
            accept it are left out. None (also: the kernel's own driver): any.
        python: "3.12"; the build must have a wheel for it. None: any.
        system: "linux" or "windows".
        machine: "x86_64" or "aarch64".

    Returns:
        None where no build serves. Builds whose code nobody saw are not offered, nor ROCm
        builds whose rocBLAS lacks the chip: matrix products fail there.

    Raises:
        KnowledgeError: a table is malformed.

    """
    fitting = [
        row
        for row in builds(system, machine)
        if (not python or python in row.python)
        and runs_on(isa, row.code, row.cuda or None)
        and not (row.rocm and rocblas_has(row.rocm, isa) is False)
        and _driver_fits(row, driver, rocm_driver, system)
    ]
    return max(fitting, key=_preference, default=None)


def variants_of(version: str, system: str = "linux", machine: str = "x86_64") -> list[str]:
    """List the variants of a release on a platform.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(version)[:3]
    same = [row for row in builds(system, machine) if version_key(row.torch)[: len(asked)] == asked]
    return list(dict.fromkeys(row.variant for row in same)) if asked else []


def variant_for_pypi(version: str, system: str = "linux", machine: str = "x86_64") -> str | None:
    """Tell which variant a plain `pip install torch` gives on a platform.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = build(version.split("+", 1)[0], "", system, machine)
    return row.variant if row else None


def brought(version: str, variant: str, system: str = "linux", machine: str = "x86_64") -> TorchBuild | None:
    """Find the build of torch that a package which asks for one release of it has its code for.

    PyPI holds one build of a release for each platform. Where that one has no GPU code, the build of the torch index
    is told (`pypi` is False), which must then be named; it is of the same major release of CUDA.

    Args:
        version: the release that is asked for ("2.9.0").
        variant: the build that the package is made for ("cu128").
        system: "linux", "windows" or "macos".
        machine: "x86_64" or "aarch64".

    Returns:
        None where no build of that release on the platform has GPU code of that major release.

    Raises:
        KnowledgeError: the table is malformed.

    """
    release = version_key(version)[:3]
    rows = [row for row in builds(system, machine) if version_key(row.torch)[:3] == release and row.cuda]
    major = variant.removeprefix("cu")[:2]
    same = [row for row in rows if row.variant.removeprefix("cu")[:2] == major]
    plain = next((row for row in rows if row.pypi), None)
    return plain or max(same, key=lambda row: (row.variant == variant, version_key(row.cuda)), default=None)


def index_url(variant: str, nightly: bool = False) -> str:
    """Tell the package index of a variant ("cu126"); "" for "": the default index of the person's own tools."""
    if not variant:
        return ""
    return f"{INDEX}/nightly/{variant}" if nightly else f"{INDEX}/{variant}"


def _variant_in(version: str) -> str:
    local = version.partition("+")[2]
    match = _LOCAL.match(local)
    return match[1].rstrip(".") if match else ""


def _machine(machine: str) -> str:
    return {"amd64": "x86_64", "x64": "x86_64"}.get(machine.lower(), machine.lower())


def _driver_fits(row: TorchBuild, driver: str | None, rocm_driver: str | None, system: str) -> bool:
    if row.cuda and driver:
        # A toolkit newer than the table is not promised to anybody.
        return driver_carries(driver, row.cuda, system) is True
    if row.rocm and rocm_driver:
        return driver_accepts(rocm_driver, row.rocm) is not False
    return True


def _preference(row: TorchBuild) -> tuple[object, ...]:
    return version_key(row.torch), row.pypi, version_key(row.cuda or row.rocm), vendor_of(row.code[0])


@tables.remembered
def _companions() -> list[Companions]:
    return sorted(tables.rows("torch_companions", "companion", Companions), key=lambda row: version_key(row.torch))


@tables.remembered
def _by_platform() -> dict[tuple[str, str], tuple[TorchBuild, ...]]:
    rows = [row for row in tables.rows("torch_builds", "build", TorchBuild) if version_key(row.torch)]
    rows.sort(key=lambda row: version_key(row.torch), reverse=True)
    return {key: tuple(found) for key, found in _by_variant(rows).items()}


def _by_variant(rows: Iterable[TorchBuild]) -> dict[tuple[str, str], list[TorchBuild]]:
    groups: dict[tuple[str, str], list[TorchBuild]] = {}
    for row in rows:
        groups.setdefault((row.system, row.machine), []).append(row)
    return groups
