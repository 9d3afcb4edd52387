"""What a job asks Slurm for, and what a step of it changes."""

from collections.abc import Iterable, Mapping

import msgspec

from rigup.train.check import numbers
from rigup.train.check.directives import Directive

GPU_OPTIONS = ("gpus-per-node", "gres", "gpus", "gpus-per-task", "tres-per-task", "gpus-per-socket", "ntasks-per-gpu")
BINDINGS = ("gpus-per-task", "gpu-bind", "tres-bind", "tres-per-task", "ntasks-per-gpu")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """An option with the place where it stands."""

    name: str
    value: str | None
    line: int
    written: str
    file: str


class Job(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A job, or a step with its own options over those of the job.

    Attributes:
        options: by long name.
        file: of the batch script.

    """

    options: Mapping[str, Asked]
    file: str
    hetero: bool = False

    def value(self, name: str) -> str | None:
        """An option's value; None where it is not given."""
        asked = self.options.get(name)
        return asked.value if asked else None

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in self.options for name in names)

    def number(self, name: str) -> int | None:
        """An option's number; None where it is not given or not a number."""
        return numbers.whole(self.value(name))

    def place(self, *names: str) -> Asked | None:
        """The first of these options that is given."""
        return next((self.options[name] for name in names if name in self.options), None)

    @property
    def nodes(self) -> int | None:
        """How many nodes; 1 where nothing asks for more; None where that is open."""
        if self.has("nodes"):
            return numbers.nodes(self.value("nodes"))
        if self.has("nodelist", "nodefile"):
            return None
        tasks, each = self.number("ntasks"), self.number("ntasks-per-node")
        if tasks and each and self.has("ntasks"):
            return -(-tasks // each)
        return 1 if (tasks or 1) == 1 and not self.has("ntasks-per-gpu") else None

    @property
    def tasks_per_node(self) -> int | None:
        """Tasks that srun starts on each node; None where Slurm splits them freely or that is not known."""
        each, total, nodes = self.number("ntasks-per-node"), self.number("ntasks"), self.nodes
        if self.has("ntasks-per-gpu"):
            per, count = self.number("ntasks-per-gpu"), self.gpus_per_node
            return per * count if per and count else None
        if self.has("ntasks-per-node"):
            return min(each, total) if each and total and nodes == 1 else each
        if not self.has("ntasks"):
            return 1
        if total is None or nodes is None:
            return None
        return total if nodes == 1 else 1 if total == nodes else None

    @property
    def tasks(self) -> int | None:
        """All tasks."""
        if self.has("ntasks"):
            return self.number("ntasks")
        each, nodes = self.tasks_per_node, self.nodes
        return each * nodes if each is not None and nodes is not None else None

    @property
    def cpus_per_task(self) -> int | None:
        """CPUs of a task: one where nothing is said; None where they come otherwise."""
        if self.has("cpus-per-task"):
            return self.number("cpus-per-task")
        if self.has("cpus-per-gpu"):
            each, count, tasks = self.number("cpus-per-gpu"), self.gpus_per_node, self.tasks_per_node
            return each * count // tasks if each and count and tasks else None
        if self.has("exclusive", "mincpus", "cores-per-socket", "sockets-per-node", "extra-node-info", "ntasks-per-core"):
            return None
        return 1

    @property
    def asks_gpu(self) -> bool:
        """Some GPU is asked for."""
        return any(self._of(name) is not None for name in GPU_OPTIONS) or "gres/gpu" in (self.value("tres-per-node") or "")

    @property
    def says_no_gpu(self) -> bool:
        """No GPU is asked for, and nothing gives all of a node."""
        return not self.asks_gpu and not (self.value("gres") or "").startswith("$")

    def _of(self, name: str) -> tuple[int | None, str] | None:
        if name not in self.options:
            return None
        if name in ("gres", "tres-per-task"):
            return numbers.gres(self.value(name))
        if name == "ntasks-per-gpu":
            return None
        return numbers.gpus(self.value(name))

    @property
    def gpus_per_node(self) -> int | None:
        """GPUs of each node; None where that is not known. 0 where none are asked for."""
        for name in ("gpus-per-node", "gres"):
            if (count := self._of(name)) is not None:
                return count[0]
        if (count := self._of("gpus")) is not None:
            nodes = self.nodes
            return count[0] // nodes if count[0] is not None and nodes and count[0] % nodes == 0 else None
        for name in ("gpus-per-task", "tres-per-task"):
            if (count := self._of(name)) is not None:
                tasks = self.tasks_per_node
                return count[0] * tasks if count[0] is not None and tasks else None
        return None if self.has("gpus-per-socket") or self.asks_gpu else 0

    @property
    def gpu_model(self) -> str:
        """The type of GPU that is asked for; "" where any will do."""
        return next((count[1] for name in GPU_OPTIONS if (count := self._of(name)) and count[1]), "")

    @property
    def gpu_option(self) -> Asked | None:
        """The option that asks for GPUs."""
        return next((self.options[name] for name in GPU_OPTIONS if self._of(name) is not None), None)

    @property
    def per_task(self) -> int | None:
        """GPUs that each task alone is shown; None where it is shown all, 0 where nobody can tell."""
        for name in ("gpus-per-task", "tres-per-task"):
            if (count := self._of(name)) is not None and not self._unbound:
                return count[0] or 0
        bind = (self.value("gpu-bind") or self.value("tres-bind") or "").lower().removeprefix("verbose,").removeprefix("v,")
        bind = bind.partition("gres/gpu:")[2] if bind.startswith("gres/") else bind
        if self.has("ntasks-per-gpu") and not bind:
            return 1
        kind, _colon, rest = bind.partition(":")
        if kind in ("single", "map_gpu", "map", "mask_gpu", "mask"):
            return 1 if kind != "mask_gpu" and kind != "mask" else 0
        if kind == "per_task":
            return numbers.whole(rest) or 0
        return 0 if kind == "closest" else None

    @property
    def _unbound(self) -> bool:
        return "none" in (self.value("gpu-bind") or self.value("tres-bind") or "").lower()

    @property
    def limit(self) -> float | None:
        """The time limit in minutes."""
        return numbers.minutes(self.value("time"))

    @property
    def partitions(self) -> list[str]:
        """The partitions of which one is to take it."""
        return [name for name in (self.value("partition") or "").split(",") if name]

    def step(self, options: Iterable[Directive], file: str) -> "Job":
        """The step that srun makes with options of its own: what is not said again is the job's."""
        own = _by_name(options, file)
        below = dict(self.options)
        if own.keys() & {"ntasks", "nodes"} and "ntasks-per-node" not in own and "ntasks" in own:
            below.pop("ntasks-per-node", None)
        if "ntasks-per-node" in own and "ntasks" not in own:
            below.pop("ntasks", None)
        if own.keys() & set(GPU_OPTIONS):
            below = {name: asked for name, asked in below.items() if name not in GPU_OPTIONS} if "gpus-per-task" not in own else below
        return Job(options={**below, **own}, file=self.file, hetero=self.hetero)


def job_of(directives: Iterable[Directive], file: str, hetero: bool) -> Job:
    """The job that a batch script asks for."""
    return Job(options=_by_name(directives, file), file=file, hetero=hetero)


def _by_name(directives: Iterable[Directive], file: str) -> dict[str, Asked]:
    return {each.name: Asked(name=each.name, value=each.value, line=each.line, written=each.written, file=file) for each in directives}
