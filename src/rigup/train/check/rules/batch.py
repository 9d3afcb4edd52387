"""The batch script itself: directives, folders of logs, the environment, signals, limits of partitions."""

import re
from collections.abc import Iterator

from rigup.train.check import numbers
from rigup.train.check.case import Case
from rigup.train.check.cluster import Partition
from rigup.train.check.found import Change, Found
from rigup.train.check.job import Asked, Job
from rigup.train.check.options import program
from rigup.train.check.rules import rule
from rigup.train.check.shell.words import Command

_HOOKS = re.compile(
    r"conda\.sh|mamba\.sh|shell(?:\.| )(?:bash|posix|hook)|\bhook\b|bashrc|bash_profile|\.profile|zshrc|conda init|/etc/profile"
)
_MODULES = re.compile(r"conda|forge|mamba|python|anaconda", re.IGNORECASE)
_SIGNALS = {"10": "USR1", "12": "USR2", "15": "TERM", "2": "INT", "1": "HUP", "3": "QUIT", "18": "CONT"}


@rule
def directives_after_a_command(case: Case) -> Iterator[Found]:
    """sbatch-directive-after-command."""
    late = [each for each in case.header.ignored if each.why == "after-command"]
    given = {each.name for each in case.header.taken}
    late = [each for each in late if not set(each.names) <= given or not each.names]
    if not late:
        return
    at = case.header.command
    change = Change(file=case.batch, first=at, last=at - 1, lines=tuple(each.meant for each in late)) if at else None
    yield Found(
        cause="sbatch-directive-after-command",
        severity="error",
        file=case.batch,
        line=late[0].line,
        fixes=tuple(each.meant for each in late),
        because=((case.batch, at),),
        change=change,
    )


@rule
def malformed_directives(case: Case) -> Iterator[Found]:
    """sbatch-directive-malformed."""
    known = program("sbatch").every
    for each in case.header.ignored:
        if each.why == "after-command" or (each.why == "comment" and not set(each.names) & known):
            continue
        change = Change(file=case.batch, first=each.line, last=each.line, lines=(each.meant,)) if each.meant and each.line > 1 else None
        yield Found(
            cause="sbatch-directive-malformed", severity="error", file=case.batch, line=each.line, fixes=(each.meant,), change=change
        )


@rule
def folder_of_the_log(case: Case) -> Iterator[Found]:
    """sbatch-output-folder-missing: once for each folder."""
    if case.job is None:
        return
    seen: set[str] = set()
    for name in ("output", "error"):
        asked = case.job.options.get(name)
        folder, slash, _base = (asked.value or "").strip("\"'").rpartition("/") if asked else ("", "", "")
        if asked is None or not slash or folder in seen or not _is_missing(case, folder):
            continue
        if seen:
            return
        seen.add(folder)
        plain = re.sub(r"/?[^/]*[%$~].*", "", folder) or "."
        base = (asked.value or "").rpartition("/")[2]
        yield Found(
            cause="sbatch-output-folder-missing",
            severity="error",
            file=case.batch,
            line=asked.line,
            fixes=(f"mkdir -p {folder if plain == folder else plain}", f"#SBATCH --{name}={base}"),
        )


def _is_missing(case: Case, folder: str) -> bool:
    if folder.startswith(("$", "~")) or "$" in folder:
        return True
    if re.search(r"%(?!%)", folder):
        return re.search(r"%(?!%)\d*[jAaJNnst]", folder) is not None or not folder.startswith("/")
    if folder.startswith("/") or folder in ("", ".") or case.job is None or case.job.has("chdir"):
        return False
    script = case.launch.script.text if case.launch is not None else ""
    return folder.removeprefix("./").rstrip("/") not in case.folders | case.above(script)


@rule
def environment(case: Case) -> Iterator[Found]:
    """environment-not-activated-in-batch."""
    if case.launch is None or case.launch.layer("container", "environment") is not None:
        return
    yield from _activation(case)
    yield from _without_export(case)


def _activation(case: Case) -> Iterator[Found]:
    first = case.batch_text.split("\n", 1)[0]
    login = re.search(r"\s(?:-\w*[li]\w*|--login)\b", first) is not None
    before: list[Command] = []
    assert case.launch is not None  # noqa: S101  (who calls it has looked)
    activations = [each for each in case.shell.commands if each.name in ("conda", "mamba", "micromamba") and _second(each) == "activate"]
    for command in case.shell.commands:
        if command in activations and not login and not any(_gives_hook(each) for each in before):
            name = command.words[2].text if len(command.words) > 2 else "NAME"
            hook = (
                f'eval "$({command.name} shell hook --shell bash)"' if command.name == "micromamba" else 'eval "$(conda shell.bash hook)"'
            )
            yield Found(
                cause="environment-not-activated-in-batch",
                severity="error",
                file=case.batch,
                line=command.line,
                fixes=(
                    'source "$(conda info --base)/etc/profile.d/conda.sh"',
                    hook,
                    f"conda run -n {name} {case.batch_line(case.command_line()).strip()}",
                ),
                because=((case.batch, 1),),
                change=Change(file=case.batch, first=command.line, last=command.line - 1, lines=(hook,)),
            )
            return
        before.append(command)
    start = case.launch.command.order
    if activations and all(each.order > start for each in activations) and _by_name(case):
        line = activations[0].line
        yield Found(
            cause="environment-not-activated-in-batch",
            severity="error",
            file=case.batch,
            line=line,
            fixes=(case.batch_line(line),),
            because=((case.batch, case.command_line()),),
        )


def _second(command: Command) -> str:
    return command.words[1].text if len(command.words) > 1 else ""


def _gives_hook(command: Command) -> bool:
    texts = " ".join([*(word.raw for word in command.words), *(run for word in command.words for run in word.runs)])
    if command.name in ("module", "ml"):
        return _MODULES.search(texts) is not None
    return _HOOKS.search(texts) is not None and command.name in ("source", ".", "eval", "conda")


def _by_name(case: Case) -> bool:
    """Whether Python is looked for on PATH."""
    assert case.launch is not None  # noqa: S101  (who calls it has looked)
    program_word = case.launch.layers[-1].words[0].text
    return "/" not in program_word


def _without_export(case: Case) -> Iterator[Found]:
    """`--export=NONE`: srun hands nothing on of what the batch shell set."""
    if case.job is None or case.step_layer is None or not _by_name(case):
        return
    asked, own = case.job.options.get("export"), case.step_layer.value("export")
    kept = {"SLURM_EXPORT_ENV"} & set(case.launch.variables if case.launch else ())
    limited = own if own is not None else (asked.value or "" if asked else "ALL")
    if limited.upper().startswith("ALL") or ",ALL" in limited.upper() or kept or not _prepares(case):
        return
    if own is not None:
        option = case.step_layer.option("export")
        line = option.word.line if option else case.command_line()
    else:
        assert asked is not None  # noqa: S101  (who calls it has looked)
        line = asked.line
    yield Found(
        cause="environment-not-activated-in-batch",
        severity="error",
        file=case.batch,
        line=line,
        fixes=(_with_option(case.batch_line(case.step_layer.line), "srun", "--export=ALL"),),
        because=((case.batch, case.command_line()),),
    )


def _prepares(case: Case) -> bool:
    """The batch shell makes the environment that python is to be found in."""
    assert case.launch is not None  # noqa: S101  (who calls it has looked)
    return any(
        (each.name in ("source", ".") and "activate" in " ".join(word.text for word in each.words))
        or each.name in ("module", "ml", "conda", "mamba")
        for each in case.shell.commands
        if each.order < case.launch.command.order
    ) or any(setting.name == "PATH" for setting in case.shell.settings)


def _with_option(line: str, name: str, option: str) -> str:
    return re.sub(rf"\b{name}\b", f"{name} {option}", line.strip(), count=1)


# -- limits
@rule
def more_than_a_partition_has(case: Case) -> Iterator[Found]:
    """request-exceeds-partition."""
    if case.job is None or case.job.hetero:
        return
    names = case.job.partitions or (list(case.partitions) if len(case.partitions) == 1 else [])
    if not names or any(name not in case.partitions for name in names):
        return
    excesses = [list(_excess(case.job, case.partitions[name])) for name in names]
    if all(excesses):
        for asked, line in excesses[0]:
            change = (
                Change(file=case.batch, first=asked.line, last=asked.line, lines=(line,))
                if asked.name == "time" and _alone(case, asked)
                else None
            )
            fixes = (line, f"#SBATCH --time={_hours(line)}") if asked.name == "time" else (line,)
            yield Found(cause="request-exceeds-partition", severity="error", file=case.batch, line=asked.line, fixes=fixes, change=change)


def _hours(line: str) -> str:
    limit = numbers.minutes(line.rpartition("=")[2]) or 0
    return f"{int(limit) // 60:02}:{int(limit) % 60:02}:00"


def _alone(case: Case, asked: Asked) -> bool:
    return sum(each.line == asked.line for each in case.header.taken) == 1


def _excess(job: Job, limit: Partition) -> Iterator[tuple[Asked, str]]:
    """Each option that asks for more than there is, with the line that fits."""
    if (asked := job.options.get("time")) and limit.minutes is not None and (job.limit or 0) > limit.minutes:
        yield asked, f"#SBATCH --time={numbers.as_time(limit.minutes)}"
    if (asked := job.options.get("nodes")) and limit.nodes is not None and (job.nodes or 0) > limit.nodes:
        yield asked, f"#SBATCH --nodes={limit.nodes}"
    yield from _gpus_over(job, limit)
    yield from _cpus_over(job, limit)
    yield from _memory_over(job, limit)


def _gpus_over(job: Job, limit: Partition) -> Iterator[tuple[Asked, str]]:
    asked = job.gpu_option
    if asked is None or limit.gpus_per_node is None:
        return
    model = job.gpu_model
    if limit.gpu and model and limit.gpus_per_node and not _same_model(model, limit.gpu):
        yield asked, f"#SBATCH --gres=gpu:{limit.gpu}:{min(job.gpus_per_node or 1, limit.gpus_per_node)}"
    elif (job.gpus_per_node or 0) > limit.gpus_per_node:
        each = f"{model}:" if model else ""
        yield (asked, f"#SBATCH --gpus-per-node={each}{limit.gpus_per_node}" if limit.gpus_per_node else "#SBATCH --partition=")


def _same_model(asked: str, available: str) -> bool:
    plain = [re.sub(r"[^a-z0-9]|nvidia|tesla|amd|instinct", "", name.lower()) for name in (asked, available)]
    return plain[0] in plain[1] or plain[1] in plain[0]


def _cpus_over(job: Job, limit: Partition) -> Iterator[tuple[Asked, str]]:
    tasks, each = job.tasks_per_node, job.number("cpus-per-task")
    asked = job.place("cpus-per-task", "ntasks-per-node", "ntasks")
    if limit.cpus_per_node is None or asked is None or tasks is None or job.has("overcommit"):
        return
    if tasks * (each or 1) > limit.cpus_per_node:
        fits = limit.cpus_per_node // tasks
        yield (asked, f"#SBATCH --cpus-per-task={fits}" if fits and each else f"#SBATCH --ntasks-per-node={limit.cpus_per_node}")


def _memory_over(job: Job, limit: Partition) -> Iterator[tuple[Asked, str]]:
    if limit.memory_gb is None:
        return
    if (asked := job.options.get("mem")) and (numbers.gigabytes(asked.value) or 0) > limit.memory_gb:
        yield asked, f"#SBATCH --mem={int(limit.memory_gb)}G"
    each = numbers.gigabytes(job.value("mem-per-cpu"))
    cpus, tasks = job.number("cpus-per-task") or 1, job.tasks_per_node
    if (asked := job.options.get("mem-per-cpu")) and each and tasks and each * cpus * tasks > limit.memory_gb:
        yield asked, f"#SBATCH --mem-per-cpu={int(limit.memory_gb * 1024 / (cpus * tasks))}M"


# -- signals
@rule
def signal_without_handler(case: Case) -> Iterator[Found]:
    """signal-without-handler."""
    asked = case.job.options.get("signal") if case.job else None
    if case.job is None or asked is None or case.launch is None or case.program.imports("submitit"):
        return
    match = re.fullmatch(
        r"(?:(?P<flags>[BR]{1,2}):)?(?:SIG)?(?P<name>\w+?)(?:@(?P<lead>\d+))?", (asked.value or "").strip("\"'"), re.IGNORECASE
    )
    if not match:
        return
    name = _SIGNALS.get(match["name"], match["name"].upper())
    batch = "B" in (match["flags"] or "").upper()
    fixes = list((_to_batch if batch else _to_steps)(case, name, match["lead"] or "60"))
    if fixes:
        change = None
        if len(fixes) == 1 and fixes[0].startswith("#SBATCH"):
            change = Change(file=case.batch, first=asked.line, last=asked.line, lines=(fixes[0],)) if _alone(case, asked) else None
        yield Found(
            cause="signal-without-handler",
            severity="warning",
            file=case.batch,
            line=asked.line,
            fixes=tuple(fixes),
            change=change,
            because=((case.batch, case.command_line()),),
        )


_SAVING = ("Checkpoints", "huggingface_callback")  # names that no other library has
_OF_RIGUP = tuple(f"rigup.train.{name}" for name in (*_SAVING, "requeue"))


def _handled(case: Case, name: str) -> bool | None:
    """Whether Python listens to a signal; None where nobody can tell."""
    if case.family == "lightning" and _lightning_listens(case, name):
        return True
    for site in case.program.sites:
        if name in ("USR1", "USR2", "TERM") and (site.name in _OF_RIGUP or site.last in _SAVING):
            return True  # of rigup.train: they save, and have the job requeued
        if site.name == "signal.signal":
            target = case.program.evaluator.dotted(site.expression("signalnum", 0) or site.node.func, site.module)
            if not target.startswith("signal.SIG"):
                return None
            if target == f"signal.SIG{name}":
                return True
        elif site.last in ("add_signal_handler", "sigwait", "set_wakeup_fd") or "requeue" in site.last.lower():
            return None
    return False


def _lightning_listens(case: Case, name: str) -> bool:
    environments = [site for site in case.program.sites if site.last == "SLURMEnvironment"]
    if environments:
        automatic, signal = environments[-1].argument("auto_requeue"), environments[-1].argument("requeue_signal")
        if automatic is not None and automatic.const is False:
            return False
        expression = environments[-1].expression("requeue_signal")
        if signal is not None:
            target = case.program.evaluator.dotted(expression, environments[-1].module) if expression is not None else ""
            return target in ("", f"signal.SIG{name}") or not target.startswith("signal.")
    return name == "USR1" or (name == "TERM" and case.trainer is not None and case.trainer.kind != "fabric")


def _to_steps(case: Case, name: str, lead: str) -> Iterator[str]:
    """Without B: it goes to what srun started, and to nothing else."""
    handled = _handled(case, name)
    if case.step_layer is None:
        if handled is None or case.mpirun is not None:
            return
        line = case.batch_line(case.command_line()).strip()
        yield f"srun {line}"
        yield f"#SBATCH --signal=B:{name}@{lead}"
    elif handled is False:
        if case.family == "lightning" and name != "USR1":
            yield f"#SBATCH --signal=SIGUSR1@{lead}"
        else:
            yield f"signal.signal(signal.SIG{name}, save_and_stop)"


def _to_batch(case: Case, name: str, lead: str) -> Iterator[str]:
    """With B: it goes to the batch shell alone, which cannot act while a command runs in the foreground."""
    assert case.launch is not None  # noqa: S101  (who calls it has looked)
    command = case.launch.command
    line = case.batch_line(case.command_line()).strip()
    if re.match(r"\s*exec\s", case.batch_line(command.line)):
        if _handled(case, name) is False and case.step_layer is None:
            yield f"signal.signal(signal.SIG{name}, save_and_stop)"
        return
    trapped = any(name in trap.signals for trap in case.shell.traps)
    if trapped and (command.background or (command.conditional and not line)):
        return
    if case.family == "lightning" and case.step_layer is not None and name == "USR1" and not trapped:
        yield f"#SBATCH --signal=SIG{name}@{lead}"
        return
    if not trapped:
        yield f"trap 'kill -{name} \"$child\"' {name}"
    yield f"{line} &"
    yield "child=$!"
    yield 'wait "$child"'
