"""Builds of onnxruntime: one package a way of reaching the device, and only one of them at a time."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_NAMES = ("onnxruntime-gpu", "onnxruntime-directml", "onnxruntime")
_OLDEST_CHIP = {12: "sm_50", 13: "sm_75"}  # what the toolkit of a major compiles for (cuda_driver, toolkit_compile)


def candidates(asked: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows, the newest release first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = next((asked[name] for name in _NAMES if name in asked), None)
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["onnxruntime_gpu"]
    for row in sorted(rows, key=lambda row: version_key(_newest(row)), reverse=True):
        version = _newest(row)
        if wanted is None or not wanted.specifier or wanted.specifier.contains(version):
            yield from _builds(row, version, site, asked)


def _builds(row: dict[str, Any], version: str, site: Site, asked: Mapping[str, Requirement]) -> Iterator[Candidate]:
    common: dict[str, Any] = {
        "package": "onnxruntime", "version": version, "python": tuple(_pythons(row)), "glibc": "2.27",
        "source": "tensorflow_jax",
    }  # fmt: skip
    if "onnxruntime-gpu" not in asked:
        yield Candidate(kind="cpu", packages={"onnxruntime": version}, **common)
    if site.system == "windows":
        yield Candidate(kind="directml", packages={"onnxruntime-directml": version}, **common)
    if site.system in ("linux", "windows") and site.machine == "x86_64":
        cuda = str(row["cuda"]).removesuffix(".x")
        extra = "[cuda,cudnn]" if "[cuda,cudnn]" in str(row.get("extra", "")) else ""
        yield Candidate(
            kind="cuda", packages={"onnxruntime-gpu" + extra: version}, cuda=cuda,
            isa_min=_OLDEST_CHIP.get(version_key(cuda)[0], ""), **common,
        )  # fmt: skip


def _newest(row: dict[str, Any]) -> str:
    """The last release of a range, in full."""
    last = str(row["version"]).rpartition("-")[2]
    return last if last.count(".") > 1 else last + ".0"


def _pythons(row: dict[str, Any]) -> list[str]:
    """Where the table names a lowest Python, those from there on that are known to exist."""
    from rigup.knowledge.torch_builds import builds

    note = str(row.get("note", ""))
    least = version_key(note.partition("python >= ")[2])[1] if "python >= " in note else 8
    known = {python for build in builds() for python in build.python if not python.endswith("t")}
    return sorted((python for python in known if version_key(python)[1] >= least), key=version_key)
