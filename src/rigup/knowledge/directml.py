"""Which torch each release of torch-directml stands on."""

import msgspec

from rigup.knowledge import tables


class _Release(msgspec.Struct, frozen=True):
    torch_directml: str
    torch: str


def torch_of_directml(version: str = "") -> set[str]:
    """The releases of torch ("2.4.1") that a release of torch-directml pins, or all of its releases do; empty where nobody looked.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("directml", "release", _Release)
    return {row.torch for row in rows if not version or row.torch_directml == version}
