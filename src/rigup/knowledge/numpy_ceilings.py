"""Up to which NumPy a release of a framework goes: code that was compiled for NumPy 1 fails beside NumPy 2."""

import msgspec

from rigup.knowledge import tables
from rigup.knowledge.cuda import version_key


class Ceiling(msgspec.Struct, frozen=True, kw_only=True):
    """Releases of a package up to `until` need a NumPy below `below`, on `systems` (empty: on all); Pythons before `python` have none that is newer."""

    package: str
    until: str
    below: str
    python: str
    systems: list[str] = []
    source: str = ""


def numpy_below(package: str, version: str, system: str, python: str = "") -> str:
    """The first NumPy that does not fit a release ("2"); "" where none is known that does not.

    Args:
        package: "torch" or "tensorflow", as pip calls it.
        version: the release, with or without its local part.
        system: "linux", "windows" or "macos".
        python: the Python that it goes into; "" where it is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    release = version_key(version.partition("+")[0])[:3]
    rows = tables.rows("numpy_ceilings", "ceiling", Ceiling)
    fitting = (
        row
        for row in rows
        if row.package == package
        and (not row.systems or system in row.systems)
        and release <= version_key(row.until)
        and (not python or version_key(python)[:2] >= version_key(row.python))
    )
    return next((row.below for row in fitting), "") if release else ""
