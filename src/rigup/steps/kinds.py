"""The kinds of steps: rows of the tables `steps/`. A new kind is one row in the table of its subject."""

from collections.abc import Iterator, Mapping
from typing import Literal

import msgspec

from rigup.knowledge.patterns import lazy_regex
from rigup.knowledge.tables import names, remembered, rows

Commands = tuple[tuple[str, ...], ...]
Where = Literal["here", "kernel", "host-of-container", "windows-host", "every-node", "every-gpu-node", "by-hand"]
Tag = Literal["safe", "caution", "destructive"]
_SCRIPT = lazy_regex(r"<<([a-z-]+)>>")


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of change.

    `title` and the command words are templates over the step's parameters; a command with a hole that
    no parameter fills is left out. A word that begins with @ (@install, @remove, @upgrade, @initramfs,
    @headers) is the distribution's own; where that is not known, the command is left out, but for @initramfs: whichever program is there is run. `where` "kernel"
    is the machine that owns the kernel: outside a container, the Windows side of a WSL. `undo` None means that it
    cannot be taken back, because of `undo_because`. `writes` names the files that the step creates or changes, as templates over the
    parameters: who takes the step back puts them as they were, and then runs what else `undo` says.
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


class _Script(msgspec.Struct, frozen=True, kw_only=True):
    """What a shell is given to run; a command names it as `<<name>>`."""

    name: str
    text: str


@remembered
def step_kinds() -> dict[str, Kind]:
    """All kinds by their names.

    Raises:
        KnowledgeError: a table is malformed.

    """
    return {kind.kind: kind for table in names("steps/") for kind in _kinds_of(table)}


def _kinds_of(table: str) -> Iterator[Kind]:
    scripts = {script.name: script.text for script in rows(table, "script", _Script)}
    for kind in rows(table, "kind", Kind):
        undo = None if kind.undo is None else _with_scripts(kind.undo, scripts)
        yield msgspec.structs.replace(kind, commands=_with_scripts(kind.commands, scripts), undo=undo) if scripts else kind


def _with_scripts(commands: Commands, scripts: Mapping[str, str]) -> Commands:
    return tuple(tuple(_SCRIPT.sub(lambda name: scripts[name[1]], word) for word in argv) for argv in commands)
