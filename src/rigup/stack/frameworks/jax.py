"""Builds of JAX: the CPU build everywhere, CUDA plugins by extra on Linux, and AMD's plugins beside it."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.language import _
from rigup.stack.candidate import Candidate, Change
from rigup.stack.frameworks.listed import on_pypi
from rigup.stack.site import Site


def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows, the newest release first.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = [wishes[name] for name in ("jax", "jaxlib") if name in wishes and wishes[name].specifier]
    for row in _releases():
        for version in reversed(row.get("releases", [row["version"]])):
            if all(want.specifier.contains(version) for want in wanted):
                yield from _builds(row, version, site, _extras(wishes))
    if site.system == "linux" and site.machine == "x86_64" and not site.wsl:
        yield from (build for build in _for_rocm(site) if all(want.specifier.contains(build.version) for want in wanted))


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


def _extras(wishes: Mapping[str, Requirement]) -> set[str]:
    """The extras that a wish names, among those that bring CUDA along: then none of the others is taken."""
    return wishes["jax"].extras & _plugins().keys() if "jax" in wishes else set()


def _builds(row: dict[str, Any], version: str, site: Site, named: set[str]) -> Iterator[Candidate]:
    common: dict[str, Any] = {
        "package": "jax",
        "version": version,
        "source": "tensorflow_jax",
        **on_pypi("jaxlib", version, site, _pythons(row), glibc="2.27"),
    }
    if not common["python"]:
        return
    yield Candidate(kind="cpu", packages={"jax": version}, **common)
    extras = [extra for extra in row["extras"] if not named or extra in named]
    for extra in extras if site.system == "linux" and not site.jetpack else ():
        plugin = _plugins()[extra]
        yield Candidate(
            kind="cuda",
            variant=extra,
            packages={f"jax[{extra}]": version},
            cuda=extra.removeprefix("cuda"),
            driver=str(plugin.get("driver_linux", "")),
            isa_min=str(plugin.get("isa_min", "")),
            any_cudnn=True,
            pins=_pins(row, plugin, extra),
            **common,
        )


def _pins(row: Mapping[str, Any], plugin: Mapping[str, Any], extra: str) -> dict[str, str]:
    """What the plug-in takes of NVIDIA's libraries: of the releases before the newest the table says it where it is less."""
    major = int(extra.removeprefix("cuda"))
    pin = str(plugin.get("pins_cudnn", ""))
    cudnn = row.get("cudnn_min")
    return {"cuda": f">={major},<{major + 1}", "cudnn": f">={cudnn},<10" if cudnn else pin}


def _for_rocm(site: Site) -> Iterator[Candidate]:
    """AMD's builds, which bring ROCm's libraries along, and the plugin of the newest release, which takes the system's."""
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax").get("jax_rocm", [])
    for row in rows:
        version, local = row["version"], row["version"] + row["local"]
        yield Candidate(
            package="jax",
            version=version,
            variant="rocm" + row["rocm"],
            kind="rocm",
            rocm=row["rocm"],
            packages={
                "jax": version,
                "jaxlib": version,
                "jax-rocm7-plugin": local,
                "jax-rocm7-pjrt": local,
                "rocm[libraries]": row["rocm"],
            },
            extra_indexes=(row["index"],),
            extra_isas={isa: "device-" + isa for isa in row["targets"]},
            extra_of="rocm",
            python=tuple(row["python"]),
            glibc=row["glibc"],
            source="tensorflow_jax",
        )
    yield from _by_system(site)


def _by_system(site: Site) -> Iterator[Candidate]:
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["jax"]
    for row in (release for release in rows if release.get("rocm")):
        extra, version = str(row["extra"])[4:-1], str(row["version"])
        yield Candidate(
            package="jax",
            version=version,
            variant=extra,
            kind="rocm",
            rocm=row["rocm"],
            code=tuple(row["code"]),
            packages={f"jax[{extra}]": version},
            python=tuple(_pythons(row)),
            glibc=row["glibc"],
            changes=_of_system(row, version, site),
            source="tensorflow_jax",
        )


def _of_system(row: Mapping[str, Any], version: str, site: Site) -> tuple[Change, ...]:
    """The release of ROCm that the plugin looks for; one of the same major release serves."""
    major = version_key(row["rocm"])[:1]
    if any(version_key(release)[:1] == major for release in site.system_state.toolkits.get("rocm", ())):
        return ()
    why = _("jax {version} brings no ROCm along: it takes the system's.").format(version=version)
    return (Change(change="rocm", have=None, to=row["rocm"], why=why, source="tensorflow_jax", weight=6),)


def _pythons(row: dict[str, Any]) -> list[str]:
    """All Pythons that the tables know from the lowest on; the newest JAX names no highest one."""
    from rigup.knowledge.torch_builds import builds

    least = version_key(str(row.get("python", ">=3.12")))
    known = {python for build in builds() for python in build.python if not python.endswith("t")}
    return sorted((python for python in known if least <= version_key(python)), key=version_key)
