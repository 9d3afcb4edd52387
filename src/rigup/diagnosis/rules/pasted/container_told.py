"""Containers, jobs and guests: a message beside what people say of it, and what shows that nothing is wrong any more."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.told import WORKS_INSIDE, Told
from rigup.machine.kinds import (
    Driver,
    Gpu,
    Jetson,
    JobRequest,
    KernelModule,
    Platform,
    Symptom,
    TensorFlow,
    Torch,
    World,
)

_WSL_SPOKEN = ("wsl-first-in-words", "wsl-first-in-small-letters", "wsl-lived-in", "wsl-in-small-letters")
_GUESTS = ("desktop-hypervisor-lived-in", "virtualbox-lived-in", "guest-in-chinese")
_CONTAINERS = ("in-a-container-told", "container-in-words", "speaks-of-a-container")
_UNUSED = (*NO_CUDA, *SILENT, "nvidia-smi-not-installed", "driver-asked-in-words", "modprobe-finds-no-device")


def _line(said: Symptom) -> int:
    """Where in its text it stands; what has no line comes first."""
    return said.fields["id"].where.line or 0


# -- the engine cannot, or could not
@rule("container-toolkit-missing")
def engine_has_no_way_to_give_gpus(
    error: Symptom = seen("docker-no-device-driver"), later: Symptom | None = seen("table-from-a-container-with-gpus"),
    radeon: Symptom | None = seen("rocm-image-composed", "rocm-image-run"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """Where the same command is answered further down, the engine has learnt it meanwhile; an image for ROCm wants no such thing."""
    meant = radeon is None or nvidia is not None
    return meant and (later is None or _line(later) < _line(error)) and {"driver": error.get("driver")}


# -- what an image finds of itself
@rule("container-without-gpu")
def image_found_no_driver(
    _said: Symptom = seen("image-found-no-driver"), works: Symptom | None = seen(*WORKS_INSIDE), torch: Torch | None = one(available=True),
    asked: World | None = one(at="container", gpu_requested=True), wsl: Platform | None = one(wsl=(1, 2)), spoken: Symptom | None = seen(*_WSL_SPOKEN),
) -> Verdict:  # fmt: skip
    """It looks for a node that Windows has none of: older images say so in every WSL, however their GPUs do."""
    idle = asked is not None and (wsl is not None or spoken is not None)
    return works is None and torch is None and not idle and {"option": "--gpus=all"}


@rule("container-without-gpu", "likely")
def driver_was_mounted_by_hand(
    error: Symptom = seen(*_UNUSED, "nvidia-smi-no-library"), mounted: Symptom = seen("driver-files-mounted-by-hand")
) -> Verdict:
    """The driver's files came in by hand; its nodes come only to a container that asks for GPUs."""
    return {"vendor": "nvidia", "said": error.id, "how": mounted.id}


@rule("container-without-gpu", "likely")
def trace_finds_the_module_and_no_node(
    _missed: Symptom = seen("trace-misses-nvidias-node", "nvidia-nodes-not-there"), _module: KernelModule = one(name="nvidia", loaded=True),
    where: Symptom | None = seen("lxd-named", "container-detected", "docker-in-words", *_CONTAINERS), world: World | None = one(container=Told(bool)),
    refused: Symptom | None = seen("trace-may-not-make-nvidias-node"),
) -> Verdict:  # fmt: skip
    """All containers see the host's module; its nodes come to those alone that were given the GPU, and no other may make them."""
    return any(part is not None for part in (where, world, refused)) and {"vendor": "nvidia"}


# -- Docker Desktop
@rule("docker-flavour-without-gpu", "likely")
def desktop_is_in_the_way_as_people_say(
    said: Symptom = seen("docker-desktop-in-the-way-told"), windows: Platform | None = one(system=("windows", "macos")),
    wsl: Platform | None = one(wsl=(1, 2)), world: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """On Linux its engine lives in a virtual machine, which has no GPU to hand on."""
    return windows is None and wsl is None and world is not None and {"said": said.id}


# -- files
@rule("container-files-root-owned", "likely")
def folder_has_an_owner_without_a_name(
    error: Symptom = seen("permission-denied-in-home"), folder: Symptom = seen("cache-of-an-unknown-owner"), where: Symptom = seen(*_CONTAINERS),
) -> Verdict:  # fmt: skip
    """Inside a container a number without a name is somebody of the image's or of the host's."""
    return {"path": error.get("path"), "owner": folder.get("owner"), "where": where.id}


# -- jobs
@rule("slurm-srun-missing", "possible")
def lightning_waits_for_tasks_that_nobody_starts(
    _told: Symptom = seen("lightning-takes-slurms-word"), stuck: Symptom = seen("program-stuck-told", "program-hangs-told"),
    job: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """Lightning leaves the processes to Slurm and waits; the command that would start them is not there."""
    return job is None and {"said": stuck.id}


# -- WSL
@rule("no-gpu-present", "likely")
def windows_shows_another_makers_card(
    said: Symptom = seen("wsl-adapter-of-another-maker"), ours: Symptom | None = seen("wsl-adapter-of-nvidia"), gpu: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool looks at each card that Windows shows; all of them are another maker's."""
    return ours is None and gpu is None and {"driver": said.driver, "severity": "error"}


@rule("no-gpu-present", "likely")
def no_adapter_but_another_makers(
    said: Symptom = seen("container-no-wsl-adapter"), other: Gpu = one(vendor=("amd", "intel")), gpu: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """As above, where the person names the card and the tool names none."""
    return gpu is None and {"said": said.id, "card": other.get("name"), "severity": "error"}


@rule("wsl-linux-driver-inside", "likely")
def one_program_sees_the_card_and_another_none(
    error: Symptom = seen("cuda-no-device-constant", "cuda-no-device"), _torch: Torch = one(available=True), wsl: Platform | None = one(wsl=2),
    spoken: Symptom | None = seen(*_WSL_SPOKEN),
) -> Verdict:  # fmt: skip
    """torch takes Windows's library, the other program one that a Linux driver brought."""
    return bool(wsl or spoken) and not inside(error) and {"said": error.id}


@rule("container-wrong-architecture", "likely")
def program_of_an_image_is_of_another_processor(
    said: Symptom = seen("exec-format-told"), where: Symptom = seen("aarch64-in-words", "jetson-in-words", "tegra-in-words", "orin-in-words"),
    _engine: Symptom = seen("docker-in-words", "container-in-words", "speaks-of-a-container"),
) -> Verdict:  # fmt: skip
    """The kernel's word for a program of another architecture, on a processor for which few images are made."""
    return {"said": said.id, "where": where.id}


# -- guests
@rule("vm-without-gpu-passthrough", "likely")
def no_driver_in_a_guest_of_a_desktop(
    said: Symptom = seen(*_UNUSED), guest: Symptom = seen(*_GUESTS), passed: Symptom | None = seen("passthrough-in-words", "passed-through-in-words"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """What runs guests on a desktop hands them a card that only draws."""
    return passed is None and works is None and {"said": said.id, "guest": guest.id}


@rule("vm-without-gpu-passthrough", "possible")
def cuda_is_wished_for_in_a_guest(
    asked: Symptom = seen("cuda-in-a-guest-asked-for", "host-card-wished-in-a-guest"), guest: Symptom = seen(*_GUESTS), passed: Symptom | None = seen("passthrough-in-words", "passed-through-in-words"),
    works: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"),
) -> Verdict:  # fmt: skip
    """Somebody asks whether it could be had: it cannot, without a card of the guest's own."""
    return passed is None and works is None and {"said": asked.id, "guest": guest.id}


@rule("vm-without-gpu-passthrough", "likely")
def guests_container_gets_nothing_of_a_driver(
    said: Symptom = seen("apptainer-no-nv-files"), guest: Platform = one(hypervisor=Told(bool)), gpu: Gpu | None = None,
    driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The engine looks for the driver's files where it runs, finds none, and that is a guest."""
    return gpu is None and driver is None and not guest.get("wsl") and {"said": said.id}


@rule("nvidia-driver-missing", "possible")
def container_engine_finds_nothing_of_a_driver(
    said: Symptom = seen("apptainer-no-nv-files"), gpu: Gpu | None = one(seen_by=Told(bool)), driver: Driver | None = one(vendor="nvidia"), platform: Platform | None = None,
    jetson: Jetson | None = None, module: KernelModule | None = one(name="nvidia", loaded=True), job: JobRequest | None = None,
    wish: Symptom | None = seen(*_UNUSED, "engine-finds-no-nvidia-smi", "tf-no-driver-in-kernel", "program-finds-no-cuda", "torch-not-compiled-with-cuda", "nvidia-smi-no-library", "libcuda-not-found"),
    none: TensorFlow | None = one(gpus=0), torch: Torch | None = one(available=False),
    other: Symptom | None = seen("jetson-in-words", "tegra-in-words", "orin-in-words", "slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:  # fmt: skip
    """As above, on a host: neither its programs nor its libraries are there, and a program wants them."""
    elsewhere = platform is not None and (platform.get("wsl") or platform.get("hypervisor"))
    wanted = any(part is not None for part in (wish, none, torch))
    return (
        wanted
        and all(part is None for part in (gpu, driver, jetson, module, job, other))
        and not elsewhere
        and {"said": said.id}
    )
