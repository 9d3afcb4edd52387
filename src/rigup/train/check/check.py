"""A script and its batch script, read, judged and told of."""

import posixpath
from collections.abc import Callable, Iterator, Sequence

import msgspec

from rigup.train.check import rules
from rigup.train.check.case import Case
from rigup.train.check.chain import Chains, Launch
from rigup.train.check.cluster import Partitions
from rigup.train.check.directives import Header, header
from rigup.train.check.found import Found
from rigup.train.check.job import Job, job_of
from rigup.train.check.python.modules import Module, modules_of
from rigup.train.check.python.program import Program
from rigup.train.check.python.values import UNKNOWN_VALUE, Place, Value
from rigup.train.check.shell.reading import Reader
from rigup.train.check.shell.words import UNKNOWN, Script

Read = Callable[[str], str | None]

_MOST_LAUNCHES = 6
_ORDER = {"error": 0, "warning": 1, "note": 2}
# What follows from a finding is not told beside it.
_EXPLAINS = {
    "launcher-nested-in-srun": (
        "slurm-ntasks-mismatch",
        "every-rank-writes-same-file",
        "workers-exceed-cpus",
        "gpus-requested-and-unused",
        "slurm-gpu-request-too-small",
        "slurm-gpu-binding-per-task",
        "nodes-mismatch",
        "rank-source-mismatch",
        "hard-coded-device",
    ),
    "slurm-ntasks-mismatch": ("gpus-requested-and-unused", "slurm-gpu-request-too-small", "workers-exceed-cpus"),
    "slurm-srun-missing": (
        "gpus-requested-and-unused",
        "slurm-ntasks-mismatch",
        "rank-expanded-in-batch-shell",
        "rank-source-mismatch",
        "nodes-mismatch",
        "signal-without-handler",
    ),
    "slurm-no-gpu-requested": ("slurm-gpu-request-too-small", "container-without-gpu", "backend-not-for-device"),
    "rank-source-mismatch": ("every-rank-writes-same-file", "data-not-sharded", "hard-coded-device", "global-rank-as-device"),
    "sharded-checkpoint-on-one-rank": ("rank-zero-collective-deadlock",),
    "nodes-mismatch": ("gpus-requested-and-unused",),
    "slurm-uneven-gpus": ("slurm-gpu-request-too-small",),
    "slurm-gpu-binding-per-task": ("slurm-ntasks-mismatch",),
    "rank-expanded-in-batch-shell": ("rank-source-mismatch",),
}


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """The files of a check.

    Attributes:
        beside: the text of a file by its path from the script's folder.
        beside_batch: the same from the batch script's folder.
        folders: folders beside the batch script.
        above: folders beside the one, above the batch script's, from which a path leads to the script.
        pins: the text of the files that fix releases, beside the script and above it.

    """

    script: str
    text: str
    beside: Read
    batch: str = ""
    batch_text: str = ""
    beside_batch: Read = lambda _path: None
    folders: frozenset[str] = frozenset()
    above: Callable[[str], frozenset[str]] = lambda _path: frozenset()
    pins: Callable[[], str] = lambda: ""


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, and how it is started."""

    findings: list[Found]
    cases: list[Case]


def judged(files: Files, partitions: Partitions) -> Judged:
    """What would go wrong.

    Raises:
        UnreadableError: the script cannot be parsed.
        NoShellParserError: there is a batch script, and nothing that reads it.

    """
    modules = modules_of(files.script, files.text, files.beside)
    cases = list(_cases(files, modules, partitions))
    found: list[Found] = []
    for case in cases:
        for each in _found(case):
            if not any((each.cause, each.file, each.line) == (other.cause, other.file, other.line) for other in found):
                found.append(each)
    findings = sorted(found, key=lambda each: (_ORDER[each.severity], each.file != files.batch, each.line))
    return Judged(findings=findings, cases=cases)


def _found(case: Case) -> list[Found]:
    load_rules()
    found = [each for rule in rules.RULES for each in rule(case)]
    causes = {each.cause for each in found}
    explained = {symptom for cause in causes for symptom in _EXPLAINS.get(cause, ())}
    explained -= {
        cause for cause in causes if any(cause in _EXPLAINS.get(other, ()) for other in _EXPLAINS.get(cause, ())) and cause not in _EXPLAINS
    }
    return [each for each in found if each.cause not in explained]


def load_rules() -> None:
    """Import the modules of rules, which register them."""
    from rigup.train.check.rules import batch, containers, cpus, data, devices, figures, fixed, gpus, launch, saving, tasks  # noqa: F401


def _cases(files: Files, modules: list[Module], partitions: Partitions) -> Iterator[Case]:
    if not files.batch:
        program = Program(modules, lambda _name: UNKNOWN_VALUE, files.beside)
        yield Case(script=files.script, program=program, pins=files.pins)
        return
    head = header(files.batch_text)
    job = _intended_job(head, files.batch)
    outside = _Slurm(job)
    shell = Reader(files.batch, outside, read_sibling=files.beside_batch).read(files.batch_text)
    launches = list(Chains(files.beside_batch, outside).of(shell))
    ours = [launch for launch in launches if _is_ours(launch, files.script)]
    for launch in ours[:_MOST_LAUNCHES]:
        yield _case(files, modules, partitions, head, job, shell, launch, ours)
    if not ours:
        guess = next((launch for launch in launches if UNKNOWN in launch.script.text), None)
        yield _case(files, modules, partitions, head, job, shell, guess, [guess] if guess else [])


def _case(
    files: Files,
    modules: list[Module],
    partitions: Partitions,
    head: Header,
    job: Job,
    shell: Script,
    launch: Launch | None,
    ours: Sequence[Launch],
) -> Case:
    variables = launch.variables if launch is not None else {}
    outside = _Slurm(job)

    def value(name: str) -> Value:
        word = variables.get(name)
        text = word.text if word is not None else outside(name)
        if text is None or UNKNOWN in text:
            return UNKNOWN_VALUE
        place = Place(file=files.batch, line=word.line) if word is not None else None
        return Value(const=text, place=place)

    program = Program(modules, value, files.beside, launch.arguments if launch is not None else None, files.batch)
    return Case(
        script=files.script,
        program=program,
        batch=files.batch,
        batch_text=files.batch_text,
        header=head,
        job=job,
        shell=shell,
        launch=launch,
        launches=tuple(ours),
        partitions=partitions,
        folders=files.folders,
        above=files.above,
        pins=files.pins,
    )


def _intended_job(head: Header, file: str) -> Job:
    """The job as it is meant: lines that Slurm passes over are told of as such, and not by what is missing for it."""
    ignored = [option for each in head.ignored for option in each.options]
    given = {each.name for each in head.taken}
    return job_of([*(each for each in ignored if each.name not in given), *head.taken], file, head.components > 1)


def _is_ours(launch: Launch, script: str) -> bool:
    name = posixpath.basename(script)
    word = launch.script.text
    if launch.module:
        return word.rpartition(".")[2] == name.removesuffix(".py")
    return posixpath.basename(word) == name


class _Slurm:
    """Variables that Slurm sets in the batch shell, as far as the job tells them."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __call__(self, name: str) -> str | None:
        job = self.job
        known = {
            "SLURM_NNODES": job.nodes,
            "SLURM_JOB_NUM_NODES": job.nodes,
            "SLURM_NTASKS_PER_NODE": job.number("ntasks-per-node"),
            "SLURM_NTASKS": job.tasks if job.has("ntasks", "ntasks-per-node") else None,
            "SLURM_NPROCS": job.tasks if job.has("ntasks", "ntasks-per-node") else None,
            "SLURM_CPUS_PER_TASK": job.number("cpus-per-task"),
            "SLURM_GPUS_ON_NODE": job.gpus_per_node or None,
            "SLURM_JOB_NAME": job.value("job-name"),
            "SLURM_JOB_PARTITION": job.value("partition"),
        }
        if name == "SLURM_GPUS_PER_NODE":
            return str(job.gpus_per_node) if job.has("gpus-per-node") and job.gpus_per_node else None
        value = known.get(name)
        return str(value) if value is not None else None
