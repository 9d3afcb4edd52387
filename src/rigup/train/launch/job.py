"""A whole job as values: its shape, where it waits, the program with its environment, and the table of an array."""

import re
from posixpath import isabs

import msgspec

from rigup.language import _
from rigup.train.launch.shape import JobShape, LaunchError, Queue, checked, checked_name, checked_queue

MOST_ROWS = 10_000
ENGINES = ("apptainer", "singularity")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}", re.ASCII)
_NOT_IN_OPTIONS = re.compile(r"[\x00-\x1f\x7f\"'\\`$]")  # what sbatch's own parser of #SBATCH lines, or a shell, would obey
_NOT_IN_BINDS = re.compile(r"[\x00-\x1f\x7f,:]")  # what parts a --bind of Apptainer's


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """What every rank runs.

    Attributes:
        script: an absolute path; a Python file is run by `python`, anything else by itself.
        folder: where it is run, an absolute path on a file system that every node sees.
        python: the interpreter; within an image a name on its path.
        variables: that are set for it.
        unset: variables that are taken away.
        path: folders that go before all others on PATH.

    """

    script: str
    arguments: tuple[str, ...] = ()
    folder: str = "/"
    python: str = "python3"
    variables: dict[str, str] = {}
    unset: tuple[str, ...] = ()
    path: tuple[str, ...] = ()


class Image(msgspec.Struct, frozen=True, kw_only=True):
    """An image of Apptainer's. `flag`: how it gets the GPUs ("--nv", "--rocm", "" for none); `binds`: folders at the same path inside."""

    path: str
    engine: str = "apptainer"
    flag: str = ""
    binds: tuple[str, ...] = ()


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """All that a batch script is made of.

    Attributes:
        run_folder: holds the script, the log, the pre-flight and what becomes of the job.
        vendor: of the GPUs ("nvidia", "amd", "intel"); "" where nobody knows it before the job runs.
        fabric: "ethernet", "infiniband", or "" for what NCCL finds.
        preflight: whether ranks prove before the first step that they are what was asked for.
        rows: of an array: the words that each run gets after the arguments; () for a single run.
        at_once: runs of an array at the same time; 0 for all.

    """

    name: str
    shape: JobShape
    program: Program
    run_folder: str
    queue: Queue = Queue()
    image: Image | None = None
    vendor: str = ""
    fabric: str = ""
    preflight: bool = True
    rows: tuple[tuple[str, ...], ...] = ()
    at_once: int = 0


def checked_job(job: Job) -> Job:
    """The job, if none of its words becomes another option, another line or another command. Raises LaunchError."""
    checked_name(job.name)
    checked(job.shape)
    checked_queue(job.queue)
    for path in (job.run_folder, job.program.folder):
        if not isabs(path) or _NOT_IN_OPTIONS.search(path):
            template = _("{path} cannot stand in a batch script: quotes, $, ` and \\ mean something there. Start it from another folder.")
            raise LaunchError(template.format(path=repr(path)[:200]))
    for name, value in job.program.variables.items():
        if not _VARIABLE.fullmatch(name) or _CONTROL.search(value):
            raise LaunchError(_("{word} is no variable: write NAME=VALUE.").format(word=repr(name)[:120]))
    for word in (job.program.script, job.program.python, *job.program.arguments, *(word for row in job.rows for word in row)):
        if "\x00" in word:
            raise LaunchError(_("{word} is no word of a command.").format(word=repr(word)[:120]))
    if len(job.rows) > MOST_ROWS:
        raise LaunchError(_("The table has {count} rows; an array has at most {most}.").format(count=len(job.rows), most=MOST_ROWS))
    if job.image is not None:
        _checked_image(job.image)
    return job


def _checked_image(image: Image) -> None:
    if not image.path or image.path.startswith("-") or _CONTROL.search(image.path):
        raise LaunchError(_("{word} is no image.").format(word=repr(image.path)[:200]))
    if image.engine not in ENGINES:
        raise LaunchError(_("{word} is no engine of a cluster: there are apptainer and singularity.").format(word=repr(image.engine)[:80]))
    for folder in image.binds:
        if not isabs(folder) or _NOT_IN_BINDS.search(folder):
            raise LaunchError(
                _("{path} cannot be bound into an image: commas and colons part what is bound.").format(path=repr(folder)[:200])
            )
