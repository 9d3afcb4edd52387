"""Builds of JAX: the CPU build everywhere, CUDA plugins by extra on Linux."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site

_MACHINES = {"linux": ("x86_64", "aarch64"), "macos": ("arm64",), "windows": ("x86_64",)}


def candidates(asked: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows, the newest release first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = [asked[name] for name in ("jax", "jaxlib") if name in asked and asked[name].specifier]
    if site.machine not in _MACHINES.get(site.system, ()):
        return
    for row in _releases():
        for version in reversed(row.get("releases", [row["version"]])):
            if all(want.specifier.contains(version) for want in wanted):
                yield from _builds(row, version, site)


def _releases() -> list[dict[str, Any]]:
    """The newest release with all its extras, then the older ones."""
    table = tables.table("tensorflow_jax")
    plain = next(row for row in table["jax"] if row["extra"] == "jax (plain)")
    newest = plain | {"extras": [str(row["extra"])[4:-1] for row in _plugins().values()]}
    older: list[dict[str, Any]] = table["jax_release"]
    return sorted([newest, *older], key=lambda row: version_key(row["version"]), reverse=True)


def _plugins() -> dict[str, dict[str, Any]]:
    """The extras that bring their CUDA along, by name."""
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["jax"]
    named = ((str(row["extra"]), row) for row in rows)
    return {extra[4:-1]: row for extra, row in named if extra.startswith("jax[cuda") and "local" not in extra}


def _builds(row: dict[str, Any], version: str, site: Site) -> Iterator[Candidate]:
    common: dict[str, Any] = {
        "package": "jax", "version": version, "python": tuple(_pythons(row)), "glibc": "2.27", "source": "tensorflow_jax",
    }  # fmt: skip
    yield Candidate(kind="cpu", packages={"jax": version}, **common)
    for extra in row["extras"] if site.system == "linux" else ():
        plugin = _plugins()[extra]
        yield Candidate(
            kind="cuda", variant=extra, packages={f"jax[{extra}]": version}, cuda=extra.removeprefix("cuda"),
            driver=str(plugin.get("driver_linux", "")), isa_min=str(plugin.get("isa_min", "")), **common,
        )  # fmt: skip


def _pythons(row: dict[str, Any]) -> list[str]:
    """All Pythons that the tables know from the lowest on; the newest JAX names no highest one."""
    from rigup.knowledge.torch_builds import builds

    least, last = version_key(str(row.get("python", ">=3.12"))), version_key(str(row.get("python_last", "3.99")))
    known = {python for build in builds() for python in build.python if not python.endswith("t")}
    return sorted((python for python in known if least <= version_key(python) <= last), key=version_key)
