"""Builds of TensorFlow: GPU code on Linux alone, and there through the extra that brings CUDA along."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.language import _
from rigup.stack.candidate import Candidate, Change
from rigup.stack.frameworks.torch import minors
from rigup.stack.site import Site

_NAMES = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")


def candidates(asked: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows, the newest release first; each with its GPU code, and without it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = next((asked[name] for name in _NAMES if name in asked), None)
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["tensorflow"]
    for row in sorted(rows, key=lambda row: version_key(row["version"]), reverse=True):
        if wanted is None or not wanted.specifier or wanted.specifier.contains(row["version"]):
            yield from _builds(row, site, "tensorflow-cpu" in asked)


def _builds(row: dict[str, Any], site: Site, cpu_only: bool) -> Iterator[Candidate]:
    version = str(row["version"])
    common: dict[str, Any] = {
        "package": "tensorflow", "version": version, "python": tuple(minors(str(row["python"]))),
        "glibc": "2.17", "source": "tensorflow_jax",
    }  # fmt: skip
    yield Candidate(kind="cpu", packages={"tensorflow": version}, **common)
    if site.system != "linux" or site.machine != "x86_64" or cpu_only:
        return
    extra = "[and-cuda]" if row.get("extra") else ""
    yield Candidate(
        kind="cuda", packages={"tensorflow" + extra: version}, code=tuple(row["code"]), cuda=str(row["cuda"]),
        failing=_failing(), changes=() if extra else (_toolkit(row),), note=str(row.get("note", "")), **common,
    )  # fmt: skip


def _failing() -> tuple[str, ...]:
    """Chips that find code in the wheels and yet fail."""
    facts: list[dict[str, Any]] = tables.table("tensorflow_jax")["tensorflow_fact"]
    return tuple(isa for fact in facts if fact.get("id") == "failing" for isa in fact["isas"])


def _toolkit(row: dict[str, Any]) -> Change:
    """Releases without the extra take CUDA and cuDNN from the system."""
    told = _("tensorflow {version} brings no CUDA along: it takes the system's.").format(version=row["version"])
    to = _("CUDA {cuda} and cuDNN {cudnn}").format(cuda=row["cuda"], cudnn=row["cudnn"])
    return Change(change="toolkit", have=None, to=to, why=told, source="tensorflow_jax", weight=6)
