"""A program in a container finds no GPU, by what it and the tools beside it say."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.pasted.heard import (
    CONTAINERS_IN_WORDS,
    CONTAINERS_TOLD,
    IMAGES_SHOWN,
    WSL_SPOKEN_OF,
)
from rigup.diagnosis.rules.program import CUDA_MASK
from rigup.diagnosis.rules.told import INTEL_FINDS_NONE, WORKS_INSIDE, Told
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import (
    DeviceNode,
    Driver,
    Gpu,
    JobRequest,
    KernelModule,
    Platform,
    Symptom,
    Torch,
    Variable,
    World,
)

_NO_GPU = ("cuda-no-device", "cuda-no-device-constant", "program-finds-no-visible-gpu", "jax-cuda-not-there", "vllm-no-device-type", "sglang-no-accelerator", "program-finds-no-cuda-devices")  # fmt: skip
_LIBRARY = ("libcuda-not-found", "cuda-driver-library-not-found", "torch-found-no-driver", "torch-found-no-driver-cut", "nvml-library-not-found", "tf-no-driver-in-kernel", "torch-tensorrt-reads-no-devices", "program-finds-no-library-of-the-driver", "cudarc-finds-no-library-of-the-driver")  # fmt: skip
_WORDS = ("docker-in-words", "container-in-words", "in-a-container-told")
_BARE = (
    "cpu-only-machine-told",
    "cpu-only-machine-told-with-a-dash",
    "has-no-gpu-in-words",
)  # no card, and nobody misses it
_WITHOUT = ("torch-found-no-driver", "nvidia-smi-not-installed", "libcuda-not-found", "tf-no-driver-in-kernel")


def _recent(version: str) -> bool:
    """Whether a driver carries one of the last two majors of CUDA, as most images want."""
    carried, newest = cuda_of_driver(version), cuda_of_driver("9" * 4)
    return bool(carried and newest) and version_key(str(newest))[0] - version_key(str(carried))[0] < 2


@rule("container-without-gpu", "possible")
def program_finds_no_device_inside(said: Symptom = seen("ggml-finds-no-device-for-rocm", at="container")) -> Verdict:
    """Nothing else is told: mostly the nodes were not handed in."""
    return {"vendor": "amd", "said": said.id}


@rule("container-without-gpu")
def trace_finds_no_node_inside(_said: Symptom = seen("kfd-not-there-by-a-trace", at="container")) -> Verdict:
    """The node was not handed in."""
    return {"vendor": "amd"}


@rule("container-without-gpu", "likely")
def trace_finds_no_node_for_root_of_a_container(
    said: Symptom = seen("kfd-not-there-by-a-trace"), _box: Symptom = seen("container-root-prompt")
) -> Verdict:
    """The prompt is that of a container."""
    return {"vendor": "amd", "said": said.id}


@rule("container-without-gpu", "possible")
def node_is_missing_inside_as_people_say(
    said: Symptom = seen("kfd-missing-told"), boxed: Symptom = seen(*CONTAINERS_TOLD),
) -> Verdict:  # fmt: skip
    """A person misses the node, and speaks of a container."""
    return {"said": said.id, "where": boxed.id, "vendor": "amd"}


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


@rule("container-without-gpu", "likely")
def runtime_of_cuda_finds_no_library_inside(
    error: Symptom = seen("cuda-driver-insufficient", "paddle-device-not-set", at="container"), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """CUDA calls a driver too old of which it finds no library; the engine refuses images that want a newer one."""
    return driver is None and card is None and {"vendor": "nvidia", "said": error.id}


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


@rule("container-without-gpu", "likely")
def server_of_an_image_finds_none_beside_a_card(
    error: Symptom = seen("ollama-finds-no-gpu", at="container"), card: Gpu = one(vendor="nvidia"), asked: World | None = one(at="container", gpu_requested=True),
) -> Verdict:  # fmt: skip
    """A tool of the host lists a card, and the server in the container none."""
    return asked is None and bool(card.get("seen_by") or card.get("uuid")) and {"vendor": "nvidia", "said": error.id}


@rule("container-without-gpu")
def image_found_no_driver(
    _said: Symptom = seen("image-found-no-driver"), works: Symptom | None = seen(*WORKS_INSIDE), torch: Torch | None = one(available=True),
    asked: World | None = one(at="container", gpu_requested=True), wsl: Platform | None = one(wsl=(1, 2)), spoken: Symptom | None = seen(*WSL_SPOKEN_OF),
) -> Verdict:  # fmt: skip
    """It looks for a node that Windows has none of: older images say so in every WSL, however their GPUs do."""
    idle = asked is not None and (wsl is not None or spoken is not None)
    return works is None and torch is None and not idle and {"option": "--gpus=all"}


@rule("container-without-gpu", "likely")
def trace_finds_the_module_and_no_node(
    _missed: Symptom = seen("trace-misses-nvidias-node", "nvidia-nodes-not-there"), _module: KernelModule = one(name="nvidia", loaded=True),
    where: Symptom | None = seen("lxd-named", "container-detected", "docker-in-words", *CONTAINERS_IN_WORDS), world: World | None = one(container=Told(bool)),
    refused: Symptom | None = seen("trace-may-not-make-nvidias-node"),
) -> Verdict:  # fmt: skip
    """All containers see the host's module; its nodes come to those alone that were given the GPU, and no other may make them."""
    return any(part is not None for part in (where, world, refused)) and {"vendor": "nvidia"}


@rule("container-without-gpu", "likely")
def nodes_of_a_host_are_not_in_its_container(
    gone: Symptom = seen("nvidia-nodes-not-there"), _box: Symptom = seen("lxc-configured", "container-entered"), _node: DeviceNode = one(path="/dev/nvidiactl"),
    works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The host lists them, and what is entered or configured beside it has none."""
    return works is None and {"vendor": "nvidia", "said": gone.id}


@rule("container-without-gpu", "likely")
def library_is_missed_beside_signs_of_an_image(
    said: Symptom = seen(*_LIBRARY), sign: Symptom = seen(*IMAGES_SHOWN), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(seen_by="nvidia-smi"),
    asked: World | None = one(gpu_requested=True), torch: Torch | None = one(available=True), bare: Symptom | None = seen(*_BARE),
) -> Verdict:  # fmt: skip
    """The driver's library comes into a container with its GPUs; something shown beside the message is an image's or an engine's."""
    return all(part is None for part in (driver, card, asked, torch, bare)) and {"vendor": "nvidia", "said": said.id, "sign": sign.id}  # fmt: skip


@rule("container-without-gpu", "likely")
def library_is_missed_inside(
    said: Symptom = seen("libcuda-not-found", "tf-no-driver-in-kernel", "nvml-library-not-found", "program-finds-no-library-of-the-driver", at="container"), driver: Driver | None = one(vendor="nvidia", at="container"),
    asked: World | None = one(at="container", gpu_requested=True), torch: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """The same, where the message itself stands in a container, whatever the host shows."""
    return all(part is None for part in (driver, asked, torch)) and {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "likely")
def server_that_lives_in_an_image_finds_none(
    said: Symptom = seen("cuda-no-device", "torch-tensorrt-reads-no-devices"), _server: Symptom = seen("triton-server-speaks", "triton-backend-speaks"), asked: World | None = one(gpu_requested=True),
    mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """Triton is started from NVIDIA's image nearly always, and the image finds no GPU."""
    return asked is None and mask is None and {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "possible")
def engine_finds_no_platform_inside(
    said: Symptom = seen("vllm-unspecified-platform", "program-finds-no-gpu-device", "program-counts-no-gpus-of-those-asked-for"), card: Gpu | None = None, torch: Torch | None = None,
    mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"), asked: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """A program made for GPUs finds no maker's, in a container."""
    return (
        inside(said)
        and all(part is None for part in (card, torch, mask, asked))
        and {"vendor": "nvidia", "said": said.id}
    )


@rule("container-without-gpu", "likely")
def driver_is_called_too_old_in_an_image(
    said: Symptom = seen("cuda-driver-insufficient"), sign: Symptom = seen(*IMAGES_SHOWN, *_WORDS), driver: Driver | None = one(vendor="nvidia"), asked: World | None = one(gpu_requested=True),
    torch: Torch | None = one(available=True), wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """CUDA calls a driver too old of which it finds no library; the host's, where shown, is not old."""
    return (driver is None or _recent(str(driver.get("version")))) and all(part is None for part in (asked, torch, wsl)) and {"vendor": "nvidia", "said": said.id, "sign": sign.id}  # fmt: skip


@rule("container-without-gpu", "possible")
def program_of_an_image_finds_no_device(
    said: Symptom = seen("program-finds-no-gpu-device", "program-counts-no-gpus-of-those-asked-for", "cuda-no-device", "cuda-no-device-constant"), sign: Symptom = seen(*IMAGES_SHOWN),
    card: Gpu | None = None, job: JobRequest | None = None, asked: World | None = one(gpu_requested=True), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """An engine is shown to start the program, and it is not told to hand on a GPU."""
    return all(part is None for part in (card, job, asked, mask)) and {
        "vendor": "nvidia",
        "said": said.id,
        "sign": sign.id,
    }


@rule("container-without-gpu", "possible")
def library_is_missed_where_somebody_speaks_of_containers(
    said: Symptom = seen(*_LIBRARY), sign: Symptom = seen(*_WORDS), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(seen_by="nvidia-smi"),
    asked: World | None = one(gpu_requested=True), torch: Torch | None = one(available=True), wsl: Platform | None = one(wsl=(1, 2)), bare: Symptom | None = seen(*_BARE),
) -> Verdict:  # fmt: skip
    """As above, where a container is only named in words."""
    return all(part is None for part in (driver, card, asked, torch, wsl, bare)) and {"vendor": "nvidia", "said": said.id, "sign": sign.id}  # fmt: skip


@rule("container-without-gpu", "likely")
def none_is_found_where_no_node_is(
    said: Symptom = seen(*INTEL_FINDS_NONE, "opencl-finds-no-platform"), gone: Symptom = seen("render-nodes-not-there", at="container")
) -> Verdict:  # fmt: skip
    """A container without the nodes by which Intel's cards are reached."""
    return {"vendor": "intel", "option": "--device=/dev/dri", "said": said.id, "gone": gone.id}


@rule("container-without-gpu", "possible")
def processors_alone_are_listed_in_a_container(said: Symptom = seen("sycl-lists-processors-alone", at="container")) -> Verdict:  # fmt: skip
    """oneAPI's own list has processors alone."""
    return {"vendor": "intel", "option": "--device=/dev/dri", "said": said.id}


@rule("container-without-gpu", "possible")
def module_is_loaded_and_no_node_is_there(
    _module: KernelModule = one(name="nvidia", loaded=True), nodes: Symptom = seen("nvidia-nodes-not-there"), said: Symptom = seen(*NO_CUDA, "nvtop-has-nothing-to-watch"),
    platform: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """lsmod shows the host's modules from within a container too; the nodes were not handed in."""
    return platform is None and {"vendor": "nvidia", "said": said.id, "nodes": nodes.id}


@rule("container-without-gpu", "likely")
def image_of_a_job_finds_no_driver(
    _image: Symptom = seen("pyxis-image-named"), said: Symptom = seen("torch-found-no-driver", "nvidia-smi-not-installed", "libcuda-not-found")
) -> Verdict:  # fmt: skip
    """enroot passes GPUs only to images that ask for them by their variables."""
    return {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "likely")
def pod_misses_what_its_kernel_has(
    said: Symptom = seen(*_WITHOUT), pod: Symptom = seen("pod-is-described"), given: Symptom | None = seen("pod-was-given-gpus"), asked: World | None = one(gpu_requested=True),
    _module: KernelModule = one(name="nvidia", loaded=True),
) -> Verdict:  # fmt: skip
    """The node's kernel, which its pods share, has the driver; in the pod are neither its library nor its tool."""
    return given is None and asked is None and {"vendor": "nvidia", "said": said.id, "sign": pod.id}


@rule("container-without-gpu", "likely")
def node_is_not_there_in_a_container_that_was_entered(
    error: Symptom = seen("kfd-not-there"), entered: Symptom = seen("container-entered", "lxc-configured")
) -> Verdict:
    """No such file, by a program that was started in a container."""
    return {"vendor": "amd", "said": error.id, "where": entered.id}


@rule("container-without-gpu", "possible")
def engine_does_not_let_the_node_be_opened(
    error: Symptom = seen("kfd-not-permitted"), entered: Symptom | None = seen("container-entered", "lxc-configured", "kfd-handed-in")
) -> Verdict:  # fmt: skip
    """The node is there and the system refuses it to everybody: an engine's list of devices does not have it."""
    return (entered is not None or inside(error)) and {"vendor": "amd", "said": error.id}


@rule("container-without-gpu", "likely")
def container_has_no_node_of_nvidia(
    none: Symptom = seen("no-node-of-nvidia-in-the-container"), _card: Gpu = one(vendor="nvidia"), windows: Platform | None = one(system="windows"),
) -> Verdict:  # fmt: skip
    """The host has a card, and somebody counts no node of it inside. In a WSL there are none anywhere."""
    return windows is None and {"vendor": "nvidia", "said": none.id}


@rule("container-without-gpu", "likely")
def runtime_of_intels_does_not_start_in_a_container(
    said: Symptom = seen("xpu-runtime-does-not-start"), where: Symptom = seen(*CONTAINERS_TOLD), listed: Symptom | None = seen("xpu-lists-a-card"),
) -> Verdict:  # fmt: skip
    """The same where the words tell of a container."""
    return listed is None and {"option": "--device=/dev/dri", "said": said.id, "where": where.id}
