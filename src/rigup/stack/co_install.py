"""Builds that are to stand in one environment: whether they take the same libraries of NVIDIA."""

from collections.abc import Iterable

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from rigup.knowledge import tables
from rigup.language import _
from rigup.stack.candidate import Candidate

_NAMES = {"cuda": "CUDA", "cudnn": "cuDNN", "nccl": "NCCL"}


def conflict(build: Candidate, others: Iterable[Candidate]) -> str:
    """Why a build cannot stand beside others, as a sentence; "" if it can.

    One environment has one copy of each library: those of another CUDA lie in the same folders.
    """
    for other in others:
        for name in sorted(set(build.pins) & set(other.pins)):
            if not _share(build.pins[name], other.pins[name]):
                template = _("{build} wants {library} {first}, and {other} wants {second}: one environment has one of them.")
                return template.format(
                    build=build.label,
                    library=_NAMES.get(name, name),
                    first=build.pins[name].removeprefix("=="),
                    other=other.label,
                    second=other.pins[name].removeprefix("=="),
                )
    return ""


@tables.remembered
def _share(first: str, second: str) -> bool:
    """Whether some version fits two specifiers: the bounds of both are tried."""
    try:
        both = SpecifierSet(first) & SpecifierSet(second)
    except InvalidSpecifier:
        return True
    return any(both.contains(clause.version.removesuffix(".*"), prereleases=True) for clause in both)
