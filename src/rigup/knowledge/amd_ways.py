"""Ways to a card of AMD's: the program that computes, AMD's own builds of torch, releases of ROCm by what is missed."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import gfx_base
from rigup.knowledge.cuda import version_key
from rigup.knowledge.rocm import rocblas_has
from rigup.knowledge.torch_builds import TorchBuild, builds


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program that computes on AMD's cards.

    Attributes:
        signs: beginnings of the ids of messages that only it writes.
        backend: what it has besides ROCm. variable, value: what makes it take that.
        package: its distribution on PyPI. torch: it computes by torch. heeds_override: it tries
            a card that pretends to be another. since: the first published release with that backend.
        build: the option with which its sources are compiled for that backend. windows_build: what installs such a build there.
        update_linux, update_windows: how its newest release is installed.

    """

    name: str
    signs: list[str]
    backend: str = ""
    variable: str = ""
    value: str = ""
    package: str = ""
    torch: bool = False
    heeds_override: bool = True
    since: str = ""
    build: str = ""
    windows_build: list[str] = []
    update_linux: list[str] = []
    update_windows: list[str] = []


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A variable that a way to mend names."""

    id: str
    name: str
    value: str


class _Wrapper(msgspec.Struct, frozen=True):
    base: str
    package: str


class _Community(msgspec.Struct, frozen=True):
    isa: str
    name: str


class _Bundle(msgspec.Struct, frozen=True):
    name: str
    release: str


class _Machine(msgspec.Struct, frozen=True):
    sign: str
    isa: str


class AmdWheel(msgspec.Struct, frozen=True, kw_only=True):
    """A release of torch that AMD builds itself, each chip's code behind an extra, with what of its family goes with it."""

    torch: str
    torchvision: str = ""
    torchaudio: str = ""
    rocm: str
    systems: list[str]
    python: list[str]
    index: str
    source: str = ""


class DeviceExtra(msgspec.Struct, frozen=True, kw_only=True):
    """What pip is asked for in brackets beside a torch of AMD's own index, for a chip; by system what it needs, "not …" where there is none."""

    isa: str
    extra: str
    linux: str = ""
    windows: str = ""


class _Release(msgspec.Struct, frozen=True):
    version: str


class FromAmd(NamedTuple):
    """What to ask of AMD's own index."""

    packages: str
    address: str


def program_behind(ids: Iterable[str]) -> Program | None:
    """Tell the program that wrote messages, by the first id that tells; None where none does.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("amd_ways", "program", Program)
    return next((row for symptom_id in ids for row in rows if symptom_id.startswith(tuple(row.signs))), None)


def update_of(program: str, system: str) -> tuple[str, ...]:
    """The command that brings the newest release of a program there; () where nobody knows. Raises KnowledgeError."""
    row = next((row for row in tables.rows("amd_ways", "program", Program) if row.name == program), None)
    own = {"linux": row.update_linux, "windows": row.update_windows} if row else {}
    return tuple(own.get(system, ()))


def windows_build_of(program: str) -> tuple[str, ...]:
    """The command that installs a build of the program for Vulkan on Windows; () where nobody knows. Raises KnowledgeError."""
    row = next((row for row in tables.rows("amd_ways", "program", Program) if row.name == program), None)
    return tuple(row.windows_build) if row else ()


def isa_of_machine(sign: str) -> str | None:
    """The chip of a machine that is sold with one alone, by the message that names it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.isa for row in tables.rows("amd_ways", "machine", _Machine) if row.sign == sign), None)


def community_build(isa: str) -> str:
    """Where people find what builds torch for a chip that no wheel serves; "" where nobody looked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((f"https://github.com/{row.name}" for row in tables.rows("amd_ways", "community", _Community) if row.isa == isa), "")


def newest_bundle(name: str) -> str:
    """The release from which a program brings the newest generation of ROCm's libraries that is known of it; "" where nobody looked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.release for row in tables.rows("amd_ways", "bundle", _Bundle) if row.name == name), "")


def setting(name: str) -> Setting:
    """The variable of that row.

    Raises:
        KnowledgeError: the table is malformed.
        KeyError: it has no such row.

    """
    for row in tables.rows("amd_ways", "setting", Setting):
        if row.id == name:
            return row
    raise KeyError(name)


def wrapper_of(base: str) -> str:
    """The Python package around a library; "" where nobody looked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return next((row.package for row in tables.rows("amd_ways", "wrapper", _Wrapper) if row.base == base), "")


def torch_of_amd(isa: str, system: str) -> FromAmd | None:
    """The newest of AMD's own builds of torch for a chip ("" for all chips); None where there is none for that system.

    torchvision has code of its own for each chip, in packages of their own as torch's; torchaudio has none.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wheels = [row for row in tables.rows("torch_rocm", "amd_wheel", AmdWheel) if system in row.systems]
    extra = _extra(isa, system) if isa else "device-all"
    if not wheels or not extra:
        return None
    newest = max(wheels, key=lambda row: version_key(row.torch))
    local = "+rocm" + newest.rocm
    vision = f", torchvision[{extra}]=={newest.torchvision}{local}" if newest.torchvision else ""
    return FromAmd(f"torch[{extra}]=={newest.torch}{local}{vision}", newest.index)


def audio_of_amd(torch: str, index: str) -> str:
    """The torchaudio of AMD's own that belongs to one of its builds of torch ("2.14.0+rocm10.1.0"), as pip is asked for it; "" where there is none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("torch_rocm", "amd_wheel", AmdWheel)
    row = next((row for row in rows if row.index == index and f"{row.torch}+rocm{row.rocm}" == torch), None)
    return f"torchaudio=={row.torchaudio}+rocm{row.rocm}" if row and row.torchaudio else ""


def rocm_for_python() -> FromAmd | None:
    """AMD's own packages of ROCm's libraries, on the same index.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wheels = tables.rows("torch_rocm", "amd_wheel", AmdWheel)
    newest = max(wheels, key=lambda row: version_key(row.torch), default=None)
    return FromAmd(f"{setting('rocm-in-python').name}=={newest.rocm}", newest.index) if newest else None


def _extra(isa: str, system: str) -> str:
    for row in tables.rows("torch_rocm", "device_extra", DeviceExtra):
        shipped = row.windows if system == "windows" else row.linux
        if row.isa == gfx_base(isa) and shipped and not shipped.startswith("not shipped"):
            return row.extra
    return ""


def newest_of(variant: str, torch: str = "") -> TorchBuild | None:
    """The newest build of a variant ("rocm6.2", "cu118"; "rocm6" takes all that begin so), of one release where its number is given.

    Raises:
        KnowledgeError: a table is malformed.

    """
    asked = version_key(torch)[:3]
    of_it = [row for row in builds() if row.variant == variant] or [row for row in builds() if row.variant.startswith(variant + ".")]
    fitting = [row for row in of_it if version_key(row.torch)[: len(asked)] == asked]
    return max(fitting, key=lambda row: (version_key(row.torch), version_key(row.rocm or row.cuda)), default=None)


def newest_for_rocm() -> TorchBuild | None:
    """The newest build of torch for ROCm, which has code for more chips than any before it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return max((row for row in builds() if row.rocm), key=lambda row: (version_key(row.torch), version_key(row.rocm)), default=None)


def newest_rocm(major: str = "") -> str:
    """The newest release of ROCm, of those with one first number where it is given; "" where the table has none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    known = [row.version for row in tables.rows("rocm_releases", "release", _Release)]
    return max((rocm for rocm in known if not major or rocm.partition(".")[0] == major), key=version_key, default="")


def last_rocm_for(isa: str) -> str:
    """The newest release of ROCm whose rocBLAS has a chip that later ones have left; "" where the table has none.

    Raises:
        KnowledgeError: a table is malformed.

    """
    versions = (row.version for row in tables.rows("rocm_releases", "release", _Release))
    return max((version for version in versions if rocblas_has(version, isa)), key=version_key, default="")
