"""TensorFlow is installed without GPU support."""

import re

from rigup.diagnosis.rule import Every, Params, Passes, Verdict, every, mends, one, rule, seen, text_rule
from rigup.knowledge.conda_forge import any_with_cuda, channel
from rigup.knowledge.cuda import version_key
from rigup.knowledge.pythons import plain_tensorflow_for_processors, tensorflow_extra
from rigup.machine.kinds import (
    Driver,
    Gpu,
    LoaderEntry,
    Package,
    PathLibrary,
    Platform,
    PythonEnv,
    Symptom,
    TensorFlow,
    Torch,
    Variable,
    World,
)

_NOT_LINUX = ("windows", "macos")


@rule("tensorflow-cpu-build")
def built_without_cuda_on_linux(
    answered: TensorFlow = one(built_with_cuda=False), _platform: Platform = one(system="linux"), _gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """The package for the CPU, on a machine with a card."""
    return {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def built_without_cuda_in_a_hosted_notebook(
    answered: TensorFlow = one(built_with_cuda=False), _torch: Torch = one(available=True), _hosted: Symptom = seen(tag="hosted-notebook")
) -> Verdict:
    """Such notebooks run on Linux; torch shows that a GPU is there."""
    return {"version": answered.get("version")}


@rule("tensorflow-cpu-build", "likely")
def it_knows_no_device_and_says_no_reason(
    _said: Symptom = seen("tf-no-known-devices"),
    _told: Symptom = seen(tag="gpu-not-used"),
    named: Symptom | None = seen(tag="tf-misses tensorflow-refused"),
) -> Verdict:
    """A build with CUDA tells why it has no device; this one never looked for any."""
    return named is None


def _system(platform: Platform | None) -> str:
    return str(platform.get("system") or "linux") if platform else "linux"


@rule("tensorflow-cpu-build")
def the_package_for_the_cpu(
    package: Package = one(name="tensorflow-cpu"),
    _gpu: Gpu = one(vendor="nvidia"),
    platform: Platform | None = None,
    _driver: Driver = one(vendor="nvidia"),
    other: Package | None = one(name=("tensorflow", "tensorflow-gpu")),
) -> Verdict:
    """Its name says it."""
    return other is None and _system(platform) == "linux" and {"version": package.version}


@rule("tensorflow-cpu-build", "likely")
def libraries_of_its_extra_are_not_there(
    _said: Symptom = seen("tf-no-cuda-libraries", "tf-cannot-dlopen"),
    driver: Driver = one(vendor="nvidia"),
    platform: Platform | None = None,
    named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:
    """The driver is there, and TensorFlow finds no CUDA library beside it."""
    return named is None and _system(platform) != "windows" and bool(driver.get("version"))


@rule("tensorflow-cpu-build", "likely")
def it_counted_gpus_and_skipped_them(
    _said: Symptom = seen("tf-cannot-dlopen", "tf-skips-gpus"),
    platform: Platform | None = None,
    named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:
    """It comes to its libraries where the driver has counted a GPU; newer releases do not say which one is missing."""
    return named is None and _system(platform) == "linux"


@rule("tensorflow-cpu-build", "likely")
def somebody_has_a_card_and_it_finds_no_library(
    _said: Symptom = seen("tf-no-cuda-libraries"),
    gpu: Gpu = one(vendor="nvidia"),
    platform: Platform | None = None,
    named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:
    """On a machine without a GPU the same line is noise; here somebody names his card beside it."""
    return named is None and _system(platform) == "linux" and bool(gpu.fields)


@rule("tensorflow-cpu-build", "possible")
def somebody_misses_the_gpu_and_it_finds_no_library(
    _said: Symptom = seen("tf-no-cuda-libraries"),
    _told: Symptom = seen(tag="gpu-not-used"),
    platform: Platform | None = None,
    named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:
    """The same where the complaint alone shows that a GPU is there."""
    return named is None and _system(platform) == "linux"


@rule("tensorflow-cpu-build", "likely")
def it_sees_no_gpu_beside_a_driver(
    answered: TensorFlow = one(gpus=0),
    _driver: Driver = one(vendor="nvidia"),
    platform: Platform | None = None,
    named: Symptom | None = seen(tag="tf-misses"),
) -> Verdict:
    """It lists no GPU where the driver is there, and names no library that it misses."""
    return named is None and _system(platform) == "linux" and {"version": answered.get("version")}


def _brings_cudnn(package: Package) -> bool:
    return package.name.startswith(("nvidia-cudnn", "cudnn"))


@rule("tensorflow-cpu-build", "likely")
def the_plain_package_and_no_library_of_cuda(
    env: PythonEnv = one(active=True),
    package: Package = one(name="tensorflow", manager="pip"),
    _driver: Driver = one(vendor="nvidia"),
    platform: Platform | None = None,
    packages: Every[Package] = every(Package),
    entries: Every[LoaderEntry] = every(LoaderEntry),
    folders: Every[PathLibrary] = every(PathLibrary),
    answered: TensorFlow | None = None,
) -> Verdict:
    """The environment in force has the plain package, and no cuDNN lies in it, in the loader's cache or on its path."""
    brought = any(_brings_cudnn(other) and other.get("env") == env.prefix for other in packages)
    names = [entry.soname for entry in entries] + [library.soname for library in folders]
    has_cudnn = any(name.startswith("libcudnn") for name in names)
    mine = package.get("env") == env.prefix and answered is None and _system(platform) == "linux" and bool(entries)
    return mine and not brought and not has_cudnn and {"version": package.version}


@rule("tensorflow-cpu-build")
def conda_chose_tensorflow_for_the_cpu(
    package: Package = one(manager="conda", name=("tensorflow", "tensorflow-base")), _gpu: Gpu = one(vendor="nvidia")
) -> Verdict:
    """conda names the variant in the build string."""
    return str(package.get("build") or "").startswith(("mkl_", "eigen_", "cpu_")) and {"version": package.version}


@text_rule("tensorflow-cpu-build", "likely")
def server_for_processors_was_given_gpus(
    _image: Symptom = seen("image-of-tensorflow-serving-for-processors"),
    world: World = one(gpu_requested=True),
    works: TensorFlow | None = one(gpus=Passes(bool)),
    card: Symptom | None = seen("tensorflow-made-a-device"),
) -> Verdict:
    """Its images for GPUs have that in their tag; this one was started with GPUs, and has no code for them."""
    return works is None and card is None and bool(world.fields)


@text_rule("tensorflow-cpu-build", "likely")
def lists_no_gpu_that_is_there(
    answered: TensorFlow = one(gpus=0),
    card: Gpu = one(vendor="nvidia", seen_by="nvidia-smi"),
    platform: Platform | None = one(system=_NOT_LINUX),
    named: Symptom | None = seen("tf-library-not-loaded", "tf-library-not-dlopened", "tf-speaks-of-cuda"),
) -> Verdict:
    """A row of nvidia-smi shows that the driver works, and TensorFlow lists nothing and names nothing that it misses."""
    return named is None and platform is None and bool(card.fields) and {"version": answered.get("version")}


@text_rule("tensorflow-cpu-build", "likely")
def trains_without_a_word_of_cuda(
    _advice: Symptom = seen("tf-greets", "tf-could-use-more-instructions"),
    _trains: Symptom = seen("tf-trains-after-its-advice"),
    driver: Driver | None = one(vendor="nvidia"),
    card: Gpu | None = one(vendor="nvidia"),
    asked: Variable | None = one(name="CUDA_VISIBLE_DEVICES"),
    spoke: Symptom | None = seen("tf-speaks-of-cuda", tag="tensorflow-named"),
    windows: Platform | None = one(system="windows"),
) -> Verdict:
    """A build with CUDA names its devices between its advice on the processor and the first step."""
    intended = asked is not None and bool(re.match(r"\d", str(asked.get("value"))))
    return spoke is None and windows is None and bool(driver or card or intended)


@mends("tensorflow-cpu-build")
def tensorflow_with_its_libraries(
    knew: Params,
    package: Package | None = one(name="tensorflow-cpu"),
    answered: TensorFlow | None = None,
    conda: Package | None = one(manager="conda", name=("tensorflow", "tensorflow-base")),
    held: Package | None = one(name="tensorflow"),
    amd: Gpu | None = one(vendor="amd"),
    nvidia: Gpu | None = one(vendor="nvidia"),
) -> Params:
    """The same release with its extra, or as the package that had CUDA in its time; conda is asked for a build with CUDA; AMD's cards want another one."""
    if amd is not None and nvidia is None:
        return {"wish": "tensorflow", "wanted": None}
    if conda is not None:
        return {"channel": channel(), "asked": ", ".join(any_with_cuda("tensorflow")), "wanted": None}
    version = str(knew.get("version") or (answered.get("version") if answered else "") or "")
    old = version or str((held.get("version") if held else "") or "")
    if package is None and plain_tensorflow_for_processors(old) and version_key(old)[2:]:
        return {"wanted": f"tensorflow-gpu=={old}", "stray": "tensorflow", "plain": None}
    extra = tensorflow_extra(version)
    return {
        "wanted": f"{extra}=={version}" if extra and version_key(version)[2:] else "tensorflow[and-cuda]",
        "stray": "tensorflow-cpu" if package else None,
        "plain": None if package else "plain",
    }


def is_named_after_cuda(build: str) -> bool:
    """Whether a build of conda is named after CUDA."""
    return build.startswith(("cuda", "gpu_"))


def is_of_cuda(name: str) -> bool:
    """Whether a package is a part of CUDA that wheels bring along."""
    return re.fullmatch(r"nvidia-(?:cuda-runtime|cublas|cudnn)(?:-cu\d{2})?", name) is not None
