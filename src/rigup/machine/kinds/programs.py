"""What programs ask for and say: jobs, launchers, symptoms."""

from typing import TYPE_CHECKING, Any

from rigup.machine.facts import PROCESS, Fact, Subject


class JobRequest(Fact, keys=("script",), scope=PROCESS):
    """What a batch script asks of the scheduler. What is told without a script is of the only one there is."""

    script: str  # which text, and which one in it
    gpus: int | None  # for the whole job
    gpus_per_node: int | None
    gpus_per_task: int | None
    nodes: int | None
    tasks: int | None
    tasks_per_node: int | None
    cpus_per_task: int | None
    asked: bool  # any GPU is asked for, in whatever way
    request: str  # the option that asks for GPUs by the node, as it is written: --gres=gpu:p6000:1
    given: list[int]  # GPUs that its nodes got, each
    constraint: str  # features that its nodes must have
    partition: str
    name: str
    binding: str  # how GPUs are bound to tasks: none, closest, single:1 …
    launcher: str  # what starts the work inside: srun, torchrun, python …
    interactive: bool  # a shell on a node, not a batch script


class Launch(Fact, scope=PROCESS):
    """What a program that starts one process a device was told, and what it says of its ranks."""

    framework: str  # lightning, torchrun, accelerate …
    accelerator: str
    devices: int  # on each node
    nodes: int
    visible: int  # devices that one process was given
    world: int  # processes that it counts on
    ranks: list[int]  # that announced themselves, each time that one did


class Symptom(Fact, scope=PROCESS):
    """What a program said, by a row of the signature table; the named groups are its fields."""

    id: str
    about: Fact | None = None  # the fact that the message states, if it does
    spread: str = PROCESS  # how far it holds

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The named groups of the row's pattern."""

    @property
    def subject(self) -> Subject:
        """A message about a card is about that card."""
        return self.about.subject if self.about else Subject()
