"""The files of a new project, from the templates beside this module. Nothing is written here."""

import re
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Literal, get_args

import msgspec

from rigup.language import _

Kind = Literal["minimal", "complete", "lora"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_SHARED = "pictures"  # the batch script of all, and the data of the two that classify
_MOST_NODES, _MOST_GPUS, _MOST_CPUS = 10_000, 64, 1024
_TIME = re.compile(r"(?:\d{1,3}-)?\d{1,3}:[0-5]\d(?::[0-5]\d)?|\d{1,6}", re.ASCII)
_PARTITION = re.compile(r"[\w.,-]{1,200}", re.ASCII)


class ProjectError(ValueError):
    """A project cannot be made so; the text says what to give."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What the batch script asks for.

    Attributes:
        name: of the job.
        nodes: how many.
        gpus: on each node, each with a process.
        cpus: of each process.
        time: the limit, as Slurm reads it.
        partition: where it runs; empty for the cluster's own choice.

    """

    name: str
    nodes: int = 1
    gpus: int = 1
    cpus: int = 4
    time: str = "04:00:00"
    partition: str = ""

    def __post_init__(self) -> None:
        """Refuse what Slurm would read otherwise than meant. Raises ProjectError."""
        for option, number, most in (
            ("--nodes", self.nodes, _MOST_NODES),
            ("--gpus", self.gpus, _MOST_GPUS),
            ("--cpus", self.cpus, _MOST_CPUS),
        ):
            if not 1 <= number <= most:
                raise ProjectError(_("{option}: {number} is not between 1 and {most}.").format(option=option, number=number, most=most))
        if not _TIME.fullmatch(self.time):
            raise ProjectError(_("{word} is no time as Slurm reads it, such as 04:00:00 or 2-12:00:00.").format(word=repr(self.time)[:80]))
        if self.partition and not _PARTITION.fullmatch(self.partition):
            raise ProjectError(_("{word} is no name of a partition.").format(word=repr(self.partition)[:80]))


def project_files(kind: Kind, wish: Wish) -> dict[str, str]:
    """The files of a project: path within its folder, and text."""
    root = resources.files(__package__) / "templates"
    found = _texts(root / _SHARED) | _texts(root / kind)
    return {name: _filled(text, wish) for name, text in sorted(found.items())}


def _texts(folder: Traversable, before: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name != "__pycache__":
                found |= _texts(entry, f"{before}{entry.name}/")
        elif not entry.name.endswith(".pyc"):
            found[before + entry.name] = entry.read_text(encoding="utf-8")
    return found


def _filled(text: str, wish: Wish) -> str:
    """The text with the job's numbers. A name of a job is what its letters, digits and `._-` leave of it."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", wish.name).strip("-.")[:60] or "training"
    partition = f"#SBATCH --partition={wish.partition}\n" if wish.partition else ""
    text = text.replace("@PARTITION@\n", partition)
    holes = {"NAME": name, "NODES": wish.nodes, "GPUS": wish.gpus, "CPUS": wish.cpus, "TIME": wish.time}
    return re.sub(r"@([A-Z]+)@", lambda hit: str(holes.get(hit[1], hit[0])), text)
