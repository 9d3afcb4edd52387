"""How each tool that switches a laptop's graphics gives the discrete GPU back."""

import msgspec

from rigup.knowledge import tables


class GraphicsTool(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that can switch the discrete GPU off.

    Attributes:
        ids: the names by which reports know it, in small letters.
        mode: its own name of the mode with both GPUs; "" for what has no modes.
        command: what gives the card back from the next start on; empty where that is done by hand.
        by: of what only switches the card's power, the step that switches it on.

    """

    name: str
    ids: list[str]
    mode: str = ""
    command: list[str] = []
    by: str = ""
    source: str = ""


def graphics_tool(name: str) -> GraphicsTool | None:
    """The tool of that name, however it is written; None if it is not known.

    Raises:
        KnowledgeError: the table is malformed.

    """
    plain_name = name.strip().lower()
    return next((row for row in tables.rows("graphics_switches", "tool", GraphicsTool) if plain_name in row.ids), None)
