"""Vendors' images that hold a framework already: builds of their own, where an image is to be made."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.environment_images import Image, images
from rigup.knowledge.meant import programs
from rigup.knowledge.torch_builds import build, companions, index_url
from rigup.stack.candidate import Candidate
from rigup.stack.frameworks.addons import addons, with_addons
from rigup.stack.frameworks.torch import FAMILY, allows
from rigup.stack.frameworks.vllm import oldest
from rigup.stack.site import Site

_NEVER = ("tensorflow-cpu", "torch-directml")  # what no such image is for


def candidates(package: str, called: tuple[str, ...], wishes: Mapping[str, Requirement], site: Site) -> Iterator[Candidate]:
    """All images of a framework that a wish allows.

    Args:
        package: the framework.
        called: names that belong to it.
        wishes: the wish by canonical name.
        site: the machine as the image sees it.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if site.machine != "x86_64" or site.jetpack:
        return
    wished = addons(wishes) if package == "torch" else []
    for row in images(package):
        for version in row.versions:
            for cuda in row.cuda or [""]:
                for candidate in of_row(row, version, cuda, wishes):
                    if _allowed(candidate, called, wishes):
                        yield from with_addons(candidate, wished, wishes, site)


def _allowed(candidate: Candidate, called: tuple[str, ...], wishes: Mapping[str, Requirement]) -> bool:
    """A wish may name the framework, and what the image or its index has beside it."""
    return all(
        allows(wishes[name], candidate.packages.get(name, candidate.version)) for name in candidate.packages if name in wishes
    ) and not any(name in wishes for name in called if name in _NEVER or name in programs())


def of_row(row: Image, version: str, cuda: str, wishes: Mapping[str, Requirement]) -> Iterator[Candidate]:
    """The build inside one image; none where the tables do not tell its code. Raises KnowledgeError for a malformed table."""
    contents = _Contents.of(row, version, cuda)
    if not contents.code:
        return
    packages = _packages(row, version, contents.variant, wishes)
    if packages is None:
        return
    yield Candidate(
        package=row.package,
        version=version,
        variant=contents.variant if row.package == "torch" else "",
        kind=row.kind,
        packages=packages,
        image=row.image.format(version=version, cuda=cuda),
        brings=(row.package, *row.brings),
        index=index_url(contents.variant) if contents.variant.startswith("cu") and row.package == "torch" else "",
        code=tuple(contents.code),
        cuda=contents.cuda,
        rocm=row.rocm,
        python=(row.python,),
        isa_min=contents.oldest,
        failing=contents.failing if not row.code else (),
        source="environment_images",
        note=row.note,
    )


def _packages(row: Image, version: str, variant: str, wishes: Mapping[str, Requirement]) -> dict[str, str] | None:
    """Exact versions of what the image has and of what comes beside it from the same index."""
    local = "+" + variant if variant.startswith("cu") and row.package == "torch" else ""
    versions = {row.package: version + local}
    friends = companions(version) if row.package == "torch" else None
    for name in (companion for companion in FAMILY if companion in wishes and friends is not None):
        release = str(getattr(friends, name, "") or "")
        if not release or (not local and name not in row.brings):
            return None
        versions[name] = release if name == "triton" else release + local
    return versions


class _Contents(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the build inside an image."""

    code: list[str]
    cuda: str = ""
    variant: str = ""
    oldest: str = ""
    failing: tuple[str, ...] = ()

    @staticmethod
    def of(row: Image, version: str, cuda: str) -> "_Contents":
        """By its own row, or by the wheel of the same release."""
        if row.code:
            return _Contents(code=row.code, cuda=cuda, variant="rocm" + row.rocm if row.rocm else "")
        if row.package == "tensorflow":
            return _tensorflow(version)
        torch = version if row.package == "torch" else _torch_of(version)
        variant = "cu" + cuda.replace(".", "")
        wheel = build(torch, variant) if torch else None
        if wheel is None or wheel.extrapolated:
            return _Contents(code=[])
        least = oldest(version) if row.package == "vllm" else ""
        return _Contents(code=wheel.code, cuda=wheel.cuda, variant=variant, oldest=least)


def _tensorflow(version: str) -> _Contents:
    table = tables.table("tensorflow_jax")
    rows: list[dict[str, Any]] = table["tensorflow"]
    release = next((row for row in rows if version in row.get("releases", [row["version"]])), None)
    failing = next((fact["isas"] for fact in table["tensorflow_fact"] if fact.get("id") == "failing"), ())
    if release is None:
        return _Contents(code=[])
    return _Contents(code=release["code"], cuda=str(release["cuda"]), failing=tuple(failing))


def _torch_of(vllm: str) -> str:
    """The torch that a release of vLLM brings."""
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["vllm"]
    return next((str(row["torch"]) for row in rows if vllm in row.get("releases", [row["version"]])), "")
