"""Which module options raise the memory that an integrated AMD GPU may map."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key

PAGE = 4096


class _Limit(msgspec.Struct, frozen=True, kw_only=True):
    first: str
    last: str
    options: list[str]


def options(pages: int, kernel: str, own_driver: bool = False) -> tuple[tuple[str, str, str], ...]:
    """Module, option and value for a limit of so many pages of 4 KiB, as the running kernel wants them.

    Args:
        pages: the limit.
        kernel: release of the running kernel; "" is taken as a new one.
        own_driver: AMD's own kernel driver is loaded: its copy of ttm has another name.

    Raises:
        KnowledgeError: the table is malformed.

    """
    settings: list[tuple[str, str, str]] = []
    for line in _options(kernel):
        module, _space, rest = line.partition(" ")
        name, _equals, value = rest.partition("=")
        module = "amdttm" if module == "ttm" and own_driver else module
        filled = value.replace("{pages}", str(pages)).replace("{mib}", str(pages * PAGE // 2**20))
        settings.append((module, name, filled))
    return tuple(settings)


def pages_to_share(total: float) -> int:
    """A limit for a machine of so many bytes: nearly all, with room for the system; 0 where there is too little."""
    return max(0, int((total / 2**30 - 8) * 0.95) * (2**30 // PAGE))


class _Behaviour(msgspec.Struct, frozen=True, kw_only=True):
    first: str = ""
    before: str = ""
    maps_always: bool = False


def maps_always(kernel: str) -> bool:
    """Whether a kernel gives programs that compute mapped memory also where the carve-out is the larger pool; false where it is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    asked = version_key(kernel)[:2]
    rows = (row for row in tables.rows("igpu_memory", "kernel_behaviour", _Behaviour) if row.maps_always)
    return any(asked >= version_key(row.first) and asked < version_key(row.before) for row in rows)


def _options(kernel: str) -> list[str]:
    asked = version_key(kernel)[:2]
    rows = tables.rows("igpu_memory", "limit", _Limit)
    if not asked:
        return rows[-1].options if rows else []
    for row in rows:
        if (not row.first or asked >= version_key(row.first)) and (not row.last or asked <= version_key(row.last)):
            return row.options
    return []
