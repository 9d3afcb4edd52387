"""Extensions of Jupyter Lab that are installed by one option."""

import msgspec

from rigup.knowledge import tables


class ExtensionRow(msgspec.Struct, frozen=True, kw_only=True):
    """An extension.

    Attributes:
        package: by which installers know it.
        what: it shows or does.
        vendor: of the GPUs that it is about; "" for none.

    """

    package: str
    what: str
    vendor: str = ""


def extensions(makers: frozenset[str]) -> tuple[ExtensionRow, ...]:
    """Those of use on a machine with GPUs of these makers.

    Raises:
        KnowledgeError: the table is malformed.

    """
    rows = tables.rows("notebooks", "extension", ExtensionRow)
    return tuple(row for row in rows if not row.vendor or row.vendor in makers)
