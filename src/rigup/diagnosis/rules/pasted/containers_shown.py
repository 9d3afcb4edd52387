"""What containers' programs say beside the signs of an image or an engine, in whatever file these stand."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.knowledge.cuda import cuda_of_driver, version_key
from rigup.machine.kinds import ContainerEngine, Driver, Gpu, JobRequest, Platform, Symptom, Torch, Variable, World

_LIBRARY = ("libcuda-not-found", "cuda-driver-library-not-found", "torch-found-no-driver", "torch-found-no-driver-cut", "nvml-library-not-found", "tf-no-driver-in-kernel", "torch-tensorrt-reads-no-devices")  # fmt: skip
_IMAGE = ("traceback-through-an-image", "traceback-through-an-images-source", "traceback-through-an-images-code", "traceback-through-a-workspace", "manifest-of-a-cluster", "engine-of-clusters-shown", "engine-of-clusters-shown-by-its-new-name", "compose-file-names-a-container", "libraries-of-a-linuxserver-image", "image-for-cuda-named", "image-for-gpus-named", "image-of-last-named", "image-of-nvidia-named", "triton-server-speaks", "triton-backend-speaks")  # fmt: skip
_WORDS = ("docker-in-words", "container-in-words", "in-a-container-told")
_BARE = (
    "cpu-only-machine-told",
    "cpu-only-machine-told-with-a-dash",
    "has-no-gpu-in-words",
)  # no card, and nobody misses it
_COMMANDS = ("container-commands-shown", "podman-commands-shown")
_STARTED = (".sh", "nvcc", "ptxas", "gcc", "ffmpeg")  # what is refused here is to be run
_SYSTEM = ("/dev/", "/sys/", "/proc/", "/run/", "/var/run/", "/etc/", "/tmp/", "/root/", "/usr/bin/", "/lib/")


def _recent(version: str) -> bool:
    """Whether a driver carries one of the last two majors of CUDA, as most images want."""
    carried, newest = cuda_of_driver(version), cuda_of_driver("9" * 4)
    return bool(carried and newest) and version_key(str(newest))[0] - version_key(str(carried))[0] < 2


# -- started without GPUs
@rule("container-without-gpu", "likely")
def library_is_missed_beside_signs_of_an_image(
    said: Symptom = seen(*_LIBRARY), sign: Symptom = seen(*_IMAGE), driver: Driver | None = one(vendor="nvidia"), card: Gpu | None = one(seen_by="nvidia-smi"),
    asked: World | None = one(gpu_requested=True), torch: Torch | None = one(available=True), bare: Symptom | None = seen(*_BARE),
) -> Verdict:  # fmt: skip
    """The driver's library comes into a container with its GPUs; something shown beside the message is an image's or an engine's."""
    return all(part is None for part in (driver, card, asked, torch, bare)) and {"vendor": "nvidia", "said": said.id, "sign": sign.id}  # fmt: skip


@rule("container-without-gpu", "likely")
def library_is_missed_inside(
    said: Symptom = seen("libcuda-not-found", "tf-no-driver-in-kernel", "nvml-library-not-found", at="container"), driver: Driver | None = one(vendor="nvidia", at="container"),
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
    said: Symptom = seen("cuda-driver-insufficient"), sign: Symptom = seen(*_IMAGE, *_WORDS), driver: Driver | None = one(vendor="nvidia"), asked: World | None = one(gpu_requested=True),
    torch: Torch | None = one(available=True), wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """CUDA calls a driver too old of which it finds no library; the host's, where shown, is not old."""
    return (driver is None or _recent(str(driver.get("version")))) and all(part is None for part in (asked, torch, wsl)) and {"vendor": "nvidia", "said": said.id, "sign": sign.id}  # fmt: skip


@rule("container-without-gpu", "possible")
def program_of_an_image_finds_no_device(
    said: Symptom = seen("program-finds-no-gpu-device", "program-counts-no-gpus-of-those-asked-for", "cuda-no-device", "cuda-no-device-constant"), sign: Symptom = seen(*_IMAGE),
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


@rule("container-without-gpu", "possible")
def server_finds_none_in_an_inspected_container(
    said: Symptom = seen("ollama-finds-no-gpu"), _image: Symptom = seen("environment-of-an-image-inspected"), asked: World | None = one(gpu_requested=True),
) -> Verdict:  # fmt: skip
    """The image's variables are shown, which wish for GPUs, and the server finds none."""
    return asked is None and {"vendor": "nvidia", "said": said.id}


# -- Docker's other forms
@rule("docker-flavour-without-gpu", "likely")
def desktop_cannot_load_the_hosts_library(
    engine: ContainerEngine = one(flavour=("desktop", "snap")), said: Symptom = seen("container-tool-cannot-load-the-management-library")
) -> Verdict:  # fmt: skip
    """The message is cut, and the engine is one that does not see the host's libraries."""
    return bool(engine.flavour) and {"said": said.id}


@rule("docker-flavour-without-gpu", "likely")
def snap_does_not_know_the_runtime(
    _snap: Symptom = seen("docker-installed-as-a-snap", "docker-is-installed-as-a-snap"),
    said: Symptom = seen("docker-unknown-runtime", "runtime-name-unknown", "docker-no-device-driver", "container-cli-no-nvml-library", "engine-finds-no-nvidia-smi", "hook-not-started-by-snap"),
) -> Verdict:  # fmt: skip
    """Docker came as a snap, which has a world of its own."""
    return {"said": said.id}


# -- files
def _refused(said: Symptom) -> str:
    """The path of a refusal, unless it belongs to the system or is a program to be run."""
    path = str(said.get("path") or said.get("a") or said.get("b") or said.get("c"))
    return "" if path.startswith(_SYSTEM) or path.endswith(_STARTED) else path


@rule("container-files-root-owned", "possible")
def own_files_are_refused_inside(
    refused: Symptom = seen("writing-refused", "work-tree-refused"), owned: Symptom | None = seen("root-owned-entry")
) -> Verdict:
    """A program in a container may not write among its own files; what belongs to the system is another matter."""
    path = _refused(refused)
    return inside(refused) and bool(path) and {"path": path, "seen": owned is not None}


@rule("container-files-root-owned", "possible")
def files_are_refused_beside_signs_of_an_image(
    refused: Symptom = seen("writing-refused", "work-tree-refused"),
    sign: Symptom = seen(*_IMAGE, *_COMMANDS, "home-of-an-image-shown"),
) -> Verdict:
    """The same, where only something beside the refusal is an image's or an engine's; a person's home may be the host's."""
    path = _refused(refused)
    home = sign.id in _COMMANDS and path.startswith(("/home/", "/Users/", "C:"))
    return bool(path) and not home and {"path": path, "sign": sign.id}


@rule("container-files-root-owned", "likely")
def notebook_is_refused_where_root_owns(
    refused: Symptom = seen("notebook-file-refused"), owned: Symptom = seen("root-owned-entry")
) -> Verdict:
    """A notebook cannot be made, and the folder, or one above it, is root's."""
    entry = owned.entry.rstrip("/").rpartition("/")[2]
    return (entry in (".", "") or entry in refused.path.split("/")) and {"path": refused.path, "owner": "root"}
