"""Jobs: what was typed becomes a job, is submitted, followed to its end, cancelled and submitted again."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from rigup.language import _
from rigup.workflows.errors import CannotBeDoneError, RequestError, as_workflow_errors

if TYPE_CHECKING:
    from rigup.schemas.launch import Launch
    from rigup.train.launch.job import Image, Job, Program
    from rigup.train.launch.record import Run
    from rigup.train.launch.shape import JobShape
    from rigup.train.launch.slurm import JobFacts

GRACE = 60.0  # seconds that a cancelled job has before it is killed: Lightning was seen to ignore TERM for ten minutes
_POLLS = (0.5, 0.5, 1.0, 1.0, 2.0, 2.0, 3.0, 5.0)  # seconds between questions to Slurm, of which the last repeats
_PATIENCE = 600.0  # seconds in which a controller that does not answer may come back
_LOOK = 0.25  # seconds between looks at the log
_PIECE = 1_000_000


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it was typed; "" and 0 for what was left out."""

    script: str
    arguments: tuple[str, ...] = ()
    nodes: int = 0
    gpus: str = ""
    tasks: int = 0
    cpus: int = 0
    memory: str = ""
    limit: str = ""
    partition: str = ""
    account: str = ""
    qos: str = ""
    constraint: str = ""
    exclude: str = ""
    env: str = ""
    python: str = ""
    container: str = ""
    binds: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    name: str = ""
    vendor: str = ""
    fabric: str = ""
    signal: str = ""
    lead: int = 120
    requeue: bool = True
    address: str = ""
    port: int = 0
    interface: str = ""
    table: str = ""
    at_once: int = 0
    hosts: str = ""
    here: bool = False
    preflight: bool = True


def described(words: Words) -> "Run":
    """The run that is asked for, of which nothing is written yet. Raises WorkflowError."""
    from rigup.train.launch.elsewhere import hosts_of
    from rigup.train.launch.job import Job, checked_job
    from rigup.train.launch.record import RUNS, Run
    from rigup.train.launch.shape import Queue
    from rigup.train.launch.table import MOST_TABLE, rows_of

    with as_workflow_errors():
        hosts = hosts_of(words.hosts) if words.hosts else ()
        launcher = "ssh" if hosts else "torchrun" if words.here or not shutil.which("sbatch") else "slurm"
        if launcher == "torchrun" and not words.here and words.nodes > 1:
            raise RequestError(_("Slurm's sbatch is not found here, and --hosts names no machines: one machine has one node."))
        program, kind = _program(words)
        shape = _shape(words, max(1, len(hosts)), launcher)
        vendor = words.vendor or _vendor(shape.gpu_type)
        name = words.name or _name(words.script)
        rows = rows_of(_text(words.table, MOST_TABLE)) if words.table else ()
        if rows and launcher != "slurm":
            raise RequestError(_("A table of runs needs Slurm: here one run at a time is started."))
        job = Job(
            name=name,
            shape=shape,
            program=program,
            run_folder=str(Path.cwd() / RUNS / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"),
            queue=Queue(
                partition=words.partition, account=words.account, qos=words.qos, constraint=words.constraint, exclude=words.exclude
            ),
            vendor=vendor,
            fabric=words.fabric,
            preflight=words.preflight,
            rows=rows,
            at_once=words.at_once,
        )
        if words.container:
            image = _image(words, job)
            job = msgspec.structs.replace(job, image=image, program=msgspec.structs.replace(program, python=words.python or "python3"))
        run = Run(job=checked_job(job), launcher=launcher, hosts=hosts, kind=kind)
        _refuse_undecodable(run)
        return run


def _refuse_undecodable(run: "Run") -> None:
    """The batch script and the record are UTF-8, and so must be what they name. Raises RequestError."""
    try:
        msgspec.json.encode(run)
    except UnicodeEncodeError as error:
        raise RequestError(_("{word} is no UTF-8, and a batch script is: give it another name.").format(word=ascii(error.object))) from None


def _program(words: Words) -> "tuple[Program, str]":
    """The script with its interpreter, and the kind of the environment."""
    from rigup.plan.environments.running import activated
    from rigup.train.launch.job import Program
    from rigup.workflows.environments import environment_if_any

    path = os.path.abspath(words.script)
    for name in (os.getcwd(), path, *words.arguments):
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise RequestError(_("{name} is no text in UTF-8, which a batch script has to be: name it otherwise.").format(name=name))
    if not os.path.isfile(path):
        raise RequestError(_("{path} is no file: name the script that every rank runs.").format(path=words.script))
    found = None if words.container or words.python else environment_if_any(words.env)
    if found is None:
        python = words.python or "python3"
        return Program(script=path, arguments=words.arguments, folder=os.getcwd(), python=python, variables=dict(words.variables)), "none"
    surroundings = activated(found)
    return Program(
        script=path,
        arguments=words.arguments,
        folder=os.getcwd(),
        python=str(found.python),
        variables={setting.name: setting.value for setting in surroundings.variables} | dict(words.variables),
        unset=surroundings.unset,
        path=surroundings.path,
    ), found.kind


def _shape(words: Words, hosts: int, launcher: str) -> "JobShape":
    from rigup.train.launch.shape import JobShape, Rendezvous, Signal, bytes_of, gpus_of, seconds_of

    gpu_type, gpus = gpus_of(words.gpus) if words.gpus else ("", 0)
    signal = (
        Signal(name=words.signal.removeprefix("SIG") or "USR1", lead=words.lead) if launcher == "slurm" and words.signal != "none" else None
    )
    limit = seconds_of(words.limit) if words.limit else 0
    if signal is not None and 0 < limit <= signal.lead == Words.__struct_defaults__[_LEAD]:
        signal = Signal(name=signal.name, lead=max(1, limit // 3))  # nobody asked for the usual lead
    return JobShape(
        nodes=words.nodes or hosts,
        tasks_per_node=words.tasks or gpus or 1,
        gpus_per_node=gpus,
        gpu_type=gpu_type,
        cpus_per_task=words.cpus,
        memory_per_node=bytes_of(words.memory) if words.memory else 0,
        time_limit=limit,
        signal=signal,
        requeue=words.requeue,
        rendezvous=Rendezvous(address=words.address, port=words.port, interface=words.interface, backend="nccl" if gpus else "gloo"),
    )


_LEAD = [name for name in Words.__struct_fields__ if name != "script"].index("lead")


def _vendor(gpu_type: str) -> str:
    """Whose GPU a type of GRES is, where the tables know its name."""
    from rigup.knowledge.gpus import gpu_by_name

    vendors = {gpu.vendor for gpu in gpu_by_name(gpu_type)} if gpu_type else set()
    return vendors.pop() if len(vendors) == 1 else ""


def _image(words: Words, job: "Job") -> "Image":
    from rigup.train.launch.job import Image

    if job.shape.gpus_per_node and not job.vendor:
        raise RequestError(_("An image gets its GPUs by an option of their maker's: say --vendor nvidia or amd, or --gpus TYPE:NUMBER."))
    flag = {"nvidia": "--nv", "amd": "--rocm"}.get(job.vendor, "") if job.shape.gpus_per_node else ""
    folders = (job.program.folder, job.run_folder, os.path.dirname(job.program.script), *map(os.path.abspath, words.binds))
    engine = "apptainer" if shutil.which("apptainer") or not shutil.which("singularity") else "singularity"
    path = words.container if "://" in words.container else os.path.abspath(words.container)
    return Image(path=path, engine=engine, flag=flag, binds=tuple(dict.fromkeys(folders)))


def _name(script: str) -> str:
    """A name of a job, of that of its script."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "-", Path(script).stem, flags=re.ASCII).lstrip("-_.")[:60] or "job"
    return plain + "-run" if plain in ("bash", "interactive") else plain


def _text(path: str, most: int) -> str:
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        return file.read(most)


# -- Slurm ---------------------------------------------------------------------------------------------


def submitted(run: "Run") -> "Run":
    """Give a written run to Slurm; its script as it stands. Raises WorkflowError."""
    from rigup.train.launch.record import save
    from rigup.train.launch.script import SCRIPT

    done = _slurm("sbatch", "--parsable", str(run.folder / SCRIPT))
    number = done.stdout.strip().partition(";")[0]
    if done.returncode != 0 or not number.isdigit():
        raise CannotBeDoneError(_refused(run, done.stderr or done.stdout))
    run = msgspec.structs.replace(run, jobs=(*run.jobs, int(number)), last=None, exit=None)
    with as_workflow_errors():
        save(run)
    return run


def _refused(run: "Run", error_text: str) -> str:
    from rigup.train.launch.script import SCRIPT

    lines = [line.removeprefix("sbatch: error: ") for line in error_text.strip().splitlines() if line]
    template = _("Slurm refuses the job: {said} The script is kept: {script}.")
    return template.format(said=" ".join(lines)[:1000] or _("it says nothing."), script=run.folder / SCRIPT)


def _slurm(*argv: str) -> "subprocess.CompletedProcess[str]":
    """One of Slurm's commands, without what another job, or the site's own wishes for options that the script has, would change."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name == "SLURM_CONF" or not name.startswith(("SLURM_", "SBATCH_", "SRUN_", "PMI_", "PMIX_"))
    }
    kept |= {name: os.environ[name] for name in ("SBATCH_ACCOUNT", "SBATCH_QOS", "SBATCH_RESERVATION") if name in os.environ}
    try:
        return subprocess.run(argv, env=kept, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    except FileNotFoundError:
        raise CannotBeDoneError(
            _("{program} is not found: Slurm's commands are on the cluster's login nodes.").format(program=argv[0])
        ) from None
    except subprocess.TimeoutExpired:
        raise CannotBeDoneError(_("{program} did not answer in two minutes.").format(program=argv[0])) from None


def facts_of(run: "Run") -> "list[JobFacts]":
    """What Slurm knows of a run; empty where it says nothing."""
    return _asked(run) or []


def _asked(run: "Run") -> "list[JobFacts] | None":
    """The same, and None where Slurm does not answer; what ended is remembered for when it forgets."""
    from rigup.machine.local import Local
    from rigup.train.launch.record import save
    from rigup.train.launch.slurm import ENDED, ask

    if run.launcher != "slurm" or not run.jobs or run.last in ENDED:
        return []
    facts = ask(Local(), run.jobs[-1])
    if facts and len(facts) == 1 and facts[0].row < 0 and facts[0].state in ENDED:
        with suppress(OSError):
            save(msgspec.structs.replace(run, last=facts[0].state, exit=facts[0].exit))
    return facts


def follow(run: "Run", show: Callable[[bytes], None], tell: Callable[[str], None]) -> "Launch":
    """Show the log of a run until its end; returns what became of it. `tell` hears of each change of its state.

    Raises KeyboardInterrupt: whoever follows went away, and the job goes on; CannotBeDoneError where Slurm stays silent.
    """
    from rigup.train.launch.answer import answer
    from rigup.train.launch.slurm import ENDED

    polls, due, before = iter(_POLLS), 0.0, ""
    place, heard = _Tail(run), time.monotonic()
    while True:
        if time.monotonic() >= due:
            facts = _asked(run)
            due = time.monotonic() + next(polls, _POLLS[-1])
            if facts is None and due > heard + _PATIENCE:
                raise CannotBeDoneError(_silent(run))
            if facts is not None:  # a controller under load leaves a question unanswered now and then
                heard = due
                now = answer(run, facts)
                if (status := _state_line(now)) != before:
                    before = status
                    tell(status)
                if now.state in ENDED or (now.state == "unknown" and not facts):
                    place.show(show)
                    return now
        place.show(show)
        time.sleep(_LOOK)


def _silent(run: "Run") -> str:
    template = _("Slurm does not answer. The job goes on as far as is known: `rigup launch status {id}` asks again.")
    return template.format(id=run.folder.name)


class _Tail:
    """What is new in a log."""

    def __init__(self, run: "Run") -> None:
        from rigup.train.launch.script import LOG

        self.path, self.at = run.folder / LOG, 0

    def show(self, show: Callable[[bytes], None]) -> None:
        """All that came since the last time."""
        with suppress(OSError), open(self.path, "rb") as file:
            file.seek(self.at)
            while piece := file.read(_PIECE):
                self.at += len(piece)
                show(piece)


def _state_line(now: "Launch") -> str:
    """The state, and why it waits, in a line."""
    from rigup.train.launch.slurm import NEVER

    words = {
        "pending": _("Job {job} waits: {reason}."),
        "running": _("Job {job} runs."),
        "requeued": _("Job {job} waits for its next attempt: {reason}."),
        "submitted": _("Job {job} is submitted."),
    }
    never = _("Job {job} can never start ({reason}): cancel it, and ask for less.")
    sentence = never if now.reason in NEVER else words.get(now.state, "")
    return sentence.format(job=now.job, reason=now.reason or _("Slurm gives no reason"))


def cancelled(run: "Run") -> "Launch":
    """End a job: asked first, killed after a grace period. Raises WorkflowError."""
    from rigup.train.launch.answer import answer
    from rigup.train.launch.slurm import ENDED

    if run.launcher != "slurm" or not run.jobs:
        raise RequestError(_("{name} has no job of Slurm's: it ends with the program that started it.").format(name=run.folder.name))
    job, killed = str(run.jobs[-1]), False
    done = _slurm("scancel", job)
    if done.returncode != 0 and "Invalid job id" not in done.stderr:
        raise CannotBeDoneError(_("Slurm does not cancel job {job}: {said}").format(job=job, said=done.stderr.strip()[:500]))
    end = time.monotonic() + GRACE
    while time.monotonic() < end + GRACE / 2:
        facts = _asked(run)
        if facts is not None and all(job.state in ENDED for job in facts):
            break
        if time.monotonic() > end and not killed:
            killed = True
            _slurm("scancel", "--signal=KILL", "--full", job)
        time.sleep(0.5)
    return answer(run, facts_of(run))


def resumed(run: "Run") -> "Run":
    """Submit a run again, its script as it stands: the program goes on from its own checkpoint. Raises WorkflowError."""
    from rigup.train.launch.slurm import ENDED

    if run.launcher != "slurm":
        raise RequestError(_("{name} was run without Slurm: start it again as before.").format(name=run.folder.name))
    facts = _asked(run)
    if facts is None:
        raise CannotBeDoneError(_silent(run))
    if any(job.state not in ENDED for job in facts):
        raise RequestError(_("{name} has not ended: job {job}.").format(name=run.folder.name, job=run.jobs[-1]))
    return submitted(run)
