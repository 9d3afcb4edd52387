"""A container that was started, described or built without a GPU, by what was typed or written for it."""

from rigup.diagnosis.rule import Verdict, one, rule, seen, wordings
from rigup.machine.kinds import Gpu, Symptom, Torch, World


@rule("container-without-gpu", "likely")
def description_names_none_and_a_program_finds_none(
    world: World = one(gpu_requested=False, at="container"), symptom: Symptom = seen(tag="started-without-nothing"), none: Symptom | None = seen(tag="display-list-without-nvidia")
) -> Verdict:  # fmt: skip
    """What describes the container asks for no GPU, and the program in it finds nothing of a driver, on a machine that may have a card."""
    mine = bool(world.container) and symptom.place.world != "host"
    return none is None and mine and {"vendor": "nvidia", "said": symptom.id}


@rule("container-without-gpu", "likely")
def description_names_none_and_torch_finds_none(
    world: World = one(gpu_requested=False, at="container"), torch: Torch = one(available=False)
) -> Verdict:
    """The same, where torch says so itself."""
    cpu = torch.knows("cuda") and torch.cuda is None and not torch.get("hip")
    return bool(world.container) and torch.place.world != "host" and not cpu and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def its_container_was_started_without_gpus(
    symptom: Symptom = seen(tag="started-without-no-gpu"), world: World = one(gpu_requested=False), asked: World | None = one(gpu_requested=True),
    rocm: Symptom | None = seen("rocm-named-in-lower-case"), amd: Gpu | None = one(vendor="amd", integrated=False), cpu: Symptom | None = seen("torch-cpu-version-told"),
    mac: Symptom | None = seen(tag="macs"), card: Gpu | None = one(vendor="nvidia"), none: Symptom | None = seen(tag="display-list-without-nvidia"),
) -> Verdict:  # fmt: skip
    """The command or file that starts the container asks for no GPU, and the program in it finds none.

    Who only says that it computes on the processor may be meant to, where nobody names a card.
    """
    vendor = "amd" if rocm is not None or amd is not None else "nvidia"
    alone = asked is None and cpu is None and mac is None and none is None
    intended = symptom.id in wordings(tag="torch-for-cpu-at-work") and card is None
    return alone and not intended and bool(world.container) and {"said": symptom.id, "vendor": vendor}


@rule("container-without-gpu", "likely")
def program_finds_none_in_a_container_that_was_given_none(
    error: Symptom = seen(tag="started-without-programs"), world: World = one(gpu_requested=False)
) -> Verdict:
    """The command that started the container names no GPU."""
    mine = not error.place.world or error.place.world.startswith("container")
    return bool(world.get("container")) and mine and {"said": error.id}
