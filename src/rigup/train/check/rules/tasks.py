"""Numbers that must agree: tasks, nodes, devices, GPUs, CPUs."""

import re
from collections.abc import Iterator

from rigup.train.check import numbers
from rigup.train.check.case import Case
from rigup.train.check.found import Change, Found
from rigup.train.check.frameworks import ALL
from rigup.train.check.job import Asked
from rigup.train.check.python.program import Site
from rigup.train.check.rules import rule

_INTERACTIVE = ("bash", "interactive")


def place_of(case: Case, asked: Asked | None) -> tuple[str, int]:
    """Where an option stands; else the command."""
    return (asked.file, asked.line) if asked is not None else (case.batch, case.command_line())


def replaced(case: Case, asked: Asked | None, line: str) -> Change | None:
    """The directive in place of another, where that stands alone on its line."""
    if asked is None or asked.file != case.batch or not case.batch_line(asked.line).startswith("#SBATCH"):
        return None
    alone = sum(each.line == asked.line for each in case.header.taken) == 1
    return Change(file=case.batch, first=asked.line, last=asked.line, lines=(line,)) if alone else None


@rule
def tasks_and_devices(case: Case) -> Iterator[Found]:
    """slurm-ntasks-mismatch, for Lightning."""
    job, step = case.job, case.step
    if job is None or step is None or case.family != "lightning" or case.launcher or case.mpirun or job.hetero or case.launch is None:
        return
    if job.value("job-name") in _INTERACTIVE or case.launch.layer("ssh"):
        return
    devices = case.gpus_per_node if case.devices == ALL and step.per_task is None and not case.on_cpu else case.devices
    if devices is None or devices < 1:
        return
    each, total = step.options.get("ntasks-per-node"), step.options.get("ntasks")
    if case.step_layer is None:
        yield from _without_srun(case, devices, each, total)
    elif each is None and total is not None and (step.number("ntasks") or 0) > 1:
        yield _tasks_found(case, total, devices)
    elif each is not None and step.number("ntasks-per-node") not in (None, devices):
        yield _tasks_found(case, each, devices)
    elif each is None and devices > 1 and step.tasks_per_node == 1 and not step.has("ntasks-per-gpu"):
        yield _tasks_found(case, total, devices)
    elif step.has("ntasks-per-gpu"):
        return
    elif each is not None and total is not None:
        yield from _too_few(case, total, devices)


def _too_few(case: Case, total: Asked, devices: int) -> Iterator[Found]:
    """`--ntasks=3 --ntasks-per-node=2` on two nodes."""
    assert case.step is not None  # noqa: S101  (who calls it has looked)
    nodes, tasks = case.step.nodes, case.step.number("ntasks")
    if nodes and tasks and tasks < nodes * devices:
        yield _tasks_found(case, total, devices)


def _without_srun(case: Case, devices: int, each: Asked | None, total: Asked | None) -> Iterator[Found]:
    """Slurm says that there is one task, and Lightning believes it."""
    assert case.job is not None  # noqa: S101  (who calls it has looked)
    if case.job.nodes != 1 or devices == 1 or (each is None and total is None):
        return
    if (case.job.number("ntasks") or 1) == 1 and (case.job.number("ntasks-per-node") or 1) == 1:
        yield _tasks_found(case, each or total, devices)


def _tasks_found(case: Case, asked: Asked | None, devices: int) -> Found:
    file, line = place_of(case, asked)
    fixed = f"#SBATCH --ntasks-per-node={devices}"
    trainer_line = case.trainer.line("devices", "gpus") if case.trainer else 0
    because = ((case.trainer.site.file, trainer_line),) if case.trainer else ()
    return Found(
        cause="slurm-ntasks-mismatch",
        severity="error",
        file=file,
        line=line,
        fixes=(fixed,),
        because=because,
        change=replaced(case, asked, fixed),
    )


@rule
def free_split(case: Case) -> Iterator[Found]:
    """slurm-ntasks-mismatch, for programs that number cards by SLURM_LOCALID: `-N 2 -n 8` may become 7 + 1."""
    step = case.step
    if step is None or case.step_layer is None or case.launcher or case.family in ("lightning", "") or case.job is None or case.job.hetero:
        return
    nodes, total, asked = step.nodes, step.number("ntasks"), step.options.get("ntasks")
    if asked is None or step.has("ntasks-per-node", "exclusive", "ntasks-per-gpu") or not nodes or nodes < 2 or not total or total <= nodes:
        return
    if "cyclic" in (step.value("distribution") or "") or case.job.has("exclusive"):
        return
    each = -(-total // nodes)
    fixed = f"#SBATCH --ntasks-per-node={each}"
    yield Found(
        cause="slurm-ntasks-mismatch",
        severity="error",
        file=asked.file,
        line=asked.line,
        fixes=(fixed,),
        change=replaced(case, asked, fixed),
        because=((case.batch, case.command_line()),),
    )


@rule
def srun_missing(case: Case) -> Iterator[Found]:
    """slurm-srun-missing."""
    job = case.job
    if job is None or case.launch is None or case.step_layer or case.mpirun or case.launch.layer("ssh") or job.hetero or case.is_foreign:
        return
    if job.nodes == 1 and not _waits_for_tasks(case):
        return
    if (job.nodes or 0) < 2 and not _waits_for_tasks(case):
        return
    if not _is_distributed(case):
        return
    command = case.launch.command
    line = case.launcher.line if case.launcher else case.launch.layers[-1].line
    shown = case.batch_line(line).strip()
    name = re.split(r"\s", shown, maxsplit=1)[0]
    yield Found(
        cause="slurm-srun-missing",
        severity="error",
        file=case.batch,
        line=line,
        fixes=(f"srun {shown}",),
        because=tuple((each.file, each.line) for each in (job.place("nodes"), job.place("ntasks-per-node", "ntasks")) if each),
        change=Change(file=case.batch, first=line, last=line, lines=(case.batch_line(line).replace(shown, f"srun {shown}", 1),))
        if name and command.line == line
        else None,
    )


def _is_distributed(case: Case) -> bool:
    layer = case.launcher
    if layer is None:
        return case.family in ("lightning", "ddp", "deepspeed") or (case.family == "accelerate" and (case.job_nodes or 1) > 1)
    if layer.kind == "deepspeed":
        return layer.value("hostfile") is None and (case.job_nodes or 1) > 1 and layer.value("num-nodes") is not None
    if layer.option("standalone") is not None or layer.value("nnodes", "num-machines") == "1":
        return False
    return (case.job_nodes or 1) > 1


def _waits_for_tasks(case: Case) -> bool:
    """One node, several tasks, and a program that takes its ranks from them."""
    job = case.job
    if job is None or case.launcher:
        return False
    tasks = job.tasks_per_node if job.has("ntasks-per-node", "ntasks") else 1
    if (tasks or 1) < 2 or job.value("job-name") in _INTERACTIVE:
        return False
    if case.family == "lightning":
        return True
    return case.family == "ddp" and any("SLURM_PROCID" in _variables(site) for site in case.program.sites)


def _variables(site: Site) -> frozenset[str]:
    names = [site.argument("key", 0)] if site.name in ("os.environ.get", "os.getenv") else []
    found = frozenset(name.text for name in names if name is not None and name.text)
    return found | (
        frozenset().union(*(value.sources for value in site.values())) if site.last in ("init_process_group", "int") else frozenset()
    )


@rule
def nodes_agree(case: Case) -> Iterator[Found]:
    """nodes-mismatch."""
    if case.job is None or case.launch is None or case.job.hetero or case.launch.layer("ssh"):
        return
    nodes = case.nodes
    if nodes is None:
        return
    yield from _launcher_nodes(case, nodes)
    if case.trainer is not None and case.mpirun is None and (case.step_layer is not None or case.launcher is not None or nodes > 1):
        yield from _trainer_nodes(case, nodes)


def _launcher_nodes(case: Case, nodes: int) -> Iterator[Found]:
    layer = case.launcher
    if layer is None or layer.kind == "deepspeed":
        return
    option = layer.option("nnodes", "num-machines")
    if option is not None:
        node_count = numbers.whole(option.value)
        if node_count is not None and node_count != nodes:
            name = option.written
            yield Found(
                cause="nodes-mismatch",
                severity="error",
                file=layer.command.file,
                line=option.word.line,
                fixes=(f"{name}=$SLURM_NNODES", f"{name}={nodes}"),
                because=tuple((each.file, each.line) for each in (case.job.place("nodes") if case.job else None,) if each),
            )
    elif nodes > 1 and case.step_layer is not None and layer.kind == "torchrun" and layer.option("standalone") is None:
        yield Found(
            cause="nodes-mismatch",
            severity="error",
            file=layer.command.file,
            line=layer.line,
            fixes=("--nnodes=$SLURM_NNODES", f"--nnodes={nodes}"),
        )


def _trainer_nodes(case: Case, nodes: int) -> Iterator[Found]:
    trainer = case.trainer
    assert trainer is not None  # noqa: S101  (who calls it has looked)
    value = trainer.value("num_nodes")
    number = 1 if value is None else value.number
    launched = case.launcher.value("nnodes", "num-machines") if case.launcher else None
    wanted = numbers.whole(launched) if launched is not None and numbers.whole(launched) is not None else nodes
    if number is None or number == wanted or (case.launcher is not None and launched is None):
        return
    file, line = trainer.site.file, trainer.line("num_nodes")
    fixes = (f"num_nodes={wanted}", 'num_nodes=int(os.environ["SLURM_NNODES"])')
    if value is not None and value.place is not None and value.place.file != trainer.site.file:
        file, line = value.place.file, value.place.line
        fixes = (f"--num_nodes={wanted}", f"num_nodes: {wanted}")
    elif value is not None and _is_option(trainer.site, case):
        file, line = case.batch, case.command_line()
        fixes = (f"--{_option_name(trainer.site)}={wanted}", f"num_nodes={wanted}")
    because = tuple((each.file, each.line) for each in (case.job.place("nodes") if case.job else None,) if each)
    yield Found(cause="nodes-mismatch", severity="error", file=file, line=line, fixes=fixes, because=because)


def _option_name(site: Site) -> str:
    expression = site.expression("num_nodes")
    name = getattr(expression, "attr", getattr(expression, "id", "num_nodes"))
    return str(name)


def _is_option(site: Site, case: Case) -> bool:
    return _option_name(site) in case.program.evaluator.declared
