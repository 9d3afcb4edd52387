"""What a job asks for, as one set of numbers: everything that a batch script, a launcher and a check repeat is derived from it."""

import re

import msgspec

from rigup.language import _

MOST_NODES, MOST_TASKS, MOST_SECONDS = 100_000, 1_024, 366 * 86_400
SIGNALS = ("USR1", "USR2", "TERM", "HUP", "INT")
INTERACTIVE_NAMES = ("bash", "interactive")  # Lightning takes jobs of these names for a person's shell and starts ranks of its own
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,200}", re.ASCII)
_LIST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,-]{0,400}", re.ASCII)
_NODES = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.,\[\]-]{0,400}", re.ASCII)
_CONSTRAINT = re.compile(r"[A-Za-z0-9\[(][A-Za-z0-9_.,&|*()\[\]-]{0,400}", re.ASCII)
_ADDRESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,252}|::1", re.ASCII)
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@-]{0,14}", re.ASCII)
_TIME = re.compile(r"(?:(?P<days>\d{1,3})-)?(?P<first>\d{1,5})(?::(?P<second>\d{1,2}))?(?::(?P<third>\d{1,2}))?", re.ASCII)
_SIZE = re.compile(r"(?P<number>\d{1,9})(?P<unit>[KMGT]?)(?:i?B)?", re.ASCII | re.IGNORECASE)
_GPUS = re.compile(r"(?:(?P<type>[A-Za-z0-9][A-Za-z0-9_.-]{0,60}):)?(?P<count>\d{1,4})", re.ASCII)
_UNITS = {"": 2**20, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}  # of Slurm's --mem: megabytes without a letter


class LaunchError(Exception):
    """A request that no job can be made of, as a sentence."""


class Signal(msgspec.Struct, frozen=True, kw_only=True):
    """What reaches every rank before the time limit. `lead`: seconds before it; Slurm may send it a minute earlier still."""

    name: str = "USR1"
    lead: int = 120


class Rendezvous(msgspec.Struct, frozen=True, kw_only=True):
    """Where ranks meet.

    Attributes:
        address: of rank 0's node; "" for the first node of the allocation.
        port: 0 for one that follows from the number of the job.
        interface: of the network; "" for the one by which a node reaches the address.
        backend: "nccl" (RCCL answers to that name too) or "gloo".

    """

    address: str = ""
    port: int = 0
    interface: str = ""
    backend: str = "gloo"


class JobShape(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a job.

    Attributes:
        tasks_per_node: ranks on each node; one for each GPU where there are any.
        gpus_per_node: asked for by the node, never by the task, so that every rank sees all GPUs of its node.
        gpu_type: as Slurm spells it in its GRES; "" for any.
        cpus_per_task: 0 for what the site gives.
        memory_per_node: bytes; 0 for what the site gives.
        time_limit: seconds; 0 for what the partition gives.
        signal: None where nothing is to be sent before the time limit.
        requeue: whether it goes on in a new attempt after a checkpoint, a preemption or the loss of a node.
        most_attempts: starts at most: a job that never gets ahead must not begin anew for ever.

    """

    nodes: int = 1
    tasks_per_node: int = 1
    gpus_per_node: int = 0
    gpu_type: str = ""
    cpus_per_task: int = 0
    memory_per_node: int = 0
    time_limit: int = 0
    signal: Signal | None = Signal()
    requeue: bool = True
    most_attempts: int = 50
    rendezvous: Rendezvous = Rendezvous()

    @property
    def world_size(self) -> int:
        """Ranks of the whole job."""
        return self.nodes * self.tasks_per_node


class Queue(msgspec.Struct, frozen=True, kw_only=True):
    """Where a job waits, and for which nodes. Each is "" for what the site gives."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    constraint: str = ""
    exclude: str = ""
    reservation: str = ""


def checked(shape: JobShape) -> JobShape:
    """The shape, if a job can be made of it. Raises LaunchError."""
    _within(_("nodes"), shape.nodes, 1, MOST_NODES)
    _within(_("tasks per node"), shape.tasks_per_node, 1, MOST_TASKS)
    _within(_("GPUs per node"), shape.gpus_per_node, 0, MOST_TASKS)
    _within(_("CPUs per task"), shape.cpus_per_task, 0, 65_536)
    _within(_("port"), shape.rendezvous.port, 0, 65_535)
    _within(_("starts at most"), shape.most_attempts, 1, 10_000)
    if shape.gpus_per_node and shape.tasks_per_node != shape.gpus_per_node:
        template = _(
            "{tasks} ranks a node and {gpus} GPUs a node do not agree: a rank drives one GPU. Leave --tasks out, or ask for {tasks} GPUs."
        )
        raise LaunchError(template.format(tasks=shape.tasks_per_node, gpus=shape.gpus_per_node))
    _signal(shape)
    rendezvous = shape.rendezvous
    _matching(_("an address"), rendezvous.address, _ADDRESS)
    _matching(_("a network interface"), rendezvous.interface, _INTERFACE)
    _matching(_("a type of GPU"), shape.gpu_type, _WORD)
    return shape


def checked_queue(queue: Queue) -> Queue:
    """The queue, if each of its words can stand in a batch script. Raises LaunchError."""
    for name, value in msgspec.structs.asdict(queue).items():
        pattern = {"constraint": _CONSTRAINT, "exclude": _NODES, "partition": _LIST}.get(name, _WORD)
        _matching(f"--{name}", value, pattern)
    return queue


def checked_name(name: str) -> str:
    """A name that a job may have. Raises LaunchError."""
    _matching(_("a name of a job"), name, _WORD)
    if not name or name in INTERACTIVE_NAMES:
        template = _("A job may not be called {name}: Lightning takes it for a person's shell, and every rank would train by itself.")
        raise LaunchError(template.format(name=repr(name)))
    return name


def _signal(shape: JobShape) -> None:
    if shape.signal is None:
        return
    if shape.signal.name not in SIGNALS:
        template = _("{name} is no signal that can be asked for. There are: {names}.")
        raise LaunchError(template.format(name=repr(shape.signal.name)[:80], names=", ".join(SIGNALS)))
    _within(_("seconds before the limit"), shape.signal.lead, 1, 65_535)
    if shape.time_limit and shape.signal.lead >= shape.time_limit:
        template = _("The signal would come {lead} s before a limit of {limit} s: ask for more --time, or for a smaller --lead.")
        raise LaunchError(template.format(lead=shape.signal.lead, limit=shape.time_limit))


def _within(subject: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        template = _("{what}: {value} is not between {low} and {high}.")
        raise LaunchError(template.format(what=subject, value=value, low=low, high=high))


def _matching(subject: str, value: str, pattern: re.Pattern[str]) -> None:
    if value and not pattern.fullmatch(value):
        raise LaunchError(_("{word} is not {what}.").format(word=repr(value)[:120], what=subject))


def seconds_of(text: str) -> int:
    """Seconds of a time as Slurm takes it: minutes, MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS. Raises LaunchError."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise LaunchError(_("{word} is no time: write minutes, HH:MM:SS or D-HH:MM:SS.").format(word=repr(text)[:80]))
    parts = [int(match[name] or 0) for name in ("first", "second", "third")]
    if match["days"] is not None:
        total = int(match["days"]) * 86_400 + parts[0] * 3_600 + parts[1] * 60 + parts[2]
    elif match["third"] is not None:
        total = parts[0] * 3_600 + parts[1] * 60 + parts[2]
    else:
        total = parts[0] * 60 + parts[1]
    _within(_("seconds of time"), total, 1, MOST_SECONDS)
    return total


def time_text(seconds: int) -> str:
    """Seconds as Slurm takes them; it counts whole minutes, and less than one is one."""
    minutes = -(-seconds // 60)
    days, rest = divmod(minutes, 1_440)
    return f"{days}-{rest // 60:02}:{rest % 60:02}:00" if days else f"{rest // 60:02}:{rest % 60:02}:00"


def bytes_of(text: str) -> int:
    """Bytes of a size as Slurm takes it: a number with K, M (also without), G or T. Raises LaunchError."""
    match = _SIZE.fullmatch(text)
    if match is None or not int(match["number"]):
        raise LaunchError(_("{word} is no size: write a number with M, G or T.").format(word=repr(text)[:80]))
    return int(match["number"]) * _UNITS[match["unit"].upper()]


def gpus_of(text: str) -> tuple[str, int]:
    """Type and count of GPUs on a node: "2" or "mi50:2". Raises LaunchError."""
    match = _GPUS.fullmatch(text)
    if match is None:
        raise LaunchError(_("{word} is no count of GPUs: write a number, or TYPE:NUMBER.").format(word=repr(text)[:80]))
    return match["type"] or "", int(match["count"])
