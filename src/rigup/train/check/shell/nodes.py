"""How a command stands in the tree: behind others, before a pipe, in the background."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node


def _outermost(node: "Node") -> "Node":
    """A command with its redirections, and the list and pipeline it ends."""
    while node.parent is not None and node.parent.type in ("redirected_statement", "pipeline", "list", "negated_command"):
        node = node.parent
    return node


def in_background(node: "Node") -> bool:
    """Whether `&` stands behind a command, or behind the group that it ends."""
    here = _outermost(node)
    if here.parent is not None and here.parent.type in ("subshell", "compound_statement") and not _followed(here):
        here = _outermost(here.parent)
    return _followed(here)


def _followed(node: "Node") -> bool:
    after = node.next_sibling
    return after is not None and after.type == "&"


def is_piped(node: "Node") -> bool:
    """Whether its output goes to another command."""
    here = node.parent if node.parent is not None and node.parent.type == "redirected_statement" else node
    after = here.next_sibling
    return after is not None and after.type in ("|", "|&")
