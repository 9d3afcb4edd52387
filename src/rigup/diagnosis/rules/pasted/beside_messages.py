"""What programs say of frameworks, containers, jobs and nodes beside what people say of them: a message and a word."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.container import ENGINE_DEFAULT
from rigup.diagnosis.rules.directml import DIRECTML_USED
from rigup.diagnosis.rules.framework import worth_a_build
from rigup.diagnosis.rules.scheduler import per_node
from rigup.diagnosis.rules.told import GPU_NOT_USED, Told
from rigup.knowledge import wsl
from rigup.machine.kinds import (
    Driver,
    Gpu,
    JobRequest,
    Launch,
    Package,
    Platform,
    SharedMemory,
    Symptom,
    Torch,
    World,
)

_NCCL_SYSTEM = ("nccl-system-error", "nccl-system-error-constant")


@rule("cpu-only-torch", "likely")
def conda_plans_a_cpu_build_for_a_toolkit(
    _plan: Symptom = seen("conda-plans-cpu-build", "conda-downloads-cpu-build"), _asked: Symptom = seen("conda-wants-cuda", "cpu-build-came-told", *GPU_NOT_USED),
) -> Verdict:  # fmt: skip
    """What conda is about to install, or has, is not what somebody asked for."""
    return True


@rule("cpu-only-torch", "likely")
def a_program_shows_a_cpu_build_beside_a_card(
    _shown: Symptom = seen("torch-cpu-version-told"), gpu: Gpu = one(vendor="nvidia"), torch: Torch | None = one(cuda=Told(bool)),
    other_way: Symptom | None = seen(*DIRECTML_USED),
) -> Verdict:  # fmt: skip
    """A version that some program shows, and a card that its owner names; DirectML goes with such a build."""
    return torch is None and other_way is None and worth_a_build(gpu)


@rule("cpu-only-torch", "likely")
def a_program_shows_a_cpu_build_and_somebody_misses_the_gpu(
    _shown: Symptom = seen("torch-cpu-version-told"), _told: Symptom = seen(*GPU_NOT_USED, "cuda-missed-in-words", "nvidia-toolkit-detected"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The same where the card has no name."""
    return torch is None


@rule("cpu-only-torch", "likely")
def its_version_is_a_cpu_builds_and_somebody_misses_cuda(
    torch: Torch = one(cuda=None), _told: Symptom = seen(*GPU_NOT_USED, "cuda-missed-in-words"), other: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The same where the version stands in a program's head line."""
    return other is None and str(torch.get("version")).partition("+")[2] == "cpu"


@rule("wsl-wheel-bundled-hsa-runtime", "likely")
def build_for_rocm_in_wsl_and_somebody_misses_the_gpu(
    _platform: Platform = one(wsl=2), torch: Torch = one(hip=Told(bool)), _told: Symptom = seen(*GPU_NOT_USED, "program-finds-no-cuda"),
    card: Gpu = one(vendor="amd", integrated=False), listed: Symptom | None = seen("rocminfo-processor-only", "hsa-init-failed", "wsl-no-adapter"),
) -> Verdict:  # fmt: skip
    """PyTorch's wheels bring a runtime that knows nothing of WSL."""
    own = not wsl.runtime_knows_wsl(torch.hip or "") and ".git" not in str(torch.get("version"))
    return own and listed is None and not torch.get("available") and not wsl.chip_without_wsl(card.isa or "")


@rule("wsl-wheel-bundled-hsa-runtime", "possible")
def rocminfo_works_in_wsl_and_torch_does_not(
    _spoken: Symptom = seen("wsl-lived-in", "wsl-in-small-letters"), _works: Symptom = seen("rocminfo-works-told"),
    _told: Symptom = seen("program-finds-no-cuda", "cuda-false-in-words"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The same where only the person's words tell that the system's runtime finds the card."""
    return torch is None


@rule("container-without-gpu", strength="likely")
def torch_finds_none_where_none_was_asked_for(
    torch: Torch = one(available=False), world: World = one(gpu_requested=False)
) -> Verdict:
    """The command that started it names no GPU, and torch in it, which is no build for processors, finds none."""
    cpu = torch.knows("cuda") and torch.cuda is None and torch.get("hip") is None
    return bool(world.get("container")) and not cpu


@rule("container-without-gpu", strength="likely")
def program_finds_none_where_none_was_asked_for(
    _said: Symptom = seen("program-finds-no-cuda", "lightning-no-devices-at-all"),
    world: World = one(gpu_requested=False),
) -> Verdict:
    """The same in a program's own words."""
    return bool(world.get("container"))


@rule("shm-too-small", strength="possible")
def system_error_of_nccl_in_a_container(
    _error: Symptom = seen(*_NCCL_SYSTEM), _inside: Symptom = seen("docker-in-words", "container-in-words", "speaks-of-a-container"),
    nodes: Symptom | None = seen("several-nodes-told", "nccl-uses-inner-interfaces", "nccl-no-address-family"), shared: SharedMemory | None = None,
) -> Verdict:  # fmt: skip
    """On one node NCCL asks the system for little but shared memory, and engines give little of it."""
    return nodes is None and (shared is None or shared.total <= ENGINE_DEFAULT)


@rule("jetson-generic-wheel", strength="possible")
def somebody_on_a_jetson_has_no_cuda(
    _where: Symptom = seen("jetson-in-words", "tegra-in-words", "orin-in-words", "jetpack-in-capitals", "xavier-in-words"),
    _said: Symptom = seen("program-finds-no-cuda", "cuda-false-in-words", "cpu-build-in-chinese"),
    torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """In words alone; which build it is nobody tells."""
    return torch is None or (not torch.get("available") and ".nv" not in str(torch.get("version")))


@rule("slurm-ntasks-mismatch", "likely")
def fewer_tasks_than_gpus_were_asked_for(job: JobRequest, _named: Symptom = seen("lightning-told")) -> Verdict:
    """The same where nobody shows its trainer: a task each was meant for the GPUs of a node, and fewer tasks start."""
    product = (job.get("nodes") or 1) * (job.tasks_per_node or 1)
    meant = per_node(job) == job.tasks_per_node and (job.tasks_per_node or 1) > 1
    return meant and 0 < (job.tasks or 0) < product and {"devices": job.tasks_per_node}


@rule("slurm-gpu-binding-per-task", "likely")
def somebody_sees_one_in_each(
    _told: Symptom = seen("each-process-sees-one-gpu", "each-process-sees-one-gpu-in-capitals"), _slurm: Symptom = seen("ntasks-per-gpu-told"),
) -> Verdict:  # fmt: skip
    """The option that binds one GPU to each task, and a program that sees one where it wants them all."""
    return {"option": "--gpu-bind=none"}


@rule("slurm-gpu-binding-per-task", "likely")
def rank_asks_for_a_card_by_its_number_where_each_sees_one(
    _bound: Symptom = seen("ntasks-per-gpu-told"), said: Symptom = seen("cuda-invalid-ordinal", "traceback-ends-in-setting-a-device"),
) -> Verdict:  # fmt: skip
    """The option gives each task one card, number 0; the program numbers its ranks and asks for more."""
    return {"option": "--gpu-bind=none", "said": said.id}


@rule("slurm-srun-missing", "likely")
def ranks_of_one_node_wait_for_the_others(
    want: Launch = one(framework="lightning"), _slurm: Symptom = seen("slurm-told", "slurm-told-in-small-letters"), job: JobRequest | None = one(launcher="srun"),
) -> Verdict:  # fmt: skip
    """The first node's ranks announce themselves once each, and nobody starts the same on the others."""
    count = len(want.ranks)
    first = 1 < count < want.world and sorted(want.ranks) == list(range(count)) and want.world % count == 0
    return first and job is None and {"total": want.world}


@rule("cuda-initialised-before-fork", "likely")
def told_process_cannot_start_cuda(
    _told: Symptom = seen("several-processes-told", "fork-told", "worker-server-told"), _refused: Symptom = seen("cuda-initialization-error")
) -> Verdict:  # fmt: skip
    """CUDA's word for a copy of a process that had started it, beside Python's processes or the word fork."""
    return True


@rule("multinode-wrong-interface", "likely")
def inner_interfaces_among_all_and_an_error(
    used: Symptom = seen("nccl-uses-inner-interfaces"), _failed: Symptom = seen(*_NCCL_SYSTEM, "nccl-connection-refused", "nccl-refused-in-words", "nccl-collective-timeout", "peer-timed-out"),
) -> Verdict:  # fmt: skip
    """NCCL takes the bridges of containers for ways to other nodes."""
    return {"address": used.get("address")}


@rule("multinode-wrong-interface", "possible")
def several_nodes_and_a_system_error(
    _error: Symptom = seen(*_NCCL_SYSTEM), _nodes: Symptom = seen("several-nodes-told", "two-computers-told"),
    route: Symptom | None = seen("nccl-no-route", "peer-timed-out", "nccl-connection-refused", "nccl-uses-inner-interfaces"),
) -> Verdict:  # fmt: skip
    """Between nodes what fails is mostly a socket; which one its log would tell."""
    return route is None


@rule("container-without-gpu", "likely")
def asked_while_the_image_is_built(
    _asked: Symptom = seen("asked-while-an-image-is-built"), torch: Torch = one(available=False)
) -> Verdict:
    """Of a build no GPU is part, however the image will be started later."""
    return "+cpu" not in (torch.get("version") or "") and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def podman_takes_an_option_for_nothing(
    _error: Symptom = seen("engine-finds-no-nvidia-smi", "ollama-discovers-no-library", "nvidia-smi-not-installed"), _asked: Symptom = seen("podman-asked-with-gpus")
) -> Verdict:  # fmt: skip
    """podman accepts Docker's option and, until it learnt it, did nothing about it."""
    return {"vendor": "nvidia"}


@rule("slurm-ntasks-mismatch", "likely")
def each_task_starts_all_again(
    counted: Symptom = seen("more-workers-than-world"), job: JobRequest | None = None, slurm: Symptom | None = seen("slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:  # fmt: skip
    """More processes than the world has places, as the scheduler's tasks start all of them once more."""
    return int(counted.workers) > int(counted.world) and (job is not None or slurm is not None)


@rule("cuda-runtime-library-missing", "possible")
def jax_sees_none_where_torch_counts_some(
    _said: Symptom = seen("jax-falls-back-to-the-processor"), torch: Torch | None = one(available=True), counted: Torch | None = one(devices=Told(bool)),
    card: Gpu | None = one(vendor="nvidia", seen_by="nvidia-smi"), listed: Symptom | None = seen("jax-lists-gpus"),
) -> Verdict:  # fmt: skip
    """torch, or the driver's tool, finds the card; jax looks for libraries of its own, or is a build without CUDA."""
    return listed is None and any(part is not None for part in (torch, counted, card)) and {"program": "jax"}


@rule("cuda-runtime-library-missing", "likely")
def jax_misses_one_and_fails(
    said: Symptom = seen("tf-library-not-loaded", "tf-library-not-dlopened"), _failed: Symptom = seen("jax-operation-failed")
) -> Verdict:  # fmt: skip
    """The operation that failed is of the library that was not there."""
    return {"lib": said.lib, "program": "jax"}


@rule("multinode-wrong-interface", "possible")
def gloo_meets_nobody(
    _failed: Symptom = seen("gloo-mesh-failed"),
    known: Symptom | None = seen("gloo-no-route", "gloo-falls-back-to-loopback", "gloo-connects-to-itself", "gloo-host-of-another-address", "nccl-no-route"),
) -> Verdict:  # fmt: skip
    """Its message tells no reason; mostly a host's own name leads to an address that others cannot reach."""
    return known is None


@rule("cpu-only-torch", "likely")
def its_own_cuda_part_is_wanted_and_cuda_is_not_there(
    _wanted: Symptom = seen("torch-cuda-library-wanted"), torch: Torch = one(available=False)
) -> Verdict:
    """An extension for CUDA looks for torch's own part for CUDA, which a build for processors does not have."""
    return not torch.get("cuda")


@rule("cpu-only-torch", "possible")
def build_for_processors_beside_cards_too_old_for_any(
    torch: Torch = one(available=False), gpu: Gpu = one(vendor="nvidia"), driver: Driver = one(vendor="nvidia"), package: Package | None = one(manager="conda", name=("cpuonly", "pytorch-cpu")),
) -> Verdict:  # fmt: skip
    """conda was told to take the build for processors; a build that serves the cards would have to be made of sources."""
    chosen = package is not None or str(torch.get("version")).endswith("+cpu")
    plain = torch.knows("cuda") and torch.cuda is None and torch.get("hip") is None
    return chosen and plain and bool(driver.version) and not worth_a_build(gpu)
