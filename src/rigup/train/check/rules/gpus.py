"""GPUs that are asked for, against those that the program uses."""

import re
from collections.abc import Iterator

from rigup.train.check import numbers
from rigup.train.check.case import Case
from rigup.train.check.found import Change, Found
from rigup.train.check.frameworks import ALL
from rigup.train.check.python.values import COUNT, LOCAL
from rigup.train.check.rules import rule
from rigup.train.check.rules.tasks import place_of, replaced


@rule
def no_gpu(case: Case) -> Iterator[Found]:
    """slurm-no-gpu-requested."""
    job, step = case.job, case.step
    if job is None or step is None or case.launch is None or job.asks_gpu or step.asks_gpu or case.on_cpu or job.hetero:
        return
    if job.says_no_gpu is False or (job.value("gres") or "").startswith("$"):
        return
    demand = case.uses_cuda or case.accelerated
    on_gpu = case.on_gpu_partition
    if demand is None and not (on_gpu is True and case.can_use_gpu) and not _nccl_without_partition(case):
        return
    devices = case.devices or 0
    count = devices if case.family == "lightning" and devices > 0 else case.ranks_per_node or 1
    place = (job.place("partition") if on_gpu else None) or job.place("constraint")
    file, line = place_of(case, place)
    because = ((demand.file, demand.line),) if demand is not None else ()
    model = f"{case.gpu_model}:" if case.gpu_model else ""
    fixed = f"#SBATCH --gpus-per-node={count}"
    where = place.line if place is not None and place.file == case.batch else max((each.line for each in case.header.taken), default=1)
    # Some sites grant the GPUs of a node by its feature alone; what the cluster itself tells decides.
    granted = case.partition is None and "gpu" in (job.value("constraint") or "").lower()
    yield Found(
        cause="slurm-no-gpu-requested",
        severity="warning" if granted else "error",
        file=file,
        line=line,
        fixes=(f"#SBATCH --gres=gpu:{count}", fixed, f"#SBATCH --gres=gpu:{model}{count}"),
        because=because,
        change=Change(file=case.batch, first=where + 1, last=where, lines=(fixed,)),
    )


def _nccl_without_partition(case: Case) -> bool:
    return case.on_gpu_partition is None and any(
        value is not None and value.const == "nccl" for site in case.initialisations for value in (site.argument("backend", 0),)
    )


@rule
def too_few_gpus(case: Case) -> Iterator[Found]:
    """slurm-gpu-request-too-small."""
    step, gpus = case.step, case.gpus_per_node
    if step is None or case.job is None or case.on_cpu or not gpus or step.per_task is not None or case.job.hetero or case.is_foreign:
        return
    needed = _needed(case)
    asked = step.gpu_option or case.job.gpu_option
    if needed is None or needed <= gpus or asked is None or not case.can_use_gpu:
        return
    nodes = step.nodes or 1
    fixed = f"#SBATCH --gpus-per-node={needed}"
    model = f"{step.gpu_model}:" if step.gpu_model else ""
    fixes = (fixed, f"#SBATCH --gres=gpu:{model}{needed}", f"#SBATCH --gres=gpu:{needed}", f"#SBATCH --gpus={needed * nodes}")
    yield Found(
        cause="slurm-gpu-request-too-small",
        severity="error",
        file=asked.file,
        line=asked.line,
        fixes=fixes,
        because=((case.batch, case.command_line()),),
    )


def _needed(case: Case) -> int | None:
    """The most cards that ranks or device numbers use on a node."""
    if _shares_cards(case):
        return None
    ranks = case.ranks_per_node if case.family or case.launcher else 1
    devices = case.devices if case.devices is not None and case.devices > 0 else None
    if case.family == "lightning" and not case.launcher:
        return devices
    fixed = [
        int(match[1]) + 1
        for site in case.program.sites
        for value in site.values()
        if value.text and (match := re.fullmatch(r"cuda:(\d{1,2})", value.text))
    ]
    if ranks is None:
        return devices
    return max([ranks, *fixed])


def _shares_cards(case: Case) -> bool:
    """`rank % device_count()`: several ranks on a card on purpose."""
    return any(
        COUNT in value.marks
        for site in case.program.sites
        if site.last in ("set_device", "device", "cuda", "to")
        for value in site.values()
    )


@rule
def bound_gpus(case: Case) -> Iterator[Found]:
    """slurm-gpu-binding-per-task."""
    step, seen = case.step, case.step.per_task if case.step else None
    if step is None or case.step_layer is None or not seen or case.launcher or case.job is None or case.job.hetero:
        return
    tasks = step.tasks_per_node
    if tasks is None or tasks < 2:
        return
    asked = step.place("gpu-bind", "tres-bind") or step.place("gpus-per-task", "tres-per-task", "ntasks-per-gpu")
    used = _beyond(case, seen)
    if asked is None or used is None:
        return
    total = case.gpus_per_node or tasks * seen
    fixed = f"#SBATCH --gpus-per-node={total}"
    yield Found(
        cause="slurm-gpu-binding-per-task",
        severity="error",
        file=asked.file,
        line=asked.line,
        because=(used,),
        fixes=(fixed, f"#SBATCH --gres=gpu:{total}", "torch.cuda.set_device(0)"),
        change=replaced(case, asked, fixed) if asked.name == "gpus-per-task" else None,
    )


def _beyond(case: Case, seen: int) -> tuple[str, int] | None:
    """A device number that a task cannot have; its line."""
    if case.family == "lightning":
        devices = case.devices
        trainer = case.trainer
        assert trainer is not None  # noqa: S101  (who calls it has looked)
        wrong = devices is not None and (devices > seen or (devices == ALL and seen != (case.step.tasks_per_node if case.step else seen)))
        return (trainer.site.file, trainer.line("devices", "gpus")) if wrong else None
    for site in case.program.sites:
        if site.last not in ("set_device", "cuda", "to", "device", "DistributedDataParallel", "DDP"):
            continue
        for value in site.values():
            local = LOCAL in value.marks and COUNT not in value.marks
            number = value.number if site.last in ("set_device", "cuda") else None
            if local or (number is not None and number >= seen):
                return site.file, site.line
    return None


@rule
def unused_gpus(case: Case) -> Iterator[Found]:
    """gpus-requested-and-unused."""
    job, step = case.job, case.step
    if job is None or step is None or case.launch is None or job.hetero or case.is_foreign or not case.can_use_gpu or case.on_cpu:
        return
    gpus, nodes = step.gpus_per_node, job.nodes
    asked = step.gpu_option or job.gpu_option
    if (
        asked is None
        or len(case.launches) > 1
        or case.launch.command.repeated
        or (case.launch.command.background and len(case.launches) > 1)
    ):
        return
    used = _used(case)
    if used is None or step.per_task:
        return
    per_node, on_nodes = used
    total = case.accelerate_processes
    if (gpus and per_node < gpus) or (nodes and nodes > on_nodes and gpus):
        count = min(per_node, gpus)
        if total is not None and nodes and total == gpus * nodes:
            return
        yield Found(
            cause="gpus-requested-and-unused",
            severity="warning",
            file=asked.file,
            line=asked.line,
            because=((case.batch, case.command_line()),),
            fixes=tuple(
                line
                for line in (
                    f"#SBATCH --gres=gpu:{count}",
                    f"#SBATCH --gpus-per-node={count}",
                    f"#SBATCH --gpus={count}",
                    "#SBATCH --nodes=1" if nodes and nodes > on_nodes else "",
                )
                if line
            ),
        )


def _used(case: Case) -> tuple[int, int] | None:  # noqa: PLR0911
    """GPUs that are used on a node, and on how many nodes; None where nobody can tell."""
    nodes = case.job_nodes or 1
    visible = _visible(case)
    if case.launcher is not None:
        each = case.ranks_per_node
        alone = case.launcher.option("standalone") is not None and case.step_layer is None
        return (each, 1 if alone else nodes) if each is not None and case.launcher.value("nproc-per-node") not in ("gpu", "auto") else None
    if case.family == "lightning":
        devices = case.devices
        return (devices, nodes) if devices is not None and devices > 0 and (case.step_layer is not None or nodes == 1) else None
    if case.family == "spawn":
        return (case.processes, 1 if case.step_layer is None else nodes) if case.processes else None
    if case.family in ("", "accelerate") and (case.step_layer is None or (case.step is not None and case.step.tasks == 1)):
        if visible is not None:
            return visible, 1
        if _trains(case) and not _spreads(case):
            return 1, 1
        return (10**6, 1) if _data_parallel(case) else None
    return None


def _visible(case: Case) -> int | None:
    for name, value, _file, _line, _inner in case.variable_settings():
        if name.endswith("_VISIBLE_DEVICES") and re.fullmatch(r"\d+(?:,\d+)*", value):
            return value.count(",") + 1
    return None


def _trains(case: Case) -> bool:
    return any(site.last in ("backward", "fit") for site in case.program.sites) and case.program.imports("torch")


def _data_parallel(case: Case) -> bool:
    return any(site.last == "DataParallel" for site in case.program.sites)


def _spreads(case: Case) -> bool:
    """One process that may use several cards: DataParallel, a device map, more than one device by number."""
    if _data_parallel(case) or case.huggingface or case.parsed_huggingface is not None:
        return True
    for site in case.program.sites:
        if (
            site.expression("device_map") is not None
            or site.expression("device_ids") is not None
            or site.last in ("device_count", "DistributedDataParallel", "Process", "Pool", "run", "Popen")
        ):
            return True
        for value in site.values():
            if (value.text and re.fullmatch(r"cuda:[1-9]\d?", value.text)) or COUNT in value.marks:
                return True
            if value.text is None and value.instance is None and site.last == "device" and not value.alternatives and not value.known:
                return True
    return False


@rule
def uneven_gpus(case: Case) -> Iterator[Found]:
    """slurm-uneven-gpus."""
    job = case.job
    asked = job.options.get("gpus") if job else None
    if job is None or asked is None or job.has("gpus-per-node", "gres", "gpus-per-task", "ntasks-per-gpu") or (job.nodes or 1) < 2:
        return
    count, model = numbers.gpus(asked.value)
    if count is None or count <= (job.nodes or 1):
        return
    each = -(-count // (job.nodes or 1))
    fixed = f"#SBATCH --gpus-per-node={model + ':' if model else ''}{each}"
    yield Found(
        cause="slurm-uneven-gpus", severity="warning", file=asked.file, line=asked.line, fixes=(fixed,), change=replaced(case, asked, fixed)
    )
