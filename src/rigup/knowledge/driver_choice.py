"""Which NVIDIA driver branch to install: one that knows the cards, and that its makers keep up."""

from collections.abc import Iterable

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key
from rigup.knowledge.gpus import driver_branch_for


class _Known(msgspec.Struct, frozen=True):
    isas: list[str]
    first_branch: str = ""
    last_branch: str = ""
    fabric: bool = False


class _Branch(msgspec.Struct, frozen=True):
    branch: str
    kind: str = ""
    end_of_life: str = ""


_KEPT_UP = ("LTSB", "PB")


def first_branch(isa: str) -> str | None:
    """The first driver branch that knows a chip ("570"); None where the table does not say.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("cuda_driver", "last_branch", _Known)
    return next((row.first_branch for row in rows if isa in row.isas and row.first_branch), None)


def tells_of_fabric(isa: str) -> bool:
    """Whether `nvidia-smi -q` says of a chip that it has joined the fabric of an NVSwitch.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return any(row.fabric for row in tables.rows("cuda_driver", "last_branch", _Known) if isa in row.isas)


def branch_left_for(isa: str) -> str | None:
    """The last driver branch of a chip, also of one that is too old for the catalogue ("390"); None where none is known.

    Raises:
        KnowledgeError: a table is malformed.

    """
    rows = tables.rows("cuda_driver", "last_branch", _Known)
    return driver_branch_for(isa) or next((row.last_branch for row in rows if isa in row.isas), None)


def stable_branch(least: str, isas: Iterable[str]) -> str | None:
    """The branch to install: at least a version, known to drive the chips, long maintained where one is.

    Args:
        least: a driver version or branch that it must not be older than; "" any.
        isas: chips that it must drive: as many of them as one branch can.

    Returns:
        A branch ("580"); None where no branch of the table serves.

    Raises:
        KnowledgeError: a table is malformed.

    """
    rows = tables.rows("distro_drivers", "driver_branch", _Branch)
    fitting = [row for row in rows if version_key(row.branch)[:1] >= version_key(least)[:1] and drives(row.branch, isas)]
    alive = [row for row in fitting if "ended" not in row.end_of_life and row.kind in _KEPT_UP]
    chosen = alive or [row for row in fitting if row.kind not in ("", "NFB")] or fitting
    long_kept = [row for row in chosen if row.kind == "LTSB"] or chosen
    return min((row.branch for row in long_kept), key=version_key, default=None)


def long_kept_branch() -> str:
    """The oldest branch that was kept up for long, as distributions still had it of late ("535"); "" without any. Raises KnowledgeError."""
    rows = tables.rows("distro_drivers", "driver_branch", _Branch)
    return min((row.branch for row in rows if row.kind == "LTSB"), key=version_key, default="")


def drives(branch: str, isas: Iterable[str]) -> bool:
    """Whether a branch drives all of these chips, as far as the tables know. Raises KnowledgeError."""
    return all(_known_by(branch, isa) for isa in isas)


def _known_by(branch: str, isa: str) -> bool:
    first, last = first_branch(isa), driver_branch_for(isa)
    have = version_key(branch)
    return (not first or have >= version_key(first)) and (not last or have <= version_key(last))
