"""What single lines tell of jobs, nodes, containers and notebooks, where the log around them was cut away."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.container import ENGINE_DEFAULT
from rigup.diagnosis.rules.driver import NO_CUDA, inside
from rigup.diagnosis.rules.program import CUDA_MASK, NO_DEVICE, chosen
from rigup.diagnosis.rules.scheduler import asking, per_node
from rigup.machine.kinds import (
    Account,
    CardCount,
    DeviceRules,
    Folder,
    Gpu,
    Jetson,
    JobRequest,
    JupyterKernel,
    Launch,
    PythonEnv,
    SharedMemory,
    Symptom,
    Torch,
    Variable,
    World,
)

_NONE = (*NO_DEVICE, *NO_CUDA, "nvidia-smi-no-devices", "nvidia-smi-cannot-communicate")


# -- jobs
@rule("slurm-srun-missing", "possible")
def first_rank_alone_until_the_time_is_over(want: Launch, _end: Symptom = seen("slurm-time-limit", "rendezvous-timed-out", "lightning-srun-not-used")) -> Verdict:  # fmt: skip
    """Rank 0 of several announces itself, nobody else does, and the time is over, or Lightning misses srun."""
    return set(want.ranks) == {0} and len(want.ranks) == 1 and want.world > 1 and {"total": want.world}


@rule("slurm-srun-missing", "possible")
def tasks_beside_gpus_and_one_start(
    job: JobRequest = one(launcher="python"), other: Launch | None = one(framework=("torchrun", "accelerate")), works: Symptom | None = seen("lightning-uses-the-gpu"),
    torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """Several tasks and several GPUs on each node, and python is started once, without srun."""
    tasks, have = job.get("tasks_per_node") or 1, per_node(job) or 0
    idle = works is None and torch is None and other is None
    return tasks > 1 and have > 1 and not job.get("interactive") and idle and {"total": tasks}


@rule("slurm-interactive-shell", "likely")
def number_of_tasks_is_taken_from_a_shell(said: Symptom = seen("lightning-ntasks-unsupported"), job: JobRequest = one(interactive=True)) -> Verdict:  # fmt: skip
    """In a shell on a node Lightning reads what the shell was asked for as if it were a batch job's."""
    return {"said": said.id, "devices": per_node(job) or 1}


@rule("slurm-no-gpu-requested", "likely")
def typed_command_asks_for_none(_none: Symptom = seen(*_NONE), job: JobRequest = one(interactive=True)) -> Verdict:
    """A shell on a node, whose whole command is shown and names no GPU."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "constraint"))
    return not job.get("asked") and not numbers and bool(job.get("partition")) and {"partition": job.partition}


@rule("slurm-no-gpu-requested", "likely")
def typed_step_asks_for_none(torch: Torch = one(available=False), job: JobRequest = one()) -> Verdict:
    """A command on a partition of GPUs, shown whole, that names none, and torch finds none."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    cpu = torch.knows("cuda") and torch.cuda is None
    return not numbers and not cpu and not job.knows("script") and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-no-gpu-requested", "likely")
def header_asks_for_none(_none: Symptom = seen(*_NONE), job: JobRequest = one(launcher=("python", "srun"))) -> Verdict:
    """The header of a batch script without its first line, with what it starts below it, and no GPU in it."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task"))
    return not job.knows("asked") and job.knows("script") and not numbers and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-gpu-request-too-small", "likely")
def engine_wants_more_than_the_job_has(
    want: Symptom = seen("vllm-tensor-parallel", "accelerate-processes"), job: JobRequest = one()
) -> Verdict:
    """A program is to use more GPUs than its one node was asked for."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-uneven-gpus", "likely")
def total_does_not_divide_and_a_list_ends(job: JobRequest, _end: Symptom = seen("index-out-of-range-plain", "cuda-invalid-ordinal")) -> Verdict:  # fmt: skip
    """A total of GPUs that its nodes cannot share evenly, and a rank whose number is beyond its node's list."""
    gpus, nodes = job.get("gpus") or 0, job.get("nodes") or 1
    return nodes > 1 and gpus % nodes != 0 and {"option": "--gpus-per-node=N"}


# -- between cards and nodes
@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def memory_unit_refuses_a_card(
    _fault: Symptom = seen("iommu-page-fault", "dmar-fault"), off: Variable | None = one(name="NCCL_P2P_DISABLE", value="1"), warned: Symptom | None = seen("nccl-warns"),
) -> Verdict:  # fmt: skip
    """The memory unit between cards refuses one, while they speak to each other."""
    return off is not None or warned is not None


@rule("nccl-p2p-blocked-by-acs-iommu", "likely")
def copies_between_cards_arrive_wrong(_wrong: Symptom = seen("p2p-data-wrong")) -> Verdict:
    """CUDA's own sample finds other data on the second card than the first one sent."""
    return True


@rule("multinode-wrong-interface", "likely")
def own_name_leads_to_loopback(
    _back: Symptom = seen("gloo-falls-back-to-loopback"), _failed: Symptom = seen("gloo-mesh-failed-plain")
) -> Verdict:
    """The host's own name leads nowhere, Gloo takes the loopback instead, and meets nobody."""
    return True


@rule("multinode-wrong-interface", "likely")
def inner_interface_and_a_closed_connection(
    used: Symptom = seen("nccl-uses-inner-interfaces", "nccl-uses-bridge"),
    _closed: Symptom = seen("nccl-peer-closed", "nccl-warns"),
) -> Verdict:
    """NCCL takes the bridge of containers for the way to other nodes, and the connection ends."""
    return {"address": used.get("address")}


@rule("multinode-no-route", "likely")
def launcher_does_not_reach_a_node(
    said: Symptom = seen("launcher-finds-no-route"),
    _launcher: Symptom = seen(
        "launcher-starts-on-nodes", "launcher-daemons-not-started", "launcher-pdsh", "launcher-horovod"
    ),
) -> Verdict:
    """What starts the ranks on other nodes does not reach one."""
    return {"address": said.address}


# -- masks
@rule("cuda-visible-devices-wrong", "likely")
def mask_names_none_of_the_listed(
    mask: Variable = one(name=CUDA_MASK), cards: CardCount = one(vendor="nvidia"), _torch: Torch = one(devices=0), split: Gpu | None = one(mig=True)
) -> Verdict:  # fmt: skip
    """The mask counts beyond the cards that nvidia-smi lists, and torch counts none."""
    numbers = [part for part in chosen(mask.value or "") if part.isdigit()]
    return split is None and bool(numbers) and int(numbers[0]) >= cards.count and cards.usable > 0


@rule("mig-device-misaddressed", "likely")
def number_is_none_of_a_card(
    mask: Variable = one(name=CUDA_MASK), card: Gpu = one(vendor="nvidia", mig=True), cards: CardCount = one(vendor="nvidia"), _said: Symptom = seen(*NO_DEVICE),
) -> Verdict:  # fmt: skip
    """The card is cut into parts, and the mask counts them like cards: a number names the card's first part only."""
    numbers = [part for part in chosen(mask.value or "") if part.isdigit()]
    return bool(numbers) and len(card.partitions) > 1 and int(numbers[0]) >= cards.count and {"named": numbers[0]}


# -- containers
@rule("container-without-gpu", "likely")
def image_of_a_job_finds_no_driver(
    _image: Symptom = seen("pyxis-image-named"), said: Symptom = seen("torch-found-no-driver", "nvidia-smi-not-installed", "libcuda-not-found")
) -> Verdict:  # fmt: skip
    """enroot passes GPUs only to images that ask for them by their variables."""
    return {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "likely")
def driver_is_asked_for_while_the_image_is_built(
    _run: Symptom = seen("image-runs-python-while-built"), _said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus"), world: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """Of a build no GPU is part, however the image will be started later."""
    return world is None and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def its_nodes_are_listed_and_none_is_a_gpus(
    _listed: Symptom = seen("container-lists-no-nodes"), torch: Torch | None = one(available=False), said: Symptom | None = seen(*NO_CUDA, "nvidia-smi-not-installed"),
) -> Verdict:  # fmt: skip
    """The container's folder of nodes has none of a GPU, and a program finds none."""
    return (torch is not None or said is not None) and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def description_asks_for_none(
    world: World = one(gpu_requested=False, at="container"), _said: Symptom = seen("vllm-no-device-type", "torch-loads-for-cuda", "cuda-no-device", "cuda-no-device-constant"),
) -> Verdict:  # fmt: skip
    """What describes the container names no GPU, and its program finds none."""
    return bool(world.container) and {"vendor": "nvidia"}


@rule("container-lost-gpu-after-daemon-reload")
def rules_let_no_card_through(
    rules: DeviceRules, _said: Symptom = seen("nvml-unknown-error", "nvidia-node-not-permitted", "cuda-800", "cuda-800-constant", "cuda-not-permitted-plain")
) -> Verdict:  # fmt: skip
    """The control group lists what may be opened, NVIDIA's nodes are not in it, and the driver is refused."""
    return not any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)


@rule("shm-too-small", "possible")
def bus_error_of_many_processes_inside(
    _error: Symptom = seen("bus-error-plain", "bus-error-signal"), _many: Symptom = seen("mpi-number-of-processes", "launcher-starts-on-nodes", "nccl-banner", "dataloader-worker-gone"),
    _inside: Symptom = seen("docker-in-words", "container-in-words", "speaks-of-a-container", "in-a-container-told"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """What processes of one node hand each other lies in /dev/shm, and nobody has told its size."""
    return shared is None


@rule("shm-too-small", "likely")
def engines_default_and_a_bus_error(
    shared: SharedMemory,
    error: Symptom = seen("bus-error-plain", "bus-error-signal", "no-space-left-plain", "dataloader-worker-gone"),
) -> Verdict:
    """A bus error, or no space, is what a full /dev/shm gives; its size is an engine's default."""
    full = error.id != "no-space-left-plain" or shared.get("free") == 0
    return full and shared.total <= ENGINE_DEFAULT and {"size": f"{shared.total // 2**20} MiB"}


@rule("container-runtime-without-jetson-support", "likely")
def desktop_libraries_are_looked_for_on_a_module(
    _jetson: Jetson, said: Symptom = seen("container-cli-no-driver-library", "container-cli-driver-error", "container-cli-no-nvml-library")
) -> Verdict:  # fmt: skip
    """A Jetson's release is shown, and the container tool looks for a desktop driver's libraries."""
    return {"said": said.id}


@rule("container-files-root-owned", "likely")
def folder_of_the_image_belongs_to_root(folder: Folder = one(owner="root"), who: Account = one()) -> Verdict:
    """The home of a notebook image, and in it a folder of root's, which a mount made."""
    mine = folder.path.startswith("/home/jovyan/") or (
        inside(folder) and folder.path.startswith("/home/" + who.user + "/")
    )
    return mine and who.get("uid", 0) != 0


# -- notebooks
@rule("jupyter-kernel-other-env", "likely")
def kernel_is_named_after_the_active_one(
    kernel: JupyterKernel, env: PythonEnv = one(active=True), torch: Torch | None = None
) -> Verdict:
    """It bears the name of the environment in use, and starts another one's Python; where environments were looked into, they tell."""
    named = env.prefix.rstrip("/").rpartition("/")[2] in (kernel.get("shown"), kernel.get("name"))
    looked_into = torch is not None and torch.knows("env")
    return named and not looked_into and kernel.get("prefix") is not None and kernel.prefix != env.prefix
