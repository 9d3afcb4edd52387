"""What a package weighs with all that it pulls in."""

import functools
import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key

_MEGA = 1_000_000


class _Size(msgspec.Struct, frozen=True, kw_only=True):
    package: str
    version: str
    variant: str
    system: str
    machine: str
    download_mb: int = 0
    disk_mb: int = 0


_UNPACKED = 1.7
"""How much larger wheels are when unpacked: the least among those of package_sizes where both were measured."""


class Weight(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes to download and to keep; 0 where nobody measured. exact: of this very build, not of its neighbour."""

    download: int
    disk: int
    exact: bool

    @property
    def kept(self) -> int:
        """Bytes on the disk; where nobody measured, what a wheel of this size becomes at least."""
        return self.disk or int(self.download * _UNPACKED)


class _SystemSize(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    python: str = ""
    download_mb: int
    disk_mb: int


class _Compiled(msgspec.Struct, frozen=True, kw_only=True):
    python: str
    share: float


_OfPython = TypeVar("_OfPython", _SystemSize, _Compiled)


def system_weight(step: str, python: str = "") -> Weight | None:
    """What a kind of step of the system weighs, by one distribution that was measured; None where none was.

    Args:
        step: its kind.
        python: the Python that it is for ("3.12"): the newest that was measured and is not newer, or the oldest, goes for
            it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = _nearest([row for row in tables.rows("package_sizes", "system_size", _SystemSize) if row.step == step], python)
    return Weight(download=row.download_mb * _MEGA, disk=row.disk_mb * _MEGA, exact=False) if row else None


def compiled_share(python: str) -> float:
    """What a Python compiles its files to, as a share of their room on the disk.

    Raises:
        KnowledgeError: the table is malformed.

    """
    row = _nearest(tables.rows("package_sizes", "compiled", _Compiled), python)
    return row.share if row else 0.0


def _nearest(rows: Iterable[_OfPython], python: str) -> _OfPython | None:
    """The newest that was measured and is not newer than the Python; the oldest where it is older than all."""
    sizes = sorted(rows, key=lambda row: version_key(row.python))
    asked = version_key(python.removesuffix("t"))
    return next((row for row in reversed(sizes) if version_key(row.python) <= asked), sizes[0] if sizes else None)


def weight(package: str, version: str, variant: str = "", system: str = "linux") -> Weight | None:
    """What a build weighs, by itself or by the measured one that is nearest; None where none of its kind is known.

    Args:
        package: as pip takes it, with its extra: "tensorflow[and-cuda]".
        version: with or without the local part.
        variant: "cu126", "cpu", "rocm6.4", "xpu".
        system: "linux", "windows" or "macos".

    Raises:
        KnowledgeError: the table is malformed.

    """
    kind = _kind(variant)
    rows = [row for row in tables.rows("package_sizes", "size", _Size) if row.package == package and _kind(row.variant) == kind]
    if not rows:
        return None
    asked = version_key(version.partition("+")[0])

    def far(row: _Size) -> tuple[object, ...]:
        return row.system != system, row.variant != variant, _distance(version_key(row.version), asked)

    nearest = min(rows, key=far)
    exact = (nearest.system, nearest.variant) == (system, variant) and version_key(nearest.version) == asked
    disk = nearest.disk_mb or _disk_estimate(nearest, min((row for row in rows if row.disk_mb), key=far, default=None))
    return Weight(download=nearest.download_mb * _MEGA, disk=disk * _MEGA, exact=exact and bool(nearest.disk_mb))


def _disk_estimate(row: _Size, like: _Size | None) -> int:
    """What a build of which the download alone was measured becomes, as its like does; 0 where there is none."""
    return round(row.download_mb * like.disk_mb / like.download_mb) if like and like.download_mb else 0


@functools.cache
def _kind(variant: str) -> str:
    """What builds of a kind weigh alike by: "cu" of "cu126"."""
    match = re.match(r"[a-z]{1,8}", variant)
    return match[0] if match else ""


def _distance(version: tuple[int, ...], other: tuple[int, ...]) -> int:
    wide = [(*numbers, 0, 0)[:2] for numbers in (version, other)]
    return abs((wide[0][0] - wide[1][0]) * 100 + wide[0][1] - wide[1][1])
