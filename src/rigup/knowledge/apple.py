"""What torch asks of macOS."""

import re

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class MacTorch(msgspec.Struct, frozen=True, kw_only=True):
    """What the releases of a range of torch need on a Mac.

    Attributes:
        torch: "2.2.x", "2.5-2.8".
        macos_min_mps: lowest macOS on which MPS works, with what is said beside it.
        x86_64: there are wheels for Intel's processors.

    """

    torch: str
    macos_min_wheel: str = ""
    macos_min_mps: str = ""
    python: str = ""
    x86_64: bool = False
    note: str = ""
    source: str = ""
    checked: str = ""
    how: str = ""


def mps_minimum(torch: str) -> str | None:
    """Tell the lowest macOS on which a torch release offers MPS ("12.3").

    A release newer than the table is taken for its newest; one older than all has no MPS.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(torch)[:2]
    last = None
    for row in tables.rows("apple", "torch", MacTorch):
        first, _, _last = row.torch.partition("-")
        if asked and version_key(first.removesuffix(".x"))[:2] <= asked:
            last = row
    version = re.match(r"\d+(?:\.\d+)?", last.macos_min_mps) if last else None
    return version[0] if version else None


def next_mps_minimum(macos: str) -> str | None:
    """Tell the lowest system that some torch asks for and that is above a given one; None where all are content.

    Raises:
        KnowledgeError: the table is malformed.

    """
    minimums = (re.match(r"\d+(?:\.\d+)?", row.macos_min_mps) for row in tables.rows("apple", "torch", MacTorch))
    above = {match[0] for match in minimums if match and is_older(macos, match[0])}
    return min(above, key=_padded, default=None)


def is_older(version: str, minimum: str) -> bool:
    """Whether a macOS is older than another. 10.16 is what a program built for old systems is told of any newer one."""
    return _padded(version) < _padded(minimum) and not version.startswith("10.16")


def _padded(version: str) -> tuple[int, ...]:
    """14 is 14.0."""
    return (*version_key(version), 0, 0)[:3]


def mps_torch_for(macos: str) -> str | None:
    """Tell the newest range of torch releases whose MPS works on a macOS; None where there is none.

    Raises:
        KnowledgeError: the table is malformed.

    """
    fitting = [
        row.torch
        for row in tables.rows("apple", "torch", MacTorch)
        if (minimum := re.match(r"\d+(?:\.\d+)?", row.macos_min_mps)) and not is_older(macos, minimum[0])
    ]
    return fitting[-1] if fitting else None


def highest_of(span: str) -> str:
    """The last release of a range of the table ("2.8" of "2.5-2.8", "2.2" of "2.2.x")."""
    return span.rpartition("-")[2].removesuffix(".x")
