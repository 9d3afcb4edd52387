"""What engines, schedulers and launchers of clusters print, beside what they were asked for."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import closed, inside
from rigup.diagnosis.rules.driver import SILENT
from rigup.diagnosis.rules.program import CUDA_MASK
from rigup.diagnosis.rules.scheduler import asking, per_node, tasks_per_node, total
from rigup.machine.kinds import (
    Account,
    DeviceNode,
    DeviceRules,
    Driver,
    Gpu,
    Jetson,
    JobRequest,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_REFUSED = ("cuda-not-permitted-plain", "cuda-runtime-not-permitted", "nvml-unknown-in-a-program")


# -- containers
@rule("container-lost-gpu-after-daemon-reload", "likely")
def program_is_refused_inside(error: Symptom = seen(*_REFUSED)) -> Verdict:
    """The driver's library answers in a container, and may not use its nodes."""
    return inside(error) and {"said": error.id}


@rule("container-lost-gpu-after-daemon-reload", "possible")
def program_is_refused_somewhere(error: Symptom = seen(*_REFUSED)) -> Verdict:
    """The same words; that it is a container nobody says."""
    return not error.place.world and {"said": error.id}


@rule("container-lost-gpu-after-daemon-reload", "likely")
def rules_let_no_card_through_and_the_library_does_not_start(
    rules: DeviceRules, _said: Symptom = seen("torch-cannot-start-nvml"), torch: Torch | None = one(available=True)
) -> Verdict:
    """The driver's library is there and does not start, and the control group lists no node of NVIDIA's."""
    listed = any(rule_.startswith(("a *:* rw", "c *:* rw", "c 195:")) for rule_ in rules.allowed)
    return torch is None and not listed


@rule("container-without-gpu", "likely")
def runner_starts_an_image(
    _image: Symptom = seen("job-runs-in-an-image"),
    said: Symptom = seen(
        "nvidia-smi-not-installed", "torch-found-no-driver", "nvidia-nodes-not-there", "libcuda-not-found"
    ),
    works: Torch | None = one(available=True),
) -> Verdict:
    """A runner's own log names the image that a job runs in, and the job finds nothing of a driver."""
    return works is None and {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "likely")
def library_is_there_and_no_node(
    _error: Symptom = seen("nvml-unknown-error"), _none: Symptom = seen("nvidia-nodes-not-there")
) -> Verdict:
    """On a host the driver's own tool would make the nodes; where it may not, somebody must hand them in."""
    return {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def tool_of_the_image_reaches_no_driver(
    error: Symptom = seen(*SILENT), asked: World | None = one(at="container", gpu_requested=True), node: DeviceNode | None = one(path="/dev/nvidiactl"),
) -> Verdict:  # fmt: skip
    """The engine starts nothing for which the host's driver does not answer: a tool that the image brought finds no node."""
    return inside(error) and asked is None and node is None and {"vendor": "nvidia", "said": error.id}


@rule("container-without-gpu", "likely")
def host_lists_a_card_that_is_not_detected_inside(
    card: Gpu = one(vendor="nvidia"), error: Symptom = seen("cuda-no-device", "cuda-no-device-constant", at="container"), mask: Variable | None = one(name=CUDA_MASK),
) -> Verdict:  # fmt: skip
    """A mask, or a list of cards for the engine, may hide it as well."""
    return mask is None and bool(card.get("seen_by") or card.get("uuid")) and {"vendor": "nvidia", "said": error.id}


_NOTHING = ("torch-found-no-driver", "torch-no-cuda-gpus", "webui-torch-no-gpu", "libcuda-not-found", "cuda-driver-library-not-found", "cuda-driver-insufficient", "cuda-no-device", "cuda-no-device-constant", "paddle-device-not-set", "nvidia-smi-not-installed")  # fmt: skip


@rule("container-without-gpu", "likely")
def description_names_none_and_a_program_finds_none(
    world: World = one(gpu_requested=False, at="container"), said: Symptom = seen(*_NOTHING)
) -> Verdict:
    """What describes the container asks for no GPU, and the program in it finds nothing of a driver."""
    return bool(world.container) and said.place.world != "host" and {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "likely")
def description_names_none_and_torch_finds_none(
    world: World = one(gpu_requested=False, at="container"), torch: Torch = one(available=False)
) -> Verdict:
    """The same, where torch says so itself."""
    cpu = torch.knows("cuda") and torch.cuda is None and not torch.get("hip")
    return bool(world.container) and torch.place.world != "host" and not cpu and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def runtime_gives_none_and_a_program_finds_none(
    shown: Symptom = seen("container-shows-none-as-its-gpus"), said: Symptom | None = seen(*_NOTHING), torch: Torch | None = None, job: JobRequest | None = None,
) -> Verdict:  # fmt: skip
    """`void` or `none` is what the image's variable holds where nobody asked for GPUs."""
    none = torch is not None and (torch.get("available") is False or torch.get("devices") == 0)
    return job is None and (said is not None or none) and {"vendor": "nvidia", "value": shown.value}


@rule("container-without-gpu", "likely")
def runtime_of_cuda_finds_no_library_inside(
    error: Symptom = seen("cuda-driver-insufficient", "paddle-device-not-set", at="container"), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """CUDA calls a driver too old of which it finds no library; the engine refuses images that want a newer one."""
    return driver is None and card is None and {"vendor": "nvidia", "said": error.id}


_NO_GPU = ("cuda-no-device", "cuda-no-device-constant", "program-finds-no-visible-gpu", "jax-cuda-not-there", "vllm-no-device-type", "sglang-no-accelerator", "program-finds-no-cuda-devices")  # fmt: skip


@rule("container-without-gpu", "possible")
def program_finds_no_gpu_inside(
    error: Symptom = seen(*_NO_GPU, at="container"), card: Gpu | None = one(vendor=("nvidia", "amd")), driver: Driver | None = one(vendor="nvidia"),
    mask: Variable | None = one(name=CUDA_MASK), asked: World | None = one(at="container", gpu_requested=True), torch: Torch | None = None,
) -> Verdict:  # fmt: skip
    """Nothing of a GPU is shown in a container whose program looks for one; a build for the processor, or a mask, would do the same."""
    cpu = torch is not None and torch.knows("cuda") and torch.cuda is None
    return (
        all(part is None for part in (card, driver, mask, asked)) and not cpu and {"vendor": "nvidia", "said": error.id}
    )


@rule("container-without-gpu", "possible")
def render_nodes_are_missed_inside(error: Symptom = seen("render-nodes-not-there", at="container")) -> Verdict:
    """Somebody looks for the nodes by which Intel's and AMD's cards compute."""
    return {"vendor": "amd", "option": "--device=/dev/dri", "said": error.id}


@rule("container-files-root-owned", "likely")
def folder_itself_belongs_to_root(
    refused: Symptom = seen("writing-refused"), owned: Symptom = seen("root-owned-entry")
) -> Verdict:
    """A name without a folder is refused, and `ls -ld .` shows root as the folder's owner."""
    path = str(refused.get("a") or refused.get("b") or refused.get("c"))
    return inside(refused) and owned.entry in (".", "./") and "/" not in path and {"path": path, "owner": "root"}


@rule("container-without-gpu", "likely")
def server_of_an_image_finds_none_beside_a_card(
    error: Symptom = seen("ollama-finds-no-gpu", at="container"), card: Gpu = one(vendor="nvidia"), asked: World | None = one(at="container", gpu_requested=True),
) -> Verdict:  # fmt: skip
    """A tool of the host lists a card, and the server in the container none."""
    return asked is None and bool(card.get("seen_by") or card.get("uuid")) and {"vendor": "nvidia", "said": error.id}


@rule("container-runtime-without-jetson-support", "likely")
def mounting_fails_on_a_module(_jetson: Jetson, said: Symptom = seen("container-cli-mount-error")) -> Verdict:
    """A Jetson's kernel or release is shown, and the container tool cannot mount what it looks for."""
    return {"said": said.id}


@rule("container-render-group-mismatch", "likely")
def number_of_the_host_is_not_held_inside(
    who: Account = one(at="container"), node: DeviceNode = one(path="/dev/kfd"), given: World | None = one(gpu_requested=False)
) -> Verdict:  # fmt: skip
    """The host lists the node by its group's number, and the account inside is not in it."""
    return given is None and not inside(node) and node.group.isdigit() and closed(node, who)


@rule("nvidia-module-not-loaded", "possible")
def engine_asks_a_driver_that_does_not_answer(
    _said: Symptom = seen("container-cli-driver-error"), card: Gpu | None = one(vendor="nvidia"), jetson: Jetson | None = None, platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """NVIDIA's container tool reaches nothing of the host's driver, and nobody shows that it works there."""
    return card is None and jetson is None and platform is None


@rule("gpu-fell-off-bus", "possible")
def node_gives_fewer_than_it_has(said: Symptom = seen("node-hands-out-fewer-cards-than-it-has")) -> Verdict:
    """What the device plugin found ill it no longer hands out."""
    return 0 < int(said.gives) < int(said.has)


# -- jobs
@rule("slurm-gpu-binding-per-task", "likely")
def bound_task_names_a_card_of_its_own_number(job: JobRequest, _said: Symptom = seen("torch-invalid-device-id")) -> Verdict:  # fmt: skip
    """GPUs are bound to tasks, and a task is told to use one that is another's."""
    bound = job.get("binding", "none").partition(":")[0] in ("single", "closest", "map_gpu", "mask_gpu", "per_task")
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and (bound or bool(job.get("gpus_per_task"))) and {"have": per_node(job), **asking(tasks)}


@rule("slurm-ntasks-mismatch", "likely")
def ranks_count_on_different_worlds(_said: Symptom = seen("nccl-rank-counts-differ"), job: JobRequest = one()) -> Verdict:  # fmt: skip
    """Two ranks that met believe in different numbers of ranks."""
    return job.knows("tasks") or job.knows("tasks_per_node") or job.knows("nodes")


@rule("slurm-gpu-request-too-small", "likely")
def more_processes_than_cards(
    want: Symptom = seen("mpi-number-of-processes"), job: JobRequest = one(),
    _beyond: Symptom = seen("index-out-of-range-plain", "cuda-invalid-ordinal", "nccl-duplicate-gpu", "torch-invalid-device-id"),
) -> Verdict:  # fmt: skip
    """One process for each card is started, and one looks for a card that the job has not."""
    have, wanted = per_node(job), int(want.count)
    return have is not None and 0 < have < wanted and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-srun-missing", "likely")
def ranks_of_one_node_came(said: Symptom = seen("some-clients-joined"), job: JobRequest = one()) -> Verdict:
    """A launcher was started on the first of several nodes: exactly that node's ranks met."""
    nodes, came, world = job.get("nodes") or 1, int(said.came), int(said.world)
    alone = job.get("launcher") != "srun" and not job.get("interactive")
    return nodes > 1 and came * nodes == world and alone and {"total": nodes}


@rule("slurm-no-gpu-requested", "likely")
def counted_none_in_a_step_that_asks_for_none(torch: Torch = one(devices=0), job: JobRequest = one()) -> Verdict:
    """A command on a partition of GPUs, shown whole, that names none, and torch counts none."""
    numbers = any(job.get(name) for name in ("gpus", "gpus_per_node", "gpus_per_task", "asked"))
    cpu = torch.knows("cuda") and torch.cuda is None
    return not numbers and not cpu and not job.knows("script") and "gpu" in job.partition.lower() and {"partition": job.partition}  # fmt: skip


@rule("slurm-gpu-request-too-small", "likely")
def engine_counts_fewer_than_it_is_to_use(
    want: Symptom = seen("tensor-parallel-larger-than-cards", "vllm-world-too-large"), job: JobRequest = one()
) -> Verdict:
    """The program's message has both numbers, and the fewer are what the job was given."""
    have, wanted = per_node(job), int(want.count)
    return have == int(want.have) and (job.get("nodes") or 1) == 1 and {"have": have, **asking(wanted)}


@rule("slurm-gpu-binding-per-task", "likely")
def each_task_holds_another_card(
    _each: Symptom = seen("tasks-hold-one-card-each"),
    _beyond: Symptom = seen("cuda-invalid-ordinal", "torch-invalid-device-id", "lightning-devices-missing", "lightning-rank-beyond-devices"),
) -> Verdict:  # fmt: skip
    """Tasks print one card each, every one another, and some look for a card beyond it."""
    return {"option": "--gpus-per-node=N"}


@rule("slurm-ntasks-mismatch", "likely")
def tasks_start_a_launcher_each(
    job: JobRequest, _launcher: Symptom = seen("srun-starts-a-launcher"), _taken: Symptom = seen("address-in-use")
) -> Verdict:
    """A launcher starts the ranks of its node itself; several on one node meet at one port."""
    tasks = tasks_per_node(job) or 1
    return tasks > 1 and {"tasks": tasks, "devices": 1, "once": True}


@rule("slurm-ntasks-mismatch", "likely")
def workers_are_the_jobs_tasks_and_the_world_is_larger(
    want: Symptom = seen("more-workers-than-world"), job: JobRequest = one(launcher="srun")
) -> Verdict:
    """As many ranks came as srun starts, and each counts on more."""
    return int(want.workers) == total(job) < int(want.world) and {"tasks": int(want.workers), "devices": int(want.world)}  # fmt: skip


@rule("slurm-ntasks-mismatch", "likely")
def clients_are_the_jobs_tasks_and_more_are_waited_for(
    said: Symptom = seen("some-clients-joined"), job: JobRequest = one(launcher="srun")
) -> Verdict:
    """The same, by the rendezvous's own count."""
    came, world = int(said.came), int(said.world)
    return came == total(job) < world and {"tasks": came, "devices": world}


# -- programs
@rule("cuda-initialised-before-fork", "likely")
def forked_process_does_not_start_cuda(
    _process: Symptom = seen("forked-process-named"), _error: Symptom = seen("cuda-initialization-error", "cuda-not-initialized", "cuda-start-fails-with-3", "cuinit-not-initialised")
) -> Verdict:  # fmt: skip
    """The process bears the name that Python gives to one it forked, and CUDA does not start in it."""
    return True


@rule("library-clash-ld-library-path", "likely")
def module_brings_another_cudnn(
    said: Symptom = seen("cudnn-older-than-compiled", "cudnn-differs-from-built", "cudnn-differs-in-caffe2", "cudnn-parts-differ"), _module: Symptom = seen("cudnn-module-loaded"),
) -> Verdict:  # fmt: skip
    """The environment module that was loaded puts its cuDNN before the one that torch brings."""
    return {"said": said.id}


@rule("cuda-initialised-before-fork", "likely")
def loaders_processes_do_not_start(
    _error: Symptom = seen("cuda-initialization-error"), _gone: Symptom = seen("dataloader-worker-gone", "worker-process-failed", "worker-loop-failed")
) -> Verdict:  # fmt: skip
    """CUDA does not start in a process that a loader forked."""
    return True
