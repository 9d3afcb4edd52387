"""For which CUDA a framework other than torch was built, by its package's name and version."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.knowledge.cuda import cuda_of_driver, toolkit_isas, version_key
from rigup.knowledge.pythons import supported

_TABLE = "framework_cuda"


class _Build(msgspec.Struct, frozen=True):
    package: str
    first: str
    last: str
    cuda: str


class _Named(msgspec.Struct, frozen=True):
    package: str
    form: str


class _Newest(msgspec.Struct, frozen=True):
    cuda: str
    isa: str


class _Naming(msgspec.Struct, frozen=True):
    by_major_since: str


def cuda_of_package(name: str, version: str) -> str | None:
    """Tell the CUDA that a published package was made for ("mxnet-cu102" -> "10.2"); None where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    for row in tables.rows(_TABLE, "named", _Named):
        match = re.fullmatch(row.form, name) or re.fullmatch(row.form, f"{name}=={version}")
        if match:
            return _dotted(match["cuda"])
    asked = version_key(version)[:2]
    rows = [row for row in tables.rows(_TABLE, "build", _Build) if row.package in (name, name.removesuffix("-gpu"))]
    fits = [row for row in rows if asked and version_key(row.first) <= asked]
    newest = max(fits, key=lambda row: version_key(row.first), default=None)
    ended = newest is not None and bool(newest.last) and asked > version_key(newest.last)
    return newest.cuda if newest and not ended else None


def came_after(isa: str, cuda: str) -> bool:
    """Tell whether a chip came after all that a CUDA release compiles for; False where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    known = toolkit_isas(cuda)
    if not known:
        rows = tables.rows(_TABLE, "newest", _Newest)
        older = [row for row in rows if version_key(row.cuda) <= version_key(cuda)]
        known = [max(older, key=lambda row: version_key(row.cuda)).isa] if older else []
    return bool(known) and isa_order(isa) > max(isa_order(code) for code in known)


class _Jax(msgspec.Struct, frozen=True):
    extra: str
    driver_linux: str = ""


def jax_extra(driver: str) -> str:
    """What of JAX to ask pip for, for a card of NVIDIA's: the newest that the driver carries, or the one that asks least of it.

    Args:
        driver: its version, "" where nobody knows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = [row for row in tables.rows("tensorflow_jax", "jax", _Jax) if row.driver_linux.isdigit()]
    rows.sort(key=lambda row: int(row.driver_linux))
    fits = [row for row in rows if driver and version_key(driver) >= version_key(row.driver_linux)]
    return (fits[-1:] or rows[:1])[0].extra


class _Onnx(msgspec.Struct, frozen=True):
    releases: list[str]
    cuda: str
    extra: str = ""


def onnxruntime_releases(driver: str, major: str, have: str, python: str) -> str:
    """Which release of onnxruntime-gpu has an extra that brings a CUDA which the driver carries, as pip takes it; "" for none.

    The one that is there, or the newest for the Python; where nobody knows that one, all of them, of which pip takes the newest that it has.

    Args:
        driver: its version, "" where nobody knows.
        major: of the CUDA whose libraries are missed, "" where nobody knows.
        have: the release that is there, "" where nobody knows.
        python: its version, "" where nobody knows.

    Raises:
        KnowledgeError: a table is malformed.

    """
    rows = [row for row in tables.rows("tensorflow_jax", "onnxruntime_gpu", _Onnx) if "[cuda,cudnn]" in row.extra]
    of_release = {release: _major(row.cuda) for row in rows for release in row.releases}
    of_driver = cuda_of_driver(driver) if driver else None
    most = _major(of_driver) if of_driver else of_release.get(have) or int(major or 0) or min(of_release.values())
    fits = [name for name, wanted in of_release.items() if wanted <= most]
    usable = [name for name in fits if not python or supported("onnxruntime-gpu", python, name) is not False]
    if have not in fits and fits and not python:
        beyond = min((name for name in of_release if name not in fits), key=version_key, default="")
        return f">={min(fits, key=version_key)}" + (f",<{beyond}" if beyond else "")
    release = have if have in fits else max(usable, key=version_key, default="")
    return f"=={release}" if release else ""


def _major(cuda: str) -> int:
    return version_key(cuda)[0]


def named_alike(cuda: str, other: str) -> bool:
    """Tell whether the libraries of two releases of CUDA have the same names, so that one toolkit's serve for the other's.

    Raises:
        KnowledgeError: the table is malformed.

    """
    first, second = version_key(cuda)[:2], version_key(other)[:2]
    by_major = all(first >= version_key(row.by_major_since) for row in tables.rows(_TABLE, "naming", _Naming))
    return first[:1] == second[:1] and (by_major or first == second)


def _dotted(digits: str) -> str:
    """Read the digits of a name: 102 is 10.2, 92 is 9.2, and 12 is any 12."""
    if len(digits) == 2 and digits[0] == "1":
        return digits + ".0"
    return digits[:-1] + "." + digits[-1]
