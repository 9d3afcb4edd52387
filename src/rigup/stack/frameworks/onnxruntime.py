"""Builds of onnxruntime: one package a way of reaching the device, and only one of them at a time."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import oldest_compiled, version_key
from rigup.language import _
from rigup.stack.candidate import Candidate
from rigup.stack.frameworks.listed import on_pypi
from rigup.stack.frameworks.torch import minors
from rigup.stack.site import Site

_PACKAGES = {"onnxruntime-gpu": "cuda", "onnxruntime-directml": "directml", "onnxruntime": "cpu"}


def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows, the newest release first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = [wishes[name] for name in _PACKAGES if name in wishes and wishes[name].specifier]
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["onnxruntime_gpu"]
    for row in sorted(rows, key=lambda row: version_key(row["releases"][-1]), reverse=True):
        for version in reversed(row["releases"]):
            if all(want.specifier.contains(version) for want in wanted):
                yield from (build for build in _builds(row, version, site) if _asked_for(build, wishes))


def _asked_for(build: Candidate, wishes: Mapping[str, Requirement]) -> bool:
    """A wish for one of the packages takes no other, but that the plain name stands for all."""
    names = [name for name in _PACKAGES if name in wishes and name != "onnxruntime"]
    return not names or any(_PACKAGES[name] == build.kind for name in names)


def _builds(row: dict[str, Any], version: str, site: Site) -> Iterator[Candidate]:
    for package, kind in _PACKAGES.items():
        fields = on_pypi(package, version, site, minors(str(row["python"])), glibc="2.27")
        if not fields["python"] or (site.jetpack and kind == "cuda"):
            continue
        common: dict[str, Any] = {"package": "onnxruntime", "version": version, "kind": kind, "source": "tensorflow_jax", **fields}
        if kind != "cuda":
            yield Candidate(packages={package: version}, **common)
            continue
        cuda = str(row["cuda"]).removesuffix(".x")
        extra = "[cuda,cudnn]" if "[cuda,cudnn]" in str(row.get("extra", "")) else ""
        yield Candidate(
            packages={package + extra: version},
            cuda=cuda,
            isa_min=oldest_compiled(cuda),
            code=tuple(row.get("code_on", {}).get(site.machine, ())),
            failing=tuple(row.get("failing", {}).get(version, ())),
            any_cudnn=bool(extra),
            mind="" if extra else _from_elsewhere(version, row, site),
            pins=_pins(cuda) if extra and site.system == "linux" else {},
            **common,
        )


def _pins(cuda: str) -> dict[str, str]:
    """What its extra takes of NVIDIA's libraries: any release of the same major one."""
    major = version_key(cuda)[0]
    return {"cuda": f">={major},<{major + 1}", "cudnn": ">=9,<10"}


def _from_elsewhere(version: str, row: dict[str, Any], site: Site) -> str:
    """Releases without the extra look for CUDA where the loader does."""
    cuda = str(row["cuda"]).removesuffix(".x")
    if site.toolkit and version_key(site.toolkit)[:1] == version_key(cuda)[:1]:
        return ""
    template = _("onnxruntime-gpu {version} brings no CUDA along: put CUDA {cuda} and cuDNN {cudnn} where the loader looks.")
    return template.format(version=version, cuda=row["cuda"], cudnn=row["cudnn"])
