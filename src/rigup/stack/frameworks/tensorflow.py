"""Builds of TensorFlow: GPU code on Linux alone, and there through the extra that brings CUDA along."""

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.shared_libraries import short_names
from rigup.language import _
from rigup.stack.candidate import Candidate, Change
from rigup.stack.frameworks.listed import on_pypi
from rigup.stack.frameworks.torch import minors
from rigup.stack.site import Site

_NAMES = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")


def candidates(wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All builds that a wish allows, the newest release first; each with its GPU code, and without it.

    Raises:
        KnowledgeError: the table is malformed.

    """
    wanted = next((wishes[name] for name in _NAMES if name in wishes), None)
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["tensorflow"]
    for row in sorted(rows, key=lambda row: version_key(row["version"]), reverse=True):
        for version in reversed(row.get("releases", [row["version"]])):
            if wanted is None or wanted.specifier.contains(version):
                named = wanted is not None and bool(wanted.specifier)
                yield from _builds(row, version, site, "tensorflow-cpu" in wishes or not (named or _offered(site)))


def _offered(site: Site) -> bool:
    """GPU code for native Windows ended long ago: it is taken where its release is named, and WSL is told before it."""
    return site.system != "windows"


def _builds(row: dict[str, Any], version: str, site: Site, cpu_only: bool) -> Iterator[Candidate]:
    common: dict[str, Any] = {
        "package": "tensorflow",
        "version": version,
        "lowest_cpu": "avx",
        "source": "tensorflow_jax",
        **on_pypi("tensorflow", version, site, minors(str(row["python"])), glibc="2.17"),
    }
    if not common["python"]:
        return
    yield Candidate(kind="cpu", packages={"tensorflow": version}, **common)
    if cpu_only or site.machine != "x86_64" or not (site.system == "linux" or _on_windows(row, site)):
        return
    extra = "[and-cuda]" if row.get("extra") else ""
    yield Candidate(
        kind="cuda",
        packages={"tensorflow" + extra: version},
        code=tuple(row["code"]),
        cuda=str(row["cuda"]),
        failing=tuple(_fact("failing").get("isas", ())),
        changes=() if extra else _toolkit(row, version, site),
        any_cudnn=bool(extra) and any("cudnn" in name and not pin.startswith("==") for name, pin in row["pins"].items()),
        pins=short_names(row["pins"]) if extra else {},
        note=str(row.get("note", "")),
        mind="" if extra or site.system != "windows" else _by_hand(row, version),
        **common,
    )


def _on_windows(row: dict[str, Any], site: Site) -> bool:
    return site.system == "windows" and bool(row.get("windows_gpu"))


def _fact(name: str) -> dict[str, Any]:
    facts: list[dict[str, Any]] = tables.table("tensorflow_jax")["tensorflow_fact"]
    return next((fact for fact in facts if fact.get("id") == name), {})


def _by_hand(row: dict[str, Any], version: str) -> str:
    """What its toolkit needs beside it on Windows, where no package brings cuDNN."""
    template = _(
        "tensorflow {version} looks for cuDNN {cudnn} too: unpack NVIDIA's archive of it into the folder of CUDA {cuda}, and put "
        "that folder's bin into PATH. Inside WSL newer releases bring all of this along."
    )
    return template.format(version=version, cudnn=row["cudnn"], cuda=row["cuda"])


def _toolkit(row: dict[str, Any], version: str, site: Site) -> tuple[Change, ...]:
    """Releases without the extra take CUDA and cuDNN from the system."""
    if site.toolkit and version_key(site.toolkit)[:2] == version_key(str(row["cuda"]))[:2]:
        return ()
    sentence = _("tensorflow {version} brings no CUDA along: it takes the system's.").format(version=version)
    to = _("CUDA {cuda} and cuDNN {cudnn}").format(cuda=row["cuda"], cudnn=row["cudnn"])
    own = site.holder == "conda"  # there it comes into the environment
    return (
        Change(
            change="toolkit", have=site.toolkit or None, to=to, why=sentence, source="tensorflow_jax", root=not own, weight=4 if own else 6
        ),
    )
