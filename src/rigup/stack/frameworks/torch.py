"""Builds of torch, with the packages that belong to a release."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.amd_ways import AmdWheel
from rigup.knowledge.cuda import version_key
from rigup.knowledge.jetson import jetson_wheels
from rigup.knowledge.meant import programs
from rigup.knowledge.shared_libraries import torch_pins
from rigup.knowledge.torch_builds import TorchBuild, builds, companions, index_url
from rigup.language import _
from rigup.stack.candidate import Candidate
from rigup.stack.frameworks.addons import addons, with_addons
from rigup.stack.site import Site

COMPANIONS = ("torchvision", "torchaudio", "torchcodec")
FAMILY = (*COMPANIONS, "triton")
_NIGHT = re.compile(r"\.dev\d{8}")
_KINDS = {"cu": "cuda", "ro": "rocm", "xp": "xpu", "cp": "cpu"}


def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows on a machine's system, the newest release first.

    Args:
        wishes: the wish's requirements by canonical name; torch's own family is bound to the release.
        site: the machine.

    Raises:
        KnowledgeError: a table is malformed.

    """
    wishes = {**wishes, **_needed(wishes)}
    wished = addons(wishes)
    for build in _all(wishes, site):
        yield from with_addons(build, wished, wishes, site)


def _needed(wishes: Mapping[str, Requirement]) -> dict[str, Requirement]:
    """What programs, and packages that are built, ask of torch's family: it comes with torch, of the same build."""
    names = {name for row in programs().values() if row.name in wishes for name in row.needs}
    names |= {name for row in addons(wishes) for name in row.before if name in FAMILY}
    return {name: Requirement(name) for name in names if name not in wishes}


def _all(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    by_variant = any("+" in str(wishes[name].specifier) for name in ("torch", *FAMILY) if name in wishes)
    for row in builds(site.system, site.machine):
        build = msgspec.structs.replace(row, pypi=False) if by_variant and row.index else row
        packages = _packages(build, wishes)
        if packages is not None:
            yield _candidate(build, packages)
    yield from _nightly(wishes, site)
    yield from _from_amd(wishes, site)
    yield from _for_jetson(wishes, site)
    if directml_possible(site):
        yield from _directml(wishes)


def _nightly(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """A build of one night, where exactly one is asked for: in each variant of the newest release, from the nightly index."""
    pins = [clause.version for clause in wishes["torch"].specifier if clause.operator == "=="] if "torch" in wishes else []
    night = next((pin for pin in pins if _NIGHT.search(pin)), "")
    if not night or any(name in wishes for name in FAMILY):
        return
    newest = builds(site.system, site.machine)[:1]
    for row in (build for build in builds(site.system, site.machine) if newest and build.torch == newest[0].torch):
        plain, _plus, variant = night.partition("+")
        if row.index and variant in ("", row.variant):
            packages = {"torch": f"{plain}+{row.variant}"}
            index = index_url(row.variant, nightly=True)
            yield msgspec.structs.replace(_candidate(row, packages), version=plain, index=index, trial=_unreleased(plain))


def _unreleased(version: str) -> str:
    template = _("torch {version} is a build of one night: what is compiled in is taken from the newest release.")
    return template.format(version=version)


def _candidate(row: TorchBuild, packages: dict[str, str]) -> Candidate:
    kind = _KINDS[row.variant[:2]]
    linux = row.system == "linux" and kind == "cuda"
    return Candidate(
        package="torch",
        version=row.torch,
        variant="" if row.system == "macos" else row.variant,
        kind="mps" if "mps" in row.code else kind,
        packages=packages,
        index="" if row.pypi else row.index,
        code=tuple(row.code),
        cuda=row.cuda,
        rocm=row.rocm,
        python=tuple(row.python),
        glibc=row.glibc,
        macos=row.macos,
        own_blas=bool(row.rocm),
        pins=torch_pins(row.torch, row.variant, row.cuda, not row.pypi) if linux else {},
        source="torch_builds",
        note=row.note,
    )


def _packages(row: TorchBuild, wishes: Mapping[str, Requirement]) -> dict[str, str] | None:
    """Exact versions of torch and of what was asked for of its family; None where a wish excludes them."""
    local = "" if row.pypi else "+" + row.variant
    friends = companions(row.torch)
    versions = {"torch": row.torch + local}
    for name in FAMILY:
        if name in wishes and (version := str(getattr(friends, name, "") or "")):
            versions[name] = version if name == "triton" else version + local
    wanted = ((name, wishes[name]) for name in ("torch", *FAMILY) if name in wishes)
    return versions if all(name in versions and allows(want, versions[name]) for name, want in wanted) else None


def allows(want: Requirement, version: str) -> bool:
    """Whether a wish takes a version: one without a local part takes any, one with it that alone."""
    plain = version.partition("+")[0]
    bounds = str(want.specifier)
    if not plain[:1].isdigit():  # a range, as triton's is
        return True
    return want.specifier.contains(version if "+" in bounds else plain, prereleases=True)


def _from_amd(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    shipped = [row for row in tables.table("torch_rocm").get("device_extra", []) if _shipped(row, site.system)]
    for row in tables.rows("torch_rocm", "amd_wheel", AmdWheel):
        local = "+rocm" + row.rocm
        versions = {"torch": row.torch + local}
        versions |= {name: getattr(row, name) + local for name in ("torchvision", "torchaudio") if name in wishes}
        if site.system in row.systems and site.machine == "x86_64" and _fits(wishes, versions):
            yield Candidate(
                package="torch",
                version=row.torch,
                variant="rocm" + row.rocm,
                kind="rocm",
                packages=versions,
                index=row.index,
                rocm=row.rocm,
                python=tuple(row.python),
                glibc="2.28",
                source="torch_rocm",
                extra_isas={extra["isa"]: extra["extra"] for extra in shipped},
                untested=tuple(extra["isa"] for extra in shipped if extra[site.system].startswith("build only")),
            )


def _fits(wishes: Mapping[str, Requirement], versions: Mapping[str, str]) -> bool:
    wanted = [name for name in ("torch", *FAMILY) if name in wishes]
    return all(name in versions and allows(wishes[name], versions[name]) for name in wanted)


def _shipped(row: dict[str, Any], system: str) -> bool:
    return not str(row.get(system, "not shipped")).startswith("not shipped")


def _for_jetson(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """NVIDIA's own builds for its modules."""
    for row in jetson_wheels(site.jetpack) if site.jetpack else []:
        versions = {"torch": row.torch}
        versions |= {name: getattr(row, name) for name in ("torchvision", "torchaudio") if name in wishes and getattr(row, name)}
        if _fits(wishes, versions):
            yield Candidate(
                package="torch",
                version=row.torch.partition("a")[0],
                variant="",
                kind="cuda",
                packages=versions,
                index=row.index,
                files={"torch": row.file} if row.file else {},
                links=(row.links,) if row.links else (),
                cuda=row.cuda,
                code=tuple(row.code),
                python=tuple(row.python),
                glibc="2.17",
                source="torch_jetson",
            )


def directml_possible(site: Site) -> bool:
    """DirectML is Windows' own; inside WSL it reaches the same cards, from no image that anybody tried."""
    return site.machine == "x86_64" and (site.system == "windows" or site.wsl) and site.holder not in ("docker", "apptainer")


def _directml(wishes: Mapping[str, Requirement]) -> Iterator[Candidate]:
    rows: list[dict[str, Any]] = tables.table("directml").get("release", [])
    for row in rows:
        versions = {"torch-directml": row["torch_directml"], "torch": row["torch"]}
        if "torchvision" in wishes:
            versions["torchvision"] = row["torchvision"]
        pinned = wishes.get("torch-directml")
        if _fits(wishes, versions) and (pinned is None or allows(pinned, versions["torch-directml"])):
            yield Candidate(
                package="torch",
                version=row["torch"],
                variant="",
                kind="directml",
                packages=versions,
                python=tuple(minors(str(row["python"]))),
                glibc="2.17",
                source="directml",
            )


def minors(span: str) -> list[str]:
    """Single Pythons of "3.8-3.12"."""
    first, _dash, last = span.partition("-")
    low, high = version_key(first)[1], version_key(last or first)[1]
    return [f"3.{minor}" for minor in range(low, high + 1)]
