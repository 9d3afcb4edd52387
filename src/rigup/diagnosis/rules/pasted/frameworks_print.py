"""What frameworks and programs print of their own build and of what they find, read beside what else is shown."""

from rigup.diagnosis.rule import Verdict, one, rule, seen
from rigup.diagnosis.rules.access import inside
from rigup.diagnosis.rules.compiled_for import left_behind, newer_than_most
from rigup.diagnosis.rules.driver import SILENT
from rigup.diagnosis.rules.told import Told
from rigup.knowledge.cuda import version_key
from rigup.knowledge.framework_cuda import jax_extra
from rigup.machine.kinds import Driver, Gpu, Jetson, JobRequest, Package, Platform, Symptom, Torch

_FRAMEWORKS = {
    "paddle-for-the-processor": ("PaddlePaddle", "paddlepaddle-gpu"),
    "paddle-of-the-processors-version": ("PaddlePaddle", "paddlepaddle-gpu"),
    "onnxruntime-offers-no-cuda": ("onnxruntime", "onnxruntime-gpu"),
    "onnxruntime-cpu-alone": ("onnxruntime", "onnxruntime-gpu"),
    "ctranslate2-for-the-processor": ("CTranslate2", "ctranslate2"),
    "mxnet-for-the-processor": ("MXNet", "mxnet-cu112"),
    "mxnet-storage-for-the-processor": ("MXNet", "mxnet-cu112"),
}
_PROGRAMS = {
    "xgboost-for-the-processor": "XGBoost",
    "lightgbm-for-the-processor": "LightGBM",
    "tvm-for-the-processor": "TVM",
    "candle-for-the-processor": "candle",
    "caffe-for-the-processor": "Caffe",
    "kaldi-for-the-processor": "Kaldi",
    "opencv-for-the-processor": "OpenCV",
    "opencv-networks-for-the-processor": "OpenCV",
    "gromacs-for-the-processor": "GROMACS",
    "colmap-for-the-processor": "COLMAP",
    "faiss-for-the-processor": "faiss",
    "dlib-for-the-processor": "dlib",
    "llama-for-the-processor": "llama.cpp",
}
_PROVIDER_FAILS = (
    "onnxruntime-cuda-provider", "onnxruntime-cuda-provider-cut", "onnxruntime-part-not-loaded", "onnxruntime-wants-libraries", "onnxruntime-tensorrt-provider",
)  # fmt: skip
_JAX_FAILS = (*SILENT, "wsl-access-blocked", "jax-plugin-fails", "jax-plugin-configuration", "jax-cuda-not-there", "cuda-no-device", "cuda-no-device-constant", "libcuda-not-found")  # fmt: skip
_MODULE = ("jetson-in-words", "jetpack-of-an-image", "tegra-kernel-shown", "l4t-package-shown", "jetson-image-named")
_UNKNOWN_CARD = ("nvvm-knows-no-such-card", "paddle-knows-no-such-card")
_FULL = 0.3  # share of a card that is left where others have taken it


def _for_cuda(name: str) -> bool:
    return name.startswith("jax-cuda")


# -- builds for the processor alone
@rule("cpu-only-torch", "likely")
def jax_sees_a_card_and_has_no_part_for_it(
    said: Symptom = seen("jax-sees-a-card-it-is-not-for"), failed: Symptom | None = seen(*_JAX_FAILS), plugin: Package | None = one(name=Told(_for_cuda)),
    lib: Package | None = one(name="jaxlib"), torch: Torch | None = one(available=True), job: JobRequest | None = None, driver: Driver | None = one(vendor="nvidia"),
) -> Verdict:  # fmt: skip
    """It looks for the card's node itself; where its own part for CUDA is there, that part has failed, and where torch has the card, nobody asked jax for it."""
    built = "+cuda" in str((lib.get("version") if lib else None) or "")
    alone = failed is None and plugin is None and torch is None and job is None and not built
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


@rule("pip-cuda-mix", "likely")
def onnxruntime_lies_over_its_own_build_for_the_card(
    said: Symptom = seen("onnxruntime-offers-no-cuda", "onnxruntime-cpu-alone"), _plain: Package = one(name="onnxruntime"), _gpu: Package = one(name="onnxruntime-gpu")
) -> Verdict:  # fmt: skip
    """Both packages write the same files, and the one for the processor came last."""
    return {"said": said.id}


@rule("binary-arch-missing", "likely")
def program_for_the_processor_beside_a_card(
    said: Symptom = seen(*_PROGRAMS), _card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """A build without any code for GPUs, where one is shown."""
    return {"said": said.id, "program": _PROGRAMS[said.id]}


# -- code for the card
@rule("binary-arch-missing", "likely")
def ctranslate2_multiplies_in_a_way_that_the_card_has_not(
    said: Symptom = seen("ctranslate2-product-not-supported"), card: Gpu = one(vendor="nvidia")
) -> Verdict:
    """Its products of whole numbers are laid out as older cards want them."""
    return newer_than_most(str(card.isa)) and {"said": said.id, "package": "ctranslate2"}


@rule("gpu-arch-older-than-wheel", "likely")
def toolkit_has_dropped_the_card(said: Symptom = seen(*_UNKNOWN_CARD)) -> Verdict:
    """Toolkits drop cards from below."""
    return left_behind(f"sm_{said.arch}") and {"isa": f"sm_{said.arch}"}


@rule("gpu-arch-newer-than-wheel", "likely")
def toolkit_is_older_than_the_card(said: Symptom = seen(*_UNKNOWN_CARD)) -> Verdict:
    """And come to know new ones with new releases."""
    return not left_behind(f"sm_{said.arch}") and {"isa": f"sm_{said.arch}"}


# -- libraries
@rule("library-clash-ld-library-path", "likely")
def julia_uses_a_library_of_the_systems_and_fails(
    said: Symptom = seen("julia-library-from-the-system"), _fails: Symptom = seen("julia-library-fails")
) -> Verdict:
    """Its own artifacts come with all libraries; a system's was found before them, and a call of such a library fails."""
    return {"lib": said.lib, "path": said.path}


@rule("cudnn-version-incompatible", "likely")
def tensorrt_loads_an_older_cudnn(said: Symptom = seen("tensorrt-loads-another-cudnn")) -> Verdict:
    """It says so of a newer one too, with which it works."""
    return version_key(said.found) < version_key(said.built) and {"built": said.built, "found": said.found}


# -- processes
@rule("slurm-ntasks-mismatch", "likely")
def program_counts_more_tasks_than_cards(
    _said: Symptom = seen("deepmd-counts-more-processes-than-gpus", "gromacs-counts-more-tasks-than-gpus"),
    _job: JobRequest = one(),
) -> Verdict:
    """A process for each task of the job, and fewer cards on the node."""
    return True


# -- memory
@rule("gpu-memory-held-by-others", "likely")
def jax_cannot_start_on_a_full_card(
    _said: Symptom = seen("jax-finds-memory-taken"), gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """Nothing was left for the libraries, and the driver's tool shows the card full."""
    return gpu.memory_used > (1 - _FULL) * gpu.vram and {"severity": "error"}


@rule("gpu-memory-held-by-others", "likely")
def catboost_starts_with_little(said: Symptom = seen("catboost-finds-little-free")) -> Verdict:
    """It tells what is free before it takes anything itself."""
    return int(said.free) < _FULL * int(said.total) and {"severity": "error"}


@rule("binary-arch-missing", "likely")
def program_takes_none_of_the_cards(
    said: Symptom = seen("gromacs-card-incompatible"), other: Symptom | None = seen("gromacs-card-compatible")
) -> Verdict:
    """A card that it has no code for; beside one that it takes, it draws the screen."""
    return other is None and {**said.values(), "program": "GROMACS"}


@rule("cuda-runtime-library-missing", "likely")
def kernels_are_compiled_when_used(
    said: Symptom = seen("gsplat-finds-no-toolkit"),
    mac: Platform | None = one(system="macos"),
    other: Gpu | None = one(vendor=("amd", "apple")),
) -> Verdict:
    """It compiles them by nvcc at its first use; on a Mac there is nothing to compile for."""
    return mac is None and other is None and {**said.values(), "program": "gsplat"}
