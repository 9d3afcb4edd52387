"""Where programs keep language models, and by what names they call what has not come whole."""

import msgspec

from rigup.knowledge import tables


class StoreRow(msgspec.Struct, frozen=True, kw_only=True):
    """A place of a store.

    Attributes:
        path: with `~` and variables; "" where a settings file names it.
        settings: a file of JSON whose `key` names the folder, `below` which the models lie.
        system: as `sys.platform` has it; "" is every one.
        exclusive: where its variables are set, later rows of the store do not count.

    """

    store: str
    path: str = ""
    settings: str = ""
    key: str = ""
    below: str = ""
    system: str = ""
    exclusive: bool = False


class _Partial(msgspec.Struct, frozen=True, kw_only=True):
    suffix: str


def stores() -> tuple[StoreRow, ...]:
    """All rows, in their order.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(tables.rows("model_stores", "store", StoreRow))


def partial_suffixes() -> tuple[str, ...]:
    """How names of files end that have not come whole, in lower case.

    Raises:
        KnowledgeError: the table is malformed.

    """
    return tuple(row.suffix.lower() for row in tables.rows("model_stores", "partial", _Partial))
