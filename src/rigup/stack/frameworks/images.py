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


def candidates(
    package: str, called: tuple[str, ...], asked: Mapping[str, Requirement], site: Site
) -> Iterator[Candidate]:
    """All images of a framework that a wish allows.

    Args:
        package: the framework.
        called: names that belong to it.
        asked: the wish by canonical name.
        site: the machine as the image sees it.

    Raises:
        KnowledgeError: a table is malformed.

    """
    if site.machine != "x86_64" or site.jetpack:
        return
    wished = addons(asked) if package == "torch" else []
    for row in images(package):
        for version in row.versions:
            for cuda in row.cuda or [""]:
                for one in of_row(row, version, cuda, asked):
                    if _allowed(one, called, asked):
                        yield from with_addons(one, wished, asked, site)


def _allowed(one: Candidate, called: tuple[str, ...], asked: Mapping[str, Requirement]) -> bool:
    """A wish may name the framework, and what the image or its index has beside it."""
    return all(
        allows(asked[name], one.packages.get(name, one.version)) for name in one.packages if name in asked
    ) and not any(name in asked for name in called if name in _NEVER or name in programs())


def of_row(row: Image, version: str, cuda: str, asked: Mapping[str, Requirement]) -> Iterator[Candidate]:
    """The build inside one image; none where the tables do not tell its code. Raises KnowledgeError for a malformed table."""
    told = _Told.of(row, version, cuda)
    if not told.code:
        return
    packages = _packages(row, version, told.variant, asked)
    if packages is None:
        return
    yield Candidate(
        package=row.package, version=version, variant=told.variant if row.package == "torch" else "", kind=row.kind,
        packages=packages, image=row.image.format(version=version, cuda=cuda), brings=(row.package, *row.brings),
        index=index_url(told.variant) if told.variant.startswith("cu") and row.package == "torch" else "",
        code=tuple(told.code), cuda=told.cuda, rocm=row.rocm, python=(row.python,), isa_min=told.oldest,
        failing=told.failing if not row.code else (), source="environment_images", note=row.note,
    )  # fmt: skip


def _packages(row: Image, version: str, variant: str, asked: Mapping[str, Requirement]) -> dict[str, str] | None:
    """Exact versions of what the image has and of what comes beside it from the same index."""
    local = "+" + variant if variant.startswith("cu") and row.package == "torch" else ""
    found = {row.package: version + local}
    friends = companions(version) if row.package == "torch" else None
    for name in (one for one in FAMILY if one in asked and friends is not None):
        told = str(getattr(friends, name, "") or "")
        if not told or (not local and name not in row.brings):
            return None
        found[name] = told if name == "triton" else told + local
    return found


class _Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the build inside an image."""

    code: list[str]
    cuda: str = ""
    variant: str = ""
    oldest: str = ""
    failing: tuple[str, ...] = ()

    @staticmethod
    def of(row: Image, version: str, cuda: str) -> "_Told":
        """By its own row, or by the wheel of the same release."""
        if row.code:
            return _Told(code=row.code, cuda=cuda, variant="rocm" + row.rocm if row.rocm else "")
        if row.package == "tensorflow":
            return _tensorflow(version)
        torch = version if row.package == "torch" else _torch_of(version)
        variant = "cu" + cuda.replace(".", "")
        wheel = build(torch, variant) if torch else None
        if wheel is None or wheel.extrapolated:
            return _Told(code=[])
        least = oldest(version) if row.package == "vllm" else ""
        return _Told(code=wheel.code, cuda=wheel.cuda, variant=variant, oldest=least)


def _tensorflow(version: str) -> _Told:
    table = tables.table("tensorflow_jax")
    rows: list[dict[str, Any]] = table["tensorflow"]
    found = next((row for row in rows if version in row.get("releases", [row["version"]])), None)
    failing = next((fact["isas"] for fact in table["tensorflow_fact"] if fact.get("id") == "failing"), ())
    if found is None:
        return _Told(code=[])
    return _Told(code=found["code"], cuda=str(found["cuda"]), failing=tuple(failing))


def _torch_of(vllm: str) -> str:
    """The torch that a release of vLLM brings."""
    rows: list[dict[str, Any]] = tables.table("tensorflow_jax")["vllm"]
    return next((str(row["torch"]) for row in rows if vllm in row.get("releases", [row["version"]])), "")
