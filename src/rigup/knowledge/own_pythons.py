"""Programs that bring a Python of their own: rows of `own_pythons.toml`."""

import re
from typing import Literal, NamedTuple

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.patterns import lazy_regex

Keeper = Literal["pip", "uv", "uv-tool", "pipx"]


class _Row(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    folder: str
    packages: Keeper
    source: str = ""
    checked: str = ""
    how: str = ""


class OwnPython(NamedTuple):
    """Whose a Python is.

    Attributes:
        packages: who puts packages there.
        tool: the name of what uv or pipx installed; else empty.

    """

    packages: Keeper
    tool: str


@tables.remembered
def _rows() -> tuple[tuple[re.Pattern[str], _Row], ...]:
    rows = tables.rows("own_pythons", "own_python", _Row)
    return tuple((lazy_regex(r"(?:.*)" + row.folder + r"(?:/(?:bin|scripts))?(?:/python[\d.]*(?:\.exe)?)?"), row) for row in rows)


def own_python(path: str) -> OwnPython | None:
    """Whose an interpreter or its environment's folder is; None where it is no program's own.

    Raises:
        KnowledgeError: the table is malformed.

    """
    plain = re.sub(r"[\\/]+", "/", path).lower().rstrip("/")
    for form, row in _rows():
        if match := form.fullmatch(plain if plain.startswith("/") else "/" + plain):
            return OwnPython(row.packages, match.groupdict().get("tool") or "")
    return None
