"""What became of a run, as the answer of `rigup launch --json`: of its folder, and of what Slurm says."""

from pathlib import Path

from rigup.schemas.launch import (
    Attempt,
    Element,
    Failing,
    Launch,
    LaunchEnvironment,
    LaunchShort,
    LaunchSignal,
    Meet,
    Numbers,
    State,
    Trainer,
)
from rigup.train.launch.failing import failing
from rigup.train.launch.job import Job
from rigup.train.launch.record import Run, attempts, log_text, place, preflights
from rigup.train.launch.script import LOG, SCRIPT
from rigup.train.launch.slurm import ENDED, JobFacts
from rigup.train.launch.variables import variables_of

_LEAST_FAR: tuple[State, ...] = (
    "written",
    "submitted",
    "pending",
    "requeued",
    "running",
    "unknown",
    "preempted",
    "node-fail",
    "out-of-memory",
    "timeout",
    "failed",
    "cancelled",
    "completed",
)


def answer(run: Run, facts: list[JobFacts]) -> Launch:
    """The answer; `facts` are empty where Slurm knows the job no more, and without a scheduler."""
    job, shape = run.job, run.job.shape
    array = [_element(run, number, facts) for number in range(len(job.rows))]
    starts = attempts(run.folder)
    state, reason, status = _together(array) if array else _state(run, facts, starts)
    rendezvous, image = shape.rendezvous, job.image
    return Launch(
        id=run.folder.name,
        job=run.jobs[-1] if run.jobs else None,
        state=state,
        reason=reason,
        allocation=allocation(job),
        script=str(run.folder / SCRIPT),
        log=str(run.folder / LOG),
        numbers=numbers(job),
        trainer=trainer(job),
        rendezvous=Meet(
            address=rendezvous.address or None,
            port=rendezvous.port or None,
            interface=rendezvous.interface or None,
            backend=rendezvous.backend,
        ),
        environment=LaunchEnvironment(
            kind="container" if image else run.kind,
            path=job.program.variables.get("VIRTUAL_ENV") or job.program.variables.get("CONDA_PREFIX") or job.program.python,
            image=image.path if image else None,
            binds=list(image.binds) if image else [],
        ),
        variables={**variables_of(job), **job.program.variables},
        preflight=preflights(run.folder),
        attempts=starts,
        exit=status,
        failing=_failing(run.folder, state),
        array=array,
        checked=run.checked,
        findings=list(run.findings),
    )


def short(run: Run, facts: list[JobFacts]) -> LaunchShort:
    """A run in a list."""
    launch = answer(run, facts)
    return LaunchShort(id=launch.id, job=launch.job, state=launch.state, folder=str(run.folder))


def numbers(job: Job) -> Numbers:
    """What it asks for."""
    shape = job.shape
    return Numbers(
        nodes=shape.nodes,
        ntasks_per_node=shape.tasks_per_node,
        gpus_per_node=shape.gpus_per_node,
        cpus_per_task=shape.cpus_per_task or None,
        memory_per_node=shape.memory_per_node or None,
        time_limit=shape.time_limit or None,
        signal=LaunchSignal(name=shape.signal.name, lead=shape.signal.lead) if shape.signal else None,
        world_size=shape.world_size,
    )


def trainer(job: Job) -> Trainer:
    """What Lightning's Trainer has to be told; a process alone needs no strategy."""
    shape = job.shape
    return Trainer(
        devices=shape.tasks_per_node,
        num_nodes=shape.nodes,
        strategy="ddp" if shape.world_size > 1 else "auto",
        accelerator="gpu" if shape.gpus_per_node else "cpu",
    )


def allocation(job: Job) -> str | None:
    """PARTITION/DEVICE:NODESxGPUS; None where one of them was left to the site."""
    shape = job.shape
    if not job.queue.partition or not shape.gpu_type:
        return None
    return f"{job.queue.partition}/{shape.gpu_type}:{shape.nodes}x{shape.gpus_per_node}"


def _state(run: Run, facts: list[JobFacts], starts: list[Attempt]) -> tuple[State, str, int | None]:
    """What Slurm says; what was seen or written where it says nothing."""
    if facts:
        return facts[0].state, facts[0].reason, facts[0].exit
    if run.last in ENDED:
        return run.last or "unknown", "", run.exit
    if starts and starts[-1].exit is not None:
        return "completed" if starts[-1].exit == 0 else "failed", "", starts[-1].exit
    if run.launcher != "slurm":
        return "running" if starts else "written", "", None
    return "unknown" if run.jobs else "written", "", None


def _element(run: Run, number: int, facts: list[JobFacts]) -> Element:
    folder = place(run, number)
    own = [job for job in facts if job.row == number]
    state, _reason, status = _state(run, own, attempts(folder))
    first = _failing(folder, state)
    if status and first is not None and first.exit is not None and first.exit > 0:
        status = first.exit  # srun's own is that of ranks which it ended for the first one's sake
    return Element(number=number, words=list(run.job.rows[number]), state=state, exit=status, log=str(folder / LOG))


def _together(array: list[Element]) -> tuple[State, str, int | None]:
    """An array is as far as the one that is least far, and ends with the worst status."""
    state = min((element.state for element in array), key=_LEAST_FAR.index)
    ends = [element.exit for element in array if element.exit is not None]
    return state, "", max(ends) if len(ends) == len(array) else None


def _failing(folder: Path, state: State) -> Failing | None:
    """Told of a job that did not end well; one that goes on may have had its trouble behind it."""
    return failing(log_text(folder), preflights(folder)) if state in ENDED - {"completed", "cancelled"} else None
