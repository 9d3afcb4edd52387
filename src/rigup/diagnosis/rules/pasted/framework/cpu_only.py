"""A framework that was built for the processor alone."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.directml import DIRECTML_USED
from rigup.diagnosis.rules.driver import NO_CUDA, SILENT
from rigup.diagnosis.rules.framework import worth_a_build
from rigup.diagnosis.rules.pasted.heard import (
    CONTAINERS_TOLD,
    GPU_WANTED,
    TORCH_ASKED,
    TORCH_GOES,
    TORCH_KNOWN,
    TORCH_ON_PROCESSOR,
)
from rigup.diagnosis.rules.told import GPU_NOT_USED, MACS, OTHER_ACCELERATORS, Told
from rigup.knowledge.cuda import driver_carries
from rigup.knowledge.framework_cuda import jax_extra
from rigup.knowledge.torch_builds import variant_for_pypi
from rigup.machine.kinds import (
    Driver,
    Gpu,
    Jetson,
    JobRequest,
    Package,
    PciDevice,
    Platform,
    Symptom,
    Toolkit,
    Torch,
    Variable,
    World,
)

_TORCH_PROGRAMS = (
    "torch-program-named",
    "comfyui-named",
    "sdnext-named",
    "stable-diffusion-named",
    "webui-script-named",
)
_COMPANIONS = ("torchvision", "torchaudio")
_FRAMEWORKS = {
    "paddle-for-the-processor": ("PaddlePaddle", "paddlepaddle-gpu"),
    "paddle-of-the-processors-version": ("PaddlePaddle", "paddlepaddle-gpu"),
    "onnxruntime-offers-no-cuda": ("onnxruntime", "onnxruntime-gpu"),
    "onnxruntime-cpu-alone": ("onnxruntime", "onnxruntime-gpu"),
    "ctranslate2-for-the-processor": ("CTranslate2", "ctranslate2"),
    "mxnet-for-the-processor": ("MXNet", "mxnet-cu112"),
    "mxnet-storage-for-the-processor": ("MXNet", "mxnet-cu112"),
}
_PROVIDER_FAILS = (
    "onnxruntime-cuda-provider", "onnxruntime-cuda-provider-cut", "onnxruntime-part-not-loaded", "onnxruntime-wants-libraries", "onnxruntime-tensorrt-provider",
)  # fmt: skip
_JAX_FAILS = (*SILENT, "wsl-access-blocked", "jax-plugin-fails", "jax-plugin-configuration", "jax-cuda-not-there", "cuda-no-device", "cuda-no-device-constant", "libcuda-not-found")  # fmt: skip
_MODULE = ("jetson-in-words", "jetpack-of-an-image", "tegra-kernel-shown", "l4t-package-shown", "jetson-image-named")
_NAMED = ("graphics-card-on-a-line", "nvidia-geforce-named")


def _for_cuda(name: str) -> bool:
    return name.startswith("jax-cuda")


def _built_for_cuda(package: Package) -> bool:
    return "cuda" in str(package.get("build") or "") or "+cu" in str(package.get("version"))


@rule("cpu-only-torch", "likely")
def runtime_of_models_offers_no_rocm(
    said: Symptom = seen("onnxruntime-offers-no-rocm"), card: Gpu | None = one(vendor="amd"), named: Symptom | None = seen("amd-radeon-named", "amd-rx-named", "instinct-named-by-number", "rocm-named-in-lower-case"),
) -> Verdict:  # fmt: skip
    """Programs name every provider that there is; that one for ROCm is missing tells where a card of AMD's is meant."""
    meant = card is not None or named is not None
    return meant and {**said.values(), "framework": "onnxruntime", "packages": "onnxruntime-rocm"}


@rule("cpu-only-torch", "possible")
def program_on_windows_computes_on_the_processor(
    platform: Platform = one(system="windows"), _said: Symptom = seen("runs-on-cpu-told", "gpu-not-seen-told"), _program: Symptom = seen(*_TORCH_PROGRAMS),
    card: Gpu = one(vendor="amd"), torch: Torch | None = None, works: Symptom | None = seen("works-told"),
) -> Verdict:  # fmt: skip
    """PyPI's torch for Windows is a CPU build, and what such programs install unless told otherwise."""
    plain = torch is None or not (torch.get("hip") or torch.get("cuda"))
    return works is None and plain and not platform.get("wsl") and card.get("vendor") == "amd"


@rule("cpu-only-torch", "likely")
def conda_plans_a_cpu_build_for_a_toolkit(
    _plan: Symptom = seen("conda-plans-cpu-build", "conda-downloads-cpu-build"), _asked: Symptom = seen("conda-wants-cuda", "cpu-build-came-told", *GPU_NOT_USED),
) -> Verdict:  # fmt: skip
    """What conda is about to install, or has, is not what somebody asked for."""
    return True


@rule("cpu-only-torch", "likely")
def torch_denies_cuda_beside_its_driver(_no: Symptom = seen("torch-says-built-without-cuda"), driver: Driver = one(vendor="nvidia")) -> Verdict:  # fmt: skip
    """A program prints torch's own answer on a machine with NVIDIA's driver."""
    return bool(driver.vendor)


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


@rule("cpu-only-torch", "likely")
def conda_plans_a_cpu_build_and_a_program_wants_cuda(
    _plan: Symptom = seen("conda-plans-cpu-build"), _wanted: Symptom = seen("yolo-invalid-cuda", "torch-not-compiled-with-cuda", "lightning-accelerator-unavailable"),
    torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """What conda installs is for processors, and a program asks for CUDA."""
    return torch is None


@rule("cpu-only-torch", "likely")
def lightning_wants_a_gpu_of_a_cpu_build(
    _said: Symptom = seen("lightning-accelerator-unavailable"), shown: Symptom = seen("torch-cpu-version-told"), torch: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The version names the build, and the trainer finds no accelerator."""
    return torch is None and bool(shown.version)


@rule("cpu-only-torch", "likely")
def pip_took_a_wheel_without_cuda(
    _taken: Symptom = seen("pip-takes-a-small-torch"), card: Gpu | None = one(vendor="nvidia"), driver: Driver | None = one(vendor="nvidia"),
    torch: Torch | None = one(cuda=Told(bool)), answered: Torch | None = one(available=False),
) -> Verdict:  # fmt: skip
    """A wheel of 200 MB has no code for any GPU: with CUDA it would be ten times as large."""
    return torch is None and bool(card or driver or answered) and (card is None or worth_a_build(card))


@rule("cpu-only-torch", "possible")
def build_for_processors_beside_a_toolkit(
    torch: Torch, toolkit: Toolkit | None = one(name="cuda"), nvcc: Symptom | None = seen("nvcc-answers"), card: Gpu | None = None,
    none: Symptom | None = seen("report-without-a-gpu"), other: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """A report that is cut off before it says what it sees: somebody shows the compiler that the build has no use for."""
    cpu = torch.knows("version", "cuda") and torch.cuda is None and str(torch.version).endswith("+cpu")
    shown = bool(toolkit or nvcc) and card is None and none is None
    return cpu and shown and not torch.knows("available") and other is None


@rule("cpu-only-torch", "likely")
def build_for_processors_beside_a_driver(
    torch: Torch, driver: Driver = one(vendor="nvidia"), card: Gpu | None = None, other: Torch | None = one(cuda=Told(bool)),
) -> Verdict:  # fmt: skip
    """The cards nobody shows; the driver is there for one."""
    cpu = torch.knows("cuda") and torch.cuda is None and torch.get("hip") is None
    own = "+xpu" not in str(torch.get("version")) and not torch.get("available")
    return cpu and own and card is None and other is None and bool(driver.get("version"))


@rule("cpu-only-torch", "likely")
def build_for_processors_and_a_program_that_wants_cuda(
    torch: Torch, _wanted: Symptom = seen("cuda-wanted-by-a-program"), card: Gpu | None = None, other: Torch | None = one(cuda=Told(bool)),
    bus: PciDevice | None = None,
) -> Verdict:  # fmt: skip
    """A program tells that it was asked for CUDA and goes on without; where the bus was looked at and has no card, it has to."""
    if card is None and bus is not None:
        return False
    cpu = torch.knows("version", "cuda") and torch.cuda is None and str(torch.version).endswith("+cpu")
    return cpu and other is None and (card is None or worth_a_build(card))


@rule("cpu-only-torch", "likely")
def weights_of_intels_card_and_torch_of_another_maker(
    said: Symptom = seen("xpu-weights-and-no-xpu"), torch: Torch = one()
) -> Verdict:
    """What was stored on Intel's GPU is loaded by a torch whose version names another backend."""
    local = str(torch.get("version")).partition("+")[2]
    return local.startswith(("cpu", "cu", "rocm")) and {"have": torch.version, "said": said.id}


@rule("cpu-only-torch", "likely")
def plain_torch_took_the_place_of_one_with_cuda(
    torch: Package = one(name="torch"), companion: Package = one(name=_COMPANIONS), _windows: Platform = one(system="windows"),
    said: Symptom = seen("voice-program-finds-no-card", *NO_CUDA), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """For Windows only an index names its CUDA in the version: the companions still do, and torch came again without."""
    replaced = "+" not in str(torch.version) and "+cu" in str(companion.version)
    return works is None and replaced and {"torch": torch, "said": said.id}


@rule("cpu-only-torch", "likely")
def jax_sees_a_card_and_has_no_part_for_it(
    said: Symptom = seen("jax-sees-a-card-it-is-not-for"), failed: Symptom | None = seen(*_JAX_FAILS), plugin: Package | None = one(name=Told(_for_cuda)),
    lib: Package | None = one(name="jaxlib"), torch: Torch | None = one(available=True), job: JobRequest | None = None, driver: Driver | None = one(vendor="nvidia"),
    asked: Symptom | None = seen("jax-told-to-use-the-processor"),
) -> Verdict:  # fmt: skip
    """It looks for the card's node itself; where its own part for CUDA is there, that part has failed, and where torch has the card, nobody asked jax for it, nor where jax is told to compute on the processor."""
    built = "+cuda" in str((lib.get("version") if lib else None) or "")
    alone = failed is None and plugin is None and torch is None and job is None and asked is None and not built
    packages = jax_extra(str(driver.get("version") or "") if driver else "")
    return alone and not inside(said) and {"said": said.id, "framework": "JAX", "packages": packages}


@rule("cpu-only-torch", "likely")
def framework_for_the_processor_beside_a_card(
    said: Symptom = seen(*_FRAMEWORKS), _card: Gpu = one(vendor="nvidia"), jetson: Jetson | None = None, module: Symptom | None = seen(*_MODULE),
    right: Package | None = one(name=("onnxruntime-gpu", "paddlepaddle-gpu")), fails: Symptom | None = seen(*_PROVIDER_FAILS),
) -> Verdict:  # fmt: skip
    """What it was built for is the processor; on a machine without a card that is as it should be."""
    name, packages = _FRAMEWORKS[said.id]
    fits = all(part is None for part in (jetson, module, right, fails))
    return fits and {"said": said.id, "framework": name, "packages": packages}


@rule("cpu-only-torch", "likely")
def extension_wants_torch_with_cuda(
    _said: Symptom = seen("tcnn-finds-no-capability", "xformers-finds-no-cuda"),
    shown: Package | None = one(name="torch"),
    torch: Torch | None = one(),
) -> Verdict:
    """The extension's own setup asks torch for the card, and this torch has no CUDA."""
    version = str((torch.get("version") if torch else None) or (shown.get("version") if shown else None) or "")
    return version.endswith("+cpu") and {"have": version}


@rule("cpu-only-torch", "possible")
def conda_was_asked_for_a_toolkit_and_torch_sees_none(
    asked: Symptom = seen("conda-wants-cuda"), torch: Torch = one(available=False), driver: Driver = one(vendor="nvidia"), gpu: Gpu | None = one(vendor=("amd", "intel")),
    other: Symptom | None = seen("torch-driver-too-old", "cuda-999", "cuda-999-constant", "cuda-999-runtime", "cuda-init-failed-no-gpu", "torch-found-no-driver"), mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """The driver answers and carries what was asked for, and no message tells of another fault: conda mostly chose the build for the processor."""
    told = torch.get("cuda") or torch.get("hip") or gpu is not None or other is not None or mask is not None
    return not told and driver_carries(driver.version, str(asked.get("want"))) is not False and {"said": asked.id}


@rule("cpu-only-torch", "likely")
def build_for_the_processor_has_no_nccl(_said: Symptom = seen("torch-was-built-without-nccl"), torch: Torch = one(cuda=None, hip=None)) -> Verdict:  # fmt: skip
    """The build's own version tells that it is for the processor, and a group of GPUs is wanted of it."""
    return torch.knows("cuda") and not (torch.get("platform") or "").startswith("macos")


@rule("cpu-only-torch", "likely")
def build_for_a_gpu_goes_and_the_processors_comes(
    gone: Symptom = seen(*TORCH_GOES), new: Package = one(manager="pip", name="torch"), platform: Platform | None = None,
    asked: Symptom | None = seen("pip-single-index", "index-url-of-torch"),
) -> Verdict:  # fmt: skip
    """Who had a build for a GPU means to use one; on Windows PyPI's is for the processor."""
    release, _, local = str(new.version).partition("+")
    windows = platform is not None and platform.get("system") == "windows" and not platform.get("wsl")
    plain = not local and windows and variant_for_pypi(release, "windows") == "cpu"
    wanted = asked is not None and "/whl/cpu" in str(asked.index)
    return (local == "cpu" or plain) and not wanted and {"have": gone.old, "other": new.version}


@rule("cpu-only-torch", "likely")
def installed_from_the_index_for_processors(
    index: Symptom = seen("index-url-of-torch", "pip-single-index", "requirements-name-an-index"), torch: Torch = one(available=False),
    gpu: Gpu | None = one(vendor=("nvidia", "amd")), driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """The index that is named has builds for the processor alone; a card or its driver is shown beside it."""
    for_cpu = str(index.index).rstrip("/").endswith("/whl/cpu")
    return for_cpu and bool(gpu or driver) and not torch.get("cuda") and not torch.get("hip")


@rule("cpu-only-torch", "likely")
def distributions_package_for_processors(
    package: Symptom = seen("arch-torch-package"), card: Gpu = one(vendor=("nvidia", "amd")), torch: Torch = one(available=False)
) -> Verdict:  # fmt: skip
    """The plain one is for processors."""
    return not package.get("flavour") and card.get("integrated") is not True and torch.available is False


@rule("cpu-only-torch", "likely")
def pypis_wheel_for_arm_servers(
    torch: Torch = one(available=False), gpu: Gpu = one(vendor="nvidia"), platform: Platform = one(architecture=("aarch64", "arm64")), jetson: Jetson | None = None,
) -> Verdict:  # fmt: skip
    """For long PyPI had only builds for the processor there; the table knows until when."""
    plain = "+" not in torch.version and not torch.get("cuda") and platform.get("system") != "macos"
    return jetson is None and plain and variant_for_pypi(torch.version, "linux", "aarch64") == "cpu" and bool(gpu.vendor)  # fmt: skip


@rule("cpu-only-torch", "likely")
def accelerate_was_set_up_for_gpus(_kind: Symptom = seen("accelerate-configured-for-gpus"), torch: Torch = one(available=False), platform: Platform | None = one(system="macos")) -> Verdict:  # fmt: skip
    """Its own configuration counts on GPUs, and the torch beside it is a build for the processor."""
    none = torch.knows("cuda", "hip") and torch.cuda is None and torch.hip is None
    return platform is None and none and "+xpu" not in str(torch.get("version"))


@rule("cpu-only-torch", "likely")
def program_computes_on_the_processor_of_windows(
    said: Symptom = seen(*TORCH_ON_PROCESSOR, *GPU_WANTED), gpu: Gpu = one(vendor="nvidia"), _windows: Platform = one(system="windows"),
    torch: Torch | None = one(cuda=Told(bool)), works: Torch | None = one(available=True), other_way: Symptom | None = seen(*DIRECTML_USED),
    box: World | None = None, mask: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
) -> Verdict:  # fmt: skip
    """Its owner names a card of NVIDIA's, hides none, and what pip brings on Windows unasked has no code for it."""
    seen_all = mask is None or str(mask.get("value") or "").startswith("0")
    plain = seen_all and all(other is None for other in (torch, works, other_way, box))
    return plain and worth_a_build(gpu) and {"said": said.id}


@rule("cpu-only-torch", "possible")
def program_computes_on_the_processor_beside_a_card(
    said: Symptom = seen(*TORCH_ON_PROCESSOR), gpu: Gpu = one(vendor="nvidia"), torch: Torch | None = one(cuda=Told(bool)),
    silent: Symptom | None = seen(*SILENT, *NO_CUDA), other_way: Symptom | None = seen(*DIRECTML_USED), box: World | None = None, wsl: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """The same where nobody tells the system: elsewhere the driver may be the reason as well."""
    plain = all(other is None for other in (torch, silent, other_way, box, wsl))
    return plain and worth_a_build(gpu) and {"said": said.id}


@rule("cpu-only-torch", "likely")
def program_wants_a_gpu_of_a_build_for_processors(
    said: Symptom = seen(*GPU_WANTED), _build: Symptom = seen("torch-cpu-version-told"), torch: Torch | None = one(cuda=Told(bool)),
    other_way: Symptom | None = seen(*DIRECTML_USED),
) -> Verdict:  # fmt: skip
    """What was asked for needs a GPU, and a version that is shown says for what torch was built."""
    return torch is None and other_way is None and {"said": said.id}


@rule("cpu-only-torch", "possible")
def program_wants_a_gpu_on_windows(
    said: Symptom = seen(*TORCH_ASKED), _windows: Platform = one(system="windows"), gpu: Gpu | None = None, torch: Torch | None = None, world: World | None = None,
    known: Symptom | None = seen(*TORCH_KNOWN),
) -> Verdict:  # fmt: skip
    """What pip brings there unasked is a build for the processor."""
    return gpu is None and torch is None and world is None and known is None and {"said": said.id}


@rule("cpu-only-torch", "possible")
def program_wants_a_gpu_beside_a_card(
    said: Symptom = seen(*TORCH_ASKED), gpu: Gpu = one(vendor="nvidia"), torch: Torch | None = None, world: World | None = None,
    known: Symptom | None = seen(*TORCH_KNOWN), guest: Platform | None = one(wsl=(1, 2)),
) -> Verdict:  # fmt: skip
    """There is a card, and nothing is said of the driver: then torch itself is the first to ask."""
    plain = all(other is None for other in (torch, world, known, guest))
    return plain and worth_a_build(gpu) and {"said": said.id}


@rule("cpu-only-torch", "likely")
def conda_may_take_none_but_the_processors(
    choice: Package = one(manager="conda", name="_pytorch_select"), others: Every[Package] = every(Package), torch: Torch | None = None,
    mac: Symptom | None = seen(*MACS), asked: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """conda's own channel chooses by this package which torch its solver takes."""
    cpu = str(choice.get("build")).startswith("cpu")
    cuda = any(other.name in ("pytorch", "torch") and _built_for_cuda(other) for other in others)
    works = torch is not None and bool(torch.get("available") or torch.get("cuda") or torch.get("hip"))
    return cpu and not cuda and not works and mac is None and asked is None


@rule("cpu-only-torch", "possible")
def lightning_finds_no_backend_and_a_card_is_named(
    said: Symptom = seen("lightning-no-gpu-backend"), card: Symptom = seen(*_NAMED), torch: Torch | None = None, driver: Driver | None = None,
    world: World | None = None, guest: Platform | None = one(wsl=(1, 2)), known: Symptom | None = seen(*SILENT, *NO_CUDA, *OTHER_ACCELERATORS, *MACS, *CONTAINERS_TOLD, "slurm-told", "slurm-told-in-small-letters"),
) -> Verdict:  # fmt: skip
    """torch answers Lightning that it has no CUDA, somebody has a card, and no driver complains."""
    told = torch is not None and any(torch.get(key) for key in ("available", "cuda", "hip"))
    alone = all(other is None for other in (driver, world, guest, known))
    return alone and not told and {"said": said.id, "named": card.id}


@rule("cpu-only-torch", "likely")
def device_was_weighed_and_the_message_is_cut(
    torch: Torch = one(), _weighed: Symptom = seen("ultralytics-weighs-a-device-and-ends"), gpu: Gpu | None = None
) -> Verdict:
    """Its function that chooses a device ends with an error, and the head line names a build for the processor."""
    cpu = str(torch.version).endswith("+cpu") and not torch.get("available")
    return cpu and (gpu is None or worth_a_build(gpu))
