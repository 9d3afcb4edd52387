"""A container that was started, described or built without a GPU, by what was typed or written for it."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.driver import NO_CUDA
from rigup.diagnosis.rules.pasted.heard import (
    AMD_PROGRAMS_FIND_NONE,
    DRIVER_UNHEARD,
    GPU_WANTED,
    PROGRAM_STOPS,
    TORCH_ON_PROCESSOR,
)
from rigup.diagnosis.rules.told import GPU_NOT_USED, INTEL_FINDS_NONE, LISTS_WITHOUT, MACS
from rigup.machine.kinds import Gpu, JobRequest, Symptom, Torch, World

_NOTHING = ("torch-found-no-driver", "torch-no-cuda-gpus", "webui-torch-no-gpu", "libcuda-not-found", "cuda-driver-library-not-found", "cuda-driver-insufficient", "cuda-no-device", "cuda-no-device-constant", "paddle-device-not-set", "nvidia-smi-not-installed", "program-finds-no-library-of-the-driver", "cudarc-finds-no-library-of-the-driver")  # fmt: skip
_NO_GPU = (
    *TORCH_ON_PROCESSOR, *GPU_WANTED, "ollama-finds-no-gpu", "ollama-computes-on-cpu", "llama-told-of-layers-and-no-gpu", "tensor-core-program-finds-device-100",
    "tensorrt-init-by-number", "libcuda-not-found", "torch-runtime-of-cuda-not-found",
    "cuda-driver-insufficient", "torch-found-no-driver", "torch-no-cuda-gpus", "program-finds-no-cuda", "libcuda-of-no-name", "nvml-library-not-found",
    "tgi-finds-too-few-devices", "triton-finds-no-gpu", "ggml-vulkan-finds-no-device", "sample-counts-no-device", "triton-compiler-finds-no-driver",
)  # fmt: skip
_PROGRAMS = ("gromacs-task-finds-no-gpu", "lammps-finds-no-accelerator", "catboost-has-no-gpu-to-train-on", "tensorrt-starts-without-a-device", "paddle-detects-no-gpu")  # fmt: skip


@rule("container-without-gpu", "likely")
def nvidias_option_for_an_image_of_rocms(
    said: Symptom = seen("docker-no-device-driver"), image: Symptom = seen("rocm-image-composed", "rocm-image-run"), nvidia: Gpu | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """GPUs are asked for in a way that only NVIDIA's toolkit serves; a Radeon's nodes are handed in by name."""
    return nvidia is None and {
        "vendor": "amd",
        "option": "--device=/dev/kfd --device=/dev/dri",
        "said": said.id,
        "image": image.get("image"),
    }


@rule("container-without-gpu", "possible")
def node_is_commented_out(
    _line: Symptom = seen("compose-kfd-commented"), ended: Symptom = seen("container-exited", *AMD_PROGRAMS_FIND_NONE), given: Symptom | None = seen("kfd-handed-in"),
) -> Verdict:  # fmt: skip
    """The line that would pass the node on is a comment, and what runs inside ends."""
    return given is None and {"vendor": "amd", "said": ended.id}


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
def description_names_none_and_a_program_finds_none(
    world: World = one(gpu_requested=False, at="container"), said: Symptom = seen(*_NOTHING), none: Symptom | None = seen(*LISTS_WITHOUT)
) -> Verdict:  # fmt: skip
    """What describes the container asks for no GPU, and the program in it finds nothing of a driver, on a machine that may have a card."""
    mine = bool(world.container) and said.place.world != "host"
    return none is None and mine and {"vendor": "nvidia", "said": said.id}


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
def driver_was_mounted_by_hand(
    error: Symptom = seen(*DRIVER_UNHEARD, "nvidia-smi-no-library"),
    mounted: Symptom = seen("driver-files-mounted-by-hand"),
) -> Verdict:
    """The driver's files came in by hand; its nodes come only to a container that asks for GPUs."""
    return {"vendor": "nvidia", "said": error.id, "how": mounted.id}


@rule("container-without-gpu", "possible")
def server_finds_none_in_an_inspected_container(
    said: Symptom = seen("ollama-finds-no-gpu"), _image: Symptom = seen("environment-of-an-image-inspected"), asked: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """The image's variables are shown, which wish for GPUs, and the server finds none."""
    return asked is None and {"vendor": "nvidia", "said": said.id}


@rule("container-without-gpu", "likely")
def container_of_openvino_without_the_card(
    said: Symptom = seen(*INTEL_FINDS_NONE, "openvino-finds-no-gpu", "openvino-finds-no-platform"), world: World = one(gpu_requested=False),
    asked: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """The command that starts the container names no device, and the program in it finds none."""
    return asked is None and bool(world.container) and {"option": "--device=/dev/dri", "said": said.id}


@rule("container-without-gpu", "likely")
def engine_was_asked_for_none_of_them(
    asked: Symptom = seen("no-gpus-asked-for"), said: Symptom = seen("torch-found-no-driver", "torch-no-cuda-gpus", "nvidia-smi-not-installed", "cuda-no-device", *GPU_NOT_USED)
) -> Verdict:  # fmt: skip
    """The option wants a number of GPUs, and none is one of them; people mean the first."""
    return {"option": "--gpus=all", "asked": asked.id, "said": said.id}


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


@rule("container-without-gpu", "likely")
def program_stops_in_a_container_that_asked_for_none(_said: Symptom = seen(*PROGRAM_STOPS), world: World = one(gpu_requested=False)) -> Verdict:  # fmt: skip
    """The command that started the container names no GPU, and a program ends because it finds none."""
    return bool(world.get("container"))


@rule("container-without-gpu", "likely")
def composed_without_devices_and_on_the_processor(
    box: World = one(gpu_requested=False), said: Symptom = seen("ollama-computes-on-processor", "ollama-no-amd-device-left"),
    image: Symptom = seen("rocm-image-composed", "rocm-image-run"),
) -> Verdict:  # fmt: skip
    """An image for ROCm, a description that hands no node in, and a server that finds none."""
    return bool(box.get("container")) and {"vendor": "amd", "said": said.id, "image": image.get("image")}


@rule("container-without-gpu", "likely")
def its_container_was_started_without_gpus(
    said: Symptom = seen(*_NO_GPU), world: World = one(gpu_requested=False), asked: World | None = one(gpu_requested=True),
    rocm: Symptom | None = seen("rocm-named-in-lower-case"), amd: Gpu | None = one(vendor="amd", integrated=False), cpu: Symptom | None = seen("torch-cpu-version-told"),
    mac: Symptom | None = seen(*MACS), card: Gpu | None = one(vendor="nvidia"), none: Symptom | None = seen(*LISTS_WITHOUT),
) -> Verdict:  # fmt: skip
    """The command or file that starts the container asks for no GPU, and the program in it finds none.

    Who only says that it computes on the processor may be meant to, where nobody names a card.
    """
    vendor = "amd" if rocm is not None or amd is not None else "nvidia"
    alone = asked is None and cpu is None and mac is None and none is None
    meant = said.id in TORCH_ON_PROCESSOR and card is None
    return alone and not meant and bool(world.container) and {"said": said.id, "vendor": vendor}


@rule("container-without-gpu", "likely")
def container_was_given_no_node(
    none: Symptom = seen("container-was-made-without-nodes"),
    _card: Gpu = one(vendor="amd"),
    torch: Torch = one(available=False),
) -> Verdict:
    """The engine lists no device for it; torch for ROCm finds none inside, and the host's own list has the card."""
    return bool(torch.get("hip")) and {"vendor": "amd", "said": none.id}


@rule("container-without-gpu", "possible")
def container_of_a_host_with_a_card_was_given_no_node(
    none: Symptom = seen("container-was-made-without-nodes"), _card: Gpu = one(vendor="nvidia"), said: Symptom = seen(*NO_CUDA, *TORCH_ON_PROCESSOR, "cpu-alone-in-words"),
    asked: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """The same for NVIDIA's; what a description of CDI brings is not in that list everywhere."""
    return asked is None and {"vendor": "nvidia", "said": said.id, "list": none.id}


@rule("container-without-gpu", "likely")
def program_finds_none_in_a_container_that_was_given_none(
    error: Symptom = seen(*_PROGRAMS), world: World = one(gpu_requested=False)
) -> Verdict:
    """The command that started the container names no GPU."""
    mine = not error.place.world or error.place.world.startswith("container")
    return bool(world.get("container")) and mine and {"said": error.id}


@rule("container-without-gpu", "likely")
def another_container_of_the_host_has_its_cards(
    said: Symptom = seen("nvidia-smi-not-installed", "torch-found-no-driver", "torch-no-cuda-gpus", "cuda-no-device", "cuda-no-device-constant", "libcuda-not-found"),
    plain: Symptom = seen("container-run-without-a-word-of-gpus"), _other: Symptom = seen("table-from-a-container-with-gpus"),
) -> Verdict:  # fmt: skip
    """One container was started with GPUs, and nvidia-smi answers in it; another was started without a word of them."""
    return {"vendor": "nvidia", "said": said.id, "started": plain.id}
