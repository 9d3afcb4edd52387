"""Builds that are to stand in one environment: whether they take the same libraries of NVIDIA."""

from collections.abc import Iterable

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from rigup.knowledge import tables
from rigup.language import _
from rigup.stack.candidate import Candidate

_NAMES = {"cuda": "CUDA", "cudnn": "cuDNN", "nccl": "NCCL"}


def conflict(one: Candidate, others: Iterable[Candidate]) -> str:
    """Why a build cannot stand beside others, as a sentence; "" if it can.

    One environment has one copy of each library: those of another CUDA lie in the same folders.
    """
    for other in others:
        for name in sorted(set(one.pins) & set(other.pins)):
            if not _share(one.pins[name], other.pins[name]):
                told = _(
                    "{build} wants {library} {first}, and {other} wants {second}: one environment has one of them."
                )
                return told.format(
                    build=one.label, library=_NAMES.get(name, name), first=one.pins[name].removeprefix("=="),
                    other=other.label, second=other.pins[name].removeprefix("=="),
                )  # fmt: skip
    return ""


@tables.remembered
def _share(one: str, other: str) -> bool:
    """Whether some version fits two specifiers: the bounds of both are tried."""
    try:
        both = SpecifierSet(one) & SpecifierSet(other)
    except InvalidSpecifier:
        return True
    return any(both.contains(clause.version.removesuffix(".*"), prereleases=True) for clause in both)
