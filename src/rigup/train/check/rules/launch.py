"""Who starts the ranks: launchers within launchers, ranks of another launcher, addresses, containers, steps in the background."""

import ast
import re
from collections.abc import Iterator

from rigup.train.check.case import Case
from rigup.train.check.found import Change, Found
from rigup.train.check.python.known_calls import VARIABLES
from rigup.train.check.python.modules import Module
from rigup.train.check.rules import rule
from rigup.train.check.shell.words import UNKNOWN, Setting

_OF_TORCHRUN = ("RANK", "LOCAL_RANK", "WORLD_SIZE")
_OF_TASKS = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
_HOST = re.compile(r"(?:tcp://)?(?P<host>[A-Za-z0-9][\w.-]*|\[?::1\]?)(?::(?P<port>\d+|" + UNKNOWN + r"))?/?")
_ADDRESSES = ("master-addr", "rdzv-endpoint", "main-process-ip", "master-address")


@rule
def nested(case: Case) -> Iterator[Found]:
    """launcher-nested-in-srun."""
    layer, step = case.step_layer, case.step
    if layer is None or step is None or (case.launcher is None and case.family != "spawn"):
        return
    order = [each.kind for each in case.launch.layers] if case.launch else []
    if case.launcher is not None and order.index("srun") > order.index(case.launcher.kind):
        return
    tasks = step.tasks_per_node
    if tasks is None and step.tasks and step.nodes:
        tasks = -(-step.tasks // step.nodes)
    if tasks is None or tasks < 2 or case.processes == 1:
        return
    asked = step.place("ntasks-per-node", "ntasks")
    change = None
    if asked is not None and asked.file == case.batch and sum(each.line == asked.line for each in case.header.taken) == 1:
        change = Change(file=case.batch, first=asked.line, last=asked.line, lines=("#SBATCH --ntasks-per-node=1",))
    cpus = (step.cpus_per_task or 1) * tasks
    yield Found(
        cause="launcher-nested-in-srun",
        severity="error",
        file=layer.command.file,
        line=layer.line,
        change=change,
        fixes=("#SBATCH --ntasks-per-node=1", f"#SBATCH --cpus-per-task={cpus}"),
        because=tuple((each.file, each.line) for each in (asked,) if each),
    )


# -- where the rank comes from
class _Reads:
    """Which variables of ranks a program reads, sets, and asks for."""

    def __init__(self, case: Case) -> None:
        self.read: dict[str, tuple[str, int, bool]] = {}
        self.set: set[str] = set()
        self.asked: set[str] = set()
        for module in case.program.modules:
            for node in module.nodes:
                if case.program.is_reached(node, module):
                    self._look(node, module, case)

    def _look(self, node: ast.AST, module: Module, case: Case) -> None:
        dotted = case.program.evaluator.dotted
        if isinstance(node, ast.Subscript) and dotted(node.value, module) == "os.environ":
            name = case.program.at(node.slice, module).text
            if name and isinstance(node.ctx, ast.Store):
                self.set.add(name)
            elif name:
                self.read.setdefault(name, (module.file, node.lineno, True))
        elif isinstance(node, ast.Call) and dotted(node.func, module) in ("os.environ.get", "os.getenv") and node.args:
            name = case.program.at(node.args[0], module).text
            if name:
                self.read.setdefault(name, (module.file, node.lineno, False))
        elif isinstance(node, ast.Call) and dotted(node.func, module) in ("os.environ.setdefault", "os.environ.update"):
            first = case.program.at(node.args[0], module) if node.args else None
            self.set |= {first.text} if first is not None and first.text else set(_OF_TORCHRUN)
        elif isinstance(node, ast.Compare) and any(dotted(each, module) == "os.environ" for each in node.comparators):
            name = case.program.at(node.left, module).text
            if name:
                self.asked.add(name)


@rule
def rank_source(case: Case) -> Iterator[Found]:
    """rank-source-mismatch."""
    if (
        case.launch is None
        or case.job is None
        or case.launch.layer("ssh")
        or case.is_foreign
        or case.family == "lightning"
        or any(site.name == "rigup.train.join" for site in case.program.sites)  # it reads both
    ):
        return
    reads = _Reads(case)
    exported = {name for name, _value, _file, _line, inner in case.variable_settings() if inner} | (
        set(case.launch.variables) & set(_OF_TORCHRUN)
    )
    if case.launcher is not None:
        yield from _slurm_ranks(case, reads)
    elif case.mpirun is None:
        yield from _torchrun_ranks(case, reads, exported)
    mpi = {name: at for name, at in reads.read.items() if name.startswith(("OMPI_", "MV2_")) and name in VARIABLES}
    if mpi and case.mpirun is None and not any(name in reads.read for name in (*_OF_TORCHRUN, *_OF_TASKS)) and not reads.asked:
        file, line, _strict = next(iter(mpi.values()))
        yield _source_found(case, file, line, "SLURM_PROCID", "RANK")


def _source_found(case: Case, file: str, line: int, right: str, wrong: str) -> Found:
    fixes: tuple[str, ...] = (f'os.environ["{wrong}"] = os.environ["{right}"]', f'int(os.environ["{right}"])')
    if right.startswith("SLURM"):
        fixes = (*fixes, "srun torchrun --nnodes=$SLURM_NNODES --nproc-per-node=gpu …")
    return Found(
        cause="rank-source-mismatch", severity="error", file=file, line=line, fixes=fixes, because=((case.batch, case.command_line()),)
    )


def _slurm_ranks(case: Case, reads: _Reads) -> Iterator[Found]:
    """Slurm's ranks under torchrun: every process of a node reads the same."""
    found = [(reads.read[name], name) for name in ("SLURM_PROCID", "SLURM_LOCALID") if name in reads.read]
    others = set(_OF_TORCHRUN[:2]) & (set(reads.read) | reads.asked)
    if not found or others or reads.asked & set(_OF_TASKS) or (case.processes or 2) < 2:
        return
    (file, line, _strict), name = min(found, key=lambda each: each[0][1])
    yield _source_found(case, file, line, "RANK" if name == "SLURM_PROCID" else "LOCAL_RANK", name)


def _torchrun_ranks(case: Case, reads: _Reads, exported: set[str]) -> Iterator[Found]:
    """torchrun's ranks where nothing sets them."""
    tries = reads.asked & {*_OF_TORCHRUN, *_OF_TASKS} or any(name in reads.read for name in _OF_TASKS if name != "SLURM_NODEID")
    if tries or exported & set(_OF_TORCHRUN) or reads.set & {"RANK", "LOCAL_RANK"} or case.family == "spawn":
        return
    tasks = (case.step.tasks if case.step is not None else 1) if case.step_layer is not None else 1
    several = tasks is None or tasks > 1
    found = [reads.read[name] for name in _OF_TORCHRUN if name in reads.read]
    strict = [each for each in found if each[2]]
    if (strict and case.family) or (found and several and case.step_layer is not None):
        file, line, _strict = min(strict or found, key=lambda each: each[1])
        yield _source_found(case, file, line, "SLURM_PROCID", "RANK")
    elif not found and (place := _implicit(case, several)) is not None:
        yield _source_found(case, *place, "SLURM_PROCID", "RANK")


def _implicit(case: Case, several: bool) -> tuple[str, int] | None:
    """A bare env:// start, or a library that reads RANK by itself."""
    for site in case.initialisations if case.family == "ddp" else ():
        method = site.argument("init_method", 1)
        bare = site.argument("rank") is None and site.argument("store") is None and site.last == "init_process_group"
        if bare and (method is None or method.text == "env://" or method.is_none()) and not case.program.imports("torch_ort"):
            return site.file, site.line
    if case.step_layer is None or not several:
        return None
    for site in case.program.sites:
        if site.last in ("Accelerator", "PartialState") and case.family == "accelerate" and not site.name.startswith(("local:", ".")):
            return site.file, site.line
        if case.family == "deepspeed" and site.name == "deepspeed.initialize":
            return None
    if case.family == "transformers":
        sites = [arguments.site for arguments in case.huggingface] + [
            site for site in case.program.sites if site.last in ("HfArgumentParser", "TrlParser")
        ]
        return (sites[0].file, sites[0].line) if sites else None
    return None


@rule
def expanded_early(case: Case) -> Iterator[Found]:
    """rank-expanded-in-batch-shell."""
    step = case.step
    if case.launch is None or case.step_layer is None or step is None:
        return
    wrong = {name for name in _OF_TASKS if not (name == "SLURM_NODEID" and step.nodes == 1) and step.tasks != 1}
    command = case.launch.command
    for word in command.words:
        if word.refs & wrong:
            by = [setting for setting in case.shell.settings if setting.word.refs & wrong and setting.name in word.raw]
            direct = any(name in word.raw for name in wrong)
            yield _expanded_found(case, command.file, word.line, _exported(by[0]) if by and not direct else "")
            return
    at = next(
        (at for at, word in enumerate(command.words) if re.match(r"--(?:node[-_]rank|machine[-_]rank|local[-_]addr)", word.text)), None
    )
    if (
        at is not None
        and (step.nodes or 2) > 1
        and any("hostname" in run and "scontrol" not in run for word in command.words[at : at + 2] for run in word.runs)
    ):
        yield _expanded_found(case, command.file, command.words[at].line)
        return
    for setting in case.shell.settings:
        if setting.exported and setting.word.refs & wrong and setting.name in (*_OF_TORCHRUN, "NODE_RANK", "GROUP_RANK", "MACHINE_RANK"):
            yield _expanded_found(case, setting.file, setting.line, _exported(setting))
            return


def _exported(setting: Setting) -> str:
    """What each task does before its command, in place of the batch shell."""
    return f"export {setting.name}={setting.word.raw}; exec "


def _expanded_found(case: Case, file: str, line: int, before: str = "") -> Found:
    shown = re.sub(r"\s+", " ", " ".join(word.raw for word in case.launch.command.words[1:])) if case.launch else ""
    inner = before + shown.replace("'", '"')[:600]
    ranked = case.launch is not None and case.launch.layer("torchrun", "accelerate", "deepspeed") is not None
    rendezvous = ("--rdzv-backend=c10d --rdzv-endpoint=$MASTER_ADDR:29500",) if ranked else ()
    return Found(
        cause="rank-expanded-in-batch-shell",
        severity="error",
        file=file,
        line=line,
        fixes=(f"srun bash -c '{inner}'", *rendezvous),
        because=((case.batch, case.command_line()),),
    )
