"""What a Python puts into an environment that it makes: the wheels that it brings along, of which it compiles the files."""

import os
from collections.abc import Mapping
from pathlib import Path

from rigup.knowledge.package_sizes import Weight, compiled_share, system_weight
from rigup.plan.resolution.sizes import size_of

_BUNDLED = ("lib/python{python}/ensurepip/_bundled", "Lib/ensurepip/_bundled")
_MOST = 10


def seeded(kind: str, params: Mapping[str, str]) -> Weight | None:
    """What a new environment weighs before anything is installed: as its Python is at hand, else by the tables.

    Args:
        kind: of the step that makes it.
        params: of that step: `starter` and `python`.

    Raises:
        KnowledgeError: the table is malformed.

    """
    starter, python = params.get("starter", ""), params.get("python", "")
    sizes = [size_of(path.as_uri()) for path in _wheels(starter, python)] if os.path.isabs(starter) else []
    known = [size for size in sizes if size is not None]
    if known and len(known) == len(sizes):
        share = compiled_share(python)
        return Weight(download=0, disk=sum(size.disk + int(size.sources * share) for size in known), exact=True)
    like = "make-environment" if kind == "make-environment-windows" else kind
    return system_weight(like, python)


def _wheels(starter: str, python: str) -> list[Path]:
    prefix = Path(os.path.realpath(starter)).parent
    for place in _BUNDLED:
        above = prefix if place.startswith("Lib") else prefix.parent
        if wheels := sorted((above / place.format(python=python)).glob("*.whl"))[:_MOST]:
            return wheels
    return []
