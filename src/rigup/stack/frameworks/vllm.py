"""Releases of vLLM: each brings its own torch, and runs on Linux alone."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.shared_libraries import torch_pins
from rigup.knowledge.torch_builds import brought
from rigup.stack.candidate import Candidate
from rigup.stack.frameworks.torch import FAMILY
from rigup.stack.site import Site


def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All releases that a wish allows, the newest first.

    Raises:
        KnowledgeError: a table is malformed.

    """
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["vllm"]
    if site.system != "linux" or site.machine not in ("x86_64", "aarch64") or site.jetpack:
        return
    yield from _for_rocm(wishes) if site.machine == "x86_64" else ()
    fitting = [row for row in rows if site.machine in row.get("machines", ("x86_64", "aarch64"))]
    for row in sorted(fitting, key=lambda row: version_key(row["version"]), reverse=True):
        for version in reversed(row.get("releases", [row["version"]])):
            if build := _candidate(row, version, wishes, site):
                yield build


def _for_rocm(wishes: Mapping[str, Requirement]) -> Iterator[Candidate]:
    """Wheels from vLLM's own index; nobody may name the torch, which comes with them."""
    if any(wishes[name].specifier for name in (*FAMILY, "torch", "xformers") if name in wishes):
        return
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax").get("vllm_rocm", [])
    for row in rows:
        for version in reversed(row["releases"]):
            if wishes["vllm"].specifier.contains(version):
                yield Candidate(
                    package="vllm",
                    version=version,
                    variant=row["variant"],
                    kind="rocm",
                    packages={"vllm": f"{version}+{row['variant']}"},
                    extra_indexes=(row["index"].format(version=version),),
                    code=tuple(row["code"]),
                    rocm=row["rocm"],
                    python=tuple(row["python"]),
                    glibc=row["glibc"],
                    lowest_cpu="avx2",
                    source="tensorflow_jax",
                    note=row["note"],
                )


def _wanted(name: str, wishes: Mapping[str, Requirement]) -> bool:
    """vllm brings its companions along; they are named where they were asked for, or belong to torch."""
    return name != "xformers" or name in wishes


def _candidate(row: dict[str, Any], version: str, wishes: Mapping[str, Requirement], site: Site) -> Candidate | None:
    """One release; None where the wish excludes it, or the torch that it asks for has no GPU code on the platform."""
    wheel = brought(str(row["torch"]), str(row["pypi_torch_variant"]), "linux", site.machine)
    local = "+" + wheel.variant if wheel and not wheel.pypi else ""
    packages = {"vllm": version, "torch": str(row["torch"]) + local}
    packages |= {name: str(row[name]) for name in (*FAMILY, "xformers") if row.get(name) and _wanted(name, wishes)}
    if wheel is None or not all(_takes(wishes[name], release) for name, release in packages.items() if name in wishes):
        return None
    return Candidate(
        package="vllm",
        version=version,
        kind="cuda",
        packages=packages,
        extra_indexes=(wheel.index,) if local else (),
        code=tuple(wheel.code),
        cuda=wheel.cuda,
        driver=str(row.get("min_driver_linux", "")),
        python=tuple(_pythons(str(row["python"]))),
        glibc=max(_glibc(str(row.get("glibc_tag", ""))), wheel.glibc, key=version_key),
        isa_min=oldest(version),
        lowest_cpu="avx2",
        pins=torch_pins(str(row["torch"]), wheel.variant, wheel.cuda, not wheel.pypi),
        source="tensorflow_jax",
    )


def _takes(want: Requirement, version: str) -> bool:
    """Whether a wish takes a version: one without a local part takes any, one with it that alone."""
    plain = version if "+" in str(want.specifier) else version.partition("+")[0]
    return want.specifier.contains(plain, prereleases=True)


def oldest(version: str) -> str:
    """The oldest chip, as the documentation of that release has it. Raises KnowledgeError for a malformed table."""
    facts: list[dict[str, Any]] = tables.table("tensorflow_jax")["vllm_fact"]
    rows = [row for row in facts if row.get("isa_min") and version_key(str(row["since"])) <= version_key(version)]
    return str(max(rows, key=lambda row: version_key(str(row["since"])))["isa_min"]) if rows else ""


def _pythons(bounds_text: str) -> list[str]:
    """Single Pythons of "<3.14,>=3.10"."""
    bounds = {part[0]: version_key(part)[1] for part in bounds_text.replace(">=", ">").split(",")}
    return [f"3.{minor}" for minor in range(bounds.get(">", 9), bounds.get("<", 14))]


def _glibc(tag: str) -> str:
    numbers = version_key(tag.replace("manylinux_", "").replace("_", ".")) if "_" in tag else ()
    return ".".join(map(str, numbers[:2])) if len(numbers) > 1 else "2.17"
