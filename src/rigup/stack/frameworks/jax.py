"""Builds of JAX: the CPU build everywhere, CUDA plugins by extra on Linux."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site


def candidates(asked: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = asked.get("jax") or asked.get("jaxlib")
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["jax"]
    for row in rows:
        version, extra = str(row["version"]), str(row["extra"])
        if wanted and wanted.specifier and not wanted.specifier.contains(version):
            continue
        if extra == "jax (plain)":
            yield Candidate(kind="cpu", packages={"jax": version}, **_common(row, version))
        elif _plugin(extra) and site.system == "linux":
            yield Candidate(
                kind="cuda", variant=extra[4:-1], packages={extra: version}, cuda=extra[-3:-1],
                driver=str(row.get("driver_linux", "")), isa_min=str(row.get("isa_min", "")), **_common(row, version),
            )  # fmt: skip


def _plugin(extra: str) -> bool:
    """The extras that bring their CUDA along."""
    return extra.startswith("jax[cuda") and "local" not in extra


def _common(row: dict[str, Any], version: str) -> dict[str, Any]:
    least = version_key(str(row.get("python", ">=3.12")))[1]
    return {
        "package": "jax", "version": version, "python": tuple(_from(least)), "glibc": "2.27",
        "source": "tensorflow_jax",
    }  # fmt: skip


def _from(least: int) -> list[str]:
    """All Pythons that the tables know from a minor on: JAX names no highest one."""
    from rigup.knowledge.torch_builds import builds

    known = {python for row in builds() for python in row.python if not python.endswith("t")}
    return sorted((python for python in known if version_key(python)[1] >= least), key=version_key)
