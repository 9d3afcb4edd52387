"""Wheels of llama-cpp-python: one index a way of reaching the device; without one pip compiles a CPU build."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import oldest_compiled
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_SYSTEMS = {"linux": "linux", "windows": "win", "macos": "mac"}


def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All kinds of wheels for a system.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wish = wishes.get("llama-cpp-python", Requirement("llama-cpp-python"))
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["llama_cpp_python_index"]
    newest = str(tables.table("tensorflow_jax")["meta"]["newest"]["llama-cpp-python"])
    pinned = next((clause.version for clause in wish.specifier if clause.operator == "=="), newest)
    for row in rows:
        kind = _kind(str(row["variant"]))
        if _SYSTEMS.get(site.system) in row["os"] and kind and site.machine in ("x86_64", "arm64"):
            yield _candidate(row, kind, pinned)


def _kind(variant: str) -> str:
    """How a variant reaches the device."""
    starts = {"cu": "cuda", "ro": "rocm", "hi": "rocm", "me": "mps", "cp": "cpu", "vu": "vulkan"}
    return starts.get(variant[:2], "")


def _candidate(row: dict[str, Any], kind: str, pinned: str) -> Candidate:
    toolkit = str(row.get("toolkit", ""))
    return Candidate(
        package="llama-cpp-python",
        version=pinned,
        variant=str(row["variant"]),
        kind=kind,
        packages={"llama-cpp-python": pinned},
        index="",
        extra_indexes=(str(row["url"]),),
        cuda=toolkit if kind == "cuda" else "",
        code=tuple(_targets(toolkit)) if kind == "rocm" else (),
        isa_min=oldest_compiled(toolkit) if kind == "cuda" else "",
        source="tensorflow_jax",
    )


def _targets(toolkit: str) -> list[str]:
    """Targets of "ROCm 7.2.4: gfx908 90a 942 1030" and of "gfx1150 1151 1100-1102"."""
    targets: list[str] = []
    for word in re.findall(r"(?:gfx)?(\d{2,4}[a-f]?(?:-\d{3,4})?)\b", toolkit.partition(": ")[2]):
        first, _dash, last = word.partition("-")
        targets += [f"gfx{n}" for n in range(int(first), int(last) + 1)] if last else ["gfx" + first]
    return targets
