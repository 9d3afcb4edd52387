"""The kinds of steps: rows of the tables `steps/`. A new kind is one row in the table of its subject."""

from typing import Literal

import msgspec

from rigup.knowledge.tables import names, remembered, rows

Commands = tuple[tuple[str, ...], ...]
Where = Literal["here", "kernel", "host-of-container", "windows-host", "every-node", "every-gpu-node", "by-hand"]
Tag = Literal["safe", "caution", "destructive"]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of change.

    `title` and the command words are templates over the step's parameters; a command with a hole that
    no parameter fills is left out. A word that begins with @ (@install, @remove, @upgrade, @initramfs,
    @headers, @keeper, @keep, @let-go) is the distribution's own; where that is not known, the command is left out, but for
    @initramfs: whichever program is there is run. `where` "kernel" is the machine that owns the kernel: outside a container, the Windows side of a WSL. `undo` None means that it
    cannot be taken back, because of `undo_because`. `writes` names the files that the step creates or changes, as templates over the
    parameters: who takes the step back puts them as they were, and then runs what else `undo` says. After a step that is `typed_otherwise` the
    command that failed is given in another way, elsewhere or not at all, so that it is not asked for again as it stood.
    """

    kind: str
    title: str
    params: tuple[str, ...] = ()
    where: Where = "here"
    root: bool = False
    network: bool = False
    restart: bool = False
    tag: Tag = "safe"
    commands: Commands = ()
    undo: Commands | None = None
    undo_because: str = ""
    writes: tuple[str, ...] = ()
    typed_otherwise: bool = False


@remembered
def step_kinds() -> dict[str, Kind]:
    """All kinds by their names.

    Raises:
        KnowledgeError: a table is malformed.

    """
    return {kind.kind: kind for table in names("steps/") for kind in rows(table, "kind", Kind)}
