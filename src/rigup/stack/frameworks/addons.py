"""Compiled packages that stand on a torch: they take away builds on which they would not work."""

from collections.abc import Mapping

import msgspec
from packaging.requirements import Requirement

from rigup.knowledge import tables
from rigup.knowledge.chips import isa_order
from rigup.stack.candidate import Candidate
from rigup.stack.site import Site


class Addon(msgspec.Struct, frozen=True, kw_only=True):
    """What a package asks of the torch beneath it.

    Attributes:
        kinds: ways of reaching a device that it knows.
        isa_min: the oldest NVIDIA chip on which it works, "" for any.
        isas_amd: the targets on which it works; empty for any.
        toolkit: it is compiled where it is installed.

    """

    package: str
    systems: list[str]
    machines: list[str]
    kinds: list[str]
    isa_min: str = ""
    isas_amd: list[str] = []
    toolkit: bool = False
    source: str = ""


def addons(asked: Mapping[str, Requirement]) -> list[Addon]:
    """Those that a wish names.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return [row for row in tables.rows("torch_addons", "addon", Addon) if row.package in asked]


def with_addons(build: Candidate, wished: list[Addon], site: Site) -> Candidate | None:
    """A build under what stands on it; None where that is not made for the build or the system."""
    for addon in wished:
        if site.system not in addon.systems or site.machine not in addon.machines or build.kind not in addon.kinds:
            return None
        build = msgspec.structs.replace(
            build,
            isa_min=max(build.isa_min, addon.isa_min, key=isa_order),
            code=tuple(isa for isa in build.code if isa in addon.isas_amd)
            if addon.isas_amd and build.kind == "rocm" else build.code,
        )  # fmt: skip
    return build
