"""A script under its batch script: who starts the ranks, how many there are, what each of them sees."""

import re
from collections.abc import Callable, Iterator
from functools import cached_property

import msgspec

from rigup.train.check import frameworks
from rigup.train.check.chain import Launch, Layer
from rigup.train.check.cluster import Partition, Partitions
from rigup.train.check.demand import demands, if_available
from rigup.train.check.directives import Directive, Header
from rigup.train.check.frameworks import ALL, TrainerCall, device_count
from rigup.train.check.job import Job
from rigup.train.check.numbers import whole
from rigup.train.check.python.program import Program, Site
from rigup.train.check.python.values import COUNT, Value
from rigup.train.check.shell.words import UNKNOWN, Script

_LAUNCHERS = ("torchrun", "accelerate", "deepspeed")
_GPU_NAMES = re.compile(r"gpu|cuda|rocm|[avhl]\d{2,3}s?\b|volta|ampere|hopper|tesla|mi\d{2,3}|rtx|t4", re.IGNORECASE)
_CPU_NAMES = re.compile(
    r"^(?:cpu|bigmem|himem|highmem|largemem|compute|standard|serial|epyc|milan|rome|genoa|skylake|icelake|cascade|general)", re.IGNORECASE
)


class Case(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything that the rules look at. `launch` is the start that is judged; None without a batch script."""

    script: str
    program: Program
    batch: str = ""
    batch_text: str = ""
    header: Header = Header()
    job: Job | None = None
    shell: Script = Script()
    launch: Launch | None = None
    launches: tuple[Launch, ...] = ()
    partitions: Partitions = {}
    folders: frozenset[str] = frozenset()
    above: Callable[[str], frozenset[str]] = lambda _path: frozenset()
    pins: Callable[[], str] = lambda: ""

    # -- the job
    @cached_property
    def step_layer(self) -> Layer | None:
        """The srun that starts it."""
        return self.launch.layer("srun") if self.launch else None

    @cached_property
    def launcher(self) -> Layer | None:
        """torchrun, accelerate or deepspeed."""
        return self.launch.layer(*_LAUNCHERS) if self.launch else None

    @cached_property
    def mpirun(self) -> Layer | None:
        """mpirun or its kin."""
        return self.launch.layer("mpirun") if self.launch else None

    @cached_property
    def step(self) -> Job | None:
        """What the step that runs it has: the job's numbers under srun's own."""
        if self.job is None or self.step_layer is None:
            return self.job
        options = [
            Directive(
                name=option.name,
                value=None if option.value and UNKNOWN in option.value else option.value,
                line=option.word.line,
                written=option.written,
            )
            for option in self.step_layer.options
            if option.name != "cpus-per-task" or (option.value and UNKNOWN not in option.value)
        ]
        return self.job.step(options, self.step_layer.command.file)

    @cached_property
    def nodes(self) -> int | None:
        """Nodes on which it runs: one where it is started once; None where that is not known."""
        return self.step.nodes if self.step is not None else None

    @cached_property
    def job_nodes(self) -> int | None:
        """Nodes of the whole job."""
        return self.job.nodes if self.job is not None else None

    @cached_property
    def tasks_per_node(self) -> int | None:
        """Copies of the command that are started on a node."""
        if self.step is None:
            return None
        if self.step_layer is not None:
            return self.step.tasks_per_node
        if self.mpirun is not None:
            return self._mpi_tasks
        return 1

    @property
    def _mpi_tasks(self) -> int | None:
        assert self.mpirun is not None  # noqa: S101  (who calls it has looked)
        each = whole(self.mpirun.value("npernode", "ppn", "ntasks-per-node"))
        total, nodes = whole(self.mpirun.value("np")), self.job_nodes
        if each is not None or (total is not None and nodes):
            return each if each is not None else (total or 0) // (nodes or 1)
        return self.job.tasks_per_node if self.job is not None and self.mpirun.value("np") is None else None

    @cached_property
    def gpus_per_node(self) -> int | None:
        """GPUs that are asked for on each node; 0 for none, None where that is not known."""
        return self.step.gpus_per_node if self.step is not None else None

    @cached_property
    def partition(self) -> Partition | None:
        """The partition of the job, as far as the cluster is known and it is one."""
        if self.job is None or not self.partitions:
            return None
        names = self.job.partitions or (list(self.partitions) if len(self.partitions) == 1 else [])
        known = [self.partitions[name] for name in names if name in self.partitions]
        return known[0] if len(known) == 1 and len(names) == 1 else None

    @cached_property
    def gpu_model(self) -> str:
        """The type of GPU that the job gets, as Slurm names it; "" where that is not known."""
        asked = self.step.gpu_model if self.step is not None else ""
        return asked or (self.partition.gpu if self.partition is not None else "")

    @cached_property
    def on_gpu_partition(self) -> bool | None:
        """Whether the partition has GPUs; None where nobody can tell."""
        if self.partition is not None and self.partition.gpus_per_node is not None:
            return self.partition.gpus_per_node > 0
        if self.job is None:
            return None
        names = [*self.job.partitions, self.job.value("constraint") or ""]
        if any(_GPU_NAMES.search(name) for name in names):
            return True
        return False if self.job.partitions and all(_CPU_NAMES.search(name) for name in self.job.partitions) else None

    # -- the program
    @cached_property
    def lightning(self) -> list[TrainerCall]:
        """Lightning's trainers."""
        return list(frameworks.trainers(self.program))

    @cached_property
    def trainer(self) -> TrainerCall | None:
        """The one trainer, or the one with the most devices."""
        return (
            max(self.lightning, key=lambda trainer: device_count(trainer.value("devices", "gpus")) or 0, default=None)
            if self.lightning
            else None
        )

    @cached_property
    def huggingface(self) -> list[TrainerCall]:
        """TrainingArguments."""
        return list(frameworks.huggingface_arguments(self.program))

    @cached_property
    def parsed_huggingface(self) -> dict[str, Value] | None:
        """TrainingArguments that the command line fills."""
        found = frameworks.parsed_arguments(self.program)
        return dict(found) if found is not None else None

    @cached_property
    def family(self) -> str:  # noqa: PLR0911
        """Who makes the ranks talk: lightning, spawn, deepspeed, accelerate, transformers, ddp, or none."""
        program = self.program
        if self.lightning:
            return "lightning"
        if self.spawns:
            return "spawn"
        if any(site.name.startswith("deepspeed.") and site.last in ("initialize", "init_distributed") for site in program.sites):
            return "deepspeed"
        if any(site.last in ("Accelerator", "PartialState") and not site.name.startswith(("local:", ".")) for site in program.sites):
            return "accelerate"
        if self.initialisations or any(site.name.startswith("horovod.") and site.last == "init" for site in program.sites):
            return "ddp"
        if self.huggingface or self.parsed_huggingface is not None:
            return "transformers"
        return ""

    @cached_property
    def initialisations(self) -> list[Site]:
        """Calls that set up the process group."""
        return [
            site
            for site in self.program.sites
            if site.last in ("init_process_group", "init_device_mesh") and not site.name.startswith("local:")
        ]

    @cached_property
    def spawns(self) -> list[Site]:
        """Calls that start the ranks within the script."""
        found = [site for site in self.program.sites if site.last in ("spawn", "start_processes") and "multiprocessing" in site.name]
        if self.initialisations or found:
            found += [
                site
                for site in self.program.sites
                if site.last == "Process" and ("multiprocessing" in site.name or site.name == ".Process")
            ]
        return found

    @cached_property
    def is_foreign(self) -> bool:
        """Something else may start and place the work: nothing is said of numbers then."""
        return frameworks.places_work(self.program)

    @cached_property
    def devices(self) -> int | None:
        """Devices that Lightning is told to use on a node: `ALL`, a number, or None."""
        return device_count(self.trainer.value("devices", "gpus")) if self.trainer is not None else None

    @cached_property
    def on_cpu(self) -> bool:
        """It is told to stay on processors."""
        accelerator = self.trainer.value("accelerator") if self.trainer is not None else None
        cpu = self.launcher is not None and self.launcher.option("cpu") is not None
        given = [site.argument("accelerator") for site in self.program.sites if site.name == "rigup.train.trainer_args"]
        named = [arguments.value(name) for arguments in self.huggingface for name in ("use_cpu", "no_cuda")]
        if any(value is not None and value.const is True for value in named):
            return True
        return cpu or any(value is not None and value.const in ("cpu", "mps", "tpu") for value in (accelerator, *given))

    # -- ranks
    @cached_property
    def processes(self) -> int | None:
        """Ranks that each task starts itself."""
        if self.launcher is not None:
            return self._launched
        if self.family == "spawn":
            return self._spawned
        if self.family == "lightning" and self.step_layer is None and self.mpirun is None:
            devices = self.gpus_per_node if self.devices == ALL else self.devices
            return devices if devices is None or devices > 0 else None
        return 1

    @cached_property
    def _launched(self) -> int | None:
        layer = self.launcher
        assert layer is not None  # noqa: S101  (who calls it has looked)
        if layer.kind == "torchrun":
            count = layer.value("nproc-per-node")
            return 1 if count is None else self.gpus_per_node or None if count in ("gpu", "auto") else whole(count)
        if layer.kind == "deepspeed":
            count = layer.value("num-gpus")
            return whole(count) if count is not None else self.gpus_per_node or None
        total = self.accelerate_processes
        machines = whole(layer.value("num-machines") or "1")
        return total // machines if total is not None and machines else None

    @cached_property
    def accelerate_processes(self) -> int | None:
        """accelerate's --num_processes, which counts all machines."""
        layer = self.launcher
        if layer is None or layer.kind != "accelerate":
            return None
        if layer.value("num-processes") is not None:
            return whole(layer.value("num-processes"))
        from rigup.train.check.python.files import file_value

        path = layer.value("config-file")
        held = file_value(path.removeprefix("./"), self.program.read) if path else None
        count = (held.fields or {}).get("num_processes") if held is not None else None
        return count.number if count is not None else None

    @cached_property
    def _spawned(self) -> int | None:
        for site in self.spawns:
            value = site.argument("nprocs", 2)
            if site.last == "Process":
                return None
            if value is None:
                return 1
            if COUNT in value.marks:
                return self.gpus_per_node or None
            return value.number
        return None

    @cached_property
    def ranks_per_node(self) -> int | None:
        """Ranks on each node."""
        tasks, each = self.tasks_per_node, self.processes
        return tasks * each if tasks is not None and each is not None else None

    @cached_property
    def several(self) -> bool:
        """There are several ranks, for certain or by all that the script says of itself."""
        if not self.family and not (self.step_layer is not None and (self.tasks_per_node or 1) > 1):
            return False
        if self.job is None:
            return self.family in ("ddp", "spawn", "deepspeed") or (self.family == "lightning" and (self.devices or 0) > 1)
        ranks, nodes = self.ranks_per_node, self.nodes
        if ranks is None:
            return bool(self.family)
        return ranks > 1 or (nodes or 1) > 1

    @cached_property
    def several_on_node(self) -> bool:
        """There are several ranks on a node, for certain."""
        ranks = self.ranks_per_node
        if self.job is None:
            return self.several
        return ranks > 1 if ranks is not None else self.several and self.launcher is not None

    # -- GPUs
    @cached_property
    def uses_cuda(self) -> Site | None:
        """A call that fails without a GPU, whatever the job gives."""
        for site in self.program.sites:
            if demands(site) and not if_available(site):
                return site
        return None

    @cached_property
    def can_use_gpu(self) -> bool:
        """It uses a GPU where there is one."""
        if self.uses_cuda is not None or self.accelerated is not None:
            return True
        for site in self.program.sites:
            value = site.argument("device", 0) if site.last in ("to", "device") else None
            if value is not None and any(part.text and part.text.startswith(("cuda", "mps")) for part in value.candidates()):
                return True
        return self.family in ("transformers", "accelerate", "lightning") or any(site.last == "is_available" for site in self.program.sites)

    @cached_property
    def accelerated(self) -> Site | None:
        """Lightning with accelerator="gpu" or "cuda"."""
        for trainer in self.lightning:
            value = trainer.value("accelerator")
            old = trainer.value("gpus")
            if (value is not None and value.const in ("gpu", "cuda")) or (
                old is not None and (device_count(old) or 0) != 0 and old.known and old.const
            ):
                return trainer.site
        return None

    # -- places
    def command_line(self) -> int:
        """The line of the command that starts it."""
        return self.launch.command.line if self.launch is not None else 1

    def batch_line(self, line: int) -> str:
        """A line of the batch script as it is written."""
        lines = self.batch_text.split("\n")
        return lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""

    def variable_settings(self) -> Iterator[tuple[str, str, str, int, bool]]:
        """Variables that scripts set for it: name, value, file, line, and whether each task sets it."""
        if self.launch is None:
            return
        seen = self.launch.variables
        for setting in [*self.shell.settings, *self.launch.settings]:
            if setting.name in seen or setting.exported:
                yield setting.name, setting.word.text, setting.file, setting.line, setting.inner
        for command, inner in ((self.launch.command, False), (self.launch.inner, self.launch.inner is not self.launch.command)):
            for word in command.words:
                name, equals, value = word.text.partition("=")
                if equals and name.isidentifier() and name.isupper():
                    yield name, value, command.file, word.line, inner
            for name, word in command.variables.items():
                if word.line >= command.line and word.line <= command.last:
                    yield name, word.text, command.file, word.line, inner
