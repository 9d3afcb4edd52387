"""A framework that was built for the processor alone."""

from rigup.diagnosis.rule import Every, Verdict, every, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.told import Passes
from rigup.knowledge.framework_cuda import jax_extra
from rigup.knowledge.torch_builds import variant_for_pypi
from rigup.machine.kinds import (
    Driver,
    Gpu,
    Jetson,
    JobRequest,
    Package,
    Platform,
    Symptom,
    Torch,
    World,
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


def _for_cuda(name: str) -> bool:
    return name.startswith("jax-cuda")


def _built_for_cuda(package: Package) -> bool:
    return "cuda" in str(package.get("build") or "") or "+cu" in str(package.get("version"))


@rule("cpu-only-torch", "likely")
def weights_of_intels_card_and_torch_of_another_maker(
    symptom: Symptom = seen("xpu-weights-and-no-xpu"), torch: Torch = one()
) -> Verdict:
    """What was stored on Intel's GPU is loaded by a torch whose version names another backend."""
    local = str(torch.get("version")).partition("+")[2]
    return local.startswith(("cpu", "cu", "rocm")) and {"have": torch.version, "said": symptom.id}


@rule("cpu-only-torch", "likely")
def plain_torch_took_the_place_of_one_with_cuda(
    torch: Package = one(name="torch"), companion: Package = one(name=_COMPANIONS), _windows: Platform = one(system="windows"),
    symptom: Symptom = seen("voice-program-finds-no-card", tag="nvidia-finds-none"), works: Torch | None = one(available=True),
) -> Verdict:  # fmt: skip
    """For Windows only an index names its CUDA in the version: the companions still do, and torch came again without."""
    replaced = "+" not in str(torch.version) and "+cu" in str(companion.version)
    return works is None and replaced and {"torch": torch, "said": symptom.id}


@rule("cpu-only-torch", "likely")
def jax_sees_a_card_and_has_no_part_for_it(
    symptom: Symptom = seen("jax-sees-a-card-it-is-not-for"), failed: Symptom | None = seen(tag="jax-fails-on-cuda"), plugin: Package | None = one(name=Passes(_for_cuda)),
    lib: Package | None = one(name="jaxlib"), torch: Torch | None = one(available=True), job: JobRequest | None = None, driver: Driver | None = one(vendor="nvidia"),
    asked: Symptom | None = seen("jax-told-to-use-the-processor"),
) -> Verdict:  # fmt: skip
    """It looks for the card's node itself; where its own part for CUDA is there, that part has failed, and where torch has the card, nobody asked jax for it, nor where jax is told to compute on the processor."""
    built = "+cuda" in str((lib.get("version") if lib else None) or "")
    alone = failed is None and plugin is None and torch is None and job is None and asked is None and not built
    packages = jax_extra(str(driver.get("version") or "") if driver else "")
    return alone and not inside(symptom) and {"said": symptom.id, "framework": "JAX", "packages": packages}


@rule("cpu-only-torch", "likely")
def framework_for_the_processor_beside_a_card(
    symptom: Symptom = seen(*_FRAMEWORKS), _card: Gpu = one(vendor="nvidia"), jetson: Jetson | None = None, module: Symptom | None = seen(tag="jetson-named"),
    right: Package | None = one(name=("onnxruntime-gpu", "paddlepaddle-gpu")), fails: Symptom | None = seen(tag="onnxruntime-provider-fails"),
) -> Verdict:  # fmt: skip
    """What it was built for is the processor; on a machine without a card that is as it should be."""
    name, packages = _FRAMEWORKS[symptom.id]
    fits = all(part is None for part in (jetson, module, right, fails))
    return fits and {"said": symptom.id, "framework": name, "packages": packages}


@rule("cpu-only-torch", "likely")
def extension_wants_torch_with_cuda(
    _said: Symptom = seen("tcnn-finds-no-capability", "xformers-finds-no-cuda"),
    shown: Package | None = one(name="torch"),
    torch: Torch | None = one(),
) -> Verdict:
    """The extension's own setup asks torch for the card, and this torch has no CUDA."""
    version = str((torch.get("version") if torch else None) or (shown.get("version") if shown else None) or "")
    return version.endswith("+cpu") and {"have": version}


@rule("cpu-only-torch", "likely")
def build_for_the_processor_has_no_nccl(_said: Symptom = seen("torch-was-built-without-nccl"), torch: Torch = one(cuda=None, hip=None)) -> Verdict:  # fmt: skip
    """The build's own version tells that it is for the processor, and a group of GPUs is wanted of it."""
    return torch.knows("cuda") and not (torch.get("platform") or "").startswith("macos")


@rule("cpu-only-torch", "likely")
def build_for_a_gpu_goes_and_the_processors_comes(
    gone: Symptom = seen(tag="torch-replaced"), new: Package = one(manager="pip", name="torch"), platform: Platform | None = None,
    asked: Symptom | None = seen("pip-single-index", "index-url-of-torch"),
) -> Verdict:  # fmt: skip
    """Who had a build for a GPU means to use one; on Windows PyPI's is for the processor."""
    release, _, local = str(new.version).partition("+")
    windows = platform is not None and platform.get("system") == "windows" and not platform.get("wsl")
    plain = not local and windows and variant_for_pypi(release, "windows") == "cpu"
    wanted = asked is not None and "/whl/cpu" in str(asked.index)
    return (local == "cpu" or plain) and not wanted and {"have": gone.old, "other": new.version}


@rule("cpu-only-torch", "likely")
def conda_may_take_none_but_the_processors(
    choice: Package = one(manager="conda", name="_pytorch_select"), others: Every[Package] = every(Package), torch: Torch | None = None,
    mac: Symptom | None = seen(tag="macs"), asked: Platform | None = one(system="macos"),
) -> Verdict:  # fmt: skip
    """conda's own channel chooses by this package which torch its solver takes."""
    cpu = str(choice.get("build")).startswith("cpu")
    cuda = any(other.name in ("pytorch", "torch") and _built_for_cuda(other) for other in others)
    works = torch is not None and bool(torch.get("available") or torch.get("cuda") or torch.get("hip"))
    return cpu and not cuda and not works and mac is None and asked is None


@rule("cpu-only-torch", "possible")
def lightning_finds_no_backend_and_a_card_is_named(
    symptom: Symptom = seen("lightning-no-gpu-backend"), card: Symptom = seen(tag="card-named"), torch: Torch | None = None, driver: Driver | None = None,
    world: World | None = None, guest: Platform | None = one(wsl=(1, 2)), known: Symptom | None = seen("slurm-told", "slurm-told-in-small-letters", tag="nvidia-driver-silent nvidia-finds-none other-accelerators macs container-spoken-of"),
) -> Verdict:  # fmt: skip
    """torch answers Lightning that it has no CUDA, somebody has a card, and no driver complains."""
    has_backend = torch is not None and any(torch.get(key) for key in ("available", "cuda", "hip"))
    alone = all(other is None for other in (driver, world, guest, known))
    return alone and not has_backend and {"said": symptom.id, "named": card.id}
