"""CPUs of a rank, against the workers that load its data."""

from collections.abc import Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Found
from rigup.train.check.python.values import Value
from rigup.train.check.rules import rule

_LOADERS = (
    "DataLoader",
    "ThreadDataLoader",
    "NeighborLoader",
    "GraphDataLoader",
    "StatefulDataLoader",
    "MultiEpochsDataLoader",
    "DataListLoader",
)


@rule
def workers(case: Case) -> Iterator[Found]:
    """workers-exceed-cpus: the loader with the most workers."""
    cpus = _cpus_per_rank(case)
    if cpus is None or case.job is None:
        return
    over = [found for found in _workers(case) if found[0] > cpus]
    if over:
        count, file, line = max(over, key=lambda found: found[0])
        tasks = case.processes or 1
        directive = f"#SBATCH --cpus-per-task={count * tasks}"
        shown = "num_workers: " if file.endswith((".yaml", ".yml")) else "num_workers="
        yield Found(
            cause="workers-exceed-cpus",
            severity="warning",
            file=file,
            line=line,
            fixes=(f"{shown}{cpus}", f"num_workers={cpus}", directive),
            because=tuple((each.file, each.line) for each in (case.job.place("cpus-per-task"),) if each),
        )


def _cpus_per_rank(case: Case) -> int | None:
    """CPUs that a rank has; None where that is not known."""
    job, step = case.job, case.step
    if job is None or step is None or case.launch is None or job.has("exclusive") or job.hetero or len(case.launches) > 1:
        return None
    each, processes = step.cpus_per_task, case.processes
    if each is None or not processes or case.mpirun is not None or (case.launch.command.background and len(case.launches) > 1):
        return None
    if case.step_layer is None:
        tasks = job.tasks_per_node
        return each * tasks // processes if tasks else None
    return each // processes


def _workers(case: Case) -> Iterator[tuple[int, str, int]]:
    """Counts of workers with the lines that set them."""
    for site in case.program.sites:
        if site.last in _LOADERS and not site.name.startswith("local:"):
            yield from _counted(site.argument("num_workers", 5), site.file, site.line, case)
    for arguments in case.huggingface:
        yield from _counted(arguments.value("dataloader_num_workers"), arguments.site.file, arguments.line("dataloader_num_workers"), case)
    if case.parsed_huggingface is not None and (value := case.parsed_huggingface.get("dataloader_num_workers")) is not None:
        yield from _counted(value, case.batch, case.command_line(), case)


def _counted(value: Value | None, file: str, line: int, case: Case) -> Iterator[tuple[int, str, int]]:
    if value is None or value.number is None:
        return
    place = value.place
    if place is not None and place.file.endswith((".yaml", ".yml", ".json", ".toml")):
        file, line = place.file, place.line
    elif file == case.batch and place is not None:
        line = place.line
    yield value.number, file, line
